#!/usr/bin/env bash
# run.sh - gives random inputs to each fuzzed program for a while, two programs at a time. The last line of the output is
# "N passed, N failed, N skipped".
#
# Usage: [FUZZ_SECONDS=60] [FUZZ_ONLY=NAME] tests/fuzz/run.sh [--help] BUILD_DIR
# Runs each program that is made from tests/fuzz/NAME.c, in BUILD_DIR/tests/fuzz, and each tests/fuzz/NAME.sh, for
# FUZZ_SECONDS, from the inputs in tests/fuzz/corpus/NAME and from inputs that earlier runs found (BUILD_DIR/corpus/NAME).
# An input that crashes, leaks, takes longer than 1 s or more than 256 MB is a finding: run.sh prints the path of the
# input and ends with status 1. A C program that was not built, because this machine's clang has no libFuzzer, is skipped.
set -euo pipefail

# shellcheck source=tests/support/here.sh
. "$(dirname "$(realpath "$0")")/../support/here.sh"
# shellcheck source=launch/common.sh
. "$(dirname "$(realpath "$0")")/../../launch/common.sh"

read_build_dir "$@"
seconds=${FUZZ_SECONDS:-60}
check_integer FUZZ_SECONDS "$seconds" 1 999999
mkdir -p "$build/findings"
cd "$(dirname "$0")/../.."

work=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
clean_up() {
    local job
    for job in $(jobs -p); do kill "$job" 2>/dev/null || true; done
    rm -rf "$work"
}
trap clean_up EXIT
trap_signals
export ASAN_OPTIONS=quarantine_size_mb=8:detect_leaks=1:allocator_may_return_null=0 UBSAN_OPTIONS=print_stacktrace=1
export OMP_NUM_THREADS=1 HWLOC_PLUGINS_PATH=/dev/null

# fuzz NAME: runs the fuzzed program or script NAME; writes its output to NAME.log and its exit status to NAME.end.
fuzz() {
    local name=$1 status=0 found=$build/corpus/$1 dictionary=()
    mkdir -p "$work/$name" "$found"
    [ ! -e "tests/fuzz/$name.dict" ] || dictionary=("-dict=$PWD/tests/fuzz/$name.dict")
    if [ -e "tests/fuzz/$name.sh" ]; then
        FUZZ_SCRATCH=$work/$name "tests/fuzz/$name.sh" --seconds "$seconds" --findings "$build/findings" >"$work/$name.log" 2>&1 || status=$?
    else
        FUZZ_SCRATCH=$work/$name "$build/tests/fuzz/$name" -max_total_time="$seconds" -timeout=1 -rss_limit_mb=256 \
            -max_len="$(most_bytes "$name")" -close_fd_mask=3 -print_final_stats=1 -verbosity=1 "${dictionary[@]}" \
            -artifact_prefix="$build/findings/$name-" "$found" "$PWD/tests/fuzz/corpus/$name" >"$work/$name.log" 2>&1 || status=$?
        [ "$status" = 0 ] || ! only_stalled "$name" || status=0
    fi
    echo "$status" >"$work/$name.end"
}

# only_stalled NAME: tests whether the only finding is an input that took too long but is fast when it runs again: a shared
# machine can stall for a second. If so, removes the input.
only_stalled() {
    local input
    input=$(sed -n 's/.*Test unit written to //p' "$work/$1.log")
    [[ $input == */"$1"-timeout-* && $input != *$'\n'* ]] || return 1
    rm -rf "${work:?}/$1" && mkdir "$work/$1" # the program needs an empty directory
    FUZZ_SCRATCH=$work/$1 "$build/tests/fuzz/$1" -timeout=1 -rss_limit_mb=256 -close_fd_mask=3 "$input" >"$work/$1.again" 2>&1 || return 1
    rm -f "$input"
}

most_bytes() {
    case $1 in
    results) echo 12000 ;;
    *) echo 2048 ;;
    esac
}

passed=0 failed=0 skipped=0 names=()
# report NAME: prints one line about program or script NAME, which has ended, and the end of its output if it failed.
report() {
    local name=$1 status runs input
    status=$(cat "$work/$name.end" 2>/dev/null || echo 137)
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/$name.log")
    if [ "$status" = 0 ]; then
        passed=$((passed + 1))
        printf '%-8s %s executions in %s s, nothing found\n' "$name" "$runs" "$seconds"
        return
    fi
    failed=$((failed + 1))
    input=$(sed -n 's/.*Test unit written to //p' "$work/$name.log" | tail -n 1)
    printf '%-8s FAILED after %s executions; the input: %s\n' "$name" "${runs:-?}" "${input:-none (status $status)}"
    tail -n 60 "$work/$name.log" | sed 's/^/    /'
}

shopt -s nullglob
for source in tests/fuzz/*.c tests/fuzz/*.sh; do
    name=$(basename "${source%.*}")
    # shellcheck disable=SC2053 # FUZZ_ONLY is a pattern
    if [ "$name" = run ] || ! [[ $name == ${FUZZ_ONLY:-*} ]]; then continue; fi
    if [[ $source == *.c && ! -x $build/tests/fuzz/$name ]]; then
        echo "skip - $name: clang has no libFuzzer here"
        skipped=$((skipped + 1))
        continue
    fi
    names+=("$name")
    while [ "$(jobs -pr | wc -l)" -ge 2 ]; do wait -n || true; done
    fuzz "$name" &
done
wait
for name in "${names[@]}"; do
    report "$name"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
