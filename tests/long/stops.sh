#!/usr/bin/env bash
# stops.sh - stopping a rank at any moment, from the first millisecond of its process to the last, ends the job in time,
# with an error that names the rank. Makes STOPS runs (default 40) with 2 ranks and STOPS runs with 3 ranks, with
# --timeout 3. Sends SIGSTOP to a random rank of each run at a random moment. The job must end within 8 s, with a status
# other than 0 and a line that names the rank. If the other ranks have ended, the launcher's line that names the process
# is enough. Runs that end before the stop do not count. Takes about 6 s per run.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

stops=${STOPS:-40} timeout=3 most=$((3 + 5))
tiny=(--device cpu --d-model 16 --num-layers 1 --num-heads 2 --d-ff 16 --vocab-size 32 --context-length 8 --batch-size-per-rank 1
    --rounds 1 --steps-per-block 1 --implementations ddp --timeout "$timeout" --output "$PWD/out")

# milliseconds: prints the wall clock time in ms.
milliseconds() { echo "$((${EPOCHREALTIME/./} / 1000))"; }

# start RANKS: starts a run in the background; each rank first writes its process id to a file.
start() {
    rm -rf out process_*
    # shellcheck disable=SC2016 # expanded by the shell of each rank
    timeout --kill-after=2 $((2 * most)) "${mpirun[@]}" -n "$1" sh -c \
        'echo $$ >"process_${'"$rank_variable"'}.tmp"; mv "process_${'"$rank_variable"'}.tmp" "process_${'"$rank_variable"'}"; exec "$@"' sh \
        "$program" "${tiny[@]}" >printed 2>said </dev/null &
    run=$!
}

# is_stopped PROCESS: tests whether a process is stopped. is_settled PROCESS: tests whether a process is stopped or has ended:
# after SIGSTOP, one of the two is soon true.
is_stopped() { grep -q '^State:.*stopped' "/proc/$1/status" 2>/dev/null; }
# shellcheck disable=SC2317 # called by wait_until
is_settled() { is_stopped "$1" || ! kill -0 "$1" 2>/dev/null || grep -q '^State:.*zombie' "/proc/$1/status" 2>/dev/null; }

# stop_once RANKS: starts a run and stops a random rank in its first $lasts ms. Prints moment and errors, if the run had not ended.
stop_once() {
    local rank=$((RANDOM % $1)) moment=$((RANDOM % lasts)) begin took wrong='' pause process left stopped=no
    start "$1"
    until [ -s "process_$rank" ]; do
        sleep 0.001
        kill -0 "$run" 2>/dev/null || die "a run does not start: $(cat said)"
    done
    printf -v pause '0.%03d' $((moment % 1000))
    sleep "$((moment / 1000))${pause#0}"
    begin=$(milliseconds)
    process=$(cat "process_$rank")
    ! kill -STOP "$process" 2>/dev/null || ! wait_until is_settled "$process" || ! is_stopped "$process" || stopped=yes
    wait "$run" && status=0 || status=$?
    took=$(($(milliseconds) - begin))
    for left in $(gone ''); do # gone waits for processes that are ending
        kill -KILL "$left" 2>/dev/null || true
        wrong=', with processes left'
    done
    [ "$stopped" = yes ] || [ -n "$wrong" ] || return 0
    [ "$status" != 0 ] || wrong+=', not by a failure'
    grep -qE "rank $rank(|'s) (process|has|is)|PID $process RUNNING" said printed || wrong+=', without its name'
    [ "$took" -le $((1000 * most)) ] || wrong+=", after $took ms"
    echo "$moment ms: rank $rank of $1$wrong, by '$(grep -om1 "has waited.*" said || true)'"
}

for ranks in 2 3; do
    begin=$(milliseconds)
    start "$ranks"
    wait "$run" || die "a run without a stop fails: $(cat said)"
    lasts=$(($(milliseconds) - begin))
    for ((i = 0; i < stops; i++)); do stop_once "$ranks"; done >stopped
    bad=$(grep -cE ', (without|after|not|with) ' stopped || true) all=$(wc -l <stopped)
    sort -n stopped >said
    result "$((bad > 0 || all == 0))" "$ranks ranks: $((all - bad)) of $all stops end the job within $most s and name the rank"
done
exit "$failed"
