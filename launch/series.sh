# series.sh - functions shared by sweep.sh, paper.sh and checks in tests/long: a series of benchmark runs. A run's directory
# gets its final name once the run is complete, so the same command continues a call that was cut short. A script sets
# `here` (the directory of this file) and `settings` (name of the settings file), defines describe() to print the settings, and sources this file.
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables that the scripts use and set

terminal='' clear_line=''
[ ! -t 2 ] || terminal=1

# shellcheck source=launch/common.sh
. "$here/common.sh"

# check_buckets LIST: checks the bucket sizes and prints each in its shortest spelling.
check_buckets() {
    check_list --bucket-size-mb "$1" '[0-9]+(\.[0-9]+)?' "sizes in MiB such as 25 or 0.5, separated by commas"
    set -- "$(awk -F, '{ for (i = 1; i <= NF; i++) printf "%s%.10g", (i > 1 ? "," : ""), $i }' <<<"$1")"
    check_list --bucket-size-mb "$1" '([1-9]|0\.).*' "sizes above 0"
    echo "$1"
}

# set_launcher OPTION COMMAND: sets launcher to the words of the command.
set_launcher() {
    check_line "$@"
    split_command "$2"
    launcher=("${command_words[@]}")
}

# check_launcher WORD...: requires a command that contains {ranks}, the placeholder for the number of ranks.
check_launcher() {
    [[ $* == *"{ranks}"* ]] || usage_error "--launcher '$*': write {ranks} where the number of ranks goes"
    command -v -- "${1:-}" >/dev/null || usage_error "--launcher: there is no program '${1:-}'"
    need_tools util-linux flock setpriv
    need_tools mawk awk
    need_tools findutils find
}

# check_rest PATTERN REASON WORD...: refuses options after -- that match the pattern, because the series sets them. The
# program accepts _ for - in option names.
check_rest() {
    local option pattern=$1 reason=$2
    shift 2
    check_lengths "$@"
    for option in "$@"; do
        option=${option%%=*}
        option=${option//_/-}
        [[ ! $option =~ ^($pattern)$ ]] || usage_error "$option after --: $reason"
    done
}

# open_series DIRECTORY [OPTION]: claims the directory and writes the output of describe() to $settings: lines
# "name<TAB>value"; the first line is for the program. Refuses a directory whose settings differ; only the value of
# OPTION may increase.
open_series() {
    local text='' differs name before now more
    claim_directory "$1" "$settings" $'--program\t'
    rm -f -- "$1/.ddpbench-$settings.part" # left by a killed write_file
    if [ -e "$1/$settings" ]; then
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
            IFS=$'\037' read -r name before now more <<<"$differs" # splits at \037, not at blanks: values may be empty
            usage_error "$name: earlier starts in $1 had \"$before\", this one has \"$now\";" \
                "use the same$more, or another ${another:---output}"
        fi
    fi
    write_file "$1/$settings" describe
}

# format_duration SECONDS: prints H:MM:SS.
format_duration() { printf '%d:%02d:%02d' $(($1 / 3600)) $(($1 % 3600 / 60)) $(($1 % 60)); }

# show_progress RUN TOTAL LEFT WHAT: rewrites one line on a terminal, otherwise prints a line every 30 s. LEFT: the
# seconds left, or empty.
show_progress() {
    local text
    text="run $1 of $2${3:+, about $(format_duration "$3") left}: $4"
    if [ -n "$terminal" ]; then
        clear_line=$'\r\e[K'
        printf '\r%.*s\e[K' "$(($(tput cols 2>/dev/null || echo 80) - 1))" "$text" >&2
    elif [ "$SECONDS" -ge "$next_words" ]; then
        say "$text"
        next_words=$((SECONDS + 30))
    fi
}

# has_run DIRECTORY: tests whether an earlier call made the run. Ends the script if something else has the run's name.
has_run() {
    local at
    for at in "$1" "$1.part" "$1.failed"; do check_run "$at" log.txt; done
    [ -e "$1/log.txt" ]
}

# begin_runs: starts the series; run_series, or the script, then calls run_one for each run, and end_runs. Until end_runs,
# a signal ends the current run and removes its files.
begin_runs() {
    runs=0 failed=0 begin=$SECONDS next_words=$SECONDS part=''
    trap abort_run EXIT
    trap_signals
}

# run_one DIRECTORY ROUNDS COMMAND...: runs COMMAND, in which {output} stands for the results directory; the run has failed
# unless its results have ROUNDS rounds (all: those that it planned; statuses 3 and 4 are then verdicts, as of isolate). Counts runs
# and failed runs; results of a failed run remain as DIRECTORY.failed.
run_one() {
    local status=0 verdict directory=$1 rounds=$2 why
    shift 2
    rm -rf "$directory.part" "$directory.failed"
    part=$directory.part
    mkdir -p "$part"
    # setpriv ends the run even if this script is killed by a signal that it cannot trap.
    wait_child setpriv --pdeathsig TERM "${@//'{output}'/"$part"}" >"$part/log.txt" 2>&1 </dev/null || status=$?
    runs=$((runs + 1)) verdict=$status
    [[ $rounds != all || $status != [34] ]] || verdict=0
    [ "$rounds" != all ] || rounds=$(sed -nE 's/^[[:space:]]*"planned":[[:space:]]*([0-9]+),?$/\1/p' "$part"/{,*/}summary.json 2>/dev/null || true)
    # Checks the results, because launchers may return status 0 for an interrupted run; a profile writes its results one
    # directory deeper.
    if [ $verdict = 0 ] && grep -qsE "^[[:space:]]\"done\":[[:space:]]*$rounds,?$" "$part"/{,*/}summary.json; then
        mv -T "$part" "$directory"
        part=''
        return
    fi
    mv -T "$part" "$directory.failed"
    part='' failed=$((failed + 1))
    why=$(grep -aE '^[a-z_]+(\.sh)?: ' "$directory.failed/log.txt" | tail -n 1 || true)
    why=${why:-$(tail -n 1 "$directory.failed/log.txt")}
    [ $status != 124 ] || why="stopped, since the time limit was reached"
    say "$directory failed with status $status: $why (all of it: $directory.failed/log.txt)"
}

# run_series RUN...: makes the missing runs of $rounds rounds (unset: all; see run_one) in this order. The script's plan_run RUN
# sets directory (of the results, below $output), command (empty: no time is left for the run) and weight (about how long the
# run takes, in any unit). Sets skipped to the number of runs without a command.
run_series() {
    local name left='' made=0 missing=0 i=0 directory weight command
    skipped=0
    for name in "$@"; do
        plan_run "$name"
        has_run "$output/$directory" || missing=$((missing + weight))
    done
    begin_runs
    for name in "$@"; do
        i=$((i + 1))
        plan_run "$name"
        ! has_run "$output/$directory" || continue
        [ ${#command[@]} -gt 0 ] || { skipped=$((skipped + 1)) && continue; }
        [ $made = 0 ] || left=$(((SECONDS - begin) * (missing - made) / made))
        show_progress $i $# "$left" "$directory"
        run_one "$output/$directory" "${rounds:-all}" "${command[@]}"
        made=$((made + weight))
    done
    end_runs $(($# - skipped))
}

abort_run() {
    end_child
    [ -z "$part" ] || rm -rf "$part"
    printf '%s' "$clear_line" >&2
}

# end_runs TOTAL: ends the series and prints how many runs existed, completed and failed.
end_runs() {
    trap - EXIT "${ending_signals[@]}"
    printf '%s' "$clear_line" >&2
    clear_line=''
    say "$1 run$([ "$1" = 1 ] || echo s): $(($1 - runs)) existed, $((runs - failed)) made, $failed failed," \
        "in $(format_duration $((SECONDS - begin)))"
}
