#!/usr/bin/env bash
# profile.sh - profile mode: the traces of every implementation agree with the summary, with every option. Tests
# BUILD_DIR/ddpbench --profile with small sizes. With python3, recompute_trace.py recomputes every figure.

# Checks are called by name:
# shellcheck disable=SC2317
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"
# shellcheck source=tests/support/profile.sh
. "$root/tests/support/profile.sh"
start_quickly

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

profile 2 all --rounds 7 --steps-per-block 1 --bucket-size-mb 0.02,0.05 --update-in-backward --profile-ranks 0,1
[ "$status" = 0 ] && valid "$out"/comparison/*.json "$out"/comparison/all_ranks/*.json "$out"/*/*/*.json >>said && good=0 || good=1
result "$good" "--profile-implementation all with two bucket sizes and --update-in-backward leaves valid files (status $status)"
with_python "--profile-implementation all: profiles, joint trace and comparison agree with traces and metrics" together
grep -qE '^(Use|Shortest so far is) ddp' "$out/comparison_summary.txt" && grep -q '^ddp_bucketed:0.05: Overlap' printed &&
    [ "$(cd "$out" && printf '%s\n' */ | grep -vx comparison/ | sort)" = "$(sed -nE 's/^A step of ([^ ]+) takes.*/\1/p' said | tr : . | sed 's,$,/,' | sort)" ] &&
    [ -d "$out/ddp_bucketed.0.05.update" ] && [ -d "$out/ddp_sharded.0.02" ] &&
    good=0 || good=1
result "$good" "--profile-implementation all: each profile has a directory and printed findings"
profile 2 ddp,ddp_individual_v2 --rounds 0
grep -q "^Traces: $(literal "$out")/[*]/[*]_rank_[*]_trace.json; " said &&
    grep -q '^ddp_individual_v2: Overlap' printed && grep -q '^The steps are not compared' printed && ! grep -q 'Shortest' printed &&
    good=$status || good=1
result "$good" "two profiles with --rounds 0: traces and findings of each, and a note that steps are not compared (status $status)"
profile 2 ddp,ddp_individual_v2 --profile-output-dir /dev/full/x
is "two profiles in an impossible directory are refused (status $status)" "$status" 1

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

profile 2 ddp_bucketed --grad-accumulation 2 --verbose
is "--verbose prints all rows of every table" "$(grep -c "more in summary.json\|with --verbose" printed)" 0
with_python "two micro-batches: every figure agrees with the traces" agrees
with_python "the shapes and FLOP of operations are in the trace" rows \
    "[r['args']['Input Dims'] for r in t if r['name'] == 'linear_forward'][0] == [[48, 32], [96, 32]] and [r['args']['flops'] for r in t if r['name'] == 'linear_forward'][0] == 2 * 48 * 32 * 96"
with_python "the trace has the counters" rows \
    "'[memory]' in rows and {'memory', 'learning_rate', 'loss', 'grad_norm'} <= set(rows)"
with_python "warm-up epochs: named with the learning rate, and only they clip gradients" rows \
    "rows.count('gradient_clipping_warmup') == 2 and 'warmup_epoch_1 (lr=0)' in rows and 'warmup_epoch_2 (lr=0.0005)' in rows and 'active_epoch_3 (lr=0.001)' in rows"
profile 2 ddp_bucketed --context-length 64 --grad-accumulation 2 --profile-sort memory
with_python "--profile-sort memory: what operations keep are activations and gradients" agrees
with_python "--profile-sort memory sorts the table" summary \
    "(m := [row['memory'] if row['memory'] is not None else -1 for row in t['operations']]) == sorted(m, reverse=True) and m[0] > m[1] > 0"
profile 2 ddp_bucketed --profile-sort self_cuda_memory_usage
[ "$status" = 2 ] && grep -q "calls, total, time, share, mean, flops, bandwidth or memory" said && good=0 || good=1
result "$good" "--profile-sort lists its columns (status $status)"
profile 3 ddp_bucketed --checkpoint-every 2 --num-epochs 7 --data-workers 2
with_python "--checkpoint-every 2: every figure agrees with the traces" agrees
with_python "--checkpoint-every 2: the trace has a checkpoint every second step" rows \
    "rows.count('checkpoint') == 3 and 'ProfilerStep#7' in rows"
with_python "--checkpoint-every 2: a rank waiting for the file is not a straggler" summary \
    "'checkpoint' in [row['name'] for row in t['phases']] and 'checkpoint' not in [row['late_phase'] for row in t['stragglers']]"
mkdir -p "$temporary/out$((runs + 1))"
: >"$temporary/out$((runs + 1))/.ddpbench-0123abcd.tmp" # left by a killed run
profile 3 ddp_bucketed --trace-gzip --profile-ranks 0,2
succeeds "without --verbose the summary mentions omitted rows" grep -q "^All rows of all tables are in summary.json; --verbose prints them.$" printed
linked() { find "$out/$1/tensorboard" -type l -exec test -f {} \; -print | sed -E 's,.*/(.+_rank_[0-9]+)[.][0-9]{19}[.]pt[.]trace[.]json,\1,' | sort; }
is "--trace-gzip --profile-ranks 0,2: TensorBoard finds these traces" "$(linked ddp_bucketed | sed 's/.*_rank_//' | xargs)" "0.gz 2.gz"
[ "$(cd "$out" && echo ./.d* ./*_trace*)" = "./.d* ./ddp_bucketed_rank_0_trace.json.gz ./ddp_bucketed_rank_2_trace.json.gz" ] &&
    grep -q "^Traces: $(literal "$out")/ddp_bucketed_rank_[*]_trace.json.gz; " said && good=$status || good=1
result "$good" "--trace-gzip --profile-ranks 0,2: only the compressed traces of these ranks (status $status)"
with_python "--trace-gzip --profile-ranks 0,2: every figure agrees with the traces" agrees
rm -r "$out/ddp_bucketed" "$out/ddp_bucketed_summary.txt" # only the traces are left
refused_beside "a directory with a rank's trace of the same implementation is refused" ddp_bucketed " already holds ddp_bucketed_rank_0_trace[.]json[.]gz, which"
profile 3 ddp_bucketed --profile-ranks 1
is "--profile-ranks 1: only the trace of rank 1" "$status $(cd "$out" && echo *.json)" "0 ddp_bucketed_rank_1_trace.json"
with_python "--profile-ranks 1: the trace agrees with the summary of all ranks" agrees
profile 2 ddp_individual --profile-wait 1 --profile-warmup 1 --profile-active 2 --profile-repeat 2 --num-epochs 10
with_python "--profile-wait 1, -warmup 1, -active 2, -repeat 2 capture steps 3, 4, 7 and 8" summary "s['capture']['steps'] == [3, 4, 7, 8]"
with_python "--profile-wait, -warmup, -active, -repeat: every figure agrees with the traces" agrees
profile 2 ddp_individual --num-layers 20 --d-model 8 --num-heads 1 --d-ff 8
with_python "hundreds of collectives: every figure agrees with the traces" agrees

# ---- inference ----

# as profile, but of --profile-inference, whose implementation is called inference
infer() {
    runs=$((runs + 1)) out=$temporary/out$runs status=0 implementation=inference
    latest "${infers[@]}" --profile-output-dir "$out" "$@"
    timeout --kill-after=5 "$limit" "${mpirun[@]}" -n 2 "$program" "${latest[@]}" >printed 2>said </dev/null || status=$?
}
infers=(--d-model 32 --num-layers 2 --num-heads 2 --d-ff 48 --context-length 16 --batch-size 12 --vocab-size 250 --num-epochs 4
    --rounds 1 --profile --profile-inference)
infer
with_python "--profile-inference: every figure agrees with the traces" agrees
with_python "--profile-inference: only these phases, and neither gradients nor moments" summary \
    "[row['name'] for row in t['phases']] == ['data_loading', 'forward_pass', 'save_results', 'step'] and \
    [json.load(open(sys.argv[1].replace('summary', 'run')))['derived']['memory_bytes_per_rank'][part] for part in ('gradients', 'optimizer')] == [0, 0]"
is "--profile-inference: each captured step has a file of predictions, and no other step has" \
    "$(cd "$out/inference/predictions" && echo *)" "$(printf '%s\n' rank_{0,1}_step_{1..4}.csv | LC_ALL=C sort | xargs)"
with_python "--profile-inference: the saved losses of each step are the step's loss" python3 -c '
import csv, json, sys
for rank in "01":
    lines = [json.loads(line) for line in open(f"{sys.argv[1]}/rank_{rank}_metrics.jsonl")]
    captured = [line for line in lines if line.get("captured")]
    assert len(captured) == 4
    for line in captured:
        step = line["profiler_step"]
        rows = list(csv.DictReader(open(f"{sys.argv[1]}/predictions/rank_{rank}_step_{step}.csv")))
        assert len(rows) == 6 * 16 and all(0 <= int(r["predicted"]) < 250 and 1 / 250 <= float(r["probability"]) <= 1 for r in rows)
        assert abs(sum(float(r["loss"]) for r in rows) / len(rows) - line["loss"]) < 1e-4, line' "$out/inference"
for option in "--lr 1" "--profile-implementation ddp" "--grad-accumulation 2"; do
    # shellcheck disable=SC2086 # two words
    infer $option
    [ "$status" = 2 ] && grep -q -- "--profile-inference does not go with ${option% *};" said && good=0 || good=1
    result "$good" "--profile-inference $option is refused (status $status)"
done

check_printed
check_sentences
exit "$failed"
