#!/usr/bin/env bash
# isolate_check.sh - verifies `ddpbench isolate` in an emulated network: makes nodes and links slow, as a seed draws them, and
# compares what isolate finds
#
# Usage: tests/long/isolate_check.sh [OPTION...] [-- OPTION OF ISOLATE...], as root, after `make`
#   --nodes LIST   numbers of nodes, at least 4 (default 4,8,16)
#   --kinds LIST   faults (default all): none; uplink and downlink: all that a node sends, or receives, is slow; pair: what it
#                  sends to one neighbour is slow; delay: what it receives arrives late; busy: its process gets only a share
#                  of its core's time (nodes that share a core may disturb each other, so this is fair only with a core for
#                  each node); two: two of uplink, downlink, pair and delay, on two nodes
#   --seeds N      runs for each fault and number of nodes (default 20)
#   --rate RATE    rate of the links (default 100mbit); a slow link, or a busy node, has 50 to 90 % of the others' rate
#   --resolve P    passed to isolate (default 5%)
#   --load N       N processes that keep cores busy meanwhile (default 0)
#   --output DIR   results of all runs (default results/<time>-isolate); the same command continues there
# isolate must find exactly what was made slow: slow round trips of a node that receives late, slow computing of a busy
# node. It may find more about such a node, since all that it does is slow. Prints a table, also when interrupted.
# Exit status 1: for some fault and number of nodes fewer than 95 % of the runs found what was planted, or more than 5 % found
# something else.
set -euo pipefail

here=$(realpath "$(dirname "$(realpath "$0")")/../../launch")
settings=settings.txt
# shellcheck source=launch/series.sh
. "$here/series.sh"

all_kinds=(none uplink downlink pair delay busy two)
nodes=4,8,16 kinds=$(IFS=,; echo "${all_kinds[*]}") seeds=20 rate=100mbit resolve=5% load=0 output=
check_kinds() { check_list "$1" "$2" "$(IFS='|'; echo "${all_kinds[*]}")" "${all_kinds[*]}"; }
check_nodes() { check_list "$1" "$2" '[4-9]|[1-5][0-9]|6[0-4]' "numbers from 4 to 64, separated by commas"; }
option_rows=("--nodes nodes check_nodes" "--kinds kinds check_kinds" "--seeds seeds check_integer 1 9999" "--rate rate check_rate"
    "--resolve resolve check_line" "--load load check_integer 0 999" "--output output check_path")
takes_dashes=1
read_options "$@"
[ -z "$output" ] || output=$(realpath -m -- "$output") # resolved before the script changes directory
cd "$here/.."
[ -x build/ddpbench ] || die "build/ddpbench is not built; run make first"
output=${output:-results/$(date +%Y%m%d-%H%M%S)-isolate}
describe() { printf '%s\t%s\n' --program build/ddpbench --rate "$rate" --resolve "$resolve" --load "$load" -- "$(quote_words "${after_dashes[@]}")"; }

# ---- faults ----
# draw LEAST MOST: sets `drawn` to a whole number, from the seed.
draw() { drawn=$(($1 + RANDOM % ($2 - $1 + 1))); }

# plant KIND NODE [AVOID]: makes a node or its links slow, and adds "FAULT:NODE[:OTHER]" to `planted`. A pair never
# includes the node AVOID.
plant() {
    local k=$2 other share
    draw 50 90
    share=$drawn
    slow=$(awk -v b="$(rate_bits "$rate")" -v share="$share" 'BEGIN { printf "%.2fmbit", b * share / 1e8 }')
    case $1 in
    uplink) fault --node "$k" --direction send --rate "$slow"; planted+=("sends:$k") ;;
    downlink) fault --node "$k" --direction receive --rate "$slow"; planted+=("receives:$k") ;;
    pair)
        other=$((k % n + 1))
        [ $other != "${3:-}" ] || other=$(((k + n - 2) % n + 1))
        fault --node "$k" --to $other --rate "$slow"; planted+=("pair:$k:$other")
        ;;
    delay)
        draw 1 4
        fault --node "$k" --delay "${drawn}ms"; planted+=("round_trip:$k")
        ;;
    busy) busy=("$k" "$share"); planted+=("computes:$k") ;;
    two)
        local two=(uplink downlink pair delay) first
        draw 0 3
        first=$drawn
        draw 1 $((n - 1))
        other=$(((k + drawn - 1) % n + 1))
        draw 1 3
        plant "${two[first]}" "$k" $other
        plant "${two[(first + drawn) % 4]}" $other "$k"
        ;;
    esac
}

fault() { wait_child launch/netlab.sh fault "$@" >"$said" 2>&1 || { cat "$said" >&2; exit 1; }; }

# Runs on each node: stops the program's process for all but SHARE % of the time if this is the node K, and then runs the program.
# shellcheck disable=SC2016 # expanded by the shell on the node
on_node='
    if [ "$(hostname)" = "ddpb-n$1" ]; then
        perl -e '\''
            my ($rank, $share, $cycle) = (@ARGV, 0.001);
            $SIG{TERM} = sub { kill "CONT", $rank; exit };
            while (getppid() == $rank) {
                kill "STOP", $rank; select(undef, undef, undef, $cycle * (1 - $share / 100));
                kill "CONT", $rank; select(undef, undef, undef, $cycle * $share / 100);
            }'\'' $$ "$2" >/dev/null 2>&1 &
    fi
    shift 2
    exec "$@"'

# start_loads, end_loads: the processes of --load.
loads=()
start_loads() {
    while [ ${#loads[@]} -lt "$load" ]; do
        sh -c 'while :; do :; done' 9<&- &
        loads+=($!)
    done
}
end_loads() {
    [ ${#loads[@]} = 0 ] || kill "${loads[@]}" 2>/dev/null || true
    loads=()
}

# ---- runs ----
# found_in SUMMARY: prints the rows of the table of faults in a summary.json as "FAULT:NODE[:OTHER]", one per line.
found_in() {
    awk -F '"' '
        $2 == "fault" { kind = $4 }
        $2 == "member" { member = $4 }
        $2 == "other" { print kind ":" member ($4 == "" ? "" : ":" $4) }' "$1" | sed 's/:host ddpb-n/:/g' | LC_ALL=C sort
}

# run_isolate DIRECTORY NODE SHARE: runs isolate, and sets `status` to its exit status and `took` to its duration in microseconds.
# A run that fails is repeated once, because MPI may hang with many ranks on few cores.
run_isolate() {
    local begin try
    for try in 1 2; do
        check_run "$1" rank_0_metrics.jsonl
        rm -rf "$1"
        begin=${EPOCHREALTIME/./} status=0
        wait_child launch/netlab.sh run -- sh -c "$on_node" sh "$2" "$3" build/ddpbench isolate --resolve "$resolve" --output "$1" \
            "${after_dashes[@]}" >"$said" 2>&1 || status=$?
        took=$((${EPOCHREALTIME/./} - begin))
        [[ $status != @(0|3|4) ]] || return 0
        write_file "$1.failed.txt" cat "$said"
        say "$1: isolate ended with status $status, try $try of 2: $(tail -n 1 "$1.failed.txt") (all of it: $1.failed.txt)"
    done
    exit 1
}

# check KIND SEED: plants a fault, runs isolate, removes the fault, and adds a row to runs.csv.
check() {
    local busy=(0 0) planted=() expected found missed extra late took status slow drawn directory=$output/$n/$1-$2
    RANDOM=$(($2 * 64 + n))
    draw 0 0 # the first number depends little on the seed
    draw 1 "$n"
    [ "$1" = none ] || plant "$1" "$drawn"
    mkdir -p "$output/$n"
    start_loads
    run_isolate "$directory" "${busy[@]}"
    end_loads
    cp "$said" "$directory/log.txt"
    [[ $1 == @(none|busy) ]] || wait_child launch/netlab.sh heal >/dev/null
    found=$(found_in "$directory/summary.json")
    expected=$(printf '%s\n' "${planted[@]}" | LC_ALL=C sort)
    missed=$(LC_ALL=C comm -23 <(echo "$expected") <(echo "$found") | grep -c . || true)
    late=$(sed -nE 's/^(round_trip|computes):/[a-z_]*:/p' <<<"$expected")
    extra=$(LC_ALL=C comm -13 <(echo "$expected") <(echo "$found") | sed '/^$/d' | grep -vxcf <(echo "$late") || true)
    printf '%s,%s,%s,%s,%s,%s,%s,%s,%s,%s\n' "$n" "$1" "$2" "${expected//$'\n'/ }" "${found//$'\n'/ }" "$missed" \
        "$extra" "$status" "$(awk -v us="$took" 'BEGIN { printf "%.2f", us / 1e6 }')" \
        "$(sed -nE 's/^\t"done":\t([0-9]+),?$/\1/p' "$directory/summary.json")" >>"$output/runs.csv"
}

# print_table: prints a row for each fault and number of nodes, from runs.csv; fails if a row misses its aim.
print_table() {
    sed 1d "$output/runs.csv" | sort -t, -k1,1n -k2,2 -k9,9n | awk -F, '
        function row() {
            if (!runs) return
            middle = (seconds[int((runs + 1) / 2)] + seconds[int(runs / 2) + 1]) / 2
            printf "%5s %-9s %5d %7d %7d %7d %10d %10.1f %7.1f\n", nodes, kind, runs, right, missed, false_alarms, undecided, middle, \
                rounds / runs
            if (right < 0.95 * runs || false_alarms > 0.05 * runs) bad = 1
            runs = right = missed = false_alarms = undecided = rounds = 0
        }
        BEGIN { print "nodes fault      runs found =  missed   false  undecided  seconds a  rounds\n" \
                      "                      planted          alarms              run               " }
        $1 != nodes || $2 != kind { row(); nodes = $1; kind = $2 }
        {
            seconds[++runs] = $9
            rounds += $10
            missed += $6 > 0
            false_alarms += $7 > 0
            right += $6 == 0 && $7 == 0
            undecided += $8 == 4
        }
        END { row(); exit bad }'
}

# shellcheck disable=SC2317 # called by the trap
clean_up() {
    end_child
    end_loads
    printf '%s' "$clear_line" >&2
    [ -z "$measuring" ] || print_table >&3 || true
    rm -f "$said"
    lab_down
}
measuring='' next_words=0 said=$(mktemp)
exec 3>&1 # a signal may arrive while stdout is redirected
trap clean_up EXIT
trap_signals
open_series "$output"
check_replaceable "$output/runs.csv" nodes,kind,seed,
[ -e "$output/runs.csv" ] || echo nodes,kind,seed,planted,found,missed,false_alarms,status,seconds,rounds >"$output/runs.csv"
IFS=, read -ra of_nodes <<<"$nodes"
IFS=, read -ra of_kinds <<<"$kinds"
total=$((${#of_nodes[@]} * ${#of_kinds[@]} * seeds)) run=0 made=0
for n in "${of_nodes[@]}"; do
    lab_up "$n" --rate "$rate"
    measuring=yes
    for ((seed = 1; seed <= seeds; seed++)); do
        for kind in "${of_kinds[@]}"; do
            run=$((run + 1))
            ! grep -q "^$n,$kind,$seed," "$output/runs.csv" || continue
            [ $made != 0 ] || begin=$SECONDS
            show_progress $run $total "$([ $made = 0 ] || echo $(((SECONDS - begin) * (total - run + 1) / made)))" "$n nodes, $kind, seed $seed"
            check "$kind" "$seed"
            made=$((made + 1))
        done
    done
done
measuring=''
print_table
