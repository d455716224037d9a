#!/usr/bin/env bash
# replay_check.sh - compares PyTorch's own steps with several bucket_cap_mb with what ddpbench makes of a trace of one of
# them: replayed over the same link (--model-from), and predicted (predict).
#
# Usage: bench/peers/replay_check.sh [OPTION VALUE]..., as root, on an idle machine; needs PyTorch
#   --python PROGRAM   a Python with PyTorch (default python3)
#   --rate RATE        rate of the emulated link between the two ranks (default 1gbit; see launch/netlab.sh)
#   --rounds N         rounds of PyTorch and of the replay (default 8)
#   --program FILE     ddpbench (default build/ddpbench)
#   --output DIR       directory for all files (default results/replay-check)
# Prints a table. Exit status: 0 all steps are within 10 % of PyTorch's and in its order, 1 something failed, 2 the command
# line is wrong, 4 they are not.
set -euo pipefail

# shellcheck source=launch/common.sh
. "$(dirname "$(realpath "$0")")/../../launch/common.sh"
cd "$(dirname "$(realpath "$0")")/../.."

python=python3 rate=1gbit rounds=8 program=build/ddpbench output=results/replay-check
while [ $# -gt 0 ]; do
    case $1 in
    --help) usage; exit 0 ;;
    --python | --rate | --rounds | --program | --output)
        [ $# -gt 1 ] || usage_error "$1 needs a value"
        declare "${1#--}=$2"
        shift 2
        ;;
    *) usage_error "unknown option '$1'; see --help" ;;
    esac
done
check_integer --rounds "$rounds" 2 1000
[ ! -e "$output" ] || usage_error "--output $output exists already"
"$python" -c 'import torch' || { echo "replay_check.sh: $python has no PyTorch" >&2; exit 1; }
mkdir -p "$output"

launch/netlab.sh up --nodes 2 --rate "$rate" >"$output/link.txt" || exit 1
trap 'launch/netlab.sh down' EXIT
lab() { launch/netlab.sh run -n 2 -- "$@"; }
export OMP_NUM_THREADS=1
caps=1,4,8,1+25

echo "PyTorch: $rounds rounds, then a trace" >&2
lab env MASTER_ADDR=10.77.0.1 GLOO_SOCKET_IFNAME=eth0 "$python" bench/peers/torch_caps.py --rounds "$rounds" --output "$output/torch"
echo "The link" >&2
lab "$program" allreduce -b 64K -e 32M -f 2 --output "$output/link" >"$output/link.log"
echo "The replay: $rounds rounds" >&2
lab "$program" --model-from "$output/torch/rank_0.json.gz" --implementations none,ddp_bucketed --bucket-size-mb "$caps" \
    --rounds "$rounds" --steps-per-block 3 --output "$output/replayed" >"$output/replayed.log"
"$program" predict "$output/torch/rank_0.json.gz" --link "$output/link" --implementations ddp_bucketed --bucket-size-mb "$caps" \
    --json "$output/predicted.json" >"$output/predicted.log"
status=0
"$python" bench/peers/replay_table.py "$output/torch/steps.json" "$output/replayed" "$output/predicted.json" >"$output/table.txt" || status=$?
cat "$output/table.txt"
exit "$status"
