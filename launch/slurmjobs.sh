# slurmjobs.sh - the commands of slurm.sh for submitted jobs: status, wait, cancel, collect, analyze.
# Sourced by slurm.sh, which defines die_of_slurm() and need_slurm(), and sets output, program and submission.
# shellcheck shell=bash disable=SC2154 # set by slurm.sh

# find_submission: sets submission (the newest, unless given), output (the directory of its runs), and jobs, an array of
# "number name".
find_submission() {
    local newest text why
    if [ -z "$submission" ]; then
        newest=("$output"/run_*/jobs.txt)
        [ -e "${newest[-1]}" ] ||
            usage_error "there is no submission in $output; make one with launch/slurm.sh submit, or give its --output"
        submission=${newest[-1]%/*}
    fi
    submission=$(realpath -m -- "$submission")
    [ -e "$submission/jobs.txt" ] || usage_error "$submission is not a submission of slurm.sh: it has no jobs.txt"
    read_text "the list of jobs," "$submission/jobs.txt"
    why=$(awk '!/^[0-9]+ [a-z0-9_]+$/ || length > 200 {
        print "line " NR ": expected the number and the name of a job, not \047" $0 "\047"
        exit
    }' <<<"${text:-0 none}")
    [ -z "$why" ] || usage_error "$submission/jobs.txt, $why"
    output=${submission%/*}
    mapfile -t jobs < <(grep . <<<"$text")
    [ ${#jobs[@]} -gt 0 ] || usage_error "$submission/jobs.txt lists no job"
}

# run_of JOB: prints the directory of the job's run.
run_of() { echo "$output/${1#* }/run_${1% *}"; }

# noted RUN KEY: prints the last value of the key in the job's metadata.
noted() { sed -n "s/^$2=//p" "$1/job_metadata.txt" 2>/dev/null | tail -n 1; }

# field NAME: reads a line of scontrol show job -o and prints the field of that name.
field() { sed -nE "s/^(.* )?$1=([^ ]*).*/\2/p"; }

# ---- states ----
# read_queue: sets queue to this user's jobs in Slurm's queue, as lines "number|state|reason|nodes|elapsed", and
# unreachable to the error if Slurm does not answer.
read_queue() {
    unreachable=''
    queue=$(timeout 60 squeue -h -u "$(id -un)" -o '%A|%T|%r|%N|%M' 2>&1) && return
    unreachable=${queue:-no answer within 60 s} queue=''
    return 1
}

# read_accounting NUMBER FIELDS [MORE_FIELDS]: prints "source=..." and the job's record in the accounting database, or
# else in the job completion log (jobcomp). Only the database has MORE_FIELDS.
read_accounting() {
    local rows
    command -v sacct >/dev/null || return
    rows=$(timeout 60 sacct -P -j "$1" -o "$2${3:-}" 2>/dev/null) || rows=''
    [ "$(wc -l <<<"$rows")" = 1 ] || { printf 'source=sacct\n%s\n' "$rows"; return; }
    rows=$(timeout 60 sacct -c -P -j "$1" -o "$2" 2>/dev/null) || rows=''
    [ "$(wc -l <<<"$rows")" = 1 ] || { printf 'source=jobcomp\n%s\n' "$rows"; return; }
    return 1
}

# ask_job NUMBER RUN: sets state, reason, node_list and elapsed from the first source that knows the job: the queue,
# scontrol, the accounting, or the job's metadata.
ask_job() {
    local line code=''
    state='' reason='' node_list='' elapsed=''
    IFS='|' read -r _ state reason node_list elapsed < <(grep "^$1|" <<<"$queue") || true
    if [ -n "$state" ]; then
        : # known from the queue
    elif line=$(timeout 20 scontrol show job -o "$1" 2>/dev/null); then
        state=$(field JobState <<<"$line") reason=$(field Reason <<<"$line") elapsed=$(field RunTime <<<"$line")
        node_list=$(field NodeList <<<"$line") code=$(field ExitCode <<<"$line")
    elif line=$(read_accounting "$1" JobID,State,Elapsed,NodeList,ExitCode | grep "^$1|" | tail -n 1); then
        IFS='|' read -r _ state elapsed node_list code <<<"$line"
        state=${state%% *}
    elif [ -n "$(noted "$2" end)" ]; then
        state=COMPLETED node_list=$(noted "$2" node_list)
        [ "$(noted "$2" exit_status)" = 0 ] || { state=FAILED reason="exit status $(noted "$2" exit_status)"; }
    else
        state=UNKNOWN reason="Slurm no longer knows the job, and the job recorded no end"
    fi
    [[ $code == @(|0:0) ]] || reason="exit code $code"
    [ "$reason" != None ] || reason=''
    [[ $node_list != @('(null)'|'None assigned') ]] || node_list='' # the job never began
}

# failed_nodes NUMBER NAME RUN: prints the failed nodes that srun or Slurm named in the job's output, or else the nodes
# of the job that are down.
failed_nodes() {
    local named had
    named=$(sed -nE 's/.*(Node failure on|[Ff]ailed on node) ([A-Za-z0-9._-]+).*/\2/p' "$submission/$2_$1.out" 2>/dev/null | sort -u)
    had=$(noted "$3" node_list)
    if [ -z "$named" ] && [ -n "$had" ] && [[ $state != @(RUNNING|COMPLETED) ]]; then
        named=$(timeout 20 sinfo -h -N -n "$had" -t down -o %N 2>/dev/null | sort -u)
    fi
    paste -sd, <<<"$named"
}

# explain_state NUMBER NAME RUN: prints the notes on a job, separated by semicolons.
explain_state() {
    local notes=() nodes
    nodes=$(failed_nodes "$1" "$2" "$3")
    notes=("$reason" "${nodes:+node $nodes failed}")
    if [ "$state" = RUNNING ] && [ -e "$3/job_metadata.txt" ]; then
        notes+=("$(sed -nE 's/^([a-z]+)_start=.*/\1/p' "$3/job_metadata.txt" | tail -n 1)")
    fi
    [[ $state == @(PENDING|RUNNING|COMPLETED) ]] || notes+=("$(noted "$3" interrupted)")
    notes+=("$(noted "$3" error)")
    [[ $(noted "$3" restart) == @(0|'') ]] || notes+=(restarted)
    [[ $state != @(FAILED|NODE_FAIL|BOOT_FAIL|OUT_OF_MEMORY) ]] || notes+=("see $submission/$2_$1.out")
    printf '%s\n' "${notes[@]}" | sed '/^$/d' | paste -sd ';' | sed 's/; */; /g'
}

# print_table: prints a line for each job; sets left (the number of jobs that have not ended) and bad (the number of
# failed jobs).
print_table() {
    local job state reason node_list elapsed
    left=0 bad=0
    printf '%-12s %-10s %-13s %-11s %-20s %s\n' run job state time nodes notes
    for job in "${jobs[@]}"; do
        ask_job "${job% *}" "$(run_of "$job")"
        case $state in
        COMPLETED) ;;
        PENDING | CONFIGURING | RUNNING | COMPLETING | REQUEUE* | SUSPENDED | RESIZING | STAGE_OUT | SIGNALING | STOPPED)
            left=$((left + 1))
            ;;
        *) bad=$((bad + 1)) ;;
        esac
        printf '%-12s %-10s %-13s %-11s %-20s %s\n' "${job#* }" "${job% *}" "$state" "$elapsed" "$node_list" \
            "$(explain_state "${job% *}" "${job#* }" "$(run_of "$job")")" | sed 's/ *$//'
    done
}

status_jobs() {
    read_queue || die_of_slurm "$unreachable"
    print_table
    [ $left = 0 ] || exit 3
    [ $bad = 0 ] || exit 4
}

# wait_jobs: waits until all jobs have ended; keeps trying for some minutes if the controller does not answer, as when it restarts.
wait_jobs() {
    local text='' before='' begin=$SECONDS job in_queue lost=0 state
    while true; do
        if read_queue; then
            lost=0 in_queue=0 text=''
            for job in "${jobs[@]}"; do
                IFS='|' read -r _ state _ < <(grep "^${job% *}|" <<<"$queue") || continue
                # the C locale lowers I to i; a Turkish locale would not
                in_queue=$((in_queue + 1)) text+=", ${job#* } $(LC_ALL=C tr '[:upper:]' '[:lower:]' <<<"$state")"
            done
            [ $in_queue -gt 0 ] || break
            text="$((${#jobs[@]} - in_queue)) of ${#jobs[@]} done$text"
        else
            lost=$((lost + 1)) text="no answer, asking again: $(head -n 1 <<<"$unreachable")"
            [ $lost -lt 10 ] || die_of_slurm "$unreachable"
        fi
        [ "$text" = "$before" ] || say "$text"
        before=$text
        sleep $((SECONDS - begin < 200 ? 1 + (SECONDS - begin) / 20 : 10)) # queries less often during long jobs
    done
    print_table
    [ $bad = 0 ] && [ $left = 0 ] || exit 4
}

cancel_jobs() {
    local job error ids=()
    read_queue || die_of_slurm "$unreachable"
    for job in "${jobs[@]}"; do
        ! grep -q "^${job% *}|" <<<"$queue" || ids+=("${job% *}")
    done
    [ ${#ids[@]} -gt 0 ] || { say "none of the jobs waits or runs"; return; }
    error=$(timeout 60 scancel --quiet "${ids[@]}" 2>&1) || die_of_slurm "$error"
    say "cancelled: ${ids[*]}; their measurements are kept"
}

# ---- results ----
# print_account NUMBER RUN: prints the record of a job; the first line names the source. Slurm deletes old records, so
# the record of an ended job from an earlier collect is kept.
print_account() {
    local rows fields=JobID,JobName,Partition,State,ExitCode,Start,End,Elapsed,Timelimit,NNodes,NodeList
    read_accounting "$1" $fields ,Account,Submit,NTasks,NCPUS,MaxRSS,AveCPU,TotalCPU && return
    if rows=$(timeout 60 scontrol show job -o "$1" 2>/dev/null); then
        printf 'source=scontrol\n%s\n' "$rows"
    elif [ -s "$2/sacct_summary.txt" ] &&
        ! grep -qE '^source=(job|none)$|[|=](PENDING|CONFIGURING|RUNNING|COMPLETING)' "$2/sacct_summary.txt"; then
        cat "$2/sacct_summary.txt"
    elif [ -s "$2/scontrol.txt" ]; then
        echo source=job && cat "$2/scontrol.txt"
    else
        echo source=none && echo "neither accounting nor Slurm knows job $1, and it left no file"
    fi
}

# join_monitors RUN NAME FILE...: joins the monitor files NAME*.csv of all parts, adding the columns part and host.
join_monitors() {
    local file part host first=1
    for file in "${@:3}"; do
        part=${file#"$1/"} host=${file##*/"$2"}
        host=${host%.csv}
        [ -n "$host" ] || host=$(noted "$1" node_list)
        awk -v part="${part%%/*}" -v host="${host#_}" -v first="$first" '
            NR == 1 { if (first) print "part,host," $0; next }
            { print part "," host "," $0 }' "$file" || return
        first=''
    done
}

# has_ended NUMBER RUN: tests whether the job has ended: by the queue, or by the job's metadata if Slurm does not answer.
has_ended() {
    if [ -z "$unreachable" ]; then
        ! grep -q "^$1|" <<<"$queue"
    else
        [ -n "$(noted "$2" end)" ]
    fi
}

# write_tables RUN: writes metrics.csv for parts that were killed; parts that ended normally write it themselves.
write_tables() {
    local steps
    for steps in "$1"/{benchmark,allreduce}/rank_0_metrics.jsonl "$1"/profile/*/rank_0_metrics.jsonl; do
        [ "$steps" -nt "${steps%/*}/metrics.csv" ] || continue
        "$program" report --metrics-csv "${steps%/*}" ||
            say "there is no ${steps%/*}/metrics.csv, but all steps are in $steps"
    done
}

# check_records: ends the script if slurm.sh did not submit the jobs, or if collect_jobs would replace a file of somebody else.
check_records() {
    local job run
    grep -qs '^#SBATCH "--job-name=ddpb-' "$submission"/*.sbatch ||
        usage_error "$submission is not a submission of slurm.sh: it has no batch script that slurm.sh wrote"
    for job in "${jobs[@]}"; do
        run=$(run_of "$job")
        check_replaceable "$run/sacct_summary.txt" source=
        check_replaceable "$run/cpu_monitor.csv" part,host,
        check_replaceable "$run/gpu_monitor.csv" part,host,
        check_replaceable "$run/metrics.csv" implementation,round,
        check_replaceable "$run/job.sbatch" '#!/bin/bash'
        check_replaceable "$run/profiling_report.txt" 'ddpbench report: '
    done
}

# collect_jobs: writes the accounting of each job, the monitors' files, metrics.csv and the batch script to the job's directory.
collect_jobs() {
    local job run name files
    check_records
    read_queue || true
    for job in "${jobs[@]}"; do
        [ "${job#* }" != analyze ] || continue
        run=$(run_of "$job")
        mkdir -p "$run" || die "cannot make the directory $run"
        write_file "$run/sacct_summary.txt" print_account "${job% *}" "$run"
        for name in cpu_monitor gpu_monitor; do
            mapfile -t files < <(find "$run"/{benchmark,profile,allreduce} \( -name "$name.csv" -o -name "${name}_*.csv" \) \
                2>/dev/null | sort)
            [ ${#files[@]} = 0 ] || write_file "$run/$name.csv" join_monitors "$run" "$name" "${files[@]}"
        done
        ! has_ended "${job% *}" "$run" || write_tables "$run"
        [ ! -e "$run/benchmark/metrics.csv" ] || write_file "$run/metrics.csv" cat "$run/benchmark/metrics.csv"
        [ ! -e "$submission/${job#* }.sbatch" ] || write_file "$run/job.sbatch" cat "$submission/${job#* }.sbatch" ||
            say "there is no $run/job.sbatch"
    done
    say "collected: $submission"
}

# report_jobs DIR JSON JOB...: writes a report of the jobs' runs, named after the jobs, to DIR and, as JSON, to a file; prints it. Reports each part of a run, or the run if it
# has no parts, because the run's other directories (interrupted parts, runs under nsys) do not belong in a report.
report_jobs() {
    local job run part found runs=()
    for job in "${@:3}"; do
        run=$(run_of "$job") found=''
        for part in benchmark profile allreduce; do
            [ -d "$run/$part" ] || continue
            runs+=("${job#* }=$run/$part") found=1
        done
        [ -n "$found" ] || runs+=("${job#* }=$run")
    done
    "$program" report --output "$1" ${2:+--json "$2"} "${runs[@]}"
}

analyze_jobs() {
    local job run runs=() state reason node_list elapsed why failed=0
    need_program "$program"
    collect_jobs
    for job in "${jobs[@]}"; do
        [ "${job#* }" != analyze ] || continue
        runs+=("$job")
        run=$(run_of "$job")
        ask_job "${job% *}" "$run"
        [[ $state != @(RUNNING|PENDING) ]] || say "${job#* }, job ${job% *}, is $state: the report contains the measurements so far"
        why=$(write_file "$run/profiling_report.txt" report_jobs "$run/report" "$run/profiling_analysis.json" "$job" 2>&1) && continue
        say "the report in $run/report is missing or incomplete: ${why##*ddpbench: }"
        failed=1
    done
    report_jobs "$submission" '' "${runs[@]}" ||
        die "some runs could not be reported (see above), or the report could not be written; the results are in $output/*/run_*"
    say "analyzed: $submission"
    return $failed
}
