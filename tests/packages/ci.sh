#!/usr/bin/env bash
# ci.sh - packaging/ci: the files are valid by their schemas (check-jsonschema of PyPI), and their scripts build two commits of
# this repository, measure them in turn, pass with equal builds, and fail if the candidate is slower. Takes some minutes.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"
limit=1800
export HOME=$temporary # git config --global

if ! python3 -m venv venv >said 2>&1 || ! venv/bin/pip install -q check-jsonschema >said 2>&1; then
    echo "skip - the CI files: there is no check-jsonschema: $(tail -n 1 said)"
    exit
fi
succeeds "GitHub's file is valid" venv/bin/check-jsonschema --builtin-schema vendor.github-workflows "$root/packaging/ci/github.yml"
succeeds "GitLab's file is valid" venv/bin/check-jsonschema --builtin-schema vendor.gitlab-ci "$root/packaging/ci/gitlab.yml"
[ -e "$root/.git" ] || { echo "skip - the scripts of the CI files: the sources are no repository of git"; exit "$failed"; }

# Two commits of the files that git knows, as they are now.
mkdir commits tools
git -C "$root" ls-files -z | (cd "$root" && tar --create --null --files-from=-) | tar --extract --directory commits
as_me() { git -c user.name=me -c user.email=me@there "$@"; }
as_me -C commits init -q && as_me -C commits add -f . && as_me -C commits commit -qm baseline && as_me -C commits commit -q --allow-empty -m candidate
printf '#!/bin/sh\n' >tools/apt-get # what the build needs is here, since BUILD_DIR was built
printf '#!/bin/sh\nexec %s "$@"\n' "$(printf '%q ' "${mpirun[@]}")" >tools/start
# shellcheck disable=SC2016 # expanded by the script
printf '#!/bin/sh\n[ "$1" = check ] || set -- "$@" --inject-delay rank=0,phase=forward_pass,ms=25\nexec build/ddpbench "$@"\n' >tools/slower
chmod +x tools/*
export PATH=$temporary/tools:$PATH GITHUB_STEP_SUMMARY=summary.md CI_MERGE_REQUEST_DIFF_BASE_SHA=HEAD~1 PAIRS=3
# One rank and delays that are most of a step make runs alike on a busy machine, and too short to measure whether it was busy.
export BASELINE='start -n 1 baseline/build/ddpbench' CANDIDATE='start -n 1 build/ddpbench'
export MEASURE='--d-model 32 --num-layers 1 --num-heads 2 --d-ff 48 --context-length 16 --batch-size 4 --vocab-size 256 --threads 1
    --implementations ddp --rounds 1 --steps-per-block 1 --inject-delay rank=0,phase=backward_pass,ms=5'
export COMPARE='build/ddpbench compare --tolerance 100 --allow inject-delay'

# job FILE: runs the steps of a CI file in the candidate's commit, as a runner does, until one fails; sets status.
job() {
    mkdir -p "$1"
    "$temporary/venv/bin/python" "$root/tests/support/ci_blocks.py" "$root/packaging/ci/$1.yml" "$1"
    git -C commits clean -ffdxq -e /build # a runner cleans its checkout before a job, and removes the build, too
    cd commits || exit
    for script in "../$1"/step*.sh; do
        # shellcheck disable=SC2016 # expanded by the shell of the step
        try env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS bash --noprofile --norc -eo pipefail -c '. "$1/variables.sh" && . "$2"' step "../$1" "$script"
        [ $status = 0 ] || break
    done
    mv said printed ..
    cd ..
}

# Three pairs are too few to call equal builds ok.
job github
is "GitHub's job passes with equal builds, and warns" "$status $(grep -c '^::warning title=ddpbench::Verdict: \(unseen\|ambiguous\)' printed)" "0 1"
is "baseline and candidate are two commits" "$(commits/baseline/build/ddpbench --version | cut -d ' ' -f 3) $(commits/build/ddpbench --version | cut -d ' ' -f 3)" \
    "($(git -C commits rev-parse --short HEAD~1)) ($(git -C commits rev-parse --short HEAD))"
CANDIDATE='start -n 1 slower' job gitlab
is "GitLab's job fails with a slower candidate" "$status $(grep -c '^Verdict: regressed .*(ddp step)' printed)" "3 1"
xml_has "JUnit has what regressed" commits/compare.xml "len(root.findall('.//failure')) > 0" True
exit "$failed"
