#!/usr/bin/env bash
# resolve.sh - on an idle machine: `--resolve 1%` never calls a strategy slower than itself under another name, and finds a
# delay of 2 % of a step in nine of ten runs. Prints a line for each run, and at the end "ok - " or "not ok - " for each kind
# of run; exits with status 1 if one is not ok. Runs take a minute or less on an idle machine, and up to M minutes if
# other processes use the cores, which the lines then note. `make tests` builds the program that this script runs.
#   --only KIND  same: the runs without a delay; delayed: the runs with a delay (default: both)
#   --runs N     runs of each kind (default 20)
#   --ranks N    ranks of a run (default 2)
#   --minutes M  --max-minutes of a run (default 5)
#   --percent P  the delay in percent of a step (default 2)
set -euo pipefail

only='' runs=20 ranks=2 minutes=5 percent=2
options=("--only only check_choice same delayed" "--runs runs check_integer 1 9999" "--ranks ranks check_integer 1 9999"
    "--minutes minutes check_any" "--percent percent check_any")
# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"
program=$build/tests/support/programs/delayed_benchmark
[ -x "$program" ] || usage_error "there is no $program; run make tests first"

# measure NAME MICROSECONDS OPTION...: runs ddp under the name a, and ddp delayed by MICROSECONDS under the name b.
measure() {
    local name=$1 delay=$2
    shift 2
    "${mpirun[@]}" -n "$ranks" "$program" "$delay" --device cpu --threads 1 --d-model 128 --num-layers 2 --num-heads 4 \
        --d-ff 512 --vocab-size 256 --context-length 64 --batch-size-per-rank 4 --implementations a=ddp,b=ddp \
        --steps-per-block 5 --output "$name" "$@" >said 2>&1 </dev/null || die "$(cat said)"
}

# step NAME: prints the step time of the implementation `a` of the run, in microseconds.
step() { awk -F, '$2 == "a" && $3 == "step" { printf "%.1f", 1e6 * $6; n++ } END { exit n != 1 }' "$1/summary.csv"; }

# slower NAME LABEL: tests whether the summary of the run NAME lists LABEL after "Slower:".
slower() { grep -q "^Slower: \(.*, \)\{0,1\}$2 " <(texts "$1/summary.json"); }

# series NAME DELAY: makes $runs runs, printing a line for each; sets `found` to the number of runs that call b slower, and
# `wrong` to the number of runs that call a slower.
series() {
    local run name
    found=0 wrong=0
    for ((run = 1; run <= runs; run++)); do
        name=$1-$run
        measure "$name" "$2" --seed "$run" --resolve 1% --max-minutes "$minutes"
        ! slower "$name" b || found=$((found + 1))
        ! slower "$name" a || wrong=$((wrong + 1))
        echo "$name: $(texts "$name/summary.json" |
            sed -nE '/^(Slower:|Tie|Undecided|Resolved|Not resolved)/p; s/^Busy machine: (other processes.*), so.*/\1./p' | tr '\n' ' ')"
    done
}

measure warm-up 0 --rounds 30
step=$(step warm-up)
delay=$(awk -v step="$step" -v percent="$percent" 'BEGIN { printf "%.2f", step * percent / 100 }')
echo "A step takes $step us; $percent % of it are $delay us."
if [ "$only" != delayed ]; then
    series same 0
    [ $((found + wrong)) = 0 ] && good=0 || good=1
    result "$good" "a strategy is called slower than itself under another name in $((found + wrong)) of $runs runs (aim: 0)"
fi
if [ "$only" != same ]; then
    series delayed "$delay"
    [ $((found * 10)) -ge $((runs * 9)) ] && [ "$wrong" = 0 ] && good=0 || good=1
    result "$good" "a delay of $percent % is found in $found of $runs runs within $minutes minutes (aim: 9 of 10)"
fi
exit "$failed"
