#!/usr/bin/env bash
# trend_check.sh - verifies `ddpbench trend` on an emulated link: histories of nights resampled from real runs, in which the
# link is 10 % slower from a night on, or not, and real nights of launch/nightly.sh
#
# Usage: tests/long/trend_check.sh [--seeds N] [--pool N] [--nights N] [--output DIR], as root, after `make`
#   --seeds N     histories with a slower link (default 10); twice as many without a change
#   --pool N      runs over 100 Mbit/s, and over 90 Mbit/s, from which nights of 3 runs are drawn (default 30; about 2 s a run)
#   --nights N    real nights of 8 pairs (default 12; about a minute a night)
#   --output DIR  all of it (default results/<time>-trend-check); the same command continues there
# Prints a line for each history, and a table. Exit status 1: under 9 of 10 slower links are found by night 46, under 8 of 10
# first nights are within one of the true one, over 1 in 20 histories without a change has an alarm, or a night fails.
set -euo pipefail

# shellcheck source=launch/common.sh
. "$(dirname "$(realpath "$0")")/../../launch/common.sh"

seeds=10 pool=30 nights=12 output=''
option_rows=("--seeds seeds check_integer 1 999" "--pool pool check_integer 3 999" "--nights nights check_integer 0 99"
    "--output output check_path")
read_options "$@"
[ -z "$output" ] || output=$(realpath -m -- "$output")
cd "$(dirname "$0")/../.."
need_program build/ddpbench
output=${output:-$PWD/results/$(date +%Y%m%d-%H%M%S)-trend-check}

# shellcheck disable=SC2317 # called by the trap
clean_up() {
    end_child
    lab_down
}
trap clean_up EXIT
trap_signals
claim_directory "$output" .trend '# written by trend_check.sh'
echo '# written by trend_check.sh' >"$output/.trend"

# Runs over both links in turn, so that a drift of the machine is in both pools.
sweep=(allreduce -b 64K -e 1M -f 4 --iters 5)
lab_up 2 --rate 100mbit
for ((i = 1; i <= pool; i++)); do
    for rate in 100 90; do
        [ ! -e "$output/pool/$rate/$i" ] || continue
        wait_child launch/netlab.sh rate ${rate}mbit >&2
        rm -rf "$output/pool/part"
        wait_child launch/netlab.sh run -- build/ddpbench "${sweep[@]}" --output "$output/pool/part" >/dev/null
        mkdir -p "$output/pool/$rate"
        mv -T "$output/pool/part" "$output/pool/$rate/$i"
    done
    [ $((i % 10)) != 0 ] || say "$i of $pool runs over each link"
done

# make_history SEED FIRST: draws 46 nights of 3 runs; nights from FIRST on are drawn from the runs over 90 Mbit/s.
make_history() {
    local line from to time
    rm -rf "$output/history"
    while read -r from to time; do
        mkdir -p "$output/history/$to"
        cp "$output/pool/$from/summary.json" "$output/history/$to"
        sed "s/^\(\t\"time\":\t\"\)[^\"]*/\1$time/" "$output/pool/$from/run.json" >"$output/history/$to/run.json"
    done < <(awk -v seed="$1" -v first="$2" -v pool="$pool" 'BEGIN {
        srand(seed)
        for (t = 1; t <= 46; t++)
            for (i = 1; i <= 3; i++)
                printf "%d/%d night-%02d/candidate-%d/allreduce 2026-%02d-%02dT01:0%d:00+0000\n", t < first ? 100 : 90, \
                    1 + int(pool * rand()), t, i, 1 + int((t - 1) / 28), 1 + (t - 1) % 28, i
    }')
}

# history SEED FIRST: prints what trend finds in a history; sets status and line.
history() {
    status=0
    make_history "$1" "$2"
    line=$(build/ddpbench trend "$output/history" --json - | sed -nE 's/^\t"answer":\t"(.*)",$/\1/p') || status=$?
    echo "seed $1: ${line%%. A change*}"
}

found=0 near=0 false=0
for ((seed = 1; seed <= seeds; seed++)); do
    history $seed 31
    [ $status != 3 ] || found=$((found + 1))
    [[ ! $line =~ since\ night-(30|31|32) ]] || near=$((near + 1))
done
for ((seed = 1; seed <= 2 * seeds; seed++)); do
    history $((1000 + seed)) 99
    [ $status != 3 ] || false=$((false + 1))
done

# Real nights: the same build as control and candidate; 100 Mbit/s.
wait_child launch/netlab.sh rate 100mbit >&2
failed=0 slower=0
for ((night = 1; night <= nights; night++)); do
    status=0
    wait_child launch/nightly.sh --control build/ddpbench --output "$output/nights" --night "night-$(printf %02d $night)" \
        --launcher 'launch/netlab.sh run -n {ranks} --' --command "${sweep[*]}" >"$output/night.txt" 2>"$output/night.log" || status=$?
    grep -h '^night-' "$output/night.txt" || true
    [[ $status = [034] ]] || { cat "$output/night.log" >&2 && failed=$((failed + 1)); }
    [ $status != 3 ] || slower=$((slower + 1))
done
printf '%s\n' '' "histories with a link 10 % slower from night 31 on: an alarm by night 46 in $found of $seeds, first night within one in $near" \
    "histories without a change: an alarm in $false of $((2 * seeds))" \
    "real nights of the same build: $nights, failed $failed, called slower $slower"
[ $((10 * found)) -ge $((9 * seeds)) ] && [ $((10 * near)) -ge $((8 * seeds)) ] && [ "$false" -le $((2 * seeds / 20)) ] && [ $failed = 0 ]
