#!/usr/bin/env bash
# slurm_lab.sh - a real Slurm for tests: a controller and nodes on this machine, with configuration, key and state in one
# directory. It does not touch the system's Slurm and munge.
# A node is a slurmd in a UTS namespace, which gives it a host name, and in a mount namespace, in which the names of all nodes
# resolve. A bind mount keeps the UTS namespace alive; to end a node, all processes in the namespace are killed.
#
# Usage: tests/support/slurm_lab.sh COMMAND, as root
#   up N [LINE...]      a controller and the nodes n1 to nN of 2 CPUs; LINEs are added to slurm.conf
#   run COMMAND...      runs a command that uses this Slurm
#   kill-node K         kills all processes of node K, as if its machine had died, and marks the node as down
#   start-node K        starts node K again after kill-node
#   stop-controller, start-controller
#   down                ends all daemons and nodes, including leftovers of a killed command, and removes the directory
# SLURM_LAB is the directory (default /run/slurm-lab-ddpbench).
set -euo pipefail

# shellcheck source=launch/common.sh
. "$(dirname "$(realpath "$0")")/../../launch/common.sh"

lab=$(realpath -m "${SLURM_LAB:-/run/slurm-lab-ddpbench}")
port=${SLURM_LAB_PORT:-17817} # port of the controller; node K has port + K
export SLURM_CONF=$lab/slurm.conf

# ---- processes ----
# launch COMMAND...: starts a daemon, marked by a variable in its environment, since the ids in old pid files may belong to other processes.
launch() { env "DDPB_SLURM_LAB=$lab" "$@" </dev/null >>"$lab/launch.log" 2>&1 9<&-; }

# running NAME: prints the process id of the daemon NAME if it runs, else fails.
running() {
    local pid
    { read -r pid <"$lab/$1.pid"; } 2>/dev/null && tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" | grep -qxF "DDPB_SLURM_LAB=$lab" &&
        echo "$pid"
}

# wait_until TENTHS COMMAND...: waits until the command succeeds; returns 1 if it does not within TENTHS tenths of a second.
wait_until() {
    local left=$1
    shift
    until "$@"; do
        [ "$left" -gt 0 ] || return 1
        left=$((left - 1))
        sleep 0.1
    done
}

stopped() { ! running "$1" >/dev/null; }

stop() {
    local pid
    pid=$(running "$1") || return 0
    kill "$pid" 2>/dev/null || true
    wait_until 50 stopped "$1" || kill -KILL "$pid" 2>/dev/null || true
}

# end_node FILE: kills all processes in the UTS namespace mounted at FILE, until none is left.
end_node() {
    local id process found=1
    id=$(stat -L -c %i "$1" 2>/dev/null) || return 0
    while [ -n "$found" ]; do
        found=''
        for process in /proc/[0-9]*; do
            [ "$(readlink "$process/ns/uts" 2>/dev/null)" = "uts:[$id]" ] || continue
            # Zombies remain after SIGKILL and do not count.
            [[ $(sed 's/.*) //' "$process/stat" 2>/dev/null) == Z* ]] || found=1
            kill -KILL "${process#/proc/}" 2>/dev/null || true
        done
    done
}

# end_daemons: kills daemons that a killed command of this script has left, even if they have no namespace or pid file yet.
end_daemons() {
    local found
    while true; do
        mapfile -t found < <(grep -lsxzF "DDPB_SLURM_LAB=$lab" /proc/[0-9]*/environ | cut -d / -f 3)
        [ ${#found[@]} -gt 0 ] || break
        kill -KILL "${found[@]}" 2>/dev/null || true
    done
}

# ---- parts ----
configuration() { # N LINE...: prints slurm.conf for N nodes
    local k n=$1
    shift
    cat <<END
ClusterName=ddpb
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmctldPort=$port
SlurmctldPidFile=$lab/slurmctld.pid
SlurmctldLogFile=$lab/slurmctld.log
StateSaveLocation=$lab/state
SlurmUser=root
SlurmdUser=root
SlurmdPidFile=$lab/%n.pid
SlurmdLogFile=$lab/%n.log
SlurmdSpoolDir=$lab/spool.%n
SlurmdParameters=config_overrides
AuthInfo=socket=$lab/munged.socket
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc=$lab/jobcomp.log
MpiDefault=none
ReturnToService=1
SlurmdTimeout=10
KillWait=5
InactiveLimit=0
END
    for ((k = 1; k <= n; k++)); do
        echo "NodeName=n$k NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=$((port + k)) CPUs=2 RealMemory=1000"
    done
    echo "PartitionName=main Nodes=n[1-$n] Default=YES State=UP"
    [ $# = 0 ] || printf '%s\n' "$@"
}

start_controller() { launch slurmctld -f "$lab/slurm.conf" || die "slurmctld does not start: $(tail -n 2 "$lab/launch.log")"; }

start_node() { # K
    local private=()
    [ -e "$lab/uts.n$1" ] || die "there is no node $1"
    unshare --mount true 2>/dev/null || private=(--propagation unchanged) # in a chroot, / is not a mount
    # shellcheck disable=SC2016 # expanded by the inner shell
    launch nsenter "--uts=$lab/uts.n$1" unshare --mount "${private[@]}" sh -euc \
        'hostname "$1" && mount --bind "$2/hosts" /etc/hosts && exec slurmd -N "$1" -f "$2/slurm.conf"' node "n$1" "$lab" ||
        die "the slurmd of node $1 does not start: $(tail -n 2 "$lab/launch.log")"
}

all_idle() { [ "$(timeout 2 sinfo -h -N -o %T 2>/dev/null | sort | uniq -c | tr -s ' ')" = " $1 idle" ]; }

up() {
    local k n=${1:-}
    shift
    ! [ -e "$lab" ] || die "$lab exists: a lab is up, or was killed; end it by '$0 down'"
    trap 'trap "" HUP INT TERM; remove' EXIT
    trap_signals
    mkdir -m 755 "$lab" # munged requires that every user can reach its socket
    mkdir "$lab/state"
    cp /etc/hosts "$lab/hosts"
    for ((k = 1; k <= n; k++)); do
        echo "127.0.0.1 n$k" >>"$lab/hosts"
        mkdir "$lab/spool.n$k"
        : >"$lab/uts.n$k"
        unshare "--uts=$lab/uts.n$k" true
    done
    configuration "$n" "$@" >"$lab/slurm.conf"
    # slurmd requires a cgroup plugin, but does not test whether the plugin works, and nothing here uses it.
    printf '%s\n' CgroupPlugin=cgroup/v1 CgroupAutomount=no >"$lab/cgroup.conf"
    (umask 077 && head -c 512 /dev/urandom >"$lab/munge.key")
    launch munged "--key-file=$lab/munge.key" "--socket=$lab/munged.socket" "--pid-file=$lab/munged.pid" \
        "--log-file=$lab/munged.log" "--seed-file=$lab/munged.seed" || die "munged does not start: $(tail -n 2 "$lab/launch.log")"
    start_controller
    for ((k = 1; k <= n; k++)); do
        start_node "$k"
    done
    wait_until 600 all_idle "$n" || die "the nodes are not ready after a minute: $(timeout 2 sinfo -h -N -o '%N %T %E' 2>&1)"
    trap - EXIT HUP INT TERM
    say "$n nodes; for example: $0 run ${0%tests/*}launch/slurm.sh configure"
}

# remove: ends all processes of this Slurm and removes its directory, also what an earlier call left when it was killed.
remove() {
    local file
    [ -e "$lab" ] || return 0
    stop slurmctld
    for file in "$lab"/uts.*; do
        [ -e "$file" ] || continue
        end_node "$file"
        umount "$file" 2>/dev/null || true
    done
    stop munged
    end_daemons
    rm -rf "$lab"
}

kill_node() { # K
    [ -e "$lab/uts.n$1" ] || die "there is no node $1"
    end_node "$lab/uts.n$1"
    # Without this update, Slurm takes half a minute to notice that the node is down.
    timeout 10 scontrol update "nodename=n$1" state=down reason="machine died"
}

# revive_node K: restarts and resumes a node. With ReturnToService=1 the node stays down until it is resumed; with 2 it may not.
revive_node() { # K
    start_node "$1"
    timeout 10 scontrol update "nodename=n$1" state=resume
}

command=${1:-}
[ $# = 0 ] || shift
case $command in
--help) usage; exit 0 ;;
up | run | kill-node | start-node | stop-controller | start-controller | down) ;;
'') usage_error "which command? up, run, kill-node, start-node, stop-controller, start-controller or down; see --help" ;;
*)
    usage_error "unknown command '$command'; expected up, run, kill-node, start-node, stop-controller, start-controller, down" \
        "and --help"
    ;;
esac
case $command in
up | kill-node | start-node) [[ ${1:-} =~ ^[1-9]$ ]] || usage_error "$command needs a number from 1 to 9${1:+, not $1}" ;;
run) [ -n "${1:-}" ] || usage_error "run needs a command" ;;
*) [ $# = 0 ] || usage_error "$command takes no arguments, but got '$1'" ;;
esac
[ "$(id -u)" = 0 ] || die "needs root"
for tool in munged slurmctld slurmd sinfo unshare nsenter flock; do
    command -v $tool >/dev/null || die "'$tool' is missing: launch/setup.sh --slurm"
done
[ "$command" = up ] || [ "$command" = down ] || [ -e "$lab/slurm.conf" ] || die "there is no Slurm here; start one: slurm_lab.sh up N"
case $command in
up | down)
    exec 9<"$0" # locks this script, not /run, which netlab.sh locks
    flock -w 60 9 || die "another command is running"
    ;;
esac
case $command in
up) up "$@" ;;
run) exec "$@" ;;
kill-node) kill_node "$1" ;;
start-node) revive_node "$1" ;;
stop-controller) stop slurmctld ;;
start-controller) start_controller ;;
down) remove ;;
esac
