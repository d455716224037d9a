#!/usr/bin/env bash
# run.sh - whether the analysers that people use find in our traces what we say of them.
set -euo pipefail

usage() {
    cat <<'END'
Usage: [MPIRUN=mpirun] tests/consumers/run.sh [--help] BUILD_DIR
Profiles BUILD_DIR/ddpbench on 2 ranks with each implementation, writes made-up traces of GPUs with known answers, and reads
both with Holistic Trace Analysis, which pip installs into BUILD_DIR/consumers (90 MB to fetch, 500 MB on disk; once). The
last line is the sum: "N passed, N failed, N skipped"; what cannot be installed is skipped, and the exit status is then 1.
END
}

say() { echo "consumers/run.sh: $*" >&2; }

case ${1:-} in
--help) usage; exit 0 ;;
-*) say "unknown option '$1'; known is --help"; exit 2 ;;
esac
[ $# = 1 ] || { usage >&2; exit 2; }
build=$(realpath -e "$1") || { say "there is no directory '$1'; build the program first"; exit 2; }
here=$(realpath -e "$(dirname "$0")")
read -ra mpirun <<<"${MPIRUN:-mpirun}"
analysis=traceinsight==0.6.1 # Holistic Trace Analysis; this is its name since 0.6.0

python=$build/consumers/bin/python
if ! "$python" -c 'import hta' 2>/dev/null; then
    say "installing $analysis into $build/consumers"
    rm -rf "$build/consumers"
    if ! python3 -m venv "$build/consumers" || ! "$python" -m pip install --quiet --disable-pip-version-check --retries 2 "$analysis"; then
        rm -rf "$build/consumers"
        echo "skip - Holistic Trace Analysis: pip cannot install $analysis here"
        echo "0 passed, 0 failed, 1 skipped"
        exit 1
    fi
fi

temporary=$(mktemp -d "${TMPDIR:-/tmp}/consumers.XXXXXX")
trap 'rm -rf "$temporary"' EXIT
passed=0 failed=0
# compare WORDS SCRIPT ARGUMENT...: its lines count.
compare() {
    local words=$1 script=$2
    shift 2
    "$python" "$here/$script" "$@" >"$temporary/lines" 2>"$temporary/said" || tail -n 5 "$temporary/said" >&2
    cat "$temporary/lines"
    passed=$((passed + $(grep -c '^ok - ' "$temporary/lines" || true)))
    failed=$((failed + $(grep -c '^not ok - ' "$temporary/lines" || true)))
    if ! grep -q '^ok - ' "$temporary/lines"; then
        echo "not ok - $words: nothing was compared"
        failed=$((failed + 1))
    fi
}

for implementation in ddp ddp_individual ddp_individual_v2 ddp_bucketed; do
    out=$temporary/$implementation
    OMP_NUM_THREADS=1 "${mpirun[@]}" -n 2 "$build/ddpbench" --d-model 64 --num-layers 3 --num-heads 4 --d-ff 128 \
        --context-length 64 --batch-size 8 --vocab-size 256 --bucket-size-mb 0.1 --rounds 0 --profile \
        --profile-implementation "$implementation" --profile-output-dir "$out" >"$temporary/said" 2>&1 ||
        { cat "$temporary/said" >&2; say "the profile of $implementation failed"; exit 1; }
    compare "$implementation" hta_agrees.py "$out" "$implementation"
done
mkdir "$temporary/gpu"
"$build/tests/unit/trace/test_gpu" "$temporary/gpu"
compare "a GPU" hta_knows.py "$temporary/gpu"
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
