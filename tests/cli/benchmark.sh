#!/usr/bin/env bash
# benchmark.sh - the benchmark on the command line: it runs on 1 to 3 ranks, learns real text, reports bad input in one
# line and ends on every rank, and leaves valid files when it is killed or the disk is full.

# wait_until and succeeds call functions by name:
# shellcheck disable=SC2317
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

tiny=(--device cpu --d-model 32 --num-layers 1 --num-heads 2 --d-ff 48 --context-length 16 --batch-size 6 --vocab-size 256 --rounds 6
    --steps-per-block 2)
runs=0

# launch RANKS OPTION...: runs the program at small sizes, with stderr in `said` and stdout in `printed`; sets `status`.
# Each rank adds its own status to `statuses` and waits for the others, because Open MPI kills all ranks when one fails.
launch() {
    local ranks=$1
    shift
    runs=$((runs + 1)) out=$temporary/out$runs
    : >statuses
    latest "${tiny[@]}" --output "$out" "$@"
    # shellcheck disable=SC2016
    try "${mpirun[@]}" -n "$ranks" \
        sh -c '"$@"; status=$?; echo $status >>statuses
            timeout 20 sh -c "until [ \$(wc -l <statuses) -ge $0 ]; do sleep 0.05; done"; exit $status' "$ranks" \
        "$program" "${latest[@]}"
}

# ---- successful runs ----

for ranks in 1 2 3; do
    launch "$ranks"
    result "$status" "$ranks ranks: exit status 0"
    listed=$(cd "$out" && echo *)
    expected='metrics.csv '$(for ((r = 0; r < ranks; r++)); do printf 'rank_%d_metrics.jsonl ' "$r"; done)'run.json summary.csv summary.json summary.prom summary.txt'
    is "$ranks ranks: the result files are $expected" "$listed" "$expected"
    succeeds "$ranks ranks: all .json and .jsonl files are valid" valid "$out"/*.json "$out"/*.jsonl
    succeeds "$ranks ranks: summary.txt equals the printed table" cmp -s printed "$out/summary.txt"
    [ "$ranks" = 1 ] && expected='Nothing to choose: one rank' || expected='(Use|Shortest so far is) ddp[a-z_0-9]*(, [0-9.]+ [KM]iB)?: .* (longer|shorter) than without communication'
    succeeds "$ranks ranks: the summary recommends a strategy, or notes that one rank leaves no choice" grep -qE "^$expected" <(texts "$out/summary.json")
    expected=$(texts "$out/summary.json" | sed -nE 's/^(Tie|Undecided|Slower)[^:]*: .*/\L\1/p' | sort -u | tr '\n' ' ')
    is "$ranks ranks: the table is followed by the differences to the best, with the words of the verdict" \
        "$(sed -nE '/^Difference to /,/^$/s/^ddp.*[]>]  +([a-z]+)$/\1/p' printed | sort -u | tr '\n' ' ')" "$expected"
    # 144 steps: 6 rounds x 6 implementations x (2 + 2) steps
    is "$ranks ranks: the .jsonl files have one line per step" "$(cat "$out"/*.jsonl | wc -l)" $((144 * ranks))
done

start_quickly
if python3 -c 'import pandas, scipy' 2>/dev/null; then
    python3 "$root/tests/consumers/recompute_table.py" "$root/results/lines.md" "$out" >said 2>&1 && ! grep -q '^not ok' said && good=0 || good=1
    result "$good" "the lines of Python in results/lines.md compute the table"
else
    echo "skip - the table is computed from the lines: no python3 with pandas and SciPy (make test-consumers installs both)"
fi

# recomputed WORDS DIRECTORY...: checks that each number, mark and verdict that these runs printed follows from their lines.
recomputed() { with_python "$1: all that is printed follows from the lines" python3 "$root/tests/consumers/recompute_printed.py" "${@:2}"; }
recomputed "1 to 3 ranks" out1 out2 out3
# errors LOW HIGH: prints how many gradient errors in the last run's figures lie in [LOW, HIGH].
errors() { awk -F, -v low="$1" -v high="$2" '/,gradient_error,/ && $6 >= low && $6 <= high' "$out/summary.csv" | wc -l; }
launch 3 --rounds 1 --implementations all
listed=$("$program" --help | sed -nE '/^Implementations/,/^$/s/^  ([a-z0-9_]+) .*/\1/p' | grep -vc '^none$') # other names have a colon
is "gradients of all strategies in fp32 are sums over the ranks; the control reduces none" "$(errors 1e-12 1e-6) $(errors 0 9)" "$listed $listed"
launch 3 --rounds 1 --implementations none,ddp,ddp_flat,ddp_bucketed,ddp_sharded,ddp_individual_v2 --bucket-size-mb 0.01 --wire-dtype bf16
is "gradients sent in bf16 are rounded" "$(errors 1e-12 1e-6) $(errors 1e-4 1e-1)" "1 4"
is "gradient errors are printed, N/A for the control" "$(grep -cE '^(ddp|ddp_flat|ddp_bucketed|ddp_sharded|ddp_individual_v2) .* [0-9.]+e-[0-9]+$' printed) $(grep -c '^none .* N/A$' printed)" "5 1"
launch 2 --implementations none,ddp,ddp_flat,ddp_powersgd:1,ddp_local:2 --bucket-size-mb 0.01 --attainable
is "low-rank gradients err; local training has no gradient error ($status)" "$(errors 1e-12 1e-6) $(errors 1e-2 1.5) $(errors 0 9)" "2 1 3"
is "the error of low-rank gradients in a block's last step is measured, too" \
    "$(awk -F, '/,gradient_error_last,/ && $6 > 1e-2 { print $2 }' "$out/summary.csv")" ddp_powersgd:1
is "rows with other arithmetic have a loss, and are marked in run.json" \
    "$status $(grep -cE '^ddp_(powersgd:1|local:2) .* [0-9.]+ +[0-9.]+ +[0-9.]+$' printed) $(grep -c '"approximates":.true' "$out/run.json")" "0 2 2"
is "rows with other arithmetic are not in the verdict" \
    "$(texts "$out/summary.json" | grep -E '^(Use|Shortest|Tie|Slower|Undecided|Options).*ddp_(powersgd|local)')" ""
recomputed "other arithmetic" "$out"
out=own
latest "${tiny[@]}" --output own --implementations none,ddp,own=ddp_bucketed --bucket-size-mb block --attainable --dtype fp32
try "${mpirun[@]}" -n 2 "$build/tests/support/programs/own_benchmark" "${latest[@]}"
is "a strategy of the tests is measured, with its attainable step ($status)" "$(errors 1e-12 1e-6) $(grep -cE '^own( .* [0-9.]+){10}$' printed)" "2 1"
is "run.json has that strategy's collectives, of half a bucket each: output, transformer block, embedding" "$(tr -d '\n\t ' <own/run.json | grep -oE '"strategy":"own_strategy".*' | grep -oE '"kind":"[a-z_]*","bytes":[0-9]*' | paste -sd ' ')" \
    '"kind":"all_reduce","bytes":16448 "kind":"all_reduce","bytes":17536 "kind":"all_reduce","bytes":16384'
launch 2 --rounds 1 --implementations none,ddp_powersgd:32 # no matrix has more rows or columns than 32
is "gradients of full rank have no error in the first and the last step of a block" \
    "$(errors 1e-12 1e-4) $(awk -F, '/,gradient_error_last,/ && $6 > 1e-12 && $6 < 1e-4' "$out/summary.csv" | wc -l)" "1 1"
launch 2 --rounds 1 --implementations ddp_sharded --shard gradients --bucket-size-mb 0.001
is "the gradient error is measured even if no rank ever has all moments or gradients" "$(errors 1e-12 1e-6)" 1
launch 2 --rounds 1 --implementations ddp_sharded --shard gradients --checkpoint-every 2
is "ranks without a whole gradient save checkpoints" "$status $([ -s "$out/checkpoint.bin" ] && echo saved)" "0 saved"
launch 2 --rounds 1 --implementations ddp_sharded --shard optimizer,gradients --grad-accumulation 3
is "with both kinds of --shard and three micro-batches, gradients are sums over the ranks" "$(errors 1e-12 1e-6)" 2

status=0
"${mpirun[@]}" -n 2 "$program" "${tiny[@]}" --label nightly >printed 2>said </dev/null || status=$?
compgen -G 'results/[0-9]*-nightly/summary.json' >/dev/null && good=$status || good=1
result "$good" "without --output, results go to results/<time>-<label>"

# ---- the heading ----

# said_in_order PATTERN...: tests whether `said` has lines matching these extended regular expressions, in this order.
said_in_order() {
    local at=0 line
    for pattern in "$@"; do
        line=$(tail -n +$((at + 1)) said | grep -nE -m 1 -- "$pattern" | cut -d: -f1) || { echo "no '$pattern' there"; return 1; }
        at=$((at + line))
    done
}

# first OPTION...: runs one rank with stdout and stderr in one file, `said`, which keeps their order.
first() {
    status=0 out=$temporary/out$((++runs))
    latest --device cpu --rounds 1 --steps-per-block 1 --output "$out" "$@"
    timeout "$limit" "$program" "${latest[@]}" >said 2>&1 </dev/null || status=$?
}

first
succeeds "without options (status $status) the heading comes before the first step" said_in_order '^ddpbench ' \
    '^From the preset laptop: num-layers 4, d-model 256, num-heads 4, context-length 128, d-ff 1024,$' '^Model: 4 layers, d_model 256, .* vocabulary 256,' \
    '^Batch: 1 sequence a step = 1 rank x ' '^Buckets: 4[.]127 MiB [(]auto: ' \
    '^Memory: [0-9]+ MiB on each rank [(]estimated[)]: weights 33.0 MiB, gradients 16.5 MiB, optimizer 33.0 MiB,$' '^The first step took .*; the other [0-9]+ will take about ([0-9.]+ m?s|[0-9]+ min [0-9]+ s)[.]$'
grep -q '"preset":.*"laptop"' "$out/run.json" && grep -q '"bucket-size-mb":.*"auto"' "$out/run.json" &&
    grep -q '"bucket_bytes":.*4327680' "$out/run.json" && grep -q '"d-model":.*256' "$out/run.json" && good=$status || good=1
result "$good" "run.json contains the sizes from the preset"
status=0
"${mpirun[@]}" -n 2 "$program" --device cpu --rounds 1 --steps-per-block 1 --resolve 50% --max-minutes 0.01 --d-model 64 \
    --implementations ddp,ddp_flat --output "$temporary/limited" >said 2>&1 </dev/null || status=$?
succeeds "an option overrides one size of the preset; the heading gives --max-minutes" said_in_order '^From the preset laptop: ' \
    '^Model: 4 layers, d_model 64,' '^The first step took .*, for 0.6 s at most[.]'
is "the heading has no line on buckets for strategies without buckets" "$(grep -c '^Buckets: ' said)" 0
# renaming PLACE K COMMAND...: runs the command so that the K-th rename to PLACE, such as out1/run.json, fails.
renaming() {
    LD_PRELOAD="faults.so:${LD_PRELOAD:-}" FAULT_CALL=rename FAULT_HOW=EIO FAULT_UNDER=$1 FAULT_AT=$2 \
        ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0 "${@:3}"
}
renaming half/run.json 1 first --output "$temporary/half" # run.json is written after memory is allocated
said_in_order '^From the preset laptop' '^ddpbench: .*run.json' >/dev/null && [ "$status" = 1 ] && good=0 || good=1
result "$good" "the heading is printed before run.json is written"
launch 2 --help
is "--help is printed once, with exit status 0" "$status $(grep -c '^Usage:' printed) $(wc -c <said)" "0 1 0"
launch 2 --version
[ "$status" = 0 ] && [[ $(cat printed) =~ ^"ddpbench $(head -n 1 "$root/bench/VERSION")"(\ \([^[:space:]]+\))?$ ]] && good=0 || good=1
result "$good" "--version is one line, with exit status 0"
is "run.json has the version" "$(sed -nE 's/^\t"version":\t"(.*)",$/ddpbench \1/p' out1/run.json)" "$(cat printed)"
# dry_run OPTIONS WORK: checks that a dry run for 3 ranks prints a line that begins with WORK, on stdout only, and makes no files.
dry_run() {
    # shellcheck disable=SC2086 # $1 is a list of words
    try "$program" --device cpu $1 --dry-run 3
    is "a dry run of '$1' prints the work, and makes no files" "$status $(cat said) $(grep -o "^$2" printed)$(find results -newer said)" "0  $2"
}
dry_run '--rounds 4 --implementations none,ddp --steps-per-block 5' 'Work: 4 rounds x 2 implementations x 7 steps = 56 steps'
dry_run '--resolve 1% --max-minutes 2' 'Work: rounds of at most 6 implementations x 9 steps until the comparison is decided'
dry_run '--profile --num-epochs 5' 'Work: 5 captured steps, then 10 rounds x 3 implementations x 5 steps = 150 steps'
try "$program" --device cpu --implementations ddp,ddp_bucketed,s=ddp_sharded:1000+last1 --bucket-size-mb 1000,2000+last999 --dry-run 3
succeeds "a dry run prints the number of buckets" \
    grep -q '^Number of buckets: ddp_bucketed:1000 1, ddp_bucketed:2000+last999 1, s 2$' printed
try "$program" tune --device cpu --dry-run 3
succeeds "a dry run of tune prints its limit" grep -q '^Work: rounds of at most [0-9]* implementations .* for at most 5$' printed
try "$program" allreduce -b 8 -e 32 --dry-run 3
succeeds "a dry run of allreduce prints the number of timings" grep -q '^Work: 6 timings of messages from 8 B to 32 B$' printed
first && cp said ran
try "$program" --device cpu --rounds 1 --steps-per-block 1 --dry-run 1
# heading: reads a heading; prints it without the size of the program, which depends on the libraries loaded so far, and the sum.
heading() { sed -n '/^From the preset/,$p' | sed -E '/^(Products|Warning|The first step|Memory of all)/,$d; /^(Data|Regime)/d; s/^(Memory:) .* on each/\1 on each/; s/, program .*//'; }
is "a dry run prints preset, model, batch, buckets and memory as the run does" "$(heading <printed)" "$(heading <ran)"
try "$program" --batch-size 4 --dry-run 3
check 2 "--dry-run 3 refuses a batch that 3 ranks cannot divide" 'a batch of 4 cannot be divided evenly among 3 ranks'
for word in dtype=bf16 comm=nccl; do
    try "$program" --device cpu --$word --dry-run 4
    check 1 "a dry run for the CPU refuses --${word/=/ }" "--${word/=/ } needs GPUs, and this run is for the CPU"
    try "$program" --device cuda --$word --dry-run 4
    result "$status" "a dry run for GPUs takes --${word/=/ }"
done
try "$program" allreduce --collective broadcast --root 3 --dry-run 3
check 2 "allreduce --dry-run 3 refuses --root 3" '--root 3: there are ranks 0 to 2'

launch 3 --rounds 3 --implementations none,ddp,b=ddp_bucketed --bucket-size-mb 0.01,0.02
# schedule DIRECTORY: prints the schedule of a run as its files show it: ranks, rounds, implementations, steps, order of two rounds.
schedule() {
    echo "Dry run for $(find "$1" -name 'rank_*_metrics.jsonl' | wc -l) ranks"
    sed -nE 's/^.*"implementation": "([^"]*)", "round": ([0-9]+),.*/\1 \2/p' "$1/rank_0_metrics.jsonl" | awk '
        $0 != last { order[$2] = order[$2] (order[$2] == "" ? " " : ", ") $1; blocks++ }
        { last = $0; rounds = $2 + 1; steps++ }
        END {
            printf "Work: %d rounds x %d implementations x %d steps = %d steps\n", rounds, blocks / rounds, steps / blocks, steps
            for (round = 0; round < 2; round++) print "Order of round " round + 1 ":" order[round]
        }'
    grep -E '^(Model|Batch|Buckets): ' "$1/summary.txt"
}
schedule "$out" | sort >of_run
try "${mpirun[@]}" -n 3 "$program" "${latest[@]}" --dry-run
is "--dry-run under mpirun takes the ranks from MPI, and prints the schedule that the run has" \
    "$status $(grep -E '^(Dry run|Work|Order of round [12]|Model|Batch|Buckets)[ :]' printed | sort)" "0 $(cat of_run)"
try "$program" --device cpu --dry-run --label x
succeeds "--dry-run without mpirun gives the number of ranks, and how to give another" \
    grep -q '^Dry run for 1 rank; for another number, start it under mpirun, or give the number: --dry-run 8$' printed

# ---- a configuration file ----

printf '# two rows\nseed 7\n  --implementations = none,ddp   # as a pair\nlabel of-file\n' >lab.conf
launch 2 --rounds 1 --label of-line --config lab.conf
is "--config: run.json has the file's options; those of the command line win" \
    "$status $(tr -d '\n\t' <"$out/run.json" | grep -oE '"argv_of_config":[^]]*]|"(implementations|label|config)":"?[^,"[]*,?[a-z]+"?' | sort -u | paste -sd ' ')" \
    '0 "argv_of_config":["--seed=7", "--implementations=none,ddp", "--label=of-file"] "config":"lab.conf" "implementations":"none,ddp" "label":"of-line"'
printf 'rounds 1\nbucket-size 3\n' >lab.conf
launch 2 --config lab.conf
is "an error in the file is printed once, with its place" "$status $(cat said)" "2 ddpbench: lab.conf:2: unknown option '--bucket-size'; did you mean --bucket-size-mb, --batch-size? see --help all"

launch 2 --implementations 'a=ddp,b=ddp_bucketed' --bucket-size-mb 0.01 --label $'bytes' --data "$program"$'\xff'
succeeds "a data path that is not UTF-8 is refused with an error" [ "$status" != 0 ]
printf '%2000s' '' >"$temporary/bytes"$'\xff'
launch 1 --implementations ddp --data "$temporary/bytes"$'\xff'
iconv -f UTF-8 -t UTF-8 "$out/run.json" >/dev/null 2>>said && valid "$out/run.json" && good=$status || good=1
result "$good" "run.json is valid UTF-8 if a path is not"

# ---- bad input ----

# refuse WORDS RANKS PATTERN OPTION...: checks that a run prints one error line matching PATTERN (an extended regular
# expression), ends with a status other than 0 on every rank, and writes no files.
refuse() {
    local words=$1 ranks=$2 pattern=$3 why='' lines
    shift 3
    launch "$ranks" "$@"
    lines=$(grep -c '^ddpbench: ' said || true)
    [ "$lines" = 1 ] || why+=", $lines lines and not one"
    grep -qE "^ddpbench: .*($pattern)" said || why+=", no '$pattern'"
    [ "$status" != 0 ] || why+=", status 0"
    ended_by_itself || why+=", did not end"
    [ "$(grep -cxE '[1-9][0-9]*' statuses)" = "$ranks" ] || why+=", statuses of ranks: $(tr '\n' ' ' <statuses)"
    [ ! -s printed ] || why+=", printed something"
    [ ! -e "$out/run.json" ] || why+=", left results"
    [ -z "$why" ] && good=0 || good=1
    result "$good" "refused: $words${why:+: ${why#, }}"
}

# Cases that every rank must refuse; bad_calls.sh tests all options with many values, and their messages.
refuse "an unknown option" 2 "unknown option '--bogus'; see --help all" --bogus 1
refuse "an unknown option on 3 ranks" 3 "unknown option '--bogus'; see --help all" --bogus 1
refuse "a batch that does not divide" 2 'batch of 7 .*2 ranks.* multiple of 2' --batch-size 7
head -c 20000 /dev/zero | tr '\0' '\310' >"$temporary/text" # bytes with value 200
refuse "a token outside the vocabulary" 2 '--data .*text: token 200 at position [0-9]+ is not below the vocabulary of 200' \
    --data "$temporary/text" --vocab-size 200
if [ "$(id -u)" = 0 ]; then
    echo "skip - files without permissions: root can access them"
else
    : >"$temporary/locked" && chmod 000 "$temporary/locked"
    refuse "a data file without read permission" 2 '--data .*locked: cannot open it: Permission denied' --data "$temporary/locked"
    mkdir "$temporary/closed" && chmod 500 "$temporary/closed"
    refuse "an output directory without write permission" 2 '--output .*closed.*Permission denied' --output "$temporary/closed/run"
    refuse "an output directory that cannot be written" 2 '--output .*closed: cannot write files to this directory: Permission denied' --output "$temporary/closed"
fi
mkdir -p "$temporary/blocked/rank_1_metrics.jsonl"
refuse "an output directory where a directory has the name of a file of rank 1" 2 "blocked already holds rank_1_metrics[.]jsonl" --output "$temporary/blocked"

# The launcher of another MPI starts ranks that do not know each other.
for variable in SLURM_STEP_NUM_TASKS PMI_SIZE OMPI_COMM_WORLD_SIZE; do
    status=0
    env -u PMI_SIZE -u PMI_RANK -u PMI_FD "$variable=2" timeout 10 "$program" "${tiny[@]}" --output out >printed 2>said || status=$?
    grep -qE "^ddpbench: the launcher started 2 ranks \($variable=2\).*built with (MPICH|Open MPI)" said && [ "$status" = 1 ] &&
        [ "$(grep -c "^ddpbench: " said)" = 1 ] && good=0 || good=1
    result "$good" "refused: ranks started by another MPI's launcher, detected by $variable"
done

# alone WORDS STATUS PATTERN VARIABLE=VALUE... COMMAND...: checks status and stderr of a command in the environment of a Slurm job.
alone() {
    local words=$1 expected=$2 pattern=$3
    shift 3
    try env -u PMI_SIZE -u PMI_RANK -u PMI_FD "$@"
    check "$expected" "$words" "$pattern"
}
latest "${tiny[@]}" --implementations ddp --rounds 1
tiny_alone=("$program" "${latest[@]}" --output)
alone "refused: no launcher in a Slurm job of two tasks" 1 '^ddpbench: this Slurm job has 2 tasks \(SLURM_NTASKS\).*srun --mpi=pmi2' \
    SLURM_NTASKS=2 "${tiny_alone[@]}" alone
alone "refused: no launcher in a Slurm job of two nodes" 1 '2 nodes \(SLURM_JOB_NUM_NODES\)' SLURM_NTASKS=1 SLURM_JOB_NUM_NODES=2 "${tiny_alone[@]}" alone
alone "refused: no launcher in the shell that salloc starts on a node" 1 '2 tasks' SLURM_NTASKS=2 SLURM_STEP_ID=4294967290 "${tiny_alone[@]}" alone
is "a run refused without a launcher leaves no results" "$(ls -d alone 2>/dev/null)" ""
try env SLURM_NTASKS=2 "$program" --help
is "--help works in a Slurm job without a launcher" "$status $(head -c 6 printed)" "0 Usage:"
alone "a Slurm step of one task runs" 0 '^Results: ' SLURM_NTASKS=2 SLURM_STEP_ID=0 "${tiny_alone[@]}" step
alone "a Slurm job of one task runs" 0 '^Results: ' SLURM_NTASKS=1 SLURM_JOB_NUM_NODES=1 "${tiny_alone[@]}" one
alone "mpirun -n 1 in a Slurm job runs" 0 '^Results: ' SLURM_NTASKS=2 HYDRA_LAUNCHER=fork HYDRA_RMK=user "${mpirun[@]}" -n 1 "${tiny_alone[@]}" mpirun

# ---- checkpoints ----

launch 2 --implementations none --rounds 1 --checkpoint-every 2
[ -s "$out/checkpoint.bin" ] && [ -z "$(find "$out" -name '*.tmp')" ] && texts "$out/summary.json" | grep -qE '^Checkpoints: rank 0 wrote .* 3 times at .*/checkpoint.bin[.]$' &&
    [ "$(grep -c '"checkpoint_ms": ' "$out/rank_1_metrics.jsonl")" = 2 ] && good=$status || good=1
result "$good" "--checkpoint-every 2: rank 0 writes 3 checkpoints, two of them in the block of 4 steps (status $status)"
succeeds "--checkpoint-every 2: the table contains the time of checkpoints" grep -qEx '( *ms){5,7}  *ratio  *per s  *ms  *interval  *point ms' printed
launch 2 --implementations none --rounds 1
is "without --checkpoint-every no file mentions checkpoints" "$status $(grep -l checkpoint printed "$out"/summary.* "$out"/*.jsonl)" "0 "
renaming taken/checkpoint.bin 1 launch 2 --checkpoint-every 2 --output "$temporary/taken"
[ "$status" = 1 ] && [ "$(grep -c '^ddpbench: ' said)" = 1 ] && [ ! -s "$temporary/taken/rank_0_metrics.jsonl" ] &&
    grep -qE '^ddpbench: --checkpoint-every: cannot write the .* MB of .*/checkpoint.bin: Input/output error$' said && good=0 || good=1
result "$good" "a checkpoint that cannot be written ends the run before the first measurement"

# ---- workers that prepare data ----

# loading WORKERS: makes a run where preparing a batch is slow, but faster than a step; sets `us` to data_loading's microseconds.
head -c 100000 /dev/zero | tr '\0' 'x' >"$temporary/xs"
loading() {
    launch 1 --implementations none --data "$temporary/xs" --vocab-size 128 --context-length 4 --batch-size 16384 \
        --d-model 2 --num-heads 1 --d-ff 2 --data-workers "$1" --rounds 3
    us=$(sed -n 's/^,none,data_loading,,s,\([^,]*\),.*/\1/p' "$out/summary.csv" | awk '{ printf "%.0f", 1e6 * $1 }')
}
for _ in 1 2 3; do # other programs may keep the worker from its core for a whole run
    loading 0
    alone=$us
    loading 1
    [ "$us" -gt 0 ] && { [ "$alone" -gt $((2 * us)) ] || [ "$cpus" = 1 ]; } && good=0 || good=1 # on one core a worker does not help
    [ "$good" = 1 ] || break
done
result "$good" "data_loading takes $alone us with --data-workers 0, and $us us with 1"
launch 1 --implementations ddp --blas cblas --rounds 1 --data-workers 0
losses_of() { sed 's/.*\("loss": [^,]*\),.*/\1/' "$1/rank_0_metrics.jsonl"; }
mine=$(losses_of "$out")
launch 1 --implementations ddp --blas cblas --rounds 1 --data-workers 3
[ -n "$mine" ] && [ "$(losses_of "$out")" = "$mine" ] && good=$status || good=1
result "$good" "the losses do not depend on --data-workers"

# ---- --forward-only ----

first_losses() { sed -n 's/.*"round": 0,.*"step": 0,.*\("loss": [^,]*\),.*/\1/p' "$1/rank_0_metrics.jsonl"; }
launch 2 --implementations none --blas cblas --rounds 1
whole=$(first_losses "$out")
launch 2 --implementations none --blas cblas --rounds 1 --forward-only --checkpoint-every 2
[ -n "$whole" ] && [ "$(first_losses "$out")" = "$whole" ] && good=$status || good=1
result "$good" "--forward-only: the first step has the loss of one that trains (status $status)"
[ "$(grep -c '"forward_pass_ms": 0.000000' "$out/rank_0_metrics.jsonl")" = 0 ] && [ -s "$out/checkpoint.bin" ] &&
    [ "$(grep -c '"backward_pass_ms": 0.000000.*"optimizer_step_ms": 0.000000' "$out/rank_0_metrics.jsonl")" = \
        "$(wc -l <"$out/rank_0_metrics.jsonl")" ] && good=0 || good=1
result "$good" "--forward-only --checkpoint-every: checkpoints are saved without a backward pass and an update"
first --resolve 1%
is "--resolve on one rank is ignored, with a note" "$status $(grep -c '^ddpbench: --resolve is ignored, since one rank has nothing to compare' said)" '0 1'
# A step takes 30 ms or more, so that at most 4 steps of each block fit into --max-minutes.
status=0 lines=$temporary/shorter/rank_0_metrics.jsonl
"${mpirun[@]}" -n 2 "$program" --device cpu --d-model 32 --num-layers 1 --num-heads 2 --context-length 16 --vocab-size 256 \
    --implementations none,a=ddp,b=ddp --resolve 0.01% --max-minutes 0.06 --num-epochs 10 \
    --inject-delay rank=0,ms=30,phase=forward_pass --output "$temporary/shorter" >said 2>&1 </dev/null || status=$?
timed=$(sed -nE 's/.* so blocks have ([12]) timed steps? instead of 7[.].*/\1/p' said)
[ -n "$timed" ] && grep -q "a sample is the mean of $timed timed step" said && grep -q "\"timed_steps_per_block\":.*$timed" "$temporary/shorter/summary.json" &&
    [ "$(grep -c '"timed": true' "$lines")" = $((timed * $(grep -c '"step": 1,' "$lines"))) ] && good=$status || good=1
result "$good" "blocks are shorter if --max-minutes is short (status $status, ${timed:-?} timed steps)"
launch 2 --forward-only
check 2 "--forward-only with strategies that reduce" '--forward-only has no gradients to reduce: use --implementations none'

# ---- --resolve and --max-minutes ----

# resolved RANKS ENDED OPTION...: makes a run with --resolve, and checks that the summary is complete and gives ENDED as
# the reason why the rounds ended.
resolved() {
    local ranks=$1 ended=$2
    shift 2
    launch "$ranks" --implementations none,a=ddp,b=ddp --attainable --rounds 2 "$@"
    rounds=$(sed -n 's/^\t"done":\t\([0-9]*\),$/\1/p' "$out/summary.json")
    grep -q "^	\"planned\":	$rounds,\$" "$out/summary.json" &&
        grep -q "^	\"ended\":	\"$ended\"" "$out/summary.json" && valid "$out"/*.json "$out"/*.jsonl >>said &&
        [ "$(cat "$out"/*.jsonl | wc -l)" = $((15 * ranks * rounds)) ] && good=$status || good=1 # 3 blocks of 4 steps, and 3 lines of --attainable
}

resolved 2 resolved --resolve 50% --max-minutes 1
grep -qx "Resolved to 50 %: $rounds rounds[.]" printed || good=1
result "$good" "--resolve 50%: $rounds rounds on 2 ranks show that one strategy under two names differs by less than 50 %"
recomputed "--resolve 50%" "$out"
# Makes fewer than 8 rounds, too few to find a difference; in more rounds, one strategy under two names may seem different.
resolved 3 max_minutes --resolve 0.01% --max-minutes 0.03 --inject-delay rank=0,ms=40,phase=backward_pass
[ "$rounds" -lt 8 ] || good=1
grep -qE "^Not resolved to 0.01 % within --max-minutes: $rounds rounds?[.]$" printed || good=1
result "$good" "--max-minutes: $rounds rounds on 3 ranks in 1.8 s do not resolve 0.01 %, and the table reports that"

# ---- runs that end early ----

# begin RANKS OPTION...: starts a run that would take hours, waits until it has written steps, sets `running` to the launcher's process id.
begin() {
    local ranks=$1
    shift
    runs=$((runs + 1)) out=$temporary/out$runs
    latest "${tiny[@]}" --output "$out" --rounds 1000000 "$@"
    "${mpirun[@]}" -n "$ranks" "$program" "${latest[@]}" >printed 2>said </dev/null &
    running=$!
    wait_until has_begun || say "the run does not begin"
}
has_begun() { [ "$(cat "$out"/rank_*.jsonl | wc -l)" -ge 200 ]; }

# finish: waits until the run that begin started ends; sets `status`, to 124 if the run had to be killed.
finish() {
    local stopped=0
    status=0
    wait_until is_over || { stopped=1; kill -9 "$running" || true; }
    wait "$running" 2>/dev/null || status=$?
    [ "$stopped" = 0 ] || status=124
}
is_over() { ! kill -0 "$running"; }

begin 2
# The summary is written after the first round, and replaced 2 s later by a new file of the same name.
wait_until [ -s "$out/summary.json" ] || true
written=$(stat -c %i "$out/summary.json" || true)
is_written_again() { [ "$(stat -c %i "$out/summary.json")" != "$written" ]; }
wait_until is_written_again || say "the summary is not written a second time"
# shellcheck disable=SC2046
kill -9 "$running" $(left_over) 2>/dev/null || true
finish
good=0
valid "$out"/*.json "$out"/*.jsonl >>said || good=1
[ -s "$out/rank_0_metrics.jsonl" ] && [ -s "$out/rank_1_metrics.jsonl" ] && [ -s "$out/run.json" ] || good=1
result "$good" "killed with kill -9: the remaining files are valid"
is "killed with kill -9: a summary of the completed rounds exists" "$(cd "$out" && find summary.json summary.txt -size +0 | sort | paste -sd ' ')" "summary.json summary.txt"
count_of() { sed -nE "s/^\t\"$1\":\t([0-9]+),\$/\1/p" "$out/summary.json"; }
words="Interrupted, or still running: $(count_of "done") of 1000000 rounds."
is "killed with kill -9: summary.json notes the interruption once" "$(count_of planned) $(grep -cF "\"$words\"" "$out/summary.json")" "1000000 1"
# summary.txt may be from an earlier round, because the files are replaced one after another.
is "killed with kill -9: summary.txt notes the interruption" "$(grep -cxE "${words/ [0-9]* of/ [0-9]+ of}" "$out/summary.txt")" 1
is "killed with kill -9: no process is left" "$(gone out)" ""

begin 2
# shellcheck disable=SC2046
kill -9 "$(left_over | tail -1)" 2>/dev/null || true # kills one rank only
finish
[ "$status" != 0 ] && [ "$status" != 124 ] && valid "$out"/*.json "$out"/*.jsonl >>said && good=0 || good=1
result "$good" "when one rank is killed, the run ends"
is "when one rank is killed, no process is left" "$(gone out)" ""

head -c 2000000 /dev/zero | tr '\0' 'x' >"$temporary/shrinking"
begin 2 --data "$temporary/shrinking"
truncate -s 1000 "$temporary/shrinking"
finish
lines=$(grep -c '^ddpbench: ' said || true)
[ "$status" != 0 ] && [ "$status" != 124 ] && [ "$lines" -ge 1 ] && [ "$lines" -le 2 ] &&
    [ "$(grep -cE '^ddpbench: rank [01]: .*--data .*shrinking: the file ends before token [0-9]+, but had 2000000 tokens' said)" = "$lines" ] &&
    good=0 || good=1
result "$good" "a data file that is truncated during a run ends the run with an error (status $status)"
valid "$out"/*.json "$out"/*.jsonl >>said && [ -z "$(gone out)" ] && good=0 || good=1
result "$good" "a run that ends because its data file was truncated leaves valid files and no process"

# Mounts a file system of 60 kB that only this run sees.
# shellcheck disable=SC2016
full_disk='mount -t tmpfs -o size=60k none disk && shift && { "$@"; status=$?; cp -r disk/run .; exit "$status"; }'
mkdir disk
unshare=(unshare --mount)
[ "$(id -u)" = 0 ] || unshare+=(--map-root-user)
if "${unshare[@]}" mount -t tmpfs none disk 2>/dev/null; then
    status=0
    latest "${tiny[@]}" --rounds 1000 --output "$temporary/disk/run"
    timeout --kill-after=5 "$limit" "${unshare[@]}" bash -c "$full_disk" bash x "${mpirun[@]}" -n 2 "$program" "${latest[@]}" >printed 2>said </dev/null || status=$?
    # Expects an error line for the block that did not fit, and perhaps one for the summary, which does not fit either.
    lines=$(grep -c '^ddpbench: ' said || true)
    [ "$status" = 1 ] && [ "$lines" -ge 1 ] && [ "$lines" -le 2 ] &&
        [ "$(grep -cE '^ddpbench: (rank 1: )?cannot write .*: No space left on device; ' said)" = "$lines" ] && good=0 || good=1
    result "$good" "a full disk ends the run with an error"
    valid run/*.json run/*.jsonl >>said && [ -s run/run.json ] && [ -s run/rank_1_metrics.jsonl ] && good=0 || good=1
    result "$good" "a full disk leaves valid files"
    is "a full disk leaves no partial block" "$(($(wc -l <run/rank_0_metrics.jsonl) % 4))" 0
else
    echo "skip - a full disk: file systems cannot be mounted here"
fi

renaming /checkpoint.bin 100 begin 2 --checkpoint-every 2
finish
[ "$status" = 1 ] && [ "$(grep -c '^ddpbench: ' said)" = 1 ] && grep -q '^ddpbench: --checkpoint-every: cannot write ' said &&
    valid "$out"/*.json "$out"/*.jsonl >>said && grep -q '^Checkpoints: ' "$out/summary.txt" &&
    [ "$(($(wc -l <"$out/rank_1_metrics.jsonl") % 4))" = 0 ] && [ -s "$out/checkpoint.bin" ] && good=0 || good=1
result "$good" "a checkpoint that fails during a run ends the run with an error; earlier measurements are kept (status $status)"

# Limits the file size while a run writes, with an effect like that of a full disk.
runs=$((runs + 1)) out=$temporary/out$runs
latest "${tiny[@]}" --rounds 1000000 --output "$out"
"$program" "${latest[@]}" >printed 2>said </dev/null &
running=$!
wait_until [ -s "$out/rank_0_metrics.jsonl" ] || true
prlimit --pid "$running" --fsize=$(($(stat -c %s "$out/rank_0_metrics.jsonl") + 100000)) || true
finish
check 1 "a limit on the file size ends the run with an error" '^ddpbench: cannot write .*rank_0_metrics.jsonl: File too large; '
succeeds "a limit on the file size leaves valid files" valid "$out"/*.json "$out"/*.jsonl

# ---- learning and memory ----

rm -f text
if "$root/launch/corpus.sh" "$temporary/text" 2>said; then
    launch 2 --data "$temporary/text" --implementations ddp_bucketed --batch-size 16 --context-length 64 --d-model 64 \
        --d-ff 128 --warmup-epochs 0 --lr 0.005 --rounds 1 --steps-per-block 50
    loss=$(sed 's/.*"loss": \([^,]*\),.*/\1/' "$out"/rank_?_metrics.jsonl | awk '
        { n = (NR - 1) % 52; if (n == 0) first += $1 / 2; if (n >= 42) last += $1 / 20 }
        END { printf "%.3f to %.3f", first, last; exit !(first > 5.2 && last < 4) }') && good=$status || good=1
    result "$good" "real text is learnt in 50 steps on 2 ranks: loss from $loss"
else
    echo "skip - real text is learnt: the text could not be made: $(tail -1 said)"
fi

# peak: prints the peak memory of rank 0 in the last run, in MiB.
peak() { sed -n 's/^Peak memory of rank 0, measured: \([0-9.]*\) MiB[.]$/\1/p' printed; }
if grep -qa __asan_init "$program"; then
    echo "skip - memory does not grow: a sanitizer keeps freed memory"
else
    # Uses one rank: several ranks that wait for each other under load would take minutes.
    launch 1 --rounds 6
    short=$(peak)
    launch 1 --rounds 200
    long=$(peak)
    succeeds "memory does not grow: $short MiB after 6 rounds, $long MiB after 200" \
        awk -v a="$short" -v b="$long" 'BEGIN { exit !(a > 1 && b > 1 && b - a < 2) }'
fi
check_sentences
exit "$failed"
