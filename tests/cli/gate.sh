#!/usr/bin/env bash
# gate.sh - launch/gate.sh with a made-up lab and a made-up program: which verdicts of its comparisons fail it, where
# --output goes, and whose lab it takes down.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

mkdir -p tree/launch tree/build elsewhere
cp "$root"/launch/{gate,common}.sh tree/launch
# A lab that is up as long as there is a file called up; it notes what is done with it, and cannot be made if that or refuses is there.
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
# A run is a file; comparisons of equal sets end with the statuses in equal, in turn, and those of others with 3.
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

# repeat WORD N: N lines of it.
repeat() {
    local i
    for ((i = 0; i < $2; i++)); do
        echo "$1"
    done
}

# gate STATUS WORDS OK REGRESSED AMBIGUOUS: with so many equal sets called so.
gate() {
    rm -rf elsewhere/out
    {
        repeat 0 "$3"
        repeat 3 "$4"
        repeat 4 "$5"
    } >tree/equal
    cd elsewhere
    try ../tree/launch/gate.sh --tries 20 --runs 3 --output out
    cd ..
    cp elsewhere/said elsewhere/printed .
    check "$1" "$2" .
}

gate 0 "16 of 20 ok and 3 regressed will do" 16 3 1
is "--output is taken from where the user stands" "$(echo elsewhere/out/same-20/* tree/out)" "elsewhere/out/same-20/1 elsewhere/out/same-20/2 elsewhere/out/same-20/3 tree/out"
mkdir -p elsewhere/theirs/.gate-part && echo mine >elsewhere/theirs/near-far.txt
try tree/launch/gate.sh --output elsewhere/theirs
check 2 "somebody's directory is refused" 'theirs: is not empty and has no .gate that gate.sh wrote'
is "and left alone" "$(cd elsewhere/theirs && echo .gate* *) $(cat elsewhere/theirs/near-far.txt)" ".gate-part near-far.txt mine"
echo '# written by gate.sh' >elsewhere/gate && ln -s ../gate elsewhere/theirs/.gate
try tree/launch/gate.sh --output elsewhere/theirs
check 2 "also with a link to the mark of a gate" 'has no .gate that gate.sh wrote'
is "it takes its own lab down" "$(tail -n 1 tree/done)" down
gate 1 "4 of 20 regressed are too many" 16 4 0
gate 1 "15 of 20 ok are too few" 15 0 5

: >tree/done
: >tree/refuses
gate 1 "a lab that cannot be made" 20 0 0
is "is not taken down" "$(cat tree/done)" ""
rm tree/refuses
: >tree/up
gate 1 "somebody else's lab is refused" 20 0 0
is "and left alone" "$(cat tree/done)" ""
mkdir -p elsewhere/theirs/.gate-part && rm elsewhere/theirs/.gate && echo '# written by gate.sh' >elsewhere/theirs/.gate
try tree/launch/gate.sh --output elsewhere/theirs
check 1 "also where it measures into the same directory" '^netlab.sh: refused'
succeeds "which is left alone" [ -d elsewhere/theirs/.gate-part ]
exit "$failed"
