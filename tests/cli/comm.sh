#!/usr/bin/env bash
# comm.sh - which library sends, GPUs that ranks would share, and collectives that do not return, as users meet them; on
# the CPU, and, where the program was also built for it, on an emulated GPU. Runs BUILD_DIR/ddpbench, and
# BUILD_DIR/emulated/ddpbench if there is one.

# wait_until calls functions by name:
# shellcheck disable=SC2317
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

tiny=(--d-model 16 --num-layers 1 --num-heads 2 --d-ff 16 --vocab-size 32 --context-length 8 --batch-size-per-rank 1
    --rounds 1 --steps-per-block 1)
run() { try "${mpirun[@]}" -n "$1" "$program" "${tiny[@]}" --output out "${@:2}"; }
sweep() { try "${mpirun[@]}" -n "$1" "$program" allreduce --sizes 16,6000 -n 5 --output out "${@:2}"; }
again() { rm -rf out; }
# field NAME: the text of the last field of that name in run.json: what was found, after the options that asked for it.
field() { sed -n "s/.*\"$1\":[[:space:]]*\"\([^\"]*\)\".*/\1/p" out/run.json | tail -1; }

# ends WORDS PATTERN: what was tried last did not succeed, but ended by itself, and said something that matches.
ends() {
    local good=0
    [ "$status" != 0 ] && ended_by_itself || good=1
    grep -qE -- "$2" said || good=1
    [ "$good" = 0 ] || echo "status $status, expected a failure and '$2'" >>said
    result "$good" "$1"
}

# ---- on the CPU ----

run 2 --device cpu --comm nccl
check 1 "NCCL does not move the host's memory" '--comm nccl needs NVIDIA GPUs, and this run computes on the CPU: use --comm mpi'
again
sweep 2 --device cpu --comm nccl
check 1 "nor in a sweep" '--comm nccl needs NVIDIA GPUs'
again
run 2 --device cpu --comm mpi --implementations ddp
is "MPI does" "$status" 0
usual=$((took + 1)) # what a short run takes here and now, at most
again

# one rank sleeps and the other waits for it; the sleeper has not started what the other waits in
run 2 --device cpu --implementations ddp --timeout 3 --inject-delay rank=1,ms=30000,phase=backward_pass
ends "a collective of a step that does not return ends the job" \
    'rank 0 on .* has waited for [0-9]+ s in the first steps: all_reduce of [0-9]+ float sum, bucket 11, ticket 1; rank 1 has not started it: it is in the first steps'
succeeds "and what was written is whole" valid out/run.json
again
run 2 --device cpu --implementations ddp --timeout 20 --inject-delay rank=1,ms=300,phase=backward_pass
is "one that takes its time does not" "$status" 0
again

# ---- a rank that is stopped ----

# process_of RANK: that rank of the run that goes on, once it is there.
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

limit=100 # of try, too
# stop_rank SIGNAL SECONDS TIMEOUT CONDITION OPTION...: tries two ranks, stops the second once a command succeeds, and after
# so many seconds sends it the signal; the run is over `waited` seconds after the stop.
stop_rank() {
    local run begin=$SECONDS stopped process
    timeout "$limit" "${mpirun[@]}" -n 2 "$program" "${tiny[@]}" --device cpu --timeout "$3" --output "$PWD/out" "${@:5}" >said 2>&1 &
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
# in_time SECONDS TOOK: a job ends so long after the beginning of a wait, at most; a start and an end take their time, too.
in_time() { is "in time: after $2 s" "$(($2 <= $1 + 5 + 3 * usual))" 1; }

# Before MPI has started, and while it ends, ranks know of each other what the system shows.
# shellcheck disable=SC2016 # the shell of each rank takes them
late='[ "${'$rank_variable'}" = 0 ] || while :; do sleep 0.2; done; exec "$@"' stops='[ "${'$rank_variable'}" = 0 ] || kill -STOP $$; exec "$@"'
missing='^ddpbench: rank 0 on .* has waited for [0-9]+ s in starting MPI; rank 1 has not started it: its process [0-9]+'
try "${mpirun[@]}" -n 2 sh -c "$late" sh "$program" "${tiny[@]}" --timeout 2 --output "$PWD/out"
ends "a rank that is late to start ends the job" "$missing \\((sh|sleep)\\) runs\$"
in_time 2 "$took"
try "${mpirun[@]}" -n 2 sh -c "$stops" sh "$program" "${tiny[@]}" -T2 --output "$PWD/out"
ends "one that is stopped before it starts, too" "$missing \\(.*\\) is stopped\$"
fault=(env ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0" LD_PRELOAD=faults.so FAULT_RANK=1)
try "${fault[@]}" FAULT_SIGNAL="$(kill -l STOP)" "${mpirun[@]}" -n 2 "$program" "${tiny[@]}" --timeout=2 --output "$PWD/out"
ends "and while its libraries are loaded" "$missing \\(ddpbench\\) is stopped\$"
for place in finalize:'ending MPI' finalized:'waiting for the other ranks to end'; do
    again
    try "${fault[@]}" FAULT_STOP="${place%%:*}" "${mpirun[@]}" -n 2 "$program" "${tiny[@]}" -T2 --output "$PWD/out"
    ends "one that is stopped while the others are in '${place#*:}', too" \
        "^ddpbench: rank 0 on .* has waited for [0-9]+ s in ${place#*:}; rank 1.* process [0-9]+ \\(ddpbench\\) is stopped\$"
done
again
try "${fault[@]}" FAULT_STOP=exit "${mpirun[@]}" -n 2 "$program" "${tiny[@]}" -T2 --output "$PWD/out"
is "one that is stopped as the last thing that it does is killed" "$((status != 0 && took <= 2 + 2 * 2 + 5 + 3 * usual))" 1
is "none of which is left" "$(gone out)" ''
again
try "${mpirun[@]}" -n 2 env MPIR_CVAR_NOLOCAL=nonsense "$program" "${tiny[@]}" --output "$PWD/out"
if [ "$status" = 0 ]; then
    echo "skip - an MPI that cannot start: this one has no MPIR_CVAR_NOLOCAL"
else
    ends "an MPI that cannot start is introduced" '^ddpbench: rank 0: MPI could not start, for the reason that it gave above; '
fi
again
many=(--rounds 100000 --implementations)
for strategy in none ddp; do
    place="(step [0-9]+ of block [0-9]+, $strategy|the evaluation of block [0-9]+)"
    stop_rank WINCH 0 3 '[ -s out/rank_1_metrics.jsonl ]' "${many[@]}" $strategy
    ends "a rank that is stopped in steps of $strategy is named, and what it did" \
        "rank 0 on .* has waited for [0-9]+ s in $place: .*; rank 1 has (not )?started it: it is in $place.* its process has not run"
    in_time 3 "$waited"
    succeeds "and what was measured is kept" valid out/run.json
    again
done
stop_rank WINCH 0 3 '[ -e out/rank_0_metrics.jsonl ]' --d-model 512 --d-ff 2048 --num-layers 12 "${many[@]}" none
ends "one that is stopped in the set-up too" \
    'rank 0 on .* has waited for [0-9]+ s in (the set-up|the first step): .*; rank 1 has (not )?started it: it is in (the set-up|the first step).* its process has not run'
again
stop_rank CONT 1.5 20 '[ -s out/rank_1_metrics.jsonl ]' --rounds 300 --implementations none
is "one that goes on in time goes on" "$status" 0
again

# ---- on an emulated GPU ----

program=$build/emulated/ddpbench
if [ ! -x "$program" ]; then
    echo "skip - there is no $program"
    exit "$failed"
fi
export UCX_MEM_MMAP_HOOK_MODE=none # UCX's hooks do not survive the sanitizer

EMULATED_NCCL_THREADS=0 run 2 --device cuda --implementations none,ddp_individual
is "GPUs train by NCCL, which starts no thread for a collective" "$status $(field comm)" "0 nccl"
is "and the results say which, and how" \
    "$(field nccl)" "NCCL 2.28.9, CTAs chosen by NCCL, buffers registered"
again
run 2 --device cuda --implementations none,ddp_individual --nccl-max-ctas 4
is "with as many thread blocks as it may" "$(field nccl)" \
    "NCCL 2.28.9, at most 4 CTAs, buffers registered"
again
for ranks in 1 2; do
    run $ranks --device cuda --comm mpi --mpi-progress sleep:500 --implementations none,ddp_individual_v2,ddp_bucketed
    is "$ranks of them by MPI" "$status $(field comm) $(field mpi_progress)" \
        "0 mpi sleep:500, staged through host memory"
    again
done

for comm in nccl mpi; do
    blocking="$([ $comm = nccl ] && echo queued || echo blocking) calls"
    for collective in all_reduce reduce_scatter all_gather broadcast; do
        operations=(-o all)
        case $collective in all_gather | broadcast) operations=() ;; esac
        sweep 2 --device cuda --comm $comm --collective $collective -d all "${operations[@]}"
        is "a sweep of $collective by $comm is right" "$status $(field blocking)" "0 $blocking"
        again
    done
    DDPBENCH_TEST_FLIP_BIT=3 sweep 2 --device cuda --comm $comm
    check 1 "a wrong bit by $comm is found" ''
    again
    sweep 2 --device cuda --comm $comm --blocking yield --collective reduce_scatter
    is "a sweep that does not block by $comm is right" "$status" 0
    again
done

CUDA_VISIBLE_DEVICES=0 run 2 --device cuda
check 1 "ranks on one GPU are named" 'ranks 0 and 1 on host .* would share GPU GPU-[^ ]* .*--gpus-per-task.*--share-gpu'
again
CUDA_VISIBLE_DEVICES=0 run 2 --device cuda --share-gpu --implementations ddp
is "they may share it, by MPI" "$status $(field comm)" "0 mpi"
again
CUDA_VISIBLE_DEVICES=0 run 2 --device cuda --share-gpu --comm nccl
check 1 "NCCL of before 2.30 may not" '--comm nccl with --share-gpu needs NCCL 2.30 or later, but this is 2.28.9'
again

for comm in auto nccl; do
    NCCL_COMM_BLOCKING=0 run 2 --device cuda --comm $comm
    check 1 "with --comm $comm nor may it be told to" '^ddpbench: NCCL_COMM_BLOCKING=0 .* unset it, or use --comm mpi$'
    is "which is said once" "$(grep -c NCCL_COMM_BLOCKING said)" 1
    again
done
NCCL_COMM_BLOCKING=0 run 2 --device cuda --comm mpi --implementations ddp
is "and does not matter to MPI" "$status $(field comm)" "0 mpi"
again
EMULATED_NCCL_HANG_RANK=1,call=0 run 2 --device cuda --timeout 3
ends "NCCL that does not connect ends the job" 'rank 0 on .* has waited for [0-9]+ s in the set-up: connecting 2 ranks by NCCL.*; all ranks have started it'
succeeds "and says which option gave it so long" grep -qE -e '--timeout: no progress for [0-9]+ s' said
again

EMULATED_NCCL_FAIL_RANK=1,call=5 run 2 --device cuda --implementations ddp_individual --timeout 30
ends "an error of NCCL ends the job" 'rank 1: NCCL: unhandled system error: .*, in all_reduce of [0-9]+ float sum, bucket 4, ticket 5'
succeeds "at once, and the other rank says where it was" grep -qE 'rank 0 on .* in the first steps: all_reduce of .*, ticket 5; all ranks have started it' said
succeeds "and what was written is whole" valid out/run.json
again
EMULATED_NCCL_HANG_RANK=1,call=5 run 2 --device cuda --implementations ddp_individual --timeout 3
ends "a collective of NCCL that hangs ends the job" 'rank 0 on .* has waited for [0-9]+ s in the first steps: all_reduce of .*, bucket 4, ticket 5; all ranks have started it'
again
EMULATED_NCCL_HANG_RANK=1,call=9 sweep 2 --device cuda --timeout 3
ends "and of a sweep too" 'rank 0 on .* has waited for [0-9]+ s in (timed|warm-up) iteration [0-9]+ of all_reduce of .*: all_reduce of .*; all ranks have started it'
again
run 2 --device cuda --implementations ddp --timeout 3 --inject-delay rank=1,ms=30000,phase=backward_pass
ends "a rank that does not come to NCCL is named" 'rank 0 on .* bucket 11, ticket 1; rank 1 has not started it'
exit "$failed"
