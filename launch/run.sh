#!/usr/bin/env bash
# run.sh - starts the ranks of an MPI program on this machine or on the hosts in a file, each with its own threads and cores
#
# A core is a physical core. Only its first hardware thread is used, so that two threads never share a core unnoticed. A CPU quota
# of a control group, such as a container's, leaves one core for each whole CPU, at least one. It names no cores, so ranks are not
# bound. The program polls for communication if it has more cores than threads, so binding also determines whether it polls.
#
# Usage: launch/run.sh [OPTION...] -- PROGRAM [ARGUMENT...]
#   -n, --ranks N          number of ranks (default: all slots of --hosts)
#   --hosts FILE           where to run (default: this machine): one host a line, "NAME", "NAME slots=N" or "NAME:N" (default
#                          1 slot), max_slots=N is ignored; # begins a comment. Hosts are reached by ssh without a password
#   --ranks-per-host N     slots of every host, in place of those in the file
#   --threads N            OMP_NUM_THREADS of a rank (default: that of the environment, or the rank's share of the cores,
#                          minus one for communication)
#   --bind core|none       core (default): each rank is bound to its share of the cores; none: ranks are not bound
#   --comm-core yes|no|auto  whether a rank has one core more than threads, for communication (default auto: if its share has
#                          one left and --threads is given, otherwise if its share is 4 cores or more)
#   --dry-run              prints the command instead of running it
# MPIRUN is the launcher, with options if needed (default: the first found of mpiexec.mpich, mpirun.mpich, mpiexec and
# mpirun). It must belong to the MPI of the program: MPICH, an MPI derived from it, or Open MPI.
# Exit status: the program's; 1 if it cannot be started, or if mpiexec ends with 0 but the run's results are incomplete;
# 2 for wrong options; 128 + N after signal N, such as 130 after Ctrl-C.
set -euo pipefail

# shellcheck source=launch/common.sh
. "$(dirname "$(realpath "$0")")/common.sh"

began=${EPOCHREALTIME:-$(date +%s.%N)} # bash 4 has no EPOCHREALTIME

plural() { [ "$1" = 1 ] || echo s; }

# ---- the machine ----
# layout: a command that prints the cores that a process may use on the host where it runs, and the CPU quotas of its control
# groups, version 2 and 1, as lines "quota US PERIOD".
# shellcheck disable=SC2016 # expanded by the shell on the host
{
    layout='LC_ALL=C taskset -cp $$ && LC_ALL=C lscpu -p=CPU,NODE,SOCKET,CORE; sed -nE '
    layout+='"s#^0::#/sys/fs/cgroup#p; s#^[0-9]+:([a-z_,]*,)?cpu(,[a-z_,]*)?:#/sys/fs/cgroup/cpu#p" /proc/self/cgroup | '
    layout+='while read -r at; do while [ -n "${at#/sys/fs}" ]; do '
    layout+='echo quota $(cat "$at/cpu.max" "$at/cpu.cfs_quota_us" "$at/cpu.cfs_period_us" 2>/dev/null); at=${at%/*}; done; done'
}

# cores_in: reads the output of layout; prints the first hardware thread of each core, sorted by NUMA node, socket and
# core, separated by commas. If lscpu lists none, as in a container without /sys, each allowed CPU counts as a core.
cores_in() {
    awk -F, '
        /affinity list: / {
            sub(/.*: /, "")
            for (i = 1; i <= NF; i++) {
                n = split($i, range, "-")
                for (cpu = range[1]; cpu <= range[n] + 0; cpu++) allowed[cpu + 0] = 1
            }
            next
        }
        /^[0-9]/ && ($1 + 0) in allowed {
            core = $4 == "" ? "cpu" $1 : $4
            if (!(core in seen)) print $2 + 0, $3 + 0, $4 + 0, $1
            seen[core] = found = 1
        }
        END {
            if (found) exit
            for (cpu in allowed) {
                print 0, 0, 0, cpu
                cpus++
            }
            if (cpus) print "run.sh: lscpu lists no core; each of the " cpus " CPUs that taskset allows counts as one" >"/dev/stderr"
        }' | sort -n -k1,1 -k2,2 -k3,3 -k4,4 | awk '{ printf "%s%s", (NR > 1 ? "," : ""), $4 } END { if (NR) print "" }'
}

# quota_in: reads the output of layout; prints the whole CPUs in the smallest CPU quota, at least 1, or nothing without a quota.
quota_in() {
    awk '
        /^quota [0-9]+ [0-9]/ { n = $2 < $3 ? 1 : int($2 / $3); if (!least || n < least) least = n }
        END { if (least) print least }'
}

# take_cores RANKS WHERE: reads the output of layout, and sets their (the cores). Lowers share to the number of cores
# per rank, if RANKS ranks share them. Sets limited (a text) if a CPU quota leaves fewer cores.
take_cores() {
    local layout_there allowed
    layout_there=$(cat)
    IFS=, read -ra their <<<"$(cores_in <<<"$layout_there")"
    allowed=$(quota_in <<<"$layout_there")
    if [ "${allowed:-9999}" -lt ${#their[@]} ]; then
        limited="a CPU quota leaves $allowed of ${#their[@]} cores$2, but names no cores"
    else
        allowed=${#their[@]}
    fi
    [ $((allowed / $1)) -ge $share ] || share=$((allowed / $1))
}

# ---- hosts ----
# read_hosts FILE: prints a line "host slots" for each host, in the order of the file; adds up the slots of repeated
# hosts.
read_hosts() {
    local text table
    read_text --hosts "$1"
    table=$(LC_ALL=C awk '
        function advice() { # what to do about a refused line, or nothing if that is unknown
            if (line ~ /[\200-\377]/) return "; it has characters that are not ASCII"
            if (first ~ /^\[?[0-9A-Fa-f]*:[0-9A-Fa-f]*:/) return "; write a name in place of an IPv6 address"
            if (first ~ /@|:[0-9][0-9][0-9][0-9][0-9]$/ || /(user|port)[a-z_-]*=/) return "; users and ports go in ~/.ssh/config"
            if (first ~ /^[A-Za-z0-9._,-]+\[[0-9,-]+\]/ && sub(/(:[0-9]+)?$/, "", first))
                return "; scontrol show hostnames \047" first "\047 prints the hosts of a list"
            if (first ~ /,/) return "; write one host a line"
            if ($2 ~ /^[1-9][0-9]?[0-9]?[0-9]?$/) return "; write " first " slots=" $2
        }
        { sub(/\r$/, ""); line = $0; sub(/#.*/, ""); gsub(/[ \t\r]*=[ \t]*/, "=") }
        NF == 0 { next }
        { sub(/[ \t]max[_-]slots=[0-9]+([ \t]|$)/, " "); $0 = $0; first = $1 }
        NF == 1 { sub(/:/, " slots="); $0 = $0 }
        NF == 1 { $2 = "slots=1" }
        NF > 2 || length($1) > 253 || $1 !~ /^[A-Za-z0-9][A-Za-z0-9._-]*$/ || $2 !~ /^slots=[1-9][0-9]?[0-9]?[0-9]?$/ {
            error = ", line " NR ": expected a host such as node1 or node1 slots=4, with 1 to 9999 slots, not \047" line "\047" advice()
            exit
        }
        !($1 in slots) { host[++n] = $1 }
        { slots[$1] += substr($2, 7) }
        END {
            if (!error && !n) error = ": lists no host"
            if (error) print error
            for (i = 1; i <= n && !error; i++) print host[i], slots[host[i]]
            exit (error != "")
        }' <<<"$text") || usage_error "--hosts $1$table"
    echo "$table"
}

is_this_machine() {
    local address
    address=$(getent ahosts "$1" | awk 'NR == 1 { print $1 }') || true
    [ -n "$address" ] && [[ " 127.0.0.1 127.0.1.1 ::1 $(hostname -I) " == *" $address "* ]]
}

# ask_host HOST: runs $layout on the host; writes the output to $answers/HOST, errors to $answers/.why/HOST. Call it in the
# background: it replaces its process by ssh, so that a signal ends ssh.
ask_host() {
    local there="exec sh -c '$layout'" # the login shell may be csh or fish: there must be no quote, \, ! or newline in it
    local ask=(timeout 20 ssh -o BatchMode=yes -o ConnectTimeout=10 -x "$1" "$there")
    local agent=${HYDRA_LAUNCHER_EXEC:-} # the command that the launcher calls in place of ssh
    [ $mpi = mpich ] || agent=${OMPI_MCA_plm_rsh_agent:-}
    [ -z "$agent" ] || ask=(timeout 20 "$agent" -x "$1" "$there")
    ! is_this_machine "$1" || ask=(sh -c "$layout")
    exec "${ask[@]}" </dev/null >"$answers/$1" 2>"$answers/.why/$1"
}

# ask_hosts: queries in parallel all hosts that have ranks; sets cores (of the last host), share (the smallest number of
# cores per rank), uneven (a text, if the cores of the hosts differ), and limited (see take_cores).
ask_hosts() {
    local host why their
    answers=$(mktemp -d) && mkdir "$answers/.why"
    # shellcheck disable=SC2046
    trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$answers"' EXIT
    trap_signals
    for host in "${!ranks_on[@]}"; do
        ask_host "$host" &
    done
    wait
    for host in "${!ranks_on[@]}"; do
        take_cores "${ranks_on[$host]}" " of $host" <"$answers/$host"
        if [ ${#their[@]} = 0 ]; then
            why=$(tr -d '\r' <"$answers/.why/$host" | sed -n '/^Warning: /d; /./ { p; q }') # skips the warning of ssh about new hosts
            die "host $host cannot be used: ${why:-no answer within 20 s};" \
                "this must work without a password: ssh $host lscpu"
        fi
        if [ ${#cores[@]} -gt 0 ] && [ "${their[*]}" != "${cores[*]}" ]; then
            uneven="the hosts have different cores"
        fi
        cores=("${their[@]}")
    done
    rm -rf "$answers"
    trap - EXIT "${ending_signals[@]}"
}

# place_on_hosts: sets ranks, list (hosts in the syntax of mpiexec), most (the most ranks per host), cores, share and uneven.
place_on_hosts() {
    local table slots left host
    table=$(read_hosts "$hosts")
    slots=$(awk -v all="$ranks_per_host" '{ n += all ? all : $2 } END { print n }' <<<"$table")
    ranks=${ranks:-$slots} left=${ranks:-$slots} share=9999
    [ "$ranks" -le "$slots" ] ||
        usage_error "$ranks ranks, but $hosts has $slots slot$(plural "$slots");" \
            "write slots=N after its hosts, or give --ranks-per-host"
    [ "$ranks" -le 9999 ] || usage_error "--hosts $hosts: $slots slots are more than 9999; give --ranks N"
    while [ "$left" -gt 0 ] && read -r host slots; do
        slots=${ranks_per_host:-$slots}
        ranks_on[$host]=$((slots < left ? slots : left))
        left=$((left - ranks_on[$host]))
        most=$((ranks_on[$host] > most ? ranks_on[$host] : most))
        list+=",$host:${ranks_on[$host]}"
    done <<<"$table"
    ask_hosts
}

place_here() {
    local their=()
    most=$ranks share=9999
    take_cores "$ranks" '' <<<"$(sh -c "$layout" 2>/dev/null)"
    cores=("${their[@]}")
    [ ${#cores[@]} -gt 0 ] || die "taskset does not list the CPUs that may be used here"
}

# ---- shares ----
# threads_of_list LIST: prints the first number of LIST, a value of OMP_NUM_THREADS: numbers from 1 to 4096 for levels of nested
# threads, separated by commas, with white space around them or not. Prints nothing for an empty LIST; fails for any other
# LIST. kernels/omp_threads.c has the same rule.
threads_of_list() {
    local blank=$'[ \t\n\v\f\r]*' number
    number="${blank}0*([1-9][0-9]{0,2}|[1-3][0-9]{3}|40[0-8][0-9]|409[0-6])$blank"
    [ -n "$1" ] || return 0
    [[ $1 =~ ^$number(,$number)*$ ]] && echo "${BASH_REMATCH[1]}"
}

# share_cores: sets threads, bound (the number of cores that a rank is bound to, 0 for none) and loose (why ranks are not bound).
share_cores() {
    local need=$((${threads:-1} + 1))
    loose=${uneven:-$limited} bound=0
    if [ "$comm_core" = yes ] && [ "$share" -lt $need ]; then
        usage_error "--comm-core yes: a rank's share is $share core$(plural "$share");" \
            "${threads:-1} thread$(plural "${threads:-1}") and communication need $need"
    fi
    if [ -z "$threads" ]; then
        threads=$((share > 0 ? share : 1))
        if [ "$comm_core" = yes ] || { [ "$comm_core" = auto ] && [ "$share" -ge 4 ]; }; then
            threads=$((share - 1))
        fi
    fi
    if [ "$share" = 0 ]; then
        loose=${limited:-there are more ranks than cores}
    elif [ "$threads" -gt "$share" ]; then
        loose="a rank's share is $share core$(plural "$share"), less than its threads"
    fi
    [ "$bind" = core ] || loose="--bind none"
    [ -z "$loose" ] || return 0
    bound=$threads
    [ "$comm_core" = no ] || [ "$share" -le "$threads" ] || bound=$((threads + 1))
}

# binding BETWEEN_CORES BETWEEN_RANKS: prints the cores of each rank of a host with these separators, such as 0+1,2+3.
binding() {
    local k IFS=$1 bindings=''
    for ((k = 0; k < most; k++)); do
        bindings+="$2${cores[*]:k * share:bound}"
    done
    echo "${bindings#"$2"}"
}

# with_mpich: sets command to start the ranks with Hydra, MPICH's launcher; the caller appends the program.
with_mpich() {
    command=("${mpirun[@]}" -rmk user)
    if [ -n "$hosts" ]; then
        command+=(-launcher ssh -hosts "${list#,}")
    else
        command+=(-launcher fork)
    fi
    [ "$bound" = 0 ] || command+=(-bind-to "user:$(binding + ,)")
    command+=(-n "$ranks" -genv OMP_NUM_THREADS "$threads")
}

# with_openmpi: sets command to start the ranks with Open MPI's launcher. Each rank binds itself: Open MPI's versions name cores differently.
# shellcheck disable=SC2016 # expanded by the shell of each rank
with_openmpi() {
    local where=${list#,} take='cores=$(echo "$1" | cut -d/ -f$((OMPI_COMM_WORLD_LOCAL_RANK + 1))); shift; exec taskset -c "$cores" "$@"'
    command=("${mpirun[@]}" --bind-to none --host "${where:-localhost:$ranks}" -n "$ranks" -x "OMP_NUM_THREADS=$threads")
    [ -z "${DDPBENCH_LINK:-}" ] || command+=(-x DDPBENCH_LINK)
    [ "$bound" = 0 ] || command+=(sh -c "$take" take "$(binding , /)")
}

describe() {
    local words where='this machine' n=${#ranks_on[@]}
    [ -z "$hosts" ] || where="$n host$(plural "$n")"
    words="$ranks rank$(plural "$ranks") on $where, $threads thread$(plural "$threads") each"
    if [ -n "$loose" ]; then
        say "$words, not pinned: $loose"
    elif [ "$bound" -gt "$threads" ]; then
        say "$words, pinned to $bound cores, of which one is for communication"
    else
        say "$words, pinned to $bound core$(plural "$bound"), none of them for communication alone"
    fi
}

# ---- the run ----
# in_foreground: tests whether this process group is in the foreground of the terminal (fields 5 and 8 of its stat
# file); if so, Ctrl-C also reaches the command.
in_foreground() {
    local stat
    read -ra stat <"/proc/$$/stat"
    [ "${stat[4]}" = "${stat[7]}" ]
}

# start_command: starts the command in the background and sets child to its process id; the command ends with this
# script. Without a terminal the command has its own process group, so that a signal to the group of this script reaches
# mpiexec only once: mpiexec aborts at a second signal.
start_command() {
    local die_with_us=(setpriv --pdeathsig TERM) signal
    child='' has_group=''
    "${die_with_us[@]}" true 2>/dev/null || die_with_us=() # util-linux before 2.33: a SIGKILL of this script does not end the command
    for signal in "${ending_signals[@]}"; do
        # shellcheck disable=SC2064 # expanded when the trap is set
        trap "caught=$(kill -l "$signal"); forward_signal $signal" "$signal"
    done
    caught=''
    in_foreground || has_group=yes
    [ -z "$has_group" ] || set -m
    (
        trap - "${ending_signals[@]}"
        exec "${die_with_us[@]}" "${command[@]}"
    ) <&0 &
    child=$!
    set +m
    [ -z "$caught" ] || kill "$child" 2>/dev/null || true # for a signal that arrived before the child started
}

forward_signal() {
    [ -z "$child" ] || { [ "$1" = INT ] && [ -z "$has_group" ] && in_foreground; } || kill "-$1" "$child" 2>/dev/null || true
}

# finish PROGRAM ARGUMENT...: waits for the command and exits with the status of the run.
finish() {
    local status=0 unfinished
    until
        status=0
        wait "$child" || status=$?
        ! kill -0 "$child" 2>/dev/null # a signal also ends `wait`
    do :; done
    [ -z "$caught" ] || exit $((128 + caught)) # launchers return other statuses
    [ "$status" = 0 ] || exit "$status"
    unfinished=$(unfinished_results "$@")
    [ -z "$unfinished" ] || die "${mpirun[0]##*/} ended with status 0, but the results are not complete: $unfinished"
}

# unfinished_results PROGRAM ARGUMENT...: prints what is missing if this run has written results and they are
# incomplete.
unfinished_results() {
    local where=results run counts words=''
    while [ $# -gt 1 ]; do
        [[ ${1//_/-} != @(--output|--profile-output-dir) ]] || where=$2
        shift
    done
    while read -r run; do
        run=${run%/*}
        counts=$(sed -nE 's/^\t"(done|planned)":\t([0-9]+),?$/\2/p' "$run/summary.json" 2>/dev/null | paste -sd ' ')
        [ "${counts% *}" != "${counts#* }" ] || [ -z "$counts" ] || return 0
        words="$run/summary.json is not there"
        [ -z "$counts" ] || words="$run/summary.json has ${counts% *} of ${counts#* }"
    done < <(find "$where" -maxdepth 3 -name run.json -newermt "@$began" 2>/dev/null)
    echo "$words"
}

# ---- options ----
ranks='' hosts='' ranks_per_host='' threads='' bind=core comm_core=auto dry_run=''
option_rows=("-n,--ranks ranks check_integer 1 9999" "--hosts hosts check_path"
    "--ranks-per-host ranks_per_host check_integer 1 9999" "--threads threads check_integer 1 4096"
    "--bind bind check_choice core none" "--comm-core comm_core check_choice yes no auto" "--dry-run dry_run flag")
takes_dashes=1
read_options "$@"
set -- "${after_dashes[@]}"
program=${1:-}
[ -n "$program" ] || usage_error "the program is missing: give it after --, as in: launch/run.sh -n 2 -- build/ddpbench"
[ -n "$ranks$hosts" ] || usage_error "the number of ranks is missing: give --ranks N or --hosts FILE"
[ -z "$ranks_per_host" ] || [ -n "$hosts" ] || usage_error "--ranks-per-host needs --hosts; for this machine give --ranks N"
if [ -z "$threads" ]; then
    threads=$(threads_of_list "${OMP_NUM_THREADS:-}") ||
        usage_error "OMP_NUM_THREADS is '$OMP_NUM_THREADS' in the environment: expected a whole number from 1 to 4096," \
            "or a list of such numbers; or give --threads"
fi
need_tools util-linux taskset lscpu
need_tools coreutils timeout
need_tools mawk awk
[ -z "$hosts" ] || need_tools libc-bin getent
[ -n "$hosts" ] || command -v -- "$program" >/dev/null || die "there is no program '$program'"
find_mpirun

declare -A ranks_on=() # ranks_on[HOST]: number of ranks
cores=() share=0 most=1 uneven='' limited='' list=''
if [ -n "$hosts" ]; then
    place_on_hosts
else
    place_here
fi
share_cores
describe
"with_$mpi"
command+=("$@")
if [ -n "$dry_run" ]; then
    quote_words "${command[@]}"
    exit
fi
start_command
finish "$@"
