#!/usr/bin/env bash
# netlab.sh - the network lab from up to down on two nodes, and that nothing of it is left behind.

# wait_until calls functions by name:
# shellcheck disable=SC2317
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

netlab() { "$root/launch/netlab.sh" "$@" 8<&-; } # without the lock of take_lab, which would outlive this script
skip() {
    echo "skip - the network lab: $*"
    exit 0
}
[ "$mpi" = mpich ] || skip "it starts ranks by MPICH's mpiexec"
[ "$(id -u)" = 0 ] || skip "needs root"
for tool in ip tc perl flock; do
    command -v $tool >/dev/null || skip "needs $tool"
done
take_lab || skip "others test it too"
probe=probe-ddpb-$$
ip netns add "$probe" 2>said || skip "network namespaces are not allowed here"
devices=$(ip netns exec "$probe" ls /sys/class/net 2>said) || { ip netns del "$probe"; skip "commands cannot enter network namespaces here"; }
shaped=yes
{ ip -n "$probe" link add p1 type veth peer name p2 && ip -n "$probe" link add br0 type bridge &&
    tc -n "$probe" qdisc add dev p1 root tbf rate 1mbit burst 128kb latency 100ms; } 2>said || shaped=no
ip netns del "$probe"
[ $shaped = yes ] || skip "the kernel lacks veth, bridge or tbf"
nodes() { ip netns list | grep '^ddpb-'; }
! nodes >printed || skip "one is up already"
trap 'netlab down || true; clean_up' EXIT

# lab WORDS STATUS PATTERN ARGUMENT...: netlab.sh ends with the status, and a line of what it prints or says matches.
lab() {
    limit=500 try "$root/launch/netlab.sh" "${@:4}" 8<&-
    { cat printed; echo; } >>said # a line at least, for a pattern that any words match
    check "$2" "$1" "$3"
}

lab "run refuses when nothing is up" 1 'not up' run -- true
lab "show says that nothing is up" 1 '^not up' show
lab "up measures 20mbit in both directions" 0 'node 2 to 1: [0-2]\.[0-9]' up --nodes 2 --rate 20mbit
lab "a second up is refused" 1 'already up' up --nodes 2 --rate 20mbit
is "each rank runs on a host of its own" "$(netlab run -- hostname | sort | tr '\n' ' ')" "ddpb-n1 ddpb-n2 "
is "run takes fewer ranks than nodes" "$(netlab run -n 1 -- hostname)" ddpb-n1
lab "run refuses more ranks than nodes" 2 '3 ranks on 2 nodes; a node has one rank' run -n 3 -- true
lab "run hands on the exit status" 7 '^at the end$' run -- sh -c 'echo at the end; exit 7'
lab "a node sees only its own devices" 0 "^$(printf '%s\n' eth0 "$devices" | sort | tr '\n' ' ')\$" run -n 1 -- sh -c 'ls /sys/class/net | tr "\n" " "; echo'
# shellcheck disable=SC2016 # meant for the shell there
lab "and which link it is on, for its results" 0 '^emulated 20mbit$' run -n 1 -- sh -c 'echo "$DDPBENCH_LINK"'
lab "rate changes to 200mbit and measures it" 0 'node 1 to 2: ([3-9]|[12][0-9])\.' rate 200mbit
lab "show knows the new rate" 0 '^2 nodes, links of 200mbit' show
for test in mpi/parity mpi/comm; do # on hosts of their own, over TCP
    if [ -x "$build/tests/$test" ]; then
        lab "$test passes across the nodes" 0 '^100%: Checks: [1-9]' run -- "$build/tests/$test"
    else
        echo "skip - $test is not built, to run over TCP"
    fi
done

# a host that sends more slowly than the other
tc -n ddpb-n2 qdisc replace dev eth0 root handle 10: tbf rate 10mbit burst 128kb latency 100ms
lab "a profile finds a slow link" 0 '^ *slow link' \
    run -- "$program" --d-model 32 --num-layers 1 --num-heads 2 --d-ff 64 --context-length 16 --batch-size 4 \
    --vocab-size 256 --rounds 0 --profile --profile-implementation ddp --profile-output-dir "$temporary/uplink"
is "and names the host with the slow uplink" \
    "$(grep -cm 1 "the sending side of rank 1's host (or the receiving side of rank 0's) reaches [01][.]" uplink/ddp/summary.json)" 1

# down also mends what a killed command left, and ends what runs in the nodes
# shellcheck disable=SC2016 # meant for the shell there
netlab run -- sh -c 'echo >"$0"; sleep 500' "$temporary/runs" >printed 2>said </dev/null &
wait_until [ -s runs ] || true
lab "down while a program runs" 0 '' down
is "it ran, and has ended" "$(ls runs) $(gone runs)" "runs "
wait $! 2>/dev/null || true
"$root/launch/netlab.sh" up --nodes 2 --rate 20mbit >printed 2>said </dev/null 8<&- &
wait_until nodes >printed || true
kill -KILL $! 2>/dev/null || true
wait $! 2>/dev/null || true
lab "a killed up is not up" 1 '^not up' show
lab "down after a killed up" 0 '' down
lab "down again" 0 '' down
is "no namespace or file is left behind" "$(nodes || true; find /run -maxdepth 1 -name 'ddpb-*')" ""
exit "$failed"
