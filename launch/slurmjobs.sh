# slurmjobs.sh - what slurm.sh does with the jobs of a submission: how they are, waiting for them, ending them, and
# collecting and analyzing what they left. Read by slurm.sh, which defines slurm_says() and need_slurm(), and sets
# output, program and submission.
# shellcheck shell=bash disable=SC2154 # what slurm.sh sets

# Sets submission (the newest, unless one was given), output (where its runs are), and jobs: "number name" each.
find_submission() {
    local newest text why
    if [ -z "$submission" ]; then
        newest=("$output"/run_*/job_ids.txt)
        [ -e "${newest[-1]}" ] ||
            usage_error "there is no submission in $output; launch/slurm.sh submit makes one, --output says where"
        submission=${newest[-1]%/*}
    fi
    submission=$(realpath -m -- "$submission")
    [ -e "$submission/job_ids.txt" ] || usage_error "$submission is no submission of launch/slurm.sh: it has no job_ids.txt"
    read_text "the list of jobs," "$submission/job_ids.txt"
    why=$(awk '!/^[0-9]+ [a-z0-9_]+$/ || length > 200 {
        print "line " NR ": expected the number and the name of a job, not \047" $0 "\047"
        exit
    }' <<<"${text:-0 none}")
    [ -z "$why" ] || usage_error "$submission/job_ids.txt, $why"
    output=${submission%/*}
    mapfile -t jobs < <(grep . <<<"$text")
    [ ${#jobs[@]} -gt 0 ] || usage_error "$submission/job_ids.txt lists no job"
}

# run_of JOB: its directory.
run_of() { echo "$output/${1#* }/run_${1% *}"; }

# noted RUN KEY: what the job noted last.
noted() { sed -n "s/^$2=//p" "$1/job_metadata.txt" 2>/dev/null | tail -n 1; }

# field NAME: of the one line that scontrol show job -o printed, on stdin.
field() { sed -nE "s/^(.* )?$1=([^ ]*).*/\2/p"; }

# ---- how they are ----
# Sets queue: what Slurm's queue has of this user's jobs, a line "number|state|reason|nodes|elapsed" each.
read_queue() {
    local words
    if ! words=$(timeout 60 squeue -h -u "$(id -un)" -o '%A|%T|%r|%N|%M' 2>&1); then
        queue='' unreachable=${words:-no answer within 60 s}
        return 1
    fi
    queue=$words unreachable=''
}

# ask_job NUMBER RUN: sets state, reason, node_list and elapsed, by the first that knows: the queue, scontrol, accounting,
# the job.
ask_job() {
    local line
    state='' reason='' node_list='' elapsed=''
    IFS='|' read -r _ state reason node_list elapsed < <(grep "^$1|" <<<"$queue") || true
    if [ -n "$state" ]; then
        : # by the queue
    elif line=$(timeout 20 scontrol show job -o "$1" 2>/dev/null); then
        state=$(field JobState <<<"$line") reason=$(field Reason <<<"$line") elapsed=$(field RunTime <<<"$line")
        node_list=$(field NodeList <<<"$line")
        [ "$(field ExitCode <<<"$line")" = 0:0 ] || reason="exit code $(field ExitCode <<<"$line")"
    elif line=$(by_accounting "$1" State,Elapsed,NodeList,ExitCode | grep -v '^State|' | tail -n 1) && [ -n "$line" ]; then
        IFS='|' read -r state elapsed node_list reason <<<"$line"
        state=${state%% *} reason="exit code $reason"
    elif [ -n "$(noted "$2" end)" ]; then
        state=COMPLETED node_list=$(noted "$2" node_list)
        [ "$(noted "$2" exit_status)" = 0 ] || { state=FAILED reason="exit status $(noted "$2" exit_status)"; }
    else
        state=UNKNOWN reason="Slurm has forgotten it, and it noted no end"
    fi
    [[ $reason != @(None|exit code 0:0) ]] || reason=''
    [[ $node_list != @('(null)'|'None assigned') ]] || node_list='' # it never began
}

# by_accounting NUMBER FIELDS: from the database, or else the file of jobcomp; nothing, with status 1, if there is neither.
by_accounting() {
    local rows
    command -v sacct >/dev/null || return
    rows=$(timeout 60 sacct -X -P -j "$1" -o "$2" 2>/dev/null)
    [ "$(wc -l <<<"$rows")" -gt 1 ] || rows=$(timeout 60 sacct -c -P -j "$1" -o "$2" 2>/dev/null)
    [ "$(wc -l <<<"$rows")" -gt 1 ] && echo "$rows"
}

# failed_nodes NUMBER NAME RUN: those that srun or Slurm named in the job's output, or that it had and are down.
failed_nodes() {
    local named had
    named=$(sed -nE 's/.*(Node failure on|[Ff]ailed on node) ([A-Za-z0-9._-]+).*/\2/p' "$submission/$2_$1.out" 2>/dev/null | sort -u)
    had=$(noted "$3" node_list)
    if [ -z "$named" ] && [ -n "$had" ] && [[ $state != @(RUNNING|COMPLETED) ]]; then
        named=$(timeout 20 sinfo -h -N -n "$had" -t down -o %N 2>/dev/null | sort -u)
    fi
    paste -sd, <<<"$named"
}

# explain NUMBER NAME RUN: what there is to say of a job, beside its state.
explain() {
    local words=$reason nodes part
    nodes=$(failed_nodes "$1" "$2" "$3")
    [ -z "$nodes" ] || words+="${words:+; }node $nodes failed"
    if [ "$state" = RUNNING ] && [ -e "$3/job_metadata.txt" ]; then
        part=$(sed -nE 's/^([a-z]+)_start=.*/\1/p' "$3/job_metadata.txt" | tail -n 1)
        words+="${words:+; }$part"
    fi
    [[ $state == @(PENDING|RUNNING|COMPLETED) || -z $(noted "$3" interrupted) ]] ||
        words+="${words:+; }$(noted "$3" interrupted)"
    [ -z "$(noted "$3" error)" ] || words+="${words:+; }$(noted "$3" error)"
    [[ $(noted "$3" restart) == @(0|'') ]] || words+="${words:+; }restarted"
    [[ $state != @(FAILED|NODE_FAIL|BOOT_FAIL|OUT_OF_MEMORY) ]] || words+="${words:+; }see $submission/$2_$1.out"
    echo "$words"
}

# Prints a line a job; sets left and bad: how many are not done, and did not end well.
table() {
    local job state reason node_list elapsed
    left=0 bad=0
    printf '%-12s %-10s %-13s %-11s %-20s %s\n' run job state time nodes notes
    for job in "${jobs[@]}"; do
        ask_job "${job% *}" "$(run_of "$job")"
        case $state in
        COMPLETED) ;;
        PENDING | CONFIGURING | RUNNING | COMPLETING | REQUEUED | REQUEUE_*) left=$((left + 1)) ;;
        SUSPENDED | RESIZING | STAGE_OUT | SIGNALING | STOPPED) left=$((left + 1)) ;;
        *) bad=$((bad + 1)) ;;
        esac
        printf '%-12s %-10s %-13s %-11s %-20s %s\n' "${job#* }" "${job% *}" "$state" "$elapsed" "$node_list" \
            "$(explain "${job% *}" "${job#* }" "$(run_of "$job")")" | sed 's/ *$//'
    done
}

status_jobs() {
    need_slurm
    read_queue || slurm_says "$unreachable"
    table
    [ $left = 0 ] || exit 3
    [ $bad = 0 ] || exit 4
}

# Some minutes without a controller are no reason to give up: it may be started again.
wait_jobs() {
    local words='' before='' begin=$SECONDS job in_queue lost=0 state
    need_slurm
    while true; do
        if read_queue; then
            lost=0 in_queue=0 words=''
            for job in "${jobs[@]}"; do
                IFS='|' read -r _ state _ < <(grep "^${job% *}|" <<<"$queue") || continue
                in_queue=$((in_queue + 1)) words+=", ${job#* } $(LC_ALL=C tr '[:upper:]' '[:lower:]' <<<"$state")" # I is no i in Turkish
            done
            [ $in_queue -gt 0 ] || break
            words="$((${#jobs[@]} - in_queue)) of ${#jobs[@]} done$words"
        else
            lost=$((lost + 1)) words="no answer, asking again: $(head -n 1 <<<"$unreachable")"
            [ $lost -lt 10 ] || slurm_says "$unreachable"
        fi
        if [ -t 2 ]; then
            printf '\r%.*s\e[K' "$(($(tput cols 2>/dev/null || echo 80) - 1))" "$words ($((SECONDS - begin)) s)" >&2
        elif [ "$words" != "$before" ]; then
            say "$words"
        fi
        before=$words
        sleep $((SECONDS - begin < 200 ? 1 + (SECONDS - begin) / 20 : 10)) # long jobs are asked about less often
    done
    [ ! -t 2 ] || printf '\r\e[K' >&2
    table
    [ $bad = 0 ] && [ $left = 0 ] || exit 4
}

cancel_jobs() {
    local job words ids=()
    need_slurm
    read_queue || slurm_says "$unreachable"
    for job in "${jobs[@]}"; do
        ! grep -q "^${job% *}|" <<<"$queue" || ids+=("${job% *}")
    done
    [ ${#ids[@]} -gt 0 ] || { say "none of its jobs waits or runs"; return; }
    words=$(timeout 60 scancel --quiet "${ids[@]}" 2>&1) || slurm_says "$words"
    say "cancelled: ${ids[*]}; what they measured is kept"
}

# ---- what they left ----
# account_of NUMBER RUN: what is known of a job, with a first line that says from where. Slurm forgets jobs, so what an
# earlier collect was told of a job that had ended stays.
account_of() {
    local rows fields=JobID,JobName,Partition,State,ExitCode,Start,End,Elapsed,Timelimit,NNodes,NodeList # of jobcomp
    if command -v sacct >/dev/null; then
        rows=$(timeout 60 sacct -P -j "$1" -o "$fields,Account,Submit,NTasks,NCPUS,MaxRSS,AveCPU,TotalCPU" 2>/dev/null) || rows=
        [ "$(wc -l <<<"$rows")" = 1 ] || { printf 'source=sacct\n%s\n' "$rows"; return; }
        rows=$(timeout 60 sacct -c -P -j "$1" -o "$fields" 2>/dev/null) || rows=
        [ "$(wc -l <<<"$rows")" = 1 ] || { printf 'source=jobcomp\n%s\n' "$rows"; return; }
    fi
    if rows=$(timeout 60 scontrol show job -o "$1" 2>/dev/null); then
        printf 'source=scontrol\n%s\n' "$rows"
    elif [ -s "$2/sacct_summary.txt" ] &&
        ! grep -qE '^source=(job|none)$|[|=](PENDING|CONFIGURING|RUNNING|COMPLETING)' "$2/sacct_summary.txt"; then
        cat "$2/sacct_summary.txt"
    elif [ -s "$2/scontrol.txt" ]; then
        echo source=job && cat "$2/scontrol.txt"
    else
        echo source=none && echo "neither accounting nor Slurm knows job ${1}, and it left nothing"
    fi
}

# gather RUN NAME FILE...: the files NAME*.csv that the parts' monitors wrote, in one, each line with its part and its host.
gather() {
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

# over NUMBER RUN: whether the job has ended, however it did: the queue knows, and without it what the job noted.
over() {
    if [ -z "$unreachable" ]; then
        ! grep -q "^$1|" <<<"$queue"
    else
        [ -n "$(noted "$2" end)" ]
    fi
}

# write_tables RUN: metrics.csv of the parts that were killed; those that end write their own.
write_tables() {
    local steps
    for steps in "$1"/{benchmark,allreduce}/rank_0_metrics.jsonl "$1"/profile/*/rank_0_metrics.jsonl; do
        [ "$steps" -nt "${steps%/*}/metrics.csv" ] || continue # not there, or the table is the younger
        "$program" report --metrics-csv "${steps%/*}" ||
            say "there is no ${steps%/*}/metrics.csv, but all steps are in $steps"
    done
}

# For each job what is known of it; whatever is missing, the others are done.
collect_jobs() {
    local job run name files
    read_queue || true
    for job in "${jobs[@]}"; do
        [ "${job#* }" != analyze ] || continue
        run=$(run_of "$job")
        mkdir -p "$run" || die "cannot make the directory $run"
        write_file "$run/sacct_summary.txt" account_of "${job% *}" "$run"
        for name in cpu_monitor gpu_monitor; do
            mapfile -t files < <(find "$run"/{benchmark,profile,allreduce} \( -name "$name.csv" -o -name "${name}_*.csv" \) \
                2>/dev/null | sort)
            [ ${#files[@]} = 0 ] || write_file "$run/$name.csv" gather "$run" "$name" "${files[@]}"
        done
        ! over "${job% *}" "$run" || write_tables "$run"
        [ ! -e "$run/benchmark/metrics.csv" ] || write_file "$run/metrics.csv" cat "$run/benchmark/metrics.csv"
        [ ! -e "$submission/${job#* }.sbatch" ] || write_file "$run/job.sbatch" cat "$submission/${job#* }.sbatch" ||
            say "there is no $run/job.sbatch"
    done
    say "collected: $submission"
}

# report DIR JOB...: the report of these jobs' runs, by their names. Of a run its parts are given, since what lies beside
# them (interrupted ones, and what nsys slowed down) does not belong there; if there is none, the report says so.
report() {
    local job run part found words=()
    for job in "${@:2}"; do
        run=$(run_of "$job") found=''
        for part in benchmark profile allreduce; do
            [ -d "$run/$part" ] || continue
            words+=("${job#* }=$run/$part") found=1
        done
        [ -n "$found" ] || words+=("${job#* }=$run")
    done
    "$program" report --output "$1" "${words[@]}"
}

analyze_jobs() {
    local job run runs=() state reason node_list elapsed
    need_program "$program"
    collect_jobs
    for job in "${jobs[@]}"; do
        [ "${job#* }" != analyze ] || continue
        runs+=("$job")
        run=$(run_of "$job")
        ask_job "${job% *}" "$run"
        [[ $state != @(RUNNING|PENDING) ]] || say "${job#* }, job ${job% *}, is $state: what it has so far"
        report "$run/report" "$job" >/dev/null 2>&1 || true # the report of all says why
    done
    report "$submission" "${runs[@]}" || die "some runs could not be reported (see above), or the report could not be written; the results of each run are in $output/*/run_*"
    say "analyzed: $submission"
}
