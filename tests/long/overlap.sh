#!/usr/bin/env bash
# overlap.sh - verifies that overlap works, with two ranks over an emulated link where communication takes as long as backward
#
# Usage: tests/long/overlap.sh [--rate RATE] [--rounds N] [--output DIR], as root, after `make`
#   --rate RATE   rate of the emulated link (default 100mbit)
#   --rounds N    rounds of the comparison (default 10)
#   --output DIR  result directory, which must not hold results yet (default results/<time>-overlap)
# `attainable` is the step time with perfect overlap. With the best bucket size a step may take at most 1.10 x as long; with
# ddp, which does not overlap, at least 1.3 x. Exit status: 1 overlap was not shown; 3 communication is too short to show it.
set -euo pipefail

# shellcheck source=launch/common.sh
. "$(dirname "$(realpath "$0")")/../../launch/common.sh"

rate=100mbit rounds=10 output=
option_rows=("--rate rate check_rate" "--rounds rounds check_integer 1 999999" "--output output check_path")
read_options "$@"
[ -z "$output" ] || output=$(realpath -m -- "$output") # resolved before the script changes directory
cd "$(dirname "$0")/../.."
[ -x build/ddpbench ] || die "build/ddpbench is not built; run make first"
output=${output:-results/$(date +%Y%m%d-%H%M%S)-overlap}

trap 'end_child; lab_down' EXIT
trap_signals
lab_up 2 --rate "$rate"
wait_child launch/corpus.sh build/corpus.txt

# 1.1 M parameters: at the default rate, sending the gradient's 4.5 MB takes about as long as backward over 8192 tokens per rank.
wait_child launch/netlab.sh run -n 2 -- build/ddpbench --threads 1 --data build/corpus.txt \
    --d-model 128 --num-layers 4 --num-heads 4 --d-ff 512 --context-length 128 --batch-size 128 \
    --implementations none,ddp,ddp_flat,ddp_individual,ddp_bucketed --bucket-size-mb 0.1,0.25,0.5 \
    --rounds "$rounds" --steps-per-block 3 --attainable --label "overlap-$rate" --output "$output"

awk -F, '
    $3 == "step_to_attainable" && $2 == "ddp" { ddp = $6 }
    $3 == "step_to_attainable" && $2 ~ /^ddp_bucketed:/ && (best == "" || $6 < best) { best = $6; of = $2 }
    END {
        if (best == "" || ddp == "") { print "overlap.sh: ddp or ddp_bucketed is missing in the results"; exit 1 }
        if (best <= 1.10 && ddp < 1.3) {
            printf "%s takes %.2f x attainable (aim: at most 1.10), but ddp only %.2f x: ", of, best, ddp
            print "at this rate communication is too short to show overlap."
            exit 3
        }
        shown = best <= 1.10
        printf "Overlap %s: %s takes %.2f x attainable (aim: at most 1.10), ddp %.2f x (aim: at least 1.3).\n", \
            shown ? "is real" : "is NOT shown", of, best, ddp
        exit !shown
    }' "$output/summary.csv"
