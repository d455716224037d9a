#!/usr/bin/env bash
# slurm.sh - runs on several numbers of nodes as jobs of Slurm, and one report of them: each job is the benchmark, a profile
# of the strategy that was fastest, and an all-reduce sweep.
#
# There is no state but files: the configuration, and a directory for each submission, whose job_ids.txt says which jobs it
# has. Every command can be called again, also where an earlier one was killed.
set -euo pipefail

here=$(dirname "$(realpath "$0")")
program=$(realpath -m "$here/../build/ddpbench") output=results/profiling

usage() {
    cat <<END
Usage: launch/slurm.sh configure [OPTION...]
       launch/slurm.sh submit --nodes LIST [OPTION...] [-- OPTION OF DDPBENCH...]
       launch/slurm.sh status|wait|cancel|collect|analyze [--output DIR] [SUBMISSION]

Commands:
  configure          writes the settings of all jobs, DIR/slurm.conf, from the options given and the defaults
  submit             one job for each number of nodes, and a last one that collects and analyzes
  status             a line for each job: what it is, its number, state, nodes, time, and what went wrong
  wait               until no job is left; on a terminal with a line that says how far they are
  cancel             ends those that wait or run
  collect            what Slurm knows of each job, and the monitors' files: into its directory
  analyze            ddpbench report of each run, and of them all into the submission's directory
SUBMISSION is DIR/run_<time> (default: the newest in DIR).

Options of configure:
  --partition NAME      (default: Slurm's)
  --account NAME        (default: none)
  --time T              limit of a job: minutes, H:MM:SS or DAYS-HH:MM:SS (default 60)
  --gpus-per-node N     (default: those of a node of the partition)
  --tasks-per-node N    ranks of a node (default: one for each GPU, or 1)
  --cpus-per-task N     (default: a rank's share of the node)
  --constraint FEATURES  (default: none)
  --qos NAME            (default: Slurm's)
  --mpi pmi2|pmix       how srun starts ranks (default: what the program's MPI is started by, if srun --mpi=list has it)
  --modules "A B"       what module load gets in a job (default: none)
  --exclusive yes|no    whether jobs have their nodes for themselves (default yes: others spoil the times)

Options of submit:
  --nodes LIST          numbers of nodes, such as 1,2,4
  --cpu                 on CPUs, without GPUs; the runs are then called cpu_2node and so on
  --requeue             Slurm may start a job again whose node failed; it goes on where it stopped
  --nsys                also records the profile's steps with Nsight Systems, in nsys/
  --no-analyze          no last job

Options of all commands (--NAME=VALUE is taken for --NAME VALUE):
  --output DIR          where everything goes (default $output)
  --program FILE        the benchmark (default build/ddpbench)
  --help

A job runs the benchmark, a profile of the strategy that was fastest in it, and ddpbench allreduce, and ends with the first
that fails. What follows -- goes to those that know the option: --rounds to benchmark and profile, --max-bytes to allreduce.
Below DIR/2node/run_<JOB> are benchmark, profile, allreduce and job_metadata.txt; the script that ran is
DIR/run_<time>/2node.sbatch. Sixty seconds before its time limit, if that is 3 minutes or more, what runs is ended, so
that it sums up.
Exit status: 0 fine (status and wait: all jobs ended well), 1 Slurm does not answer or something else is missing, 2 the
options make no sense, 3 (status) jobs wait or run, 4 (status and wait) jobs failed.
END
}

# shellcheck source=launch/common.sh
. "$here/common.sh"

# slurm_says WORDS: ends with what a command of Slurm said.
slurm_says() { die "Slurm says: $(grep -a . <<<"${1:-nothing within 60 s}" | tail -n 1)"; }

need_slurm() {
    local tool
    need_tools mawk awk
    for tool in sbatch squeue sinfo scontrol srun; do
        command -v $tool >/dev/null || die "there is no $tool: Slurm's commands are not on this machine, or not in PATH"
    done
}

# shellcheck source=launch/slurmconf.sh
. "$here/slurmconf.sh"
# shellcheck source=launch/slurmjobs.sh
. "$here/slurmjobs.sh"

# ---- submit ----
# minutes TIME: as --time takes it.
minutes() {
    awk -F '[-:]' '
        !/[-:]/ { print $1 + 0; next }
        /-/ { print ($1 * 24 + $2) * 60 + $3; next }
        { print $1 * 60 + $2 }' <<<"$1"
}

# job_options NODES GPUS_PER_NODE: adds to options those of sbatch that come from the configuration.
job_options() {
    options+=("--nodes=$1" "--ntasks-per-node=${conf[tasks_per_node]}" "--time=${conf[time]}")
    [ -z "${conf[partition]}" ] || options+=("--partition=${conf[partition]}")
    [ -z "${conf[account]}" ] || options+=("--account=${conf[account]}")
    [ -z "${conf[cpus_per_task]}" ] || options+=("--cpus-per-task=${conf[cpus_per_task]}")
    [ "$2" = 0 ] || options+=("--gpus-per-node=$2")
    [ -z "${conf[constraint]}" ] || options+=("--constraint=${conf[constraint]}")
    [ -z "${conf[qos]}" ] || options+=("--qos=${conf[qos]}")
    [ "${conf[exclusive]}" = no ] || options+=(--exclusive)
}

# list NAME VALUE...: an array, for a script.
list() {
    local name=$1
    shift
    echo "$name=($([ $# = 0 ] || printf '%q ' "$@" | sed 's/ $//'))"
}

# share_options OPTION...: sets benchmark, profile, allreduce, and wire and buckets (what a profile of only one strategy takes):
# which part gets which.
share_options() {
    check_lengths "$@"
    local rows option word section value
    declare -A sections=() values=()
    rows=$({ "$program" --help rows && "$program" allreduce --help rows | sed 's/^\([A-Z].*\):$/allreduce, \1:/'; } 2>&1) ||
        die "$program --help: $rows"
    while IFS=$'\t' read -r section option value; do
        sections[$option]+="$section|" values[$option]=$value
    done < <(awk -F '\t' '
        /^[A-Z].*:$/ || /^allreduce, / { section = $0 }
        /^\t/ { print section "\t" $2 "\t" ($4 != "") }' <<<"$rows")
    benchmark=() profile=() allreduce=() wire=() buckets=()
    while [ $# -gt 0 ]; do
        option=${1%%=*}
        word=${option#--}
        word=${word//_/-}
        section=${sections[${word:-none}]:-}
        [[ $1 == --* && -n $section ]] ||
            usage_error "option '$1' after --: neither ddpbench nor ddpbench allreduce has it, in full"
        case $word in
        output | output-file | profile | profile-implementation | profile-output-dir | monitor-cpu | monitor-gpu | \
            cuda-profiler-range | dry-run | help | version)
            usage_error "--$word is what launch/slurm.sh sets itself"
            ;;
        device) [ -z "$cpu" ] || usage_error "--device: with --cpu it is cpu" ;;
        esac
        value=("$1")
        if [ "${values[$word]}" = 1 ] && [[ $1 != *=* ]]; then
            [ $# -gt 1 ] || usage_error "--$word after -- needs a value"
            value+=("$2")
            shift
        fi
        shift
        case $section in
        *Profile:*) profile+=("${value[@]}") ;;
        allreduce,*) allreduce+=("${value[@]}") ;; # those of allreduce alone
        *)
            benchmark+=("${value[@]}")
            case $word in
            implementations | resolve | max-minutes | attainable) ;; # not of a profile
            grad-dtype) wire+=("${value[@]}") ;;
            bucket-size-mb) buckets+=("${value[@]}") ;;
            *) profile+=("${value[@]}") ;;
            esac
            case $section in
            Device:* | Communication:* | Results:*) allreduce+=("${value[@]}") ;;
            esac
            ;;
        esac
    done
    [ -z "$cpu" ] || { benchmark+=(--device cpu) profile+=(--device cpu) allreduce+=(--device cpu); }
}

# check_share NODES COMMAND OPTION...: refuses what the program would refuse in a job.
check_share() {
    local device=cpu why
    [ -n "$cpu" ] || [ "${conf[gpus_per_node]}" = 0 ] || device=cuda
    why=$(dry_run_error $(($1 * conf[tasks_per_node])) $device "${@:2}")
    [ -z "$why" ] || usage_error "options after --, for $1 node$([ "$1" = 1 ] || echo s) x ${conf[tasks_per_node]}: $why"
}

# What a profile and allreduce refuse that the benchmark does not, they refuse of the fewest ranks.
check_shares() {
    local n fewest
    fewest=$(printf '%s\n' "${of_nodes[@]}" | sort -n | head -n 1)
    for n in "${of_nodes[@]}"; do
        check_share "$n" '' "${benchmark[@]}"
    done
    check_share "$fewest" '' --profile "${profile[@]}"
    check_share "$fewest" allreduce "${allreduce[@]}"
}

# write_script NODES: the job of that many nodes, on stdout.
write_script() {
    local options=("--job-name=ddpb-$scenario" "--output=$submission/${scenario}_%j.out" --open-mode=append)
    local monitors=(--monitor-cpu) gpus=0 notice=''
    [ -n "$cpu" ] || gpus=${conf[gpus_per_node]}
    job_options "$1" "$gpus"
    [ -n "$requeue" ] && options+=(--requeue) || options+=(--no-requeue)
    if [ "$(minutes "${conf[time]}")" -ge 3 ]; then
        notice=60 # Slurm may send it a minute early
        options+=("--signal=TERM@$notice")
    fi
    [ "$gpus" = 0 ] || monitors+=(--monitor-gpu)
    echo '#!/bin/bash'
    printf '#SBATCH "%s"\n' "${options[@]}" # the quotes are for sbatch
    printf '%s=%q\n' scenario "$scenario" submission "$submission" results "$output/$scenario" program "$program" \
        scripts "$here" mpi "${conf[mpi]}" nsys "$nsys" notice "$notice"
    # shellcheck disable=SC2086 # of names without blanks, parted by them
    list modules ${conf[modules]}
    list monitors "${monitors[@]}"
    list benchmark_options "${benchmark[@]}"
    list profile_options "${profile[@]}"
    list wire_options "${wire[@]}"
    list bucket_options "${buckets[@]}"
    list allreduce_options "${allreduce[@]}"
    echo
    cat "$here/slurm.sbatch"
}

# The last job, on stdout.
write_analysis() {
    local options=(--job-name=ddpb-analyze "--output=$submission/analyze_%j.out" --nodes=1 --ntasks=1 --time=30 --no-requeue)
    [ -z "${conf[partition]}" ] || options+=("--partition=${conf[partition]}")
    [ -z "${conf[account]}" ] || options+=("--account=${conf[account]}")
    [ -z "${conf[constraint]}" ] || options+=("--constraint=${conf[constraint]}")
    [ -z "${conf[qos]}" ] || options+=("--qos=${conf[qos]}")
    echo '#!/bin/bash'
    printf '#SBATCH "%s"\n' "${options[@]}"
    printf '%q ' "$here/slurm.sh" analyze --output "$output" --program "$program" "$submission"
    echo
}

# send NAME [OPTION...]: submits NAME.sbatch and lists its job at once; sets job. To sbatch SBATCH_* of the environment count
# for more than what the script says, and options for more than both; so it gets the script's as options, too.
send() {
    local name=$1 options
    shift
    mapfile -t options < <(sed -n 's/^#SBATCH "\(.*\)"$/\1/p' "$submission/$name.sbatch")
    if job=$(timeout 120 sbatch --parsable "${options[@]}" "$@" "$submission/$name.sbatch" \
        2>"$submission/refused.txt" </dev/null) && [[ $job =~ ^[0-9]+ ]]; then
        job=${job%%;*}
        echo "$job $name" >>"$submission/job_ids.txt"
        echo "$job $name"
        rm -f "$submission/refused.txt"
        return
    fi
    say "$name was not submitted: $(grep . "$submission/refused.txt" | tail -n 1 || echo "no answer within 120 s")"
    rm -f "$submission/refused.txt"
    return 1
}

# Sets of_nodes: those of --nodes, as far as the partition has them.
check_nodes() {
    local n listed=,
    [ -n "$nodes" ] || usage_error "how many nodes? Give --nodes, such as --nodes 1,2,4"
    [[ $nodes =~ ^[1-9][0-9]{0,3}(,[1-9][0-9]{0,3})*$ ]] ||
        usage_error "--nodes '$nodes': expected numbers from 1 to 9999, parted by commas"
    IFS=, read -r -a of_nodes <<<"$nodes"
    partition_facts "${conf[partition]}"
    for n in "${of_nodes[@]}"; do
        [[ $listed != *,$n,* ]] || usage_error "--nodes '$nodes': $n is there twice"
        listed+=$n,
        [ "$n" -le "${of_partition[1]}" ] ||
            usage_error "--nodes $n: partition ${of_partition[0]} has ${of_partition[1]} nodes, so such a job would wait for ever"
    done
}

# What is written into scripts for sbatch.
check_names() {
    [[ $output$program != *[[:cntrl:]%\"\'\\]* ]] ||
        usage_error "'$output', '$program': sbatch cannot take such names; choose others, without % \" ' \\"
}

submit() {
    local n scenario submission job words numbers='' failed=0 of_nodes of_partition
    local benchmark profile allreduce wire buckets
    [ -z "${SLURM_JOB_ID:-}" ] ||
        usage_error "this is inside job $SLURM_JOB_ID, whose settings the new jobs would get; submit from outside"
    need_slurm
    need_program "$program"
    check_names
    read_configuration "$output/slurm.conf"
    check_nodes
    share_options "$@"
    check_shares
    submission=$output/run_$(date -u +%Y%m%d-%H%M%S)
    until words=$(mkdir "$submission" 2>&1); do
        [ -d "$submission" ] || die "cannot make the directory $submission: ${words##*: }"
        sleep 0.1 # another began in this second
        submission=$output/run_$(date -u +%Y%m%d-%H%M%S)
    done
    cp "$output/slurm.conf" "$submission/slurm.conf"
    for n in "${of_nodes[@]}"; do
        scenario=${cpu:+cpu_}${n}node
        mkdir -p "$output/$scenario" || die "cannot make the directory $output/$scenario"
        write_script "$n" >"$submission/$scenario.sbatch" || die "cannot write $submission/$scenario.sbatch"
        if send "$scenario"; then numbers+=:$job; else failed=1; fi
    done
    [ -n "$numbers" ] || die "no job was submitted"
    if [ -n "$analyze" ]; then
        write_analysis >"$submission/analyze.sbatch"
        send analyze "--dependency=afterany$numbers" || failed=1
    fi
    say "submitted: $submission"
    return $failed
}

# ---- options ----
command=${1:-}
case $command in
--help) usage; exit 0 ;;
'') usage_error "which command? configure, submit, status, wait, cancel, collect or analyze; see --help" ;;
configure | submit | status | wait | cancel | collect | analyze) shift ;;
*) usage_error "unknown command '$command'; known are configure, submit, status, wait, cancel, collect, analyze; and --help" ;;
esac
nodes='' cpu='' requeue='' nsys='' analyze=1 submission=''
flags=() known=(--output --program) # without and with a value
case $command in
configure) known+=("${keys[@]/#/--}") && known=("${known[@]//_/-}") ;;
submit) known+=(--nodes) flags=(--cpu --requeue --nsys --no-analyze) ;;
esac
while [ $# -gt 0 ]; do
    joined=''
    case $1 in
    --help) usage; exit 0 ;;
    --) shift; break ;;
    --*=*) joined=1 && set -- "${1%%=*}" "${1#*=}" "${@:2}" ;; # as Slurm's own commands take it, too
    -*) ;;
    *)
        [[ $command != @(configure|submit) ]] || usage_error "'$1': $command takes options only; those of ddpbench come after --"
        [ -z "$submission" ] || usage_error "one SUBMISSION only, not also '$1'"
        submission=$1
        shift
        continue
        ;;
    esac
    if [[ " ${flags[*]} " == *" $1 "* && $1 != *" "* ]]; then
        [ -z "$joined" ] || usage_error "$1 takes no value"
        case $1 in
        --cpu) cpu=1 ;;
        --requeue) requeue=1 ;;
        --nsys) nsys=1 ;;
        --no-analyze) analyze='' ;;
        esac
        shift
        continue
    fi
    [[ " ${known[*]} " == *" $1 "* && $1 != *" "* ]] ||
        usage_error "unknown option '$1' of $command; known are ${known[*]} ${flags[*]} --help"
    [ $# -gt 1 ] || usage_error "$1 needs a value"
    case $1 in
    --output | --program | --nodes) need_value "$@" ;; # elsewhere nothing is Slurm's own default
    esac
    case $1 in
    --output) output=$2 ;;
    --program) program=$2 ;;
    --nodes) nodes=$2 ;;
    *)
        key=${1#--}
        key=${key//-/_}
        why=$(check_value "$key" "$2")
        [ -z "$why" ] || usage_error "$1 '$2': $why"
        conf[$key]=$2
        ;;
    esac
    shift 2
done
[ $# = 0 ] || [ "$command" = submit ] || usage_error "'$1': only submit takes options of ddpbench"
output=$(realpath -m -- "$output") program=$(realpath -m -- "$program")
case $command in
configure) configure "$output/slurm.conf" ;;
submit) submit "$@" ;;
*)
    find_submission
    "${command}_jobs"
    ;;
esac
