#!/usr/bin/env bash
# tune.sh - ddpbench tune from outside: it finds a bucket size that is known to be best, in the time given, leaves valid
# files, and refuses what it cannot do. Tests BUILD_DIR/ddpbench tune with tiny sizes, and
# tests/support/programs/delayed_tune, which makes one size the best.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

tiny=(--device cpu --d-model 64 --num-layers 2 --num-heads 2 --d-ff 128 --context-length 16 --batch-size 4
    --vocab-size 256)
run=("${mpirun[@]}" -n 2)
delayed=$build/tests/support/programs/delayed_tune

# ---- a known winner: what lies between two sizes of the first round, so that only the final finds it ----

limit=400 try "${run[@]}" "$delayed" 10000 0.353 "${tiny[@]}" --max-minutes 5 --output found # idle cores need 15 s
check 0 "a search ends" 'Searching among 9 candidates for 5 min 00 s at most'
use="Options: --implementations ddp_bucketed --bucket-size-mb 0.354 (PyTorch's DDP: bucket_cap_mb=0.354)"
is "the best size is found, with the options to use" "$(grep '^Options: ' printed)" "$use"
succeeds "the others are not in it any more" grep -qE '^ddp_individual  .* (slower|dropped)( |$)' printed
# a step without buckets is late by 5 x 10 ms
# shellcheck disable=SC2016 # awk has its own dollars
succeeds "the cost of another one is known" awk -F, \
    '$2 == "ddp" && $3 == "sync_cost" { n++; good = $6 > 0 && $6 < 5 } END { exit n != 1 || !good }' found/summary.csv
is "its files" "$(cd found && echo *)" \
    "metrics.csv rank_0_metrics.jsonl rank_1_metrics.jsonl run.json summary.csv summary.json summary.prom summary.txt"
succeeds "they are valid" valid found/*.json found/*.jsonl
succeeds "what was printed is kept" cmp printed found/summary.txt
try "$program" report found
succeeds "report prints it again" grep -qxF "$use" printed
try "$program" report found --output drawn
is "and draws the curve, with the best size in a ring" \
    "$status $(grep -oE '>(best|0[.]354)<' drawn/pictures/bucket-sizes.svg | sort -u | paste -sd ' ')" "0 >0.354< >best<"

# ---- the time ----

limit=120 try "${run[@]}" "$delayed" 10000 0.353 "${tiny[@]}" --max-minutes 0.001 --output short
is "a round is made in any case" "$status" 0
is "and no other" "$(sed -nE 's/^\t"(done|planned)":\t([0-9]+),$/\2/p' short/summary.json | tr '\n' ' ')" "1 1 "
succeeds "which is said" grep -qE '^Time limit reached: .*, 1 round, before the final rounds; no verdict[.]$' printed

# ---- what is refused ----

# refuses WORDS RANKS PATTERN OPTION...
refuses() {
    local words=$1 ranks=$2 pattern=$3
    shift 3
    try "${mpirun[@]}" -n "$ranks" "$program" tune "${tiny[@]}" --output refused "$@"
    check 2 "refused: $words" "^ddpbench: $pattern"
    succeeds "without results" [ ! -e refused ]
}
refuses "one rank" 1 'tune compares costs of communication, which a single rank does not have'
refuses "a number of rounds" 2 'this command has no --rounds' --rounds 3
refuses "sizes of its own" 2 'this command has no --bucket-size-mb' --bucket-size-mb 1,2
check_sentences
exit $failed
