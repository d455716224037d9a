#!/usr/bin/env bash
# profile.sh - profile mode: traces agree with the summary, a full buffer or a kill leaves valid traces, an injected
# delay is found, and bad directories are refused before the run. Tests BUILD_DIR/ddpbench --profile with small sizes.
# With python3, recompute_trace.py recomputes every figure.

# Checks are called by name:
# shellcheck disable=SC2317
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

python=$(command -v python3 || true)
tiny=(--d-model 32 --num-layers 2 --num-heads 2 --d-ff 48 --context-length 16 --batch-size 12 --vocab-size 256 --profile
    --num-epochs 5 --warmup-epochs 2)
runs=0

# expect WORDS COMMAND...: checks that a command succeeds.
expect() {
    local words=$1
    shift
    if "$@" >>said 2>&1; then result 0 "$words"; else result 1 "$words"; fi
}

# with_python WORDS COMMAND...: like the function expect, but skips the check if python3 is not installed.
with_python() {
    if [ -n "$python" ]; then
        expect "$@"
    else
        echo "skip - $1: no python3 here"
    fi
}

# profile RANKS IMPLEMENTATION OPTION...: makes a profile in the new directory $out; sets status.
profile() {
    local ranks=$1
    implementation=$2
    shift 2
    runs=$((runs + 1)) out=$temporary/out$runs status=0
    timeout --kill-after=5 100 "${mpirun[@]}" -n "$ranks" "$program" "${tiny[@]}" --rounds 0 \
        --profile-implementation "$implementation" --profile-output-dir "$out" "$@" >printed 2>said </dev/null || status=$?
}

agrees() { "$python" "$root/tests/consumers/recompute_trace.py" "$out" "$implementation"; }

# summary EXPRESSION: tests a Python expression on s, the summary.json, and t, the rows of its tables by key.
summary() { "$python" -c "import json, sys; s = json.load(open(sys.argv[1], encoding='utf-8'))
t = {table['key']: table['rows'] for table in s['tables']}; assert ($1), t['stragglers']" "$out/$implementation/summary.json"; }

# rows EXPRESSION: tests a Python expression on rank 0's trace: rows, a list of names, and t, all events.
rows() {
    "$python" -c "import json, sys; t = json.load(open(sys.argv[1], encoding='utf-8'))['traceEvents']
rows = [r['name'] for r in t]; assert $1, rows" "$out/${implementation}_rank_0_trace.json"
}

together() { "$python" "$root/tests/consumers/recompute_trace.py" "$out"; }

with_python "recompute_trace.py accepts valid test traces and rejects broken ones" "$root/tests/consumers/recompute_trace.py" --self-test

# ---- every implementation ----

for implementation in ddp ddp_individual ddp_individual_v2 ddp_bucketed ddp_hierarchical ddp_sharded ddp_flat none; do
    ranks=(1 3)
    [[ $implementation != ddp_@(individual*|flat) ]] || ranks=(2)
    for ranks in "${ranks[@]}"; do
        profile "$ranks" "$implementation" --rounds 1 --steps-per-block 2
        [ "$status" = 0 ] && [ -s "$out/${implementation}_summary.txt" ] &&
            valid "$out"/*.json "$out/$implementation"/*.json* "$out/$implementation"/all_ranks/*.json >>said &&
            good=0 || good=1
        result "$good" "$implementation, $ranks ranks: succeeds and leaves valid files (status $status)"
        with_python "$implementation, $ranks ranks: every figure agrees with the traces" agrees
    done
done

profile 2 ddp_sharded --rounds 1 --steps-per-block 2 --shard gradients --grad-accumulation 2 --bucket-size-mb 0.02
with_python "released gradients of two micro-batches: every figure agrees with the traces" agrees

# ---- several profiles in one run ----

profile 2 all --rounds 7 --steps-per-block 2 --bucket-size-mb 0.02,0.05 --update-in-backward --profile-ranks 0,1
[ "$status" = 0 ] && valid "$out"/comparison/*.json "$out"/comparison/all_ranks/*.json "$out"/*/*/*.json >>said && good=0 || good=1
result "$good" "--profile-implementation all with two bucket sizes and --update-in-backward leaves valid files (status $status)"
with_python "--profile-implementation all: profiles, joint trace and comparison agree with traces and metrics" together
grep -qE '^(Use|Shortest so far is) ddp' "$out/comparison_summary.txt" && grep -q '^ddp_bucketed:0.05: Overlap' printed &&
    [ "$(cd "$out" && echo *)" = "comparison comparison_summary.txt ddp ddp_bucketed.0.02 ddp_bucketed.0.02.update ddp_bucketed.0.05 ddp_bucketed.0.05.update ddp_flat ddp_hierarchical.0.02 ddp_hierarchical.0.05 ddp_individual ddp_individual_v2 ddp_sharded.0.02 ddp_sharded.0.05 none" ] &&
    good=0 || good=1
result "$good" "--profile-implementation all: each profile has a directory and printed findings"
profile 2 ddp,ddp_individual_v2 --rounds 0
grep -q '^ddp_individual_v2: Overlap' printed && grep -q '^The steps are not compared' printed && ! grep -q 'Shortest' printed &&
    good=$status || good=1
result "$good" "two profiles with --rounds 0: findings of each, and a note that steps are not compared (status $status)"
profile 2 ddp,ddp_individual_v2 --profile-output-dir /dev/full/x
[ "$status" = 1 ] && good=0 || good=1
result "$good" "two profiles in an impossible directory are refused (status $status)"

refused_beside() {
    local before
    before=$(find "$out" | sort)
    status=0
    "$program" "${tiny[@]}" --profile-implementation "$2" --profile-output-dir "$out" >printed 2>said </dev/null || status=$?
    [ "$status" = 1 ] && grep -q "^ddpbench: --profile-output-dir $(literal "$out")$3" said && [ ! -s printed ] &&
        [ "$(find "$out" | sort)" = "$before" ] && good=0 || good=1
    result "$good" "$1 (status $status)"
}
"$program" "${tiny[@]}" --rounds 0 --bucket-size-mb 1,2 --profile-implementation none,ddp_bucketed-1=none,ddp_bucketed \
    --profile-output-dir "$out/same" >printed 2>said && good=0 || good=1
[ -d "$out/same/ddp_bucketed-1" ] && [ -d "$out/same/ddp_bucketed.1" ] || good=1
result "$good" "labels that differ in : and - have different directories"
profile 1 ddp
refused_beside "several profiles in a directory with a single profile are refused" none,ddp "/ddp already holds run[.]json, which"
rm "$out/ddp/run.json"
mkdir -p "$out/ddp/ddp"
echo mine >"$out/ddp/ddp/summary.json"
refused_beside "several profiles are refused if a file to be written exists" none,ddp "/ddp/ddp already holds summary[.]json, which"

# ---- options ----

profile 2 ddp_bucketed --grad-accumulation 2 --record-shapes --with-flops --profile-counters \
    --log-grad-norm --verbose
! grep -q "more in summary.json\|with --verbose" printed && good=0 || good=1
result "$good" "--verbose prints all rows of every table"
with_python "all optional data: every figure agrees with the traces" agrees
with_python "--record-shapes and --with-flops: shapes and flops are in the trace" rows \
    "[r['args']['Input Dims'] for r in t if r['name'] == 'linear_forward'][0] == [[48, 32], [96, 32]] and [r['args']['flops'] for r in t if r['name'] == 'linear_forward'][0] == 2 * 48 * 32 * 96"
with_python "--profile-counters: the trace has the counters" rows \
    "'[memory]' in rows and {'memory', 'learning_rate', 'loss', 'grad_norm'} <= set(rows)"
with_python "warm-up epochs: named with the learning rate, and only they clip gradients" rows \
    "rows.count('gradient_clipping_warmup') == 2 and 'warmup_epoch_1 (lr=0)' in rows and 'warmup_epoch_2 (lr=0.0005)' in rows and 'active_epoch_3 (lr=0.001)' in rows"
profile 3 ddp_bucketed --checkpoint-every 2 --num-epochs 7 --data-workers 2 --prefetch 3
with_python "--checkpoint-every 2: every figure agrees with the traces" agrees
with_python "--checkpoint-every 2: the trace has a checkpoint every second step" rows \
    "rows.count('checkpoint') == 3 and 'ProfilerStep#7' in rows"
with_python "--checkpoint-every 2: a rank waiting for the file is not a straggler" summary \
    "'checkpoint' in [row['name'] for row in t['phases']] and 'checkpoint' not in [row['late_phase'] for row in t['stragglers']]"
profile 2 ddp_bucketed --trace-gzip
grep -q "^All rows of all tables are in summary.json; --verbose prints them.$" printed &&
    good=0 || good=1
result "$good" "without --verbose the summary mentions omitted rows"
with_python "--trace-gzip: every figure agrees with the traces" agrees
[ -s "$out/ddp_bucketed_rank_1_trace.json.gz" ] && [ ! -e "$out/ddp_bucketed_rank_1_trace.json" ] && good=0 || good=1
result "$good" "--trace-gzip: only compressed traces"
profile 2 ddp,none --trace-layout ranks --rounds 7 --steps-per-block 2
[ "$(cd "$out" && ls -d ./*/*_trace.json* ./*/rank_*/* 2>/dev/null)" = "$(printf '%s\n' ./{ddp/rank_{0,1}/ddp,none/rank_{0,1}/none}_trace.json)" ] &&
    grep -q "^Traces: $(literal "$out")/[*]/rank_[*]/[*]_trace.json; " said && good=$status || good=1
result "$good" "--trace-layout ranks, two profiles: a directory for each rank (status $status)"
with_python "--trace-layout ranks, two profiles: traces agree with the joint trace and the comparison" together
mkdir -p "$temporary/out$((runs + 1))/rank_0"
: >"$temporary/out$((runs + 1))/rank_0/.ddpbench-0123abcd.tmp" # left by a killed run
profile 3 ddp_bucketed --trace-layout ranks --trace-gzip --profile-ranks 0,2
[ "$(cd "$out" && echo rank_*/{,.d}* ./*_trace*)" = "rank_0/ddp_bucketed_trace.json.gz rank_2/ddp_bucketed_trace.json.gz rank_*/.d* ./*_trace*" ] &&
    good=$status || good=1
result "$good" "--trace-layout ranks --trace-gzip --profile-ranks 0,2: only the compressed traces of these ranks (status $status)"
with_python "--trace-layout ranks: every figure agrees with the traces" agrees
rm -r "$out/ddp_bucketed"* # only the traces are left
refused_beside "a directory with a rank's trace of the same implementation is refused" ddp_bucketed " already holds rank_0/ddp_bucketed_trace[.]json[.]gz, which"
profile 3 ddp_bucketed --profile-ranks 1
[ "$(cd "$out" && echo ./*.json)" = ./ddp_bucketed_rank_1_trace.json ] && good=$status || good=1
result "$good" "--profile-ranks 1: only the trace of rank 1"
with_python "--profile-ranks 1: the trace agrees with the summary of all ranks" agrees
profile 2 ddp_individual --profile-wait 1 --profile-warmup 1 --profile-active 2 --profile-repeat 2 --num-epochs 10
with_python "--profile-wait 1, -warmup 1, -active 2, -repeat 2 capture steps 3, 4, 7 and 8" summary "s['capture']['steps'] == [3, 4, 7, 8]"
with_python "--profile-wait, -warmup, -active, -repeat: every figure agrees with the traces" agrees
profile 2 ddp_individual --num-layers 20 --d-model 8 --num-heads 1 --d-ff 8 --record-shapes
with_python "hundreds of collectives: every figure agrees with the traces" agrees

# ---- injected delays are found ----

for implementation in ddp ddp_bucketed; do
    # The delay of 400 ms is longer than any that busy cores cause on the other rank.
    profile 2 "$implementation" --inject-delay rank=1,ms=400,phase=backward_pass --num-epochs 8
    with_python "$implementation with 400 ms of delay on rank 1: the table has rank, phase and cost" summary \
        "[row['rank'] for row in t['stragglers']] == [1, 0] and t['stragglers'][0]['late_phase'] == 'backward_pass' and
         t['stragglers'][0]['late'] > 0.2 and t['stragglers'][0]['saves'] > 0.2 and
         t['stragglers'][0]['behind_most'] > 0.2 and t['stragglers'][0]['cost'] > 0.2 and t['stragglers'][1]['cost'] < 0.2"
    texts "$out/$implementation/summary.json" |
        grep -q "^straggler (high, up to .* ms of a step): rank 1 came last .*; it works .*, most in backward_pass" && good=0 || good=1
    result "$good" "$implementation with 400 ms of delay on rank 1: the straggler is a finding"
done
profile 3 ddp --inject-delay rank=1,ms=280,phase=forward_pass --inject-delay rank=2,ms=400,phase=optimizer_step --num-epochs 8
with_python "280 ms on rank 1 and 400 on rank 2: the table has both ranks, the cost of each and of both" summary \
    "[row['rank'] for row in t['stragglers']] == [2, 1, 0] and
     [row['late_phase'] for row in t['stragglers'][:2]] == ['optimizer_step', 'forward_pass'] and
     0 < t['stragglers'][0]['saves'] < 0.2 and t['stragglers'][1]['saves'] > 0.2"
texts "$out/ddp/summary.json" |
    grep -qE "^straggler \(high, up to .* ms of a step\): rank (1 came last .*, most in forward_pass|2 came last .*, most in optimizer_step)" &&
    good=0 || good=1
result "$good" "280 ms on rank 1 and 400 on rank 2: the finding names the rank that costs more, and its phase"

# ---- full buffers and interrupted captures ----

profile 2 ddp_bucketed --num-epochs 500 --profile-buffer-mb 0.2
grep -q "The capture ended after [0-9]* steps: the buffer of 0.2 MiB is full" said && good=$status || good=1
result "$good" "a full buffer ends the capture with a message, but not the run (status $status)"
with_python "a full buffer: every figure agrees with the traces" agrees
with_python "a full buffer is recorded in the summary" summary "s['capture']['buffer_full'] and len(s['capture']['steps']) < 500"
profile 2 ddp_bucketed --profile-buffer-mb 0.01
[ "$status" = 1 ] && grep -q "^ddpbench: --profile-buffer-mb 0.01 holds no step of this model" said && good=0 || good=1
result "$good" "a buffer too small for one step is refused"

# stop SIGNAL [one]: starts a long capture and sends the signal to its ranks, or to one of them, once it has written
# traces. A delay keeps the number of steps small, because recompute_trace.py recomputes each step.
stop() {
    runs=$((runs + 1)) out=$temporary/out$runs implementation=ddp_bucketed
    "${mpirun[@]}" -n 2 "$program" "${tiny[@]}" --num-epochs 1000000 --profile-buffer-mb 1000 \
        --inject-delay rank=0,ms=20,phase=data_loading \
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
for how in "TERM" "INT" "TERM one" "INT one"; do
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
    timeout 60 "${mpirun[@]}" -n 2 "$program" "${tiny[@]}" --profile-output-dir "$3" >printed 2>said </dev/null || status=$?
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
[ "$status" = 0 ] && [ -z "$(find "$out" -name '.ddpbench-*')" ] && good=0 || good=1
result "$good" "temporary files of killed runs are removed"
refused "a directory that holds a profile of the same implementation is refused" "already holds ddp_rank_0_trace[.]json, which is not overwritten" "$out"
status=0
"${mpirun[@]}" -n 2 "$program" "${tiny[@]}" --rounds 0 --profile-implementation ddp_flat --profile-output-dir "$out" \
    >printed 2>said </dev/null || status=$?
[ -s "$out/ddp_flat_rank_0_trace.json" ] && [ -s "$out/ddp_rank_0_trace.json" ] && good=$status || good=1
result "$good" "a profile of another implementation in the same directory succeeds"

# full BYTES IMPLEMENTATION RUN_JSON: makes a profile, and limits the size of files to BYTES once the file RUN_JSON is written.
full() {
    runs=$((runs + 1)) out=$temporary/out$runs status=0
    "$program" "${tiny[@]}" --rounds 0 --inject-delay rank=0,ms=300,phase=forward_pass --profile-output-dir "$out" \
        --profile-implementation "$2" >printed 2>said </dev/null &
    running=$!
    wait_until [ -s "$out/$3" ] || true
    prlimit --pid "$running" --fsize="$1"
    wait "$running" || status=$?
}
full 20000 ddp ddp/run.json
[ "$status" = 1 ] && grep -q "^ddpbench: cannot write .*_rank_0_trace.json: File too large" said &&
    [ -z "$(find "$out" -name '*.tmp')" ] && [ ! -e "$out/ddp_rank_0_trace.json" ] && good=0 || good=1
result "$good" "a trace that cannot be written ends the run with an error and leaves no partial file (status $status)"
profile 1 ddp,none
full $(($(stat -c %s "$out/ddp/ddp_rank_0_trace.json") * 3 / 2)) ddp,ddp_individual,none comparison/run.json
[ "$status" = 1 ] && grep -q "^ddpbench: cannot write $(literal "$out")/comparison/all_ranks/.*: File too large" said &&
    [ "$(grep "^ddpbench: " said | grep -vc "computing on the CPU")" = 1 ] && [ -z "$(find "$out" -name '*.tmp')" ] &&
    [ -s "$out/ddp_individual/ddp_individual_rank_0_trace.json" ] && [ ! -e "$out/none/none_rank_0_trace.json" ] &&
    [ ! -e "$out/comparison/all_ranks/comparison_all_ranks_trace.json" ] && good=0 || good=1
result "$good" "a joint trace that cannot be written ends the run immediately with an error (status $status)"
check_sentences
exit "$failed"
