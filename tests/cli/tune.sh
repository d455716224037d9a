#!/usr/bin/env bash
# tune.sh - ddpbench tune finds the best bucket size within the time limit, leaves valid files, and refuses invalid
# options. Tests BUILD_DIR/ddpbench tune with small sizes, and tests/support/programs/delayed_tune, which makes one size
# the best.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"
start_quickly

tiny=(--device cpu --d-model 64 --num-layers 2 --num-heads 2 --d-ff 128 --context-length 16 --batch-size 4
    --vocab-size 256)
run=("${mpirun[@]}" -n 2)
delayed=$build/tests/support/programs/delayed_tune

# ---- a known best size, between two sizes of the first round, so that only the final rounds find it ----

limit=400 try "${run[@]}" "$delayed" 10000 0.353 0 "${tiny[@]}" --steps-per-block 1 --max-minutes 5 --output found # takes 8 s on idle cores
check 0 "a search succeeds" 'Searching among [0-9]+ candidates for 5 min 00 s at most'
# Two strategies have buckets; which of them is faster depends on the machine.
use=$(grep '^Options: ' printed)
succeeds "the best size is found, with the options to use" grep -qxE \
    "Options: --implementations ddp_(bucketed --bucket-size-mb 0[.]354 [(]PyTorch's DDP: bucket_cap_mb=0[.]354[)]|sharded --bucket-size-mb 0[.]354)" <<<"$use"
succeeds "other candidates are slower or dropped" grep -qE '^ddp_individual  .* (slower|dropped)( |$)' printed
# delayed_tune delays a step of ddp, which has no buckets, by 5 x 10 ms.
# shellcheck disable=SC2016 # these are awk fields
succeeds "summary.csv has the synchronization cost of ddp" awk -F, \
    '$2 == "ddp" && $3 == "sync_cost" { n++; good = $6 > 0 && $6 < 5 } END { exit n != 1 || !good }' found/summary.csv
is "a search writes the expected files" "$(cd found && echo *)" \
    "metrics.csv rank_0_metrics.jsonl rank_1_metrics.jsonl run.json summary.csv summary.json summary.prom summary.txt"
succeeds "a search writes valid files" valid found/*.json found/*.jsonl
succeeds "summary.txt equals the printed result" cmp printed found/summary.txt
try "$program" report found
succeeds "report repeats the recommended options" grep -qxF "$use" printed
try "$program" report found --output drawn
is "report draws the curve" "$status $(grep -c '<svg' drawn/pictures/bucket-sizes.svg)" "0 1"
# On busy cores the best size may be undecided. The picture then marks no size as the best.
succeeds "report marks the best size in its table" grep -qE ' ddp_[a-z]+:0[.]354 +0[.]354 +[0-9.]+ [*] ' printed
succeeds "report marks the best size in the picture, unless it is undecided" grep -qE '>best<|^Undecided' drawn/pictures/bucket-sizes.svg found/summary.txt

# ---- a known best plan: only its last bucket has another size ----

limit=400 try "${run[@]}" "$delayed" 10000 0.25 3 "${tiny[@]}" --steps-per-block 1 --output plan # took 57 s beside six busy loops on two cores
check 0 "a search finds the best plan" 'Searching among [0-9]+ candidates for 5 min 00 s at most'
plan=$(sed -nE 's/^Options: --implementations (.*) --bucket-size-mb ([0-9.]+\+last[0-9.]+)$/\1:\2/p' printed)
succeeds "buckets of several sizes gain over equal ones" grep -qE \
    "^Buckets of several sizes gain: with ${plan%%:*}:[0-9.]+ a step is [+].*[]] longer than with ${plan/+/[+]}[.]" <(texts plan/summary.json)
# buckets DIRECTORY: prints the collectives of the plan from run.json.
buckets() { sed -n "/\"name\":	\"$plan\"/,/]$/p" "$1/run.json"; }
"${run[@]}" "$program" "${tiny[@]}" --implementations "$plan" --rounds 1 --steps-per-block 1 --output again >printed 2>&1
is "run.json has the plan, with the buckets of a run with these options" "$(buckets plan)" "$(buckets again)"
succeeds "the plan has buckets" grep -q parameters <(buckets plan)
try "$program" report plan
succeeds "report lists the plan" grep -qF " $plan ${plan#*:} " <(tr -s ' ' <printed)

# ---- time limit ----

try "${run[@]}" "$delayed" 10000 0.353 0 "${tiny[@]}" --max-minutes 0.001 --output short
is "a search with a very short time limit succeeds" "$status" 0
is "a search with a very short time limit makes one round" "$(sed -nE 's/^\t"(done|planned)":\t([0-9]+),$/\2/p' short/summary.json | tr '\n' ' ')" "1 1 "
succeeds "a search reports that the time limit was reached" grep -qE '^Time limit reached, after .*, 1 round, before the final rounds; no verdict[.]$' printed

with_python "all that is printed follows from the lines" python3 "$root/tests/consumers/recompute_printed.py" found plan short

# ---- refused options ----

# refuses WORDS RANKS PATTERN OPTION...: checks that tune refuses the options with an error matching PATTERN.
refuses() {
    local words=$1 ranks=$2 pattern=$3
    shift 3
    try "${mpirun[@]}" -n "$ranks" "$program" tune "${tiny[@]}" --output refused "$@"
    check 2 "refused: $words" "^ddpbench: $pattern"
    succeeds "refused: $words: no results" [ ! -e refused ]
}
refuses "tune on one rank" 1 'tune compares costs of communication, which a single rank does not have'
refuses "--rounds" 2 "unknown option '--rounds'" --rounds 3
refuses "--bucket-size-mb" 2 "unknown option '--bucket-size-mb'" --bucket-size-mb 1,2
check_sentences
exit $failed
