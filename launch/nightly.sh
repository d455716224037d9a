#!/usr/bin/env bash
# nightly.sh - measures a night's runs, for cron, scrontab or a schedule of CI, and judges all nights
#
# Usage: launch/nightly.sh [--control PROGRAM] [OPTION...] [-- OPTION OF DDPBENCH...]
#   --control PROGRAM      an older build of ddpbench, the same on all nights, to be measured in turn with the other: shows
#                          what the build changed, whatever the machine does. To watch the machine and its link, leave it out
#   --program PROGRAM      the build to judge (default build/ddpbench)
#   --output DIR           directory of all nights (default results/nightly)
#   --night NAME           name of this night, and of its directory (default: the date)
#   --command "WORDS"      allreduce, isolate or tune with options, or options of the benchmark: "--preset laptop --rounds 6"; may
#                          be repeated (default "allreduce -b 64K -e 16M -f 16": trend finds less among more figures)
#   --pairs N              runs of each program and command (default 8: with fewer, compare finds only large changes)
#   --ranks N              (default 2)
#   --launcher COMMAND     starts {ranks} ranks of the program that follows (default "launch/run.sh -n {ranks} --"); in a
#                          job of Slurm, "srun --mpi=pmi2 -n {ranks}" as launch/slurm.sh starts them
#   --minutes N            the time limit of a night (default 240); a run that has not ended by then is stopped
# Options after -- go to every run. For cron:  30 2 * * * cd REPOSITORY && launch/nightly.sh >>nightly.log 2>&1
# Runs are made into DIR/NIGHT/{control,candidate}-<i>/<command> (a second allreduce: allreduce-2). A run that fails stays as
# .failed, and no result is made from it; the same call continues a night. With a control, prints compare's verdict of this night
# for each command (all of it: DIR/NIGHT/compare-<command>.txt); then trend's of all nights (with pictures: DIR/trend.html).
# Exit status: 0 nothing got slower, or too few nights; 1 runs failed or are missing, or control and candidate cannot be compared;
# 2 wrong options; 3 compare found a slowdown of this night, or trend one of all nights; 4 nights depend on each other.
set -euo pipefail

here=$(dirname "$(realpath "$0")")
program=$(realpath -m "$here/../build/ddpbench") control='' output=results/nightly night=$(date +%F) commands=() pairs=8
ranks=2 minutes=240 launcher=("$here/run.sh" -n "{ranks}" --) extra=()

# describe: prints the settings of the night, for open_series.
describe() {
    printf '%s\t%s\n' --program "$("$program" --version)" --control "${control:+$("$control" --version)}" \
        --launcher "$(quote_words "${launcher[@]}")" --ranks "$ranks" --pairs "$pairs" -- "${extra[*]}"
    local k
    for k in "${!commands[@]}"; do printf -- '--command %s\t%s\n' "${names[k]}" "${commands[k]}"; done
}

# shellcheck disable=SC2034 # used by series.sh
settings=nightly.txt another=--night
# shellcheck source=launch/series.sh
. "$here/series.sh"

# shellcheck disable=SC2317 # called by read_options
add_command() {
    check_line "$@"
    [[ $2 = *[^[:blank:]]* ]] || usage_error "$1 '$2': expected a command of ddpbench, such as allreduce"
    commands+=("$2")
}

# name_commands: sets names, a directory's name for each command: its mode, with a number from the second of a mode on.
name_commands() {
    local command mode n
    names=()
    for command in "${commands[@]}"; do
        mode=${command%% *}
        [[ $mode != -* ]] || mode=benchmark
        n=$(printf '%s\n' "${names[@]}" | grep -cE "^$mode(-[0-9]+)?$" || true)
        [ "$n" = 0 ] || mode+=-$((n + 1))
        names+=("$mode")
    done
}

# check_commands: ends the script if a command line is wrong for the candidate or the control.
check_commands() {
    local command words why build
    need_program "$program"
    [[ -z $control || (-f $control && -x $control) ]] || die "--control $control: there is no such program"
    for build in "$program" ${control:+"$control"}; do
        for command in "${commands[@]}"; do
            read -ra words <<<"$command"
            [[ ${words[0]:-} == @(allreduce|isolate|tune|-*) ]] ||
                usage_error "--command '$command': expected allreduce, isolate or tune with options, or options of the benchmark"
            [[ ${words[0]} != -* ]] || words=('' "${words[@]}")
            check_rest '--(output|dry-run|help|version)' "nightly.sh sets the directories" "${words[@]}" "${extra[@]}"
            check_rest --profile "a night has no profiles" "${words[@]}" "${extra[@]}"
            why=$(program=$build dry_run_error "$ranks" cpu "${words[@]}" "${extra[@]}")
            [ -z "$why" ] || usage_error "--command '$command': $why"
        done
    done
}

# list_runs: sets queue, an array of "side-i k" for the runs of the command k, control and candidate in turn.
list_runs() {
    local i k side turn
    queue=()
    for ((i = 1; i <= pairs; i++)); do
        turn=("${sides[@]}")
        [ $((i % 2)) = 1 ] || turn=(candidate ${control:+control})
        for k in "${!commands[@]}"; do
            for side in "${turn[@]}"; do queue+=("$side-$i $k"); done
        done
    done
}

# plan_run "SIDE-I K": see run_series.
# shellcheck disable=SC2317 # called by run_series
plan_run() {
    local build=$program left=$((minutes * 60 - SECONDS)) words
    read -ra words <<<"${commands[${1#* }]}"
    [[ $1 == candidate-* ]] || build=$control
    directory=$night/${1% *}/${names[${1#* }]} weight=1 command=()
    [ $left -le 0 ] || command=(timeout --kill-after 30 "$left" "${launcher[@]//\{ranks\}/$ranks}" "$build" "${words[@]}"
        "${extra[@]}" --output '{output}')
}

# judge NAME: prints compare's verdict of this night's complete pairs of a command. Fails if something got slower.
judge() {
    local i status=0 controls=() candidates=()
    for ((i = 1; i <= pairs; i++)); do
        [[ -e $output/$night/control-$i/$1/log.txt && -e $output/$night/candidate-$i/$1/log.txt ]] || continue
        controls+=("$output/$night/control-$i/$1") candidates+=("$output/$night/candidate-$i/$1")
    done
    printf '\n%s, %s: ' "$night" "$1"
    [ ${#controls[@]} -gt 0 ] || { echo "no pair of runs is complete." && return; }
    "$program" compare "${controls[@]}" --candidate "${candidates[@]}" >"$output/$night/compare-$1.txt" || status=$?
    [[ $status != [12] ]] || die "compare ends with status $status; see its message above"
    [ $status != 6 ] || differs+=("$output/$night/compare-$1.txt")
    sed -n '/^Verdict/,$p' "$output/$night/compare-$1.txt"
    [ $status != 3 ]
}

# shellcheck disable=SC2317 # called by read_options
check_name() {
    [[ $2 =~ ^[A-Za-z0-9][A-Za-z0-9._+-]*$ && $2 != *.@(failed|part) && $2 != control?(-*) ]] ||
        usage_error "$1 '$2': expected letters, digits, and . _ + -, as in 2026-11-01; a night is not named control"
}

option_rows=("--control control check_path" "--program program check_path" "--output output check_path" "--night night check_name"
    "--command command add_command" "--pairs pairs check_integer 1 999" "--ranks ranks check_integer 1 9999"
    "--launcher launcher_text set_launcher" "--minutes minutes check_integer 1 10080")
takes_dashes=1
read_options "$@"
extra=("${after_dashes[@]}")
sides=(${control:+control} candidate)
[ ${#commands[@]} -gt 0 ] || commands=("allreduce -b 64K -e 16M -f 16")
check_launcher "${launcher[@]}"
check_commands
name_commands
make_directory "$output"
lock_directory "$output" || die "another nightly.sh measures in $output; nothing was measured"
exec 8<&9 # keeps this lock: open_series uses 9 for the lock of the night
open_series "$output/$night"
list_runs
run_series "${queue[@]}"
missing=$((skipped + failed))

slower='' status=0 differs=()
for name in ${control:+"${names[@]}"}; do judge "$name" || slower=yes; done
echo
"$program" trend "$output" --html "$output/trend.html" || status=$?
[[ $status != [12] ]] || exit 1
[ ${#differs[@]} = 0 ] || die "control and candidate have different settings, listed in ${differs[*]}, so this night was not judged"
[ $missing = 0 ] || die "of ${#queue[@]} runs of $night, $missing failed or are missing; the same call makes them"
[ -z "$slower" ] || exit 3
exit $status
