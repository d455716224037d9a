# common.sh - functions that all scripts share: messages, exit statuses, command lines, checks of values and files, signals.
# `script` is the name of the script that reads this file.
# shellcheck shell=bash

# Otherwise bash goes on after an interrupt that arrives before the command that it waits for has received it.
trap 'exit 130' INT

# Characters are those of the user's locale. Numbers, sorting, dates and messages are those of C, since scripts read
# what tools print.
[ -z "${LC_ALL:-}" ] || export LC_CTYPE=$LC_ALL
unset LC_ALL
export LC_NUMERIC=C LC_COLLATE=C LC_MESSAGES=C LC_TIME=C

script=$(realpath "$0")
script=${script##*/}

# say TEXT...: prints one line on stderr, after clear_line if a script sets that. Characters that do not print appear as
# bash quotes them (\n, \E, \377), and the middle of a long text is left out.
say() {
    local line="$*" quoted
    [ ${#line} -le 2500 ] || line="${line:0:500} [${#line} characters] ${line: -1500}"
    printf -v quoted %q "$line"
    if [[ $quoted == "\$'"* ]]; then
        line=${quoted:2:-1}
        line=${line//"\\'"/"'"}
    fi
    printf '%s%s: %s\n' "${clear_line:-}" "$script" "$line" >&2
}

# die TEXT...: ends the script because something is missing or does not work.
die() {
    say "$@"
    exit 1
}

# usage_error TEXT...: ends the script because its command line or its configuration is wrong.
usage_error() {
    say "$@"
    exit 2
}

# ---- command lines ----
# check_lengths WORD...: refuses long words, up to --. No path is longer, and matching patterns in longer words takes
# seconds.
check_lengths() {
    local word before=''
    for word in "$@"; do
        [ "$word" != -- ] || break
        [ ${#word} -le 4096 ] || usage_error "${before:+${before:0:40} }'${word:0:40}...': ${#word} characters, longer than 4096"
        before=$word
    done
}
check_lengths "$@"

# usage: prints the opening comment of the script, from "Usage:" on.
usage() { sed -n '/^# Usage: /,/^\([^#]\|$\)/s/^# \?//p' "$0"; }

# read_options ARGUMENT...: reads a command line by the rows of option_rows, "NAME[,NAME] VARIABLE CHECK [WORD...]"
# each. CHECK is `flag` (sets VARIABLE to 1), or a function that gets the option, its value and the WORDs and ends the
# script if the value is wrong; then VARIABLE is set to the value. With - in place of VARIABLE the value may be empty,
# and only CHECK gets it. Sets arguments (those that are no options, at most most_arguments), after_dashes (what follows
# --, if takes_dashes is set) and given_options (the names of the options). Prints usage() for --help.
option_rows=() arguments=() after_dashes=() given_options=() most_arguments=0 takes_dashes=''
# shellcheck disable=SC2034 # scripts use what it sets
read_options() {
    local names variable check extra option joined
    arguments=() after_dashes=() given_options=()
    while [ $# -gt 0 ]; do
        option=$1 joined=''
        case $option in
        --help) usage; exit 0 ;;
        --)
            if [ -n "$takes_dashes" ]; then
                given_options+=(--) after_dashes=("${@:2}")
                return
            fi
            ;;
        --*=*) joined=1 && set -- "${option%%=*}" "${option#*=}" "${@:2}" ;;
        -*) ;;
        *)
            arguments+=("$option")
            [ ${#arguments[@]} -le "$most_arguments" ] ||
                usage_error "unexpected argument '$option'${takes_dashes:+; a program or its options come after --}; see --help"
            shift
            continue
            ;;
        esac
        find_option "$1" || usage_error "unknown option '$option'; expected one of $(list_options)--help"
        given_options+=("$1")
        if [ "$check" = flag ]; then
            [ -z "$joined" ] || usage_error "$1 takes no value"
            printf -v "$variable" %s 1
            shift
            continue
        fi
        [[ $# -gt 1 && $variable = - ]] || need_value "$@"
        # shellcheck disable=SC2086 # words without blanks
        "$check" "$1" "$2" $extra
        [ "$variable" = - ] || printf -v "$variable" %s "$2"
        shift 2
    done
}

# need_value OPTION [VALUE]...: ends the script unless the value is there.
need_value() { [ -n "${2:-}" ] || usage_error "$1 needs a value"; }

# find_option NAME: sets names, variable, check and extra of its row.
find_option() {
    local row
    for row in "${option_rows[@]}"; do
        read -r names variable check extra <<<"$row"
        [[ $1 == *,* || ,$names, != *",$1,"* ]] || return 0
    done
    return 1
}

list_options() {
    local row
    for row in "${option_rows[@]%% *}"; do printf '%s ' "${row//,/ }"; done
}

# Checks of a value: CHECK OPTION VALUE [WORD...].
check_any() { :; }
check_integer() {
    [[ $2 =~ ^(0|[1-9][0-9]{0,8})$ && $2 -ge $3 && $2 -le $4 ]] || usage_error "$1 $2: expected a whole number from $3 to $4"
}
check_choice() {
    local choices=" ${*:3} "
    [[ $choices == *" $2 "* && $2 != *' '* ]] || usage_error "$1 $2: expected one of$choices"
}
# check_list OPTION LIST PATTERN EXPECTED: a list with commas whose parts match the pattern, each listed once.
check_list() {
    local part rest="$2," seen=,
    while [ -n "$rest" ]; do
        part=${rest%%,*} rest=${rest#*,}
        [ -n "$part" ] || usage_error "$1 '$2': an item of the list is empty"
        [[ $part =~ ^($3)$ ]] || usage_error "$1 '$part': expected $4"
        [[ $seen != *,"$part",* ]] || usage_error "$1: '$part' is listed twice"
        seen+=$part,
    done
}

# check_counts OPTION LIST: a list of numbers from 1 to 9999.
check_counts() { check_list "$1" "$2" '[1-9][0-9]{0,3}' "numbers from 1 to 9999, separated by commas"; }
# for values that are split at blanks or written into a file
check_line() { [[ $2 != *[[:cntrl:]]* ]] || usage_error "$1 '$2': expected one line without control characters"; }
check_rate() { rate_bits "$2" >/dev/null; }

# rate_bits RATE: prints the rate of a link in bit/s.
rate_bits() {
    local bits=0
    need_tools mawk awk
    [[ ! $1 =~ ^[0-9]{1,12}(\.[0-9]{1,12})?(mbit|gbit)$ ]] ||
        bits=$(awk -v r="$1" 'BEGIN { printf "%.0f", r * (r ~ /g/ ? 1e9 : 1e6) }')
    [[ ${#bits} -le 12 && $bits -ge 1000000 && $bits -le 100000000000 ]] ||
        usage_error "rate '$1': expected 1mbit to 100gbit, such as 100mbit or 2.5gbit"
    echo "$bits"
}

# ---- what the machine has ----
# count_cpus: prints how many CPUs this process may use. nproc alone would print the OMP_* variables.
count_cpus() { env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc; }

# need_tools PACKAGES TOOL...
need_tools() {
    local tool
    for tool in "${@:2}"; do
        command -v "$tool" >/dev/null || die "'$tool' is missing; it comes with $1: apt-get install ${1%% *}"
    done
}

# need_program FILE: ends the script unless the benchmark is there.
need_program() {
    [[ -f $1 && -x $1 ]] || die "there is no $1; run make first, or give --program"
}

# split_command TEXT: sets command_words to the program called TEXT if there is one, otherwise to the words of TEXT as a
# shell splits them ('a b', "a b", a\ b), or to none if a quote is not closed.
# shellcheck disable=SC2034 # callers use them
split_command() {
    local text
    command_words=()
    if [[ $1 == *$'\n'* ]]; then
        return
    elif command -v -- "$1" >/dev/null; then
        command_words=("$1")
    else
        # the point keeps empty words at the end; xargs runs what comes before a quote that is not closed, and fails
        text=$(xargs -r printf '%s\n' <<<"$1" 2>/dev/null && echo .) || text=''
        mapfile -t command_words < <(printf %s "${text%.}")
    fi
}

# quote_words WORD...: prints the words as split_command and a shell read them.
quote_words() {
    local word quote="'\\''" line=''
    for word in "$@"; do
        [[ -n $word && $word != *[!A-Za-z0-9_./:=,@%+{}-]* ]] || word="'${word//"'"/"$quote"}'"
        line+=" $word"
    done
    printf '%s\n' "${line# }"
}

# find_mpirun: sets mpirun (the launcher of ranks, with the options that MPIRUN may hold), MPIRUN (the same, for scripts
# that this one starts), mpi (mpich, also for all others that are made from MPICH, or openmpi) and rank_variable (in
# which it gives each rank its number).
# shellcheck disable=SC2034 # callers use them
find_mpirun() {
    local name command_words=()
    if [[ ${MPIRUN:-} == *[![:blank:]]* ]]; then
        split_command "$MPIRUN"
        command -v -- "${command_words[0]:-}" >/dev/null || die "MPIRUN=$MPIRUN: there is no such program"
    else
        for name in mpirun mpiexec mpirun.mpich mpiexec.mpich; do
            ! command -v $name >/dev/null || command_words=("$name")
        done
        [ ${#command_words[@]} -gt 0 ] || die "there is no mpiexec; install one (package mpich), or set MPIRUN to it"
    fi
    mpirun=("${command_words[@]}") mpi=mpich rank_variable=PMI_RANK
    MPIRUN=$(quote_words "${mpirun[@]}")
    export MPIRUN
    if [[ $("${mpirun[0]}" --version 2>/dev/null </dev/null) =~ Open\ MPI|OpenRTE|PRRTE ]]; then
        mpi=openmpi rank_variable=OMPI_COMM_WORLD_RANK
    fi
}

# ---- files ----
# read_text WHAT FILE: sets text to the content of FILE; WHAT names it in messages. Refuses more than 1 MiB, and named
# pipes, since nobody may ever write to them.
read_text() {
    local most=1048576 file=$2 what=$1 line
    [ -e "$file" ] || usage_error "$what $file: there is no such file"
    [[ -f $file || (! -d $file && ($file == /dev/stdin || $file == /dev/fd/*)) ]] ||
        usage_error "$what $file: is a directory, a pipe or a device, expected a file"
    [ -r "$file" ] || usage_error "$what $file: permission denied"
    # the point keeps the newlines at the end, which count, too
    text=$(timeout 20 head -c $((most + 1)) "$file" 2>/dev/null | LC_ALL=C tr '\000' '\001' && echo .) ||
        usage_error "$what $file: could not be read within 20 s"
    # bytes, where ${#text} would count characters; the here-string adds a newline
    [ "$(wc -c <<<"${text%.}")" -le $((most + 1)) ] || usage_error "$what $file: is larger than 1 MiB"
    text=$(printf %s "${text%.}")
    [ -z "$(LC_ALL=C tr -d '\t\n\r\040-\176\200-\377' <<<"$text")" ] ||
        usage_error "$what $file: has control characters, expected text"
    line=$(LC_ALL=C awk 'length > 4096 { print NR; exit }' <<<"$text")
    [ -z "$line" ] || usage_error "$what $file, line $line: longer than 4096 characters"
}

# make_directory DIR: makes it unless it is there, and ends the script if it cannot be written to.
make_directory() {
    local error
    error=$(mkdir -p -- "$1" 2>&1) || die "cannot make the directory $1: ${error##*: }"
    error=$(mktemp -d -- "$1/.probe.XXXXXX" 2>&1) || die "cannot write to the directory $1: ${error##*: }"
    rmdir -- "$error"
}

# begins_with FILE TEXT: whether FILE is a regular file, not a link, that begins with TEXT. By their first words scripts
# tell files that they wrote from others.
begins_with() {
    local begin=''
    [ -f "$1" ] && [ ! -L "$1" ] || return
    [ ! -r "$1" ] || IFS= read -r -n ${#2} begin <"$1" || true
    [ "$begin" = "$2" ]
}

# check_replaceable FILE TEXT: ends the script if FILE exists and does not begin with TEXT.
check_replaceable() {
    [ ! -e "$1" ] && [ ! -L "$1" ] || begins_with "$1" "$2" ||
        usage_error "$1 was not written by $script; choose another --output"
}

# claim_directory DIR FILE TEXT: makes the directory, or takes one that is empty or whose FILE begins with TEXT. Other
# starts of the script wait for its lock, which this script and its children hold.
claim_directory() {
    make_directory "$1"
    exec 9<"$1"
    ! command -v flock >/dev/null || flock -w 5 9 || die "another $script runs in $1"
    [ -z "$(ls -A -- "$1")" ] || begins_with "$1/$2" "$3" ||
        usage_error "--output $1: is not empty and has no $2 that $script wrote; choose another directory"
}

# write_file FILE COMMAND...: FILE is what the command prints, once it has ended, so that nobody reads half of it; a
# link of that name is replaced, not followed. Nothing is left of a command that fails. A killed script leaves a hidden
# file beside FILE, which the next call removes. bash ignores `set -e` in a function called this way: it has to return
# its own status.
write_file() {
    local part
    part=$(dirname -- "$1")/.ddpbench-$(basename -- "$1").part
    rm -f -- "$part"
    "${@:2}" >"$part" || {
        rm -f -- "$part"
        return 1
    }
    mv -fT -- "$part" "$1"
}

# ---- signals ----
# trap_signals: from here on HUP, INT and TERM run the EXIT trap and end the script at once if it waits by wait_child.
trap_signals() {
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
}

# wait_child COMMAND...: runs the command in a process group of its own. If a signal ends the script, end_child ends the
# group.
waited_child=''
wait_child() {
    local status=0
    set -m
    "$@" <&0 &
    waited_child=$! # at once: a signal may come now
    set +m
    wait "$waited_child" || status=$?
    waited_child=''
    return $status
}

# tee_output FILE COMMAND...: copies what the command prints to FILE. For wait_child; `timeout` in it needs
# --foreground, since no signal reaches a process group that timeout makes.
tee_output() { "${@:2}" </dev/null 2>&1 | tee "$1"; }

# end_child: for the EXIT trap, before it removes anything: ends what wait_child started, and ignores signals from here
# on.
end_child() {
    local try
    trap '' HUP INT TERM
    [ -n "$waited_child" ] || return 0
    kill -TERM -- "-$waited_child" 2>/dev/null || true
    for ((try = 0; try < 50; try++)); do
        kill -0 "$waited_child" 2>/dev/null || break
        sleep 0.1
    done
    kill -KILL -- "-$waited_child" 2>/dev/null || true
    wait "$waited_child" 2>/dev/null || true
    waited_child=''
}

# ---- the network lab ----
# lab_up OPTION...: makes a lab of two nodes by netlab.sh, which refuses if somebody else's is up. It replaces the script's
# earlier one.
lab_is_ours=''
lab_up() {
    lab_down
    wait_child launch/netlab.sh up --nodes 2 "$@" >&2 # cleans up after itself if it fails
    lab_is_ours=yes
}

# lab_down: removes the lab of this script, if it has one; also for the EXIT trap.
lab_down() {
    [ -z "$lab_is_ours" ] || launch/netlab.sh down
    lab_is_ours=''
}

# ---- the program ----
# dry_run_error RANKS DEVICE COMMAND OPTION...: prints why $program refuses these options, or nothing if it accepts
# them. COMMAND: one of its commands, or ''. Nothing is run, and DEVICE may be one that this machine lacks.
dry_run_error() {
    local output status=0
    # shellcheck disable=SC2154 # set by the scripts
    output=$("$program" ${3:+"$3"} --device "$2" "${@:4}" --dry-run "$1" 2>&1 </dev/null) || status=$?
    [ $status = 0 ] || sed -n 's/^ddpbench: //p' <<<"$output" | sed -n '$p' | grep -a . ||
        echo "$program --dry-run ends with status $status: $output"
}
