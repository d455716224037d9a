#!/usr/bin/env bash
# netlab.sh - the network lab from up to down on two nodes, and that nothing of it is left behind.
set -euo pipefail

usage() { echo "Usage: tests/cli/netlab.sh [--help] BUILD_DIR    prints ok, not ok or skip for each check"; }

case ${1:-} in
--help) usage; exit 0 ;;
esac
# shellcheck source=launch/say.sh
. "$(dirname "$(realpath "$0")")/../../launch/say.sh"
[[ ${1:-} != -* ]] || refuse "unknown option '$1'; known is --help"
[ $# = 1 ] || refuse "which BUILD_DIR? One, and no other words; there are $#"
[ -d "$1" ] || refuse "there is no directory '$1'; build the tests first"
build=$(realpath -- "$1")
netlab=$(dirname "$(realpath "$0")")/../../launch/netlab.sh

skip() {
    echo "skip - the network lab: $*"
    exit 0
}
# shellcheck source=launch/mpi.sh
. "$(dirname "$netlab")/mpi.sh"
find_mpirun
[ "$mpi" = mpich ] || skip "it starts ranks by MPICH's mpiexec"
[ "$(id -u)" = 0 ] || skip "needs root"
for tool in ip tc perl flock; do
    command -v $tool >/dev/null || skip "needs $tool"
done
# There is one lab a machine, so tests of several checkouts take turns; the lock is on a directory, so that no file is left.
exec 8</
flock -w 120 8 || skip "others test it too"
probe=probe-ddpb-$$
ip netns add "$probe" 2>/dev/null || skip "network namespaces are not allowed here"
ip netns exec "$probe" true 2>/dev/null || { ip netns del "$probe"; skip "commands cannot enter network namespaces here"; }
shaped=yes
{ ip -n "$probe" link add p1 type veth peer name p2 && ip -n "$probe" link add br0 type bridge &&
    tc -n "$probe" qdisc add dev p1 root tbf rate 1mbit burst 128kb latency 100ms; } 2>/dev/null || shaped=no
ip netns del "$probe"
[ $shaped = yes ] || skip "the kernel lacks veth, bridge or tbf"
[ -z "$(ip netns list | grep '^ddpb-' || true)" ] || skip "one is up already"

out=$(mktemp) results=$(mktemp -d)
trap '"$netlab" down; rm -rf "$out" "$results"' EXIT

# check WORDS STATUS PATTERN COMMAND...: the command ends with the status, and what it prints matches.
check() {
    local words=$1 expected=$2 pattern=$3 status=0
    shift 3
    "$@" >"$out" 2>&1 </dev/null || status=$?
    if [ "$status" = "$expected" ] && { [ -z "$pattern" ] || grep -qE -- "$pattern" "$out"; }; then
        echo "ok - $words"
    else
        echo "not ok - $words: status $status, expected $expected and '$pattern' in:"
        sed 's/^/    /' "$out"
    fi
}

hosts() { "$netlab" run "$@" -- hostname | sort | tr '\n' ' '; }
left_behind() {
    { ip netns list | grep '^ddpb-' || true; find /run -maxdepth 1 -name 'ddpb-*'; ip -o link | wc -l; } | tr '\n' ' '
}
links_before=$(ip -o link | wc -l)

check "run refuses when nothing is up" 1 'not up' "$netlab" run -- true
check "show says that nothing is up" 1 '^not up' "$netlab" show
check "a rate without unit is refused" 2 'is no rate' "$netlab" up --nodes 2 --rate 100
check "an unknown option is refused with the known ones" 2 '--delay' "$netlab" up --foo 1
check "up measures 20mbit in both directions" 0 'node 2 to 1: 2\.[0-4]' "$netlab" up --nodes 2 --rate 20mbit
check "a second up is refused" 1 'already up' "$netlab" up --nodes 2 --rate 20mbit
check "each rank runs on a host of its own" 0 '^ddpb-n1 ddpb-n2 $' hosts
check "run takes fewer ranks than nodes" 0 '^ddpb-n1 $' hosts -n 1
check "run refuses more ranks than nodes" 2 'one rank a node' "$netlab" run -n 3 -- true
check "run hands on the exit status" 7 '' "$netlab" run -- sh -c 'exit 7'
check "a node sees only its own devices" 0 '^eth0 lo $' "$netlab" run -n 1 -- sh -c 'ls /sys/class/net | tr "\n" " "'
# shellcheck disable=SC2016 # meant for the shell there
check "and which link it is on, for its results" 0 '^emulated 20mbit$' "$netlab" run -n 1 -- sh -c 'echo "$DDPBENCH_LINK"'
for program in mpi/parity mpi/comm; do # on hosts of their own, over TCP
    if [ -x "$build/tests/$program" ]; then
        check "$program passes across the nodes" 0 '^100%: Checks: [1-9]' "$netlab" run -- "$build/tests/$program"
    else
        echo "skip - $program is not built, to run over TCP"
    fi
done
check "rate changes to 50mbit and measures it" 0 'node 1 to 2: [56]\.' "$netlab" rate 50mbit
check "show knows the new rate" 0 '^2 nodes, links of 50mbit' "$netlab" show

# a host that sends more slowly than the other
tc -n ddpb-n2 qdisc replace dev eth0 root handle 10: tbf rate 10mbit burst 128kb latency 100ms
check "a profile names the host with the slow uplink" 0 'slow_link .*: the sending side of rank 1.s host \(or the receiving side of rank 0.s\) reaches [01]\.' \
    "$netlab" run -- "$build/ddpbench" --d-model 32 --num-layers 1 --num-heads 2 --d-ff 64 --context-length 16 --batch-size 4 \
    --vocab-size 256 --rounds 0 --profile --profile-implementation ddp --profile-output-dir "$results/uplink"

# down also mends what a killed command left, and ends what runs in the nodes
"$netlab" run -- sleep 50 >/dev/null 2>&1 </dev/null &
sleep 1
check "down while a program runs" 0 '' "$netlab" down
wait $! 2>/dev/null || true
"$netlab" up --nodes 2 --rate 20mbit >/dev/null 2>&1 </dev/null &
sleep 0.5
kill -KILL $!
wait $! 2>/dev/null || true
check "a killed up is not up" 1 '^not up' "$netlab" show
check "down after a killed up" 0 '' "$netlab" down
check "down again" 0 '' "$netlab" down
check "nothing is left behind" 0 "^$links_before \$" left_behind
