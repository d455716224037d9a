#!/usr/bin/env bash
# run.sh - runs every test and counts its checks. The last line is the sum: "N passed, N failed, N skipped".
set -euo pipefail

usage() {
    cat <<'END'
Usage: [MPIRUN=mpirun] tests/run.sh [--help] BUILD_DIR
Runs, for each tests/unit/*/test_*.c, its program in BUILD_DIR alone; for each tests/mpi/*.c under MPIRUN with 1, 2, 3 and 4
ranks, or 1 and 3; each tests/cli/*.sh; those that open a device also on a GPU, skipped where there is none, and on an emulated one.
The seconds of each go to BUILD_DIR/tests/times.tsv, and the five slowest are named.
Exits with status 1 if a check failed, a program crashed, was not built or checked nothing.
  --gpu   only what runs on a real GPU, which has to be there
  --cpu   only what runs on the CPU, for the sanitizers: of tests/cli those that run the program's commands, not those
          of scripts, nor cli/monitor.sh, which waits for seconds to pass
  --long  simulations at their full size, ten times as long
END
}

say() { echo "run.sh: $*" >&2; }

build='' only=''
for argument in "$@"; do
    case $argument in
    --gpu | --cpu) only=${argument#--} ;;
    --long) export TEST_LONG=1 ;;
    --help) usage; exit 0 ;;
    -*) say "unknown option '$argument'; known are --gpu, --cpu, --long, --help"; exit 2 ;;
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
mkdir -p "$build/tests"
times=$build/tests/times.tsv
: >"$times"
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
        printf '%-6s %-44s is not built\n' FAILED "$name"
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
        [ "$lines" -gt 0 ] || [ "$skip" -gt 0 ] || why="ended without Check's totals"
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
    local summary="$good passed"
    [ "$bad" = 0 ] || summary+=", $bad failed"
    [ "$skip" = 0 ] || summary+=", $skip skipped"
    printf '%s\t%s\n' "$seconds" "$name" >>"$times"
    printf '%-6s %-44s %s, %s s%s\n' "$([ "$bad" = 0 ] && echo ok || echo FAILED)" "$name" "$summary" "$seconds" "${why:+: $why}"
    if [ "$bad" -gt 0 ]; then
        sed 's/^/    /' "$log"
    elif [ "$skip" -gt 0 ]; then
        sed -n 's/^skip - /       skipped: /p' "$log"
    fi
}

# run_ranks NAME RANKS PROGRAM: MPIRUN may hold options.
run_ranks() {
    # shellcheck disable=SC2086
    run_one check "$1, $2 ranks" env OMP_NUM_THREADS=1 ${MPIRUN:-mpirun} -n "$2" "$3"
}

run_on_cpu() {
    local source name counts ranks
    for source in tests/unit/*/test_*.c; do
        name=${source%.c}
        run_one check "${name#tests/}" "$build/$name"
    done
    for source in tests/mpi/*.c; do
        name=${source%.c}
        case $name in
        # what they check is the same for any number of several ranks
        tests/mpi/by_name | tests/mpi/collectives | tests/mpi/controls | tests/mpi/timing) counts='1 3' ;;
        *) counts='1 2 3 4' ;;
        esac
        for ranks in $counts; do
            run_ranks "${name#tests/}" "$ranks" "$build/$name"
        done
    done
    for source in tests/cli/*.sh; do
        [ "$only" != cpu ] || [[ $source == tests/cli/@(allreduce|benchmark|comm|compare|help|profile|report).sh ]] || continue
        run_one lines "${source#tests/}" "$source" "$build"
    done
}

# run_on_gpu WHERE DIRECTORY RANKS [CASE]: RANKS is a list such as "1 2"; CASE is that of tests/mpi/parity.c, all if there
# is none. Ranks may share a GPU: with MPI they are staged through the host's memory; NCCL is told that they are on hosts of
# their own.
run_on_gpu() {
    local where=$1 tests=$2 comm ranks
    export TEST_DEVICE
    for TEST_DEVICE in cuda cuda:tf32 cuda:bf16; do
        run_one check "unit/ddp/test_model on $where, $TEST_DEVICE" "$tests/unit/ddp/test_model"
    done
    TEST_DEVICE=cuda
    for comm in mpi nccl; do
        for ranks in $3; do
            CK_RUN_CASE=${4:-} TEST_COMM=$comm run_ranks "mpi/parity on $where by $comm" "$ranks" "$tests/mpi/parity"
        done
    done
    unset TEST_DEVICE
}

shopt -s nullglob
if [ "$only" = gpu ]; then
    run_one check unit/kernels/test_device "$build/tests/unit/kernels/test_device"
    for ranks in 1 2 4; do
        run_ranks mpi/comm "$ranks" "$build/tests/mpi/comm"
    done
    run_on_gpu "a GPU" "$build/tests" "1 2 4"
    REAL_GPU=1 run_one lines cli/cuda.sh tests/cli/cuda.sh "$build"
    REAL_GPU=1 run_one lines cli/cuda_profile.sh tests/cli/cuda_profile.sh "$build"
    [ "$skipped" = 0 ] || say "what was skipped found no GPU, or no NCCL"
elif [ "$only" = cpu ]; then
    run_on_cpu
else
    run_on_cpu
    run_on_gpu "a GPU" "$build/tests" "1 2 4"
    for source in tests/gpu/*.cu; do
        name=gpu/$(basename "$source" .cu)
        run_one check "$name, emulated GPU" "$build/emulated/tests/$name"
    done
    run_one check "unit/kernels/test_device, emulated GPU" "$build/emulated/tests/unit/kernels/test_device"
    for ranks in 1 2; do
        run_ranks "mpi/comm, emulated GPU" "$ranks" "$build/emulated/tests/mpi/comm"
    done
    run_on_gpu "an emulated GPU" "$build/emulated/tests" 2 core
fi

if [ "$programs" = 0 ]; then
    echo "FAILED no tests were found in $PWD/tests"
    failed=1
fi
echo "The slowest: $(sort -rn "$times" | head -n 5 | awk -F'\t' '{ printf "%s%s %s s", (NR > 1 ? ", " : ""), $2, $1 }')"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && { [ "$only" != gpu ] || [ "$skipped" = 0 ]; }
