#!/usr/bin/env bash
# comm.sh - choice of the communication library, ranks that would share a GPU, collectives and exits that hang; on the
# CPU, and on an emulated GPU if that is built. Runs BUILD_DIR/ddpbench, and BUILD_DIR/emulated/ddpbench if it exists.

# wait_until calls functions by name:
# shellcheck disable=SC2317
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

tiny=(--d-model 16 --num-layers 1 --num-heads 2 --d-ff 16 --vocab-size 32 --context-length 8 --batch-size-per-rank 1
    --rounds 1 --steps-per-block 1)
# start COMMAND...: like try, for a command that writes its results to the new directory `out`.
start() { rm -rf out && try "$@"; }
run() {
    latest "${tiny[@]}" --output out "${@:2}"
    start "${mpirun[@]}" -n "$1" "$program" "${latest[@]}"
}
sweep() { start "${mpirun[@]}" -n "$1" "$program" allreduce --sizes 16,6000 -n 5 --output out "${@:2}"; }
# field NAME: prints the last text with this name in run.json: the detected value, which follows the option of the same name.
field() { sed -n "s/.*\"$1\":[[:space:]]*\"\([^\"]*\)\".*/\1/p" out/run.json | tail -1; }

# ends WORDS PATTERN: checks that the last try failed, ended before its time limit, and printed a line matching PATTERN.
ends() {
    local good=0
    [ "$status" != 0 ] && ended_by_itself || good=1
    grep -qE -- "$2" said || good=1
    [ "$good" = 0 ] || echo "status $status, expected a failure and '$2'" >>said
    result "$good" "$1"
}

# ---- on the CPU ----

run 2 --device cpu --comm nccl
check 1 "--comm nccl on the CPU is refused" '--comm nccl needs NVIDIA GPUs, and this run computes on the CPU: use --comm mpi'
sweep 2 --device cpu --comm nccl
check 1 "allreduce --comm nccl on the CPU is refused" '--comm nccl needs NVIDIA GPUs'
run 2 --device cpu --comm mpi --implementations ddp
is "--comm mpi on the CPU succeeds" "$status" 0
usual=$((took + 1)) # upper bound in seconds for a short run on this machine

# Rank 1 sleeps before it starts the collective in which rank 0 waits.
run 2 --device cpu --implementations ddp --timeout 3 --inject-delay rank=1,ms=30000,phase=backward_pass
ends "a collective that hangs in a step ends the job" \
    'rank 0 on .* has waited for [0-9]+ s in the first steps: all_reduce of [0-9]+ float sum, bucket 11, ticket 1; rank 1 has not started it: it is in the first steps'
succeeds "run.json is valid after a hanging collective" valid out/run.json
run 2 --device cpu --implementations ddp --timeout 20 --inject-delay rank=1,ms=300,phase=backward_pass
is "a slow collective within --timeout does not end the job" "$status" 0

# ---- a rank that is stopped ----

# process_of RANK: prints the process id of the rank, if it runs.
process_of() {
    local process
    for process in $(left_over out); do
        if grep -qzE "^(PMI_RANK|OMPI_COMM_WORLD_RANK)=$1\$" "/proc/$process/environ"; then
            echo "$process"
            return
        fi
    done
    return 1
}

# stop_rank SIGNAL SECONDS TIMEOUT CONDITION OPTION...: starts two ranks with --timeout TIMEOUT, stops rank 1 once CONDITION
# succeeds, and sends SIGNAL to rank 1 after SECONDS. Sets `waited` to the seconds from the stop to the end of the run.
stop_rank() {
    local run begin=$SECONDS stopped process
    rm -rf out
    latest "${tiny[@]}" --device cpu --timeout "$3" --output "$PWD/out" "${@:5}"
    timeout "$limit" "${mpirun[@]}" -n 2 "$program" "${latest[@]}" >said 2>&1 &
    run=$!
    process=$(wait_until process_of 1) || kill "$run"
    wait_until eval "$4" || true
    stopped=$SECONDS
    [ -z "$process" ] || kill -STOP "$process"
    sleep "$2"
    [ -z "$process" ] || kill "-$1" "$process" || true
    wait "$run" && status=0 || status=$?
    took=$((SECONDS - begin)) waited=$((SECONDS - stopped))
}
# in_time SECONDS TOOK: checks that a job's duration TOOK is at most SECONDS plus some time for start and end.
in_time() { is "the job ended in time, after $2 s" "$(($2 <= $1 + 5 + 3 * usual))" 1; }

# Before MPI has started, and while MPI ends, ranks detect each other's state through /proc.
# shellcheck disable=SC2016 # expanded by the shell of each rank
late='[ "${'$rank_variable'}" = 0 ] || while :; do sleep 0.2; done; exec "$@"' stops='[ "${'$rank_variable'}" = 0 ] || kill -STOP $$; exec "$@"'
missing='^ddpbench: rank 0 on .* has waited for [0-9]+ s in starting MPI; rank 1 has not started it: its process [0-9]+'
start "${mpirun[@]}" -n 2 sh -c "$late" sh "$program" "${tiny[@]}" --timeout 2 --output "$PWD/out"
ends "a rank that does not start ends the job" "$missing \\((sh|sleep)\\) runs\$"
in_time 2 "$took"
start "${mpirun[@]}" -n 2 sh -c "$stops" sh "$program" "${tiny[@]}" -T2 --output "$PWD/out"
ends "a rank stopped before it starts ends the job" "$missing \\(.*\\) is stopped\$"
fault=(env ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0" LD_PRELOAD="faults.so:${LD_PRELOAD:-}" FAULT_RANK=1)
start "${fault[@]}" FAULT_SIGNAL="$(kill -l STOP)" "${mpirun[@]}" -n 2 "$program" "${tiny[@]}" --timeout=2 --output "$PWD/out"
ends "a rank stopped while its libraries are loaded ends the job" "$missing \\(ddpbench\\) is stopped\$"
for place in finalize:'ending MPI' finalized:'waiting for the other ranks to end'; do
    start "${fault[@]}" FAULT_STOP="${place%%:*}" "${mpirun[@]}" -n 2 "$program" "${tiny[@]}" -T2 --output "$PWD/out"
    ends "a rank stopped while the others are in '${place#*:}' ends the job" \
        "^ddpbench: rank 0 on .* has waited for [0-9]+ s in ${place#*:}; rank 1.* process [0-9]+ \\(ddpbench\\) is stopped\$"
done
start "${fault[@]}" FAULT_STOP=exit "${mpirun[@]}" -n 2 "$program" "${tiny[@]}" -T2 --output "$PWD/out"
is "a rank stopped during exit is killed" "$((status != 0 && took <= 2 + 2 * 2 + 5 + 3 * usual))" 1
is "no stopped rank is left" "$(gone out)" ''
# MPI_Finalize does not return: on rank 1, for which rank 0 then waits, or on both ranks.
for ranks in rank all; do
    hang=("${fault[@]}" "FAULT_HANG=$ranks" FAULT_EXITS="$PWD/exits")
    latest "${tiny[@]}" --rounds 2 --output "$PWD/out"
    # mpirun of Open MPI 4.1.4 crashes or hangs in 3 of 100 such runs on busy cores, once both ranks have ended.
    for _ in 1 2 3; do
        rm -f exits
        limit=100 start "${hang[@]}" "${mpirun[@]}" -n 2 "$program" "${latest[@]}"
        [[ $mpi:$status = openmpi:1@(24|37|39) && $(grep -cxF '_exit(0)' exits) = 2 ]] || break
    done
    is "MPI_Finalize hangs ($ranks): status and results are not affected, and the launcher reports no failure" \
        "$status $(sed -nE 's/^\t"(done|planned)":\t([0-9]+),$/\2/p' out/summary.json | paste -sd ' ') $(gone out) $(cat printed said | grep -ciE 'bad termination|improperly')" "0 2 2  0"
    is "MPI_Finalize hangs ($ranks): no rank is killed" "$(grep -cxF '_exit(0)' exits)" 2
    is "MPI_Finalize hangs ($ranks): a line names it" "$(grep -cxF 'ddpbench: MPI_Finalize does not return; all ranks are done, and end without it' said)" 1
    in_time 5 "$took"
done
try "${hang[@]}" "${mpirun[@]}" -n 2 "$program" --nonsense
check 2 "MPI_Finalize hangs after an error: the run ends with the status of the error" "^ddpbench: unknown option '--nonsense'"
start "${mpirun[@]}" -n 2 env MPIR_CVAR_NOLOCAL=nonsense "$program" "${tiny[@]}" --output "$PWD/out"
if [ "$status" = 0 ]; then
    echo "skip - MPI fails to start: this MPI has no MPIR_CVAR_NOLOCAL"
else
    ends "MPI fails to start: a line refers to the error above it" '^ddpbench: rank 0: MPI could not start, for the reason that it gave above; '
fi
many=(--rounds 100000 --implementations)
for strategy in none ddp; do
    place="(step [0-9]+ of block [0-9]+, $strategy|the evaluation of block [0-9]+)"
    stop_rank WINCH 0 3 '[ -s out/summary.json ]' "${many[@]}" $strategy
    ends "a rank stopped in steps of $strategy is named, with its place in the run" \
        "rank 0 on .* has waited for [0-9]+ s in $place: .*; rank 1 has (not )?started it: it is in $place.* its process has not run"
    in_time 3 "$waited"
    succeeds "a rank stopped in steps of $strategy: run.json is valid" valid out/run.json
    is "a rank stopped in steps of $strategy: the table so far is printed" \
        "$(grep -cE '^Interrupted: [1-9][0-9]* of 100000 rounds[.]$' said) $(grep -c "^$strategy  " said)" "1 1"
done
stop_rank WINCH 0 3 '[ -e out/rank_0_metrics.jsonl ]' --d-model 512 --d-ff 2048 --num-layers 12 "${many[@]}" none
ends "a rank stopped in the set-up is named" \
    'rank 0 on .* has waited for [0-9]+ s in (the set-up|the first step): .*; rank 1 has (not )?started it: it is in (the set-up|the first step).* its process has not run'
stop_rank CONT 1.5 20 '[ -s out/rank_1_metrics.jsonl ]' --rounds 300 --implementations none
is "a rank that continues within --timeout does not end the job" "$status" 0

# ---- on an emulated GPU ----

program=$build/emulated/ddpbench
if [ ! -x "$program" ]; then
    echo "skip - there is no $program"
    exit "$failed"
fi
export UCX_MEM_MMAP_HOOK_MODE=none # UCX's hooks of memory functions do not work with the sanitizer

EMULATED_NCCL_THREADS=0 run 2 --device cuda --implementations none,ddp_individual
is "GPUs use NCCL, without a thread per collective" "$status $(field comm)" "0 nccl"
is "the heading, printed before there are buffers, does not call them unregistered" "$(grep -c 'CTAs chosen by NCCL)' printed)" 1
is "run.json contains the NCCL version and its settings" \
    "$(field nccl)" "NCCL 2.28.9, CTAs chosen by NCCL, buffers registered"
run 2 --device cuda --implementations none,ddp_individual --nccl-max-ctas 4
is "--nccl-max-ctas is in run.json" "$(field nccl)" \
    "NCCL 2.28.9, at most 4 CTAs, buffers registered"
for ranks in 1 2; do
    run $ranks --device cuda --comm mpi --mpi-progress sleep:500 --implementations none,ddp_individual_v2,ddp_bucketed
    is "--device cuda --comm mpi on $ranks ranks stages through host memory" "$status $(field comm) $(field mpi_progress)" \
        "0 mpi sleep:500, staged through host memory"
done

for comm in nccl mpi; do
    blocking="$([ $comm = nccl ] && echo queued || echo blocking) calls"
    for collective in all_reduce reduce_scatter all_gather broadcast; do
        operations=(-o all)
        case $collective in all_gather | broadcast) operations=() ;; esac
        sweep 2 --device cuda --comm $comm --collective $collective -d all "${operations[@]}"
        is "$collective by $comm produces correct results" "$status $(field blocking)" "0 $blocking"
    done
    DDPBENCH_TEST_FLIP_BIT=3 sweep 2 --device cuda --comm $comm
    check 1 "a flipped bit is detected with $comm" ''
    sweep 2 --device cuda --comm $comm --blocking yield --collective reduce_scatter
    is "--blocking yield by $comm produces correct results" "$status" 0
done

CUDA_VISIBLE_DEVICES=0 run 2 --device cuda
check 1 "ranks that would share a GPU are refused and named" 'ranks 0 and 1 on host .* would share GPU GPU-[^ ]* .*--gpus-per-task.*--share-gpu'
CUDA_VISIBLE_DEVICES=0 run 2 --device cuda --share-gpu --implementations ddp
is "--share-gpu selects MPI" "$status $(field comm)" "0 mpi"
CUDA_VISIBLE_DEVICES=0 run 2 --device cuda --share-gpu --comm nccl
check 1 "--share-gpu --comm nccl is refused with NCCL before 2.30" '--comm nccl with --share-gpu needs NCCL 2.30 or later, but this is 2.28.9'
CUDA_VISIBLE_DEVICES=0 start "${mpirun[@]}" -n 2 "${as_hosts[@]}" "$program" "${tiny[@]}" --output out \
    --device cuda --share-gpu --comm nccl --implementations ddp
is "ranks that share a GPU use NCCL before 2.30 if each has its own NCCL_HOSTID" "$status $(field comm)" "0 nccl"
NCCL_HOSTID=same CUDA_VISIBLE_DEVICES=0 run 2 --device cuda --share-gpu --comm nccl --implementations ddp
is "ranks that share a GPU cannot use NCCL before 2.30 if their NCCL_HOSTID is the same" "$status" 1

for comm in auto nccl; do
    NCCL_COMM_BLOCKING=0 run 2 --device cuda --comm $comm
    check 1 "NCCL_COMM_BLOCKING=0 is refused with --comm $comm" '^ddpbench: NCCL_COMM_BLOCKING=0 .* unset it, or use --comm mpi$'
    is "NCCL_COMM_BLOCKING=0 with --comm $comm is reported once" "$(grep -c NCCL_COMM_BLOCKING said)" 1
done
NCCL_COMM_BLOCKING=0 run 2 --device cuda --comm mpi --implementations ddp
is "NCCL_COMM_BLOCKING=0 is accepted with --comm mpi" "$status $(field comm)" "0 mpi"
EMULATED_NCCL_HANG_RANK=1,call=0 run 2 --device cuda --timeout 3
ends "NCCL that hangs while it connects ends the job" 'rank 0 on .* has waited for [0-9]+ s in the set-up: connecting 2 ranks by NCCL.*; all ranks have started it'
succeeds "a hanging connection: the error names --timeout" grep -qE -e '--timeout: no progress for [0-9]+ s' said

EMULATED_NCCL_FAIL_RANK=1,call=5 run 2 --device cuda --implementations ddp_individual --timeout 30
ends "an error of NCCL ends the job" 'rank 1: NCCL: unhandled system error: .*, in all_reduce of [0-9]+ float sum, bucket 4, ticket 5'
succeeds "an error of NCCL: the other rank names the collective" grep -qE 'rank 0 on .* in the first steps: all_reduce of .*, ticket 5; all ranks have started it' said
succeeds "run.json is valid after an error of NCCL" valid out/run.json
EMULATED_NCCL_HANG_RANK=1,call=5 run 2 --device cuda --implementations ddp_individual --timeout 3
ends "a collective of NCCL that hangs ends the job" 'rank 0 on .* has waited for [0-9]+ s in the first steps: all_reduce of .*, bucket 4, ticket 5; all ranks have started it'
EMULATED_NCCL_HANG_RANK=1,call=9 sweep 2 --device cuda --timeout 3
ends "a collective of NCCL that hangs in allreduce ends the job" 'rank 0 on .* has waited for [0-9]+ s in (timed|warm-up) iteration [0-9]+ of all_reduce of .*: all_reduce of .*; all ranks have started it'
run 2 --device cuda --implementations ddp --timeout 3 --inject-delay rank=1,ms=30000,phase=backward_pass
ends "a rank that does not start a collective of NCCL is named" 'rank 0 on .* bucket 11, ticket 1; rank 1 has not started it'
exit "$failed"
