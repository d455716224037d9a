#!/usr/bin/env bash
# packaging_ci.sh - packaging/ci: the scripts of the CI files measure and judge with real, tiny runs, and each exit status of
# compare fails a job, warns or passes. Leaves out only their builds, which tests/packages/ci.sh tests.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"
start_quickly

mkdir -p build baseline/build github gitlab
ln -s "$program" build/ddpbench
ln -s "$program" baseline/build/ddpbench
command -v python3 >/dev/null || { echo "skip - the CI files: no python3"; exit 0; }
for file in github gitlab; do
    status=0
    python3 "$root/tests/support/ci_blocks.py" "$root/packaging/ci/$file.yml" $file 2>said || status=$?
    [ $status != 77 ] || { echo "skip - the CI files: python3 has no yaml"; exit 0; }
    result $status "the scripts of $file.yml are found"
    for block in "$file"/*.sh; do
        succeeds "$block is a script of bash" bash -n "$block"
        ! command -v shellcheck >/dev/null || succeeds "shellcheck accepts $block" shellcheck -s bash -e SC2086 "$block"
    done
done

# start: mpirun with its options, which may have blanks.
printf '#!/bin/sh\nexec %s "$@"\n' "$(printf '%q ' "${mpirun[@]}")" >start
chmod +x start
export MEASURE='--d-model 32 --num-layers 1 --num-heads 2 --d-ff 48 --context-length 16 --batch-size 4 --vocab-size 256 --rounds 2'
export PAIRS=1 BASELINE='./start -n 2 baseline/build/ddpbench' CANDIDATE='./start -n 2 build/ddpbench' GITHUB_STEP_SUMMARY=summary.md

# step SCRIPT: runs a step of a CI file, but not what builds, as a runner does; sets status.
step() {
    grep -v '^apt-get\|^git\|^make' "$1" >step.sh || return 0
    # shellcheck disable=SC2016 # expanded by the shell of the step
    try bash --noprofile --norc -eo pipefail -c '. "$1/variables.sh" && . ./step.sh' step "${1%/*}"
}

# job FILE: runs the steps of a CI file until one fails.
job() {
    rm -rf results compare.* summary.md
    status=0
    for script in "$1"/step*.sh; do
        step "$script"
        [ $status = 0 ] || break
    done
}

# The defaults of the variables are accepted by the program: a dry run with the MEASURE of the file.
for file in github gitlab; do
    # shellcheck disable=SC2016 # expanded by the shell with the file's variables
    succeeds "the options of $file.yml are accepted" env -u MEASURE bash -c \
        '. "$1/variables.sh" && build/ddpbench $MEASURE --output x --dry-run && [ "${COMPARE%% --*}" = "build/ddpbench compare" ]' dry "$file"
done

job github
is "one pair on GitHub: a warning with the verdict" "$status $(grep -c '^::warning title=ddpbench::Verdict: .*%25' printed)" "0 1"
is "GitHub's summary has the table" "$(head -n 2 summary.md | tail -n 1)" "$(head -n 1 compare.txt)"
xml_has "the job writes JUnit" compare.xml root.tag testsuites?
job gitlab
is "one pair on GitLab: compare's status, which allow_failure names" "$status $(sed -n 's/^ *exit_codes: \([0-9]*\).*/\1/p' "$root/packaging/ci/gitlab.yml")" "4 4"
succeeds "the job writes the page and JUnit" test -s compare.html -a -s compare.xml

# Each status of compare, by a judge that ends with it.
# shellcheck disable=SC2016 # expanded by the judge
printf '#!/bin/sh\necho "Verdict: a change of +11.0 %%"\nexit $1\n' >judge
chmod +x judge
for pair in 0:0 1:1 2:2 3:3 4:0 5:5 6:6; do
    COMPARE="./judge ${pair%:*}" step github/step4.sh
    is "compare's status ${pair%:*} ends GitHub's job with ${pair#*:}" "$status" "${pair#*:}"
done
is "an error on GitHub has the verdict" "$(grep '^::error' printed)" '::error title=ddpbench::Verdict: a change of +11.0 %25'
exit "$failed"
