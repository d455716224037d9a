#!/usr/bin/env bash
# gate.sh - verifies `ddpbench compare` on an emulated link: sets of runs over equal links are ok, and sets over a link
# with a lower rate or a longer latency are regressed
#
# Usage: tests/long/gate.sh [--tries N] [--runs N] [--output DIR], as root, after `make`
#   --tries N     comparisons of equal sets over 100 Mbit/s (default 20); makes N + 1 sets of runs, about 6 s a run
#   --runs N      runs of a set (default 5; at least 3, since fewer are never called regressed)
#   --output DIR  results of all runs (default results/<time>-gate); the same command continues there
# Exit status 1: of 20 comparisons of equal sets under 16 are ok or over 3 regressed, or a slower set is not regressed.
set -euo pipefail

# shellcheck source=launch/common.sh
. "$(dirname "$(realpath "$0")")/../../launch/common.sh"

tries=20 runs=5 output=
option_rows=("--tries tries check_integer 1 9999" "--runs runs check_integer 3 9999" "--output output check_path")
read_options "$@"
[ -z "$output" ] || output=$(realpath -m -- "$output") # resolved before the script changes directory
cd "$(dirname "$0")/../.."
[ -x build/ddpbench ] || die "build/ddpbench is not built; run make first"
output=${output:-results/$(date +%Y%m%d-%H%M%S)-gate}

mark='# written by gate.sh' is_taken='' said=$(mktemp)
# shellcheck disable=SC2317 # called by the trap
clean_up() {
    end_child
    rm -f "$said"
    [ -z "$is_taken" ] || rm -rf "$output/.gate-part"
    lab_down
}
trap clean_up EXIT
trap_signals
claim_directory "$output" .gate "$mark"
for file in "$output"/{near-far,same-*}.txt; do check_replaceable "$file" "$mark"; done

# measure SET RUN: makes a run of a set over the current link, unless an earlier call completed it.
measure() {
    [ ! -e "$output/$1/$2" ] || return 0
    rm -rf "$output/.gate-part"
    wait_child launch/netlab.sh run -- build/ddpbench allreduce --sizes 8,64,512,4K,32K,256K,1M --output "$output/.gate-part" \
        >/dev/null 2>"$said" || { cat "$said" >&2; exit 1; }
    mkdir -p "$output/$1"
    mv -T "$output/.gate-part" "$output/$1/$2"
    say "$1: run $2 of $runs"
}

# judge BASELINE CANDIDATE: compares two sets of runs, saves the output of compare, and puts the result in `verdict`.
judge() {
    verdict=0
    rm -f "$output/$1-$2.txt"
    echo "$mark" >"$output/$1-$2.txt"
    wait_child build/ddpbench compare "$output/$1"/* --candidate "$output/$2"/* >>"$output/$1-$2.txt" 2>&1 || verdict=$?
    case $verdict in
    0) verdict=ok ;;
    3) verdict=regressed ;;
    4) verdict=undecided ;; # ambiguous or unseen
    *) cat "$output/$1-$2.txt" >&2; exit 1 ;;
    esac
    say "$1 against $2: $verdict"
}

# All sets are measured in turn: the first run of each, then the second, and so on. Links with latency come first, so that
# the script fails at once on machines that cannot delay packets; a longer delay increases the median time of 8 bytes.
for ((run = 1; run <= runs; run++)); do
    lab_up 2 --rate 100mbit --delay 200us
    [ -n "$is_taken" ] || { echo "$mark" >"$output/.gate" && is_taken=yes; }
    measure near "$run"
    lab_up 2 --rate 100mbit --delay 310us
    measure far "$run"
done
lab_up 2 --rate 100mbit
for ((run = 1; run <= runs; run++)); do
    for ((set = 0; set <= tries; set++)); do
        measure "same-$set" "$run"
    done
    wait_child launch/netlab.sh rate 90mbit >&2
    measure slower "$run"
    wait_child launch/netlab.sh rate 100mbit >&2
done

judge near far
latency_verdict=$verdict
[ "$latency_verdict" = regressed ] && failed=0 || failed=1
latency() {
    awk -F, '$2 ~ / in_place$/ && $3 == "time" && $4 == 8 { print 1e6 * $6 }' "$output/$1"/*/summary.csv | sort -n |
        awk '{ x[NR] = $1 } END { printf "%.0f", x[int((NR + 1) / 2)] }'
}

ok=0 regressed=0
for ((set = 1; set <= tries; set++)); do
    judge "same-$((set - 1))" "same-$set"
    case $verdict in ok) ok=$((ok + 1)) ;; regressed) regressed=$((regressed + 1)) ;; esac
done
[ $((ok * 20)) -ge $((16 * tries)) ] || failed=1
[ $((regressed * 20)) -le $((3 * tries)) ] || failed=1

slower=0
for ((set = 0; set <= tries; set++)); do
    judge "same-$set" slower
    [ "$verdict" != regressed ] || slower=$((slower + 1))
done
[ "$slower" = $((tries + 1)) ] || failed=1

echo "100 against 100 Mbit/s: ok in $ok of $tries comparisons of $runs + $runs runs, regressed in $regressed" \
    "(aim: ok in at least 16 of 20, regressed in at most 3)."
echo "100 against 90 Mbit/s: regressed in $slower of $((tries + 1)) (aim: all)."
echo "8 bytes in $(latency near) against $(latency far) us: $latency_verdict (aim: regressed)."
[ "$failed" = 0 ]
