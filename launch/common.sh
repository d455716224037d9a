# common.sh - functions that all scripts share: messages, exit statuses, command lines, checks of values and files, signals.
# Sets `script` to the name of the script that sources this file; messages begin with this name.
# shellcheck shell=bash

# Leave POSIX mode, which POSIXLY_CORRECT in the environment sets: in it, bash reads quotes within ${...} in another way, and
# tools take options only before the first file.
unset POSIXLY_CORRECT
shopt -u inherit_errexit 2>/dev/null || true # stays set after POSIX mode; bash before 4.4 does not have it

# Ends the script on Ctrl-C. Without this trap, bash continues the script if the command that it waits for survives the interrupt.
trap 'exit 130' INT

# Use the user's locale for characters only. Numbers, sorting, dates and messages use the C locale, because scripts
# parse the output of tools.
[ -z "${LC_ALL:-}" ] || export LC_CTYPE=$LC_ALL
unset LC_ALL
export LC_NUMERIC=C LC_COLLATE=C LC_MESSAGES=C LC_TIME=C

script=$(realpath "$0")
script=${script##*/}

# say TEXT...: prints one line on stderr. If a script has set clear_line, prints these terminal codes first, which erase the
# progress line. Unprintable characters are escaped as bash does (\n, \E, \377); a long text is shortened in the middle.
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

# A scheduler may export the TMPDIR of another machine, with which mktemp and Open MPI's mpirun fail.
if [[ ${TMPDIR:-} && (! -d $TMPDIR || ! -w $TMPDIR) ]]; then
    say "TMPDIR=$TMPDIR is not a directory that can be written here; /tmp is used"
    export TMPDIR=/tmp
fi

# die TEXT...: ends the script with status 1 because something is missing or does not work.
die() {
    say "$@"
    exit 1
}

# usage_error TEXT...: ends the script with status 2 because its command line or its configuration is wrong.
usage_error() {
    say "$@"
    exit 2
}

# ---- command lines ----
# check_lengths WORD...: refuses words longer than any path, because matching patterns in them takes seconds. Does not
# check the words after --.
check_lengths() {
    local word before=''
    for word in "$@"; do
        [ "$word" != -- ] || break
        [ ${#word} -le 4096 ] || usage_error "${before:+${before:0:40} }'${word:0:40}...': ${#word} characters, longer than 4096"
        before=$word
    done
}
check_lengths "$@"

# usage: prints the opening comment of the script, starting at "Usage:".
usage() { sed -n '/^# Usage: /,/^\([^#]\|$\)/s/^# \?//p' "$0"; }

# read_options ARGUMENT...: parses a command line by the rows of option_rows, "NAME[,NAME] VARIABLE CHECK [WORD...]".
# CHECK is `flag` (sets VARIABLE to 1), or a function that receives the option, its value and the WORDs and ends the
# script if the value is wrong; otherwise VARIABLE is set to the value. If VARIABLE is -, the value may be empty and only
# CHECK receives it. Sets arguments (the positional arguments, at most most_arguments), after_dashes (everything after
# --, if takes_dashes is set). Prints usage() for --help.
option_rows=() arguments=() after_dashes=() most_arguments=0 takes_dashes=''
# shellcheck disable=SC2034 # scripts use the variables that it sets
read_options() {
    local names variable check extra option joined
    arguments=() after_dashes=()
    while [ $# -gt 0 ]; do
        option=$1 joined=''
        case $option in
        --help) usage; exit 0 ;;
        --)
            if [ -n "$takes_dashes" ]; then
                after_dashes=("${@:2}")
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

# need_value OPTION [VALUE]...: ends the script if the value is missing or empty.
need_value() { [ -n "${2:-}" ] || usage_error "$1 needs a value"; }

# find_option NAME: sets names, variable, check and extra from the row of the option.
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

# Checks of option values: CHECK OPTION VALUE [WORD...].
check_any() { :; }
check_path() { [[ $2 != -* ]] || usage_error "$1 $2: expected a path; write ./$2 for a name that begins with -"; }
check_integer() {
    [[ $2 =~ ^(0|[1-9][0-9]{0,8})$ && $2 -ge $3 && $2 -le $4 ]] || usage_error "$1 $2: expected a whole number from $3 to $4"
}
check_choice() {
    local choices=" ${*:3} "
    [[ $choices == *" $2 "* && $2 != *' '* ]] || usage_error "$1 $2: expected one of$choices"
}
# check_list OPTION LIST PATTERN EXPECTED: requires a comma-separated list whose items match the pattern and are all different.
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

# check_counts OPTION LIST: requires a comma-separated list of numbers from 1 to 9999.
check_counts() { check_list "$1" "$2" '[1-9][0-9]{0,3}' "numbers from 1 to 9999, separated by commas"; }
# check_line OPTION VALUE: refuses a VALUE with control characters; for values that are split at blanks or written to a file.
check_line() { [[ $2 != *[[:cntrl:]]* ]] || usage_error "$1 '$2': expected one line without control characters"; }
check_rate() { rate_bits "$2" >/dev/null; }

# rate_bits RATE: converts the rate of a link to bit/s and prints it.
rate_bits() {
    local bits=0
    need_tools mawk awk
    [[ ! $1 =~ ^[0-9]{1,12}(\.[0-9]{1,12})?(mbit|gbit)$ ]] ||
        bits=$(awk -v r="$1" 'BEGIN { printf "%.0f", r * (r ~ /g/ ? 1e9 : 1e6) }')
    [[ ${#bits} -le 12 && $bits -ge 1000000 && $bits -le 100000000000 ]] ||
        usage_error "rate '$1': expected 1mbit to 100gbit, such as 100mbit or 2.5gbit"
    echo "$bits"
}

# ---- tools and programs ----
# count_cpus: prints how many CPUs this process may use. nproc would obey the OMP_* variables if they were set.
count_cpus() { env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc; }

# need_tools PACKAGES TOOL...: ends the script if a tool is not installed; PACKAGES are the Debian packages that have it.
need_tools() {
    local tool
    for tool in "${@:2}"; do
        command -v "$tool" >/dev/null || die "'$tool' is missing; it comes with $1: apt-get install ${1%% *}"
    done
}

# need_program FILE: ends the script if the benchmark program FILE does not exist.
need_program() {
    [[ -f $1 && -x $1 ]] || die "there is no $1; run make first, or give --program"
}

# Put before a program: gives each rank an NCCL_HOSTID of its own, because NCCL before 2.30 refuses ranks of one host on one GPU.
# shellcheck disable=SC2016,SC2034 # expanded by the shell of each rank; used by scripts
as_hosts=(sh -c 'NCCL_HOSTID=host-of-rank-${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-$SLURM_PROCID}} exec "$@"' sh)

# split_command TEXT: sets command_words to TEXT if that is the name of a program, otherwise to the words into which a
# shell splits TEXT ('a b', "a b", a\ b), or to an empty array if a quote is not closed.
# shellcheck disable=SC2034 # callers use command_words
split_command() {
    local text
    command_words=()
    if [[ $1 == *$'\n'* ]]; then
        return
    elif command -v -- "$1" >/dev/null; then
        command_words=("$1")
    else
        # The dot keeps empty words at the end. At an unclosed quote xargs fails, but first prints the words before the quote.
        text=$(xargs -r printf '%s\n' <<<"$1" 2>/dev/null && echo .) || text=''
        mapfile -t command_words < <(printf %s "${text%.}")
    fi
}

# find_compiler: sets compiler to the words of CC, such as ccache cc, by default cc.
# shellcheck disable=SC2034 # callers use compiler
find_compiler() {
    local command_words
    split_command "${CC:-cc}"
    compiler=("${command_words[@]}")
    [ ${#compiler[@]} -gt 0 ] || compiler=("$CC")
}

# quote_words WORD...: prints the words quoted so that split_command and a shell read them back.
quote_words() {
    local word quote="'\\''" line=''
    for word in "$@"; do
        [[ -n $word && $word != *[!A-Za-z0-9_./:=,@%+{}-]* ]] || word="'${word//"'"/"$quote"}'"
        line+=" $word"
    done
    printf '%s\n' "${line# }"
}

# find_mpirun: sets mpirun (the MPI launcher and the options given in MPIRUN), MPIRUN (mpirun as quoted words, for
# scripts that this one starts), mpi (openmpi, or mpich for MPICH and MPIs derived from it) and rank_variable (the
# environment variable that holds the number of a rank).
# shellcheck disable=SC2034 # callers use these variables
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
# read_text WHAT FILE: sets text to the content of FILE; WHAT names the file in messages. Refuses files above 1 MiB, and
# named pipes, because reading a pipe without a writer blocks forever. Leaves out a byte order mark.
read_text() {
    local most=1048576 file=$2 what=$1 line
    [ -e "$file" ] || usage_error "$what $file: there is no such file"
    [[ -f $file || (! -d $file && ($file == /dev/stdin || $file == /dev/fd/*)) ]] ||
        usage_error "$what $file: is a directory, a pipe or a device, expected a file"
    [ -r "$file" ] || usage_error "$what $file: permission denied"
    # The dot keeps the newlines at the end, so that they are counted.
    text=$(timeout 20 head -c $((most + 1)) "$file" 2>/dev/null | LC_ALL=C tr '\000' '\001' && echo .) ||
        usage_error "$what $file: could not be read within 20 s"
    # Counts bytes; ${#text} would count characters. The here-string adds a newline.
    [ "$(wc -c <<<"${text%.}")" -le $((most + 1)) ] || usage_error "$what $file: is larger than 1 MiB"
    text=$(printf %s "${text%.}" | LC_ALL=C sed $'1s/^\xef\xbb\xbf//')
    line=$(LC_ALL=C awk '
        /[\001-\010\013\014\016-\037\177]/ { print NR ": has control characters; save it as text in UTF-8"; exit }
        length > 4096 { print NR ": longer than 4096 characters"; exit }' <<<"$text")
    [ -z "$line" ] || usage_error "$what $file, line $line"
}

# make_directory DIR: creates the directory if it does not exist, and ends the script if the directory is not writable.
make_directory() {
    local error
    error=$(mkdir -p -- "$1" 2>&1) || die "cannot make the directory $1: ${error##*: }"
    error=$(mktemp -d -- "$1/.probe.XXXXXX" 2>&1) || die "cannot write to the directory $1: ${error##*: }"
    rmdir -- "$error"
}

# begins_with FILE TEXT: tests whether FILE is a regular file, not a link, that begins with TEXT. Scripts recognise the
# files that they wrote by the first words.
begins_with() {
    local begin=''
    [ -f "$1" ] && [ ! -L "$1" ] || return
    [ ! -r "$1" ] || IFS= read -r -n ${#2} begin <"$1" || true
    [ "$begin" = "$2" ]
}

# check_replaceable FILE TEXT: ends the script if FILE exists and does not begin with TEXT.
check_replaceable() {
    [ ! -e "$1" ] && [ ! -L "$1" ] || begins_with "$1" "$2" ||
        usage_error "$1 was not written by $script; remove it, or choose another --output"
}

# check_run DIR FILE: ends the script unless it may replace DIR: DIR does not exist, is an empty directory, or is a
# directory with FILE, which each run of the script has.
check_run() {
    local inside
    [ -e "$1" ] || [ -L "$1" ] || return 0
    if [ -d "$1" ] && [ ! -L "$1" ] && inside=$(ls -A -- "$1" 2>/dev/null); then
        [ -n "$inside" ] && [ ! -f "$1/$2" ] || return 0
    fi
    usage_error "$1 is not a directory that $script made; remove it, or choose another --output"
}

# lock_directory DIR: locks the directory, for this process and its children. Fails if another process holds the lock for
# 5 s, because children of a script that has just ended hold it a little longer. If the directory cannot be locked, prints
# why and succeeds without the lock. If flock fails silently, the lock is held. Busybox lacks flock -w, which would wait.
lock_directory() {
    local try why=''
    { exec 9<"$1"; } 2>/dev/null || why="it cannot be read"
    command -v flock >/dev/null || why="there is no flock"
    for ((try = 0; try < 50 && ${#why} == 0; try++)); do
        why=$(flock -n 9 2>&1) && return
        [ -n "$why" ] || sleep 0.1
    done
    [ -n "$why" ] || return
    say "$1 cannot be locked (${why%%$'\n'*}); do not start another $script there before this one ends"
}

# claim_directory DIR FILE TEXT: creates the directory, or accepts one that is empty or whose FILE begins with TEXT.
# Locks the directory against other instances of the script.
claim_directory() {
    make_directory "$1"
    lock_directory "$1" || die "another $script runs in $1"
    [ -z "$(ls -A -- "$1")" ] || begins_with "$1/$2" "$3" ||
        usage_error "--output $1: is not empty and has no $2 that $script wrote; choose another directory"
}

# write_file FILE COMMAND...: writes the output of the command to FILE once the command has ended, so that nobody reads
# a partial file. Replaces a symbolic link instead of following it. Writes nothing if the command fails. A killed script
# leaves a hidden file in the directory of FILE, which the next call removes. COMMAND must return its own status if it
# is a function, because bash ignores `set -e` in a function called this way.
write_file() {
    local part error=''
    part=$(dirname -- "$1")/.ddpbench-$(basename -- "$1").part
    rm -f -- "$part"
    { "${@:2}" >"$part" && error=$(mv -fT -- "$part" "$1" 2>&1); } || {
        [ -z "$error" ] || say "cannot write $1: ${error##*: }"
        rm -f -- "$part"
        return 1
    }
}

# ---- signals ----
# The signals that end a script. Users of Slurm choose USR1 or USR2 for the notice before a time limit (--signal).
ending_signals=(HUP INT USR1 USR2 TERM)

# trap_signals: makes these signals run the EXIT trap and end the script, immediately if it waits in wait_child.
trap_signals() {
    local signal
    # shellcheck disable=SC2064 # expanded when the trap is set
    for signal in "${ending_signals[@]}"; do trap "exit $((128 + $(kill -l "$signal")))" "$signal"; done
}

# wait_child COMMAND...: runs the command in its own process group and waits. If a signal ends the script, end_child
# ends the group.
waited_child=''
wait_child() {
    local status=0
    set -m
    "$@" <&0 &
    waited_child=$! # immediately, because a signal may arrive now
    set +m
    wait "$waited_child" || status=$?
    waited_child=''
    return $status
}

# tee_output FILE COMMAND...: prints the output of COMMAND, and copies it to FILE. Start it with wait_child. If COMMAND
# is `timeout`, it needs --foreground, because signals do not reach a process group that timeout creates.
tee_output() { "${@:2}" </dev/null 2>&1 | tee "$1"; }

# end_child: ends the process group that wait_child started, and ignores further signals. The EXIT trap calls it before
# removing files.
end_child() {
    local try
    trap '' "${ending_signals[@]}"
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
# lab_up NODES OPTION...: creates an emulated network of NODES nodes with netlab.sh, and replaces the network that this
# script created before. If a network is up that this script did not create, netlab.sh fails.
lab_is_ours=''
lab_up() {
    lab_down
    wait_child launch/netlab.sh up --nodes "$@" >&2 # netlab.sh cleans up if it fails
    lab_is_ours=yes
}

# lab_down: removes the emulated network if this script created one; also for the EXIT trap.
lab_down() {
    [ -z "$lab_is_ours" ] || launch/netlab.sh down
    lab_is_ours=''
}

# ---- the program ----
# dry_run_error RANKS DEVICE COMMAND OPTION...: prints the error of $program for these options, or nothing if the options
# are valid. COMMAND is a command of the program, or ''. The options may name a device in place of DEVICE. Measures
# nothing, so this machine may lack the device.
dry_run_error() {
    local output status=0 on=(--device "$2")
    [[ " ${*:4} " != *\ --device[\ =]* ]] || on=()
    # shellcheck disable=SC2154 # the scripts set $program
    output=$("$program" ${3:+"$3"} "${on[@]}" "${@:4}" --dry-run "$1" 2>&1 </dev/null) || status=$?
    [ $status = 0 ] || sed -n 's/^ddpbench: //p' <<<"$output" | sed -n '$p' | grep -a . ||
        echo "$program --dry-run ends with status $status: $output"
}
