#!/usr/bin/env bash
# netlab.sh - a cluster on one machine: nodes that are network namespaces, joined by links of a given rate and delay.
#
# A node ddpb-nK is a namespace with eth0 10.77.0.K; the bridge that joins them is in a namespace of its own, ddpb-br. Both
# ends of a link are shaped, so that neither sending nor receiving exceeds the rate. The host's own network is not touched.
# A rate is believed only once bytes sent from node to node have been timed.
set -euo pipefail

usage() {
    cat <<'END'
Usage: launch/netlab.sh COMMAND, as root
  up --nodes N --rate RATE [--delay TIME]  makes 2 to 64 nodes, and measures that the links obey
  run [-n RANKS] -- PROGRAM [ARGUMENT...]  runs an MPI program over TCP, one pinned rank a node (default: all nodes)
  rate RATE                                changes the links' rate, and measures again
  show                                     says what is up; exit status 1 if nothing is
  down                                     removes all of it, also what a killed command left
  --help
RATE is such as 10mbit, 2.5gbit (1mbit to 100gbit, each way); TIME, one way, such as 500us, 1ms (10us to 1s).
END
}

prefix=ddpb-
bridge=${prefix}br
subnet=10.77.0
port=7077
state=/run/${prefix}netlab

# shellcheck source=launch/common.sh
. "$(dirname "$(realpath "$0")")/common.sh"

# shellcheck source=launch/mpi.sh
. "$(dirname "$(realpath "$0")")/mpi.sh"

# ---- what is there ----
namespaces() { ip netns list | awk -v p="$prefix" 'index($1, p) == 1 { print $1 }'; }

# Reads nodes, bits (a second), rate, delay and measured (one line a link) from the state; fails unless the lab is up.
read_state() {
    local text
    [ -e "$state" ] || return 1
    [ ! -f "$state" ] || text=$(head -c 65536 "$state" | tr -d '\000')
    read -r nodes bits rate delay <<<"${text:-}"
    [[ "$nodes $bits $rate" =~ ^([2-9]|[1-5][0-9]|6[0-4])\ [1-9][0-9]{0,11}\ [0-9.]+[mg]bit$ ]] ||
        die "the state of the lab, $state, is damaged; this removes it: $0 down"
    measured=
    [[ $text != *$'\n'* ]] || measured=${text#*$'\n'}
    [ "$(namespaces | wc -l)" = $((nodes + 1)) ]
}

need_root() {
    [ "$(id -u)" = 0 ] || die "network namespaces need root: sudo $0 ..."
    need_tools iproute2 ip tc
    need_tools perl-base perl
    need_tools util-linux taskset unshare flock
    need_tools mawk awk
}

# One command at a time changes the lab. The lock is on a directory, so that no file is left, and ends with the process.
lock() {
    exec 9<"$(dirname "$state")"
    # children of one that was just ended may hold the lock a little longer
    flock -w 5 9 || die "another netlab.sh is changing the lab"
}

# The cores that this process may use, one a line.
cores() {
    sed -n 's/^Cpus_allowed_list:\s*//p' /proc/self/status | tr ',' '\n' |
        awk -F- '{ for (i = $1; i <= $NF; i++) print i }'
}

# The cores of node K of N as a list: an equal share of them, or one that is shared when there are too few.
cores_of() {
    local all share
    mapfile -t all < <(cores)
    share=$((${#all[@]} / $2))
    [ $share -gt 0 ] || share=1
    local first=$((($1 - 1) * share % ${#all[@]})) IFS=,
    echo "${all[*]:first:share}"
}

# ---- numbers ----
delay_ns() {
    [[ $1 =~ ^[0-9]{1,12}(\.[0-9]{1,12})?(us|ms|s)$ ]] || usage_error "'$1' is no delay; write it like 500us or 1ms"
    local ns
    ns=$(awk -v d="$1" 'BEGIN { printf "%.0f", d * (d ~ /us/ ? 1e3 : d ~ /ms/ ? 1e6 : 1e9) }')
    if [ "${#ns}" -gt 10 ] || [ "$ns" -lt 10000 ] || [ "$ns" -gt 1000000000 ]; then
        usage_error "the delay $1 is not between 10us and 1s"
    fi
    echo "$ns"
}

# A smaller burst would cut large segments into many and cost the CPU more than the link can carry.
burst_bytes() {
    if [ "$1" -lt 1000000000 ]; then
        echo $((128 << 10))
    elif [ "$1" -lt 5000000000 ]; then
        echo $((256 << 10))
    else
        echo $((1 << 20))
    fi
}

# ---- links ----
# shape BITS: the rate of both ends of all links. Where netem delays, it is the root and tbf below it.
shape() {
    local k burst where
    burst=$(burst_bytes "$1")
    for ((k = 1; k <= nodes; k++)); do
        where=(root)
        [[ $delay != *netem ]] || where=(parent '1:1')
        tc -n "$bridge" qdisc replace dev "p$k" "${where[@]}" handle 10: tbf rate "${1}bit" burst "$burst" latency 100ms
        tc -n "${prefix}n$k" qdisc replace dev eth0 root handle 10: tbf rate "${1}bit" burst "$burst" latency 100ms
    done
}

# delay_links TIME: by netem where the kernel has it; otherwise the receiver takes up packets only every TIME.
delay_links() {
    local k ns
    ns=$(delay_ns "$1")
    if tc -n "$bridge" qdisc replace dev p1 root handle 1: netem delay "$1" limit 1000000 2>/dev/null; then
        for ((k = 2; k <= nodes; k++)); do
            tc -n "$bridge" qdisc replace dev "p$k" root handle 1: netem delay "$1" limit 1000000
        done
        delay="$1, by netem"
        return
    fi
    command -v ethtool >/dev/null || die "this kernel has no netem, and the other way to delay needs: apt-get install ethtool"
    # what arrives meanwhile waits in the receiver's ring of 256 packets
    awk -v b="$bits" -v ns="$ns" 'BEGIN { exit !(b * ns / 1e9 / (8 * 1514) < 200) }' ||
        die "this kernel has no netem, and without it $rate for $1 is more than a link can hold; use less of one"
    for ((k = 1; k <= nodes; k++)); do
        ip netns exec "$bridge" ethtool -K "p$k" tso off
        # shellcheck disable=SC2016 # meant for the inner shell
        ip netns exec "${prefix}n$k" bash -euc '
            ethtool -K eth0 gro on
            echo 2147483647 >/sys/class/net/eth0/napi_defer_hard_irqs
            echo "$1" >/sys/class/net/eth0/gro_flush_timeout' delay "$ns" ||
            die "this kernel has no netem, and does not let packets be held back either; do without --delay"
    done
    delay="0 to $1, by held packets"
}

# Sends from the node where it runs to ADDRESS (source), or takes what comes there (sink). The source first times one-byte
# round trips and prints their mean in ms; then it sends until the sink, which does not count the SKIP bytes that may be a
# burst, has timed a second and prints MB/s. Only what perl-base has, so the clock is one of 10 ms.
# shellcheck disable=SC2016 # Perl's variables
peer='
    use strict; use Socket; use POSIX ();
    my ($role, $address, $port, $skip) = @ARGV;
    my $per_second = POSIX::sysconf(POSIX::_SC_CLK_TCK());
    sub now { return (POSIX::times())[0] / $per_second }
    $SIG{PIPE} = "IGNORE"; $SIG{ALRM} = sub { die "no answer within 30 s\n" }; alarm 30;
    socket(my $s, PF_INET, SOCK_STREAM, 0) or die "socket: $!\n";
    my $name = sockaddr_in($port, inet_aton($address));
    my ($n, $begin, $bytes) = (0, 0, "");
    if ($role eq "sink") {
        setsockopt($s, SOL_SOCKET, SO_REUSEADDR, 1);
        bind($s, $name) && listen($s, 1) or die "listen: $!\n";
        accept(my $c, $s) or die "accept: $!\n";
        while (sysread($c, $bytes, 1) && $bytes eq "p") { syswrite($c, "p") }
        while ($n < $skip) { $n += sysread($c, $bytes, 262144) || die "the source left\n" }
        ($n, $begin) = (0, now());
        while (now() - $begin < 1) { $n += sysread($c, $bytes, 262144) || die "the source left\n" }
        printf "%.4g\n", $n / (now() - $begin) / 1e6;
    } else {
        for (my $try = 0; !connect($s, $name); $try++) {
            die "connect: $!\n" if $try == 50;
            select(undef, undef, undef, 0.05);
            socket($s, PF_INET, SOCK_STREAM, 0) or die "socket: $!\n";
        }
        $begin = now();
        while (now() - $begin < 0.3 || $n < 3) {
            syswrite($s, "p"); sysread($s, $bytes, 1) or die "no echo\n"; $n++;
        }
        printf "%.3f\n", 1e3 * (now() - $begin) / $n;
        $bytes = "s" x 262144;
        while (defined syswrite($s, $bytes)) { }
    }'

# measure FROM TO: sets mb_per_second and round_trip_ms between two nodes.
measure() {
    local failed='' sink
    taskset -c "$(cores_of "$2" "$nodes")" ip netns exec "${prefix}n$2" \
        perl -e "$peer" sink "$subnet.$2" $port $(($(burst_bytes "$bits") * 3)) >"$state.sink" 2>"$state.why" 9<&- &
    sink=$!
    taskset -c "$(cores_of "$1" "$nodes")" ip netns exec "${prefix}n$1" \
        perl -e "$peer" source "$subnet.$2" $port 0 >"$state.source" 2>>"$state.why" 9<&- &
    wait $! || failed=1 # not in the foreground, where a signal would have to wait for it
    [ -z "$failed" ] || kill $sink 2>/dev/null || true
    wait $sink || failed=1
    mb_per_second=$(cat "$state.sink") round_trip_ms=$(cat "$state.source")
    [ -z "$failed" ] || die "nothing could be measured between nodes $1 and $2: $(paste -sd ' ' "$state.why")"
}

# Measures round the nodes, so that each sends once and receives once, and writes the state.
verify() {
    local k next most try lines=''
    rm -f "$state"
    # of a frame of 1,514 bytes, which is what the rate counts, 1,448 are payload
    most=$(awk -v b="$bits" 'BEGIN { printf "%.4g", b / 8e6 * 1448 / 1514 }')
    for ((k = 1; k <= nodes; k++)); do
        next=$((k % nodes + 1))
        for ((try = 0; try < 3; try++)); do # a receiver that gets no core for a moment finds more than the link carries
            measure $k $next
            awk -v m="$mb_per_second" -v most="$most" 'BEGIN { exit !(m <= 1.04 * most && m > 0) }' && break
        done
        [ "$try" -lt 3 ] ||
            die "the limit does not hold: $mb_per_second MB/s from node $k to $next, at $rate at most $most. Not up."
        awk -v m="$mb_per_second" -v most="$most" 'BEGIN { exit !(m < 0.8 * most) }' &&
            say "warning: node $k to $next carries $mb_per_second of $most MB/s; this machine or the delay is the limit, not $rate"
        lines+="node $k to $next: $mb_per_second MB/s (at most $most), round trip $round_trip_ms ms"$'\n'
    done
    printf '%s %s %s %s\n%s' "$nodes" "$bits" "$rate" "$delay" "$lines" >"$state.new"
    mv "$state.new" "$state"
}

# ---- commands ----
remove_all() {
    local name try pid
    for pid in $(jobs -p); do kill -TERM "$pid" 2>/dev/null || true; done
    wait # so that none makes its file anew
    rm -f "$state" "$state".*
    for name in $(namespaces); do
        # processes keep a namespace and its links alive
        for ((try = 0; try < 50; try++)); do
            for pid in $(ip netns pids "$name" 2>/dev/null); do kill -KILL "$pid" 2>/dev/null || true; done
            [ -n "$(ip netns pids "$name" 2>/dev/null)" ] || break
            sleep 0.1
        done
        ip netns del "$name" || true
    done
    [ -z "$(namespaces)" ] || die "these namespaces could not be removed: $(namespaces | tr '\n' ' ')"
}

# clean_up: as the EXIT trap, which nothing interrupts.
# shellcheck disable=SC2317 # the trap calls it
clean_up() {
    [ "$BASHPID" = $$ ] || return 0 # a signal may reach a child before its exec, which then runs this trap, too
    trap '' HUP INT TERM
    remove_all
}

up() {
    nodes='' rate='' delay=none
    local wish='' k
    while [ $# -gt 0 ]; do
        case $1 in
        --nodes) nodes=${2:-} ;;
        --rate) rate=${2:-} ;;
        --delay) wish=${2:-} ;;
        *) usage_error "up: unknown option '$1'; known are --nodes N, --rate RATE, --delay TIME, and --help in place of up" ;;
        esac
        need_value "$@"
        shift 2
    done
    [[ $nodes =~ ^([2-9]|[1-5][0-9]|6[0-4])$ ]] || usage_error "up needs --nodes from 2 to 64${nodes:+, not $nodes}"
    [ -n "$rate" ] || usage_error "up needs --rate, such as 100mbit"
    bits=$(rate_bits "$rate")
    [ -z "$wish" ] || delay_ns "$wish" >/dev/null

    need_root
    lock
    ! read_state || die "already up with $nodes nodes at $rate; 'rate' changes the rate, 'down' ends it"
    trap clean_up EXIT
    trap_signals
    remove_all # what a killed one left
    ip netns add "$bridge" || die "this machine lets root make no network namespaces (a container without CAP_SYS_ADMIN?)"
    ip -n "$bridge" link add br0 type bridge forward_delay 0 stp_state 0
    ip -n "$bridge" addr add $subnet.254/24 dev br0
    ip -n "$bridge" link set lo up
    ip -n "$bridge" link set br0 up
    for ((k = 1; k <= nodes; k++)); do
        ip netns add "${prefix}n$k"
        ip -n "$bridge" link add "p$k" type veth peer name eth0 netns "${prefix}n$k"
        ip -n "$bridge" link set "p$k" master br0 up
        ip -n "${prefix}n$k" addr add $subnet.$k/24 dev eth0
        ip -n "${prefix}n$k" link set lo up
        ip -n "${prefix}n$k" link set eth0 up
        # The host's default may be one that pauses for 160 ms or more to probe the path (BBR); Reno is in every kernel.
        ip netns exec "${prefix}n$k" sh -c 'echo reno >/proc/sys/net/ipv4/tcp_congestion_control' ||
            say "warning: node $k keeps the host's TCP congestion control; large messages may stall now and then"
    done
    [ -z "$wish" ] || delay_links "$wish"
    shape "$bits"
    verify
    trap - EXIT HUP INT TERM
    show
}

change_rate() {
    [ $# = 1 ] || usage_error "rate needs one rate, such as 100mbit"
    bits=$(rate_bits "$1")
    need_root
    lock
    local wish=$bits
    read_state || die "not up; start with: $0 up --nodes 2 --rate $1"
    bits=$wish rate=$1
    trap clean_up EXIT # links of which nobody knows what they carry are of no use
    trap_signals
    rm -f "$state"
    shape "$bits"
    verify
    trap - EXIT HUP INT TERM
    show
}

show() {
    [ $# = 0 ] || usage_error "show takes no options"
    need_root
    read_state || { echo "not up"; exit 1; }
    local k
    echo "$nodes nodes, links of $rate, delay $delay"
    for ((k = 1; k <= nodes; k++)); do
        echo "${prefix}n$k $subnet.$k cores $(cores_of $k "$nodes")"
    done
    [ -z "$measured" ] || echo "$measured"
}

run() {
    local ranks='' hosts
    while [ $# -gt 0 ]; do
        case $1 in
        -n)
            ranks=${2:-}
            [[ $ranks =~ ^[1-9][0-9]?$ ]] || usage_error "run: -n '$ranks': expected a number of ranks from 1 to 99"
            shift 2
            ;;
        --) shift; break ;;
        *) usage_error "run: unknown option '$1'; known are -n RANKS, -- before the program, and --help in place of run" ;;
        esac
    done
    [ $# -gt 0 ] || usage_error "run needs -- and a program"
    need_root
    read_state || die "not up; start with: $0 up --nodes 2 --rate 100mbit"
    ranks=${ranks:-$nodes}
    [ "$ranks" -le "$nodes" ] || usage_error "run: $ranks ranks on $nodes nodes; there is one rank a node"
    find_mpirun
    [ "$mpi" = mpich ] || die "the lab starts ranks by MPICH's mpiexec, and ${mpirun[0]} is Open MPI's; set MPIRUN to MPICH's"
    local link="emulated $rate"
    [ "$delay" = none ] || link+=", delay ${delay%, by*}"
    hosts=$(seq -s, -f "$subnet.%g" 1 "$ranks")
    ln -sfn "$(realpath "$0")" "$state.ssh" # Hydra's proxies hang if this path has a blank
    # UCX would find shared memory between the nodes if it were let
    exec ip netns exec "$bridge" "${mpirun[@]}" -iface br0 -rmk user -launcher ssh -launcher-exec "$state.ssh" \
        -hosts "$hosts" -ppn 1 -n "$ranks" -genv UCX_TLS tcp,self -genv UCX_NET_DEVICES eth0 \
        -genv DDPBENCH_LINK "${DDPBENCH_LINK:-$link}" "$@"
}

# Hydra calls this script as it would call ssh: -x HOST COMMAND..., quoted for a shell on that host.
launch() {
    [[ $# -ge 3 && $2 =~ ^${subnet//./[.]}[.]([1-9][0-9]?)$ ]] || usage_error "-x is for the launcher of run: -x ADDRESS COMMAND..."
    local k=${BASH_REMATCH[1]}
    shift 2
    read_state || die "the lab went down"
    # shellcheck disable=SC2016 # meant for the inner shell
    exec taskset -c "$(cores_of "$k" "$nodes")" ip netns exec "${prefix}n$k" \
        unshare -u sh -c 'hostname "$1"; shift; exec sh -c "$*"' launch "${prefix}n$k" "$@"
}

case ${1:-} in
up) shift; up "$@" ;;
run) shift; run "$@" ;;
rate) shift; change_rate "$@" ;;
show) shift; show "$@" ;;
down)
    [ $# = 1 ] || usage_error "down takes no options"
    need_root
    lock
    clean_up
    ;;
-x) launch "$@" ;;
--help) usage ;;
'') usage_error "which command? up, run, rate, show or down; see --help" ;;
*) usage_error "unknown command '$1'; known are up, run, rate, show, down, --help" ;;
esac
