#!/usr/bin/env bash
# stragglers.sh - under load from other processes, on one machine and on emulated links: no collective of a profile ends
# on a rank before another rank has posted it, and a delay added to one rank is found with its rank and phase
# (data_loading, forward_pass or backward_pass). Prints a line for each profile, and "ok - " or "not ok - " for each
# phase and place; exits with status 1 if one is not ok. Takes about ten minutes on two cores.
#   --only PLACE  machine: three ranks on this machine; lab: on three nodes of launch/netlab.sh, which needs root
#                 (default: both)
#   --runs N      profiles of each phase and place (default 20)
#   --load N      busy loops that run at the same time (default 8)
#   --ms TIME     the delay of rank 2 in a phase of each step (default 5)
#   --rate RATE   rate of the lab's links (default 400mbit)
set -euo pipefail

only='' runs=20 load=8 ms=5 rate=400mbit
options=("--only only check_choice machine lab" "--runs runs check_integer 1 9999" "--load load check_integer 0 9999"
    "--ms ms check_any" "--rate rate check_rate")
# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"
loops=() lab_is_ours=''
# shellcheck disable=SC2317 # called by the trap
clean() {
    [ "${#loops[@]}" = 0 ] || kill "${loops[@]}" 2>/dev/null || true
    [ -z "$lab_is_ours" ] || "$root/launch/netlab.sh" down >/dev/null 2>&1 || true
    clean_up
}
trap clean EXIT

# profile PLACE PHASE: makes a profile at PLACE (machine or lab) with rank 2 delayed in PHASE; writes it to the directory `out`.
profile() {
    local start=("${mpirun[@]}" -n 3)
    [ "$1" = machine ] || start=("$root/launch/netlab.sh" run --)
    rm -rf out
    OMP_NUM_THREADS=1 "${start[@]}" "$program" --device cpu --d-model 128 --num-layers 2 --num-heads 4 --d-ff 256 \
        --context-length 64 --batch-size 12 --vocab-size 256 --bucket-size-mb 0.25 --rounds 0 --num-epochs 30 --profile \
        --profile-implementation ddp_bucketed --profile-output-dir out \
        --inject-delay "rank=2,ms=$ms,phase=$2" >said 2>&1 </dev/null || die "$(cat said)"
}

# series PLACE PHASE: makes and checks all profiles of a phase at a place.
series() {
    local run finding impossible possible=0 rank=0 phase=0 good
    for ((run = 1; run <= runs; run++)); do
        profile "$1" "$2"
        finding=$(sed -nE '/"name":\t"straggler"/,/\}/s/.*"text":\t"(.*)",?$/\1/p' out/ddp_bucketed/summary.json)
        impossible=$(sed -nE 's/.*"impossible_collectives":[^0-9]*([0-9]+).*/\1/p' "out/ddp_bucketed/summary.json")
        [ "$impossible" != 0 ] || possible=$((possible + 1))
        [[ $finding != *"rank 2 "* ]] || rank=$((rank + 1))
        [[ $finding != *"rank 2 "*"$2"* ]] || phase=$((phase + 1))
        echo "$1, $2, profile $run: $impossible impossible collectives; ${finding:-no straggler}"
    done
    [ "$possible" = "$runs" ] && [ $((20 * phase)) -ge $((19 * runs)) ] && good=0 || good=1
    result "$good" "$1, $ms ms in $2 of rank 2 with $load busy loops: $possible of $runs profiles without impossible collectives \
(aim: all), rank 2 named in $rank, with its phase in $phase (aim: 19 of 20)"
}

for ((i = 0; i < load; i++)); do
    (while :; do :; done) &
    loops+=($!)
done
for place in machine lab; do
    [ -z "$only" ] || [ "$only" = "$place" ] || continue
    if [ "$place" = lab ]; then
        "$root/launch/netlab.sh" up --nodes 3 --rate "$rate" >said 2>&1 || die "$(cat said)"
        lab_is_ours=yes
    fi
    for phase in data_loading forward_pass backward_pass; do
        series "$place" "$phase"
    done
done
exit "$failed"
