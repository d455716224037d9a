#!/usr/bin/env bash
# model_from.sh - a user's model: benchmark, allreduce, tune, profile and predict from traces and files of PyTorch.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"
start_quickly
stored=$root/tests/support/torch_traces

# run ARGUMENT...: a short benchmark of a model that sleeps, on 2 ranks.
run() { try mpirun -n 2 "$program" --rounds 1 --num-epochs 1 --warmup-epochs 0 --steps-per-block 1 "$@"; }

# ---- the benchmark ----

run --model-from "$stored/cap8.rank0.json.gz" --compute sleep --time-scale 0.1 --implementations all --output replayed
is "a trace can be replayed by all strategies" "$status" 0
succeeds "what was read stands in the heading" grep -qF "51 tensors, 4.185 M parameters, 15.96 MiB of gradients, ready times from 3 steps of rank 0" <(unwrapped printed)
succeeds "how it is replayed stands there, too" grep -qF "replayed by recorded times, with sleep (--time-scale)" <(unwrapped printed)
is "the sums of the known gradients are right" \
    "$(awk -F, '$3 == "gradient_error" { n++; good += $6 < 1e-6 } END { print n - good, n }' replayed/summary.csv)" "0 7"
is "there is no loss, and there are no tokens" "$(grep -c '"loss"' replayed/summary.json) $(grep -c '"tokens_per_second"' replayed/summary.csv || true)" "0 0"
succeeds "a line says that there is none" grep -q '"loss": null' replayed/rank_0_metrics.jsonl
is "run.json has the tensors" "$(grep -c '"joined":' replayed/run.json)" 51
# Sleeps are never too short: a tenth of 65 to 240 ms of forward and backward.
is "a step lasts as long as the trace says" "$(awk -F, '$2 == "none" && $3 == "step" { print ($6 >= 0.025) }' replayed/summary.csv)" 1

try "$program" report replayed
succeeds "report says what was replayed" grep -qF "Measured: 51 tensors, 4.185 M parameters" <(unwrapped printed)

run --model-from "$stored/parameters.json" --backward-ms 5 --compute sleep --implementations none,ddp_bucketed:block --output listed
is "a list can be replayed" "$status" 0
is "names give blocks" "$(grep -c '"kind"' listed/run.json)" 6
echo '[["scale", [500]], ["shift", [500]]]' >vectors,2.json
run --model-from vectors,2.json --backward-ms 50 --compute sleep --implementations none --output vectors
is "vectors alone, in a file with a comma in its name, share the time of backward" "$status $(awk -F, '$2 == "none" && $3 == "step" { print ($6 >= 0.07) }' vectors/summary.csv)" "0 1"
run --model-from "$stored/cap8.rank0.json.gz" --implementations none,ddp_bucketed:block --output unnamed
succeeds "without names there are no blocks" grep -q -- "--bucket-size-mb block: .*give the names as a second file" <(unwrapped said)
run --model-from "$stored/cap8.rank0.json.gz,$stored/parameters.json" --compute sleep --time-scale 0.01 --implementations none,ddp_bucketed:block --output named
is "a second file gives names to a trace" "$status $(grep -c '"kind"' named/run.json)" "0 6"

cat >config.json <<END
{"model_type": "llama", "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 2, "vocab_size": 64, "max_position_embeddings": 16}
END
run --model-from config.json --implementations none,ddp --output own
succeeds "a Llama is trained" grep -qF "Model: 1 layers, d_model 32, 2 heads, d_ff 64, vocabulary 64, context 16" <(unwrapped printed)
is "and has a loss" "$(grep -c '"loss": [0-9]' own/rank_0_metrics.jsonl)" 6

# ---- the other commands ----

try mpirun -n 2 "$program" allreduce --sizes-from-model --model-from "$stored/cap4.rank0.json.gz" --implementations ddp_bucketed --bucket-size-mb 1+25 --iters 1 --warmup-iters 1 --check 0 --output sizes
is "allreduce times the buckets of DDP's default" "$(awk '$3 == "float" { print $2 }' printed | paste -sd ' ')" "514000 3671040"

try mpirun -n 2 "$program" tune --model-from "$stored/cap8.rank0.json.gz" --compute sleep --time-scale 0.01 --max-minutes 0.05 --output tuned
is "tune searches for a user's model" "$status" 0
succeeds "and says how PyTorch's default buckets compare, or how to compare them" grep -qE "PyTorch: with bucket_cap_mb=[0-9.]+ a step is|PyTorch's default buckets .* were not compared" <(unwrapped printed)

# A trace of ddpbench is a model, too.
small=(--num-layers 1 --d-model 32 --num-heads 2 --context-length 16 --vocab-size 64 --batch-size 2 --bucket-size-mb 0.01)
try mpirun -n 2 "$program" --profile --profile-implementation ddp_bucketed "${small[@]}" --rounds 0 --profile-output-dir traced
is "a profile writes when gradients are final" "$(grep -c '"gradient ready"' traced/ddp_bucketed_rank_0_trace.json)" 120
with_python "gradients are final in backward's order, when the table of buckets says" \
    python3 "$root/tests/consumers/check_ready.py" traced ddp_bucketed
try "$program" predict traced/ddp_bucketed_rank_0_trace.json --link-model latency=10us,bandwidth=1GB/s
is "predict reads it" "$status" 0
succeeds "predict says what it read" grep -qF "12 tensors, 0.02058 M parameters" <(unwrapped printed)
succeeds "predict says how well its steps are replayed" grep -qE "The traced steps took [0-9.]+ ms; replayed from their own gradients and all-reduces they take [0-9.]+ ms" <(unwrapped printed)
succeeds "predict says what PyTorch's default buckets take" grep -qF "PyTorch: with its default buckets" <(unwrapped printed)
try "$program" predict "$stored/cap4.rank0.json.gz" --link-model latency=10us,bandwidth=1GB/s
is "a trace of few steps is refused" "$status $(grep -c 'predictions need a trace of 6 steps or more' said)" "1 1"
try "$program" predict "$stored/parameters.json" --link-model latency=10us,bandwidth=1GB/s
is "a file without times is refused" "$status $(grep -c 'has no times' said)" "1 1"

try "$program" predict "$stored/cap4-noshapes.rank0.json.gz" --link-model latency=10us,bandwidth=1GB/s
is "an error of predict begins with the file" "$status $(grep -c "ddpbench: $stored/cap4-noshapes.rank0.json.gz: has no sizes" said)" "1 1"

# ---- what is refused ----

# refuses WORDS ARGUMENT...: checks that the benchmark ends with status 2 and a message that has the words.
refuses() {
    local words=$1
    shift
    run "$@" --output refused
    is "refused: $words" "$status $(unwrapped said | grep -c -- "$words" || true)" "2 1"
}
refuses "--d-model: the model is that of --model-from, which has sizes and times" --model-from "$stored/cap8.rank0.json.gz" --d-model 64
refuses "--context-length: the model is that of --model-from" --model-from "$stored/cap8.rank0.json.gz" --context-length 64
refuses "--batch-size: the model of --model-from is replayed, without data; its recorded steps have a batch of their own" --model-from "$stored/cap8.rank0.json.gz" --batch-size 8
refuses "--data: the model of --model-from is replayed, without data" --model-from "$stored/parameters.json" --data "$0"
refuses "--forward-only: the model of --model-from is replayed" --model-from "$stored/parameters.json" --forward-only --implementations none
refuses "--backward-ms: --model-from has times of its own" --model-from "$stored/cap8.rank0.json.gz" --backward-ms 5
refuses "--grad-accumulation: the recorded steps" --model-from "$stored/cap8.rank0.json.gz" --grad-accumulation 2
refuses "a list of parameters goes after a trace" --model-from "config.json,$stored/parameters.json"
refuses "--preset and --model-from: give one of the two" --model-from config.json --preset laptop
refuses "--compute needs --model-from" --compute sleep
refuses "absent.json: No such file" --model-from absent.json
refuses "has no sizes of gradients" --model-from "$stored/cap4-noshapes.rank0.json.gz"

# Ranks that read different files end with both of them.
cp "$stored/parameters.json" one.json
sed 's/256/128/' one.json >two.json
try mpirun -n 1 "$program" --model-from one.json : -n 1 "$program" --model-from two.json
is "ranks with different files are refused" "$([ "$status" != 0 ] && echo refused) $(grep -c 'model-from' said)" "refused 1"

check_sentences
exit $failed
