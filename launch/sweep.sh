#!/usr/bin/env bash
# sweep.sh - runs the benchmark over a grid of implementations, bucket sizes, ranks and models, and reports all runs
#
# Usage: launch/sweep.sh [OPTION...] [-- OPTION OF DDPBENCH...]
#   --implementations LIST   names, or LABEL=NAME (default none,ddp_flat,ddp,ddp_individual,ddp_individual_v2,ddp_bucketed)
#   --bucket-size-mb LIST    bucket sizes of ddp_bucketed in MiB (default 0.5,1,4,16)
#   --ranks LIST             numbers of ranks (default 2)
#   --model NAME:OPTIONS     may be repeated (default "laptop:--preset laptop --batch-size-per-rank 4")
#   --repeats N              runs of each point (default 6); a later call with the same --output may ask for more
#   --rounds N               rounds of a run (default 6)
#   --output DIR             directory of all results; the same command continues there (default results/<time>-sweep)
#   --link-name NAME         name of the network in tables and pictures, such as "100 GbE" (default: the link of
#                            launch/netlab.sh, or the communication library and the number of hosts)
#   --launcher COMMAND       starts {ranks} ranks of the program that follows, for example "launch/netlab.sh run -n {ranks} --"
#                            (default "launch/run.sh -n {ranks} --")
#   --program FILE           the benchmark (default build/ddpbench)
# COMMAND and the OPTIONS of a model are split at blanks. Options after -- go to every run.
# DIR/ranks=N/model=NAME/IMPLEMENTATION[-BUCKET]/repeat-K holds the results of a run; DIR/report gets the report of all,
# which `ddpbench report DIR --output DIR/report` makes again.
# Exit status: 0 success; 1 a run failed (the others were made), or something is missing; 2 wrong options.
set -euo pipefail

here=$(dirname "$(realpath "$0")")
implementations=none,ddp_flat,ddp,ddp_individual,ddp_individual_v2,ddp_bucketed
buckets=0.5,1,4,16 ranks=2 repeats=6 rounds=6 output='' link='' models=() extra=()
default_model="laptop:--preset laptop --batch-size-per-rank 4"
program=$(realpath -m "$here/../build/ddpbench") launcher=("$here/run.sh" -n "{ranks}" --)

# describe: prints the settings of the sweep, for open_series.
describe() {
    local model
    printf '%s\t%s\n' --program "$("$program" --version)" --launcher "$(quote_words "${launcher[@]}")" \
        --implementations "$implementations" --bucket-size-mb "$buckets" --ranks "$ranks" --repeats "$repeats" \
        --rounds "$rounds" --link-name "$link" -- "${extra[*]}"
    for model in "${models[@]}"; do
        printf -- '--model %s\t%s\n' "${model%%:*}" "${model#*:}"
    done
}

settings=sweep.txt
# shellcheck source=launch/series.sh
. "$here/series.sh"

# ---- options ----
check_options() {
    local model implementation bucket labels names='' word options all
    need_tools mawk awk
    need_program "$program"
    all=$("$program" --help |
        awk '/^[^ ]/ { on = /^Implementations:/; next } on && NF { printf "%s%s", (n++ ? "|" : ""), $1 }')
    check_list --implementations "$implementations" "([A-Za-z0-9_+-]{1,40}=)?(${all//:[A-Z]/:[0-9]+})" \
        "${all//|/, }, or LABEL=NAME with a label of up to 40 letters, digits, _, - and +"
    labels=$(tr , '\n' <<<"$implementations" | cut -d = -f 1 | paste -sd ,)
    check_list --implementations "$labels" '.*' labels
    buckets=$(check_buckets "$buckets") || exit
    for implementation in ${implementations//,/ }; do
        [ "${implementation#*=}" = ddp_bucketed ] || continue
        for bucket in ${buckets//,/ }; do
            word=${implementation%%=*}-$bucket
            [[ ,$labels, != *,"$word",* ]] ||
                usage_error "--implementations: '$word' is also ${word%-"$bucket"} at $bucket MiB; give it another label"
        done
    done
    [ ${#models[@]} -gt 0 ] || models=("$default_model")
    for model in "${models[@]}"; do names+=,${model%%:*}; done
    check_list --model "${names#,}" '.*' names
    [[ -z $link || ($link =~ ^[[:print:]]{1,60}$ && $link =~ [[:alnum:]]) ]] ||
        usage_error "--link-name '$link': expected 1 to 60 printable characters, such as '100 GbE'"
    check_launcher "${launcher[@]}"
    read -ra options <<<"${models[*]#*:}"
    check_rest '--(implementations|bucket-size-mb|rounds|output)' "give it before --, outside a model" "${extra[@]}" "${options[@]}"
    check_rest '--(profile|dry-run|help|version)' "a sweep compares benchmarks only" "${extra[@]}" "${options[@]}"
}

# ---- the grid ----
# list_runs: sets points, an array of "ranks model implementation bucket" (the bucket is - for implementations without
# buckets), and queue, an array of "repeat point" for all runs.
list_runs() {
    local r model implementation bucket repeat i n
    points=() queue=()
    for r in ${ranks//,/ }; do
        for model in "${!models[@]}"; do
            for implementation in ${implementations//,/ }; do
                if [ "${implementation#*=}" != ddp_bucketed ]; then
                    points+=("$r $model $implementation -")
                    continue
                fi
                for bucket in ${buckets//,/ }; do
                    points+=("$r $model $implementation $bucket")
                done
            done
        done
    done
    n=${#points[@]}
    for ((repeat = 1; repeat <= repeats; repeat++)); do
        for ((i = 0; i < n; i++)); do queue+=("$repeat ${points[(i + (repeat - 1) * n / repeats) % n]}"); done
    done
}

# check_points: ends the script with the program's error if the program refuses all points.
check_points() {
    local point r model implementation sizes why
    for point in "${points[@]}"; do
        read -r r model implementation _ <<<"$point"
        read -ra sizes <<<"${models[model]#*:}"
        set -- "$r" "${sizes[@]}" --implementations "$implementation" --rounds "$rounds" "${extra[@]}"
        why=$(dry_run_error "$1" cpu '' "${@:2}")
        [[ -n $why && -n $(dry_run_error "$1" cuda '' "${@:2}") ]] || return 0
    done
    usage_error "$why"
}

# plan_run "REPEAT POINT": see run_series.
# shellcheck disable=SC2317 # called by run_series
plan_run() {
    local repeat r model implementation bucket sizes
    read -r repeat r model implementation bucket <<<"$1"
    read -ra sizes <<<"${models[model]#*:}"
    directory="ranks=$r/model=${models[model]%%:*}/${implementation%%=*}" weight=1
    [ "$bucket" = - ] || { directory+="-$bucket" && sizes+=(--bucket-size-mb "$bucket"); }
    directory+=/repeat-$repeat
    command=("${launcher[@]//\{ranks\}/$r}" "$program" "${sizes[@]}" --implementations "$implementation" --rounds "$rounds"
        "${extra[@]}" --output '{output}')
}

add_model() {
    check_line "$@"
    [[ $2 =~ ^[A-Za-z0-9][A-Za-z0-9._+-]*:[[:space:]]*-- ]] ||
        usage_error "--model '$2': expected a name, a colon and options, such as 'small:--d-model 256 --num-layers 4'"
    models+=("$2")
}

option_rows=("--implementations implementations check_any" "--bucket-size-mb buckets check_any" "--ranks ranks check_counts"
    "--model model add_model" "--repeats repeats check_integer 1 999" "--rounds rounds check_integer 1 999999"
    "--output output check_path" "--link-name link check_any" "--launcher launcher_text set_launcher" "--program program check_path")
takes_dashes=1
read_options "$@"
extra=("${after_dashes[@]}")
check_options
output=${output:-results/$(date +%Y%m%d-%H%M%S)-sweep}
list_runs
check_points
open_series "$output" --repeats
# Replaces an earlier report before the first run, so that a report which cannot be written is found early.
[[ ! (-e $output/report || -L $output/report) ]] ||
    why=$("$program" report "$output" --output "$output/report" 2>&1 >/dev/null) ||
    usage_error "$output/report cannot be replaced: ${why##*ddpbench: }; remove it, or choose another --output"
[ -z "$link" ] || export DDPBENCH_LINK=$link # recorded in the results of each run
run_series "${queue[@]}"
"$program" report "$output" --output "$output/report" || failed=1
[ "$failed" = 0 ]
