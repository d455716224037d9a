#!/usr/bin/env bash
# run.sh - launch/run.sh: threads and cores of ranks on machines of several shapes (with fake lscpu and taskset), on the
# hosts in a file, and on this machine; refused options, and that no process is left when run.sh is killed.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

run=$root/launch/run.sh
unset OMP_NUM_THREADS HYDRA_LAUNCHER_EXEC OMPI_MCA_plm_rsh_agent
launcher=$MPIRUN
export MPIRUN='' temporary # fake programs write to $temporary
tiny=(--d-model 32 --num-layers 1 --num-heads 2 --d-ff 48 --context-length 16 --batch-size 4 --vocab-size 256 --rounds 1
    --steps-per-block 1 --implementations ddp_bucketed)

# ---- machine shapes ----

# machine FOLDER ALLOWED ROWS...: makes an lscpu that reports these processors (CPU,NODE,SOCKET,CORE), a taskset that allows ALLOWED,
# and a sed that reads FOLDER/cgroup in place of /proc/self/cgroup and prints directories in FOLDER/groups.
# shellcheck disable=SC2016 # expanded by the sed
machine() {
    local folder=$1
    mkdir -p "$folder"
    echo "echo \"pid 1's current affinity list: $2\"" >"$folder/taskset"
    shift 2
    printf '%s\n' "cat <<'END'" '# CPU,Node,Socket,Core' "$@" END >"$folder/lscpu"
    mkdir -p "$folder/groups" && : >"$folder/cgroup"
    printf '%s\n' 'real() { '"$(type -P sed)"' "$@"; }; [ "$3" = /proc/self/cgroup ] || exec '"$(type -P sed)"' "$@"' \
        'real "$1" "$2" "${0%/*}/cgroup" | real "s#^/sys/fs/cgroup#${0%/*}/groups#"' >"$folder/sed"
    chmod +x "$folder/lscpu" "$folder/taskset" "$folder/sed"
}

# quota FOLDER LINE FILE TEXT...: makes a machine of eight cores with this line in /proc/self/cgroup and these control group files.
quota() {
    local folder=$1
    cp -r eight-cores "$folder" && echo "$2" >"$folder/cgroup"
    shift 2
    for (( ; $#; )); do
        mkdir -p "$folder/groups/${1%/*}" && echo "$2" >"$folder/groups/$1"
        shift 2
    done
}

# A fake mpiexec, which records its arguments, and a fake openmpi, which also identifies itself as Open MPI.
cat >mpiexec <<END
#!/bin/sh
[ "\$*" = --version ] || echo "\$*" >"\$temporary/called"
exit 3
END
sed 's/^\[.*--version \]/[ "$*" = --version ] \&\& echo "mpirun (Open MPI) 4.1.4"/' mpiexec >openmpi
chmod +x mpiexec openmpi

# plan MACHINE THREADS BINDING OPTION...: checks threads per rank and cores of ranks in MPICH's command; BINDING none: not bound.
plan() {
    local folder=$1 threads=$2 binding=$3 good=0
    shift 3
    try env MPIRUN="$temporary/mpiexec" PATH="$temporary/$folder:$PATH" "$run" "$@" --dry-run -- "$program"
    grep -qF -- "-genv OMP_NUM_THREADS $threads $(quote_words "$program")" printed && [ "$status" = 0 ] || good=1
    if [ "$binding" = none ]; then
        grep -q -- '-bind-to' printed && good=1
    else
        grep -qF -- "-bind-to user:$binding -n" printed || good=1
    fi
    [ $good = 0 ] || cat printed >>said
    result $good "$folder, $*: $threads threads, cores $binding"
}

machine two-cores 0,1 0,0,0,0 1,0,0,1
machine seven-cores 0-6 0,0,0,0 1,0,0,1 2,0,0,2 3,0,0,3 4,0,0,4 5,0,0,5 6,0,0,6
machine eight-cores 0-7 0,0,0,0 1,0,0,1 2,0,0,2 3,0,0,3 4,0,0,4 5,0,0,5 6,0,0,6 7,0,0,7
machine some-of-eight 2,5-7 0,0,0,0 1,0,0,1 2,0,0,2 3,0,0,3 4,0,0,4 5,0,0,5 6,0,0,6 7,0,0,7
machine hardware-threads 0-7 0,0,0,0 1,0,0,1 2,0,0,2 3,0,0,3 4,0,0,0 5,0,0,1 6,0,0,2 7,0,0,3
machine sockets-take-turns 0-3 0,0,0,0 1,1,1,1 2,0,0,2 3,1,1,3
machine unknown-cores 0-1 0,,, 1,,,
machine without-sys 1,3-4 && echo 'exit 1' >without-sys/lscpu # as in a container that does not show /sys

plan two-cores 2 0+1 -n 1
plan two-cores 1 0,1 --ranks 2
plan two-cores 1 none -n 3
plan two-cores 4 none -n 1 --threads 4
plan two-cores 2 none -n 1 --bind none
plan two-cores 1 0+1 -n 1 --comm-core yes
plan two-cores 1 0+1 -n 1 --threads 1
plan seven-cores 2 0+1,2+3,4+5 -n 3
plan seven-cores 3 0+1+2,3+4+5 -n 2
plan eight-cores 7 0+1+2+3+4+5+6+7 -n 1
plan eight-cores 3 0+1+2+3,4+5+6+7 -n 2
plan eight-cores 4 0+1+2+3,4+5+6+7 -n 2 --comm-core no
plan eight-cores 2 0+1+2,4+5+6 -n 2 --threads 2
plan eight-cores 2 0+1,4+5 -n 2 --threads 2 --comm-core no
plan eight-cores 1 0+1,2+3,4+5,6+7 -n 4 --comm-core yes
plan some-of-eight 2 2+5,6+7 -n 2
plan without-sys 1 1,3,4 -n 3
is "without /sys a line names what the cores were taken from" "$(head -n 1 said)" \
    "run.sh: lscpu lists no core; each of the 3 CPUs that taskset allows counts as one"
plan hardware-threads 2 0+1,2+3 -n 2
plan hardware-threads 1 none -n 5
plan sockets-take-turns 2 0+2,1+3 -n 2
plan unknown-cores 1 0,1 -n 2
OMP_NUM_THREADS=1 plan eight-cores 1 0+1,4+5 -n 2
quota group-above 0::/a/b ./cpu.max 'max 100000' a/cpu.max '250000 100000' a/b/cpu.max '600000 100000'
plan group-above 2 none -n 1
is "a CPU quota is named, with the cores that it leaves" "$(<said)" \
    "run.sh: 1 rank on this machine, 2 threads each, not pinned: a CPU quota leaves 2 of 8 cores, but names no cores"
plan group-above 4 none -n 1 --threads 4
plan group-above 1 none -n 4
quota container 3:cpu,cpuacct:/docker/1 cpu/cpu.cfs_quota_us 600000 cpu/cpu.cfs_period_us 200000
plan container 1 none -n 3
quota other-controller 3:cpuset:/docker/1 cpu/cpu.cfs_quota_us 600000 cpu/cpu.cfs_period_us 200000
plan other-controller 8 0+1+2+3+4+5+6+7 -n 1 --comm-core no
quota no-quota 3:cpu:/docker/1 cpu/cpu.cfs_quota_us -1 cpu/cpu.cfs_period_us 200000
plan no-quota 8 0+1+2+3+4+5+6+7 -n 1 --comm-core no
quota small 0::/ ./cpu.max '30000 100000'
plan small 1 none -n 2
quota whole 0::/ ./cpu.max '800000 100000'
plan whole 8 0+1+2+3+4+5+6+7 -n 1 --comm-core no
# Tests OMP_NUM_THREADS with the table that tests/unit/kernels/test_omp_threads.c uses for the program. Its lines are
# "NUMBER [VALUE]"; the NUMBER -1 means that the value is refused, 0 that it is not set.
good='' differs=''
while IFS= read -r line; do
    value=${line#*[}
    MPIRUN=$temporary/mpiexec PATH=$temporary/eight-cores:$PATH OMP_NUM_THREADS=${value%]} try "$run" -n 1 --dry-run -- true
    got=$(sed -n 's/.*-genv OMP_NUM_THREADS \([0-9]*\) .*/\1/p' printed)
    [ "$status" != 2 ] || ! grep -q '^run.sh: OMP_NUM_THREADS is ' said || got=-1
    [ "$got [$value" = "${line/#0 /7 }" ] && good+=. || differs+="$line: got '$got'; "
done <"$root/tests/support/omp_num_threads.txt"
is "run.sh reads or refuses values of OMP_NUM_THREADS as the program does" "$((${#good} > 30)) $differs" "1 "
PATH=$temporary/two-cores:$PATH try "$run" -n 3 --dry-run -- "$program"
check 0 "more ranks than cores are reported" '^run.sh: 3 ranks on this machine, 1 thread each, not pinned: there are more ranks than cores$'
PATH=$temporary/eight-cores:$PATH try "$run" -n 2 --dry-run -- "$program"
check 0 "the plan of threads and cores is printed" '^run.sh: 2 ranks on this machine, 3 threads each, pinned to 4 cores, of which one is for communication$'
is "the plan of threads and cores is one line" "$(wc -l <said)" 1

# ---- hosts ----

# Makes a fake ssh: hosts named small* have two cores, large* eight; other hosts do not answer.
cat >ssh <<END
#!/bin/sh
case \$2 in
small*) PATH="\$temporary/two-cores:\$PATH" ;;
large*) PATH="\$temporary/eight-cores:\$PATH" ;;
quota*) PATH="\$temporary/group-above:\$PATH" ;;
*) echo "ssh: connect to host \$2 port 22: No route to host" >&2; exit 255 ;;
esac
shift 2
exec "\${login_shell:-\$temporary/login}" -c "\$*"
END
# A fake login shell, which takes only what sh, csh and fish all read: words, and one text in single quotes, on one line.
cat >login <<'END'
#!/bin/bash
alike="^[a-z -]+'[^'\\!]*'\$"
[[ $2 =~ $alike && $2 != *$'\n'* ]] || { echo "login: Command not found: $2" >&2; exit 1; }
exec sh -c "$2"
END
chmod +x ssh login

# on_hosts WORDS LINES EXPECTED OPTION...: checks the arguments of mpiexec for a hosts file with LINES.
on_hosts() {
    local words=$1 expected=$3 good=0
    printf '%b' "$2" >hosts
    shift 3
    rm -f called
    try env MPIRUN="$temporary/mpiexec" HYDRA_LAUNCHER_EXEC="$temporary/ssh" "$run" --hosts hosts "$@" -- prog --option 'a b'
    [ "$status" = 3 ] && [ "$(cat called)" = "-rmk user -launcher ssh -hosts $expected prog --option a b" ] || good=1
    [ ! -e called ] || cat called >>said
    result $good "hosts: $words"
}

on_hosts "all slots, comments and empty lines" '# lab\n\nlarge1 slots=2 # first\n  large2:1\r\nlarge3\n' \
    'large1:2,large2:1,large3:1 -bind-to user:0+1+2+3,4+5+6+7 -n 4 -genv OMP_NUM_THREADS 3'
on_hosts "fewer ranks than slots" 'large1 slots = 2\nlarge2 slots=8\nabsent slots=2\n' \
    'large1:2,large2:1 -bind-to user:0+1+2+3,4+5+6+7 -n 3 -genv OMP_NUM_THREADS 3' -n 3
on_hosts "--ranks-per-host" 'large1 slots=1\nlarge2\n' \
    'large1:4,large2:4 -bind-to user:0+1,2+3,4+5,6+7 -n 8 -genv OMP_NUM_THREADS 2' --ranks-per-host 4
on_hosts "a host with a CPU quota" 'large1\nquota1\n' 'large1:1,quota1:1 -n 2 -genv OMP_NUM_THREADS 2'
succeeds "a CPU quota is named with its host" grep -q ' not pinned: a CPU quota leaves 2 of 8 cores of quota1, but names no cores$' said
for shell in tcsh fish; do
    if login_shell=$(command -v $shell); then
        export login_shell
        on_hosts "the login shell is $shell" 'large1\n' 'large1:1 -bind-to user:0+1+2+3+4+5+6+7 -n 1 -genv OMP_NUM_THREADS 7'
    else
        echo "skip - hosts: the login shell is $shell: it is not installed"
    fi
done
unset login_shell
on_hosts "the keywords of Open MPI, a byte order mark, CR LF" '\xef\xbb\xbflarge1 slots=2 max_slots=4\r\nlarge2\tmax-slots = 0 slots=1 # x\r\n' \
    'large1:2,large2:1 -bind-to user:0+1+2+3,4+5+6+7 -n 3 -genv OMP_NUM_THREADS 3'
on_hosts "a host listed twice" 'large1\nsmall2\nlarge1\n' 'large1:2,small2:1 -n 3 -genv OMP_NUM_THREADS 2'
name=large$(printf 'n%.0s' {1..248})
on_hosts "a host of 253 characters" "$name\n" "$name:1 -bind-to user:0+1+2+3+4+5+6+7 -n 1 -genv OMP_NUM_THREADS 7"
on_hosts "more ranks than cores on one host" 'small1 slots=2\nsmall2 slots=3\n' 'small1:2,small2:3 -n 5 -genv OMP_NUM_THREADS 1'
TMPDIR="$temporary/of another node" on_hosts "a TMPDIR that is not there" 'large1\n' 'large1:1 -bind-to user:0+1+2+3+4+5+6+7 -n 1 -genv OMP_NUM_THREADS 7'
is "a TMPDIR that is not there is replaced by /tmp, with a line" "$(head -n 1 said)" \
    "run.sh: TMPDIR=$temporary/of another node is not a directory that can be written here; /tmp is used"
# With Open MPI the ranks bind themselves.
printf 'large1\nlarge2:2\n' >hosts
try env MPIRUN="$(quote_words "$temporary/openmpi") --mca a b" OMPI_MCA_plm_rsh_agent="$temporary/ssh" "$run" --hosts hosts -- prog 'a b'
is "ranks on hosts with Open MPI" "$status $(sed 's/-c .* take/-c take/' called)" \
    "3 --mca a b --bind-to none --host large1:1,large2:2 -n 3 -x OMP_NUM_THREADS=3 sh -c take 0,1,2,3/4,5,6,7 prog a b"
MPIRUN=$temporary/openmpi PATH=$temporary/two-cores:$PATH try "$run" -n 3 -- true
is "ranks on this machine with Open MPI" "$status $(cat called)" "3 --bind-to none --host localhost:3 -n 3 -x OMP_NUM_THREADS=1 true"
# MPIRUN is the path of a program with any characters, or words as a shell splits them.
mkdir "of \$HOME's [é]"
cp mpiexec openmpi "of \$HOME's [é]"
MPIRUN="$temporary/of \$HOME's [é]/mpiexec" try "$run" -n 3 --threads 1 -- true
is "MPIRUN is a path with special characters" "$status $(cat called)" "3 -rmk user -launcher fork -n 3 -genv OMP_NUM_THREADS 1 true"
MPIRUN="$(quote_words "$temporary/of \$HOME's [é]/openmpi") --mca \"a b\" c\\ d" try "$run" -n 3 --threads 1 --dry-run -- "of \$HOME's [é]/mpiexec"
is "MPIRUN with options: the printed command of --dry-run runs the launcher" "$(rm called; bash -c "$(cat printed)"; echo $? "$(cat called)")" \
    "3 --mca a b c d --bind-to none --host localhost:3 -n 3 -x OMP_NUM_THREADS=1 of \$HOME's [é]/mpiexec"
MPIRUN="'mpiexec" try "$run" -n 3 -- true
check 1 "an unclosed quote in MPIRUN is refused" "^run.sh: MPIRUN='mpiexec: there is no such program\$"
export MPIRUN=$temporary/mpiexec
printf 'large1\nsmall2\n' >hosts
HYDRA_LAUNCHER_EXEC="$temporary/ssh" try "$run" --hosts hosts --dry-run -- prog
check 0 "hosts with different cores are reported" '2 ranks on 2 hosts, 2 threads each, not pinned: the hosts have different cores$'
printf 'large1\nnowhere\n' >hosts
HYDRA_LAUNCHER_EXEC="$temporary/ssh" try "$run" --hosts hosts -- prog
check 1 "a host that cannot be reached is reported" '^run.sh: host nowhere cannot be used: ssh: .*No route to host; .*: ssh nowhere lscpu$'
# Makes an ssh that prints a warning and then an error, each ended by a carriage return and a newline.
cat >warning <<'END'
#!/bin/sh
printf "Warning: Permanently added '%s' (ED25519) to the list of known hosts.\r\n" "$2" >&2
printf 'user@%s: Permission denied (publickey).\r\n' "$2" >&2
exit 255
END
chmod +x warning
printf 'new1\n' >hosts
HYDRA_LAUNCHER_EXEC="$temporary/warning" try "$run" --hosts hosts -- prog
check 1 "a warning of ssh is not reported as the error" '^run.sh: host new1 cannot be used: user@new1: Permission denied \(publickey\)[.]; this'

# Tests signals while a host does not answer: the script ends at once, and its ssh process too.
mkdir asking
cat >asking/ssh <<'END'
#!/bin/bash
echo >"$(dirname "$0")/asked"
exec -a "$0" sleep 300
END
chmod +x asking/ssh
for signal in HUP:129 INT:130 TERM:143; do
    rm -f asking/asked
    HYDRA_LAUNCHER_EXEC="$temporary/asking/ssh" interrupt "${signal%:*}" asking/asked "$run" --hosts hosts -- prog
    is "SIG${signal%:*} ends run.sh while it queries hosts, and no process is left" "${began:+yes} $status $(gone asking)" "yes ${signal#*:} "
done

# ---- refused, in addition to bad_launch.sh ----

PATH=$temporary/two-cores:$PATH try "$run" -n 2 --comm-core yes -- true
check 2 "--comm-core yes without a free core is refused" "a rank's share is 1 core; 1 thread and communication need 2"
try "$run" --help
is "--help prints the usage and nothing on stderr" "$status$(cat said) $(grep -c '^Usage: launch/run.sh' printed)" "0 1"

# ---- runs on this machine ----

export MPIRUN=$launcher

try "$run" -n 2 -- sh -c 'exit 7'
check 7 "run.sh returns the program's exit status" '2 ranks on this machine'
# Counts the cores among the CPUs that this process may use.
cores=$({ taskset -cp $$ | sed 's/.*: //' | tr , '\n' | awk -F- '{
    for (cpu = $1; cpu <= $NF; cpu++) print "/sys/devices/system/cpu/cpu" cpu "/topology/thread_siblings_list"
}' | xargs cat | sort -u | wc -l; } 2>/dev/null) || true
! "$run" -n 1 --dry-run -- true 2>&1 | grep -q 'a CPU quota leaves' || cores=1 # ranks are not bound here
# shellcheck disable=SC2016
say_cores='taskset -cp $$ | sed "s/.*: //"'
if [ "$cores" -ge 2 ]; then
    try "$run" -n 2 --threads 1 --comm-core no -- sh -c "$say_cores"
    is "two ranks run on different cores: $(sort printed | tr '\n' ' ')" "$status $(sort -u printed | grep -cxE '[0-9]+')" "0 2"
    last=$(taskset -cp $$ | sed 's/.*[ ,-]//')
    try taskset -c "$last" "$run" -n 1 -- sh -c "$say_cores"
    is "only cores allowed by taskset are used" "$status $(cat printed)" "0 $last"
else
    echo "skip - two ranks run on different cores: there is one core"
fi
if [ "$cores" -ge 4 ]; then
    for comm_core in yes:poll no:sleep:500; do
        try "$run" -n 2 --threads 1 --comm-core ${comm_core%%:*} -- "$program" "${tiny[@]}" --output "core-$comm_core"
        tr '\n' ' ' <printed | grep -q "progress ${comm_core#*:} " && good=$status || good=1
        result "$good" "--comm-core ${comm_core%%:*}: MPI's progress is ${comm_core#*:}"
    done
else
    echo "skip - --comm-core sets MPI's progress: there are fewer than 4 cores"
fi

# Tests Open MPI as well, if MPICH and Open MPI are installed.
if [ "$mpi" = openmpi ] || ! command -v mpirun.openmpi >/dev/null; then
    echo "skip - Open MPI as second MPI: $([ "$mpi" = openmpi ] && echo "it is the tested MPI" || echo "it is not installed")"
else
    export MPIRUN='mpirun.openmpi --allow-run-as-root'
    # On one core with two hardware threads, ranks are not pinned, so each prints two CPUs instead of one.
    try "$run" -n 2 --threads 1 --comm-core no -- sh -c "$say_cores; exit 7"
    is "Open MPI: exit status and cores" "$status $(sort -u printed | grep -cxE '[0-9]+')" "7 $((cores > 1 ? 2 : cpus == 1))"
    # shellcheck disable=SC2016
    try "$run" -n 2 -- sh -c 'kill -SEGV $$'
    check 139 "Open MPI: a killed rank gives status 139" '2 ranks on this machine'
    try "$run" -n 2 -- "$program" "${tiny[@]}" --output other
    check 1 "Open MPI: a program built with MPICH is refused" 'started 2 ranks .OMPI_COMM_WORLD_SIZE=2.*built with MPICH'
    export MPIRUN=$launcher
fi

# begin NAME: starts a run that would take hours and waits until it has written steps; sets `began` to yes if it has.
begin() {
    # Job control gives the script the default action of SIGINT, as on a terminal.
    set -m
    latest "${tiny[@]}" --rounds 1000000
    "$run" -n 2 -- "$program" "${latest[@]}" --output "$temporary/$1" >printed 2>said </dev/null &
    set +m
    running=$!
    wait_until [ -s "$1/rank_1_metrics.jsonl" ] || true
    began=$([ -s "$1/rank_1_metrics.jsonl" ] && [ -n "$(left_over "$1")" ] && echo yes || echo no)
}

# ended WORDS NAME STATUS: checks that the run NAME ends with a status matching the pattern STATUS, and leaves no process.
ended() {
    local left
    left=$(gone "$2")
    status=0
    for pid in $(left_over "$2"); do kill -KILL "$pid" || true; done
    { wait $running || status=$?; } 2>/dev/null
    # shellcheck disable=SC2053 # $3 is a pattern
    is "$1 (status $status)" "$began $([[ $status == $3 ]] && echo right || echo "status $status") $left" "yes right "
}

for signal in HUP:129 INT:130 USR1:138 USR2:140 TERM:143 KILL:137; do
    begin "killed-$signal"
    kill "-${signal%:*}" $running || true
    ended "SIG${signal%:*} ends the ranks, and no process is left" "killed-$signal" "${signal#*:}"
done
begin group
kill -INT -- -$running || true
ended "SIGINT to the process group ends the run" group 130
is "SIGINT to the process group reaches mpiexec only once" "$(grep -c 'Ctrl-C caught' said)" 0
for signal in KILL SEGV; do
    begin "rank-$signal"
    kill -$signal "$(left_over "rank-$signal" | tail -n 1)" || true
    ended "SIG$signal to a rank is a failure" "rank-$signal" '[!0]*'
done
# MPICH's mpiexec returns 0 after SIGTERM.
begin mpiexec-TERM
kill -TERM "$(tr -d ' ' <"/proc/$running/task/$running/children")" || true
ended "SIGTERM to mpiexec is a failure" mpiexec-TERM '[!0]*'
# Ctrl-C reaches all processes in the foreground of the terminal.
if ! command -v script >/dev/null; then
    echo "skip - Ctrl-C: there is no 'script' to make a terminal"
else
    latest "${tiny[@]}" --rounds 1000000
    printf -v command '%q ' "$run" -n 2 -- "$program" "${latest[@]}" --output "$temporary/keys"
    status=0
    {
        wait_until [ -s keys/rank_1_metrics.jsonl ] || true
        printf '\003'
        gone keys >left
    } | SHELL=$(command -v bash) timeout "$limit" script -qec "$command" /dev/null >said 2>&1 || status=$?
    is "Ctrl-C on a terminal ends the run with status 130" "$status $(cat left)" "130 "
fi

# Uses an mpiexec that always returns 0. run.sh then has to check the results in --output, or new results in results/.
mkdir -p results/old
echo >results/old/run.json
touch -d '1 hour ago' results/old/run.json
cat >always <<'END'
#!/bin/sh
[ "$*" != --version ] && [ "$WHERE" ] || exit 0
mkdir -p "$WHERE"
echo >"$WHERE/run.json"
[ ! "$DONE" ] || printf '{\n\t"done":\t%s,\n\t"planned":\t2,\n\t"of":\t"rounds"\n}\n' "$DONE" >"$WHERE/summary.json"
END
chmod +x always
# made WHERE DONE ARGUMENT...: makes a run with results in the directory WHERE, of which DONE of 2 rounds are complete.
made() { MPIRUN=$temporary/always WHERE=$1 DONE=$2 try "$run" -n 1 -- true "${@:3}"; }
made '' ''
check 0 "mpiexec returns 0: a run without results succeeds" '1 rank'
made results/a 2
check 0 "mpiexec returns 0: complete results succeed" '1 rank'
made results/b ''
check 1 "mpiexec returns 0: results without a summary fail" 'run.sh: always ended with status 0, .*: results/b/summary.json is not there$'
made x/ddp 1 --profile-output-dir x
check 1 "mpiexec returns 0: incomplete results fail" 'run.sh: always ended with status 0, .*: x/ddp/summary.json has 1 of 2$'
made y 2 --output y
check 0 "mpiexec returns 0: complete results in --output succeed" '1 rank'
exit "$failed"
