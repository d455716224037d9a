#!/usr/bin/env bash
# faults.sh - injected failures: each file operation of every kind of run fails once, or the process is killed there;
# also signals, resource limits and interference by other processes. Runs BUILD_DIR/ddpbench with
# BUILD_DIR/tests/support/preload/faults.so: the k-th open, write, close, rename, fsync and mkdir below the results
# directory fails, for every k. The run must then end by itself, with a status other than 0 and one error line, and
# leave only valid files.

# aside, succeeds and wait_until call functions by name:
# shellcheck disable=SC2317
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"
[ -e "$build/tests/support/preload/faults.so" ] || die "there is no $build/tests/support/preload/faults.so; run make tests first"

start_quickly
tiny=(--device cpu --d-model 16 --num-layers 1 --num-heads 2 --d-ff 16 --vocab-size 32 --context-length 8
    --batch-size-per-rank 1 --rounds 2 --steps-per-block 1)
"$program" "${tiny[@]}" --implementations none --output saved >said 2>&1 || die "cannot make the run to report on: $(cat said)"
cp -r saved saved2

# of KIND: sets `command` to the command of that kind of run.
of() {
    case $1 in
    benchmark) command=("$program" "${tiny[@]}" --implementations none --output outcome) ;;
    ranks) command=("${mpirun[@]}" -n 2 "$program" "${tiny[@]}" --implementations "none,ddp" --output outcome) ;;
    profile) command=("$program" "${tiny[@]}" --profile --profile-implementation ddp --num-epochs 1 --steps-per-epoch 3
        --warmup-epochs 0 --profile-output-dir outcome) ;;
    allreduce) command=("$program" allreduce --device cpu --sizes "8,64" --iters 2 --output outcome/run) ;;
    report) command=("$program" report ../saved --output outcome) ;;
    compare) command=("$program" compare ../saved --candidate ../saved2 --json outcome/compared.json --junit outcome/compared.xml) ;;
    esac
}

# after HOW: prints what is wrong after a run in which a call failed with the fault HOW.
after() {
    local files
    ended_by_itself || echo "does not end within $limit s"
    if [ "$1" = EINTR ]; then
        [ "$status" = 0 ] || [ "$kind $status" = 'compare 4' ] || echo "status $status of a call that was only interrupted: $(cat said)" # status 4: unseen
    else
        [ "$status" != 0 ] || echo "status 0"
    fi
    [ "$1" = kill ] || [ "$1" = EINTR ] || [ "$(grep -c '^ddpbench: ' said)" = 1 ] ||
        echo "$(grep -c '^ddpbench: ' said) lines in place of one: $(cat said)"
    mapfile -t files < <(find outcome -name '*.json' -o -name '*.jsonl' 2>/dev/null)
    [ "${#files[@]}" = 0 ] || valid "${files[@]}" || true
    [ "$1" = kill ] || find outcome -name '*.tmp' 2>/dev/null || true
}

# every KIND CALL HOW LEAST [RANK]: repeats runs of KIND until each CALL has failed once by HOW; expects LEAST calls or more.
# An interrupted call is repeated, so one run suffices for EINTR; but a close, which is not repeated, fails in a run of its own.
every() { aside fail_each "$@"; }
fail_each() {
    local kind=$1 call=$2 how=$3 least=$4 k wrong=0 words each=''
    [[ $how != EINTR || $call == close ]] || each=each
    of "$kind"
    for ((k = 1;; k++)); do
        rm -rf outcome hit
        case $kind in allreduce | compare) mkdir outcome ;; esac # the parent directory of their outputs
        { try env LD_PRELOAD="faults.so:${LD_PRELOAD:-}" FAULT_UNDER=outcome FAULT_CALL="$call" FAULT_AT="${each:-$k}" FAULT_HOW="$how" \
            FAULT_RANK="${5:-0}" FAULT_LOG="$PWD/hit" "${command[@]}"; } 2>/dev/null # hides the shell's messages about killed processes
        [ -e hit ] || break
        words=$(after "$how")
        [ -z "$words" ] || { wrong=1; echo "$call number ${each:-$k}: $words" >>wrongs; }
        [ -z "$each" ] || { k=$(($(wc -l <hit) + 1)); break; }
    done
    [ ! -e wrongs ] || mv wrongs said
    [ "$k" -gt "$least" ] || { wrong=1; echo "only $((k - 1)) calls failed, and $least were expected" >>said; }
    result "$wrong" "$kind${5:+, rank $5}: each $call that ends by $how is handled ($((k - 1)) calls)"
}

# Starts the longest checks first.
for kind in profile allreduce benchmark; do
    for how in half-ENOSPC EINTR kill; do every $kind write $how 5; done
    every $kind open EMFILE 4
    every $kind close EIO 4
    every $kind rename EIO 3
done
for kind in profile benchmark; do every $kind rename kill 3; done
every benchmark fsync EIO 3 # for all files in the condition that also tests rename
every benchmark write ENOSPC 5
for call in open close rename mkdir; do every benchmark $call EINTR 1; done
every benchmark mkdir ENOSPC 1
every profile mkdir ENOSPC 2
for how in half-ENOSPC kill; do every ranks write $how 2 1; done
every ranks close EIO 1 1
every ranks open EMFILE 1 1
for kind in report compare; do
    every $kind write half-ENOSPC 1
    every $kind open EMFILE 1
    every $kind close EIO 1
    every $kind rename EIO 1
done
gather

# ---- signals ----

# signalled SIGNAL WHICH CONDITION COMMAND...: starts the command; once the condition holds, sends the signal to the rank
# process number WHICH (from 0, oldest first). Sets `status`.
signalled() {
    local run processes=()
    rm -rf outcome
    set -m # job control gives a script the default action of SIGINT
    "${@:4}" >printed 2>said </dev/null &
    run=$!
    set +m
    wait_until is_there "$2" "$3" || true
    kill "-$1" "${processes[$2]}" 2>/dev/null || echo "there was no process to signal" >>said
    if ! wait_until is_over; then
        result 1 "SIG$1 ends the run"
        kill -KILL -- -$run 2>/dev/null || true
    fi
    { wait $run && status=0 || status=$?; } 2>/dev/null
}

# is_there WHICH CONDITION: sets `processes` to the ids of the ranks; tests whether number WHICH exists and CONDITION holds.
is_there() {
    mapfile -t processes < <(ranks_of)
    [ "${#processes[@]}" -gt "$1" ] && eval "$2"
}
is_over() { ! kill -0 "$run"; }

# ranks_of: prints the process ids of the ranks in this script's runs, without the launchers.
ranks_of() {
    local process
    for process in $(left_over); do
        [ "$(readlink "/proc/$process/exe")" != "$program" ] || echo "$process"
    done
}

# whole: tests that every JSON file below outcome is valid and no temporary file is left.
whole() {
    local files
    mapfile -t files < <(find outcome -name '*.json' -o -name '*.jsonl')
    [ -z "$(find outcome -name '*.tmp')" ] && { [ "${#files[@]}" = 0 ] || valid "${files[@]}"; }
}

latest "${tiny[@]}" --rounds 1000000
long=("${latest[@]}")
before=true
in_blocks='[ -s outcome/summary.json ]'
# has_line WORDS PATTERN: checks that stderr has a line matching the extended regular expression.
has_line() { if grep -qE -- "$2" said; then result 0 "$1"; else result 1 "$1"; fi; }

for signal in HUP INT USR1 USR2 TERM; do
    try env LD_PRELOAD="faults.so:${LD_PRELOAD:-}" FAULT_SIGNAL="$(kill -l $signal)" "$program" "${long[@]}" --implementations none \
        --output "$PWD/outcome"
    is "SIG$signal during the loading of libraries ends the run" "$status" $((128 + $(kill -l $signal)))
    signalled $signal 0 "$before" "$program" "${long[@]}" --implementations none --output "$PWD/outcome"
    is "SIG$signal during the start ends the run" "$status" $((128 + $(kill -l $signal)))
    signalled $signal 0 "$in_blocks" "$program" "${long[@]}" --implementations none --output "$PWD/outcome"
    check $((128 + $(kill -l $signal))) "SIG$signal in a block ends the run with a message" \
        "^ddpbench: rank 0: ended by SIG$signal; what was measured before is in .*/outcome\$"
    succeeds "SIG$signal in a block leaves valid files" whole
    rounds=$(sed -nE 's/^Interrupted: ([1-9][0-9]*) of 1000000 rounds[.]$/\1/p' printed)
    is "SIG$signal in a block prints the table of the complete rounds" \
        "$(grep -c '^none  ' printed) $(grep -cE "over ${rounds:-no} rounds?;" printed)" "1 1"
done
# The launcher then kills rank 0, which leaves a temporary file if it is writing the first summary.
signalled TERM 1 '[ -s outcome/summary.csv ] && [ -s outcome/summary.txt ] && [ -s outcome/summary.prom ]' "${mpirun[@]}" -n 2 "$program" "${long[@]}" --implementations ddp --output "$PWD/outcome"
has_line "SIGTERM to rank 1 only: rank 1 prints the message" \
    "^ddpbench: rank 1: ended by SIGTERM; what was measured before is in .*/outcome\$"
succeeds "SIGTERM to rank 1 only: the files of both ranks are valid" whole
latest "${tiny[@]}" --rounds 300
nohup "$program" "${latest[@]}" --implementations none --output "$PWD/outcome2" >printed 2>said &
run=$!
wait_until [ -s outcome2/rank_0_metrics.jsonl ] || true
kill -HUP $run
wait $run && status=0 || status=$?
is "SIGHUP does not end a run under nohup" "$status" 0
# shellcheck disable=SC2016 # signalled evaluates the condition
signalled TERM 0 '[ -n "$(find outcome -name "*.tmp" -size +64k 2>/dev/null)" ]' "$program" "${tiny[@]}" --profile --profile-implementation ddp \
    --num-epochs 3 --steps-per-epoch 1000 --warmup-epochs 0 --profile-output-dir "$PWD/outcome"
is "SIGTERM during the writing of traces ends the run" "$((status != 0))" 1
succeeds "SIGTERM during the writing of traces leaves no partial file" whole
succeeds "SIGTERM during the writing of traces still writes a summary" test -s outcome/ddp/summary.json

# ---- resource limits ----

# limited LIMIT VALUE OPTION...: runs the program under the resource limit `ulimit LIMIT VALUE`.
limited() {
    rm -rf outcome
    try bash -c "ulimit -c 0 $1 $2; exec \"\$@\"" bash "$program" "${@:3}" --implementations none --output outcome
}
limited -f 16384 "${long[@]}"
check 1 "a limit on the file size ends the run with an error" \
    '^ddpbench: cannot write outcome/rank_0_metrics[.]jsonl: File too large; the file keeps the lines that were written before$'
succeeds "a limit on the file size leaves valid files" whole
limited -v 2200000 --device cpu --threads 1 --d-model 1024 --num-layers 8 --d-ff 4096 --vocab-size 10000 --num-heads 4
check 1 "memory refused by a limit is reported" '^ddpbench: .* memory'
# says_why: tests that the run succeeded or printed an error. The dynamic linker prints it if libraries exceed the limit.
says_why() {
    case $status in
        0) ;;
        1) [ "$(grep -c '^ddpbench: .* memory' said)" = 1 ] ;;
        127) grep -q 'error while loading shared libraries' said ;;
        *) false ;;
    esac
}
latest "${tiny[@]}" --rounds 1
for limit_kb in 250000 350000 450000 600000; do
    limited -v $limit_kb "${latest[@]}"
    succeeds "with $limit_kb KiB of address space the run ends in time with an error" says_why
done
if unshare -m --propagation private mount -t tmpfs none /dev/shm 2>/dev/null; then
    try unshare -m --propagation private sh -c 'mount -t tmpfs -o size=64k none /dev/shm && exec "$@"' sh \
        "${mpirun[@]}" -n 2 "$program" "${tiny[@]}" --implementations none --output full
    is "a full /dev/shm ends the run" "$((status != 0 && status != 124))" 1
    is "a full /dev/shm is reported" "$(grep -c '^ddpbench: /dev/shm has 0[.]1 MB left' said)" 1
    mkdir read-only
    try unshare -m --propagation private sh -c 'mount -t tmpfs -o ro none read-only && exec "$@"' sh \
        "${mpirun[@]}" -n 2 "$program" "${tiny[@]}" --implementations none --output read-only
    is "a read-only directory ends both ranks with one error line" \
        "$status $(grep '^ddpbench: ' said)" "1 ddpbench: --output read-only: cannot write files to this directory: Read-only file system; choose another"
else
    echo "skip - a full /dev/shm and a read-only directory: cannot mount here"
fi
# Makes the start of each thread of a run fail in turn: of the watchdog, MPI, the computation and the data. Some
# libraries continue without their own thread.
touch all_said
failures=0
for k in {1..10}; do
    rm -rf outcome
    try env LD_PRELOAD="faults.so:${LD_PRELOAD:-}" FAULT_CALL=pthread_create FAULT_AT="$k" FAULT_HOW=EAGAIN "$program" "${tiny[@]}" \
        --threads 2 --implementations none --output outcome
    [ "$status" != 0 ] || continue
    failures=$((failures + 1))
    ended_by_itself || echo "the start of thread $k fails: the run does not end" >>said
    cat said >>all_said
done
cp all_said said
is "a thread that cannot start ends the run" "$((failures >= 3)) $(grep -c 'does not end$' said)" '1 0'
advice='raise ulimit -u or pids.max of the control group '
for words in "cannot start the watchdog's thread: Resource temporarily unavailable; .*: $advice" \
    "a rank can start 0 of the 1 threads that it needs for computation: Resource temporarily unavailable; .*: $advice" \
    "a library ended the process, for the reason that it gave above; if it could not start a thread, $advice"; do
    succeeds "a thread that cannot start: ${words%% *} ... is explained" grep -qE "^ddpbench: .*$words" said
done
is "a thread that cannot start: the reason has no bare error number" "$(grep -c 'error [0-9]' said)" 0
for jump in 3600 -3600; do
    rm -rf outcome
    try env LD_PRELOAD="faults.so:${LD_PRELOAD:-}" FAULT_CLOCK=$jump "${mpirun[@]}" -n 2 "$program" "${tiny[@]}" --timeout 50 \
        --implementations "none,ddp" --output outcome
    is "a jump of the wall clock by $jump s does not affect durations" \
        "$status $(awk -F, 'NR > 1 && $5 == "s" && ($6 < -100 || $6 > 100)' outcome/summary.csv)" "0 "
done

# ---- interference by other processes ----

timeout "$limit" "$program" "${long[@]}" --implementations none --output shared >printed 2>&1 &
run=$!
wait_until [ -s shared/rank_0_metrics.jsonl ] || true
try "$program" "${tiny[@]}" --implementations none --output shared
check 1 "a second run in the directory of an active run is refused" '^ddpbench: --output shared already holds [^ ]*, which is not overwritten; choose another directory$'
kill $run
wait $run || true
succeeds "the files of the active run are valid" valid shared/*.json

for how in "rm -r shared2" "mv shared2 moved"; do
    rm -rf shared2
    timeout "$limit" "$program" "${long[@]}" --implementations none --output shared2 >printed 2>said &
    run=$!
    wait_until [ -s shared2/rank_0_metrics.jsonl ] || true
    # shellcheck disable=SC2086 # splits how into words
    wait_until $how || true # rm fails if a temporary file disappears meanwhile
    wait $run && status=0 || status=$?
    check 1 "a removed results directory ($how) ends the run" \
        '^ddpbench: cannot write shared2/summary[.].*: No such file or directory; .*$'
    is "a removed results directory ($how) is not recreated" "$(ls shared2 2>/dev/null)" ''
done
succeeds "a moved results directory holds valid files" valid moved/run.json moved/rank_0_metrics.jsonl

mkfifo pipe
try "$program" allreduce --device cpu --sizes 8 --output piped --prometheus pipe
check 1 "a pipe as --prometheus is refused" '^ddpbench: --prometheus pipe: is not a regular file; name a file$'
for name in run.json rank_0_metrics.jsonl; do
    rm -rf waits && mkdir waits && mkfifo waits/$name
    try "$program" "${tiny[@]}" --implementations none --output waits
    check 1 "a pipe named $name in the results directory is refused" "^ddpbench: --output waits already holds $name, which"
    is "a pipe named $name stays the only file" "$(ls -A waits) $(find waits -type p)" "$name waits/$name"
done

# left: tests that a report killed while it writes leaves a temporary file, and that the next report there removes it.
left() {
    { try env LD_PRELOAD="faults.so:${LD_PRELOAD:-}" FAULT_UNDER=written FAULT_CALL=fsync FAULT_AT=1 FAULT_HOW=kill "$program" report saved --output written; } \
        2>/dev/null
    [ -n "$(find written -name '.ddpbench-*.tmp')" ] || return 1
    touch written/report.html.tmp
    try "$program" report saved --output written
    [ "$status" = 0 ] && [ "$(find written -name '*.tmp')" = written/report.html.tmp ]
}
succeeds "the next run removes the temporary file of a killed run, and no other file" left

# ---- stdout on a full device ----

for call in --help --version "report --help" "report saved" "report saved --json -" "compare saved saved2" "compare saved saved2 --json -" \
    "allreduce --device cpu --sizes 8" "${tiny[*]} --implementations none"; do
    status=0
    # shellcheck disable=SC2086 # splits the call into words
    timeout "$limit" "$program" $call >/dev/full 2>said || status=$?
    check 1 "stdout is full: ${call:0:30}: error" '^ddpbench: cannot write to the standard output: '
    is "stdout is full: ${call:0:30}: one error line" "$(grep -c '^ddpbench: ' said)" 1
done
exit "$failed"
