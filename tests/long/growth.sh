#!/usr/bin/env bash
# growth.sh - the memory of long runs does not grow: 100,000 steps in long and in short blocks, a model of 10,000 parameter
# tensors, a thousand profile rounds, millions of collectives. Samples the resident memory of each rank four times a
# second: between 60 % and 90 % of a run, no rank may grow by more than 1 MiB. Takes about ten minutes, more where cores
# are shared.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

# steady WORDS OPTION...: checks that memory does not grow in a run with these options.
steady() {
    local words=$1 run process grown
    shift
    rm -rf samples out
    timeout 1200 "${mpirun[@]}" -n "$ranks" "$program" "$@" --device cpu >printed 2>said </dev/null &
    run=$!
    : >samples
    while kill -0 "$run" 2>/dev/null; do
        sleep 0.25
        for process in $(left_over out); do
            [ "$(cat "/proc/$process/comm" 2>/dev/null)" != ddpbench ] ||
                awk -v process="$process" '/^VmRSS:/ { print process, $2 }' "/proc/$process/status" 2>/dev/null >>samples || true
        done
    done
    wait "$run" && status=0 || status=$?
    # The largest growth of a rank in KiB; -1 if a rank is missing or has fewer than eight samples.
    grown=$(awk -v wanted="$ranks" '
        { kib[$1, ++n[$1]] = $2 }
        END {
            most = -1
            for (process in n) {
                ranks++
                by = kib[process, int(0.9 * n[process])] - kib[process, int(0.6 * n[process])]
                if (n[process] < 8) few = 1
                if (by > most) most = by
            }
            print ranks == wanted && !few ? most : -1
        }' samples)
    echo "status $status, grown by $grown KiB; samples: $(wc -l <samples)" >>said
    [ "$status" = 0 ] && [ "$grown" -ge 0 ] && [ "$grown" -le 1024 ] && status=0 || status=1
    result "$status" "$words: memory grows by $grown KiB"
}

ranks=2
small=(--d-model 8 --num-heads 1 --d-ff 8 --context-length 4 --batch-size 2 --vocab-size 8)
steady "100,000 steps in long blocks" "${small[@]}" --num-layers 1 --implementations none,ddp --rounds 500 --steps-per-block 98 \
    --output "$temporary/out"
steady "100,000 steps in short blocks" "${small[@]}" --num-layers 1 --implementations none,ddp_bucketed --rounds 8000 \
    --steps-per-block 4 --output "$temporary/out"
steady "10,000 parameter tensors in buckets" "${small[@]}" --num-layers 1112 --implementations none,ddp_bucketed --rounds 100 \
    --steps-per-block 2 --output "$temporary/out"
# Uses one rank: MPI keeps memory for the most collectives that were in flight at once, which is a random number on more ranks.
ranks=1
steady "10,000 parameter tensors, each reduced by itself" "${small[@]}" --num-layers 1112 --implementations ddp_individual \
    --rounds 100 --steps-per-block 2 --output "$temporary/out"
ranks=2
steady "1,000 rounds of a profile" "${small[@]}" --num-layers 1 --profile --profile-implementation ddp_bucketed --rounds 1000 \
    --steps-per-block 100 --profile-output-dir "$temporary/out"
steady "5 million collectives" allreduce --sizes 8,12,16,20,24 --warmup-iters 1000000 --iters 1000 -c 0 --output "$temporary/out"
exit "$failed"
