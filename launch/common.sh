# common.sh - functions that all scripts share: messages, exit statuses, checks of options and files, signals. `script` is the name
# of the script that reads it.
# shellcheck shell=bash

# Without it bash goes on after an interrupt that has not reached the command which it waits for.
trap 'exit 130' INT

# Characters are those of the user's locale; numbers, sorting, dates and messages are those of C, since scripts read what tools print.
[ -z "${LC_ALL:-}" ] || export LC_CTYPE=$LC_ALL
unset LC_ALL
export LC_NUMERIC=C LC_COLLATE=C LC_MESSAGES=C LC_TIME=C

script=$(realpath "$0")
script=${script##*/}

# say WORDS: one line on stderr, whatever the words hold: what would not print is written as bash quotes it (\n, \E, \377),
# and of long words the middle is left out. It begins with clear_line, where a script sets that.
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

# die WORDS: for what is missing, or does not work.
die() {
    say "$@"
    exit 1
}

# refuse WORDS: for a command line, or a configuration, that makes no sense.
usage_error() {
    say "$@"
    exit 2
}

# check_lengths WORD...: of a command line, up to --; no path is longer, and what looks for patterns in words of any length
# takes its time.
check_lengths() {
    local word before=''
    for word in "$@"; do
        [ "$word" != -- ] || break
        [ ${#word} -le 4096 ] || usage_error "${before:+${before:0:40} }'${word:0:40}...': ${#word} characters, longer than 4096"
        before=$word
    done
}
check_lengths "$@"

# ---- options ----
# need_value OPTION [VALUE]...: of what is left of a command line, which begins with an option.
need_value() { [ -n "${2:-}" ] || usage_error "$1 needs a value"; }

# check_integer OPTION VALUE LEAST MOST
check_integer() {
    [[ $2 =~ ^(0|[1-9][0-9]{0,8})$ && $2 -ge $3 && $2 -le $4 ]] || usage_error "$1 $2: expected a whole number from $3 to $4"
}

# rate_bits RATE: of a link, in bits a second.
rate_bits() {
    [[ $1 =~ ^[0-9]{1,12}(\.[0-9]{1,12})?(mbit|gbit)$ ]] || usage_error "'$1' is no rate; write it like 100mbit or 2.5gbit"
    local bits
    need_tools mawk awk
    bits=$(awk -v r="$1" 'BEGIN { printf "%.0f", r * (r ~ /g/ ? 1e9 : 1e6) }')
    if [ "${#bits}" -gt 12 ] || [ "$bits" -lt 1000000 ] || [ "$bits" -gt 100000000000 ]; then
        usage_error "the rate $1 is not between 1mbit and 100gbit"
    fi
    echo "$bits"
}

# check_line OPTION VALUE: what is split at blanks, or written into a file, has to be one line.
check_line() { [[ $2 != *[[:cntrl:]]* ]] || usage_error "$1 '$2': expected one line, without control characters"; }

# ---- what is there ----
# count_cpus: prints how many this process may use; nproc alone would print what OpenMP is told.
count_cpus() { env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc; }

# need_tools PACKAGES TOOL...
need_tools() {
    local tool
    for tool in "${@:2}"; do
        command -v "$tool" >/dev/null || die "'$tool' is missing, which comes with $1: apt-get install ${1%% *}"
    done
}

# need_program FILE: the benchmark.
need_program() {
    [[ -f $1 && -x $1 ]] || die "there is no $1; run make first, or give --program"
}

# split_command TEXT: sets command_words to the command that it is: one program, if there is one of that name, whatever is in the name;
# or words as a shell reads them ('a b', "a b", a\ b). Sets none if a quote is not closed.
# shellcheck disable=SC2034 # callers use them
split_command() {
    local words
    command_words=()
    if [[ $1 == *$'\n'* ]]; then
        return
    elif command -v -- "$1" >/dev/null; then
        command_words=("$1")
    else
        # the point keeps empty words at the end; xargs runs what comes before a quote that is not closed, and fails
        words=$(xargs -r printf '%s\n' <<<"$1" 2>/dev/null && echo .) || words=''
        mapfile -t command_words < <(printf %s "${words%.}")
    fi
}

# quote_words WORD...: prints them as split_command, and a shell, read them.
quote_words() {
    local word quote="'\\''" line=''
    for word in "$@"; do
        [[ -n $word && $word != *[!A-Za-z0-9_./:=,@%+{}-]* ]] || word="'${word//"'"/"$quote"}'"
        line+=" $word"
    done
    printf '%s\n' "${line# }"
}

# read_text WHAT FILE: sets text to what is in it; WHAT says where the file was named. No more than 1 MiB, and no pipe
# that a person made by name: nobody may write to it.
read_text() {
    local most=1048576 file=$2 what=$1 line
    if [ -d "$file" ]; then
        usage_error "$what $file: is a directory, expected a file"
    elif [ ! -e "$file" ]; then
        usage_error "$what $file: there is no such file"
    elif [ ! -f "$file" ] && [[ $file != /dev/stdin && $file != /dev/fd/* ]]; then
        usage_error "$what $file: is a pipe or a device, expected a file"
    elif [ ! -r "$file" ]; then
        usage_error "$what $file: may not be read"
    fi
    # the point keeps the newlines at the end, which count, too
    text=$(timeout 20 head -c $((most + 1)) "$file" 2>/dev/null | LC_ALL=C tr '\000' '\001' && echo .) ||
        usage_error "$what $file: cannot be read, or not within 20 s"
    # bytes, where ${#text} would count characters; the here-string ends with a newline more
    [ "$(wc -c <<<"${text%.}")" -le $((most + 1)) ] || usage_error "$what $file: is larger than 1 MiB"
    text=$(printf %s "${text%.}")
    [ -z "$(LC_ALL=C tr -d '\t\n\r\040-\176\200-\377' <<<"$text")" ] ||
        usage_error "$what $file: is no text, since it has control characters"
    line=$(LC_ALL=C awk 'length > 4096 { print NR; exit }' <<<"$text")
    [ -z "$line" ] || usage_error "$what $file, line $line: longer than 4096 characters"
}

# make_directory DIR: one that can be written to.
make_directory() {
    local words
    words=$(mkdir -p -- "$1" 2>&1) || die "cannot make the directory $1: ${words##*: }"
    words=$(mktemp -d -- "$1/.probe.XXXXXX" 2>&1) || die "cannot write to the directory $1: ${words##*: }"
    rmdir -- "$words"
}

# begins_with FILE WORDS: whether it is a file, no link, that begins with these words, as the one that we write there does.
begins_with() {
    local begin=''
    [ -f "$1" ] && [ ! -L "$1" ] || return
    [ ! -r "$1" ] || IFS= read -r -n ${#2} begin <"$1" || true
    [ "$begin" = "$2" ]
}

# claim_directory DIR FILE WORDS: makes one, or takes one that is empty, or in which FILE is ours (see begins_with).
claim_directory() {
    make_directory "$1"
    [ -z "$(ls -A -- "$1")" ] || begins_with "$1/$2" "$3" ||
        die "$1 holds files that $script did not write; choose another --output"
}

# check_replaceable FILE WORDS: refuses one that is there, and is not ours.
check_replaceable() {
    [ ! -e "$1" ] && [ ! -L "$1" ] || begins_with "$1" "$2" || die "$1 is not what $script writes there; choose another --output"
}

# write_file FILE COMMAND...: what the command prints becomes FILE when it has ended, so that nobody reads half of it, and a link of
# that name is replaced, not followed. Nothing is left of a command that failed; what a stop leaves, a hidden file beside it,
# goes with the next call. bash heeds no `set -e` in a function that is called so: it has to return its own status.
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
# trap_signals: from here on HUP, INT and TERM end the script at once if it waits by wait_child, and its EXIT trap is run.
trap_signals() {
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
}

# wait_child COMMAND...: runs it, in a process group of its own; a signal meanwhile ends that first, then the script (see
# end_child).
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

# tee_output FILE COMMAND...: what it prints goes there, too. For wait_child; `timeout` in it has to be in the --foreground, since in a
# process group of its own no signal would reach it.
tee_output() { "${@:2}" </dev/null 2>&1 | tee "$1"; }

# end_child: for the EXIT trap, before it removes anything: ends what wait_child started, and from here on no signal disturbs.
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

# dry_run_error RANKS DEVICE COMMAND OPTION...: prints why $program refuses these options, if it does. COMMAND: one of its
# commands, or ''. It is asked before anything runs, also where ranks will have a device that this machine has not.
dry_run_error() {
    local words status=0
    # shellcheck disable=SC2154 # which the scripts set
    words=$("$program" ${3:+"$3"} --device "$2" "${@:4}" --dry-run "$1" 2>&1 </dev/null) || status=$?
    [ $status = 0 ] || sed -n 's/^ddpbench: //p' <<<"$words" | sed -n '$p' | grep -a . ||
        echo "$program --dry-run ends with status $status: $words"
}
