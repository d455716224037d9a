#!/usr/bin/env bash
# stragglers.sh - beside a load of other processes, on one machine and in the network lab: no collective of a profile ends
# on one rank before another has posted it, and a delay that was put into one rank is found with its rank and phase.
set -euo pipefail

usage() {
    cat <<'END'
Usage: [MPIRUN=mpirun] tests/long/stragglers.sh [--help] [--only machine|lab] [--runs N] [--load N] [--ms TIME]
       [--rate RATE] BUILD_DIR
  --only PLACE  machine: three ranks on this machine; lab: on three nodes of launch/netlab.sh, which needs root
                (default: both)
  --runs N      profiles of each phase and place (default 20)
  --load N      busy loops beside them (default 8)
  --ms TIME     the delay of rank 2 in a phase of each step (default 5)
  --rate RATE   of the lab's links (default 400mbit)
The phases are data_loading, forward_pass and backward_pass. Prints a line for each profile, and for each phase and place
"ok - " or "not ok - "; exits with status 1 if one is not. Takes about ten minutes on two cores.
END
}

# shellcheck source=launch/common.sh
. "$(dirname "$(realpath "$0")")/../../launch/common.sh"

build='' only='' runs=20 load=8 ms=5 rate=400mbit
while [ $# -gt 0 ]; do
    case $1 in
    --help) usage; exit 0 ;;
    --only)
        [[ ${2:-} == @(machine|lab) ]] || usage_error "--only ${2:-}: expected machine or lab"
        only=$2
        shift 2
        ;;
    --runs | --load | --ms)
        [[ ${2:-} =~ ^[0-9]+$ ]] || usage_error "$1 ${2:-}: expected a whole number"
        declare "${1#--}=$2"
        shift 2
        ;;
    --rate) [ $# -gt 1 ] || usage_error "$1 needs a value"; rate=$2 && shift 2 ;;
    -*) usage_error "unknown option '$1'; known are --only, --runs, --load, --ms, --rate and --help" ;;
    *) build=$1 && shift ;;
    esac
done
[ -n "$build" ] || { usage >&2; exit 2; }
program=$(realpath -e "$build/ddpbench") || usage_error "there is no $build/ddpbench; run make first"
root=$(realpath -e "$(dirname "$0")/../..")
# shellcheck source=launch/mpi.sh
. "$root/launch/mpi.sh"
find_mpirun
scratch=$(mktemp -d)
loops=() lab_is_ours=''
# shellcheck disable=SC2317 # called by the trap
clean() {
    [ "${#loops[@]}" = 0 ] || kill "${loops[@]}" 2>/dev/null || true
    [ -z "$lab_is_ours" ] || "$root/launch/netlab.sh" down >/dev/null 2>&1 || true
    rm -rf "$scratch"
}
trap clean EXIT
failed=0

# profile PLACE PHASE: one with the delay, in $scratch/out.
profile() {
    local start=("${mpirun[@]}" -n 3)
    [ "$1" = machine ] || start=("$root/launch/netlab.sh" run --)
    rm -rf "$scratch/out"
    OMP_NUM_THREADS=1 "${start[@]}" "$program" --device cpu --d-model 128 --num-layers 2 --num-heads 4 --d-ff 256 \
        --context-length 64 --batch-size 12 --vocab-size 256 --bucket-size-mb 0.25 --rounds 0 --num-epochs 30 --profile \
        --profile-implementation ddp_bucketed --profile-output-dir "$scratch/out" \
        --inject-delay "rank=2,ms=$ms,phase=$2" >"$scratch/said" 2>&1 </dev/null || { cat "$scratch/said" >&2; exit 1; }
}

# series PLACE PHASE
series() {
    local run finding impossible possible=0 rank=0 phase=0
    for ((run = 1; run <= runs; run++)); do
        profile "$1" "$2"
        finding=$(sed -n 's/^straggler (.*): \(rank .*\)/\1/p' "$scratch/out/ddp_bucketed_summary.txt")
        impossible=$(sed -nE 's/.*"impossible_collectives":[^0-9]*([0-9]+).*/\1/p' "$scratch/out/ddp_bucketed/summary.json")
        [ "$impossible" != 0 ] || possible=$((possible + 1))
        [[ $finding != *"rank 2 "* ]] || rank=$((rank + 1))
        [[ $finding != *"rank 2 "*"$2"* ]] || phase=$((phase + 1))
        echo "$1, $2, profile $run: $impossible impossible collectives; ${finding:-no straggler}"
    done
    if [ "$possible" = "$runs" ] && [ $((20 * phase)) -ge $((19 * runs)) ]; then
        echo -n "ok - "
    else
        echo -n "not ok - "
        failed=1
    fi
    echo "$1, $ms ms in $2 of rank 2 beside $load busy loops: $possible of $runs profiles without impossible collectives" \
        "(aim: all), rank 2 named in $rank, with its phase in $phase (aim: 19 of 20)"
}

for ((i = 0; i < load; i++)); do
    (while :; do :; done) &
    loops+=($!)
done
for place in machine lab; do
    [ -z "$only" ] || [ "$only" = "$place" ] || continue
    if [ "$place" = lab ]; then
        "$root/launch/netlab.sh" up --nodes 3 --rate "$rate" >"$scratch/said" 2>&1 || { cat "$scratch/said" >&2; exit 1; }
        lab_is_ours=yes
    fi
    for phase in data_loading forward_pass backward_pass; do
        series "$place" "$phase"
    done
done
exit "$failed"
