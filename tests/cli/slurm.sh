#!/usr/bin/env bash
# slurm.sh - launch/slurm.sh with a real Slurm of six nodes on this machine: from configure to the analysis, and the effect
# of a failing program, scancel, the time limit, a node failure and a missing controller. Needs root and Slurm
# (launch/setup.sh --slurm).
# shellcheck disable=SC2317 # functions are called by name
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

skip() {
    echo "skip - Slurm jobs: $*"
    exit 0
}
[ "$mpi" = mpich ] || skip "Debian's Slurm starts MPICH's ranks only"
[ "$(id -u)" = 0 ] || skip "needs root"
for tool in slurmctld slurmd munged; do
    command -v $tool >/dev/null || skip "there is no $tool; launch/setup.sh --slurm installs it"
done
# A machine has one Slurm of slurm_lab.sh (the lab), so tests of several checkouts take turns. Locks a directory, so that no lock file remains.
exec 8</var
flock -w 240 8 || skip "another test uses the lab"
unshare --uts true 2>/dev/null || skip "cannot make namespaces here"

slurm=$root/launch/slurm.sh
lab=$root/tests/support/slurm_lab.sh
export SLURM_LAB=${SLURM_LAB:-/run/slurm-lab-ddpbench-test}
trap '"$lab" down 8<&-; clean_up' EXIT
in_lab() { "$lab" run "$@"; }
# jobs COMMAND DIR [WORD...]: runs slurm.sh in the lab.
jobs() { try "$lab" run "$slurm" "$1" --output "$2" --program "$program" "${@:3}"; }

tiny=(--device cpu --d-model 32 --num-layers 1 --num-heads 2 --d-ff 48 --context-length 16 --batch-size 4 --vocab-size 256 --rounds 2
    --max-bytes 4K --step-factor 8 --iters 5 --warmup-iters 1)
# Options of runs that mostly sleep, so that they can be interrupted while they run.
slow=("${tiny[@]}" --implementations "none,ddp" --inject-delay "rank=0,ms=40,phase=backward_pass")
latest "${slow[@]}" --rounds 10000
endless=("${latest[@]}")

run_of() { echo "$1"/"$2"/run_*; }
number_of() { sed -n "s/ $2\$//p" "$1"/run_*/jobs.txt; }
noted() { sed -n "s/^$2=//p" "$1/job_metadata.txt" | tail -n 1; }
done_of() { sed -nE 's/^\t"done":\t([0-9]+),$/\1/p' "$1/summary.json"; }
measures() { [ "$(done_of "$(run_of "$1" "$2")/benchmark")" -ge 2 ]; }

# ---- configure ----
try "$lab" up 6 8<&-
check 0 "the lab is up" '^slurm_lab.sh: 6 nodes; for example: .*/tests/support/slurm_lab.sh run .*/launch/slurm.sh configure$'
where="results of us/here" # a path with a blank must work
jobs configure "$where" --time=5 --modules demo/1.0 --cpus-per-task 1
check 0 "configure succeeds" "configured: .*results of us/here/slurm.conf"
is "configure writes the given options and the values of the partition" "$(grep -v '^#' "$where/slurm.conf" | paste -sd ' ')" \
    "partition=main account= time=5 gpus_per_node=0 tasks_per_node=1 cpus_per_task=1 constraint= qos= mpi=pmi2 modules=demo/1.0 exclusive=yes"
environment=("$where/profiling_config.sh")
# shellcheck source=/dev/null
is "configure writes a file to source, with partition and account" "$(export SLURM_ACCOUNT=old && . "${environment[0]}" && env | grep -E '^SLURM_(PART|ACC)' | paste -sd ' ')" "SLURM_PARTITION=main"
SLURM_ACCOUNT=ours SLURM_PARTITION=none jobs configure sourced --partition main
is "configure takes SLURM_ACCOUNT, but not SLURM_PARTITION if --partition is given" "$status $(grep -E '^(partition|account)=' sourced/slurm.conf | paste -sd ' ') $(
    grep ^export sourced/profiling_config.sh | paste -sd ' ')" "0 partition=main account=ours export SLURM_PARTITION='main' export SLURM_ACCOUNT='ours'"
SLURM_ACCOUNT='a b' jobs configure sourced
check 2 "a bad SLURM_ACCOUNT is refused" "SLURM_ACCOUNT: account 'a b': expected a name"
SLURM_PARTITION=gpu jobs submit "$where" --nodes 1
check 2 "submit takes SLURM_PARTITION in place of the configuration's" "partition 'gpu': Slurm has none of that name"
mkdir theirs && echo ClusterName=mine >theirs/slurm.conf
jobs configure "$PWD/theirs"
check 2 "a user's slurm.conf is refused" 'theirs/slurm.conf was not written by slurm.sh'
is "a user's slurm.conf is not changed" "$(cat theirs/slurm.conf)" ClusterName=mine
jobs configure nowhere --partition gpu
check 2 "an unknown partition is refused" "partition 'gpu': Slurm has none of that name; it has: main"
jobs configure nowhere --gpus-per-node 2
check 2 "more GPUs than a node has are refused" '--gpus-per-node 2: a node of partition main has 0'
mkdir -p taken/.ddpbench-slurm.conf.part && : >file
jobs configure taken
is "an unwritable slurm.conf is reported in one line" "$status $(cat said)" "1 slurm.sh: cannot write $PWD/taken/slurm.conf: Is a directory"
jobs configure file/below
is "a directory that cannot be made is reported in one line" "$status $(cat said)" "1 slurm.sh: cannot make the directory $PWD/file/below: Not a directory"
if in_lab srun --mpi=list 2>&1 | grep -qw pmix; then
    jobs configure other --mpi pmix
    check 0 "--mpi other than the usual one for the program's MPI causes a warning" '--mpi pmix: the MPI of .* is usually started by pmi2'
fi
# ---- submit ----
jobs submit "$where" --nodes 1,7
check 2 "more nodes than the partition has are refused" '--nodes 7: partition main has 6 nodes'
jobs submit "$where" --nodes 1 -- --output there
check 2 "an option that slurm.sh sets is refused" '--output after --: launch/slurm.sh sets it'
# Tries options that the program would refuse in a job; each line has nodes, options and error.
while IFS='|' read -r nodes bad pattern; do
    options=()
    eval "options=($bad)"
    jobs submit "$where" --nodes "$nodes" --cpu -- "${options[@]}"
    check 2 "refused before submission: $bad" "^slurm.sh: .*$pattern"
done <<'END'
1|--rounds abc|for 1 node x 1: --rounds abc: expected
1|--num-heads 3 --d-model 64|--num-heads 3 does not divide --d-model 64
1|--label 'a b'|--label 'a b': may hold
2,3|--batch-size 4|for 3 nodes x 1: a batch of 4 cannot be divided evenly among 3 ranks
1,2|--collective broadcast --root 1|for 1 node x 1: --root 1: there are ranks 0 to 0
1|--profile-ranks 1|--profile-ranks: there is no rank 1
1|--dry-run 1|--dry-run after --: launch/slurm.sh sets it
END
SLURM_JOB_ID=5 jobs submit "$where" --nodes 1
check 2 "submit inside a job is refused" 'this is inside job 5'
is "refused submissions submit no job" "$(in_lab squeue -h | wc -l) $(find . -name job_ids.txt)" "0 "

# Starts the jobs that run until their time limit; other checks run meanwhile.
cp "$where/slurm.conf" conf && sed -i 's/^modules=.*/modules=/' conf
for name in limit signal; do
    mkdir -p $name && cp conf $name/slurm.conf
done
sed -i 's/^time=.*/time=2/' limit/slurm.conf
for name in limit signal; do
    jobs submit $name --nodes 1 --no-analyze -- "${endless[@]}"
    is "a job that will reach its time limit is submitted ($name)" "$status $(cut -d ' ' -f 2 printed)" "0 1node"
done
for name in limit signal; do
    wait_until measures $name 1node || true
done
# The controller checks time limits twice a minute.
in_lab scontrol update "jobid=$(number_of limit 1node)" EndTime=now+2
in_lab scontrol update "jobid=$(number_of signal 1node)" EndTime=now+80

# module: stands in for the shell function `module`, which systems with environment modules define in every shell.
module() { [ "$1" = load ] && export LOADEDMODULES=$2; }
export -f module
jobs submit "$where" --nodes 1,2,4 -- "${tiny[@]}" --implementations none,ddp_bucketed --bucket-size-mb 0.01,0.02
check 0 "submit with 1, 2 and 4 nodes succeeds" 'submitted: .*results of us/here/run_'
is "submit lists its jobs" "$(cut -d ' ' -f 2 "$where"/run_*/jobs.txt | paste -sd ' ')" "1node 2node 4node analyze"
# shellcheck disable=SC2013
is "job_ids.txt has the numbers of the jobs that measure, for a loop of the shell" "$(for job in $(cat "$where"/run_*/job_ids.txt); do echo "$job"; done | paste -sd ' ')" \
    "$(number_of "$where" 1node) $(number_of "$where" 2node) $(number_of "$where" 4node)"
is "only the benchmark gets the --bucket-size-mb of the command line" \
    "$(sed -nE 's/^([a-z]+)_options=.*--bucket-size-mb.*/\1/p' "$where"/run_*/1node.sbatch | paste -sd ' ')" benchmark
jobs status "$where"
is "status lists jobs that wait or run" "$status $(grep -cE '^(1node|2node|4node|analyze) +[0-9]+ +(PENDING|RUNNING|COMPLETING|COMPLETED)' printed)" "3 4"
is "status does not print Slurm's None" "$(grep -c None printed)" 0
jobs wait "$where"
check 0 "wait succeeds and prints progress" 'slurm.sh: [0-3] of 4 done, .*(running|pending)'
is "wait prints the final states" "$(grep -cE '^[124]node +[0-9]+ +COMPLETED' printed)" 3
for n in 1 2 4; do
    run=$(run_of "$where" ${n}node)
    is "$n nodes: all parts of the job are complete" "$(noted "$run" exit_status) $(noted "$run" nodes) $(noted "$run" modules) \
$(noted "$run" node_list | tr ',' '\n' | wc -l) $(sed -nE 's/^\t"(done|planned)":\t([0-9]+),$/\2/p' "$run"/{benchmark,profile/*,allreduce}/summary.json | paste -sd ' ')" \
        "0 $n demo/1.0 $n 2 2 2 2 8 8"
    is "$n nodes: one rank per node" "$(find "$run/benchmark" -name 'rank_*_metrics.jsonl' | wc -l)" "$n"
    fastest=$(sed -nE 's/^\t\t"best":\t"(.*)",$/\1/p' "$run/benchmark/summary.json")
    is "$n nodes: the profile uses the fastest strategy, $fastest" \
        "$(sed -nE 's/^\t\t"(profile-implementation|bucket-size-mb)":\t"(.*)",$/\2/p' "$run"/profile/*/run.json | sort | paste -sd ' ')" \
        "${fastest#*:} ${fastest%:*}"
    # shellcheck disable=SC2016 # searched literally in the script
    is "$n nodes: the batch script is saved" "$(grep -cF -e "#SBATCH \"--nodes=$n\"" -e 'part benchmark "${srun[@]}"' "$run/job.sbatch")" 2
    is "$n nodes: the accounting is read from jobcomp's file" "$(head -n 1 "$run/sacct_summary.txt") $(grep -c "^$(number_of "$where" ${n}node)|.*|COMPLETED|" \
        "$run/sacct_summary.txt")" "source=jobcomp 1"
    is "$n nodes: cpu_monitor.csv has all parts and hosts" "$(cut -d, -f1,2 "$run/cpu_monitor.csv" | grep -v ^part, | sort -u | grep -cE '^(benchmark|profile|allreduce),n[1-6]$')" \
        "$(grep -lE '^[0-9]' "$run"/{benchmark,profile/*,allreduce}/cpu_monitor*.csv | wc -l)"
    succeeds "$n nodes: metrics.csv of the run equals metrics.csv of the benchmark" cmp "$run/metrics.csv" "$run/benchmark/metrics.csv"
    is "$n nodes: the run has its own report with a picture" "$(grep -c '^# ddpbench report: ' "$run/report/BOTTLENECK_ANALYSIS.md") $(
        find "$run/report/pictures" -name step-breakdown.svg | wc -l)" "1 1"
    is "$n nodes: the report is also a text, and a JSON file" "$(head -n 1 "$run/profiling_report.txt" | cut -c 1-17) $(cmp "$run/profiling_analysis.json" "$run/report/report.json" && echo same)" \
        "ddpbench report:  same"
done
succeeds "the joint report contains all runs" grep -q 4node "$where"/run_*/BOTTLENECK_ANALYSIS.md
run=$(run_of "$where" 2node)
echo mine >"$run/report/report.json"
jobs analyze "$where"
check 1 "analyze fails if one report cannot be written" "slurm.sh: the report in .*/2node/run_[0-9]+/report is missing or incomplete: .*/report[.]json: exists, and is not what ddpbench writes there"
succeeds "it writes the other reports, the joint one last" test "$where"/run_*/report.json -nt "$run/report/report.json"

# A fake isolate, which finds the node of rank 1 slow.
cat >isolates <<END
#!/bin/sh
[ "\$1" = isolate ] || exec $(quote_words "$program") "\$@"
case "\$*" in
*--help*) printf 'Device:\\n\\tdevice\\t\\tNAME\\n' ;;
*--dry-run*) ;;
*)
    [ "\$SLURM_PROCID" = 1 ] || exit 3
    while [ "\$1" != --output ]; do shift; done
    mkdir -p "\$2"
    hostname >"\$2/bad.txt"
    exit 3
    ;;
esac
END
chmod +x isolates
for name in isolated few; do
    mkdir -p $name && cp conf $name/slurm.conf
done
jobs submit isolated --nodes 1,2 --isolate --program "$PWD/isolates" -- "${tiny[@]}"
check 2 "--isolate without a job of 3 nodes is refused" '--isolate: needs a job of 3 nodes or more'
jobs submit isolated --nodes 4 --isolate --no-analyze --program "$PWD/isolates" -- "${tiny[@]/%4/12}"
jobs submit few --nodes 4 --isolate --no-analyze --program "$PWD/isolates" -- "${tiny[@]}"
jobs wait isolated
run=$(run_of isolated 4node)
slow_node=$(cat "$run/isolate/bad.txt")
is "--isolate leaves a slow node out, and runs the other parts on the remaining nodes" "$status $(noted "$run" isolate_status) $(noted "$run" left_out) \
$(find "$run/benchmark" -name 'rank_*_metrics.jsonl' | wc -l) $(find "$run"/{benchmark,allreduce} -name "cpu_monitor_$slow_node.csv" | wc -l) $(sed -n 's/^isolate_options=//p' isolated/run_*/4node.sbatch)" \
    "0 3 $slow_node 3 0 (--device cpu)"
jobs wait few
run=$(run_of few 4node)
words="without the slow nodes $(noted "$run" left_out), 3 of 4 nodes are too few: .*a batch of 4 cannot be divided evenly among 3 ranks"
is "a job that needs all its nodes ends if one is slow" "$status $(grep -cE "^4node .* FAILED .*$words" printed) $(find "$run/benchmark" 2>/dev/null | wc -l)" "4 1 0"

mkdir late && cp "$where/slurm.conf" late/
jobs submit late --nodes 2 -- "${tiny[@]}" --implementations none,ddp --num-epochs 5 --inject-delay rank=1,ms=150,phase=backward_pass
jobs wait late
# Accepts half of the injected delay, because on a busy machine the other rank may be late, too.
is "a straggler is the top bottleneck, with more than half of its delay of 150 ms" \
    "$status $(awk -F '|' 'above ~ /^[|]---/ && $2 == " straggler " && $3 == " 2node, ddp " && $6 > 75 && $6 < 300; { above = $0 }' late/run_*/BOTTLENECK_ANALYSIS.md | wc -l)" "0 1"

# ---- failures ----
mkdir -p failing && cp conf failing/slurm.conf
# The program fails once `wait` has printed the states of the jobs.
# shellcheck disable=SC2016 # expanded in the job
printf '%s\n' '#!/bin/sh' '[ -z "$SLURM_STEP_ID" ] || {' "until [ -e $(quote_words "$PWD/let-fail") ]; do sleep 0.1; done" 'exit 2; }' \
    "exec $(quote_words "$program") \"\$@\"" >fails && chmod +x fails
SBATCH_JOB_NAME=other SBATCH_TIMELIMIT=9 jobs submit failing --nodes 1 --no-analyze --program "$PWD/fails" -- "${tiny[@]}"
is "the configuration takes precedence over SBATCH_* variables" \
    "$(in_lab scontrol show job -o "$(number_of failing 1node)" | grep -oE '(JobName|TimeLimit)=[^ ]*' | paste -sd ' ')" "JobName=ddpb-1node TimeLimit=00:05:00"
rm -f said
{ wait_until grep -qE 'running|pending' said || true; touch let-fail; } &
jobs wait failing
check 4 "wait returns 4 if the program fails" 'running|pending'
is "when the program fails, the job ends, with the program's exit status" "$(grep -cE '^1node .* FAILED .*exit code 2:0' printed) $(noted "$(run_of failing 1node)" exit_status) \
$(find "$(run_of failing 1node)" -name allreduce | wc -l)" "1 2 0"
cp "$where/slurm.conf" failing/slurm.conf
unset -f module
# A fake date, which first returns the time of an existing submission.
mkdir clock failing/run_29991231-235959 && cat >clock/date <<'END'
#!/bin/sh
once=$(dirname "$0")/once
[ ! -e "$once" ] && [ "$*" = "-u +%Y%m%d-%H%M%S" ] || exec /bin/date "$@"
echo 29991231-235959
: >"$once"
END
chmod +x clock/date
PATH=$PWD/clock:$PATH jobs submit failing --nodes 1 --no-analyze -- "${tiny[@]}"
check 0 "a second submission in the same second succeeds" '^slurm.sh: submitted: '
is "a second submission in the same second has its own directory" "$(ls failing/run_29991231-235959 clock)" "clock:
date
once

failing/run_29991231-235959:"
jobs wait failing
is "configured modules on a system without modules fail the job" "$status $(grep -c "FAILED .*modules are configured (demo/1.0), but n[1-6] has no command 'module'" printed)" "4 1"

mkdir refused && sed 's/^constraint=.*/constraint=none_such/' conf >refused/slurm.conf
jobs submit refused --nodes 1,2
check 1 "a submission refused by Slurm is reported" '^slurm.sh: 2node was not submitted: .*nvalid feature'
jobs status refused
check 2 "status without a submission is refused" 'there is no submission in .*refused'

# A fake nsys: makes an empty report, and runs the program.
mkdir tools && cat >tools/nsys <<'END'
#!/bin/sh
for word; do
    shift
    case $word in
    --output=*) echo >"$(echo "${word#*=}" | sed "s/%q{SLURM_PROCID}/$SLURM_PROCID/").nsys-rep" ;;
    /*) exec "$word" "$@" ;;
    esac
done
END
chmod +x tools/nsys
mkdir -p traced && cp conf traced/slurm.conf
PATH=$PWD/tools:$PATH jobs submit traced --nodes 1 --cpu --nsys --no-analyze -- "${tiny[@]:2}" --wire-dtype bf16 --implementations ddp_individual_v2
jobs wait traced
run=$(run_of traced cpu_1node)
is "--cpu --nsys: there is an nsys report, and the profile gets the options that its strategy needs" "$status $(cd "$run/nsys" && echo *.nsys-rep) \
$(noted "$run" best) $(grep -c -- '--device cpu' traced/run_*/cpu_1node.sbatch)" "0 rank_0.nsys-rep --profile-implementation ddp_individual_v2 --wire-dtype bf16 4"

mkdir -p ended && cp conf ended/slurm.conf
jobs submit ended --nodes 2 -- "${endless[@]}"
wait_until measures ended 2node || true
jobs cancel ended
check 0 "cancel succeeds" 'cancelled: [0-9]+ [0-9]+; their measurements are kept'
jobs wait ended
is "wait reports a cancelled job and its analysis" "$status $(grep -cE '^(2node|analyze) .* CANCELLED' printed)" "4 2"
run=$(run_of ended 2node)
succeeds "a cancelled job keeps completed rounds" [ "$(done_of "$run/benchmark")" -ge 2 ]
is "wait notes the rounds kept of a cancelled job" "$(grep -cE '^2node .* CANCELLED .*interrupted; [0-9]+ of 10000 rounds of benchmark are kept' printed)" 1
is "a cancelled job records signal, status and end" "$(noted "$run" signal) $(noted "$run" exit_status) $(grep -c ^end= "$run/job_metadata.txt")" "TERM 143 1"
succeeds "a cancelled job leaves valid files" valid "$run"/benchmark/{summary.json,rank_0_metrics.jsonl}
jobs collect ended
is "collect makes metrics.csv of a cancelled job" "$status $(wc -l <"$run/metrics.csv")" \
    "0 $(($(wc -l <"$run/benchmark/rank_0_metrics.jsonl") + 1))"
mv "$run/sacct_summary.txt" ours && echo mine >"$run/sacct_summary.txt"
jobs collect ended
check 2 "collect does not replace a file of somebody else" "sacct_summary.txt was not written by slurm.sh"
is "a file of somebody else is kept" "$(<"$run/sacct_summary.txt")" mine
mv ours "$run/sacct_summary.txt"
mkdir -p noticed && cp conf noticed/slurm.conf
jobs submit noticed --nodes 1 --no-analyze -- "${endless[@]}"
wait_until measures noticed 1node || true
in_lab scancel --full --signal=USR2 "$(number_of noticed 1node)"
jobs wait noticed
run=$(run_of noticed 1node)
is "SIGUSR2 ends a job, which records signal and status" "$status $(noted "$run" signal) $(noted "$run" exit_status) $(grep -c ^interrupted= "$run/job_metadata.txt")" "4 USR2 140 1"
jobs cancel ended
check 0 "cancel a second time finds no job" 'none of the jobs waits or runs'

# Kills a node during the job's profile, which takes hours while the file `held` exists. The job's benchmark is complete
# by then, and must not be repeated.
mkdir -p dying && cp conf dying/slurm.conf
: >held
# shellcheck disable=SC2016 # expanded by holds
printf '%s\n' '#!/bin/sh' "case \" \$* \" in *' --profile '*) [ ! -e $(quote_words "$PWD/held") ] || for word; do shift;" \
    '[ "$before" != --rounds ] || word=1000000; set -- "$@" "$word"; before=$word; done ;; esac' \
    "exec $(quote_words "$program") \"\$@\"" >holds && chmod +x holds
jobs submit dying --nodes 2 --requeue --no-analyze --program "$PWD/holds" -- "${slow[@]}"
profiles() { compgen -G 'dying/2node/run_*/profile/*/run.json'; }
wait_until profiles >/dev/null || true
run=$(run_of dying 2node) number=$(number_of dying 2node)
victim=$(noted "$run" node_list | cut -d, -f2)
before=$(stat -c %Y.%i "$run/benchmark/summary.json")
rm held
"$lab" kill-node "${victim#n}" 8<&-
jobs status dying
cat printed >said # for the log if the check fails
is "a failed node is named, and the job is requeued" "$status $(grep -cE "^2node .*node $victim failed" printed)" "3 1"
in_lab scontrol update "jobid=$number" StartTime=now
jobs wait dying
tail -n 8 dying/run_*/*.out "$run"/*.txt >>said 2>/dev/null || true # for the log if the check fails
is "a requeued job completes on other nodes" "$status $(grep -cE "^2node .* COMPLETED .*node $victim failed" printed) $(noted "$run" restart)" "0 1 1"
is "a requeued job does not repeat a complete benchmark" "$(stat -c %Y.%i "$run/benchmark/summary.json") $(grep -c ^benchmark_start= "$run/job_metadata.txt")" "$before 1"
is "a requeued job keeps the interrupted profile" "$(find "$run/profile.interrupted-1" -name run.json | wc -l) $(noted "$run" profile_status) $(noted "$run" allreduce_status)" "1 0 0"
"$lab" start-node "${victim#n}" 8<&-

# The time limits have been reached by now, or soon will be.
jobs wait limit
cat printed >said # for the log if the check fails
words='ended by its time limit; [0-9]+ of 10000 rounds of benchmark are kept'
is "wait reports a job that reached its time limit" "$status $(grep -cE "^1node .* TIMEOUT .*; $words" printed)" "4 1"
jobs wait signal
is "a job gets SIGTERM a minute before its time limit" "$status $(grep -cE '^1node .* FAILED .*exit code (143|1):0' printed) $(noted "$(run_of signal 1node)" signal)" "4 1 TERM"
run=$(run_of signal 1node)
words="ended [0-9]+ s before its time limit; $(done_of "$run/benchmark") of 10000 rounds of benchmark are kept"
is "wait names the time limit as the reason of SIGTERM" "$(grep -cE "^1node .*; $words" printed) $(grep -cE "^interrupted=$words" "$run/job_metadata.txt")" "1 1"
for name in limit signal; do
    run=$(run_of $name 1node)
    succeeds "completed rounds are kept at the time limit ($name)" [ "$(done_of "$run/benchmark")" -ge 2 ]
    is "the end of the job is recorded at the time limit ($name)" "$(grep -c ^end= "$run/job_metadata.txt")" 1
done

# ---- no accounting, no controller ----
# Tests a Slurm without accounting database and jobcomp: first with the controller, which has the job records, then without it.
printf '%s\n' '#!/bin/sh' 'echo "Slurm accounting storage is disabled" >&2' 'exit 1' >tools/sacct && chmod +x tools/sacct
summary=$(run_of traced cpu_1node)/sacct_summary.txt
PATH=$PWD/tools:$PATH jobs collect traced
is "collect without accounting uses scontrol" "$status $(head -n 1 "$summary") $(grep -c ' JobState=COMPLETED ' "$summary")" "0 source=scontrol 1"
"$lab" stop-controller 8<&-
echo MessageTimeout=2 >>"$SLURM_LAB/slurm.conf" # by default commands retry for 10 s
cp "$summary" before
PATH=$PWD/tools:$PATH jobs collect traced
succeeds "collect keeps the record of an ended job if Slurm does not answer" cmp "$summary" before
jobs collect "$where"
check 0 "collect without a controller succeeds" 'collected: '
jobs status "$where"
check 1 "status without a controller fails" '^slurm.sh: Slurm reports: .*(connect|contact)'

# ---- the lab ----
succeeds "slurm_lab.sh down succeeds" "$lab" down 8<&-
# ours: lists the processes of the lab. The pattern of grep does not match grep's own command line.
ours() { grep -ls "${SLURM_LAB%?}[${SLURM_LAB: -1}]" /proc/[0-9]*/cmdline /proc/[0-9]*/mountinfo || true; }
is "slurm_lab.sh down leaves no process and no file" "$(ours)$(ls -d "$SLURM_LAB" 2>/dev/null)" ""
"$lab" up 3 8<&- >/dev/null 2>&1 &
wait_until [ -e "$SLURM_LAB/slurm.conf" ] || true
kill -KILL $! 2>/dev/null || true
wait $! 2>/dev/null || true
env "DDPB_SLURM_LAB=$SLURM_LAB" sleep 100 >/dev/null 2>&1 8<&- & # like a daemon that `up` has just started
begun=$! && disown
succeeds "slurm_lab.sh down succeeds after a killed up" "$lab" down 8<&-
is "slurm_lab.sh down after a killed up leaves no process and no file" "$(kill -0 $begun 2>/dev/null && echo "$begun")$(ours)$(ls -d "$SLURM_LAB" 2>/dev/null)" ""
exit "$failed"
