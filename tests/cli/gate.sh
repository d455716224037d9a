#!/usr/bin/env bash
# gate.sh - tests/long/gate.sh with a fake netlab.sh and a fake ddpbench: which verdicts make gate.sh fail, where
# results go with --output, and that gate.sh removes only a lab (a network of netlab.sh) that it made.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

mkdir -p tree/launch tree/tests/long tree/build elsewhere
cp "$root"/tests/long/gate.sh tree/tests/long
cp "$root"/launch/common.sh tree/launch
# The fake netlab.sh: its lab is up while the file `up` exists, `done` records commands, and `netlab.sh up` fails if `refuses` exists.
cat >tree/launch/netlab.sh <<'END'
#!/bin/sh
here=$(dirname "$0")/..
case $1 in
run) shift 2; exec "$@" ;;
up)
    [ ! -e "$here/refuses" ] && [ ! -e "$here/up" ] || { echo "netlab.sh: refused" >&2; exit 1; }
    : >"$here/up"
    ;;
down) rm -f "$here/up" ;;
esac
echo "$1" >>"$here/done"
END
# The fake ddpbench: a run makes a file; a comparison of equal sets ends with the next status in the file `equal`, other
# comparisons with status 3.
cat >tree/build/ddpbench <<'END'
#!/bin/sh
if [ "$1" = allreduce ]; then
    while [ "$1" != --output ]; do shift; done
    mkdir -p "$2"
    echo >"$2/summary.csv"
    exit
fi
case "$*" in
*/out/slower/* | */out/far/*) exit 3 ;;
esac
status=$(head -n 1 equal)
sed -i 1d equal
exit "$status"
END
chmod +x tree/launch/netlab.sh tree/build/ddpbench

# repeat WORD N: prints WORD on N lines.
repeat() {
    local i
    for ((i = 0; i < $2; i++)); do
        echo "$1"
    done
}

# gate STATUS WORDS OK REGRESSED AMBIGUOUS: runs gate.sh with these numbers of verdicts on equal sets, and checks its status.
gate() {
    rm -rf elsewhere/out
    {
        repeat 0 "$3"
        repeat 3 "$4"
        repeat 4 "$5"
    } >tree/equal
    cd elsewhere
    try ../tree/tests/long/gate.sh --tries 20 --runs 3 --output out
    cd ..
    cp elsewhere/said elsewhere/printed .
    check "$1" "$2" .
}

gate 0 "gate.sh passes with 16 of 20 comparisons ok and 3 regressed" 16 3 1
is "--output is relative to the current directory" "$(echo elsewhere/out/same-20/* tree/out)" "elsewhere/out/same-20/1 elsewhere/out/same-20/2 elsewhere/out/same-20/3 tree/out"
is "gate.sh removes its own lab" "$(tail -n 1 tree/done)" down
gate 1 "gate.sh fails with 4 of 20 comparisons regressed" 16 4 0
gate 1 "gate.sh fails with only 15 of 20 comparisons ok" 15 0 5

: >tree/done
: >tree/refuses
gate 1 "a lab that cannot be created is an error" 20 0 0
is "a lab that could not be created is not removed" "$(cat tree/done)" ""
rm tree/refuses
: >tree/up
gate 1 "gate.sh fails while another user's lab is up" 20 0 0
is "another user's lab is not removed" "$(cat tree/done)" ""
mkdir -p elsewhere/theirs && echo '# written by gate.sh' | tee elsewhere/theirs/.gate >elsewhere/theirs/near-far.txt
mkdir elsewhere/theirs/.gate-part
try tree/tests/long/gate.sh --output elsewhere/theirs
check 1 "gate.sh with an existing results directory fails while another user's lab is up" '^netlab.sh: refused'
succeeds "a results directory is not changed if another user's lab is up" [ -d elsewhere/theirs/.gate-part ]
exit "$failed"
