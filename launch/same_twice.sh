#!/usr/bin/env bash
# same_twice.sh - does the comparison find differences that are none? Lists one strategy under two names and counts how
# often they are called different. At a level of 5 % that is about 2 of 40 runs; more than 6 would be a wrong statistic.
set -euo pipefail

usage() {
    cat <<'END'
Usage: launch/same_twice.sh [--runs N] [--strategy NAME], after `make`
  --runs N         runs of the benchmark, about 4 s each (default 40)
  --strategy NAME  what is listed twice (default ddp_bucketed)
Exits with status 1 if they are called different in more than 15 % of the runs.
END
}

say() { echo "same_twice.sh: $*" >&2; }

die() {
    say "$@"
    exit 1
}

runs=40 strategy=ddp_bucketed
while [ $# -gt 0 ]; do
    case $1 in
    --help) usage; exit 0 ;;
    --runs | --strategy)
        [ $# -gt 1 ] || { say "$1 needs a value"; exit 2; }
        case $1 in
        --runs) runs=$2 ;;
        --strategy) strategy=$2 ;;
        esac
        shift 2
        ;;
    *) say "unknown option '$1'; known are --runs, --strategy and --help"; exit 2 ;;
    esac
done
[[ $runs =~ ^[1-9][0-9]*$ ]] || { say "--runs $runs: expected a whole number above 0"; exit 2; }

cd "$(dirname "$0")/.."
[ -x build/ddpbench ] || { say "build/ddpbench is not built; run make first"; exit 1; }
# shellcheck source=launch/mpi.sh
. launch/mpi.sh
find_mpirun
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

different=0
for ((run = 1; run <= runs; run++)); do
    "${mpirun[@]}" -n 2 build/ddpbench --threads 1 --d-model 128 --num-layers 2 --num-heads 4 --d-ff 512 --vocab-size 256 \
        --context-length 64 --batch-size 8 --implementations "a=$strategy,b=$strategy" \
        --rounds 20 --steps-per-block 3 --seed "$run" --output "$scratch/$run" >/dev/null 2>"$scratch/said" ||
        { cat "$scratch/said" >&2; exit 1; }
    ! grep -q '^Slower:$' "$scratch/$run/summary.txt" || different=$((different + 1))
done
echo "$strategy under two names, 2 ranks, 20 rounds x 3 steps: called different in $different of $runs runs" \
    "(5 % level; aim: at most 15 %)."
[ $((different * 100)) -le $((runs * 15)) ]
