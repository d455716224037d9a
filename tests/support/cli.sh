# cli.sh - what the scripts that test the program from outside share.
# It takes BUILD_DIR from the command line, goes to a directory of its own, and counts failed checks in `failed`.
# shellcheck shell=bash
# Used by the scripts:
# shellcheck disable=SC2034

# shellcheck source=tests/support/here.sh
. "$(dirname "$(realpath "$0")")/../support/here.sh"
# shellcheck source=launch/common.sh
. "$(dirname "$(realpath "$0")")/../../launch/common.sh"

# usage: prints the opening comment of the script, and how to call it.
usage() {
    echo "Usage: [MPIRUN=mpirun] ${0##*/} [--help]${options:+ [OPTION...]} BUILD_DIR"
    sed '1d; /^#/!Q; s/^# //' "$0"
    echo 'Prints a line for each check, "ok - ", "not ok - " or "skip - "; exits with status 1 if one failed.'
}

option_rows=(${options[@]+"${options[@]}"}) # of a script that has any
read_build_dir "$@"
program=$build/ddpbench
root=$(realpath -e "$(dirname "$0")/../..")
[ -x "$program" ] || usage_error "there is no $program; build it first"
find_mpirun
cpus=$(count_cpus)
export OMP_NUM_THREADS=1
export HWLOC_PLUGINS_PATH=/dev/null # as in tests/run.sh, for a script that is run alone
# LD_PRELOAD=faults.so finds it here: a path in LD_PRELOAD itself may have no blank
export LD_LIBRARY_PATH=$build/tests/support/preload${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
# a sanitizer splits its options at blanks and colons
export LSAN_OPTIONS=${LSAN_OPTIONS:+${LSAN_OPTIONS/suppressions=tests\/support\/leaks.supp/suppressions=\""$root"/tests/support/leaks.supp\"}}

temporary=$(mktemp -d "${TMPDIR:-/tmp}/$(basename "$0" .sh).XXXXXX")

# left_over [NAME]: the processes of this script's runs, told by its directory (and NAME in it) in their command lines;
# those that were started first come first.
left_over() {
    local process line
    for process in $(cd /proc && printf '%s\n' [0-9]* | sort -n); do
        { mapfile -d '' -t line <"/proc/$process/cmdline"; } 2>/dev/null || continue
        [[ ${line[*]} != *"$temporary/${1:-}"* ]] || echo "$process"
    done
}

# wait_until COMMAND...: waits until the command succeeds, for 60 s at most, since other work stretches what takes a second;
# returns 1 if it never did.
wait_until() {
    local end=$((SECONDS + 60))
    until "$@" 2>/dev/null; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.05
    done
}

# gone [NAME]: waits until none of them is left, and prints those that are.
gone() { wait_until none_left "$@" || left_over "$@"; }
# shellcheck disable=SC2317 # wait_until calls it
none_left() { [ -z "$(left_over "$@")" ]; }

# shellcheck disable=SC2317 # the trap calls it
clean_up() {
    for pid in $(left_over); do kill -KILL "$pid" 2>/dev/null || true; done
    rm -rf "$temporary"
}
trap clean_up EXIT
trap_signals
cd "$temporary" || exit
failed=0

# result STATUS WORDS: STATUS is that of a command; the run's own words follow where it failed.
result() {
    if [ "$1" = 0 ]; then
        echo "ok - $2"
    else
        echo "not ok - $2"
        failed=1
        [ ! -s said ] || sed 's/^/    /' said
    fi
}

# try COMMAND...: its words go to said, what it prints to printed, its exit status to status, and to took, how many seconds
# it took; for $limit s at most.
try() {
    status=0 took=$SECONDS
    timeout --kill-after=5 "${limit:-60}" "${in_user_locale[@]}" "$@" >printed 2>said </dev/null || status=$?
    took=$((SECONDS - took))
}

# ended_by_itself: whether what was tried last did, which its status does not tell: launchers end by 137, too.
ended_by_itself() { [ "$took" -lt "${limit:-60}" ]; }

# check STATUS WORDS PATTERN: what was tried last ended so, and said something that matches (an extended expression).
check() {
    local good=0
    [ "$status" = "$1" ] && grep -qE -- "$3" said || good=1
    [ "$good" = 0 ] || echo "status $status, expected $1 and '$3'; printed: $(cat printed)" >>said
    result "$good" "$2"
}

# literal TEXT: prints a regular expression, basic or extended, that only the text itself matches.
literal() { sed -E 's/[].*?+(){}|$\\[]/[&]/g; s/\^/\\^/g' <<<"$1"; }

# is WORDS GOT EXPECTED
is() {
    local good=0
    [ "$2" = "$3" ] || good=1
    [ $good = 0 ] || echo "got '$2', expected '$3'" >>said
    result $good "$1"
}

# succeeds WORDS COMMAND...: a check that a command succeeds, whose words are shown if not.
succeeds() {
    local words=$1
    shift
    if "$@" >>said 2>&1; then result 0 "$words"; else result 1 "$words"; fi
}

# interrupt SIGNAL FILE COMMAND...: sends it the signal once FILE has something in it. Sets began, to the processes that it
# had running then, and status.
interrupt() {
    set -m # with job control a script has SIGINT's default, as it has on a terminal
    "${@:3}" >printed 2>said </dev/null &
    set +m
    wait_until [ -s "$2" ] || true
    began=$(left_over)
    kill "-$1" $! || true
    status=0
    wait $! 2>/dev/null || status=$?
}

# ---- ranks in the background ----

# start_ranks NAME RANKS COMMAND...: for $limit s at most; what they print and say is kept below NAME.
declare -A started=()
start_ranks() {
    local name=$1 ranks=$2
    shift 2
    timeout --kill-after=5 "${limit:-60}" "${mpirun[@]}" -n "$ranks" "$@" >"$name.printed" 2>"$name.said" </dev/null &
    started[$name]=$!
}

# end_ranks NAME: waits for them; the files printed and said are then theirs, and status is their exit status.
end_ranks() {
    status=0
    wait "${started[$1]}" 2>/dev/null || status=$?
    cp "$1.printed" printed
    cp "$1.said" said
}

# ---- many runs ----

# start_quickly: from here on MPI looks for no networks and hwloc for no devices, which is most of a start; for checks that do
# not depend on them.
start_quickly() { export UCX_TLS=self,sm HWLOC_COMPONENTS=-pci,-linuxio; }

# aside COMMAND...: checks that bound no times, in a directory of their own, as many at a time as there are cores, up to
# four, and fewer where /dev/shm is small.
asides=() most_asides=$(at_most $((cpus < 4 ? cpus : 4)) 10)
aside() {
    local directory=$temporary/aside${#asides[@]}
    while [ "$(jobs -pr | wc -l)" -ge "$most_asides" ]; do wait -n || true; done
    mkdir "$directory"
    (
        cd "$directory" || exit
        "$@"
        exit "$failed"
    ) >"$directory.printed" 2>&1 &
    asides+=($!)
}

# gather: waits for all that are aside, and prints what each has printed, in the order of their start.
gather() {
    local i good
    for ((i = 0; i < ${#asides[@]}; i++)); do
        wait "${asides[i]}" && good=0 || good=1
        cat "aside$i.printed"
        [ $good = 0 ] || grep -q '^not ok' "aside$i.printed" || echo "not ok - what was run aside ended before its end"
        [ $good = 0 ] || failed=1
    done
    rm -rf aside[0-9]*
    asides=()
}

# take_lab: waits up to 200 s for the network lab, of which there is one a machine; returns 1 if others still have it.
# The lock is on a directory, so that no file is left, and ends with the script, whose commands are not to inherit it: 8<&-.
take_lab() { exec 8</ && flock -w 200 8; }

# xml_has WORDS FILE EXPRESSION PATTERN: a check that a file is XML, and that an expression of python3, in which root is its
# root element, prints all of a pattern (an extended expression); skipped where there is no python3.
xml_has() {
    command -v python3 >/dev/null || { echo "skip - $1: no python3 here"; return 0; }
    local good=0
    python3 -c 'import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
print(eval(sys.argv[2]))' "$2" "$3" >found 2>said && grep -qxE -- "$4" found || good=1
    [ "$good" = 0 ] || echo "found '$(cat found)', expected '$4'" >>said
    result "$good" "$1"
}

# Whether all of these files are valid JSON (lines of it in a .jsonl).
valid() { "$build/tests/support/programs/json_valid" "$@"; }

# texts SUMMARY.JSON: prints its heading, answers and notes, each sentence or paragraph on a line of its own.
texts() { sed -nE 's/^\t"(heading|answers|notes)":\t\["(.*)"\],?$/\2/p' "$1" | sed 's/", "/\n/g'; }

# check_sentences: a check that no text of any summary.json below here has layout in it.
check_sentences() {
    local summaries
    mapfile -d '' -t summaries < <(find . -name summary.json -size +99c -print0)
    succeeds "the texts of all summaries are whole sentences" valid "${summaries[@]}"
}
