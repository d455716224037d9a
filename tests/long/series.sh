#!/usr/bin/env bash
# series.sh - on an idle machine: `compare` of two series of runs made in turn is seldom regressed if nothing changed,
# even if busy loops run only during the candidates, and finds a delay of 5 % of a step. Prints a line for each
# comparison, and at the end "ok - " or "not ok - " for each kind; exits with status 1 if one is not ok. Takes about 40
# minutes. `make tests` builds the program that this script runs.
#   --only KIND  quiet: nothing changed; busy: 4 busy loops during each candidate; slower: the delay (default: all)
#   --pairs N    comparisons of the kind slower; each other kind has half this number (default 20)
#   --runs N     runs of a series (default 15)
#   --percent P  the delay in percent of a step (default 5)
set -euo pipefail

only='' pairs=20 runs=15 percent=5
options=("--only only check_choice quiet busy slower" "--pairs pairs check_integer 2 9999" "--runs runs check_integer 5 9999"
    "--percent percent check_any")
# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

# measure DIRECTORY OPTION...
measure() {
    local directory=$1
    shift
    "${mpirun[@]}" -n 2 "$program" --device cpu --threads 1 --num-layers 2 --d-model 128 --implementations ddp_flat --rounds 24 \
        --output "$directory" "$@" >said 2>&1 </dev/null || die "$(cat said)"
}

# candidate KIND DIRECTORY: makes a candidate run of a kind.
candidate() {
    local loops=()
    case $1 in
    slower) measure "$2" --inject-delay "rank=0,ms=$delay,phase=forward_pass" ;;
    quiet) measure "$2" ;;
    busy)
        while [ ${#loops[@]} -lt 4 ]; do
            sh -c 'while :; do :; done' "$temporary" & # clean_up finds the loop by this argument if the script fails
            loops+=($!)
        done
        measure "$2"
        kill "${loops[@]}"
        wait "${loops[@]}" 2>/dev/null || true
        ;;
    esac
}

# series KIND N: makes N pairs of series and compares them; counts the verdicts in regressed, undecided (ambiguous or unseen) and other.
series() {
    local pair run status
    regressed=0 undecided=0 other=0
    for ((pair = 1; pair <= $2; pair++)); do
        for ((run = 1; run <= runs; run++)); do
            measure "$1-$pair/base/$run"
            candidate "$1" "$1-$pair/candidate/$run"
        done
        status=0
        "$program" compare "$1-$pair"/base/* --candidate "$1-$pair"/candidate/* --tolerance 1 --allow inject-delay >printed 2>&1 || status=$?
        case $status in
        3) regressed=$((regressed + 1)) ;;
        4) undecided=$((undecided + 1)) ;;
        0) other=$((other + 1)) ;;
        *) die "$(cat printed)" ;;
        esac
        echo "$1 $pair: $(sed -nE 's/^ddp_flat step +//p; s/^Warning: (other processes .*): measure .*/(\1)/p' printed | tr '\n' ' ')"
    done
}

measure warm-up
delay=$(awk -F, -v percent="$percent" '$2 == "ddp_flat" && $3 == "step" { printf "%.4f", 1e3 * $6 * percent / 100 }' warm-up/summary.csv)
wrong=0 unchanged=0
for kind in quiet busy; do
    [ -z "$only" ] || [ "$only" = "$kind" ] || continue
    series "$kind" $((pairs / 2))
    wrong=$((wrong + regressed)) unchanged=$((unchanged + pairs / 2))
done
if [ "$unchanged" != 0 ]; then
    [ $((20 * wrong)) -le "$unchanged" ] && good=0 || good=1
    result "$good" "$wrong of $unchanged comparisons are regressed if nothing changed (aim: at most 1 of 20)"
fi
if [ "${only:-slower}" = slower ]; then
    series slower "$pairs"
    [ $((10 * regressed)) -ge $((9 * pairs)) ] && [ "$other" = 0 ] && good=0 || good=1
    result "$good" "a delay of $percent % is regressed in $regressed of $pairs comparisons and undecided in $undecided (aim: 18 of 20, and the rest undecided)"
fi
exit "$failed"
