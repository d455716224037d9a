#!/usr/bin/env bash
# slurm.sh - launch/slurm.sh with a real Slurm of six nodes on this machine: from configure to analyze, and what a
# failing program, scancel, the time limit, a dead node and an absent controller do to the results. As root, with Slurm
# installed (launch/setup.sh --slurm).
# shellcheck disable=SC2317 # functions that others call
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

skip() {
    echo "skip - jobs of Slurm: $*"
    exit 0
}
[ "$mpi" = mpich ] || skip "Debian's Slurm starts MPICH's ranks only"
[ "$(id -u)" = 0 ] || skip "needs root"
for tool in slurmctld slurmd munged; do
    command -v $tool >/dev/null || skip "there is no $tool; launch/setup.sh --slurm installs it"
done
# There is one lab a machine, so tests of several checkouts take turns; the lock is on a directory, so that no file is left.
exec 8</var
flock -w 240 8 || skip "others test it too"
unshare --uts true 2>/dev/null || skip "namespaces are not allowed here"

slurm=$root/launch/slurm.sh
lab=$root/tests/support/slurm_lab.sh
export SLURM_LAB=${SLURM_LAB:-/run/slurm-lab-ddpbench-test}
trap '"$lab" down 8<&-; clean_up' EXIT
in_lab() { "$lab" run "$@"; }
# jobs COMMAND DIR [WORD...]: slurm.sh in the lab.
jobs() { try "$lab" run "$slurm" "$1" --output "$2" --program "$program" "${@:3}"; }

limit=200 # of try: jobs wait for each other
tiny=(--device cpu --d-model 32 --num-layers 1 --num-heads 2 --d-ff 48 --context-length 16 --batch-size 4 --vocab-size 256 --rounds 2
    --max-bytes 4K --step-factor 8 --iters 5 --warmup-iters 1)
# Mostly asleep, so that it can be caught while it runs.
slow=("${tiny[@]}" --implementations "none,ddp" --inject-delay "rank=0,ms=40,phase=backward_pass")

run_of() { echo "$1"/"$2"/run_*; }
number_of() { sed -n "s/ $2\$//p" "$1"/run_*/job_ids.txt; }
noted() { sed -n "s/^$2=//p" "$1/job_metadata.txt" | tail -n 1; }
done_of() { sed -nE 's/^\t"done":\t([0-9]+),$/\1/p' "$1/summary.json"; }
measures() { [ "$(done_of "$(run_of "$1" "$2")/benchmark")" -ge 2 ]; }

# ---- configure ----
try "$lab" up 6 8<&-
check 0 "the lab is up" '^slurm_lab.sh: 6 nodes; for example: .*/tests/support/slurm_lab.sh run .*/launch/slurm.sh configure$'
where="results of us/here" # a blank is no reason to fail
jobs configure "$where" --time=5 --modules demo/1.0 --cpus-per-task 1
check 0 "configure" "configured: .*results of us/here/slurm.conf"
is "takes what is given and what Slurm says" "$(grep -v '^#' "$where/slurm.conf" | paste -sd ' ')" \
    "partition=main account= time=5 gpus_per_node=0 tasks_per_node=1 cpus_per_task=1 constraint= qos= mpi=pmi2 modules=demo/1.0 exclusive=yes"
mkdir theirs && echo ClusterName=mine >theirs/slurm.conf
jobs configure "$PWD/theirs"
check 2 "somebody's slurm.conf is refused" 'theirs/slurm.conf was not written by slurm.sh'
is "and stays" "$(cat theirs/slurm.conf)" ClusterName=mine
jobs configure nowhere --partition gpu
check 2 "a partition that there is not" "partition 'gpu': Slurm has none of that name; it has: main"
jobs configure nowhere --gpus-per-node 2
check 2 "more GPUs than nodes have" '--gpus-per-node 2: a node of partition main has 0'
mkdir -p taken/.ddpbench-slurm.conf.part && : >file
jobs configure taken
is "a file that cannot be written, in a line" "$status $(cat said)" "1 slurm.sh: cannot write $PWD/taken/slurm.conf: Is a directory"
jobs configure file/below
is "or a directory that cannot be made" "$status $(cat said)" "1 slurm.sh: cannot make the directory $PWD/file/below: Not a directory"
if in_lab srun --mpi=list 2>&1 | grep -qw pmix; then
    jobs configure other --mpi pmix
    check 0 "another way to start ranks than that of the program's MPI" '--mpi pmix: the MPI of .* is usually started by pmi2'
fi
# ---- submit ----
jobs submit "$where" --nodes 1,7
check 2 "more nodes than there are" '--nodes 7: partition main has 6 nodes'
jobs submit "$where" --nodes 1 -- --output there
check 2 "an option that is set here" '--output after --: launch/slurm.sh sets it'
# what the program would refuse in a job: nodes, options, what is said
while IFS='|' read -r nodes bad pattern; do
    options=()
    eval "options=($bad)"
    jobs submit "$where" --nodes "$nodes" --cpu -- "${options[@]}"
    check 2 "refused before there is a job: $bad" "^slurm.sh: .*$pattern"
done <<'END'
1|--rounds abc|for 1 node x 1: --rounds abc: expected
1|--num-heads 3 --d-model 64|--num-heads 3 does not divide --d-model 64
1|--label 'a b'|--label 'a b': may hold
2,3|--batch-size 4|for 3 nodes x 1: a batch of 4 does not divide over 3 ranks
1,2|--collective broadcast --root 1|for 1 node x 1: --root 1: there are ranks 0 to 0
1|--profile-ranks 1|--profile-ranks: there is no rank 1
1|--dry-run 1|--dry-run after --: launch/slurm.sh sets it
END
SLURM_JOB_ID=5 jobs submit "$where" --nodes 1
check 2 "inside a job" 'this is inside job 5'
is "nothing was submitted so far" "$(in_lab squeue -h | wc -l) $(find . -name job_ids.txt)" "0 "

# Those that wait for time to pass run beside the others.
cp "$where/slurm.conf" conf && sed -i 's/^modules=.*/modules=/' conf
for name in limit signal; do
    mkdir -p $name && cp conf $name/slurm.conf
done
sed -i 's/^time=.*/time=2/' limit/slurm.conf
for name in limit signal; do
    jobs submit $name --nodes 1 --no-analyze -- "${slow[@]}" --rounds 10000
    is "submitted, to run into its limit ($name)" "$status $(cut -d ' ' -f 2 printed)" "0 1node"
done
for name in limit signal; do
    wait_until measures $name 1node || true
done
# The controller looks at limits twice a minute.
in_lab scontrol update "jobid=$(number_of limit 1node)" EndTime=now+2
in_lab scontrol update "jobid=$(number_of signal 1node)" EndTime=now+80

# module: as the systems that have modules define it, in every shell
module() { [ "$1" = load ] && export LOADEDMODULES=$2; }
export -f module
jobs submit "$where" --nodes 1,2,4 -- "${tiny[@]}" --implementations none,ddp_bucketed --bucket-size-mb 0.01,0.02
check 0 "submit of 1, 2 and 4 nodes" 'submitted: .*results of us/here/run_'
is "names its jobs" "$(cut -d ' ' -f 2 "$where"/run_*/job_ids.txt | paste -sd ' ')" "1node 2node 4node analyze"
is "sizes of buckets are for the benchmark alone; the profile gets the best one" \
    "$(sed -nE 's/^([a-z]+)_options=.*--bucket-size-mb.*/\1/p' "$where"/run_*/1node.sbatch | paste -sd ' ')" benchmark
jobs status "$where"
is "status while they wait or run" "$status $(grep -cE '^(1node|2node|4node|analyze) +[0-9]+ +(PENDING|RUNNING|COMPLETING|COMPLETED)' printed)" "3 4"
is "without words of Slurm that say nothing" "$(grep -c None printed)" 0
jobs wait "$where"
check 0 "wait" 'slurm.sh: [0-3] of 4 done, .*(running|pending)'
is "and how they ended" "$(grep -cE '^[124]node +[0-9]+ +COMPLETED' printed)" 3
for n in 1 2 4; do
    run=$(run_of "$where" ${n}node)
    is "$n nodes: all parts are complete" "$(noted "$run" exit_status) $(noted "$run" nodes) $(noted "$run" modules) \
$(noted "$run" node_list | tr ',' '\n' | wc -l) $(sed -nE 's/^\t"(done|planned)":\t([0-9]+),$/\2/p' "$run"/{benchmark,profile/*,allreduce}/summary.json | paste -sd ' ')" \
        "0 $n demo/1.0 $n 2 2 2 2 8 8"
    is "$n nodes: with a rank each" "$(find "$run/benchmark" -name 'rank_*_metrics.jsonl' | wc -l)" "$n"
    fastest=$(sed -nE 's/^\t\t"best":\t"(.*)",$/\1/p' "$run/benchmark/summary.json")
    is "$n nodes: the profile is of the fastest, $fastest" \
        "$(sed -nE 's/^\t\t"(profile-implementation|bucket-size-mb)":\t"(.*)",$/\2/p' "$run"/profile/*/run.json | sort | paste -sd ' ')" \
        "${fastest#*:} ${fastest%:*}"
    # shellcheck disable=SC2016 # as it is in the script
    is "$n nodes: the script that ran is kept" "$(grep -cF -e "#SBATCH \"--nodes=$n\"" -e 'part benchmark "${srun[@]}"' "$run/job.sbatch")" 2
    is "$n nodes: what Slurm knows, by the file of jobcomp" "$(head -n 1 "$run/sacct_summary.txt") $(grep -c "^$(number_of "$where" ${n}node)|.*|COMPLETED|" \
        "$run/sacct_summary.txt")" "source=jobcomp 1"
    is "$n nodes: what the CPUs did, by part and host" "$(cut -d, -f1,2 "$run/cpu_monitor.csv" | grep -v ^part, | sort -u | grep -cE '^(benchmark|profile|allreduce),n[1-6]$')" \
        "$(grep -lE '^[0-9]' "$run"/{benchmark,profile/*,allreduce}/cpu_monitor*.csv | wc -l)"
    succeeds "$n nodes: the figures of the benchmark" cmp "$run/metrics.csv" "$run/benchmark/metrics.csv"
    is "$n nodes: a report of its own, with a picture" "$(grep -c '^# Bottleneck analysis of ' "$run/report/BOTTLENECK_ANALYSIS.md") $(
        find "$run/report/pictures" -name step-breakdown.svg | wc -l)" "1 1"
done
succeeds "the report of all" grep -q 4node "$where"/run_*/BOTTLENECK_ANALYSIS.md

mkdir late && cp "$where/slurm.conf" late/
jobs submit late --nodes 2 -- "${tiny[@]}" --implementations none,ddp --num-epochs 5 --inject-delay rank=1,ms=150,phase=backward_pass
jobs wait late
# beside other work the other rank is late, too
is "a rank that is late is the top bottleneck, by more than half of its 150 ms" \
    "$status $(awk -F '|' '$2 == " 1 " && $3 == " straggler " && $4 == " 2node " && $7 > 75 && $7 < 300' late/run_*/BOTTLENECK_ANALYSIS.md | wc -l)" "0 1"

# ---- what goes wrong ----
mkdir -p failing && cp conf failing/slurm.conf
# The program fails once `wait` has said what it waits for.
# shellcheck disable=SC2016 # for the job
printf '%s\n' '#!/bin/sh' '[ -z "$SLURM_STEP_ID" ] || {' "until [ -e $(quote_words "$PWD/let-fail") ]; do sleep 0.1; done" 'exit 2; }' \
    "exec $(quote_words "$program") \"\$@\"" >fails && chmod +x fails
SBATCH_JOB_NAME=other SBATCH_TIMELIMIT=9 jobs submit failing --nodes 1 --no-analyze --program "$PWD/fails" -- "${tiny[@]}"
is "the configuration counts for more than SBATCH_* of the environment" \
    "$(in_lab scontrol show job -o "$(number_of failing 1node)" | grep -oE '(JobName|TimeLimit)=[^ ]*' | paste -sd ' ')" "JobName=ddpb-1node TimeLimit=00:05:00"
rm -f said
{ wait_until grep -qE 'running|pending' said || true; touch let-fail; } &
jobs wait failing
check 4 "wait, where the program fails" 'running|pending'
is "its status is the job's, and nothing came after it" "$(grep -cE '^1node .* FAILED .*exit code 2:0' printed) $(noted "$(run_of failing 1node)" exit_status) \
$(find "$(run_of failing 1node)" -name allreduce | wc -l)" "1 2 0"
cp "$where/slurm.conf" failing/slurm.conf
unset -f module
# A clock that says a second time what it said for a submission that there is.
mkdir clock failing/run_29991231-235959 && cat >clock/date <<'END'
#!/bin/sh
once=$(dirname "$0")/once
[ ! -e "$once" ] && [ "$*" = "-u +%Y%m%d-%H%M%S" ] || exec /bin/date "$@"
echo 29991231-235959
: >"$once"
END
chmod +x clock/date
PATH=$PWD/clock:$PATH jobs submit failing --nodes 1 --no-analyze -- "${tiny[@]}"
check 0 "a second submission in one second" '^slurm.sh: submitted: '
is "has a directory of its own" "$(ls failing/run_29991231-235959 clock)" "clock:
date
once

failing/run_29991231-235959:"
jobs wait failing
is "modules where there are none" "$status $(grep -c "FAILED .*modules are configured (demo/1.0), but n[1-6] has no command 'module'" printed)" "4 1"

mkdir refused && sed 's/^constraint=.*/constraint=none_such/' conf >refused/slurm.conf
jobs submit refused --nodes 1,2
check 1 "what Slurm refuses" '^slurm.sh: 2node was not submitted: .*nvalid feature'
jobs status refused
check 2 "is no submission" 'there is no submission in .*refused'

# A made-up nsys: the report that it would write, and then the program.
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
PATH=$PWD/tools:$PATH jobs submit traced --nodes 1 --cpu --nsys --no-analyze -- "${tiny[@]:2}" --grad-dtype bf16 --implementations ddp_individual_v2
jobs wait traced
run=$(run_of traced cpu_1node)
is "--cpu and --nsys: reports beside the results, with what the strategy needs" "$status $(cd "$run/nsys" && echo *.nsys-rep) \
$(noted "$run" best) $(grep -c -- '--device cpu' traced/run_*/cpu_1node.sbatch)" "0 rank_0.nsys-rep --profile-implementation ddp_individual_v2 --grad-dtype bf16 3"

mkdir -p ended && cp conf ended/slurm.conf
jobs submit ended --nodes 2 -- "${slow[@]}" --rounds 10000
wait_until measures ended 2node || true
jobs cancel ended
check 0 "cancel" 'cancelled: [0-9]+ [0-9]+; what they measured is kept'
jobs wait ended
is "a cancelled job and its analysis" "$status $(grep -cE '^(2node|analyze) .* CANCELLED' printed)" "4 2"
run=$(run_of ended 2node)
succeeds "its finished rounds are kept" [ "$(done_of "$run/benchmark")" -ge 2 ]
is "and it says so" "$(grep -cE '^2node .* CANCELLED .*interrupted; [0-9]+ of 10000 rounds of benchmark are kept' printed)" 1
is "it noted why it ended, and how" "$(noted "$run" signal) $(noted "$run" exit_status) $(grep -c ^end= "$run/job_metadata.txt")" "TERM 143 1"
succeeds "what it measured is whole lines" valid "$run"/benchmark/{summary.json,rank_0_metrics.jsonl}
jobs collect ended
is "collect makes the table of what it measured, though it did not end" "$status $(wc -l <"$run/metrics.csv")" \
    "0 $(($(wc -l <"$run/benchmark/rank_0_metrics.jsonl") + 1))"
jobs cancel ended
check 0 "cancelled again" 'none of the jobs waits or runs'

# A node dies during the profile, which takes hours as long as there is a file called held: the benchmark is complete, and is not
# run again.
mkdir -p dying && cp conf dying/slurm.conf
: >held
printf '%s\n' '#!/bin/sh' "case \" \$* \" in *' --profile '*) [ ! -e $(quote_words "$PWD/held") ] || set -- \"\$@\" --rounds 1000000 ;; esac" \
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
cat printed >said # what is shown if this fails
is "a node dies: it is named, and the job waits again" "$status $(grep -cE "^2node .*node $victim failed" printed)" "3 1"
in_lab scontrol update "jobid=$number" StartTime=now
jobs wait dying
tail -n 8 dying/run_*/*.out "$run"/*.txt >>said 2>/dev/null || true # what is shown if this fails
is "it ends well on other nodes" "$status $(grep -cE "^2node .* COMPLETED .*node $victim failed" printed) $(noted "$run" restart)" "0 1 1"
is "the benchmark was not run again" "$(stat -c %Y.%i "$run/benchmark/summary.json") $(grep -c ^benchmark_start= "$run/job_metadata.txt")" "$before 1"
is "what there was of the profile is kept" "$(find "$run/profile.interrupted-1" -name run.json | wc -l) $(noted "$run" profile_status) $(noted "$run" allreduce_status)" "1 0 0"
"$lab" start-node "${victim#n}" 8<&-

# The limits have been reached by now, or soon will be.
jobs wait limit
cat printed >said # what is shown if this fails
words='ended by its time limit; [0-9]+ of 10000 rounds of benchmark are kept'
is "the time limit" "$status $(grep -cE "^1node .* TIMEOUT .*; $words" printed)" "4 1"
jobs wait signal
is "--signal a minute before it" "$status $(grep -cE '^1node .* FAILED .*exit code (143|1):0' printed) $(noted "$(run_of signal 1node)" signal)" "4 1 TERM"
run=$(run_of signal 1node)
words="ended [0-9]+ s before its time limit; $(done_of "$run/benchmark") of 10000 rounds of benchmark are kept"
is "it says that the limit was the reason" "$(grep -cE "^1node .*; $words" printed) $(grep -cE "^interrupted=$words" "$run/job_metadata.txt")" "1 1"
for name in limit signal; do
    run=$(run_of $name 1node)
    succeeds "what was measured until then is kept ($name)" [ "$(done_of "$run/benchmark")" -ge 2 ]
    is "and its end noted ($name)" "$(grep -c ^end= "$run/job_metadata.txt")" 1
done

# ---- no accounting, no controller ----
# Slurm without a database and without jobcomp, as long as it knows its jobs; then it has forgotten them.
printf '%s\n' '#!/bin/sh' 'echo "Slurm accounting storage is disabled" >&2' 'exit 1' >tools/sacct && chmod +x tools/sacct
summary=$(run_of traced cpu_1node)/sacct_summary.txt
PATH=$PWD/tools:$PATH jobs collect traced
is "collect without accounting" "$status $(head -n 1 "$summary") $(grep -c ' JobState=COMPLETED ' "$summary")" "0 source=scontrol 1"
"$lab" stop-controller 8<&-
echo MessageTimeout=2 >>"$SLURM_LAB/slurm.conf" # commands ask again and again for 10 s by default
cp "$summary" before
PATH=$PWD/tools:$PATH jobs collect traced
succeeds "what it was told of a job that has ended stays" cmp "$summary" before
jobs collect "$where"
check 0 "collect without a controller" 'collected: '
jobs status "$where"
check 1 "status says that there is none" '^slurm.sh: Slurm reports: .*(connect|contact)'

# ---- the lab ----
succeeds "down" "$lab" down 8<&-
# the pattern, as grep's own command line has it, does not match itself
ours() { grep -ls "${SLURM_LAB%?}[${SLURM_LAB: -1}]" /proc/[0-9]*/cmdline /proc/[0-9]*/mountinfo || true; }
is "leaves nothing" "$(ours)$(ls -d "$SLURM_LAB" 2>/dev/null)" ""
"$lab" up 3 8<&- >/dev/null 2>&1 &
wait_until [ -e "$SLURM_LAB/slurm.conf" ] || true
kill -KILL $! 2>/dev/null || true
wait $! 2>/dev/null || true
env "DDPB_SLURM_LAB=$SLURM_LAB" sleep 100 >/dev/null 2>&1 8<&- & # as a daemon that up had only just begun
begun=$! && disown
succeeds "down after a killed up" "$lab" down 8<&-
is "leaves nothing either" "$(kill -0 $begun 2>/dev/null && echo "$begun")$(ours)$(ls -d "$SLURM_LAB" 2>/dev/null)" ""
exit "$failed"
