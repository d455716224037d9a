#!/usr/bin/env bash
# same_twice.sh - measures the false positive rate of the comparison, by listing one strategy under two names
#
# Usage: tests/long/same_twice.sh [--runs N] [--strategy NAME], after `make`
#   --runs N         runs of the benchmark, about 4 s each (default 40)
#   --strategy NAME  the strategy that is listed twice (default ddp_bucketed)
# Exit status 1: the two names were called different in more than 15 % of the runs; the test's level of 5 % predicts 2 of 40.
set -euo pipefail

# shellcheck source=launch/common.sh
. "$(dirname "$(realpath "$0")")/../../launch/common.sh"

runs=40 strategy=ddp_bucketed
check_strategy() { [[ $2 =~ ^[a-z0-9_]{1,40}$ ]] || usage_error "$1 '$2': expected the name of a strategy, such as ddp_bucketed"; }
option_rows=("--runs runs check_integer 1 9999" "--strategy strategy check_strategy")
read_options "$@"
cd "$(dirname "$0")/../.."
[ -x build/ddpbench ] || die "build/ddpbench is not built; run make first"
program=build/ddpbench
why=$(dry_run_error 2 cpu '' --implementations "a=$strategy,b=$strategy")
[ -z "$why" ] || usage_error "--strategy $strategy: $why"
find_mpirun
scratch=$(mktemp -d)
trap 'end_child; rm -rf "$scratch"' EXIT
trap_signals

different=0
for ((run = 1; run <= runs; run++)); do
    wait_child "${mpirun[@]}" -n 2 build/ddpbench --threads 1 --d-model 128 --num-layers 2 --num-heads 4 --d-ff 512 --vocab-size 256 \
        --context-length 64 --batch-size 8 --implementations "a=$strategy,b=$strategy" \
        --rounds 20 --steps-per-block 3 --seed "$run" --output "$scratch/$run" >/dev/null 2>"$scratch/said" ||
        { cat "$scratch/said" >&2; exit 1; }
    ! grep -q '^Slower: ' "$scratch/$run/summary.txt" || different=$((different + 1))
done
echo "$strategy under two names, 2 ranks, 20 rounds x 3 steps: called different in $different of $runs runs" \
    "(5 % level; aim: at most 15 %)."
[ $((different * 100)) -le $((runs * 15)) ]
