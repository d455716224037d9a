#!/usr/bin/env bash
# netlab.sh - emulates a cluster on one machine: nodes are network namespaces, joined by links of a given rate and delay
#
# Node K is the namespace ddpb-nK with eth0 10.77.0.K. The bridge between the nodes is in a namespace of its own,
# ddpb-br. Both ends of a link are shaped, so that neither sending nor receiving exceeds the rate. `up --name A` makes
# another lab, with the namespaces ddpb-A-nK and ddpb-A-br and addresses of its own.
#
# Usage: launch/netlab.sh COMMAND, as root
#   up --nodes N --rate RATE [--delay TIME]  makes 2 to 64 nodes and measures the links
#   run [-n RANKS] -- PROGRAM [ARGUMENT...]  runs an MPI program over TCP, by default with one pinned rank per node; RANKS
#                                            is at most the number of nodes, or a multiple of it for several per node
#   rate RATE                                changes the rate of the links and measures again
#   fault --node K [--direction send|receive] [--rate RATE] [--delay TIME]
#                                            makes node K send or receive (default: both) at RATE only, or delays what it
#                                            receives by TIME, and measures that; faults of several calls add up
#   fault --node K --to J --rate RATE        makes node K send slowly to node J only
#   heal                                     removes all faults, as do rate and down
#   show                                     prints nodes, links and faults; exit status 1 if there are none
#   down                                     removes everything, including leftovers of a killed command
#   --name NAME   in any command: another lab beside the one without a name; one to nine letters a to z and digits
# RATE is 1mbit to 100gbit in each direction, such as 10mbit or 2.5gbit; TIME is 10us to 1s in one direction, such as 500us.
set -euo pipefail

port=7077

# shellcheck source=launch/common.sh
. "$(dirname "$(realpath "$0")")/common.sh"

# ---- the state of the lab ----
# choose_lab OPTION NAME: the commands are about this lab; '': the one without a name. Sets of_lab to the option that names it.
choose_lab() {
    [[ $1$2 =~ ^(--name[a-z0-9]{1,9})?$ ]] || usage_error "$1 '$2': expected one to nine letters a to z and digits"
    prefix=ddpb-${2:+$2-} of_lab=${2:+ --name $2}
    bridge=${prefix}br state=/run/${prefix}netlab
}
choose_lab '' ''
lab_row="--name - choose_lab" # an option of every command
namespaces() { ip netns list | awk -v p="^$prefix(br|n[0-9]+)\$" '$1 ~ p { print $1 }'; }

# read_state: sets nodes, bits (per second), subnet, rate, delay and measured (one line per link and per fault); fails if
# the lab is not up.
read_state() {
    local text=''
    [ -e "$state" ] || return 1
    [ ! -f "$state" ] || text=$(head -c 65536 "$state" | tr -d '\000')
    read -r nodes bits subnet rate delay <<<"$text"
    [[ "$nodes $bits $subnet $rate" =~ ^([2-9]|[1-5][0-9]|6[0-4])\ [1-9][0-9]{0,11}\ 10\.77\.[0-9]{1,3}\ [0-9.]+[mg]bit$ ]] ||
        die "the state of the lab, $state, is damaged; remove the lab: $0 down$of_lab"
    measured=
    [[ $text != *$'\n'* ]] || measured=${text#*$'\n'}
    [ "$(namespaces | wc -l)" = $((nodes + 1)) ]
}

need_root() {
    [ "$(id -u)" = 0 ] || die "network namespaces need root: use sudo $0"
    need_tools iproute2 ip tc
    need_tools perl-base perl
    need_tools util-linux taskset unshare flock
    need_tools mawk awk
}

# lock: allows only one command at a time to change labs and to measure. Waits for another one, for up to 2 minutes: each
# call of lock_directory waits 5 s. Locks a directory, so that no lock file remains.
lock() {
    for _ in {1..24}; do ! lock_directory "$(dirname "$state")" || return 0; done
    die "another netlab.sh has been changing a lab for 2 minutes; wait until it ends"
}

# cores: prints the cores that this process may use, one per line.
cores() {
    sed -n 's/^Cpus_allowed_list:\s*//p' /proc/self/status | tr ',' '\n' |
        awk -F- '{ for (i = $1; i <= $NF; i++) print i }'
}

# cores_of K N: prints the cores of node K of N: an equal share, or a shared core if there are fewer cores than nodes.
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
    local ns=0
    [[ ! $1 =~ ^[0-9]{1,12}(\.[0-9]{1,12})?(us|ms|s)$ ]] ||
        ns=$(awk -v d="$1" 'BEGIN { printf "%.0f", d * (d ~ /us/ ? 1e3 : d ~ /ms/ ? 1e6 : 1e9) }')
    [[ ${#ns} -le 10 && $ns -ge 10000 && $ns -le 1000000000 ]] ||
        usage_error "delay '$1': expected 10us to 1s, such as 500us or 1ms"
    echo "$ns"
}
check_delay() { delay_ns "$2" >/dev/null; }

# burst_bytes BITS: prints the burst size of a traffic shaper. With a smaller burst the kernel splits large segments
# into many packets, which overloads the CPU.
burst_bytes() { echo $(($1 < 1000000000 ? 128 << 10 : $1 < 5000000000 ? 256 << 10 : 1 << 20)); }

# ---- links ----
# shape_link K send|receive BITS: sets the rate at which node K sends (at its own end of the link) or receives (at the
# bridge's end). Keeps the qdisc below tbf, which delays packets or slows a pair.
shape_link() {
    local end=("$bridge" qdisc replace dev "p$1")
    [ "$2" = receive ] || end=("${prefix}n$1" qdisc replace dev eth0)
    tc -n "${end[@]}" root handle 10: tbf rate "${3}bit" burst "$(burst_bytes "$3")" latency 100ms
}

# shape_links BITS: sets the rate of both ends of all links.
shape_links() {
    local k
    for ((k = 1; k <= nodes; k++)); do
        shape_link $k send "$1"
        shape_link $k receive "$1"
    done
}

# shape_pair K J BITS: sets the rate at which node K sends to node J, by a class of htb below tbf. Packets that belong
# to no class are sent at once. The class of node J is 20:J.
shape_pair() {
    local tc=(tc -n "${prefix}n$1") burst
    burst=$(burst_bytes "$3")
    [[ $("${tc[@]}" qdisc show dev eth0) == *htb* ]] ||
        "${tc[@]}" qdisc add dev eth0 parent 10:1 handle 20: htb 2>/dev/null ||
        die "this kernel has no htb, which is needed to make a pair of nodes slow"
    "${tc[@]}" class replace dev eth0 parent 20: classid "20:$2" htb rate "${3}bit" burst "$burst" cburst "$burst" quantum 60000
    "${tc[@]}" filter replace dev eth0 parent 20: protocol ip prio "$2" u32 match ip dst "$subnet.$2/32" flowid "20:$2" 2>/dev/null ||
        die "this kernel has no u32 filters, which are needed to make a pair of nodes slow"
}

# hold_packets K NS: makes node K process received packets only once per NS nanoseconds, or at once if NS is 0.
hold_packets() {
    local switch=(off on)
    [ "$2" != 0 ] || switch=(on off)
    ip netns exec "$bridge" ethtool -K "p$1" tso "${switch[0]}"
    # shellcheck disable=SC2016 # expanded by the inner shell
    ip netns exec "${prefix}n$1" bash -euc '
        ethtool -K eth0 gro "$1"
        echo $(($2 > 0 ? 2147483647 : 0)) >/sys/class/net/eth0/napi_defer_hard_irqs
        echo "$2" >/sys/class/net/eth0/gro_flush_timeout' delay "${switch[1]}" "$2"
}

# delay_node K TIME: delays the packets that node K receives, with netem if the kernel has it. Otherwise makes the node
# process received packets only once per TIME. Sets `delayed` to the delay in words.
delay_node() {
    local ns
    ns=$(delay_ns "$2")
    delayed="$2, by netem"
    ! tc -n "$bridge" qdisc replace dev "p$1" parent 10:1 handle 1: netem delay "$2" limit 1000000 2>/dev/null || return 0
    delayed="0 to $2, by held packets"
    command -v ethtool >/dev/null || die "this kernel has no netem, and delaying without it needs ethtool: apt-get install ethtool"
    # Delayed packets wait in the receive ring, which holds 256 packets.
    awk -v b="$bits" -v ns="$ns" 'BEGIN { exit !(b * ns / 1e9 / (8 * 1514) < 200) }' ||
        die "this kernel has no netem, and without it a link cannot hold $rate for $2; reduce the rate or the delay"
    hold_packets "$1" "$ns" || die "this kernel has no netem and cannot hold back packets either; leave --delay out"
}

# delay_links TIME: delays the packets that all nodes receive.
delay_links() {
    local k
    for ((k = 1; k <= nodes; k++)); do
        delay_node $k "$1"
    done
    delay=$delayed
}

# restore_links: sets up the rates and delays of all links again, without faults.
restore_links() {
    local k wish=${delay#0 to }
    for ((k = 1; k <= nodes; k++)); do
        tc -n "$bridge" qdisc del dev "p$k" root
        tc -n "${prefix}n$k" qdisc del dev eth0 root
        [ "$(ip netns exec "${prefix}n$k" cat /sys/class/net/eth0/gro_flush_timeout)" = 0 ] || hold_packets $k 0
    done
    shape_links "$bits"
    [ "$delay" = none ] || delay_links "${wish%, by*}"
}

# peer: a Perl program that sends to ADDRESS (source) or receives (sink). The source first times one-byte round trips
# and prints their mean in ms. Then it sends without a pause; the sink ignores the first SKIP bytes (a burst), receives
# for one second, and prints MB/s. Uses perl-base only, so the clock has a resolution of 10 ms.
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

# measure_link FROM TO: sets mb_per_second and round_trip_ms of the link from node FROM to node TO.
measure_link() {
    local failed='' sink
    taskset -c "$(cores_of "$2" "$nodes")" ip netns exec "${prefix}n$2" \
        perl -e "$peer" sink "$subnet.$2" $port $(($(burst_bytes "$bits") * 3)) >"$state.sink" 2>"$state.why" 9<&- &
    sink=$!
    taskset -c "$(cores_of "$1" "$nodes")" ip netns exec "${prefix}n$1" \
        perl -e "$peer" source "$subnet.$2" $port 0 >"$state.source" 2>>"$state.why" 9<&- &
    wait $! || failed=1 # in the background: bash delays traps until a foreground command ends
    [ -z "$failed" ] || kill $sink 2>/dev/null || true
    wait $sink || failed=1
    mb_per_second=$(cat "$state.sink") round_trip_ms=$(cat "$state.source")
    [ -z "$failed" ] || die "nothing could be measured between nodes $1 and $2: $(paste -sd ' ' "$state.why")"
}

# measure_limited FROM TO BITS: measures a link whose rate is limited to BITS; sets what measure_link sets and `carries`, a
# line for the user.
measure_limited() {
    local most try
    # The rate counts frames of 1,514 bytes, which carry 1,448 bytes of payload.
    most=$(awk -v b="$3" 'BEGIN { printf "%.4g", b / 8e6 * 1448 / 1514 }')
    for ((try = 0; try < 3; try++)); do # a receiver that waits for a core measures too high a rate
        measure_link "$1" "$2"
        awk -v m="$mb_per_second" -v most="$most" 'BEGIN { exit !(m <= 1.04 * most && m > 0) }' && break
    done
    [ "$try" -lt 3 ] || die "the rate limit does not work: $mb_per_second MB/s from node $1 to $2, of at most $most; $undone"
    ! awk -v m="$mb_per_second" -v most="$most" 'BEGIN { exit !(m < 0.8 * most) }' ||
        say "warning: node $1 to $2 carries $mb_per_second of $most MB/s: the limit is this machine or a delay, not the rate"
    carries="node $1 to $2: $mb_per_second MB/s (at most $most), round trip $round_trip_ms ms"
}

# measure_links: measures from each node to the next, so that each node sends and receives once. Saves and prints the state.
measure_links() {
    local k lines='' undone='the lab is not up'
    rm -f "$state"
    for ((k = 1; k <= nodes; k++)); do
        measure_limited $k $((k % nodes + 1)) "$bits"
        lines+=$carries$'\n'
    done
    printf '%s %s %s %s %s\n%s' "$nodes" "$bits" "$subnet" "$rate" "$delay" "$lines" >"$state.new"
    mv "$state.new" "$state"
    trap - EXIT "${ending_signals[@]}"
    show
}

# ---- commands ----
remove_all() {
    local name try pid
    rm -f "$state" "$state".*
    for name in $(namespaces); do
        # Processes keep a namespace and its links alive, so end them first.
        for ((try = 0; try < 50; try++)); do
            for pid in $(ip netns pids "$name" 2>/dev/null); do kill -KILL "$pid" 2>/dev/null || true; done
            [ -n "$(ip netns pids "$name" 2>/dev/null)" ] || break
            sleep 0.1
        done
        ip netns del "$name" || true
    done
    [ -z "$(namespaces)" ] || die "these namespaces could not be removed: $(namespaces | tr '\n' ' ')"
}

# clean_up COMMAND: ends a measurement, and runs COMMAND; the EXIT trap.
# shellcheck disable=SC2317 # called by the trap
clean_up() {
    local pid
    [ "$BASHPID" = $$ ] || return 0 # a child that gets a signal before its exec also runs this trap
    trap '' "${ending_signals[@]}"
    for pid in $(jobs -p); do kill -TERM "$pid" 2>/dev/null || true; done
    wait # until these jobs have ended
    "$1"
}

down() {
    need_root
    lock
    clean_up remove_all
}

up() {
    nodes='' rate='' delay=none
    local wish='' net=0 k
    option_rows=("$lab_row" "--nodes nodes check_integer 2 64" "--rate rate check_rate" "--delay wish check_delay")
    read_options "$@"
    [ -n "$nodes" ] || usage_error "up: --nodes is missing; give for example --nodes 2"
    [ -n "$rate" ] || usage_error "up: --rate is missing; give for example --rate 100mbit"
    bits=$(rate_bits "$rate")
    need_root
    lock
    ! read_state || die "already up with $nodes nodes at $rate; change the rate with 'rate', or remove the lab with 'down'"
    trap 'clean_up remove_all' EXIT
    trap_signals
    remove_all # removes what a killed command left
    # 10.77.0, or for a lab with a name the first subnet that no other lab has
    [ -z "$of_lab" ] || for ((net = 1; net < 255; net++)); do grep -qsE "^[0-9]+ [0-9]+ 10\.77\.$net " /run/ddpb-*netlab || break; done
    subnet=10.77.$net
    ip netns add "$bridge" || die "root may not make network namespaces here (a container without CAP_SYS_ADMIN?)"
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
        # The host's congestion control may pause for 160 ms or more to probe the path (BBR). Use Reno, which every kernel has.
        ip netns exec "${prefix}n$k" sh -c 'echo reno >/proc/sys/net/ipv4/tcp_congestion_control' ||
            say "warning: node $k has the host's TCP congestion control; large messages may stall now and then"
    done
    shape_links "$bits"
    [ -z "$wish" ] || delay_links "$wish"
    measure_links
}

change_rate() {
    option_rows=("$lab_row") most_arguments=1
    read_options "$@"
    set -- "${arguments[@]}"
    [ $# = 1 ] || usage_error "rate: expected one rate, such as 100mbit"
    bits=$(rate_bits "$1")
    need_root
    lock
    local wish=$bits
    read_state || die "the lab is not up; start it with: $0 up$of_lab --nodes 2 --rate $1"
    bits=$wish rate=$1
    trap 'clean_up remove_all' EXIT # removes the lab on an error, because the rate of its links is unknown then
    trap_signals
    rm -f "$state"
    restore_links
    measure_links
}

# remove_faults: removes all faults from the links and from the lab's state.
remove_faults() {
    restore_links
    sed -i '/^fault: /d' "$state"
}

# record_fault TEXT FROM TO BITS: measures a link, and adds the fault TEXT and what the link carries to the lab's state.
record_fault() {
    measure_limited "$2" "$3" "$4"
    echo "fault: node $node $1; $carries" >>"$state"
}

fault() {
    local node='' direction='' to='' slow='' wish='' limit delayed k undone='all faults are removed'
    option_rows=("$lab_row" "--node node check_integer 1 64" "--direction direction check_choice send receive"
        "--to to check_integer 1 64" "--rate slow check_rate" "--delay wish check_delay")
    read_options "$@"
    [ -n "$node" ] || usage_error "fault: --node is missing; give for example --node 2"
    [ -n "$slow$wish" ] || usage_error "fault: --rate and --delay are missing; give one of them, for example --rate 5mbit"
    [ -n "$slow" ] || [ -z "$direction$to" ] || usage_error "fault: --direction and --to need --rate"
    [ -z "$to" ] || [[ -z $wish && $direction != receive && $to != "$node" ]] ||
        usage_error "fault: --to needs another node, to which node $node sends at --rate; without --delay and --direction receive"
    need_root
    lock
    read_state || die "the lab is not up; start it with: $0 up$of_lab --nodes 2 --rate 100mbit"
    for k in $node $to; do
        [ "$k" -le "$nodes" ] || usage_error "fault: there is no node $k: the lab has $nodes nodes"
    done
    limit=$(rate_bits "${slow:-$rate}")
    [ "$limit" -le "$bits" ] || usage_error "fault: --rate $slow is more than the $rate of the lab"
    k=$((node % nodes + 1)) # measured with node K
    trap 'clean_up remove_faults' EXIT
    trap_signals
    if [ -n "$to" ]; then
        shape_pair "$node" "$to" "$limit"
        record_fault "sends at $slow to node $to" "$node" "$to" "$limit"
    elif [ -n "$slow" ]; then
        [ "$direction" = receive ] || { shape_link "$node" send "$limit"; record_fault "sends at $slow" "$node" $k "$limit"; }
        [ "$direction" = send ] || { shape_link "$node" receive "$limit"; record_fault "receives at $slow" $k "$node" "$limit"; }
    fi
    [ -z "$wish" ] || { delay_node "$node" "$wish"; record_fault "receives after $delayed" $k "$node" "$bits"; }
    trap - EXIT "${ending_signals[@]}"
    show
}

heal() {
    need_root
    lock
    read_state || die "the lab is not up"
    trap 'clean_up remove_all' EXIT # removes the lab on an error, as `rate` does
    trap_signals
    remove_faults
    trap - EXIT "${ending_signals[@]}"
    show
}

show() {
    need_root
    read_state || { echo "the lab is not up"; exit 1; }
    local k
    echo "$nodes nodes, links of $rate, delay $delay"
    for ((k = 1; k <= nodes; k++)); do
        echo "${prefix}n$k $subnet.$k cores $(cores_of $k "$nodes")"
    done
    [ -z "$measured" ] || echo "$measured"
}

run() {
    local ranks='' hosts
    option_rows=("$lab_row" "-n ranks check_integer 1 99") takes_dashes=1
    read_options "$@"
    set -- "${after_dashes[@]}"
    [ $# -gt 0 ] || usage_error "run: the program is missing: give it after --"
    need_root
    read_state || die "the lab is not up; start it with: $0 up$of_lab --nodes 2 --rate 100mbit"
    ranks=${ranks:-$nodes}
    [ "$ranks" -le "$nodes" ] || [ $((ranks % nodes)) = 0 ] ||
        usage_error "run: $ranks ranks on $nodes nodes; expected at most $nodes, or a multiple of it"
    find_mpirun
    [ "$mpi" = mpich ] || die "the lab needs MPICH's mpiexec, and ${mpirun[0]} is Open MPI's; set MPIRUN to MPICH's"
    local link="emulated $rate"
    [ "$delay" = none ] || link+=", delay ${delay%, by*}"
    [[ $measured != *fault:* ]] || link+=", with faults"
    hosts=$(seq -s, -f "$subnet.%g" 1 $((ranks < nodes ? ranks : nodes)))
    ln -sfn "$(realpath "$0")" "$state.ssh" # a link, whose path has no blank: Hydra's proxies hang if -launcher-exec contains a blank
    # UCX_TLS keeps UCX from using shared memory between the nodes. UCX_RNDV_THRESH turns off UCX's rendezvous over TCP, with which
    # a large message sometimes advances at half speed while its ranks compute: 50 % or 92 % of an all-reduce of 2 MiB was hidden.
    exec ip netns exec "$bridge" "${mpirun[@]}" -iface br0 -rmk user -launcher ssh -launcher-exec "$state.ssh" \
        -hosts "$hosts" -ppn $(((ranks + nodes - 1) / nodes)) -n "$ranks" -genv UCX_TLS tcp,self -genv UCX_NET_DEVICES eth0 \
        -genv UCX_RNDV_THRESH "${UCX_RNDV_THRESH:-inf}" -genv DDPBENCH_LINK "${DDPBENCH_LINK:-$link}" "$@"
}

# run_on_node -x HOST COMMAND...: replaces ssh. Hydra calls this script with COMMAND quoted for a shell on that host.
run_on_node() {
    [[ $# -ge 3 && $2 =~ ^10[.]77[.][0-9]{1,3}[.]([1-9][0-9]?)$ ]] || usage_error "-x is for the launcher: -x ADDRESS COMMAND..."
    local k=${BASH_REMATCH[1]}
    shift 2
    [[ ! $0 =~ /ddpb-([a-z0-9]+)-netlab[.]ssh$ ]] || choose_lab --name "${BASH_REMATCH[1]}" # the link that `run` made
    read_state || die "the lab went down"
    # shellcheck disable=SC2016 # expanded by the inner shell
    exec taskset -c "$(cores_of "$k" "$nodes")" ip netns exec "${prefix}n$k" \
        unshare -u sh -c 'hostname "$1"; shift; exec sh -c "$*"' launch "${prefix}n$k" "$@"
}

case ${1:-} in
up | run | fault) "$@" ;;
rate) change_rate "${@:2}" ;;
heal | show | down)
    option_rows=("$lab_row")
    read_options "${@:2}"
    "$1"
    ;;
-x) run_on_node "$@" ;;
--help) usage ;;
*) usage_error "unknown command '${1:-}'; expected up, run, rate, fault, heal, show or down; see --help" ;;
esac
