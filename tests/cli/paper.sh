#!/usr/bin/env bash
# paper.sh - launch/paper.sh with the real program at small sizes. Runs have the settings that their names give. The
# report has the figures of the runs and of the paper (launch/paper.tsv). An interrupted series continues, changed
# options are refused, and failed runs are reported.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"
start_quickly

paper=$root/launch/paper.sh
sizes=(--d-model 32 --num-layers 1 --num-heads 2 --d-ff 48 --context-length 16 --vocab-size 256 --threads 1)
own=(--program "$program" --quick --batch-size-per-rank 2)
grid=("${own[@]}" --ranks '2,1' --every '1,3' --bucket-size-mb '0.010,0.02')

# ---- all experiments ----

try "$paper" "${grid[@]}" --output out --dry-run -- "${sizes[@]}"
is "--dry-run prints a command for each run, and makes no file" "$status $(grep -cE "/launch/run[.]sh'? -n" printed) $(find . -name out)" "0 6 "
cp printed commands
mkdir locales
if localedef -i de_DE -f UTF-8 locales/de_DE.UTF-8 2>said; then
    try env LOCPATH="$temporary/locales" LC_ALL=de_DE.UTF-8 "$paper" "${grid[@]}" --output out --dry-run -- "${sizes[@]}"
    succeeds "--dry-run prints the same commands in a German locale, where 0.01 is 0,01" diff commands printed
else
    echo "skip - --dry-run in a German locale: localedef cannot make de_DE here"
fi

export DDPBENCH_LINK='a "bus", slow'
try "$paper" "${grid[@]}" --output out -- "${sizes[@]}"
unset DDPBENCH_LINK
check 0 "all experiments end with status 0" '^paper.sh: 6 runs: 0 existed, 6 made, 0 failed'
cp printed table
is "each run has a directory with all results" "$(find out -name summary.json | sort | tr '\n' ' ')" \
    "out/buckets/summary.json out/every=1/summary.json out/every=3/summary.json out/latency/ddp_bucketed/summary.json \
out/ranks=1/summary.json out/ranks=2/summary.json "
is "no other file is in the output directory" "$(cd out && echo *)" \
    "buckets every=1 every=3 latency paper.csv paper.txt ranks=1 ranks=2 runs.txt"
succeeds "paper.txt equals the printed report" cmp -s printed out/paper.txt

# of RUN NAME: prints the value of NAME in run.json of the run.
of() { sed -nE 's/^\t\t"'"$2"'":[[:space:]]*"?([^"]*)"?,$/\1/p' "out/$1/run.json"; }
of_all=$(for run in latency/ddp_bucketed buckets ranks=1 ranks=2 every=1 every=3; do
    echo "$(of $run world_size) $(of $run grad-accumulation) $(of $run batch-size-per-rank) $(of $run rounds)"
done)
is "each run has the ranks, micro-batches, batch size and rounds of its name" "$of_all" "2 1 2 6
2 1 2 6
1 1 2 6
2 1 2 6
2 1 2 6
2 3 6 6"
is "the run named buckets has the requested bucket sizes" "$(of buckets bucket-size-mb)" 0.01,0.02
is "the commands of --dry-run are those that are run" "$(sed -nE "s,^.*(--batch-size-per-rank 6 .*) --output out/every=3$,\1,p" commands)" \
    "$(sed -nE 's/^\t"argv":\t\["[^"]*", "(.*)", "--output".*/\1/p' out/every=3/run.json | sed 's/", "/ /g')"

# ---- the figures ----

for run in latency/ddp_bucketed buckets ranks=1 ranks=2 every=1 every=3; do
    sed -n "2,\$s,^[^,]*,$PWD/out/$run,p" "out/$run/summary.csv"
done | sort >figures
succeeds "paper.csv contains every figure of every run" diff figures <(sed 1d out/paper.csv | cut -d , -f 1,4- | sort)
"$program" report latency="$PWD/out/latency/ddp_bucketed" buckets="$PWD/out/buckets" ranks-1="$PWD/out/ranks=1" ranks-2="$PWD/out/ranks=2" \
    every-1="$PWD/out/every=1" every-3="$PWD/out/every=3" >alone
is "the printed report contains the output of ddpbench report" "$(sed -n '4,$p' table | head -n "$(wc -l <alone)" | diff - alone && echo same)" same
is "the printed report has the scaling and every bucket size" "$(grep -cE '^ranks-2 +ddp_bucketed +2 ' table) $(grep -cE '^buckets +2 ddp_bucketed:0[.]0[12] ' table)" "1 2"
is "the printed report has a sentence on overlap" "$(sed -n '/^1[.] Latency/,/paper:/p' table | grep -ci '^   [a-z ]*overlap')" 1

# ---- the paper's figures ----

is "the printed report has all figures of the paper" "$(grep -c '^   paper: ' table) $(sed -nE 's/^   paper: speed-up by overlap: ResNet, NCCL +//p' table)" \
    "$(grep -vc '^#' "$root/launch/paper.tsv") 38.0 %   (section 5.1, figure 6)"
is "figures that the paper does not give are marked" "$(grep -c '^   paper: .* not given  *(figure' table)" 4
is "experiments that ddpbench cannot repeat are listed" "$(sed -n '/^5[.]/,$s/^   Left out: \(ddpbench\).*/\1/p' table)" ddpbench

# ---- continuation ----

rm -r out/ranks=1 out/paper.txt
try env DDPBENCH_LINK=another "$paper" "${grid[@]}" --output out -- "${sizes[@]}"
check 0 "the same command makes only the missing run" '^paper.sh: 6 runs: 5 existed, 1 made, 0 failed'
try "$paper" "${grid[@]}" --output out -- "${sizes[@]}"
check 0 "the same command makes no run of a complete series" '^paper.sh: 6 runs: 6 existed, 0 made, 0 failed'
is "the same command prints the report of a complete series" "$(sed -n '/^1[.]/,/^2[.]/p' printed)" "$(sed -n '/^1[.]/,/^2[.]/p' table)"
try "$paper" "${grid[@]}" --rounds 7 --output out -- "${sizes[@]}"
check 2 "a different --rounds is refused, with both values" '^paper.sh: --rounds: earlier starts in .*/out had "6", this one has "7"; use the same, or another --output'
try "$paper" "${grid[@]}" --output out -- "${sizes[@]}" --lr 1
check 2 "different options after -- are refused" '^paper.sh: --: earlier starts in .*/out had '
mv out/paper.csv ours && ln -s ../mine out/paper.csv && echo mine >mine
try "$paper" "${grid[@]}" --output out -- "${sizes[@]}"
check 2 "a paper.csv that paper.sh did not write is refused" '^paper.sh: .*/out/paper[.]csv was not written by paper.sh'
is "a paper.csv that paper.sh did not write is not changed" "$(readlink out/paper.csv) $(<mine)" "../mine mine"
mv ours out/paper.csv
mv out/paper.txt ours && echo 'The experiments of Li et al. do not convince me.' >out/paper.txt
try "$paper" "${grid[@]}" --output out -- "${sizes[@]}"
check 2 "a paper.txt that paper.sh did not write is refused" '^paper.sh: .*/out/paper[.]txt was not written by paper.sh'
mv ours out/paper.txt
touch out/latency.failed
try "$paper" "${grid[@]}" --output out -- "${sizes[@]}"
check 2 "a file in the place of a run is refused" '^paper.sh: .*/out/latency[.]failed is not a directory that paper.sh made'
rm out/latency.failed
exec 7<out
flock 7
try "$paper" "${grid[@]}" --output out -- "${sizes[@]}"
check 1 "two series cannot share a directory" "^paper.sh: another paper.sh runs in "
exec 7<&-

write_slow_launcher '*,ddp_flat\ *' # the run `buckets`
: >hours
few=("${own[@]}" --rounds 2 --ranks 2 --every 2 --bucket-size-mb 0.01 --launcher "$(quote_words "$temporary/slow") {ranks}")
# stop SIGNAL STATUS: sends paper.sh the signal once its second run has begun; checks that paper.sh ends with STATUS.
stop() {
    local output=$temporary/stopped-$1
    interrupt "$1" "$output/buckets.part/rank_1_metrics.jsonl" "$paper" "${few[@]}" --output "$output" -- "${sizes[@]}"
    is "SIG$1 ends paper.sh and its run" "$([ -e "$output/latency" ] && [ -n "$began" ] && echo yes) $status $(gone stopped)" "yes $2 "
    for pid in $(left_over stopped); do kill -KILL "$pid" || true; done
}
stop TERM 143
is "SIGTERM leaves no incomplete run" "$(cd stopped-TERM && echo *)" "latency runs.txt"
stop KILL 137
is "SIGKILL leaves an incomplete run under the name *.part" "$(cd stopped-KILL && echo *.part)" buckets.part
rm hours
try "$paper" "${few[@]}" --output "$temporary/stopped-KILL" -- "${sizes[@]}"
check 0 "the same command continues after SIGKILL" '^paper.sh: 4 runs: 1 existed, 3 made, 0 failed'
is "the same command removes the incomplete run after SIGKILL" "$(find stopped-KILL -name '*.part')" ""

# ---- failed runs ----

: >broken
try "$paper" "${few[@]}" --output part -- "${sizes[@]}"
check 1 "a failed run is reported" '^paper.sh: .*/part/buckets failed with status 3: slow: broken \(all of it: .*/part/buckets.failed/log.txt'
succeeds "the remaining runs are made after a failed run" grep -q '^paper.sh: 4 runs: 0 existed, 3 made, 1 failed' said
is "the remaining runs are reported after a failed run" "$(cut -d, -f2 part/paper.csv | sort -u | tr '\n' ' ')" "every-2 label latency ranks-2 "
rm broken
try "$paper" "${few[@]}" --output part -- "${sizes[@]}"
check 0 "the same command repeats a failed run" '^paper.sh: 4 runs: 3 existed, 1 made, 0 failed'
try "$paper" "${few[@]}" --launcher 'true {ranks}' --output nothing -- "${sizes[@]}"
check 1 "no report without a complete run" '^paper.sh: no run is complete'

# refuse WORDS PATTERN OPTION...: checks that the options are refused with an error matching PATTERN.
refuse() {
    local words=$1 pattern=$2
    shift 2
    try "$paper" --program "$program" --output refused "$@"
    check 2 "refused: $words" "^paper.sh: .*$pattern"
}
refuse "--rounds after --" "--rounds after --: give it before --" -- --rounds=3
refuse "--steps_per_block (with _) after --" "--steps-per-block after --: give it before --" -- --steps_per_block 3
refuse "--grad-accumulation, which the experiments set" "--grad-accumulation after --: the experiments set it" -- --grad-accumulation 2
refuse "--profile-implementation, which the experiments set" "--profile-implementation after --: the experiments set it" -- --profile-implementation ddp
refuse "an unknown option, reported once" "run latency: unknown option '--frob'" -- --frob 2
refuse "a value that the program refuses" "run latency: --num-heads 3 does not divide --d-model 64" -- --d-model 64 --num-heads 3
is "refused options leave no files" "$(find . -maxdepth 1 -name refused)" ""
try "$paper" --help
is "--help prints the usage and nothing on stderr" "$status$(cat said) $(grep -c '^Usage: launch/paper.sh' printed)" "0 1"
exit "$failed"
