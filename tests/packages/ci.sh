#!/usr/bin/env bash
# ci.sh - packaging/ci: the files are valid by their schemas (check-jsonschema of PyPI), and their scripts build two commits of
# this repository, measure them in turn, pass with equal builds, and fail if the candidate lacks a figure. Takes some minutes.
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
cat >tools/lacks <<'END'
#!/bin/sh
[ "$1" = check ] || set -- "$@" -b 1K
exec build/ddpbench "$@"
END
chmod +x tools/*
export PATH=$temporary/tools:$PATH GITHUB_STEP_SUMMARY=summary.md CI_MERGE_REQUEST_DIFF_BASE_SHA=HEAD~1 PAIRS=1
export BASELINE='start -n 2 baseline/build/ddpbench' CANDIDATE='start -n 2 build/ddpbench'
export MEASURE='allreduce -e 4K'

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

# One pair is too few to call equal builds ok, and to call anything slower, so the candidate that fails lacks sizes.
job github
is "GitHub's job passes with equal builds, and warns" "$status $(grep -c '^::warning title=ddpbench::Verdict: \(unseen\|ambiguous\)' printed)" "0 1"
is "baseline and candidate are two commits" "$(commits/baseline/build/ddpbench --version | cut -d ' ' -f 3) $(commits/build/ddpbench --version | cut -d ' ' -f 3)" \
    "($(git -C commits rev-parse --short HEAD~1)) ($(git -C commits rev-parse --short HEAD))"
CANDIDATE='start -n 2 lacks' job gitlab
is "GitLab's job fails with a candidate that lacks figures" "$status $(grep -c '^Verdict: missing' printed)" "5 1"
xml_has "JUnit names them" commits/compare.xml "len(root.findall('.//failure')) > 0" True
exit "$failed"
