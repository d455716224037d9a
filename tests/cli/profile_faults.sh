#!/usr/bin/env bash
# profile_faults.sh - profile mode when something is wrong: an injected delay is found, a full buffer or a kill leaves
# valid traces, and bad directories are refused before the run. Tests BUILD_DIR/ddpbench --profile with small sizes.
# With python3, recompute_trace.py recomputes every figure.

# Checks are called by name:
# shellcheck disable=SC2317
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"
# shellcheck source=tests/support/profile.sh
. "$root/tests/support/profile.sh"
start_quickly

# level IMPLEMENTATION: prints the level of a clear finding of the last profile: high, or note if the machine was busy.
level() { if texts "$out/$1/summary.json" | grep -q '^Busy machine'; then echo note; else echo high; fi; }

# ---- injected delays are found: at level high, or as a note if the machine is busy ----

for implementation in ddp ddp_bucketed; do
    # The delay of 400 ms is longer than any that busy cores cause on the other rank.
    profile 2 "$implementation" --inject-delay rank=1,ms=400,phase=backward_pass --num-epochs 8
    with_python "$implementation with 400 ms of delay on rank 1: the table has rank, phase and cost" summary \
        "[row['rank'] for row in t['stragglers']] == [1, 0] and t['stragglers'][0]['late_phase'] == 'backward_pass' and
         t['stragglers'][0]['late'] > 0.2 and t['stragglers'][0]['saves'] > 0.2 and
         t['stragglers'][0]['behind_most'] > 0.2 and t['stragglers'][0]['cost'] > 0.2 and t['stragglers'][1]['cost'] < 0.2"
    texts "$out/$implementation/summary.json" |
        grep -qE "^straggler \($(level "$implementation"), up to .* ms of a step\): rank 1 came last .*; it works .*(, most|late in most steps) in backward_pass" && good=0 || good=1
    result "$good" "$implementation with 400 ms of delay on rank 1: the straggler is a finding"
done
profile 3 ddp --inject-delay rank=1,ms=280,phase=forward_pass --inject-delay rank=2,ms=400,phase=optimizer_step --num-epochs 8
with_python "280 ms on rank 1 and 400 on rank 2: the table has both ranks, the cost of each and of both" summary \
    "[row['rank'] for row in t['stragglers']] == [2, 1, 0] and
     [row['late_phase'] for row in t['stragglers'][:2]] == ['optimizer_step', 'forward_pass'] and
     0 < t['stragglers'][0]['saves'] < 0.2 and t['stragglers'][1]['saves'] > 0.2"
texts "$out/ddp/summary.json" |
    grep -qE "^straggler \($(level ddp), up to .* ms of a step\): rank (1 came last .*(, most|late in most steps) in forward_pass|2 came last .*(, most|late in most steps) in optimizer_step)" &&
    good=0 || good=1
result "$good" "280 ms on rank 1 and 400 on rank 2: the finding names the rank that costs more, and its phase"

# ---- full buffers and interrupted captures ----

profile 2 ddp_bucketed --num-epochs 500 --profile-buffer-mb 0.2
check 0 "a full buffer ends the capture with a message, but not the run" "The capture ended after [0-9]* steps: the buffer of 0.2 MiB is full"
with_python "a full buffer: every figure agrees with the traces" agrees
with_python "a full buffer is recorded in the summary" summary "s['capture']['buffer_full'] and len(s['capture']['steps']) < 500"
profile 2 ddp_bucketed --profile-buffer-mb 0.01
check 1 "a buffer too small for one step is refused" "^ddpbench: --profile-buffer-mb 0.01 holds no step of this model"

# stop SIGNAL [one]: starts a long capture and sends the signal to its ranks, or to one of them, once it has written
# traces. A delay keeps the number of steps small, because recompute_trace.py recomputes each step.
stop() {
    runs=$((runs + 1)) out=$temporary/out$runs implementation=ddp_bucketed
    latest "${tiny[@]}" --num-epochs 1000000
    "${mpirun[@]}" -n 2 "$program" "${latest[@]}" --profile-buffer-mb 1000 --inject-delay rank=0,ms=20,phase=data_loading \
        --profile-implementation ddp_bucketed --profile-output-dir "$out" >printed 2>said </dev/null &
    wait_until [ -s "$out/ddp_bucketed_rank_0_trace.json" ] || true
    wait_until [ -s "$out/ddp_bucketed_rank_1_trace.json" ] || true
    local process words
    for process in $(cd /proc && printf '%s\n' [0-9]* | sort -n); do
        words=$(tr '\0' ' ' <"/proc/$process/cmdline" 2>/dev/null) || continue
        [[ $words != "$program"*"$out"* ]] || kill -s "$1" "$process" || true
        [[ $words != "$program"*"$out"* ]] || [ -z "${2:-}" ] || break
    done 2>/dev/null
    wait $! || true
}

stop KILL
valid "$out"/*.json >>said 2>&1 && [ -s "$out/ddp_bucketed_rank_1_trace.json" ] && good=0 || good=1
result "$good" "SIGKILL leaves valid traces"
for how in "TERM" "INT" "USR2" "TERM one" "INT one"; do
    read -ra words <<<"$how"
    stop "${words[@]}"
    grep -q "^Interrupted: the capture ends after [0-9]* steps, without controls.$" said &&
        valid "$out"/*.json "$out/$implementation"/*.json* "$out/$implementation"/all_ranks/*.json >>said && good=0 || good=1
    result "$good" "SIG${words[0]} to ${words[1]:-all} ends the capture with a message and valid files"
    with_python "SIG${words[0]} to ${words[1]:-all}: every figure agrees with the traces" agrees
done

# ---- directories ----

# refused WORDS PATTERN DIRECTORY: checks that a profile in DIRECTORY ends with status 1 and one error line before the first step.
refused() {
    status=0
    timeout "$limit" "${mpirun[@]}" -n 2 "$program" "${tiny[@]}" --profile-output-dir "$3" >printed 2>said </dev/null || status=$?
    [ "$status" = 1 ] && [ "$(grep -c '^ddpbench: ' said)" = 1 ] && grep -q "^ddpbench: .*$2" said && [ ! -s printed ] &&
        good=0 || good=1
    result "$good" "$1 (status $status)"
}
touch file
refused "an output directory below a file is refused" "cannot make the directory .*: Not a directory" file/below
refused "an output directory in /proc is refused" "cannot make the directory" /proc/profile
mkdir -p "$temporary/out$((runs + 1))/ddp"
for directory in . ddp; do : >"$temporary/out$((runs + 1))/$directory/.ddpbench-0123abcd.tmp"; done # leftovers of killed runs
profile 2 ddp
is "temporary files of killed runs are removed" "$status$(find "$out" -name '.ddpbench-*')" 0
refused "a directory that holds a profile of the same implementation is refused" "already holds ddp_rank_0_trace[.]json, which is not overwritten" "$out"
status=0
"${mpirun[@]}" -n 2 "$program" "${tiny[@]}" --rounds 0 --profile-implementation ddp_flat --profile-output-dir "$out" \
    >printed 2>said </dev/null || status=$?
[ -s "$out/ddp_flat_rank_0_trace.json" ] && [ -s "$out/ddp_rank_0_trace.json" ] && good=$status || good=1
result "$good" "a profile of another implementation in the same directory succeeds"

# full BYTES FILE OPTION...: makes a profile, and limits the size of files to BYTES once FILE is written.
full() {
    runs=$((runs + 1)) out=$temporary/out$runs status=0
    "$program" "${@:3}" --rounds 0 --profile-output-dir "$out" >printed 2>said </dev/null &
    running=$!
    wait_until [ -s "$out/$2" ] || true
    prlimit --pid "$running" --fsize="$1"
    wait "$running" || status=$?
}
slowly=("${tiny[@]}" --inject-delay "rank=0,ms=300,phase=forward_pass" --profile-implementation)
full 20000 ddp/run.json "${slowly[@]}" ddp
[ "$status" = 1 ] && grep -q "^ddpbench: cannot write .*_rank_0_trace.json: File too large" said &&
    [ -z "$(find "$out" -name '*.tmp')" ] && [ ! -e "$out/ddp_rank_0_trace.json" ] && good=0 || good=1
result "$good" "a trace that cannot be written ends the run with an error and leaves no partial file (status $status)"
profile 1 ddp,none
full $(($(stat -c %s "$out/ddp/ddp_rank_0_trace.json") * 3 / 2)) comparison/run.json "${slowly[@]}" ddp,ddp_individual,none
[ "$status" = 1 ] && grep -q "^ddpbench: cannot write $(literal "$out")/comparison/all_ranks/.*: File too large" said &&
    [ "$(grep "^ddpbench: " said | grep -vc "computing on the CPU")" = 1 ] && [ -z "$(find "$out" -name '*.tmp')" ] &&
    [ -s "$out/ddp_individual/ddp_individual_rank_0_trace.json" ] && [ ! -e "$out/none/none_rank_0_trace.json" ] &&
    [ ! -e "$out/comparison/all_ranks/comparison_all_ranks_trace.json" ] && good=0 || good=1
result "$good" "a joint trace that cannot be written ends the run immediately with an error (status $status)"
full 1000 inference/predictions/rank_0_step_3.csv "${tiny[@]:0:15}" --profile-inference --num-epochs 100000
[ "$status" = 1 ] && grep -q "^ddpbench: rank 0: cannot write $(literal "$out")/inference/predictions/.*: File too large; " said &&
    [ -z "$(find "$out/inference/predictions" -size -5)" ] && good=0 || good=1
result "$good" "predictions that cannot be written end the run with an error and leave no partial file (status $status)"
check_printed
check_sentences
exit "$failed"
