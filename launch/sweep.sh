#!/usr/bin/env bash
# sweep.sh - runs the benchmark over a grid: implementations x bucket sizes x ranks x models, each point several times
# in a run of its own, with tables, a tidy file and pictures at the end (`ddpbench report`).
#
# Repeats are the outer loop, and each begins at another point of the grid, so that a machine that drifts hits all alike.
# A run's directory has its name only once it is complete, so the same command goes on where an earlier one ended.
set -euo pipefail

here=$(dirname "$(realpath "$0")")
implementations=none,ddp_flat,ddp,ddp_individual,ddp_individual_v2,ddp_bucketed
buckets=0.5,1,4,16 ranks=2 repeats=5 rounds=6 output='' link='' report_only='' models=() extra=()
default_model="laptop:--preset laptop --batch-size-per-rank 4"
program=$(realpath -m "$here/../build/ddpbench") launcher=("$here/run.sh" -n "{ranks}" --)
# with a value each:
known=(--implementations --bucket-size-mb --ranks --model --repeats --rounds --output --link-name --launcher --program)

usage() {
    cat <<END
Usage: launch/sweep.sh [OPTION...] [-- OPTION OF DDPBENCH...]
  --implementations LIST   names, or LABEL=NAME (default $implementations)
  --bucket-size-mb LIST    MiB, for ddp_bucketed (default $buckets)
  --ranks LIST             numbers of ranks (default $ranks)
  --model NAME:OPTIONS     a model and its sizes; may be given several times (default
                           "$default_model")
  --repeats N              runs of each point (default $repeats); more may be asked for in the same directory later
  --rounds N               rounds of a run (default $rounds)
  --output DIR             where everything goes; the same command goes on there (default results/<time>-sweep)
  --link-name NAME         what joins the ranks, for tables and pictures: "100 GbE" (default: what launch/netlab.sh made, or
                           MPI or NCCL and the number of hosts)
  --launcher COMMAND       starts {ranks} ranks of what follows it (default "launch/run.sh -n {ranks} --"; for example
                           "mpirun -n {ranks}" or "launch/netlab.sh run -n {ranks} --")
  --program FILE           the benchmark (default build/ddpbench)
  --report-only            only the tables, sweep.csv and the pictures, of what is in --output DIR
  --help
COMMAND and a model's OPTIONS are split at blanks. What follows -- goes to every run.
A run's results are in DIR/ranks=N/model=NAME/IMPLEMENTATION[-BUCKET]/repeat-K.
Exit status: 0 fine, 1 a run failed (the others were made) or the sweep could not start (the program or a tool is missing,
another sweep has the directory), 2 the options make no sense.
END
}

# What a sweep is made of; a later start in its directory may ask for more repeats.
describe() {
    local model
    printf '%s\t%s\n' --program "$("$program" --version)" --launcher "$(quote_words "${launcher[@]}")" \
        --implementations "$implementations" --bucket-size-mb "$buckets" --ranks "$ranks" --repeats "$repeats" \
        --rounds "$rounds" --link-name "$link" -- "${extra[*]}"
    for model in "${models[@]}"; do
        printf -- '--model %s\t%s\n' "${model%%:*}" "${model#*:}"
    done
}

series=sweep settings=sweep.txt
# shellcheck source=launch/series.sh
. "$here/series.sh"

# ---- options ----
# Options for every run, which must not be what the sweep sets itself; the program takes _ for - in them.
check_extra() {
    local word option
    check_lengths "$@"
    for word in "$@"; do
        option=${word%%=*}
        case ${option//_/-} in
        --implementations | --bucket-size-mb | --rounds | --output)
            usage_error "$option is the sweep's: give it before --, outside a model"
            ;;
        --profile | --dry-run | --help | --version) usage_error "$option: a sweep compares benchmarks only" ;;
        esac
    done
}

check_options() {
    local model implementation bucket labels='' names='' word words all
    need_tools mawk awk
    need_program "$program"
    all=$("$program" --help |
        awk '/^[^ ]/ { on = /^Implementations:/; next } on && NF { printf "%s%s", (n++ ? "|" : ""), $1 }')
    check_list --implementations "$implementations" "([A-Za-z0-9_+-]{1,40}=)?($all)" \
        "${all//|/, }, or LABEL=NAME with a label of up to 40 letters, digits, _, - and +"
    for implementation in ${implementations//,/ }; do
        labels+=,${implementation%%=*}
    done
    check_list --implementations "${labels#,}" '.*' labels
    buckets=$(check_buckets "$buckets") || exit
    for implementation in ${implementations//,/ }; do
        [ "${implementation#*=}" = ddp_bucketed ] || continue
        for bucket in ${buckets//,/ }; do
            word=${implementation%%=*}-$bucket
            [[ ,${labels#,}, != *,"$word",* ]] ||
                usage_error "--implementations: '$word' is also ${word%-"$bucket"} at $bucket MiB; give it another label"
        done
    done
    check_list --ranks "$ranks" '[1-9][0-9]{0,3}' "numbers from 1 to 9999"
    check_integer --repeats "$repeats" 1 999
    check_integer --rounds "$rounds" 1 999999
    [ ${#models[@]} -gt 0 ] || models=("$default_model")
    for model in "${models[@]}"; do
        check_line --model "$model"
        [[ $model =~ ^[A-Za-z0-9][A-Za-z0-9._+-]*:[[:space:]]*-- ]] ||
            usage_error "--model '$model': expected a name, a colon and options, such as 'small:--d-model 256 --num-layers 4'"
        names+=,${model%%:*}
    done
    check_list --model "${names#,}" '.*' names
    [[ -z $link || ($link =~ ^[[:print:]]{1,60}$ && $link =~ [[:alnum:]]) ]] ||
        usage_error "--link-name '$link': expected 1 to 60 printable characters, such as '100 GbE'"
    check_launcher "${launcher[@]}"
    read -ra words <<<"${models[*]#*:}"
    check_extra "${extra[@]}" "${words[@]}"
}

# ---- the grid ----
# Sets points: "ranks model implementation bucket", the bucket - for an implementation without.
list_points() {
    local r model implementation bucket
    points=()
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
}

# What the program refuses in all points is said before anything is run: once.
check_points() {
    local point r model implementation sizes why before='' first=''
    for point in "${points[@]}"; do
        read -r r model implementation _ <<<"$point"
        [ "$r $model $implementation" != "$before" ] || continue # another bucket
        before="$r $model $implementation"
        read -ra sizes <<<"${models[model]#*:}"
        set -- "$r" "${sizes[@]}" --implementations "$implementation" --rounds "$rounds" "${extra[@]}"
        why=$(dry_run_error "$1" cpu '' "${@:2}")
        [ -n "$why" ] && [ -n "$(dry_run_error "$1" cuda '' "${@:2}")" ] || return 0
        first=${first:-$why}
    done
    usage_error "$first"
}

# run_point DIRECTORY RANKS MODEL IMPLEMENTATION BUCKET
run_point() {
    local bucket=() sizes
    read -ra sizes <<<"${models[$3]#*:}"
    [ "$5" = - ] || bucket=(--bucket-size-mb "$5")
    run_one "$1" "$rounds" "${launcher[@]//\{ranks\}/$2}" "$program" "${sizes[@]}" --implementations "$4" "${bucket[@]}" \
        --rounds "$rounds" "${extra[@]}" --output '{output}'
}

# Sets queue: "repeat point directory" of the runs that are not there yet; and total.
list_missing() {
    local repeat i point r model implementation bucket directory n=${#points[@]}
    queue=() total=$((n * repeats))
    for ((repeat = 1; repeat <= repeats; repeat++)); do
        for ((i = 0; i < n; i++)); do
            point=${points[(i + (repeat - 1) * n / repeats) % n]}
            read -r r model implementation bucket <<<"$point"
            directory="ranks=$r/model=${models[$model]%%:*}/${implementation%%=*}"
            [ "$bucket" = - ] || directory+="-$bucket"
            [ -d "$output/$directory/repeat-$repeat" ] || queue+=("$repeat $point $directory")
        done
    done
}

run_all() {
    local run repeat r model implementation bucket directory left
    [ -z "$link" ] || export DDPBENCH_LINK=$link # which each run keeps
    begin_runs
    for run in "${queue[@]}"; do
        read -r repeat r model implementation bucket directory <<<"$run"
        left=''
        [ $runs = 0 ] || left=$(((SECONDS - begin) * (${#queue[@]} - runs) / runs))
        progress $((total - ${#queue[@]} + runs + 1)) $total "$left" "$directory, repeat $repeat"
        run_point "$output/$directory/repeat-$repeat" "$r" "$model" "$implementation" "$bucket"
    done
    end_runs $total
}

given=''
while [ $# -gt 0 ]; do
    case $1 in
    --help) usage; exit 0 ;;
    --report-only) report_only=1; shift; continue ;;
    --)
        given=$1
        shift
        extra=("$@")
        break
        ;;
    esac
    [[ " ${known[*]} " == *" $1 "* && $1 != *" "* ]] ||
        usage_error "unknown option '$1'; known are ${known[*]} --report-only --help, and -- before options of every run"
    need_value "$@"
    case $1 in
    --output | --program) ;;
    *) given=$1 ;;
    esac
    case $1 in
    --implementations) implementations=$2 ;;
    --bucket-size-mb) buckets=$2 ;;
    --ranks) ranks=$2 ;;
    --model) models+=("$2") ;;
    --repeats) repeats=$2 ;;
    --rounds) rounds=$2 ;;
    --output) output=$2 ;;
    --link-name) link=$2 ;;
    --launcher) check_line "$1" "$2" && split_command "$2" && launcher=("${command_words[@]}") ;;
    --program) program=$2 ;;
    esac
    shift 2
done
if [ -n "$report_only" ]; then
    [ -z "$given" ] || usage_error "--report-only takes --output DIR and --program FILE only, not $given"
    [ -n "$output" ] || usage_error "--report-only needs --output DIR, the directory of a sweep"
    [[ -r $output/sweep.txt && -f $output/sweep.txt ]] || usage_error "$output is not the directory of a sweep"
    need_program "$program"
    exec "$program" report "$output"
fi
check_options
output=${output:-results/$(date +%Y%m%d-%H%M%S)-sweep}
list_points
check_points
open_series "$output" --repeats
list_missing
run_all
"$program" report "$output" || failed=1
[ "$failed" = 0 ]
