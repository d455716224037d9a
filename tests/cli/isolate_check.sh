#!/usr/bin/env bash
# isolate_check.sh - tests/long/isolate_check.sh with a fake netlab.sh and a fake ddpbench: which findings make it fail, what it prints
# when interrupted, and that the same command continues.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

mkdir -p tree/launch tree/tests/long tree/build
cp "$root"/tests/long/isolate_check.sh tree/tests/long
cp "$root"/launch/{series,common}.sh tree/launch
# The fake netlab.sh writes the faults that it makes to the file `faults`, as isolate would report them.
cat >tree/launch/netlab.sh <<'END'
#!/bin/bash
cd "$(dirname "$0")/.."
echo "$1" >>done
case $1 in
up) rm -f faults ;;
heal) rm -f faults ;;
fault)
    case $* in
    *--to*) echo "pair $3 $5" ;;
    *send*) echo "sends $3" ;;
    *receive*) echo "receives $3" ;;
    *--delay*) echo "round_trip $3" ;;
    esac >>faults
    ;;
run)
    shift 5 # run -- sh -c SCRIPT
    [ "$2" = 0 ] || printf '%s\n' "computes $2" "copies $2" >faults
    shift 3
    "$@"
    status=$?
    [ "$2" = 0 ] || rm -f faults
    exit $status
    ;;
esac
END
# The fake ddpbench reports what is in `faults`, and what is in `extra`; it reports nothing if the file `blind` exists.
cat >tree/build/ddpbench <<'END'
#!/bin/bash
[ ! -e hangs ] || { echo >reached; sleep 500; }
[ ! -e breaks ] || { rm breaks; echo "ddpbench: no progress" >&2; exit 1; }
while [ "$1" != --output ]; do shift; done
mkdir -p "$2"
rows=()
[ -e blind ] || mapfile -t rows < <(cat faults extra 2>/dev/null)
{
    printf '{\n\t"done":\t4,\n\t"tables":\t[{\n\t\t\t"rows":\t['
    for row in "${rows[@]}"; do
        read -r kind member other <<<"$row"
        printf '{\n\t\t\t\t\t"fault":\t"%s",\n\t\t\t\t\t"member":\t"host ddpb-n%s",\n\t\t\t\t\t"other":\t"%s",\n\t\t\t\t\t"ratio":\t1.2\n\t\t\t\t}, ' \
            "$kind" "$member" "${other:+host ddpb-n$other}"
    done
    printf ']\n\t\t}],\n\t"kind":\t"isolate"\n}\n'
} >"$2/summary.json"
[ ${#rows[@]} = 0 ] || exit 3
END
chmod +x tree/launch/netlab.sh tree/build/ddpbench

# proof STATUS WORDS PATTERN [OPTION...]: runs the script, and checks its status and a line of its table.
proof() {
    try tree/tests/long/isolate_check.sh --nodes 4,5 --seeds 3 --output out "${@:4}"
    cat printed >>said
    check "$1" "$2" "$3"
}

proof 0 "the check passes if isolate finds all planted faults" '^ +5 two +3 +3 +0 +0 +0 +[0-9.]+ +4.0$'
is "the check makes all runs" "$(sed 1d out/runs.csv | wc -l) $(grep -c , printed || true)" "42 0"
is "the lab is up once for each number of nodes" "$(grep -cx up tree/done) $(tail -n 1 tree/done)" "2 down"
is "two faults are planted at two different nodes" "$(awk -F, '$2 == "two" && split($4, fault, " ") == 2 && substr(fault[1], index(fault[1], ":"), 2) != substr(fault[2], index(fault[2], ":"), 2)' \
    out/runs.csv | wc -l)" 6
: >tree/done
proof 0 "the same command continues" '^ +4 busy +3 +3 '
is "a complete series makes no run" "$(grep -cx run tree/done || true)" 0
proof 2 "a series with other settings is refused" '--resolve: earlier starts in .* had "5%"' --resolve 1%
rm -rf out
: >tree/blind
proof 1 "the check fails if isolate finds nothing" '^ +5 pair +3 +0 +3 +0 '
is "a missed fault is not counted as a false alarm" "$(grep -cE '^ +[45] (busy|delay|two|uplink) +3 +0 +3 +0 ' printed)" 8
is "a run without a fault does not count as missed" "$(grep -cE '^ +[45] none +3 +3 +0 +0 ' printed)" 2
rm -rf out tree/blind
echo sends 4 >tree/extra
proof 1 "the check fails if isolate finds a fault that was not planted" '^ +5 none +3 +0 +0 +3 '
rm -rf out tree/extra tree/done
: >tree/hangs
interrupt TERM tree/reached tree/tests/long/isolate_check.sh --nodes 4 --seeds 3 --kinds none --output out
is "SIGTERM ends the check, which removes its lab" "$status $(tail -n 1 tree/done)" "143 down"
is "the interrupted check prints a table" "$(grep -c '^nodes fault ' printed)" 1
rm tree/hangs
: >tree/breaks
proof 0 "the check continues after a signal, and repeats a run that fails" 'none-1: isolate ended with status 1, try 1 of 2: ddpbench: no progress' --nodes 4 --kinds none
is "a repeated run counts once" "$(grep -cE '^ +4 none +3 +3 +0 +0 ' printed)" 1
exit "$failed"
