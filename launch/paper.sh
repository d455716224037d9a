#!/usr/bin/env bash
# paper.sh - repeats the experiments of the paper on PyTorch's data-parallel module on this hardware
#
# Usage: launch/paper.sh [OPTION...] [-- OPTION OF DDPBENCH...]
#   --ranks LIST             numbers of ranks for scaling; the other experiments use the largest (default 1, 2, 4 and 8,
#                            up to the number of GPUs, or of cores; at least 1,2)
#   --bucket-size-mb LIST    bucket sizes in MiB (default 0.5,2,8,25)
#   --every LIST             numbers of micro-batches between two reductions (default 1,2,4,8)
#   --batch-size-per-rank N  sequences of a micro-batch of a rank (default 4)
#   --rounds N               rounds of each run (default 12; intervals need 6)
#   --steps-per-block N      timed steps of a block (default 3)
#   --quick                  about a minute on 2 cores: changes the defaults to 6 rounds of 1 step, a batch of 1,
#                            --bucket-size-mb 0.5,2,8 and --every 1,2,4
#   --output DIR             directory of all results; the same command continues there (default results/<time>-paper)
#   --launcher COMMAND       starts {ranks} ranks of the program that follows (default "launch/run.sh -n {ranks} --", with the
#                            same number of threads for any number of ranks)
#   --program FILE           the benchmark (default build/ddpbench)
#   --dry-run                prints the commands instead of running them
# COMMAND is split at blanks. Options after -- go to every run: the model, --device, --dtype, --data.
# The experiments: 1 latency breakdown with and without overlap, 2 bucket size, 3 scaling over ranks, 4 skipping
# synchronisation. DIR gets a directory for each run, paper.txt, which is also printed, and paper.csv.
# Exit status: 0 success; 1 a run failed (the others were made), or something is missing; 2 wrong options.
set -euo pipefail

here=$(dirname "$(realpath "$0")")
ranks='' buckets=0.5,2,8,25 every=1,2,4,8 batch=4 rounds=12 steps=3 output='' dry_run='' quick='' launcher=() extra=()
program=$(realpath -m "$here/../build/ddpbench")

# describe: prints the settings of the runs, for open_series.
describe() {
    printf '%s\t%s\n' --program "$("$program" --version)" --launcher "$(quote_words "${launcher[@]}")" --ranks "$ranks" \
        --bucket-size-mb "$buckets" --every "$every" --batch-size-per-rank "$batch" --rounds "$rounds" \
        --steps-per-block "$steps" -- "${extra[*]}"
}

settings=runs.txt
# shellcheck source=launch/series.sh
. "$here/series.sh"

# ---- options ----
ascending() { tr , '\n' <<<"$1" | sort -n | paste -sd ,; }

# choose_ranks: sets ranks and launcher unless given as options, and most, the largest number of ranks.
choose_ranks() {
    local cores gpus places r
    # run.sh gives a single rank a thread for each core
    cores=$(env -u OMP_NUM_THREADS "$here/run.sh" -n 1 --comm-core no --dry-run -- true 2>/dev/null | sed -nE 's/.*OMP_NUM_THREADS[ =]([0-9]+) .*/\1/p') || true
    cores=${cores:-$(count_cpus)}
    if [ -z "$ranks" ]; then
        gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU' || true)
        places=$((gpus > 0 ? gpus : cores)) ranks=1,2
        for r in 4 8; do
            [ $places -lt $r ] || ranks+=,$r
        done
    fi
    ranks=$(ascending "$ranks")
    most=${ranks##*,}
    [ "$most" -gt 1 ] || usage_error "--ranks $ranks: expected a number above 1 among them; on one rank nothing is reduced"
    [ ${#launcher[@]} -eq 0 ] || return 0
    # Use the same number of threads for any number of ranks, and a core for communication where run.sh would reserve one.
    local threads=$((cores / most)) comm=no
    if [ $threads -ge 4 ]; then
        threads=$((threads - 1)) comm=yes
    fi
    launcher=("$here/run.sh" -n "{ranks}" --threads $((threads > 0 ? threads : 1)) --comm-core "$comm" --)
}

check_options() {
    need_program "$program"
    check_rest '--(bucket-size-mb|batch-size-per-rank|rounds|steps-per-block|output)' "give it before --" "${extra[@]}"
    check_rest '--(implementations|batch-size|grad-accumulation|profile.*|resolve|label|dry-run|help|version)' \
        "the experiments set it themselves" "${extra[@]}"
    choose_ranks
    check_launcher "${launcher[@]}"
    buckets=$(check_buckets "$buckets") || exit
    every=$(ascending "$every")
}

# ---- runs ----
# plan_run NAME: see run_series; weight is about the number of micro-batches that the run computes. Also sets arguments (of the
# program in command) and at (the number of ranks).
plan_run() {
    local n=1 options
    at=$most directory=$1
    case $1 in
    latency)
        # A profile times four kinds of steps: captured, untraced, with reduction after backward, and without reduction.
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

# check_runs: ends the script with the program's error if the program refuses a run.
check_runs() {
    local name why
    for name in "${names[@]}"; do
        plan_run "$name"
        why=$(dry_run_error "$at" cpu '' "${arguments[@]}")
        [ -z "$why" ] || [ -z "$(dry_run_error "$at" cuda '' "${arguments[@]}")" ] || usage_error "run $name: $why"
    done
}

# print_commands: prints the commands, quoted for a shell.
print_commands() {
    local name
    for name in "${names[@]}"; do
        plan_run "$name"
        quote_words "${command[@]//'{output}'/"${output:-results/TIME-paper}/$name"}"
    done
}

# ---- report ----
# results_of NAME: prints the directory with the results of a run.
results_of() { echo "$output/$1$([ "$1" != latency ] || echo /ddp_bucketed)"; }

# print_experiment EXPERIMENT TITLE: prints the title and the figures that the paper reports for the experiment.
print_experiment() {
    printf '\n%s\n' "$2"
    awk -F '\t' -v experiment="$1" '$1 == experiment {
        line = sprintf("   paper: %-36s %10s", $2, $3 ($4 == "" ? "" : " " $4))
        printf "%-58s  (%s)\n", line, $5
    }' "$here/paper.tsv"
}

# print_report RUN...: prints the report of the runs, each given as LABEL=DIR, followed by the paper's figures; writes
# paper.csv.
print_report() {
    local overlap=''
    cat <<END
The experiments of Li et al., PyTorch Distributed: Experiences on Accelerating Data Parallel Training,
PVLDB 13(12), 2020 (arXiv:2006.15704), with $("$program" --version). The paper's figures follow at the end.

END
    "$program" report "$@" --csv "$output/paper.csv" || return
    # summary.json has the whole sentence, which summary.txt breaks into lines
    [ ! -e "$output/latency" ] || overlap=$(sed -nE '/^\t"answers":/ s/.*"(Overlap([^"\\]|\\.)*)".*/\1/p' "$(results_of latency)/summary.json")
    cat <<END

The paper's figures
-------------------

They come from other hardware (clusters of GPUs) and other models: look for the same effects, not for the same numbers.
END
    print_experiment latency "1. Latency breakdown with and without overlap (figure 6). Above: where the time goes, latency.${overlap:+$'\n   '$overlap}" || return
    print_experiment buckets "2. Step time against bucket size (figures 7 and 8). Above: bucket sizes, buckets." || return
    print_experiment scaling "3. Scaling over ranks (figure 9). Above: scaling, ranks-N, each rank with micro-batches of $batch sequences." || return
    print_experiment skipping "4. Reducing gradients every n micro-batches only (figure 10). Above: scaling, every-N, with N micro-batches in a step." || return
    cat <<END

5. Round-robin over several communicators (figure 12).
   Left out: ddpbench uses one communicator for all reductions.
END
}

# write_report: writes paper.csv and paper.txt for the complete runs and prints paper.txt.
write_report() {
    local name complete=()
    for name in "${names[@]}"; do
        [ ! -e "$(results_of "$name")/summary.json" ] || complete+=("${name//=/-}=$(results_of "$name")")
    done
    if [ ${#complete[@]} = 0 ]; then
        say "no run is complete, so there is nothing to report"
        return 1
    fi
    write_file "$output/paper.txt" print_report "${complete[@]}" || return
    cat "$output/paper.txt"
}

option_rows=("--ranks ranks check_counts" "--bucket-size-mb buckets check_any" "--every every check_counts"
    "--batch-size-per-rank batch check_integer 1 99999" "--rounds rounds check_integer 1 999999"
    "--steps-per-block steps check_integer 1 999999" "--output output check_path" "--launcher launcher_text set_launcher"
    "--program program check_path" "--dry-run dry_run flag" "--quick quick flag")
takes_dashes=1
read_options "$@"
if [ -n "$quick" ]; then # changes the defaults, then reads the options again, which override them
    rounds=6 steps=1 batch=1 buckets=0.5,2,8 every=1,2,4
    read_options "$@"
fi
extra=("${after_dashes[@]}")
check_options
mapfile -t names < <(printf '%s\n' latency buckets "ranks=${ranks//,/$'\n'ranks=}" "every=${every//,/$'\n'every=}")
check_runs
if [ -n "$dry_run" ]; then
    print_commands
    exit
fi
output=$(realpath -m -- "${output:-results/$(date +%Y%m%d-%H%M%S)-paper}")
open_series "$output"
check_replaceable "$output/paper.txt" 'The experiments of Li et al., PyTorch Distributed: Experiences on Accelerating'
check_replaceable "$output/paper.csv" 'directory,label,state,subject,name,'
run_series "${names[@]}"
write_report || failed=1
[ "$failed" = 0 ]
