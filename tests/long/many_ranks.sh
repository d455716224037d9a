#!/usr/bin/env bash
# many_ranks.sh - rank 0 processes the data from 1,000 ranks in at most 5 s per block, trace, message size or report.
# One process runs as rank 0 of 1,000 (tests/support/preload/many_ranks.c). Takes about a minute.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

export MANY_RANKS=${MANY_RANKS:-1000}
limit=600 longest=5

# timed COMMAND...: runs the command; sets seconds and status.
timed() {
    local begin=$EPOCHREALTIME
    try "$@"
    seconds=$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.3f", b - a }')
}
many() { timed env LD_PRELOAD=many_ranks.so "$program" "$@"; }

# each N WORDS: checks that the last command took at most $longest s for each of N items; WORDS names an item.
each() {
    local one
    one=$(awk -v s="$seconds" -v n="$1" 'BEGIN { printf "%.3f", s / n }')
    [ "$status" = 0 ] && awk -v s="$one" -v most="$longest" 'BEGIN { exit !(s <= most) }' && status=0 || status=1
    result "$status" "$MANY_RANKS ranks: $one s for $2"
}

model=(--device cpu --d-model 16 --num-heads 1 --d-ff 16 --context-length 4 --batch-size-per-rank 1 --vocab-size 8 --num-layers 12)
sides=(--monitor-cpu)
many "${model[@]}" "${sides[@]}" --implementations none,ddp,ddp_flat,ddp_individual,ddp_bucketed --rounds 100 --steps-per-block 4 \
    --attainable --output benchmark
each 500 "a block, with its lines of metrics and its part of the summary"
many "${model[@]}" "${sides[@]}" --profile --profile-implementation ddp,ddp_bucketed --rounds 10 --profile-output-dir profile
each 4 "a trace of all ranks, with a thousand rows of each rank" # one per implementation, and one of both, which counts twice
succeeds "traces of all ranks are valid JSON" valid profile/*/*/all_ranks/*.json
many allreduce --device cpu -b 8 -e 64K -f 2 -c 0 --output allreduce # -c 0: no check of sums, which have only this rank's data
each 28 "the samples of one message size"

timed "$program" report benchmark profile allreduce --output report
each 1 "a report on three runs"
exit "$failed"
