#!/usr/bin/env bash
# peer.sh - bench/peers/torch_ddp.py does what ddpbench does: the same model, batches and losses with every strategy,
# the same plans of collectives, result files that ddpbench compare and report read; and bad input is refused in words.
# Tests bench/peers against BUILD_DIR/ddpbench with tiny sizes, on the CPU. PEER_PYTHON is a Python that has PyTorch and
# numpy; without it all is skipped.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

python=${PEER_PYTHON:-python3}
needed='import numpy, torch; from torch.nn.attention import sdpa_kernel; import torch.distributed.run'
if ! "$python" -c "$needed" 2>/dev/null; then
    checks=(model {losses,plans,files}-{1,2} epochs bfloat16 compiled compare report refusals kernels)
    for check in "${checks[@]}"; do
        echo "skip - $check: $python has no PyTorch and numpy; name one that has with PEER_PYTHON"
    done
    exit 0
fi
export CUDA_VISIBLE_DEVICES='' # this is about the CPU
# cli.sh reads it
# shellcheck disable=SC2034
limit=120
peer=$root/bench/peers/torch_ddp.py
agrees=$root/tests/consumers/peer_agrees.py
cat "$root"/README.md "$root"/Makefile "$root"/ddp/*.c >text
tiny=(--d-model 32 --num-layers 2 --num-heads 2 --d-ff 48 --context-length 16 --batch-size 8 --data text --rounds 1
    --steps-per-block 18 --bucket-size-mb 0.01 --log-grad-norm)
all=none,ddp,ddp_flat,ddp_individual,ddp_individual_v2,ddp_bucketed

# ours RANKS NAME OPTION..., theirs RANKS NAME OPTION...: a run into NAME; theirs by torchrun where ranks are several.
ours() { try "${mpirun[@]}" -n "$1" "$program" "${tiny[@]}" --output "${@:2}"; }
theirs() {
    local start=("$python")
    [ "$1" = 1 ] || start+=(-m torch.distributed.run --standalone --nproc-per-node "$1")
    try "${start[@]}" "$peer" "${tiny[@]}" --output "${@:2}"
}

# agree ARGUMENT...: the lines of peer_agrees.py count as checks of this script.
agree() {
    local good=0
    "$python" "$agrees" "$@" >lines 2>said || good=1
    cat lines
    [ "$good" = 0 ] || failed=1
    grep -q '^\(not \)\?ok - ' lines || result 1 "peer_agrees.py $1 checks something"
}

# plans OURS THEIRS: the collectives of each implementation that both have, and the options that both have, are equal.
plans() {
    # shellcheck disable=SC2317 # succeeds calls it
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

# names OURS THEIRS: figures of an implementation that both have are figures of ours, in the same unit, and the members
# of a line of metrics are members of ours.
names() {
    # shellcheck disable=SC2317 # succeeds calls it
    "$python" - "$@" <<'END'
import json, sys
ours, theirs = ({(f["subject"], f["name"]): (f["unit"], f["better"], f["judged"]) for f in
                 json.load(open(f"{name}/summary.json"))["figures"]} for name in sys.argv[1:3])
same = {key: value for key, value in theirs.items() if key[0] != "torch_ddp"}
assert len(same) >= 6 * 9 and same.items() <= ours.items(), same.items() - ours.items()
mine, their = (set(json.loads(open(f"{name}/rank_0_metrics.jsonl").readline())) for name in sys.argv[1:3])
assert len(their) > 15 and their <= mine, their - mine
END
}

agree model

# ---- every strategy, on 1 and 2 ranks ----

for ranks in 1 2; do
    ours $ranks ours$ranks --implementations $all
    result "$status" "$ranks ranks: ddpbench"
    theirs $ranks theirs$ranks --implementations $all,torch_ddp
    result "$status" "$ranks ranks: torch_ddp.py"
    agree losses $ranks ours$ranks theirs$ranks
    succeeds "$ranks ranks: the plans of collectives are ours, and so are the options" plans ours$ranks theirs$ranks
    listed=$(cd theirs$ranks && echo *)
    is "$ranks ranks: the files are those of ddpbench that it reads back" "$listed" \
        "$(cd ours$ranks && echo rank_*_metrics.jsonl run.json summary.json)"
    succeeds "$ranks ranks: and valid" valid theirs$ranks/*.json theirs$ranks/*.jsonl
    succeeds "$ranks ranks: figures and telemetry have our names" names ours$ranks theirs$ranks
done

# ---- what else the training is made of ----

epochs=(--regime warmup --warmup-epochs 18 --num-epochs 20 --steps-per-block 0 --grad-accumulation 2 --seed 7 --lr 0.01
    --data synthetic --vocab-size 97 --bucket-size-mb auto)
ours 2 warm "${epochs[@]}" --implementations ddp_bucketed
try "${mpirun[@]}" -n 2 "$python" "$peer" "${tiny[@]}" "${epochs[@]}" --implementations ddp_bucketed,torch_ddp \
    --output their_warm
result "$status" "warm-up epochs with accumulation on made-up tokens, started by mpirun"
agree losses 2 warm their_warm
succeeds "warm-up epochs: and the default size of buckets is ours" plans warm their_warm
head -c 40000 text | od -An -v -tu1 -w1 | LC_ALL=C awk '{ printf "%c%c", $1 % 200 + 1, 1 }' >shard.bin
narrow=(--data shard.bin --vocab-size 512 --grad-dtype bf16 --implementations ddp_individual_v2 --bucket-size-mb auto)
ours 2 narrow "${narrow[@]}"
theirs 2 their_narrow "${narrow[@]}"
result "$status" "a shard of tokens, bfloat16 on the wire"
agree losses 2 narrow their_narrow
theirs 1 autocast --dtype bf16 --implementations none
result "$status" "bfloat16 by autocast"
agree losses 1 ours1 autocast 0.02
theirs 1 pure --dtype bf16 --residual-dtype bf16 --implementations none
result "$status" "all activations in bfloat16"
agree losses 1 ours1 pure 0.02
if command -v c++ >/dev/null; then
    theirs 1 compiled --implementations ddp_bucketed,torch_ddp --compile
    result "$status" "torch.compile"
    agree losses 1 ours1 compiled
else
    echo "skip - torch.compile: there is no C++ compiler"
fi

# ---- beside ours ----

try "$program" compare ours2 --candidate theirs2 --allow implementations --label ddpbench,torch
cp printed said
succeeds "compare takes both, whichever is faster" test "$status" = 0 -o "$status" = 3 -o "$status" = 4
succeeds "and names the programs" grep -qx '  program: baseline ddpbench, candidate torch_ddp[.]py' printed
succeeds "and has all strategies side by side" test \
    "$(grep -cE '^(none|ddp[a-z_0-9]*) step .* (ok|ambiguous|regressed|improved) +[-+0-9.]+ %$' printed)" = 6
succeeds "and the one that only PyTorch has" grep -qE '^torch_ddp step .* new +-$' printed
try "$program" report theirs2
cp printed said
result "$status" "report takes it"
succeeds "and has a row for each strategy" test \
    "$(grep -cE '^(none|ddp[a-z_0-9]*|torch_ddp) .* [0-9]+$' printed)" = 7
cp -r theirs2 compiled2
sed -i 's/"compile": false/"compile": true/' compiled2/run.json
try "$program" compare theirs2 compiled2
cp printed said
is "eager and compiled runs are not the same" "$status" 6

# ---- the command line ----

# defaults COMMAND...: the options that this help shows with a default, "--name value"
defaults() { "$@" | sed -n 's/^  \(--[a-z-]*\)  *.*\[\([^]]*\)\]$/\1 \2/p' | sort; }
# the peer's sizes are those of one preset: "  default   12 layers, width 768, ..."
{
    defaults "$program" --help all | grep -v ' by --preset$'
    "$program" --help all | sed -nE 's/^  default +([0-9]+) layers, width ([0-9]+), ([0-9]+) heads, d_ff ([0-9]+), context ([0-9]+); batch: ([0-9]+) .*/--num-layers \1\n--d-model \2\n--num-heads \3\n--d-ff \4\n--context-length \5\n--batch-size \6/p'
} | sort >mine
defaults "$python" "$peer" --help >their
join mine their >both
# shellcheck disable=SC2016 # those are fields of awk
succeeds "options of both have the same defaults" awk '{ bad += $2 != $3 } END { exit bad || NR < 25 }' both

# ---- bad input: one line, of rank 0 ----

# refuse PATTERN OPTION...
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
    test "$(grep -c '^torch_ddp.py: a batch of 7 does not divide' said)" = 1

# ---- kernels ----

try "$python" "$root/bench/peers/torch_kernels.py" --device cpu --quick
is "torch_kernels.py" "$status" 0
# shellcheck disable=SC2016 # those are fields of awk
succeeds "has a rate in every row" \
    awk -F'\t' '!/^#/ && NR > 2 { n++; bad += NF != 9 || $8 !~ /^[0-9.e+]+$/ } END { exit bad || n < 25 }' printed
exit "$failed"
