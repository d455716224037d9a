#!/usr/bin/env bash
# netlab.sh - launch/netlab.sh: an emulated network (the lab) of two nodes, from up to down, and a lab of three nodes
# with faults. After down, no namespace, file or process is left.

# wait_until calls functions by name:
# shellcheck disable=SC2317
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

netlab() { "$root/launch/netlab.sh" "$@" 8<&-; } # closes the lock of take_lab: processes in the lab could hold it after this script has ended
skip() {
    echo "skip - the network lab: $*"
    exit 0
}
[ "$mpi" = mpich ] || skip "needs MPICH's mpiexec"
[ "$(id -u)" = 0 ] || skip "needs root"
for tool in ip tc perl flock; do
    command -v $tool >/dev/null || skip "needs $tool"
done
take_lab || skip "another test uses it"
probe=probe-ddpb-$$
ip netns add "$probe" 2>said || skip "network namespaces are not allowed here"
devices=$(ip netns exec "$probe" ls /sys/class/net 2>said) || { ip netns del "$probe"; skip "commands cannot enter network namespaces here"; }
shaped=yes
{ ip -n "$probe" link add p1 type veth peer name p2 && ip -n "$probe" link add br0 type bridge &&
    tc -n "$probe" qdisc add dev p1 root tbf rate 1mbit burst 128kb latency 100ms; } 2>said || shaped=no
ip netns del "$probe"
[ $shaped = yes ] || skip "the kernel lacks veth, bridge or tbf"
nodes() { ip netns list | grep '^ddpb-'; }
! nodes >printed || skip "a lab is up already"
trap 'netlab down || true; clean_up' EXIT

# lab WORDS STATUS PATTERN ARGUMENT...: checks the status of netlab.sh, and that a line of its output matches.
lab() {
    limit=500 try "$root/launch/netlab.sh" "${@:4}" 8<&-
    { cat printed; echo; } >>said # the empty line lets a pattern that matches anything match
    check "$2" "$1" "$3"
}

lab "run is refused if no lab is up" 1 'the lab is not up' run -- true
lab "show reports that no lab is up" 1 '^the lab is not up' show
lab "up measures 20mbit in both directions" 0 'node 2 to 1: [0-2]\.[0-9]' up --nodes 2 --rate 20mbit
lab "a second up is refused" 1 'already up' up --nodes 2 --rate 20mbit
is "each rank runs on a host of its own" "$(netlab run -- hostname | sort | tr '\n' ' ')" "ddpb-n1 ddpb-n2 "
is "run takes fewer ranks than nodes" "$(netlab run -n 1 -- hostname)" ddpb-n1
is "run puts equal numbers of ranks on nodes" "$(netlab run -n 4 -- hostname | sort | tr '\n' ' ')" "ddpb-n1 ddpb-n1 ddpb-n2 ddpb-n2 "
lab "run refuses unequal numbers of ranks on nodes" 2 '3 ranks on 2 nodes; expected at most 2, or a multiple of it' run -n 3 -- true
lab "run returns the program's exit status" 7 '^at the end$' run -- sh -c 'echo at the end; exit 7'
lab "a node sees only its own devices" 0 "^$(printf '%s\n' eth0 "$devices" | sort | tr '\n' ' ')\$" run -n 1 -- sh -c 'ls /sys/class/net | tr "\n" " "; echo'
# shellcheck disable=SC2016 # expanded by the shell on the node
lab "run sets DDPBENCH_LINK to the emulated link" 0 '^emulated 20mbit$' run -n 1 -- sh -c 'echo "$DDPBENCH_LINK"'
lab "rate changes to 200mbit and measures it" 0 'node 1 to 2: ([3-9]|[12][0-9])\.' rate 200mbit
lab "show prints the new rate" 0 '^2 nodes, links of 200mbit' show

# ---- another lab beside it ----
lab "up makes a lab with a name beside the other" 0 '^ddpb-of2-n1 10[.]77[.][1-9][0-9]*[.]1 ' up --name of2 --nodes 2 --rate 20mbit
is "run starts ranks in the lab that is named" "$(netlab run --name of2 -- hostname | sort | tr '\n' ' ')" "ddpb-of2-n1 ddpb-of2-n2 "
# shellcheck disable=SC2016 # expanded by the shell on the node
netlab run -- sh -c 'echo >"$0$PMI_RANK"; until [ -e "$0-ends" ]; do sleep 0.1; done; echo through' "$temporary/beside" >beside 2>said </dev/null &
wait_until [ -s beside1 ] || true
lab "down --name removes the lab that is named" 0 '' down --name of2
lab "the other lab is still up" 0 '^2 nodes, links of 200mbit' show
is "the lab that was named is not" "$(nodes | grep -c of2 || true) $(netlab show --name of2 || true)" "0 the lab is not up"
echo >beside-ends
wait $! || true
is "programs in the other lab have gone on" "$(cat beside)" "through
through"
for test in mpi/parity mpi/comm; do # each rank on its own node, over TCP
    if [ -x "$build/tests/$test" ]; then
        lab "$test passes across the nodes" 0 '^100%: Checks: [1-9]' run -- "$build/tests/$test"
    else
        echo "skip - $test across the nodes: it is not built"
    fi
done

# ---- faults ----
lab "fault makes a node send slowly" 0 '^fault: node 2 sends at 10mbit; node 2 to 1: [01][.]' fault --node 2 --direction send --rate 10mbit
lab "a profile finds a slow link" 0 '^ *slow link' \
    run -- "$program" --d-model 32 --num-layers 1 --num-heads 2 --d-ff 64 --context-length 16 --batch-size 4 \
    --vocab-size 256 --rounds 0 --profile --profile-implementation ddp --profile-output-dir "$temporary/uplink"
is "a profile names the host with the slow uplink" \
    "$(grep -cm 1 "the sending side of rank 1's host (or the receiving side of rank 0's) reaches [01][.]" uplink/ddp/summary.json)" 1

# `down` also removes what a killed command left, and ends programs that run on the nodes.
# shellcheck disable=SC2016 # expanded by the shell on the node
netlab run -- sh -c 'echo >"$0"; sleep 500' "$temporary/runs" >printed 2>said </dev/null &
wait_until [ -s runs ] || true
netlab up --name of2 --nodes 2 --rate 20mbit >printed 2>said
lab "down succeeds while a program runs" 0 '' down
lab "down without a name leaves a lab with a name" 0 '^2 nodes, links of 20mbit' show --name of2
netlab down --name of2
is "down ends a running program" "$(ls runs) $(gone runs)" "runs "
wait $! 2>/dev/null || true
"$root/launch/netlab.sh" up --nodes 2 --rate 20mbit >printed 2>said </dev/null 8<&- &
wait_until nodes >printed || true
kill -KILL $! 2>/dev/null || true
wait $! 2>/dev/null || true
lab "show reports no lab after a killed up" 1 '^the lab is not up' show
lab "down succeeds after a killed up" 0 '' down

# figure PATTERN UNIT: prints the number before UNIT in the last line of output that matches.
figure() { grep -E -- "$1" printed | sed -nE "s,.* ([0-9.]+) $2.*,\1,p" | tail -n 1 || true; }

# A lab of three nodes, so that a fault can be measured between a faulty node and a healthy one.
lab "fault is refused if no lab is up" 1 'the lab is not up' fault --node 2 --rate 10mbit
lab "heal is refused if no lab is up" 1 'the lab is not up' heal
lab "up with three nodes succeeds" 0 'node 3 to 1: ' up --nodes 3 --rate 20mbit
healthy=$(figure '^node 3 to 1' MB/s)
lab "a fault of a node that the lab lacks is refused" 2 'there is no node 4: the lab has 3 nodes' fault --node 1 --to 4 --rate 10mbit
lab "a fault that makes a link faster is refused" 2 'rate 30mbit is more than the 20mbit of the lab' fault --node 1 --rate 30mbit
# is_share WORDS NOW BEFORE LEAST MOST: checks NOW / BEFORE.
is_share() {
    echo "$2 of $3, expected $4 to $5" >>said
    succeeds "$1" awk -v now="$2" -v before="$3" -v least="$4" -v most="$5" 'BEGIN { exit !(now >= least * before && now <= most * before) }'
}
lab "fault makes a pair slow in one direction" 0 '^fault: node 1 sends at 10mbit to node 2; ' fault --node 1 --to 2 --rate 10mbit
is_share "the slow pair has half the rate of a link" "$(figure 'fault: .* to node 2;' MB/s)" "$healthy" 0.35 0.65
lab "fault with the rate of the lab measures other links of the slow pair's nodes" 0 '' fault --node 3 --direction receive --rate 20mbit
is_share "the other link of the slow pair's sender has the full rate" "$(figure 'receives at 20mbit' MB/s)" "$healthy" 0.8 1.25
lab "fault makes a node send slowly, beside other faults" 0 '^fault: node 2 sends at 10mbit; ' fault --node 2 --direction send --rate 10mbit
is_share "the slow sender has half the rate" "$(figure 'node 2 sends at' MB/s)" "$healthy" 0.35 0.65
lab "fault makes a node receive slowly, beside other faults" 0 '^fault: node 3 receives at 10mbit; ' fault --node 3 --direction receive --rate 10mbit
is_share "the slow receiver has half the rate" "$(figure 'node 3 receives at 10mbit' MB/s)" "$healthy" 0.35 0.65
lab "show lists all faults" 0 '^fault: node 1 .* node 2; ' show
is "show lists each fault once" "$(grep -c '^fault: ' printed)" 4
# shellcheck disable=SC2016 # expanded by the shell on the node
lab "run sets DDPBENCH_LINK to a link with faults" 0 '^emulated 20mbit, with faults$' run -n 1 -- sh -c 'echo "$DDPBENCH_LINK"'
lab "heal removes all faults" 0 '^3 nodes' heal
is "heal leaves no fault" "$(grep -c '^fault: ' printed || true)" 0
for fault in '1 send' '3 receive'; do # node 1 to 2 and node 1 to 3
    # shellcheck disable=SC2086 # two words
    set -- $fault
    lab "fault measures a healed link ($*)" 0 '' fault --node "$1" --direction "$2" --rate 20mbit
    is_share "a healed link has the full rate ($*)" "$(figure "node $1 ${2}s at" MB/s)" "$healthy" 0.8 1.25
done
"$root/launch/netlab.sh" fault --node 2 --delay 100ms >printed 2>said </dev/null 8<&- && delays=yes || delays=no
if [ "$delays" = yes ]; then
    is_share "a delay of 100 ms is measured" "$(figure 'node 2 receives after' ms)" 100 0.3 1.5
    lab "rate removes all faults" 0 '^3 nodes, links of 10mbit' rate 10mbit
    is "no fault remains" "$(grep -c '^fault: ' printed || true)" 0
    is_share "the delay is removed" "$(figure '^node 1 to 2' ms)" 100 0 0.3
else
    is "fault reports why nothing can be delayed, and removes all faults" "$(grep -c 'netem' said) $(netlab show | grep -c '^fault: ' || true)" "1 0"
fi
lab "down succeeds with faults" 0 '' down
lab "down succeeds a second time" 0 '' down
is "down leaves no namespace and no file" "$(nodes || true; find /run -maxdepth 1 -name 'ddpb-*')" ""
exit "$failed"
