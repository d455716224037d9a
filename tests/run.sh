#!/usr/bin/env bash
# run.sh - runs every test and counts its checks. The last line is the total: "N passed, N failed, N skipped".
#
# Usage: [MPIRUN=mpirun] [TEST_ONLY=PATTERN] [TEST_NAMES=N] tests/run.sh [OPTION...] BUILD_DIR
# Runs each tests/cli/*.sh, and the programs in BUILD_DIR that are built from tests/unit/*/test_*.c and tests/mpi/*.c.
# Runs the programs of tests/mpi under MPIRUN with 1, 2, 3 and 4 ranks, or with 1 and 3. Tests that open a device also
# run on an emulated GPU, and on a GPU if there is one. Tests that check no durations run first, several at a time:
# three more than there are cores, or fewer if /dev/shm is small. The other tests then run one after another.
# BUILD_DIR/tests/times.tsv lists the seconds and CPU seconds of each test. The output ends with a line "failed: NAME: WORDS"
# for each failed check, and the five slowest tests.
# TEST_NAMES=N gives made-up names of CPU, host and directory N characters (default 120; '': the names of this machine).
# TEST_ONLY selects tests by their printed names, for example 'unit/ddp/*'.
# Exits with status 1 if a check failed, or a program crashed, was not built or checked nothing.
#   --gpu   only tests on a real GPU, which must exist
#   --mpi   only tests that depend on the MPI: tests/mpi, and comm.sh, run.sh and check.sh of tests/cli
#   --packages  only tests/packages, which build and install packages: as root, with Debian's packages and PyPI
#   --cpu   only tests on the CPU, for the sanitizers: tests/mpi with 1 and 2 ranks, and some of tests/cli (`sanitized`, below)
#   --rest  all tests that are worth repeating in a plain build after --cpu: not its scripts, tests/unit/document, tests/unit/results
#   --long  runs simulations with all repetitions, not with a tenth, and attention on an emulated GPU with all magnitudes of scores
set -euo pipefail

# shellcheck source=tests/support/here.sh
. "$(dirname "$(realpath "$0")")/support/here.sh"
# shellcheck source=launch/common.sh
. "$(dirname "$(realpath "$0")")/../launch/common.sh"

gpu='' mpi='' packages='' cpu='' rest='' long=''
option_rows=("--gpu gpu flag" "--mpi mpi flag" "--packages packages flag" "--cpu cpu flag" "--rest rest flag" "--long long flag")
read_build_dir "$@"
only=${gpu:+gpu}${mpi:+mpi}${packages:+packages}${cpu:+cpu}${rest:+rest}
[ -z "$long" ] || export TEST_LONG=1
cd "$(dirname "$0")/.."

limit_seconds=1500 # time limit of a program; on busy cores a program takes several times as long as usual
find_mpirun
export OMP_WAIT_POLICY=passive # on busy cores, spinning threads make others wait for whole time slices
export HWLOC_PLUGINS_PATH=/dev/null # hwloc's plugins leak memory; another MPI may install them, and MPICH loads them
# Scripts find long made-up names in place of this machine's (cli.sh); the archive of `make pack` lacks the library for that.
[ ! -e "$build/tests/support/preload/made_up_names.so" ] || export TEST_NAMES=${TEST_NAMES-120}
export CK_DEFAULT_TIMEOUT=60 # Check's default of 4 s is too short for a program that shares its core
passed=0 failed=0 skipped=0
lanes=1 # the most programs that run at a time
kinds=() names=() reported=0 # kinds and names of the programs in the order of their start; number of programs reported
work=$(mktemp -d)
mkdir -p "$build/tests"
times=$build/tests/times.tsv
: >"$times"
stop() { for job in $(jobs -p); do kill "$job" 2>/dev/null || true; done; }
trap 'rm -rf "$work"' EXIT
trap 'stop; exit 129' HUP
trap 'stop; exit 130' INT
trap 'stop; exit 143' TERM

# run_one KIND NAME COMMAND...: runs a program, whose output has Check's totals (KIND check) or lines "ok - " and "not ok - "
# (KIND lines). Returns as soon as fewer than $lanes programs run.
run_one() {
    local n=${#names[@]}
    # shellcheck disable=SC2053 # TEST_ONLY is a pattern
    [[ $2 == ${TEST_ONLY:-*} ]] || return 0
    kinds+=("$1") names+=("$2")
    shift 2
    if [ ! -x "${*: -1}" ] && [ "${kinds[n]}" = check ]; then
        echo 'missing 0 0' >"$work/$n.end"
    else
        measure "$n" "$@" &
    fi
    wait_for $((lanes - 1))
}

# measure N COMMAND...: runs program N; writes its output to N.log and finally its status, seconds and CPU seconds to N.end.
measure() {
    local n=$1 status=0 child TIMEFORMAT='%R %U %S'
    shift
    mkdir "$work/mpi.$n" # for Open MPI, which fails if another of its runs removes the directory that they share in /tmp
    OMPI_MCA_orte_tmpdir_base=$work/mpi.$n timeout --kill-after=10 "$limit_seconds" "${in_user_locale[@]}" "$@" >"$work/$n.log" 2>&1 </dev/null &
    child=$!
    # timeout creates its own process group, which Ctrl-C on the terminal does not reach.
    trap 'kill "$child" 2>/dev/null; exit 143' TERM
    { time wait "$child" || status=$?; } 2>"$work/$n.time"
    awk -v status="$status" 'END { printf "%s %.1f %.1f\n", status, $1, $2 + $3 }' "$work/$n.time" >"$work/$n.ended"
    mv "$work/$n.ended" "$work/$n.end"
}

# wait_for MOST: waits until at most MOST programs run, and reports the programs that have ended, in order.
wait_for() {
    local status ended i
    while
        ended=("$work"/*.end)
        [ $((${#names[@]} - ${#ended[@]})) -gt "$1" ]
    do
        status=0
        wait -n || status=$?
        [ "$status" = 127 ] || continue
        for ((i = 0; i < ${#names[@]}; i++)); do # no program runs, so one without a .end file was killed
            [ -e "$work/$i.end" ] || echo '137 0 0' >"$work/$i.end"
        done
    done
    while [ "$reported" -lt "${#names[@]}" ] && [ -e "$work/$reported.end" ]; do
        report "$reported"
        reported=$((reported + 1))
    done
}

# failed_checks LOG: prints a line for each failed check: its words, and the start and the end of what it printed.
failed_checks() {
    awk 'function flush() { if (line != "") print (length(line) > 600 ? substr(line, 1, 300) " [...] " substr(line, length(line) - 250) : line); line = "" }
        /^not ok - / || /^[^ ]+:[0-9]+:[FE]:/ { flush(); line = $0; next }
        line != "" && sub(/^    /, "") { line = line " | " $0; next }
        { flush() }
        END { flush() }' "$1"
}

# report N: counts the checks of program N, which has ended, and prints a summary line, followed by its output if a check failed.
report() {
    local kind=${kinds[$1]} name=${names[$1]} log=$work/$1.log status seconds cpu_seconds why='' good=0 bad=0 skip=0
    read -r status seconds cpu_seconds <"$work/$1.end"
    if [ "$status" = missing ]; then
        printf '%-6s %-44s is not built\n' FAILED "$name"
        echo "failed: $name: is not built" >>"$work/failures"
        failed=$((failed + 1))
        return
    fi
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
    printf '%s\t%s\t%s\n' "$seconds" "$cpu_seconds" "$name" >>"$times"
    printf '%-6s %-44s %s, %s s%s\n' "$([ "$bad" = 0 ] && echo ok || echo FAILED)" "$name" "$summary" "$seconds" "${why:+: $why}"
    if [ "$bad" -gt 0 ]; then
        sed 's/^/    /' "$log"
        { [ -z "$why" ] || echo "$why"; failed_checks "$log"; } | sed "s|^|failed: $name: |" >>"$work/failures"
    elif [ "$skip" -gt 0 ]; then
        sed -n 's/^skip - /       skipped: /p' "$log"
    fi
}

# run_ranks NAME RANKS PROGRAM: runs an MPI test on RANKS ranks.
run_ranks() {
    run_one check "$1, $2 ranks" env OMP_NUM_THREADS=1 "${mpirun[@]}" -n "$2" "$3"
}

run_unit_tests() {
    local source
    for source in tests/unit/*/test_*.c; do
        source=${source%.c}
        [ "$only" != rest ] || [[ $source != tests/unit/@(document|results)/* ]] || continue
        run_one check "${source#tests/}" "$build/$source"
    done
}

# run_mpi_tests WHICH: runs the MPI tests that may share the machine (`sharing`: at most two ranks, and no checks of
# durations) or the others (`alone`).
run_mpi_tests() {
    local source name counts ranks which
    for source in tests/mpi/*.c; do
        name=${source%.c}
        case $name in
        # These tests make the same checks for any number of ranks above 1.
        tests/mpi/accelerator | tests/mpi/buckets | tests/mpi/by_name | tests/mpi/collectives | tests/mpi/controls | \
            tests/mpi/timing) counts='1 3' ;;
        *) counts='1 2 3 4' ;;
        esac
        [ "$only" != cpu ] || counts='1 2'
        for ranks in $counts; do
            case $name,$ranks in
            tests/mpi/clocks,* | tests/mpi/controls,* | tests/mpi/timing,* | *,[34]) which=alone ;;
            *) which=sharing ;;
            esac
            [ "$which" != "$1" ] || run_ranks "${name#tests/}" "$ranks" "$build/$name"
        done
    done
}

sanitized='allreduce|benchmark|comm|compare|trend|help|predict|profile|profile_faults|report' # scripts that --cpu runs and --rest leaves out

# run_scripts NAME...: runs the scripts tests/cli/NAME.sh that the options of this script select.
run_scripts() {
    local name
    for name in "$@"; do
        [ "$only" != cpu ] || [[ $name == @($sanitized) ]] || continue
        [ "$only" != rest ] || [[ $name != @($sanitized) ]] || continue
        run_one lines "cli/$name.sh" "tests/cli/$name.sh" "$build"
    done
}

# run_model WHERE DIRECTORY: runs DIRECTORY's unit/ddp/test_model on a GPU in each precision; WHERE is for the printed name.
run_model() {
    export TEST_DEVICE
    for TEST_DEVICE in cuda cuda:tf32 cuda:bf16; do
        run_one check "unit/ddp/test_model on $1, $TEST_DEVICE" "$2/unit/ddp/test_model"
    done
    unset TEST_DEVICE
}

# run_parity WHERE DIRECTORY RANKS: runs DIRECTORY's mpi/parity with MPI and NCCL; RANKS is a list such as "1 2". Ranks may
# share a GPU: MPI stages through host memory, and NCCL is configured as if each rank had its own host.
run_parity() {
    local comm ranks
    for comm in mpi nccl; do
        for ranks in $3; do
            TEST_DEVICE=cuda TEST_COMM=$comm run_ranks "mpi/parity on $1 by $comm" "$ranks" "$2/mpi/parity"
        done
    done
}

# share_machine N: runs N programs at a time from now on, fewer if /dev/shm is small; each gets an equal share of /dev/shm.
whole_shared_mib=$shared_mib
share_machine() {
    shared_mib=$whole_shared_mib
    lanes=$(at_most "$1" 20)
    export shared_mib=$((shared_mib / lanes))
}

# Scripts that check no durations, longest first. Three more than there are cores run at a time, because most of them often wait.
sharing=(peer comm slurm bad_launch bad_calls profile profile_faults faults benchmark sweep paper allreduce isolate netlab tune prometheus compare trend predict report
    run gate isolate_check predict_check pack install packaging help blas names fences profilers quota check)
sharing_emulated=(cuda bench_gpu cuda_profile cuda_parts)
run_sharing() {
    local source name ranks
    share_machine $(($(count_cpus) + 3))
    run_scripts "${sharing[@]}"
    if [ "$only" != cpu ]; then
        run_one check "unit/kernels/test_device, emulated GPU" "$build/emulated/tests/unit/kernels/test_device"
        # sm_86, sm_89 and sm_120 have this much shared memory per block.
        CK_RUN_CASE=attention EMULATED_CUDA_SHARED=101376 run_one check "attention, emulated GPU with little shared memory" \
            "$build/emulated/tests/unit/kernels/test_device"
        run_scripts "${sharing_emulated[@]}"
        run_model "an emulated GPU" "$build/emulated/tests"
        for source in tests/gpu/*.cu; do
            name=gpu/$(basename "$source" .cu)
            run_one check "$name, emulated GPU" "$build/emulated/tests/$name"
        done
        local -x ASAN_OPTIONS=detect_leaks=0 # MPI's libraries leak memory, and the search for leaks fails beside their threads
        for ranks in 1 2; do
            run_ranks "mpi/comm, emulated GPU" "$ranks" "$build/emulated/tests/mpi/comm"
        done
        for ranks in 4 8; do
            [ "$(at_most 8 4)" -ge "$ranks" ] || continue
            CK_RUN_CASE=groups run_ranks "mpi/comm, emulated GPU, groups" "$ranks" "$build/emulated/tests/mpi/comm"
        done
        # The emulated GPU is slow: run only the core cases, with small batches.
        CK_INCLUDE_TAGS='core checkpoint' TEST_BATCH=4 run_parity "an emulated GPU" "$build/emulated/tests" 2
        TEST_DEVICE=cuda:bf16 CK_RUN_CASE=checkpoint TEST_BATCH=4 run_ranks "mpi/parity in bf16, emulated GPU" 2 "$build/emulated/tests/mpi/parity"
        CK_RUN_CASE=other TEST_BATCH=4 run_parity "an emulated GPU, with other arithmetic," "$build/emulated/tests" 2
        CK_RUN_CASE=hosts TEST_BATCH=4 run_parity "an emulated GPU, in groups of ranks," "$build/emulated/tests" 4
    fi
    run_mpi_tests sharing
    run_unit_tests
    wait_for 0
    share_machine 1
}

run_alone() {
    local source name
    run_mpi_tests alone
    for source in tests/cli/*.sh; do
        name=$(basename "$source" .sh)
        [[ " ${sharing[*]} ${sharing_emulated[*]} " == *" $name "* ]] || run_scripts "$name"
    done
    [ "$only" != cpu ] || return 0
    run_model "a GPU" "$build/tests"
    run_parity "a GPU" "$build/tests" "1 2 4"
}

shopt -s nullglob
if [ "$only" = gpu ]; then
    run_one check unit/kernels/test_device "$build/tests/unit/kernels/test_device"
    for ranks in 1 2 4; do
        run_ranks mpi/comm "$ranks" "$build/tests/mpi/comm"
    done
    run_model "a GPU" "$build/tests"
    run_parity "a GPU" "$build/tests" "1 2 4"
    REAL_GPU=1 run_scripts cuda cuda_profile
    [ "$skipped" = 0 ] || say "skipped tests found no GPU or no NCCL"
elif [ "$only" = mpi ]; then
    share_machine "$(count_cpus)"
    run_scripts comm run check
    run_mpi_tests sharing
    wait_for 0
    share_machine 1
    run_mpi_tests alone
elif [ "$only" = packages ]; then
    for script in tests/packages/*.sh; do
        run_one lines "${script#tests/}" "$script" "$build"
    done
else
    run_sharing
    run_alone
fi
wait_for 0
if [ "${#names[@]}" = 0 ]; then
    echo "FAILED no tests were found in $PWD/tests"
    failed=1
fi
[ ! -e "$work/failures" ] || cat "$work/failures"
echo "The slowest: $(sort -rn "$times" | head -n 5 | awk -F'\t' '{ printf "%s%s %s s", (NR > 1 ? ", " : ""), $3, $1 }')"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && { [ "$only" != gpu ] || [ "$skipped" = 0 ]; }
