#!/usr/bin/env bash
# slurm.sh - submits runs on several numbers of nodes as Slurm jobs, and reports them together
#
# Usage: launch/slurm.sh configure [OPTION...]
#        launch/slurm.sh submit --nodes LIST [OPTION...] [-- OPTION OF DDPBENCH...]
#        launch/slurm.sh status|wait|cancel|collect|analyze [--output DIR] [SUBMISSION]
# Each command can be repeated, even after an earlier call was killed.
#
# Commands:
#   configure          writes the settings of all jobs, DIR/slurm.conf, from the options and the defaults; and
#                      DIR/profiling_config.sh, which a shell can source: SLURM_PARTITION and SLURM_ACCOUNT
#   submit             submits a job for each number of nodes, and a last one that collects and analyzes
#   status             prints a line for each job: run, number, state, time, nodes, and errors
#   wait               waits until all jobs have ended
#   cancel             cancels all jobs that wait or run
#   collect            copies the accounting and the monitors' files of each job into the job's directory
#   analyze            collects, and reports each run, and all runs together in the submission's directory
# SUBMISSION is DIR/run_<time> (default: the newest in DIR).
#
# Options of configure:
#   --partition NAME      (default: $SLURM_PARTITION, or Slurm's)
#   --account NAME        (default: $SLURM_ACCOUNT, or none)
#   --time T              time limit of a job: minutes, H:MM:SS or DAYS-HH:MM:SS (default 60)
#   --gpus-per-node N     (default: those of a node of the partition)
#   --tasks-per-node N    ranks of a node (default: one for each GPU, or 1)
#   --cpus-per-task N     (default: a rank's share of the node)
#   --constraint FEATURES  (default: none)
#   --qos NAME            (default: Slurm's)
#   --mpi pmi2|pmix       how srun starts ranks (default: what suits the program's MPI, if srun --mpi=list has it)
#   --modules "A B"       environment modules that a job loads (default: none)
#   --exclusive yes|no    whether a job has its nodes for itself (default yes: other jobs distort the times)
#
# Options of submit:
#   --nodes LIST          numbers of nodes, such as 1,2,4
#   --cpu                 runs on CPUs, without GPUs; the runs are called cpu_2node and so on
#   --requeue             Slurm may restart a job whose node failed; the job continues where it stopped
#   --isolate             first finds slow nodes (ddpbench isolate), and leaves them out; only with 3 nodes or more
#   --nsys                records the profile's steps also with Nsight Systems, in nsys/
#   --no-analyze          does not submit the job that collects and analyzes
#
# Options of all commands:
#   --output DIR          directory of all files (default results/profiling)
#   --program FILE        the benchmark (default build/ddpbench)
#
# SLURM_PARTITION and SLURM_ACCOUNT, where they are set, take precedence over slurm.conf.
# A job runs the benchmark, a profile of the fastest strategy, and allreduce, and ends as soon as one of them fails.
# Options after -- go to the parts that have them. Results are in DIR/2node/run_<JOB>. If the time limit is 3 minutes or
# more, ranks get SIGTERM 60 s before it, so that they write what they have measured.
# Exit status: 0 success (status and wait: all jobs ended well); 1 Slurm does not answer, or something is missing; 2 wrong
# options; 3 (status) jobs wait or run; 4 (status and wait) jobs failed.
set -euo pipefail

here=$(dirname "$(realpath "$0")")
program=$(realpath -m "$here/../build/ddpbench") output=results/profiling

# shellcheck source=launch/common.sh
. "$here/common.sh"

# die_of_slurm OUTPUT: ends the script with the last line of the output of a Slurm command.
die_of_slurm() { die "Slurm reports: $(grep -a . <<<"${1:-nothing within 60 s}" | tail -n 1)"; }

need_slurm() {
    local tool
    need_tools mawk awk
    for tool in sbatch squeue sinfo scontrol srun; do
        command -v $tool >/dev/null || die "there is no $tool: Slurm's commands are not installed here, or not in PATH"
    done
}

# shellcheck source=launch/slurmconf.sh
. "$here/slurmconf.sh"
# shellcheck source=launch/slurmjobs.sh
. "$here/slurmjobs.sh"

# ---- submit ----
# minutes_of TIME: converts a value of --time to minutes and prints it.
minutes_of() {
    awk -F '[-:]' '{ print /-/ ? ($1 * 24 + $2) * 60 + $3 : /:/ ? $1 * 60 + $2 : $1 + 0 }' <<<"$1"
}

# add_settings KEY...: adds the sbatch options of these settings to the array `options`.
add_settings() {
    local key
    for key in "$@"; do
        [ -z "${conf[$key]}" ] || options+=("--${key//_/-}=${conf[$key]}")
    done
}

# add_job_options NODES GPUS_PER_NODE: adds the sbatch options of a benchmark job to the array `options`.
add_job_options() {
    options+=("--nodes=$1" "--ntasks-per-node=${conf[tasks_per_node]}")
    add_settings time partition account cpus_per_task constraint qos
    [ "$2" = 0 ] || options+=("--gpus-per-node=$2")
    [ "${conf[exclusive]}" = no ] || options+=(--exclusive)
}

# print_array NAME VALUE...: prints a bash assignment of the values to an array.
print_array() { echo "$1=($([ $# = 1 ] || printf '%q ' "${@:2}" | sed 's/ $//'))"; }

# share_options OPTION...: sorts the options into the arrays benchmark, profile, allreduce and isolate. A job adds the options
# that select the fastest strategy to the array `profile`.
share_options() {
    check_lengths "$@"
    local rows option word section value
    declare -A sections=() values=()
    rows=$({ "$program" --help rows && for word in allreduce ${isolate_first:+isolate}; do
        "$program" "$word" --help rows | sed "s/^\([A-Z].*\):$/$word, \1:/"
    done; } 2>&1) || die "$program --help: $rows"
    while IFS=$'\t' read -r section option value; do
        sections[$option]+="$section|" values[$option]=$value
    done < <(awk -F '\t' '
        /^[A-Z].*:$/ || /^(allreduce|isolate), / { section = $0 }
        /^\t/ { print section "\t" $2 "\t" ($4 != "") }' <<<"$rows")
    benchmark=() profile=() allreduce=() isolate=()
    while [ $# -gt 0 ]; do
        option=${1%%=*}
        word=${option#--}
        word=${word//_/-}
        section=${sections[${word:-none}]:-}
        [[ $1 == --* && -n $section ]] ||
            usage_error "option '$1' after --: neither ddpbench nor ddpbench allreduce${isolate_first:+ nor ddpbench isolate} has it"
        case $word in
        output | profile | profile-implementation | profile-output-dir | monitor-cpu | monitor-gpu | dry-run | \
            help | version)
            usage_error "--$word after --: launch/slurm.sh sets it"
            ;;
        device) [ -z "$cpu" ] || usage_error "--device after --: --cpu sets it" ;;
        esac
        value=("$1")
        if [ "${values[$word]}" = 1 ] && [[ $1 != *=* ]]; then
            [ $# -gt 1 ] || usage_error "--$word after -- needs a value"
            value+=("$2")
            shift
        fi
        shift
        [[ ! $section =~ 'isolate, '(Device|Communication): ]] || isolate+=("${value[@]}")
        case $section in
        *Profile:*) profile+=("${value[@]}") ;;
        allreduce,*) allreduce+=("${value[@]}") ;;
        isolate,*) isolate+=("${value[@]}") ;;
        *)
            benchmark+=("${value[@]}")
            case $word in
            implementations | resolve | max-minutes | attainable | bucket-size-mb | wire-dtype | shard | update-in-backward) ;;
            *) profile+=("${value[@]}") ;;
            esac
            case $section in
            Device:* | Communication:* | Results:*) allreduce+=("${value[@]}") ;;
            esac
            ;;
        esac
    done
    [ -z "$cpu" ] || { benchmark+=(--device cpu) profile+=(--device cpu) allreduce+=(--device cpu) isolate+=(--device cpu); }
}

# check_part NODES COMMAND OPTION...: ends the script if the program would reject these options in a job.
check_part() {
    local device=cpu why
    [ -n "$cpu" ] || [ "${conf[gpus_per_node]}" = 0 ] || device=cuda
    why=$(dry_run_error $(($1 * conf[tasks_per_node])) $device "${@:2}")
    [ -z "$why" ] || usage_error "options after --, for $1 node$([ "$1" = 1 ] || echo s) x ${conf[tasks_per_node]}: $why"
}

# check_parts: checks the options of all parts; profile and allreduce only on the fewest nodes, where they reject the most options.
check_parts() {
    local n fewest
    fewest=$(printf '%s\n' "${of_nodes[@]}" | sort -n | head -n 1)
    for n in "${of_nodes[@]}"; do
        check_part "$n" '' "${benchmark[@]}"
    done
    check_part "$fewest" '' --profile "${profile[@]}"
    check_part "$fewest" allreduce "${allreduce[@]}"
    [ -z "$isolate_first" ] || check_part 3 isolate "${isolate[@]}"
}

# write_script NODES: prints the batch script of the job on NODES nodes.
write_script() {
    local options=("--job-name=ddpb-$scenario" "--output=$submission/${scenario}_%j.out" --open-mode=append)
    local monitors=(--monitor-cpu) gpus=0 notice=''
    [ -n "$cpu" ] || gpus=${conf[gpus_per_node]}
    add_job_options "$1" "$gpus"
    options+=("--$([ -n "$requeue" ] || echo no-)requeue")
    if [ "$(minutes_of "${conf[time]}")" -ge 3 ]; then
        notice=60
        options+=("--signal=TERM@$notice")
    fi
    [ "$gpus" = 0 ] || monitors+=(--monitor-gpu)
    echo '#!/bin/bash'
    printf '#SBATCH "%s"\n' "${options[@]}" # sbatch removes the quotes
    printf '%s=%q\n' scenario "$scenario" submission "$submission" results "$output/$scenario" program "$program" \
        scripts "$here" mpi "${conf[mpi]}" nsys "$nsys" notice "$notice" isolate_first "$isolate_first"
    # shellcheck disable=SC2086 # module names separated by blanks
    print_array modules ${conf[modules]}
    print_array monitors "${monitors[@]}"
    print_array benchmark_options "${benchmark[@]}"
    print_array profile_options "${profile[@]}"
    print_array allreduce_options "${allreduce[@]}"
    print_array isolate_options "${isolate[@]}"
    echo
    cat "$here/slurm.sbatch"
}

# write_analysis: prints the batch script of the job that collects and analyzes.
write_analysis() {
    local options=(--job-name=ddpb-analyze "--output=$submission/analyze_%j.out" --nodes=1 --ntasks=1 --time=30 --no-requeue)
    add_settings partition account constraint qos
    echo '#!/bin/bash'
    printf '#SBATCH "%s"\n' "${options[@]}"
    printf '%q ' "$here/slurm.sh" analyze --output "$output" --program "$program" "$submission"
    echo
}

# submit_job NAME [OPTION...]: submits NAME.sbatch, adds its job to jobs.txt and, if it measures, job_ids.txt at once, and sets job to the number. Repeats
# the options of the script on sbatch's command line, because SBATCH_* variables take precedence over those in the script.
submit_job() {
    local name=$1 options
    shift
    mapfile -t options < <(sed -n 's/^#SBATCH "\(.*\)"$/\1/p' "$submission/$name.sbatch")
    if job=$(timeout 120 sbatch --parsable "${options[@]}" "$@" "$submission/$name.sbatch" \
        2>"$submission/refused.txt" </dev/null) && [[ $job =~ ^[0-9]+ ]]; then
        job=${job%%;*}
        echo "$job $name" >>"$submission/jobs.txt"
        [ "$name" = analyze ] || echo "$job" >>"$submission/job_ids.txt"
        echo "$job $name"
        rm -f "$submission/refused.txt"
        return
    fi
    say "$name was not submitted: $(grep . "$submission/refused.txt" | tail -n 1 || echo "no answer within 120 s")"
    rm -f "$submission/refused.txt"
    return 1
}

# check_nodes: sets of_nodes to the numbers of --nodes, and refuses more nodes than the partition has.
check_nodes() {
    local n
    [ -n "$nodes" ] || usage_error "--nodes is missing, such as --nodes 1,2,4"
    IFS=, read -r -a of_nodes <<<"$nodes"
    [ -z "$isolate_first" ] || [ "$(printf '%s\n' "${of_nodes[@]}" | sort -n | tail -n 1)" -ge 3 ] ||
        usage_error "--isolate: needs a job of 3 nodes or more, because with fewer no node is known to be good"
    read_partition "${conf[partition]}"
    for n in "${of_nodes[@]}"; do
        [ "$n" -le "${of_partition[1]}" ] ||
            usage_error "--nodes $n: partition ${of_partition[0]} has ${of_partition[1]} nodes, so the job would never start"
    done
}

# check_names: ends the script if a path contains characters that sbatch cannot read.
check_names() {
    [[ $output$program != *[[:cntrl:]%\"\'\\]* ]] ||
        usage_error "'$output', '$program': sbatch cannot read names with % \" ' \\ or control characters; choose others"
}

submit() {
    local n scenario submission job error numbers='' failed=0 of_nodes of_partition
    local benchmark profile allreduce isolate
    [ -z "${SLURM_JOB_ID:-}" ] ||
        usage_error "this is inside job $SLURM_JOB_ID, and new jobs would inherit its settings; submit from outside"
    need_slurm
    need_program "$program"
    check_names
    read_configuration "$output/slurm.conf"
    take_environment
    check_nodes
    share_options "$@"
    check_parts
    for n in "${of_nodes[@]}"; do make_directory "$output/${cpu:+cpu_}${n}node"; done # before a job is submitted
    submission=$output/run_$(date -u +%Y%m%d-%H%M%S)
    until error=$(mkdir "$submission" 2>&1); do
        [ -d "$submission" ] || die "cannot make the directory $submission: ${error##*: }"
        sleep 0.1 # another submission began in the same second
        submission=$output/run_$(date -u +%Y%m%d-%H%M%S)
    done
    write_configuration >"$submission/slurm.conf"
    for n in "${of_nodes[@]}"; do
        scenario=${cpu:+cpu_}${n}node
        write_script "$n" >"$submission/$scenario.sbatch" || die "cannot write $submission/$scenario.sbatch"
        if submit_job "$scenario"; then numbers+=:$job; else failed=1; fi
    done
    [ -n "$numbers" ] || die "no job was submitted"
    if [ -z "$no_analyze" ]; then
        write_analysis >"$submission/analyze.sbatch"
        submit_job analyze "--dependency=afterany$numbers" || failed=1
    fi
    say "submitted: $submission"
    return $failed
}

# ---- options ----
nodes='' cpu='' requeue='' isolate_first='' nsys='' no_analyze='' submission='' command=${1:-}
option_rows=("--output output check_path" "--program program check_path")
case $command in
--help) usage; exit 0 ;;
configure)
    for key in "${keys[@]//_/-}"; do option_rows+=("--$key - set_setting"); done
    ;;
submit)
    option_rows+=("--nodes nodes check_counts" "--cpu cpu flag" "--requeue requeue flag" "--isolate isolate_first flag"
        "--nsys nsys flag" "--no-analyze no_analyze flag")
    takes_dashes=1
    ;;
status | wait | cancel | collect | analyze) most_arguments=1 ;;
*) usage_error "unknown command '$command'; expected configure, submit, status, wait, cancel, collect or analyze; see --help" ;;
esac
read_options "${@:2}"
submission=${arguments[0]:-}
output=$(realpath -m -- "$output") program=$(realpath -m -- "$program")
case $command in
configure) configure "$output/slurm.conf" ;;
submit) submit "${after_dashes[@]}" ;;
*)
    find_submission
    [[ $command == @(collect|analyze) ]] || need_slurm
    "${command}_jobs"
    ;;
esac
