#!/usr/bin/env bash
# many_ranks.sh - what rank 0 does with what 1,000 ranks send it takes at most 5 s a block, a trace, a size of messages,
# or a report. One process that takes itself for rank 0 of so many (tests/support/preload/many_ranks.c). Takes about a
# minute.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

export MANY_RANKS=${MANY_RANKS:-1000}
limit=600 longest=5

# timed COMMAND...: sets seconds and status.
timed() {
    local begin=$EPOCHREALTIME
    try "$@"
    seconds=$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.3f", b - a }')
}
many() { timed env LD_PRELOAD=many_ranks.so "$program" "$@"; }

# each N WORDS: N of these took the seconds of the last command, or less.
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
each 500 "a block, its lines, the page and the summary"
many "${model[@]}" "${sides[@]}" --profile --profile-implementation ddp,ddp_bucketed --rounds 10 --profile-output-dir profile
each 4 "a trace of all ranks, with a thousand rows of each" # of each implementation, and both in one
succeeds "which is valid" valid profile/*/*/all_ranks/*.json
many allreduce --device cpu -b 8 -e 64K -f 2 -c 0 --output allreduce # one rank adds up what is its own
each 28 "the samples of one size of messages"

timed "$program" report benchmark profile allreduce --output report
each 1 "a report on three runs"
exit "$failed"
