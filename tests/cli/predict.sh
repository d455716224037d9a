#!/usr/bin/env bash
# predict.sh - ddpbench predict: steps known by hand, real runs and sweeps, its files, and what it refuses.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"
start_quickly

# ---- a run whose steps are known by hand ----

# write_run DIRECTORY: writes a run of 6 rounds on 2 ranks, in which nothing varies. Forward takes 1 s. Gradients have 4
# MB each; gradient 1 is final after 2 s, gradient 0 after 3 s. The update takes 0.5 s, the rest of the step 0.25 s.
# ddp_bucketed:3 reduces the gradients in 0.6 s and 0.4 s, so that its step takes 4.15 s.
write_run() {
    local rank round
    mkdir -p "$1"
    cat >"$1/run.json" <<END
{"schema_version": 4, "program": "ddpbench", "version": "test", "mode": "benchmark", "time": "2026-01-01T00:00:00Z", "label": "", "argv": ["ddpbench"],
 "configuration": {}, "derived": {"world_size": 2, "host_count": 2},
 "tensors": [{"name": "embedding", "offset": 1000000, "count": 1000000, "joined": 1}, {"name": "output", "offset": 0, "count": 1000000, "joined": 1}],
 "arena": 2000000,
 "implementations": [{"name": "none", "strategy": "none", "wire_dtype": "fp32", "collectives": []},
  {"name": "ddp_bucketed:3", "strategy": "ddp_bucketed", "wire_dtype": "fp32", "after_backward": false, "update_in_backward": false, "bucket_size": "3",
   "collectives": [{"kind": "all_reduce", "bytes": 4000000, "tensors": 1, "parameters": 1000000}, {"kind": "all_reduce", "bytes": 4000000, "tensors": 1, "parameters": 1000000}]}]}
END
    echo '{"schema_version": 4, "mode": "benchmark", "label": "", "done": 6, "planned": 6, "of": "rounds", "timed_steps_per_block": 1, "figures": []}' >"$1/summary.json"
    for rank in 0 1; do
        for round in 0 1 2 3 4 5; do
            echo '{"implementation": "none", "round": '$round', "step": 2, "timed": true, "step_ms": 3750, "forward_pass_ms": 1000, "backward_pass_ms": 2000, "block_ms": 3750}'
            echo '{"implementation": "none", "round": '$round', "gradients_ready_ms": [3000, 2000], "forward_end_ms": 1000, "backward_end_ms": 3000, "update_ms": 500, "rest_ms": 0}'
            echo '{"implementation": "ddp_bucketed:3", "round": '$round', "step": 2, "timed": true, "step_ms": 4150, "forward_pass_ms": 1000, "backward_pass_ms": 2000, "block_ms": 4150}'
            echo '{"implementation": "ddp_bucketed:3", "round": '$round', "alone_ms": [600, 400], "in_step_ms": [600, 400], "reductions": 1, "last_tensor": [1, 0]}'
        done >"$1/rank_${rank}_metrics.jsonl"
    done
}
write_run known

# row NAME: prints a row of the last output's table, with single blanks.
row() { tr -s ' ' <printed | grep -E "^$1 " | head -n 1; }

# An all-reduce of 4 MB between 2 ranks takes 0.8 s: the second starts when the first has ended, at 2.8 s.
try "$program" predict known --link-model latency=0us,bandwidth=5MB/s --bucket-size-mb 3,8
is "a prediction succeeds" "$status" 0
is "the run's own steps are replayed" "$(row ddp_bucketed:3)" "ddp_bucketed:3 4150.00 4150.00 0.00"
succeeds "two buckets: the second all-reduce, from 3 s to 3.8 s, is exposed" grep -qE '^ddp_bucketed:3 2 2 4550[.]00 ' <(tr -s ' ' <printed)
succeeds "one bucket: an all-reduce of 8 MB, from 3 s to 4.6 s, is exposed" grep -qE '^ddp_bucketed:8 2 1 5350[.]00 ' <(tr -s ' ' <printed)
succeeds "the best bucket size is named, with its options" grep -qF -e '--implementations ddp_bucketed --bucket-size-mb 3`' <(unwrapped printed)
# 75 % computation: a step of 5 s. The second all-reduce may end 1.25 s after backward; 8 MB in 2.25 s need more than 4 MB in it.
succeeds "the bandwidth that is needed follows from the step" grep -qE '^ddp_bucketed:3 2 82[.]4 [^ ]+ 3[.]56 ' <(tr -s ' ' <printed)
# A run keeps its recorded buckets. An earlier version had another rule, by which it made two buckets of at most 4 MiB.
write_run earlier
sed -i 's/ddp_bucketed:3/ddp_bucketed:4/; s/"bucket_size": "3"/"bucket_size": "4"/' earlier/*.json*
try "$program" predict earlier --link-model latency=0us,bandwidth=5MB/s --bucket-size-mb 4
is "a run keeps the buckets that it recorded" "$(row ddp_bucketed:4)" "ddp_bucketed:4 4150.00 4150.00 0.00"
succeeds "buckets of a size follow the current rule" grep -qE '^ddp_bucketed:4 2 1 5350[.]00 ' <(tr -s ' ' <printed)
try "$program" predict known --link-model latency=1ms,bandwidth=5MB/s --bucket-size-mb 3 --ranks 2,4,1024 --implementations ddp_bucketed,ddp_flat,ddp_sharded --csv -
is "more ranks: every strategy and number is predicted" "$(cut -d, -f1,2 printed | sed 1d | paste -sd ' ')" \
    "ddp_bucketed:3,2 ddp_flat,2 ddp_sharded:3,2 ddp_bucketed:3,4 ddp_flat,4 ddp_sharded:3,4 ddp_bucketed:3,1024 ddp_flat,1024 ddp_sharded:3,1024"
# On 4 ranks, 2 x 2 stages of 1 ms and 8 MB x 2 x 3/4 at 5 MB/s take 2.404 s, after 3 s of backward.
is "more ranks: the all-reduce of the whole gradient has more stages and a larger volume" \
    "$(awk -F, '$1 == "ddp_flat" && $2 == 4 { printf "%.4f", $4 }' printed)" 6.1540

is "the rows have the steps with perfect overlap and without overlap" \
    "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i } $1 == "ddp_bucketed:3" && $2 == 2 { printf "%.4f %.4f", $c["attainable"], $c["sum"] }' printed)" "4.5520 5.3540"
is "a rank of ddp_sharded updates its part of the weights" "$(awk -F, '$1 == "ddp_sharded:3" && $2 == 2 { printf "%.4f", $8 }' printed)" 3.5000

try "$program" predict known --link-model latency=0us,bandwidth=5MB/s --ranks 1,2 --bucket-size-mb 3
is "one rank reduces nothing" "$(grep -c '^- 1 rank: nothing to reduce; a step takes 3750' printed) $(row ddp_bucketed:3 | cut -d' ' -f1-2)" "1 ddp_bucketed:3 4150.00"

# ---- files ----

try "$program" predict known --link-model latency=0us,bandwidth=5MB/s --ranks 2,4 --json p.json --html p.html --csv p.csv --export-chakra chakra
is "files are written" "$status $(echo p.*)" "0 p.csv p.html p.json"
succeeds "the JSON file is valid and has all tables" grep -q '"key":"replay".*"key":"predictions".*"key":"bandwidths"' p.json
succeeds "the JSON file is valid" valid p.json
succeeds "the page has a picture" grep -q '<svg' p.html
is "the export has a file for each rank of each prediction" "$(echo chakra/ddp_bucketed_8.*)" \
    "$(echo chakra/ddp_bucketed_8.{2_ranks.{0,1},4_ranks.{0..3}}.et)"
try "$program" predict known --link-model latency=1ms,bandwidth=5MB/s --ranks 2,3,4 --implementations ddp_bucketed,ddp_sharded,ddp --bucket-size-mb 3 --csv all.csv --json all.json --export-chakra all
cat >figures.py <<'END'
import csv, json
figures = json.load(open("all.json"))["figures"]
number = {(f["subject"], f["ranks"], f["name"]): f for f in figures}
assert len(number) == len(figures) and {f["link"] for f in figures} == {"latency=1ms,bandwidth=5MB/s"}
shown = 0
for row in csv.DictReader(open("all.csv")):
    for name in ("step", "compute", "slowed", "exposed", "gather_wait", "efficiency", "attainable", "sum", "within_2_percent"):
        f = number[row["implementation"], int(row["ranks"]), name]
        assert abs(f["value"] - float(row[name])) <= 1e-8 * abs(f["value"]) and f["basis"] == row["basis"], (row, f)
        assert f["unit"] == ("1" if name in ("efficiency", "within_2_percent") else "s")
        ends = [f["low"], f["high"]]
        assert [e and round(e, 6) for e in ends] == [name == "step" and round(float(row["interval_" + e]), 6) or None for e in ("low", "high")]
        shown += 1
assert shown == 81 and number["ddp_bucketed:3", 4, "for_75"]["unit"] == "B/s"
END
with_python "the figures in the JSON file are the numbers of all predictions" python3 figures.py
is "a number of ranks that MPICH folds is marked" "$(cut -d, -f2,16 all.csv | sed 1d | sort -u | paste -sd ' ')" "2,extrapolated 3,folded 4,extrapolated"
# On 3 ranks, 3 x 4 MB at 5 MB/s and 4 stages of 1 ms take 2.404 s. Two all-reduces start at 2 s, then 0.75 s follow.
is "between 3 ranks an all-reduce sends 3 bytes a byte" "$(awk -F, '$1 == "ddp_bucketed:3" && $2 == 3 { printf "%.4f", $4 }' all.csv)" 7.5580
if command -v protoc >/dev/null && /usr/bin/python3 -c 'import google.protobuf' 2>/dev/null; then
    succeeds "Protocol Buffers decode the export, which follows the rules" \
        /usr/bin/python3 "$root/tests/consumers/check_chakra.py" --predictions p.csv chakra
    succeeds "each export lasts as long as predicted, sharded ones too" /usr/bin/python3 "$root/tests/consumers/check_chakra.py" --predictions all.csv all
else
    echo "skip - Protocol Buffers decode the export: protoc or python3-protobuf is not installed"
fi
# exports PATTERN WORDS OPTION...: checks that predict refuses to export, with PATTERN, or accepts it, if PATTERN is "".
exports() {
    try "$program" predict known --link-model latency=0us,bandwidth=5MB/s --ranks 2,4 "${@:3}"
    if [ -n "$1" ]; then check 1 "refused: $2" "^ddpbench: $1"; else is "$2" "$status$(cat said)" 0; fi
}
exports '' "the files of an earlier call are replaced" --export-chakra chakra --json p.json --html p.html --csv p.csv
exports '--json ./chakra: is not a regular file' "a file of the report in the place of the directory" --export-chakra chakra --json ./chakra
exports '--json and --export-chakra name the same file, made/' "a file in the place of a directory to be made" --json made --export-chakra made/
exports '--html ./p.json: exists, and is not' "an HTML file over a JSON file" --export-chakra chakra --html ./p.json
rm chakra/ddp_bucketed_2.4_ranks.*
for text in "" mine; do
    printf '%s' "$text" >chakra/ddp_bucketed_8.4_ranks.3.et
    exports '--export-chakra chakra/ddp_bucketed_8.4_ranks.3.et: exists, and is not what ddpbench writes there' "a trace that is '$text'" --export-chakra chakra
    is "nothing is exported beside a trace that is '$text'" "$(cat chakra/ddp_bucketed_8.4_ranks.3.et) $(echo chakra/ddp_bucketed_2.4*)" \
        "$text chakra/ddp_bucketed_2.4*"
done
echo keep >p.json
try "$program" predict known --link-model latency=0us,bandwidth=5MB/s --json p.json
check 1 "refused: a file that is not predict's" '^ddpbench: --json p.json'

# ---- real runs ----

tiny=(--device cpu --d-model 32 --num-layers 2 --num-heads 2 --d-ff 64 --context-length 16 --batch-size 4 --vocab-size 256)
try "${mpirun[@]}" -n 2 "$program" "${tiny[@]}" --rounds 6 --steps-per-block 2 --attainable \
    --implementations none,ddp,ddp_bucketed,ddp_sharded,ddp_individual_v2 --wire-dtype fp32,bf16 --bucket-size-mb 0.02,block --output run
is "a run with --attainable succeeds" "$status" 0
for kind in all_reduce reduce_scatter all_gather; do
    try "${mpirun[@]}" -n 2 "$program" allreduce --collective $kind -b 256 -e 512K -f 4 --iters 5 --output sweep/$kind
    is "a sweep of $kind succeeds" "$status" 0
done
link=$root/results/reference/allreduce-100mbit links=$link,sweep/reduce_scatter,sweep/all_gather # a stored sweep, since here all sizes may take equally long
try "$program" predict run --link "$links" --ranks 2,4,8 --implementations ddp,ddp_bucketed,ddp_sharded
is "a real run is predicted" "$status" 0
succeeds "predictions of 8 ranks are extrapolated" grep -qE '^ddp_sharded.* 8 .*extrapolated' printed
is "a real run is replayed, without rows in bf16" "$(sed -n '/^Replay error/,/^Predicted/p' printed | grep -cE '^ddp.* -?[0-9.]+$')" 6

try "$program" predict run --link "$links" --bucket-size-mb 0.02,block --implementations ddp_bucketed,ddp_sharded --csv -
is "buckets of a transformer block: one for each block, one before and one after the blocks" \
    "$(awk -F, '$1 ~ /:block$/ { print $1, $3 }' printed | paste -sd ' ')" "ddp_bucketed:block 4 ddp_sharded:block 4"

try "$program" report run "$link"
is "report shows the link that is needed where a sweep lies beside a run" "$status $(grep -c '^The link you need$' printed)" "0 1"

# ---- refusals ----

# refuses STATUS WORDS PATTERN OPTION...: checks that predict refuses these options.
refuses() {
    local words=$2 pattern=$3 expected=$1
    shift 3
    try "$program" predict "$@"
    check "$expected" "refused: $words" "^ddpbench: $pattern"
}
a_link=latency=1us,bandwidth=1GB/s
refuses 2 "no run" 'no run: name the result directory'
# Status, words, pattern and options of calls that need no link
while IFS='|' read -r expected words pattern options; do
    read -ra options <<<"$options"
    refuses "$expected" "$words" "$pattern" "${options[@]}"
done <<'END'
2|two runs|'b': only one run|a b
2|no link|no link: give --link|known
1|a directory without a run|cannot read nowhere: |nowhere --link sweep/all_reduce
1|a sweep in place of a run|sweep/all_reduce: is a run of allreduce|sweep/all_reduce --link sweep/all_reduce
1|a run in place of a sweep|.*run.*benchmark|run --link run
1|a sweep of another collective alone|--link: no run has times of all_reduce|run --link sweep/all_gather
2|hosts without ranks|--ranks-per-host|known --link sweep/all_reduce --link-intra sweep/all_reduce --ranks-per-host 0
END
# The same of calls with a link
while IFS='|' read -r expected words pattern options; do
    read -ra options <<<"$options"
    refuses "$expected" "$words" "$pattern" known --link-model "$a_link" "${options[@]}"
done <<'END'
2|ranks that are no number|--ranks '2,x'|--ranks 2,x
2|a bucket size that is none|--bucket-size-mb '0'|--bucket-size-mb 0
2|a bucket size in hexadecimal|--bucket-size-mb '25[+]0x2'|--bucket-size-mb 25+0x2
2|a number of ranks that is listed twice|--ranks '1,2,1[.]0': 1 ranks are listed twice|--ranks 1,2,1.0
2|blocks of a run of an earlier version, which did not write them|--bucket-size-mb block: the block of each tensor is not known: an earlier version made the run|--bucket-size-mb block
2|a bucket size that is listed twice|--bucket-size-mb: 3 and 3[.]0 are one size|--bucket-size-mb 3,3.0
2|a control|--implementations 'none'|--implementations none
2|hierarchical without the link within a host|--implementations: ddp_hierarchical also needs|--implementations ddp_hierarchical
2|two forms that are printed|--json and --csv: only one can be printed|--json - --csv -
2|a form that could be a trace|--csv many/x.et: the files of --export-chakra end in .et|--export-chakra many --csv many/x.et
1|too many files|--export-chakra: [0-9]+ files|--ranks 100000 --export-chakra many
END
# Edits of the known run: the new directory, the edit, the files, and words and pattern of the refusal
while IFS='|' read -r name edit files words pattern; do
    write_run "$name"
    (cd "$name" && eval "sed -i '$edit' $files")
    refuses 1 "$words" "$name$pattern" "$name" --link-model "$a_link"
done <<'END'
few|s/"done": 6, "planned": 6/"done": 5, "planned": 5/|summary.json|too few rounds|: has 5 rounds; predictions need 6 or more
alone|s/"ddp_bucketed", "wire_dtype": "fp32"/"ddp_bucketed", "wire_dtype": "bf16"/|run.json|nothing to learn from|: lacks .none., or has nothing beside it to learn from
unfinished|s/"done": 6/"done": 4/|summary.json|an unfinished run|/summary.json: has 4 of 6 rounds: the run has not finished
cut|/"round": 5, "gradients/d|rank_*|a run without --attainable|: round 5 lacks
broken|s/\[600, 400\], "in/[600], "in/|rank_1*|metrics that are damaged|/rank_1_metrics.jsonl: line 4: a value is missing
lacking|/"round": 4, "alone/d|rank_1*|a rank that lacks a round of times|: round 4 lacks .* of ddp_bucketed:3 on rank 1
infinite|s/"block_ms": 3750/"block_ms": 1e999/|rank_0*|a time that is infinite|/rank_0_metrics.jsonl: line 1: "block_ms" is infinite; expected a finite number
before|1s/"round": 0/"round": -1/|rank_1*|a round before the first|/rank_1_metrics[.]jsonl: line 1: "round" is -1; expected a whole number
truth|1s/"timed": true/"timed": 1/|rank_1*|a number in place of true|/rank_1_metrics[.]jsonl: line 1: "timed" is 1; expected true or false
wrong|4s/\[600, 400\], "in/[600, "x"], "in/|rank_1*|a word in place of a time|/rank_1_metrics[.]jsonl: line 4: "alone_ms.1" is "x"; expected a finite number
overlapping|s/"offset": 1000000/"offset": 0/|run.json|tensors that overlap|/run.json: tensor 1 has no place
missing|s/"bytes": 4000000, "tensors": 1, "parameters": 1000000}]/"bytes": 8000000, "tensors": 2, "parameters": 1000000}]/|run.json|buckets of more tensors than there are|/run.json: the collectives of ddp_bucketed:3 do not cover all 2 tensors
joined|s/"joined": 1}]/"joined": 3}]/|run.json|a matrix that begins before the first tensor|/run.json: tensor 1 has no place
huge|s/"world_size": 2/"world_size": 100000/; s/"done": 6, "planned": 6/"done": 100000, "planned": 100000/; s/"timed_steps_per_block": 1/"timed_steps_per_block": 100000/|*.json|a run of more times than memory holds|: has 3e[+]10 times
zero2|s/"configuration": {}/"configuration": {"shard": "gradients"}/; s/ddp_bucketed/ddp_sharded/g|*.json*|a run of ZeRO-2|: ddp_sharded:3 ran with --shard gradients;
both|s/"configuration": {}/"configuration": {"shard": "optimizer,gradients"}/; s/ddp_bucketed/ddp_sharded/g|*.json*|a run with both kinds of --shard|: ddp_sharded:3 ran with --shard optimizer,gradients;
END

# ---- other strategies in the run ----

write_run one_host
sed -i 's/"host_count": 2/"host_count": 1/; s/ddp_bucketed/ddp_hierarchical/g' one_host/*.json*
try "$program" predict one_host --link-model latency=0us,bandwidth=5MB/s --implementations ddp_bucketed --bucket-size-mb 3
is "a run with ddp_hierarchical on one host is replayed" "$(row ddp_hierarchical:3) $(row ddp_bucketed:3 | cut -d' ' -f4)" "ddp_hierarchical:3 4150.00 4150.00 0.00 4550.00"

# A reduce-scatter of 4 MB between 2 ranks takes 0.4 s. The all-gather also takes 0.4 s, or 0.2 s in bfloat16.
for dtype in fp32 bf16; do
    write_run $dtype
    sed -i "s/\"world_size\": 2,/\"world_size\": 2, \"device\": \"cuda\", \"dtype\": \"$dtype\",/" $dtype/run.json
    try "$program" predict $dtype --link-model latency=0us,bandwidth=5MB/s --implementations ddp_sharded --bucket-size-mb 3 --csv -
    is "weights of $dtype are gathered in that type" "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i } NR == 2 { printf "%.4f", $c["sum"] }' printed)" \
        "$([ $dtype = fp32 ] && echo 5.1000 || echo 4.7000)"
done

# A sweep between 3 ranks, at 5 MB/s a message and 1 us a stage. Each byte sends 3.00 bytes in 4 stages; busbw counts 4/3: 2.22 MB/s.
mkdir three
sed 's/"mode": "benchmark"/"mode": "allreduce"/; s/"world_size": 2, "host_count": 2/"world_size": 3, "host_count": 3, "comm": "mpi"/' known/run.json >three/run.json
awk 'BEGIN {
    printf "{\"schema_version\": 4, \"mode\": \"allreduce\", \"label\": \"\", \"done\": 5, \"planned\": 5, \"of\": \"sizes\", \"figures\": ["
    split("8 1e6 2e6 4e6 8e6", bytes)
    for (i = 1; i in bytes; i++)
        printf "%s{\"subject\": \"all_reduce float sum in_place\", \"name\": \"time\", \"bytes\": %d, \"unit\": \"s\", \"value\": %.9f, \"n\": 9, \"better\": \"lower\"}",
            (i > 1 ? ", " : ""), bytes[i], 4e-6 + 3 * bytes[i] / 5e6
    print "]}"
}' >three/summary.json
try "$program" predict known --link three --ranks 3 --bucket-size-mb 3
succeeds "the link has the busbw of the sweep" grep -qE 'Link: latency [0-9.]+ us, bandwidth 2[.]222 MB/s, fitted to all-reduces between 3 ranks' <(unwrapped printed)
# For 75 % two buckets of 4 MB, for which 12 MB each are sent, have 2.25 s from 2 s on: 10.67 MB/s a message, busbw 4.74.
succeeds "the bandwidth that is needed is also busbw" grep -qE '^ddp_bucketed:3 3 [^ ]+ [^ ]+ 4[.]74 ' <(tr -s ' ' <printed)

# ---- a later run ----

# later STRATEGY STEP LOW HIGH: writes a later run with a step of this strategy.
later() {
    write_run later
    sed -i "s/\"name\": \"none\", \"strategy\": \"none\"/\"name\": \"$1\", \"strategy\": \"$1\"/" later/run.json
    sed -i "s/\"figures\": \[\]/\"figures\": [{\"subject\": \"$1\", \"name\": \"step\", \"unit\": \"s\", \"value\": $2, \"low\": $3, \"high\": $4, \"n\": 6, \"better\": \"lower\"}]/" later/summary.json
}
# shellcheck disable=SC2054 # the comma belongs to the option
calibrated=(known --link-model latency=0us,bandwidth=5MB/s --bucket-size-mb 3 --calibrate later)
later none 4.125 4.084 4.166
try "$program" predict "${calibrated[@]}"
# All of `none` takes 1.1 times as long; the second all-reduce still takes 0.8 s after backward. ln(4.166 / 4.084) / (2 x 2.571) = 0.39 %.
succeeds "a later step of none gives the machine's speed" \
    grep -qF 'Calibrated: a later step of none took 4125.00 ms, so all times of computation are 1.100 times those of the run.' <(unwrapped printed)
succeeds "the predicted steps have that speed, and its interval" \
    grep -qE '^ddp_bucketed:3 2 2 4925[.]00 [*] \[489[0-9][.][0-9]+, 495[0-9][.][0-9]+\] 4125[.]00 ' <(tr -s ' ' <printed)
later ddp_flat 4.725 4.70 4.75
try "$program" predict "${calibrated[@]}"
# The all-reduce of 8 MB of ddp_flat takes 1.6 s, so computation takes 3.125 s in place of 3.75 s.
succeeds "without none, a step of ddp_flat gives it" grep -qE '^ddp_bucketed:3 2 2 3925[.]00 ' <(tr -s ' ' <printed)
later ddp_flat 1.5 1.49 1.51
refuses 1 "a step that is shorter than its all-reduce" '--calibrate: a step of ddp_flat takes 1500.00 ms, less than its all-reduce on this link, 1600.00 ms; give the sweeps' \
    "${calibrated[@]}"
later ddp 4.725 4.70 4.75
refuses 1 "a later run without none and ddp_flat" '--calibrate later: has neither .none. nor ddp_flat in fp32 with 6 rounds or more' "${calibrated[@]}"
# A later run with other settings is refused, and the setting named. Other strategies may pad the gradients of the model more.
later none 4.125 4.084 4.166
sed -i 's/"arena": 2000000/"arena": 2000032/' later/run.json
try "$program" predict "${calibrated[@]}"
is "a later run may pad its gradients differently" "$status" 0
differs_by() {
    later none 4.125 4.084 4.166
    sed -i "$2" later/run.json
    refuses 1 "a later run with $1" "--calibrate later: differs in $1 from the run that predictions are made from; give a later run" "${calibrated[@]}"
}
differs_by device 's/"world_size": 2,/"world_size": 2, "device": "cuda",/'
differs_by parameters 's/"world_size": 2,/"world_size": 2, "parameters": 7,/'
differs_by "tokens of a rank" 's/"world_size": 2,/"world_size": 2, "tokens_per_step": 7,/'
differs_by forward-only 's/"configuration": {}/"configuration": {"forward-only": true}/'
refuses 1 "a later run that does not exist" 'cannot read none: No such file or directory' known --link-model latency=0us,bandwidth=5MB/s --calibrate none
check_sentences
exit $failed
