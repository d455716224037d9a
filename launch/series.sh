# series.sh - what launch/sweep.sh and launch/paper.sh share: runs of the benchmark one after the other, each in a directory
# that has its name only once the run is complete, so that the same command goes on where an earlier one ended. They set
# `here` (the directory of the scripts), `series` (what they make) and `settings` (the file that says which), define
# describe(), and then read this file.
# shellcheck shell=bash
# Used and set by the scripts:
# shellcheck disable=SC2034,SC2154

terminal='' clear_line=''
[ ! -t 2 ] || terminal=1

# shellcheck source=launch/common.sh
. "$here/common.sh"

# check_list OPTION LIST PATTERN WORDS: a list with commas whose parts match, none of them twice.
check_list() {
    local part rest="$2," seen=,
    while [ -n "$rest" ]; do
        part=${rest%%,*} rest=${rest#*,}
        [ -n "$part" ] || usage_error "$1 '$2': a comma has nothing before or behind it"
        [[ $part =~ ^($3)$ ]] || usage_error "$1: '$part' is none of $4"
        [[ $seen != *,"$part",* ]] || usage_error "$1: '$part' is listed twice"
        seen+=$part,
    done
}

# check_buckets LIST: prints the sizes, each in its shortest spelling; refuses what is none.
check_buckets() {
    check_list --bucket-size-mb "$1" '[0-9]+(\.[0-9]+)?' "sizes in MiB such as 25 or 0.5"
    set -- "$(awk -F, '{ for (i = 1; i <= NF; i++) printf "%s%.10g", (i > 1 ? "," : ""), $i }' <<<"$1")"
    check_list --bucket-size-mb "$1" '([1-9]|0\.).*' "sizes above 0"
    echo "$1"
}

# check_launcher WORD...: a command that says where the number of ranks goes.
check_launcher() {
    [[ $* == *"{ranks}"* ]] || usage_error "--launcher '$*': write {ranks} where the number of ranks goes"
    command -v -- "${1:-}" >/dev/null || usage_error "--launcher: there is no program '${1:-}'"
    need_tools util-linux flock setpriv
    need_tools mawk awk
    need_tools findutils find
}

# open_series DIRECTORY [OPTION]: takes the directory, alone: the lock is on it, and what this script starts holds it too until it
# has ended. $settings in it is what describe() prints, a line "name<TAB>value" each; only starts that agree on all may share
# a directory, but that a later one may ask for more of OPTION.
open_series() {
    local text='' differs name before now more
    make_directory "$1"
    exec 9<"$1"
    flock -w 5 9 || die "another $series runs in $1"
    rm -f -- "$1/.ddpbench-$settings.part" # what a stop left of `into` below
    if [ -e "$1/$settings" ] || [ -L "$1/$settings" ]; then
        read_text --output "$1/$settings"
        differs=$(awk -F '\t' -v grows="${2:-}" '
            NR == FNR { then[$1] = $2; next }
            { now[$1] = $2 }
            END {
                for (name in then) now[name] = now[name]
                for (name in now) {
                    if (then[name] == now[name] || (name == grows && then[name] + 0 < now[name] + 0)) continue
                    print name "\037" then[name] "\037" now[name] "\037" (name == grows ? " or more" : "")
                    exit
                }
            }' <(echo "$text") <(describe))
        if [ -n "$differs" ]; then
            IFS=$'\037' read -r name before now more <<<"$differs" # no blank: values may be empty
            usage_error "$name: earlier starts in $1 had \"$before\", this one has \"$now\";" \
                "use the same$more, or another --output"
        fi
    elif [ -n "$(ls -A "$1")" ]; then
        usage_error "--output $1 holds something else than a $series; choose another directory"
    fi
    write_file "$1/$settings" describe
}

# words SECONDS: a time as people say it.
words() {
    if [ "$1" -lt 60 ]; then
        echo "$1 s"
    elif [ "$1" -lt 3600 ]; then
        echo "$((($1 + 30) / 60)) min"
    else
        printf '%d h %02d min' $(($1 / 3600)) $(($1 % 3600 / 60))
    fi
}

# progress RUN TOTAL LEFT WHAT: a line that is rewritten on a terminal, otherwise a line now and then. LEFT: seconds, or empty.
progress() {
    local text
    text="run $1 of $2${3:+, about $(words "$3") left}: $4"
    if [ -n "$terminal" ]; then
        clear_line=$'\r\e[K'
        printf '\r%.*s\e[K' "$(($(tput cols 2>/dev/null || echo 80) - 1))" "$text" >&2
    elif [ "$SECONDS" -ge "$next_words" ]; then
        say "$text"
        next_words=$((SECONDS + 30))
    fi
}

# begin_runs, then run_one for each, then end_runs: in between a signal ends the run under way, and leaves nothing of it.
begin_runs() {
    runs=0 failed=0 begin=$SECONDS next_words=$SECONDS child='' part=''
    trap finish_run EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
}

# run_one DIRECTORY ROUNDS COMMAND...: {output} in COMMAND is where the results have to go. Counts runs, and those that failed, which
# remain as DIRECTORY.failed.
run_one() {
    local status=0 directory=$1 rounds=$2 why
    shift 2
    rm -rf "$directory.part" "$directory.failed"
    part=$directory.part
    mkdir -p "$part"
    # ends also when this script is killed in a way that it cannot catch
    setpriv --pdeathsig TERM "${@//'{output}'/"$part"}" >"$part/log.txt" 2>&1 </dev/null &
    child=$!
    wait $child || status=$?
    child='' runs=$((runs + 1))
    # launchers may end with status 0 when a run was interrupted; a profile's results lie one directory further down
    if [ $status = 0 ] && grep -qsE "^[[:space:]]\"done\":[[:space:]]*$rounds,?$" "$part"/{,*/}summary.json; then
        mv "$part" "$directory"
        part=''
        return
    fi
    mv "$part" "$directory.failed"
    part='' failed=$((failed + 1))
    why=$(grep -aE '^[a-z_]+(\.sh)?: ' "$directory.failed/log.txt" | tail -n 1 || true)
    why=${why:-$(tail -n 1 "$directory.failed/log.txt")}
    say "$directory failed with status $status: $why (all of it: $directory.failed/log.txt)"
}

finish_run() {
    local try
    if [ -n "$child" ]; then
        kill -TERM "$child" 2>/dev/null || true
        for ((try = 0; try < 50; try++)); do
            kill -0 "$child" 2>/dev/null || break
            sleep 0.1
        done
        kill -KILL "$child" 2>/dev/null || true
        wait "$child" 2>/dev/null || true
    fi
    [ -z "$part" ] || rm -rf "$part"
    printf '%s' "$clear_line" >&2
}

# end_runs TOTAL
end_runs() {
    trap - EXIT HUP INT TERM
    printf '%s' "$clear_line" >&2
    clear_line=''
    say "$1 run$([ "$1" = 1 ] || echo s): $(($1 - runs)) were there, $((runs - failed)) made, $failed failed," \
        "in $(words $((SECONDS - begin)))"
}
