#!/usr/bin/env bash
# run.sh - runs every test and counts its checks. The last line is the sum: "N passed, N failed, N skipped".
set -euo pipefail

usage() {
    cat <<'END'
Usage: [MPIRUN=mpirun] tests/run.sh [--help] BUILD_DIR
Runs, for each tests/test_*.c, its program in BUILD_DIR/tests alone; for each tests/mpi_*.c under MPIRUN with 1, 2, 3 and 4
ranks; and each tests/*_cli.sh. Exits with status 1 if a check failed, a program crashed, was not built or checked nothing.
END
}

say() { echo "run.sh: $*" >&2; }

build=
for argument in "$@"; do
    case $argument in
    --help) usage; exit 0 ;;
    -*) say "unknown option '$argument'; known is --help"; exit 2 ;;
    *)
        [ -z "$build" ] || { say "one BUILD_DIR only, not also '$argument'"; exit 2; }
        build=$argument
        ;;
    esac
done
[ -n "$build" ] || { usage >&2; exit 2; }
build=$(realpath -e "$build") || { say "there is no directory '$argument'; build the tests first"; exit 2; }
cd "$(dirname "$0")/.."

limit_seconds=300
MPIRUN=${MPIRUN:-$(command -v mpirun.mpich || command -v mpirun || true)}
export MPIRUN
export OMP_WAIT_POLICY=passive # on busy cores, threads that spin make others wait for whole time slices
passed=0 failed=0 skipped=0 programs=0 child=
log=$(mktemp)
# timeout has a process group of its own, which a key press on the terminal does not reach
stop() { [ -z "$child" ] || kill "$child" 2>/dev/null || true; }
trap 'rm -f "$log"' EXIT
trap 'stop; exit 130' INT
trap 'stop; exit 143' TERM

# run_one KIND NAME COMMAND...: KIND is check (the program prints Check's totals) or lines ("ok - ", "not ok - ").
run_one() {
    local kind=$1 name=$2 status=0 begin=$EPOCHREALTIME why='' good=0 bad=0 skip=0
    shift 2
    programs=$((programs + 1))
    if [ ! -x "${*: -1}" ] && [ "$kind" = check ]; then
        printf '%-6s %-32s is not built\n' FAILED "$name"
        failed=$((failed + 1))
        return
    fi
    timeout --kill-after=10 "$limit_seconds" "$@" >"$log" 2>&1 </dev/null &
    child=$!
    wait "$child" || status=$?
    child=
    local seconds
    seconds=$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')

    skip=$(grep -c '^skip - ' "$log" || true)
    if [ "$kind" = check ]; then
        local totals='^[0-9]+%: Checks: ([0-9]+), Failures: ([0-9]+), Errors: ([0-9]+)$' lines
        lines=$(grep -cE "$totals" "$log" || true)
        if [[ $(grep -m1 -E "$totals" "$log") =~ $totals ]]; then
            bad=$((BASH_REMATCH[2] + BASH_REMATCH[3]))
            good=$((BASH_REMATCH[1] - bad))
        fi
        [ "$lines" -gt 0 ] || why="ended without Check's totals"
        [ "$lines" -le 1 ] || why="printed Check's totals $lines times, as if each rank were a job of its own"
    else
        good=$(grep -c '^ok - ' "$log" || true)
        bad=$(grep -c '^not ok - ' "$log" || true)
    fi
    [ $((good + bad + skip)) -gt 0 ] || why=${why:-checked nothing}
    [ "$status" = 0 ] || [ "$bad" -gt 0 ] || why="ended with status $status"
    case $status in 124 | 137) why="ran longer than $limit_seconds s or was killed" ;; esac
    [ -z "$why" ] || bad=$((bad + 1))

    passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + skip))
    local counts="$good passed"
    [ "$bad" = 0 ] || counts+=", $bad failed"
    [ "$skip" = 0 ] || counts+=", $skip skipped"
    printf '%-6s %-32s %s, %s s%s\n' "$([ "$bad" = 0 ] && echo ok || echo FAILED)" "$name" "$counts" "$seconds" "${why:+: $why}"
    if [ "$bad" -gt 0 ]; then
        sed 's/^/    /' "$log"
    elif [ "$skip" -gt 0 ]; then
        sed -n 's/^skip - /       skipped: /p' "$log"
    fi
}

shopt -s nullglob
for source in tests/test_*.c; do
    name=$(basename "$source" .c)
    run_one check "$name" "$build/tests/$name"
done
for source in tests/mpi_*.c; do
    name=$(basename "$source" .c)
    for ranks in 1 2 3 4; do
        # MPIRUN may hold options
        # shellcheck disable=SC2086
        run_one check "$name, $ranks ranks" env OMP_NUM_THREADS=1 ${MPIRUN:-mpirun} -n "$ranks" "$build/tests/$name"
    done
done
for script in tests/*_cli.sh; do
    run_one lines "$(basename "$script")" "$script" "$build"
done

if [ "$programs" = 0 ]; then
    echo "FAILED no tests were found in $PWD/tests"
    failed=1
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
