# cli.sh - functions shared by the scripts that test the program through its command line.
# Reads BUILD_DIR from the command line, changes to a new directory, and sets `failed` to 1 if a check fails.
# shellcheck shell=bash
# Scripts that source this file use the variables that look unused here:
# shellcheck disable=SC2034

# shellcheck source=tests/support/here.sh
. "$(dirname "$(realpath "$0")")/../support/here.sh"
# shellcheck source=launch/common.sh
. "$(dirname "$(realpath "$0")")/../../launch/common.sh"

# usage: prints how to call the script, and the script's opening comment.
usage() {
    echo "Usage: [MPIRUN=mpirun] ${0##*/} [--help]${options:+ [OPTION...]} BUILD_DIR"
    sed '1d; /^#/!Q; s/^# //' "$0"
    echo 'Prints a line for each check, "ok - ", "not ok - " or "skip - "; exits with status 1 if one failed.'
}

option_rows=(${options[@]+"${options[@]}"}) # the script's own options, if it has any
read_build_dir "$@"
program=$build/ddpbench
root=$(realpath -e "$(dirname "$0")/../..")
[ -x "$program" ] || usage_error "there is no $program; build it first"
find_mpirun
cpus=$(count_cpus)
export OMP_NUM_THREADS=1
export HWLOC_PLUGINS_PATH=/dev/null # loads no plugins of hwloc, which leak memory (as tests/run.sh does)
# Lets LD_PRELOAD=faults.so find the library: LD_PRELOAD itself cannot contain a path with a blank.
export LD_LIBRARY_PATH=$build/tests/support/preload${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
# Quotes the path, because sanitizers split their options at blanks and colons.
export LSAN_OPTIONS=${LSAN_OPTIONS:+${LSAN_OPTIONS/suppressions=tests\/support\/leaks.supp/suppressions=\""$root"/tests/support/leaks.supp\"}}

# text_of N TEXT: prints the first N characters of TEXT repeated; the last one is x, as TEXT may have a blank there.
text_of() {
    local text=''
    while [ ${#text} -lt "$1" ]; do text+=$2; done
    echo "${text:0:$1 - 1}x"
}

# make_up_names N: lets the program find made-up names of N characters for CPU and this host (Linux: at most 64); sets host.
host=$(</proc/sys/kernel/hostname)
make_up_names() {
    export MADE_UP_CPU MADE_UP_HOST MADE_UP_HOST_OF=${MADE_UP_HOST_OF:-$host} LD_PRELOAD=made_up_names.so${LD_PRELOAD:+:$LD_PRELOAD}
    export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0
    MADE_UP_CPU=$(text_of "$1" 'Made(R) Up CPU 5 @ 2.5 GHz of ')
    MADE_UP_HOST=$(text_of $(($1 < 63 ? $1 : 63)) 'made-up.')
    host=$MADE_UP_HOST
}

# TEST_NAMES=N, at least 10: gives these names and the path of the temporary directory N characters, so that tests show
# that nothing depends on the names of this machine.
temporary=${TMPDIR:-/tmp}/$(basename "$0" .sh).
if [ -n "${TEST_NAMES:-}" ]; then
    make_up_names "$TEST_NAMES"
    [ "$TEST_NAMES" -gt $((${#temporary} + 5)) ] && temporary+=$(text_of $((TEST_NAMES - ${#temporary} - 5)) directory-) || temporary=/tmp/
fi
temporary=$(mktemp -d "${temporary}XXXXX")

# left_over [NAME]: prints the ids of the processes whose command line contains the script's temporary directory (with
# NAME: a path in that directory that begins with NAME), lowest id first.
left_over() {
    local process line
    for process in $(cd /proc && printf '%s\n' [0-9]* | sort -n); do
        { mapfile -d '' -t line <"/proc/$process/cmdline"; } 2>/dev/null || continue
        [[ ${line[*]} != *"$temporary/${1:-}"* ]] || echo "$process"
    done
}

# Ends what hangs. A run that takes 10 s on idle cores took over 100 s with sanitizers on a busy machine.
limit=300

# wait_until COMMAND...: waits until the command succeeds; returns 1 after $limit s.
wait_until() {
    local end=$((SECONDS + limit))
    until "$@" 2>/dev/null; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.05
    done
}

# gone [NAME]: waits until left_over prints nothing, and prints the ids of the processes that remain after $limit s.
gone() { wait_until none_left "$@" || left_over "$@"; }
# shellcheck disable=SC2317 # called by wait_until
none_left() { [ -z "$(left_over "$@")" ]; }

# shellcheck disable=SC2317 # called by the trap
clean_up() {
    for pid in $(left_over); do kill -KILL "$pid" 2>/dev/null || true; done
    rm -rf "$temporary"
}
trap clean_up EXIT
trap_signals
cd "$temporary" || exit
failed=0

# result STATUS WORDS: prints "ok - WORDS" if STATUS is 0; otherwise "not ok - WORDS" and the last lines of the last run's stderr.
result() {
    if [ "$1" = 0 ]; then
        echo "ok - $2"
    else
        echo "not ok - $2"
        failed=1
        [ ! -s said ] || tail -c 20000 said | sed 's/^/    /'
    fi
}

# try COMMAND...: runs the command for at most $limit s, writes its stdout to `printed` and its stderr to `said`; sets
# `status` to its exit status and `took` to its duration in seconds.
try() {
    status=0 took=$SECONDS
    timeout --kill-after=5 "$limit" "${in_user_locale[@]}" "$@" >printed 2>said </dev/null || status=$?
    took=$((SECONDS - took))
}

# ended_by_itself: tests if the last `try` ended before the limit, by its duration, since launchers also return status 137.
ended_by_itself() { [ "$took" -lt "$limit" ]; }

# check STATUS WORDS PATTERN: checks the status of the last try, and that its stderr matches an extended regular expression.
check() {
    local good=0
    [ "$status" = "$1" ] && grep -qE -- "$3" said || good=1
    [ "$good" = 0 ] || echo "status $status, expected $1 and '$3'; printed: $(cat printed)" >>said
    result "$good" "$2"
}

# literal TEXT: prints a regular expression, basic or extended, that matches only TEXT.
literal() { sed -E 's/[].*?+(){}|$\\[]/[&]/g; s/\^/\\^/g' <<<"$1"; }

# is WORDS GOT EXPECTED: checks that two texts are equal.
is() {
    local good=0
    [ "$2" = "$3" ] || good=1
    [ $good = 0 ] || echo "got '$2', expected '$3'" >>said
    result $good "$1"
}

# succeeds WORDS COMMAND...: checks that a command succeeds; shows its output if it fails.
succeeds() {
    local words=$1
    shift
    if "$@" >>said 2>&1; then result 0 "$words"; else result 1 "$words"; fi
}

# with_python WORDS COMMAND...: like succeeds, for a command that needs python3; skips the check without it.
with_python() { if command -v python3 >/dev/null; then succeeds "$@"; else echo "skip - $1: no python3"; fi; }

# latest WORD...: sets the array `latest` to the words, but keeps only the last one of repeated options (and its value).
# The program accepts an option once, and tests give options after their defaults. --inject-delay may be repeated.
latest() {
    local i option
    local -A newest=()
    latest=("$@")
    for ((i = 0; i < $#; i++)); do
        [[ ${latest[i]} != --?* ]] || newest[${latest[i]%%=*}]=$i
    done
    for ((i = 0; i < $#; i++)); do
        option=${latest[i]:-}
        [[ $option == --?* && $option != --inject-delay* && $i != "${newest[${option%%=*}]}" ]] || continue
        unset "latest[i]"
        [[ $option == *=* || ${latest[i + 1]} == --* ]] || unset "latest[++i]"
    done
    latest=("${latest[@]}")
}

# interrupt SIGNAL FILE COMMAND...: starts the command and sends it the signal once FILE is not empty. Sets `status` to
# its exit status, and `began` to the ids of the processes that ran when the signal was sent.
interrupt() {
    set -m # without job control, a command in the background would ignore SIGINT
    "${@:3}" >printed 2>said </dev/null &
    set +m
    wait_until [ -s "$2" ] || true
    began=$(left_over)
    kill "-$1" $! || true
    status=0
    wait $! 2>/dev/null || status=$?
}

# ---- ranks in the background ----

# start_ranks NAME RANKS COMMAND...: starts ranks in the background for at most $limit s, with output in NAME.printed and NAME.said.
declare -A started=()
start_ranks() {
    local name=$1 ranks=$2
    shift 2
    timeout --kill-after=5 "$limit" "${mpirun[@]}" -n "$ranks" "$@" >"$name.printed" 2>"$name.said" </dev/null &
    started[$name]=$!
}

# end_ranks NAME: waits for the ranks of start_ranks; copies their output to printed and said, and sets status.
end_ranks() {
    status=0
    wait "${started[$1]}" 2>/dev/null || status=$?
    cp "$1.printed" printed
    cp "$1.said" said
}

# ---- many runs ----

# start_quickly: disables MPI's search for networks and hwloc's search for devices, which take most of the time that
# a program needs to start. Call it only for checks that depend on neither networks nor devices.
start_quickly() { export UCX_TLS=self,sm HWLOC_COMPONENTS=-pci,-linuxio; }

# some NUMBER VALUE...: sets `picked` to NUMBER of the values, continuing where the last call stopped, so that all are used.
turn=0
some() {
    local n=$1
    shift
    picked=()
    for ((; n > 0; n--)); do
        turn=$(((turn + 1) % $#))
        picked+=("${@:turn + 1:1}")
    done
}

# aside COMMAND...: runs COMMAND, which must not check durations, in the background, in a new directory. At most one
# such command per core runs at a time, at most four in all, and fewer if /dev/shm is small.
asides=() most_asides=$(at_most $((cpus < 4 ? cpus : 4)) 10)
aside() {
    local directory=$temporary/aside${#asides[@]}
    while [ "$(jobs -pr | wc -l)" -ge "$most_asides" ]; do wait -n || true; done
    mkdir "$directory"
    (
        cd "$directory" || exit
        "$@"
        echo "$failed" >"$directory.failed"
    ) >"$directory.printed" 2>&1 &
    asides+=($!)
}

# gather: waits for all commands that `aside` started, and prints their output in the order in which they were started.
gather() {
    local i good
    for ((i = 0; i < ${#asides[@]}; i++)); do
        wait "${asides[i]}" 2>/dev/null || true # the shell forgets a command that has ended if a new one gets its process id
        good=$(cat "aside$i.failed" 2>/dev/null) || good=1
        cat "aside$i.printed"
        [ "$good" = 0 ] || { failed=1; grep -q '^not ok' "aside$i.printed" || echo "not ok - a background command of this script ended early"; }
    done
    rm -rf aside[0-9]*
    asides=()
}

# take_lab: waits up to 200 s for the lock on the network of launch/netlab.sh (one per machine); returns 1 if another test
# still holds the lock. Locks /, so no lock file remains. Redirect 8<&- for a command that may outlive the script, or it keeps the lock.
take_lab() { exec 8</ && flock -w 200 8; }

# name_hosts N: sets `named` to the beginning of a command that gives each N ranks a made-up host, host0, host1 and so on, which
# share the machine. Returns 1 where host names cannot be set.
name_hosts() {
    [ "$(id -u)" = 0 ] && unshare --uts hostname host0 2>>said || return 1
    # shellcheck disable=SC2016 # expanded by the shell of each rank
    named=(unshare --uts sh -c 'hostname "host$((${PMI_RANK:-$OMPI_COMM_WORLD_RANK} / $0))" && exec "$@"' "$1")
}

# write_slow_launcher PATTERN: writes the launcher `slow`, called with the ranks and a command. A command that matches PATTERN
# takes hours while the file `hours` exists, and fails while the file `broken` exists. It reads $temporary and $root.
write_slow_launcher() {
    export temporary root
    cat >slow <<END
#!/bin/sh
ranks=\$1
shift
case "\$*" in $1)
    [ ! -e "\$temporary/broken" ] || { echo "slow: broken" >&2; exit 3; }
    [ ! -e "\$temporary/hours" ] || for word; do
        shift
        [ "\$before" != --rounds ] || word=1000000
        set -- "\$@" "\$word"
        before=\$word
    done ;;
esac
exec "\$root/launch/run.sh" -n "\$ranks" -- "\$@"
END
    chmod +x slow
}

# xml_has WORDS FILE EXPRESSION PATTERN: checks that a file is valid XML, and that the value of a python3 expression, in
# which `root` is the root element, matches an extended regular expression. Without python3 the check is skipped.
xml_has() {
    command -v python3 >/dev/null || { echo "skip - $1: no python3"; return 0; }
    local good=0
    python3 -c 'import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
print(eval(sys.argv[2]))' "$2" "$3" >found 2>said && grep -qxE -- "$4" found || good=1
    [ "$good" = 0 ] || echo "found '$(cat found)', expected '$4'" >>said
    result "$good" "$1"
}

# valid FILE...: tests whether all files are valid JSON (in .jsonl files: each line).
valid() { "$build/tests/support/programs/json_valid" "$@"; }

# texts SUMMARY.JSON: prints the heading, answers and notes of the file, one sentence or paragraph per line.
texts() { sed -nE 's/^\t"(heading|answers|notes)":\t\["(.*)"\],?$/\2/p' "$1" | sed 's/", "/\n/g'; }

# unwrapped FILE: prints the words of a text on one line: where lines end depends on the names of this machine.
unwrapped() { tr -s ' \n' ' ' <"$1"; }

# check_sentences: checks that no text of a summary.json below the current directory has newlines or extra blanks.
check_sentences() {
    local summaries
    mapfile -d '' -t summaries < <(find . -name summary.json -size +99c -print0)
    succeeds "the texts of all summaries are whole sentences" valid "${summaries[@]}"
}
