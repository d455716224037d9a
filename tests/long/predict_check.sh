#!/usr/bin/env bash
# predict_check.sh - verifies `ddpbench predict` in an emulated network: measures steps and all-reduces on several links, predicts
# each step from an earlier run, and compares
#
# Usage: tests/long/predict_check.sh [OPTION...] [-- OPTION OF THE BENCHMARK...], as root, after `make`
#   --links LIST    links, as RATE or RATE/DELAY (default 50mbit,100mbit,200mbit,100mbit/1ms)
#   --ranks LIST    numbers of ranks (default 2; 2,3,4 with 4 cores or more)
#   --sizes LIST    bucket sizes in MiB (default 0.1,0.25,0.5,1,2)
#   --learn ROW     the implementation from which each prediction learns, beside none (default ddp_bucketed:0.5)
#   --rounds N      rounds of each run (default 12)
#   --output DIR    results of all runs (default results/<time>-predict); the same command continues there
# Measures on each link and number of ranks: all-reduces, reduce-scatters, all-gathers, a run of `none` and ROW, and then, in a
# second run, steps of a small model with each strategy and bucket size. Predicts each of these steps with the sweeps of its link.
# A prediction uses `none` and ROW from one of these runs:
#   same link    the first run on this link; ROW itself is not predicted
#   other link   the run on another link
#   more ranks   the run on the first number of ranks, with the sweeps of that number
# Predicts each step once more with --calibrate and the run that has the step. Only `none` of that run is then known.
# Prints a table: errors of predictions, of attainable steps (perfect overlap) and of sums (no overlap); coverage of the
# 90 % intervals, the number of pairs of runs, and the least coverage of a pair, whose errors have a part in common; and
# the regret: how much longer the step predicted to be the shortest takes than the step measured as the shortest.
# Exit status 1: an error is above 4 % (same link), 6 % (other link) or 8 % (more ranks), or with --calibrate not below that of attainable
# steps, the coverage of all is not from 80 to 97 %, or the mean regret is above 2 %.
set -euo pipefail

here=$(realpath "$(dirname "$(realpath "$0")")/../../launch")
settings=settings.txt
# shellcheck source=launch/series.sh
. "$here/series.sh"

links=50mbit,100mbit,200mbit,100mbit/1ms sizes=0.1,0.25,0.5,1,2 learn=ddp_bucketed:0.5 rounds=12 output=
ranks=$([ "$(count_cpus)" -lt 4 ] && echo 2 || echo 2,3,4)
check_links() { check_list "$1" "$2" '[0-9.]+[mg]bit(/[0-9]+[mu]s)?' "links such as 100mbit or 100mbit/1ms, separated by commas"; }
check_sizes() { check_list "$1" "$2" '[0-9]+(\.[0-9]+)?' "sizes in MiB such as 25 or 0.5, separated by commas"; }
check_ranks() { check_list "$1" "$2" '[2-9]|[1-5][0-9]|6[0-4]' "numbers from 2 to 64, separated by commas"; }
option_rows=("--links links check_links" "--ranks ranks check_ranks" "--sizes sizes check_sizes" "--learn learn check_line"
    "--rounds rounds check_integer 6 9999" "--output output check_path")
takes_dashes=1
read_options "$@"
[ -z "$output" ] || output=$(realpath -m -- "$output") # resolved before the script changes directory
cd "$here/.."
[[ $learn != *:* || ,$sizes, == *,${learn#*:},* ]] || usage_error "--learn '$learn': ${learn#*:} is not among --sizes $sizes"
[ -x build/ddpbench ] || die "build/ddpbench is not built; run make first"
output=${output:-$PWD/results/$(date +%Y%m%d-%H%M%S)-predict}
describe() { printf '%s\t%s\n' --program build/ddpbench --sizes "$sizes" --rounds "$rounds" -- "$(quote_words "${after_dashes[@]}")"; }

small=(--threads 1 --data build/corpus.txt --d-model 128 --num-layers 4 --num-heads 4 --d-ff 512 --context-length 128
    --batch-size-per-rank 32 --steps-per-block 3)
strategies=ddp,ddp_flat,ddp_individual,ddp_bucketed,ddp_sharded

# measure NAME COMMAND...: runs ddpbench in the lab, unless $place/NAME holds its results; retries once, since MPI may hang on few cores.
measure() {
    local name=$1 try of
    shift
    [ ! -e "$place/$name/summary.json" ] || return 0
    for try in 1 2; do
        for of in part "$name"; do check_run "$place/$of" rank_0_metrics.jsonl; done
        rm -rf "${place:?}/part" "${place:?}/$name"
        ! wait_child launch/netlab.sh run -n "$n" -- build/ddpbench "$@" --timeout 60 --output "$place/part" >"$said" 2>&1 || {
            mv -T "$place/part" "$place/$name"
            return 0
        }
        say "$place/$name: failed, try $try of 2: $(tail -n 1 "$said")"
    done
    exit 1
}

# measure_link LINK RANKS: measures on one link.
measure_link() {
    local kind place=$output/${1//\//-}/$2 n=$2 delay=()
    [ ! -e "$place/run/summary.json" ] || return 0
    mkdir -p "$place"
    [[ $1 != */* ]] || delay=(--delay "${1#*/}")
    lab_up "$2" --rate "${1%/*}" "${delay[@]}"
    for kind in all_reduce reduce_scatter all_gather; do measure $kind allreduce --collective $kind --blocking yield -b 512 -e 8M -f 2; done
    measure learn "${small[@]}" --rounds "$rounds" --attainable --implementations "none,$learn" "${after_dashes[@]}"
    measure run "${small[@]}" --rounds "$rounds" --implementations "none,$strategies" --bucket-size-mb "$sizes" "${after_dashes[@]}"
}

# predict KIND FROM LINK TARGET RANKS: predicts the steps of the run in TARGET, and appends rows to predictions.csv.
predict() {
    local link=$3 calibrate
    for calibrate in '' "$4/run"; do
        build/ddpbench predict "$2/learn" --link "$link/all_reduce,$link/reduce_scatter,$link/all_gather" --ranks "$5" \
            --implementations $strategies --bucket-size-mb "$sizes" ${calibrate:+--calibrate "$calibrate"} --csv - | awk -F, -v OFS=, \
            -v kind="$1${calibrate:+ calibrated}" -v from="${2#"$output/"}" -v to="${4#"$output/"}" -v learn="$learn" '
            FNR == NR { if ($3 == "step") measured[$2] = $6; next }
            FNR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
            $1 in measured && !(kind ~ /^same link/ && $1 == learn) {
                print kind, from, to, $1, $2, measured[$1], $column["step"], $column["interval_low"], $column["interval_high"], $column["attainable"], $column["sum"]
            }' "$4/run/summary.csv" - >>"$output/predictions.csv"
    done
}

# print_table: prints a row for each kind of prediction, from predictions.csv; fails if a row misses its aim.
print_table() {
    awk -F, '
        function error(name) { return (e = $column[name] / measured - 1) < 0 ? -e : e }
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        {
            kind = $1
            target = $1 SUBSEP $2 SUBSEP $3
            measured = $column["measured"]
            n[kind]++
            of_step[kind] += error("predicted")
            attainable[kind] += error("attainable")
            sum[kind] += error("sum")
            pair_n[target]++
            pair_covered[target] += measured >= $column["low"] && measured <= $column["high"]
            if (!(target in best) || measured < best[target]) best[target] = measured
            if (!(target in least) || $column["predicted"] < least[target]) { least[target] = $column["predicted"]; chosen[target] = measured }
        }
        END {
            limit["same link"] = 4; limit["other link"] = 6; limit["more ranks"] = 8
            for (target in best) {
                split(target, part, SUBSEP)
                kind = part[1]
                regret[kind] += chosen[target] / best[target] - 1
                share = 100 * pair_covered[target] / pair_n[target]
                covered[kind] += pair_covered[target]
                if (!targets[kind]++ || share < fewest[kind]) fewest[kind] = share
            }
            for (kind in n) { all += n[kind]; hits += covered[kind] }
            print "predictions                 n   error  attainable     sum  covered  pairs  least  regret\n" \
                  "                                    %           %       %        %             %       %"
            split("same link,other link,more ranks,same link calibrated,other link calibrated,more ranks calibrated", order, ",")
            for (i = 1; i in order; i++) {
                kind = order[i]
                if (!n[kind]) continue
                e = 100 * of_step[kind] / n[kind]; c = 100 * covered[kind] / n[kind]; r = 100 * regret[kind] / targets[kind]
                printf "%-21s %7d %7.2f %11.2f %7.2f %8.1f %6d %6.1f %7.2f\n", kind, n[kind], e, 100 * attainable[kind] / n[kind],
                    100 * sum[kind] / n[kind], c, targets[kind], fewest[kind], r
                plain = kind
                is_calibrated = sub(/ calibrated$/, "", plain)
                if (e > limit[plain] || r > 2 || (is_calibrated && of_step[kind] >= attainable[kind])) bad = 1
            }
            printf "all %25d %36.1f\n", all, 100 * hits / all
            if (hits < 0.8 * all || hits > 0.97 * all) bad = 1
            exit bad
        }' "$output/predictions.csv"
}

# shellcheck disable=SC2317 # called by the trap
clean_up() {
    end_child
    printf '%s' "$clear_line" >&2
    lab_down
    rm -f "$said"
}
next_words=0 said=$(mktemp)
trap clean_up EXIT
trap_signals
open_series "$output"
check_replaceable "$output/predictions.csv" predictions,from,to,
launch/corpus.sh build/corpus.txt >&2
IFS=, read -ra of_links <<<"$links"
IFS=, read -ra of_ranks <<<"$ranks"
total=$((${#of_links[@]} * ${#of_ranks[@]})) run=0 begin=$SECONDS
for link in "${of_links[@]}"; do
    for n in "${of_ranks[@]}"; do
        run=$((run + 1))
        show_progress $run $total "$([ $run = 1 ] || echo $(((SECONDS - begin) * (total - run + 1) / (run - 1))))" "$link, $n ranks"
        measure_link "$link" "$n"
    done
done
lab_down
rm -f "$output/predictions.csv"
echo "predictions,from,to,implementation,ranks,measured,predicted,low,high,attainable,sum" >"$output/predictions.csv"
for to in "${of_links[@]//\//-}"; do
    for n in "${of_ranks[@]}"; do
        for from in "${of_links[@]//\//-}"; do
            if [ "$from" = "$to" ]; then kind='same link'; else kind='other link'; fi
            predict "$kind" "$output/$from/$n" "$output/$to/$n" "$output/$to/$n" "$n"
        done
        [ "$n" = "${of_ranks[0]}" ] || predict 'more ranks' "$output/$to/${of_ranks[0]}" "$output/$to/${of_ranks[0]}" "$output/$to/$n" "$n"
    done
done
[[ $ranks == *,* ]] || say "predictions for more ranks are not checked, as there is one number of --ranks; ranks that share a core would compute more slowly"
print_table
