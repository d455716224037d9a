#!/usr/bin/env bash
# peer.sh - bench/peers/torch_ddp.py agrees with ddpbench: it has the same model, batches and losses with every strategy
# and with PyTorch's own ones, the same collectives, result files for ddpbench compare and report, and one-line errors.
# Tests bench/peers against BUILD_DIR/ddpbench with small sizes, on the CPU. PEER_PYTHON is a Python with PyTorch and
# NumPy; without it all checks are skipped.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

python=${PEER_PYTHON:-python3}
needed='import numpy, torch; from torch.nn.attention import sdpa_kernel; import torch.distributed.run'
if ! "$python" -c "$needed" 2>/dev/null; then
    checks=(model sharding {losses,plans,files}-{1,2} epochs bfloat16 compiled compare compare.sh report refusals kernels)
    for check in "${checks[@]}"; do
        echo "skip - $check: $python has no PyTorch and numpy; name one that has with PEER_PYTHON"
    done
    exit 0
fi
export CUDA_VISIBLE_DEVICES='' # tests the CPU only
peer=$root/bench/peers/torch_ddp.py
agrees=$root/tests/consumers/peer_agrees.py
cat "$root"/README.md "$root"/Makefile "$root"/ddp/*.c >text
tiny=(--d-model 32 --num-layers 2 --num-heads 2 --d-ff 48 --context-length 16 --batch-size 8 --data text --rounds 1
    --steps-per-block 18 --bucket-size-mb 0.01)
all=none,ddp,ddp_flat,ddp_individual,ddp_individual_v2,ddp_bucketed
own=torch_ddp,torch_zero,torch_fsdp

# started RANKS: sets `start` to the command that starts Python on RANKS ranks.
started() {
    start=("$python")
    [ "$1" = 1 ] || start+=(-m torch.distributed.run --standalone --nproc-per-node "$1")
}

# ours and theirs RANKS NAME OPTION...: run ddpbench and torch_ddp.py, with results in NAME.
ours() {
    latest "${tiny[@]}" --output "${@:2}"
    try "${mpirun[@]}" -n "$1" "$program" "${latest[@]}"
}
theirs() {
    started "$1"
    try "${start[@]}" "$peer" "${tiny[@]}" --output "${@:2}"
}

# agree ARGUMENT...: runs peer_agrees.py, whose output lines count as checks of this script. N in `sharding N`: ranks.
agree() {
    local good=0 ranks=1
    [ "$1" != sharding ] || ranks=$2
    started "$ranks"
    "${start[@]}" "$agrees" "$@" >lines 2>said || good=1
    cat lines
    [ "$good" = 0 ] || failed=1
    grep -q '^\(not \)\?ok - ' lines || result 1 "peer_agrees.py $1 prints a check"
}

# plans OURS THEIRS: tests that the implementations and options that are in both runs are equal.
plans() {
    # shellcheck disable=SC2317 # called by succeeds
    "$python" - "$@" <<'END'
import json, sys
ours, theirs = (json.load(open(f"{name}/run.json")) for name in sys.argv[1:3])
assert ours["schema_version"] == theirs["schema_version"]
mine = {row["name"]: row for row in ours["implementations"]}
same = [row for row in theirs["implementations"] if row["name"] in mine]
assert len(same) == len(mine) and all(row.items() <= mine[row["name"]].items() for row in same), same
apart = {key for key in ("configuration", "derived") for key in [key + "." + k for k, v in ours[key].items()
         if k in theirs[key] and theirs[key][k] != v and k not in ("output", "implementations")]}
assert not apart, apart
END
}

# names OURS THEIRS: tests that the run OURS has each figure of THEIRS with the same unit, except figures of PyTorch's
# own implementations, and each member of the metrics lines of THEIRS.
names() {
    # shellcheck disable=SC2317 # called by succeeds
    "$python" - "$@" <<'END'
import json, sys
ours, theirs = ({(f["subject"], f["name"]): (f["unit"], f["better"], f["judged"]) for f in
                 json.load(open(f"{name}/summary.json"))["figures"]} for name in sys.argv[1:3])
same = {key: value for key, value in theirs.items() if not key[0].startswith("torch_")}
assert len(same) >= 6 * 9 and same.items() <= ours.items(), same.items() - ours.items()
mine, their = (set(json.loads(open(f"{name}/rank_0_metrics.jsonl").readline())) for name in sys.argv[1:3])
assert len(their) > 15 and their <= mine, their - mine
END
}

agree model
agree sharding 3

# ---- every strategy, on 1 and 2 ranks ----

for ranks in 1 2; do
    ours $ranks ours$ranks --implementations $all
    result "$status" "$ranks ranks: ddpbench succeeds"
    theirs $ranks theirs$ranks --implementations $all,$own
    result "$status" "$ranks ranks: torch_ddp.py succeeds"
    agree losses $ranks ours$ranks theirs$ranks
    succeeds "$ranks ranks: the peer has the same collectives and options" plans ours$ranks theirs$ranks
    listed=$(cd theirs$ranks && echo *)
    is "$ranks ranks: the peer writes the files that ddpbench reads" "$listed" \
        "$(cd ours$ranks && echo rank_*_metrics.jsonl run.json summary.json)"
    succeeds "$ranks ranks: the peer's files are valid" valid theirs$ranks/*.json theirs$ranks/*.jsonl
    succeeds "$ranks ranks: the peer's figures and metrics have the same names" names ours$ranks theirs$ranks
done

# ---- other settings ----

epochs=(--regime warmup --warmup-epochs 18 --num-epochs 20 --steps-per-block 0 --grad-accumulation 2 --seed 7 --lr 0.01
    --data synthetic --vocab-size 128 --bucket-size-mb auto)
ours 2 warm "${epochs[@]}" --implementations ddp_bucketed
try "${mpirun[@]}" -n 2 "$python" "$peer" "${tiny[@]}" "${epochs[@]}" --implementations ddp_bucketed,$own \
    --output their_warm
result "$status" "torch_ddp.py succeeds with warm-up epochs, accumulation and synthetic tokens, started by mpirun"
agree losses 2 warm their_warm
succeeds "warm-up epochs: the default bucket size is the same" plans warm their_warm
head -c 40000 text | od -An -v -tu1 -w1 | LC_ALL=C awk '{ printf "%c%c", $1 % 200 + 1, 1 }' >shard.bin
narrow=(--data shard.bin --vocab-size 497 --wire-dtype bf16 --implementations ddp_individual_v2 --bucket-size-mb auto)
ours 2 narrow "${narrow[@]}"
theirs 2 their_narrow "${narrow[@]}"
result "$status" "torch_ddp.py succeeds with a token file and --wire-dtype bf16"
agree losses 2 narrow their_narrow
theirs 1 autocast --dtype bf16 --implementations none
result "$status" "torch_ddp.py succeeds with --dtype bf16, which uses autocast"
agree losses 1 ours1 autocast 0.02
theirs 1 pure --dtype bf16 --residual-dtype bf16 --implementations none,torch_fsdp
result "$status" "torch_ddp.py succeeds with --residual-dtype bf16"
agree losses 1 ours1 pure 0.02
if command -v c++ >/dev/null; then
    theirs 1 compiled --implementations ddp_bucketed,torch_ddp,torch_fsdp --compile
    result "$status" "--compile succeeds"
    agree losses 1 ours1 compiled
else
    echo "skip - --compile: there is no C++ compiler"
fi

# ---- compare and report ----

try "$program" compare ours2 --candidate theirs2 --allow implementations --label ddpbench,torch
cp printed said
succeeds "compare accepts runs of both programs" test "$status" = 0 -o "$status" = 3 -o "$status" = 4
succeeds "compare names both programs" grep -qx '  program: baseline ddpbench, candidate torch_ddp[.]py' printed
succeeds "compare has a row for each strategy" test \
    "$(grep -cE '^(none|ddp[a-z_0-9]*) step .* (ok|unseen|ambiguous|regressed|improved) +[-+0-9.]+ % ' printed)" = 6
succeeds "compare lists PyTorch's own implementations as new" test "$(grep -cE '^torch_[a-z]+ step .* new +- +- +-$' printed)" = 3
try "$program" report theirs2
cp printed said
result "$status" "report accepts the peer's run"
succeeds "report has a row for each strategy of the peer" test \
    "$(grep -cE '^(none|ddp[a-z_0-9]*|torch_[a-z]+) .* [0-9]+$' printed)" = 9
cp -r theirs2 compiled2
sed -i 's/"compile": false/"compile": true/' compiled2/run.json
try "$program" compare theirs2 compiled2
cp printed said
is "compare refuses eager against compiled runs" "$status" 6
latest "${tiny[@]}" --data "$PWD/text" --bucket-size-mb 0.01,0.02
try env CXX=absent "$root/bench/peers/compare.sh" --program "$program" --python "$python" --threads 1 --repeats 1 \
    --output "$PWD/peers" --implementations ddp,ddp_sharded -- "${latest[@]}"
cp printed said
is "compare.sh succeeds" "$status" 0
for row in ddp torch_{ddp,zero}:0.0{1,2} torch_fsdp; do
    succeeds "compare.sh compares $row" grep -qE "^$row step .* (ok|unseen|ambiguous|regressed|improved) +[-+0-9.]+ % " printed
done
succeeds "compare.sh: losses agree" grep -qE '^Losses of both .* differ by at most [0-9.]+e-0[6-9] \(relative\)' printed

# ---- the command line ----

# defaults COMMAND...: prints the options whose help shows a default, as "--name value".
defaults() { "$@" | sed -n 's/^  \(--[a-z-]*\)  *.*\[\([^]]*\)\]$/\1 \2/p' | sort; }
# Prints ddpbench's defaults; the sizes are those of the preset in the line "  default   12 layers, width 768, ...".
{
    defaults "$program" --help all | grep -v -e ' by --preset$' -e '^--d-ff '
    "$program" --help all | sed -nE 's/^  default +([0-9]+) layers, width ([0-9]+), ([0-9]+) heads, d_ff ([0-9]+), context ([0-9]+); batch: ([0-9]+) .*/--num-layers \1\n--d-model \2\n--num-heads \3\n--d-ff \4\n--context-length \5\n--batch-size \6/p'
} | sort >mine
defaults "$python" "$peer" --help >their
join mine their >both
# shellcheck disable=SC2016 # awk fields
succeeds "common options of both programs have the same defaults" awk '{ bad += $2 != $3 } END { exit bad || NR < 25 }' both

# ---- bad input: one error line, from rank 0 ----

# refuse PATTERN OPTION...: checks that the options are refused with one line matching PATTERN.
refuse() {
    local pattern=$1 good=0
    shift
    try "$python" "$peer" "${tiny[@]}" --output refused "$@"
    [ "$status" = 1 ] && [ "$(wc -l <said)" = 1 ] && grep -qE "^torch_ddp.py: .*$pattern" said &&
        [ ! -e refused/run.json ] || good=1
    result $good "refused: $*"
}
refuse 'unrecognized arguments: --bogus 1; see --help' --bogus 1
refuse 'argument --rounds: 0: expected a number from 1' --rounds 0
refuse '--data .*absent: cannot open it: No such file' --data absent
refuse 'theirs2 already holds run[.]json; choose' --output theirs2
theirs 2 refused --batch-size 7
succeeds "a batch that does not divide is reported once" \
    test "$(grep -c '^torch_ddp.py: a batch of 7 cannot be divided' said)" = 1

# ---- kernels ----

try "$python" "$root/bench/peers/torch_kernels.py" --device cpu --quick
is "torch_kernels.py succeeds" "$status" 0
# shellcheck disable=SC2016 # awk fields
succeeds "torch_kernels.py prints a rate in every row" \
    awk -F'\t' '!/^#/ && NR > 2 { n++; bad += NF != 9 || $8 !~ /^[0-9.e+]+$/ } END { exit bad || n < 25 }' printed
exit "$failed"
