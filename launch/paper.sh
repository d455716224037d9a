#!/usr/bin/env bash
# paper.sh - repeats the experiments of the paper on PyTorch's data-parallel module on this hardware
#
# Li et al., PyTorch Distributed: Experiences on Accelerating Data Parallel Training, PVLDB 13(12), 2020, arXiv:2006.15704. Each
# experiment is a run of the benchmark, or several; what `ddpbench report` says of them is printed with what the paper gives in
# words (paper.tsv) below it.
# A run's directory has its name only once it is complete, so the same command goes on where an earlier one ended.
set -euo pipefail

here=$(dirname "$(realpath "$0")")
ranks='' buckets=0.5,2,8,25 every=1,2,4,8 batch=4 rounds=12 steps=3 output='' dry_run='' quick='' launcher=() extra=()
program=$(realpath -m "$here/../build/ddpbench")
# with a value each:
known=(--ranks --bucket-size-mb --every --batch-size-per-rank --rounds --steps-per-block --output --launcher --program)

usage() {
    cat <<END
Usage: launch/paper.sh [OPTION...] [-- OPTION OF DDPBENCH...]
  --ranks LIST             numbers of ranks of the scaling experiment; the others take the largest (default 1, 2, 4 and 8,
                           as far as there are GPUs, or cores, for them; 1,2 at least)
  --bucket-size-mb LIST    MiB, of the bucket sizes (default $buckets)
  --every LIST             reduce gradients every so many micro-batches only (default $every)
  --batch-size-per-rank N  sequences of a micro-batch of a rank (default $batch)
  --rounds N               rounds of each run (default $rounds; intervals need 6)
  --steps-per-block N      timed steps of a block (default $steps)
  --quick                  about a minute on 2 cores: the default of the options above is 6 rounds of 1 step, a batch of 1,
                           buckets of 0.5,2,8 and every 1,2,4
  --output DIR             where everything goes; the same command goes on there (default results/<time>-paper)
  --launcher COMMAND       starts {ranks} ranks of what follows it (default "launch/run.sh -n {ranks} --" with as many threads
                           for a rank, whatever their number, as cores for each of the most); for example
                           "launch/netlab.sh run -n {ranks} --"
  --program FILE           the benchmark (default build/ddpbench)
  --dry-run                prints the commands instead of running them
  --help
COMMAND is split at blanks. What follows -- goes to every run: the model, --device, --dtype, --data.
The experiments: 1 latency breakdown with and without overlap, 2 bucket size, 3 scaling over ranks, 4 skipping
synchronisation. DIR gets paper.txt, which is also printed, and paper.csv, and a directory for each run.
Exit status: 0 fine, 1 a run failed (the others were made) or none could start, 2 the options make no sense.
END
}

# What the runs are made of.
describe() {
    printf '%s\t%s\n' --program "$("$program" --version)" --launcher "$(quote_words "${launcher[@]}")" --ranks "$ranks" \
        --bucket-size-mb "$buckets" --every "$every" --batch-size-per-rank "$batch" --rounds "$rounds" \
        --steps-per-block "$steps" -- "${extra[*]}"
}

series="series of experiments" settings=runs.txt
# shellcheck source=launch/series.sh
. "$here/series.sh"

# ---- options ----
# Options for every run, which must not be what the experiments set themselves; the program takes _ for - in them.
check_extra() {
    local word option
    check_lengths "${extra[@]}"
    for word in "${extra[@]}"; do
        option=${word%%=*}
        option=${option//_/-}
        case $option in
        --bucket-size-mb | --batch-size-per-rank | --rounds | --steps-per-block | --output)
            usage_error "$option is the experiments': give it before --"
            ;;
        --implementations | --batch-size | --grad-accumulation | --profile* | --resolve | --label | --dry-run | --help | \
            --version)
            usage_error "$option: the experiments choose it themselves"
            ;;
        esac
    done
}

ascending() { tr , '\n' <<<"$1" | sort -n | paste -sd ,; }

# Sets ranks, most (the largest of them) and launcher, where they are not given.
choose_ranks() {
    local cores cpus gpus places r
    cores=$(lscpu -p=CORE,SOCKET | grep -v '^#' | sort -u | wc -l)
    cpus=$(count_cpus)
    [ "$cores" -le "$cpus" ] || cores=$cpus
    if [ -z "$ranks" ]; then
        gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU' || true)
        places=$((gpus > 0 ? gpus : cores)) ranks=1,2
        for r in 4 8; do
            [ $places -lt $r ] || ranks+=,$r
        done
    fi
    check_list --ranks "$ranks" '[1-9][0-9]{0,3}' "numbers from 1 to 9999"
    ranks=$(ascending "$ranks")
    most=${ranks##*,}
    [ "$most" -gt 1 ] || usage_error "--ranks $ranks: expected a number above 1 among them; on one rank nothing is reduced"
    [ ${#launcher[@]} -eq 0 ] || return 0
    # as many threads on one rank as on each of the most, and a core for communication where run.sh would leave one
    local threads=$((cores / most)) comm=no
    if [ $threads -ge 4 ]; then
        threads=$((threads - 1)) comm=yes
    fi
    launcher=("$here/run.sh" -n "{ranks}" --threads $((threads > 0 ? threads : 1)) --comm-core "$comm" --)
}

check_options() {
    need_program "$program"
    check_extra
    choose_ranks
    check_launcher "${launcher[@]}"
    buckets=$(check_buckets "$buckets") || exit
    check_list --every "$every" '[1-9][0-9]{0,3}' "numbers from 1 to 9999"
    every=$(ascending "$every")
    check_integer --batch-size-per-rank "$batch" 1 99999
    check_integer --rounds "$rounds" 1 999999
    check_integer --steps-per-block "$steps" 1 999999
}

# ---- runs ----
# Sets names: of all runs.
list_runs() {
    local ranks_runs every_runs
    read -ra ranks_runs <<<"${ranks//,/ }"
    read -ra every_runs <<<"${every//,/ }"
    names=(latency buckets "${ranks_runs[@]/#/ranks=}" "${every_runs[@]/#/every=}")
}

# plan NAME: sets command, of arguments for so many ranks (at), and weight, about how many micro-batches it computes.
plan() {
    local n=1 options
    at=$most
    case $1 in
    latency)
        # the controls are four: as captured, untraced, after backward, none
        weight=$((4 * rounds * (steps + 2) + 10))
        options=(--profile --profile-implementation ddp_bucketed --profile-ranks 0 --trace-gzip --profile-output-dir)
        ;;
    buckets)
        weight=$(((3 + $(tr , '\n' <<<"$buckets" | wc -l)) * rounds * (steps + 2)))
        options=(--implementations "none,ddp_individual,ddp_bucketed,ddp_flat" --bucket-size-mb "$buckets" --output)
        ;;
    *)
        [[ $1 != ranks=* ]] || at=${1#*=}
        [[ $1 != every=* ]] || n=${1#*=}
        weight=$((2 * n * rounds * (steps + 2)))
        options=(--implementations "none,ddp_bucketed" --grad-accumulation "$n" --output)
        ;;
    esac
    arguments=(--batch-size-per-rank $((n * batch)) --rounds "$rounds" --steps-per-block "$steps" "${extra[@]}"
        "${options[@]}" '{output}')
    command=("${launcher[@]//\{ranks\}/$at}" "$program" "${arguments[@]}")
}

# What the program refuses is said before anything is run: once.
check_runs() {
    local name why
    for name in "${names[@]}"; do
        plan "$name"
        why=$(dry_run_error "$at" cpu '' "${arguments[@]}")
        [ -z "$why" ] || [ -z "$(dry_run_error "$at" cuda '' "${arguments[@]}")" ] || usage_error "run $name: $why"
    done
}

# Prints the commands, such as a shell takes them.
print_commands() {
    local name
    for name in "${names[@]}"; do
        plan "$name"
        printf '%q ' "${command[@]//'{output}'/"${output:-results/TIME-paper}/$name"}" | sed 's/ $//'
        echo
    done
}

run_all() {
    local name left='' made=0 missing=0 i=0
    for name in "${names[@]}"; do
        plan "$name"
        [ -d "$output/$name" ] || missing=$((missing + weight))
    done
    begin_runs
    for name in "${names[@]}"; do
        i=$((i + 1))
        [ ! -d "$output/$name" ] || continue
        [ $made = 0 ] || left=$(((SECONDS - begin) * (missing - made) / made))
        progress $i ${#names[@]} "$left" "$name"
        plan "$name"
        run_one "$output/$name" "$rounds" "${command[@]}"
        made=$((made + weight))
    done
    end_runs ${#names[@]}
}

# ---- what came of them ----
# place_of NAME: the directory with the results of a run.
place_of() { echo "$output/$1$([ "$1" != latency ] || echo /ddp_bucketed)"; }

# paper EXPERIMENT TITLE: what the paper gives of it.
paper() {
    printf '\n%s\n' "$2"
    awk -F '\t' -v experiment="$1" '$1 == experiment {
        line = sprintf("   paper: %-36s %10s", $2, $3 ($4 == "" ? "" : " " $4))
        printf "%-58s  (%s)\n", line, $5
    }' "$here/paper.tsv"
}

# tell RUN...: what report says of the runs, LABEL=DIR each, which writes paper.csv, and then the paper's figures.
tell() {
    local overlap=''
    cat <<END
The experiments of Li et al., PyTorch Distributed: Experiences on Accelerating Data Parallel Training,
PVLDB 13(12), 2020 (arXiv:2006.15704), with $("$program" --version); the paper's figures stand at the end.

END
    "$program" report "$@" --csv "$output/paper.csv" || return
    [ ! -e "$output/latency" ] || overlap=$(grep -m 1 -i '^[a-z ]*overlap.*[.:]' "$output/latency/ddp_bucketed_summary.txt")
    cat <<END

The paper's figures
-------------------

They are of other hardware (clusters of GPUs) and models: they say what to look for, not what to reach.
END
    paper latency "1. Latency breakdown with and without overlap (figure 6). Here: where the time goes, latency.${overlap:+$'\n   '$overlap}" || return
    paper buckets "2. Step time against bucket size (figures 7 and 8). Here: bucket sizes, buckets." || return
    paper scaling "3. Scaling over ranks (figure 9). Here: scaling, ranks-N, with $batch sequences of a micro-batch on each rank." || return
    paper skipping "4. Reducing gradients every n micro-batches only (figure 10). Here: scaling, every-N, whose steps are N micro-batches." || return
    cat <<END

5. Round-robin over several communicators (figure 12).
   Left out: ddpbench sends all reductions through one communicator and has no option for more.
END
}

# report: paper.csv and paper.txt of the runs that are complete, and paper.txt on stdout.
report() {
    local name words=()
    for name in "${names[@]}"; do
        [ ! -e "$(place_of "$name")/summary.json" ] || words+=("${name//=/-}=$(place_of "$name")")
    done
    if [ ${#words[@]} = 0 ]; then
        say "no run is complete, so there is nothing to tell"
        return 1
    fi
    write_file "$output/paper.txt" tell "${words[@]}" || return
    cat "$output/paper.txt"
}

given=()
while [ $# -gt 0 ]; do
    case $1 in
    --help) usage; exit 0 ;;
    --quick) quick=1; shift; continue ;;
    --dry-run) dry_run=1; shift; continue ;;
    --)
        shift
        extra=("$@")
        break
        ;;
    esac
    [[ " ${known[*]} " == *" $1 "* && $1 != *" "* ]] ||
        usage_error "unknown option '$1'; known are ${known[*]} --quick --dry-run --help, and -- before options of every run"
    need_value "$@"
    given+=("$1" "$2")
    shift 2
done
[ -z "$quick" ] || rounds=6 steps=1 batch=1 buckets=0.5,2,8 every=1,2,4
for ((i = 0; i < ${#given[@]}; i += 2)); do
    value=${given[i + 1]}
    case ${given[i]} in
    --ranks) ranks=$value ;;
    --bucket-size-mb) buckets=$value ;;
    --every) every=$value ;;
    --batch-size-per-rank) batch=$value ;;
    --rounds) rounds=$value ;;
    --steps-per-block) steps=$value ;;
    --output) output=$value ;;
    --launcher) check_line --launcher "$value" && split_command "$value" && launcher=("${command_words[@]}") ;;
    --program) program=$value ;;
    esac
done
check_options
list_runs
check_runs
if [ -n "$dry_run" ]; then
    print_commands
    exit
fi
output=$(realpath -m -- "${output:-results/$(date +%Y%m%d-%H%M%S)-paper}")
open_series "$output"
check_replaceable "$output/paper.txt" 'The experiments of Li et al.'
check_replaceable "$output/paper.csv" 'directory,label,state,'
run_all
report || failed=1
[ "$failed" = 0 ]
