#!/usr/bin/env bash
# compare.sh - ddpbench compare on the command line, with directories of real runs, and copies edited to be slower, to
# lack figures, or to have other settings: every exit status and the messages with it.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"
start_quickly

tiny=(--d-model 32 --num-layers 1 --num-heads 2 --d-ff 48 --context-length 16 --batch-size 6 --vocab-size 256 --rounds 2
    --steps-per-block 2)

# expect STATUS PATTERN WORDS ARGUMENT...: checks that compare ends with STATUS and prints PATTERN (an extended regular
# expression) in its table, or for status 1 and 2 in its one line on stderr.
expect() {
    local wanted=$1 pattern=$2 words=$3 status=0 why='' where=printed lines
    shift 3
    timeout "$limit" "$program" compare "$@" >printed 2>said </dev/null || status=$?
    case $wanted in 1 | 2) where=said ;; esac
    [ "$status" = "$wanted" ] || why+=", status $status and not $wanted"
    grep -qE -- "$pattern" "$where" || why+=", no '$pattern'"
    lines=$(wc -l <said)
    if [ "$where" = said ]; then
        [ "$lines" = 1 ] && grep -q '^ddpbench: ' said || why+=", not one line of words"
        [ ! -s printed ] || why+=", printed something"
    else
        [ "$lines" = 0 ] || why+=", $lines lines on stderr"
    fi
    [ -z "$why" ] && status=0 || status=1
    [ "$status" = 0 ] || cat printed >>said
    result "$status" "$words${why:+: ${why#, }}"
}

# ---- the runs ----

run=("${mpirun[@]}" -n 2 "$program" "${tiny[@]}")
succeeds "a benchmark to compare is made" "${run[@]}" --implementations none,ddp,ddp_flat --output real
succeeds "a profile to compare is made" "${run[@]}" --profile --profile-implementation ddp_bucketed --profile-output-dir profile

# edit FILE SUBJECT NAME ACTION [BYTES]: changes the figures of a summary.json whose subject, name and size match these
# regular expressions. ACTION gone removes the figures, *FACTOR multiplies their values, and a number replaces their values.
edit() {
    awk -v subject="$2" -v name="$3" -v action="$4" -v bytes="${5:-}" '
        function value(line) { sub(/^[^:]*:\t"?/, "", line); sub(/"?,?$/, "", line); return line }
        /^\t\t\t"subject":/ { s = value($0); b = "" }
        /^\t\t\t"name":/ { n = value($0) }
        /^\t\t\t"bytes":/ { b = value($0) }
        s ~ "^(" subject ")$" && n ~ "^(" name ")$" && b ~ bytes {
            if (action == "gone") {
                if (/^\t\t\t"name":/) $0 = "\t\t\t\"name\":\t\"gone_" n "\","
                if (/^\t\t\t"judged":/) $0 = "\t\t\t\"judged\":\tfalse"
            } else if (/^\t\t\t"value":/) {
                changed = action ~ /^[*]/ ? value($0) * substr(action, 2) : action
                $0 = sprintf("\t\t\t\"value\":\t%.17g,", changed)
            }
        }
        { print }' "$1" >edited.json
    mv edited.json "$1"
}
# scaled FROM TO SUBJECT FACTOR: copies a run's directory and multiplies the subject's step time by FACTOR.
scaled() {
    cp -r "$1" "$2"
    edit "$2/summary.json" "$3" step "*$4"
}
# numbered FROM TO: copies a run to TO1, TO2, ..., TO5; multiplies all step times of a copy by a factor, which differs per copy.
numbered() {
    local i=0 factor
    for factor in 1 1.01 0.99 1.005 0.995; do
        i=$((i + 1))
        scaled "$1" one none "$factor"
        scaled one two ddp "$factor"
        scaled two "$2$i" ddp_flat "$factor"
        rm -r one two
    done
}
# others_used SHARE RUN: sets the share of the cores that other processes used during a run, as recorded in its summary.
others_used() { sed -i '/"other_processes"/,/}/ { /"share"/d; s/"other_processes":.*/&\n\t\t"share":\t'"$1"',/; }' "$2/summary.json"; }
others_used 0.05 real
numbered real base
numbered real same
scaled real slower ddp 1.3
numbered slower slow
scaled real a_little ddp 1.058
numbered a_little little
scaled real faster ddp 0.7
numbered faster fast
valid base1/summary.json slow1/summary.json && ! cmp -s base1/summary.json slow1/summary.json && good=0 || good=1
result "$good" "edited copies are valid and differ"

# ---- verdicts of a benchmark ----

five=(base1 base2 base3 base4 base5 --candidate)
expect 0 '^Verdict: ok: no figure is worse by more than 5 % \(3 judged; .* 5 % chance of any false alarm, and of any false ok; 5 against 5 runs\)' "five baselines against five equal candidates: ok" \
    "${five[@]}" same1 same2 same3 same4 same5
expect 3 '^ddp step .* [mu]s regressed +[+]30[.]0 % \[[+]2[0-9.]+, [+]3[0-9.]+\] +- +-$' "five baselines against five slower candidates: regressed" \
    "${five[@]}" slow1 slow2 slow3 slow4 slow5
is "only the slower strategy is regressed, in the table and in the verdict" "$(grep -c ' ok ' printed) $(grep -c '^Verdict: regressed +30[.]0 % (ddp step): ' printed)" "2 1"
# made_at MINUTE RUN
made_at() { sed -i "s/\(\"time\":[[:space:]]*\"2[^T]*T\)[^+]*/\112:$1:00/" "$2/run.json"; }
for i in 0 1 2 3 4 5 6 7; do
    cp -r "base$((i % 5 + 1))" "turn_a$i" && made_at "$((10 + 2 * i))" "turn_a$i"
    cp -r "slow$((i % 5 + 1))" "turn_b$i" && made_at "$((11 + 2 * i))" "turn_b$i"
done
expect 3 '^Verdict: regressed +[+]30[.]0 % .*; 8 pairs of runs made in turn\)' "runs made in turn are compared in pairs" \
    turn_a7 turn_a[0-6] --candidate turn_b*
is "runs made in turn: no warning" "$(grep -c '^Warning' printed)" 0
made_at 05 turn_a3
expect 3 '^Verdict: regressed +[+]30[.]0 % .*; 8 against 8 runs\)' "runs not made in turn are not compared in pairs" turn_a* --candidate turn_b*
succeeds "runs not made in turn: a warning without a time, since they overlap" grep -q '^Warning: .* not made in turn[.] What' printed
for i in 1 2 3 4 5; do
    cp -r "slow$i" "busy$i"
    others_used 0.95 "busy$i"
done
expect 4 '^Warning: other processes used 5 % of the machine.s cores during the baseline runs and 95 % during the candidate runs, so nothing counts as regressed: ' \
    "slower candidates are ambiguous if other processes used more cores" "${five[@]}" busy1 busy2 busy3 busy4 busy5
is "the note on a busy machine is printed before the table" "$(grep -oE '^(Warning: other processes|figure) ' printed | paste -sd ' ')" "Warning: other processes  figure "
expect 4 '^Warning: other processes used 95 % of the machine.s cores during the baseline runs and 5 % .*, so nothing counts as ok or improved: measure again' \
    "nothing is ok if other processes used more cores during the baseline runs" busy1 busy2 busy3 busy4 busy5 --candidate fast{1..5}
sed -i '/"other_processes"/,/}/ { /"share"/d; s/"cores":.*/"cores":\t3,/; }' busy1/summary.json
sed -i 's/"pus":\t[0-9]*/"pus":\t4/' busy1/run.json
expect 4 'during the baseline runs and 75 % during the candidate runs' "a run without the share gets it from its cores and the host's cores" \
    base1 busy1 --allow all
for i in 1 2 3 4 5; do
    cp -r "slow$i" "tomorrow$i" && sed -i 's/\("time":[[:space:]]*"\)2[^"]*/\12100-01-02T00:30:00+0100/' "tomorrow$i/run.json"
    cp -r "base$i" "tonight$i" && sed -i 's/\("time":[[:space:]]*"\)2[^"]*/\12100-01-01T22:30:00+0000/' "tonight$i/run.json"
done
expect 3 '^Warning: baseline and candidate runs were not made in turn: the last baseline run began (60 min|1 h)[^a-z]*[a-z]* ?before the first candidate run. What changed .*: measure both in turn[.]$' \
    "runs that were not made in turn: a warning" tonight{1..5} --candidate tomorrow{1..5} --json out.json --junit out.xml
grep -q '"in_turn":.*false' out.json && grep -q '"Warning: baseline and candidate runs were not made in turn' out.json &&
    grep -q '^Warning: baseline and candidate runs were not made in turn' out.xml && good=0 || good=1
result "$good" "--json and --junit have the warning"
expect 3 '^ddp step .* regressed .*\] +- +-$' "five baselines against one slower candidate: regressed" "${five[@]}" slow1
expect 4 '^ddp step .* ambiguous +[+]5[.]8 % ' "candidates that exceed the tolerance only slightly are ambiguous" \
    "${five[@]}" little1 little2 little3 little4 little5
expect 0 '^Verdict: ok: no figure is worse by more than 10 %' "--tolerance 10 accepts a candidate that is 5.8 % slower" "${five[@]}" little1 --tolerance 10
expect 0 '^ddp step .* improved +-30[.]0 % ' "faster candidates are improved" "${five[@]}" fast1 fast2 fast3 fast4 fast5
expect 4 '^ddp step .* ambiguous +[+]30[.]0 % +- +-$' "one baseline against one slower candidate is never regressed" base1 slow1
succeeds "one baseline against one slower candidate: the verdict gives the reason and advice" \
    grep -q '^Verdict: ambiguous +30[.]0 % (ddp step): .* maybe by chance or other processes: use more runs .*so figures worse by more than +15[.]5 % are ambiguous, the others unseen; 1 against 1 run)' printed
expect 4 '^Verdict: unseen: .*worse by more than [+]36[.]5 % are ambiguous' "one baseline against one slower candidate, --floor 30: unseen" base1 slow1 --floor 30
expect 4 '^Verdict: unseen: these runs would not have shown that [a-z_]+ step is worse by 5 %, nor by more; it takes at least 4 more runs of each side \(' \
    "one baseline against one slightly slower candidate: unseen" base1 little1
expect 4 '^ddp step .* unseen +-30[.]0 % +- +4$' "one baseline against one faster candidate is never improved" base1 fast1
cp -r base1 noisy1 && cp -r base2 noisy2 && cp -r base3 noisy3 && scaled base4 noisy4 ddp 1.5 && scaled base5 noisy5 ddp 0.6
expect 4 '^Verdict: unseen: these runs would not have shown that ddp step is worse by 5 %, only from [+][0-9.]+ % on; it takes [0-9]+ more runs of each side, if change' \
    "runs that vary too much are unseen, with the slowdown that they show and how many more runs would suffice" noisy{1..5} --candidate same{1..5}
from=$(sed -nE 's/.* only from ([+][0-9.]+) % on; it takes ([0-9]+) more .*/\1 % +\2/p' printed)
succeeds "the row also has these numbers" grep -qE "^ddp step .* unseen .* ${from/+/[+]}\$" printed
expect 3 'fewer than 5 baselines, so only figures beyond [+]15[.]5 % in every run are called regressed, and none ok; 3 against 3 runs\)' \
    "three baselines against three slower candidates: regressed" base1 base2 base3 --candidate slow1 slow2 slow3

cp -r same1 lacking && edit lacking/summary.json ddp step gone
expect 5 '^ddp step .* missing in 1 of 2 ' "a figure that one candidate lacks is missing" "${five[@]}" same2 lacking
expect 5 '^Verdict: missing: ' "a figure that the only candidate lacks is missing" base1 lacking
expect 4 '^ddp step .* new ' "a figure that only the candidate has is new" lacking base1
for i in 1 2 3 4 5; do
    cp -r lacking "lacking$i"
done
expect 4 '; it takes at least 2 more runs of each side \(3 judged, 1 unseen; tolerance 5 %; 5 % chance of any false alarm, and of any false ok, if nothing else changed between the runs; 1 against 5 runs\)' \
    "a figure that some baselines lack is judged against the other baselines" base1 base2 base3 lacking4 lacking5 --candidate same1
expect 5 ' more than [+]15[.]5 % are ambiguous, the others unseen; 1 against 4 runs' "a figure that one of four baselines and the candidate lack is missing" \
    base1 base2 base3 lacking4 --candidate lacking
for i in 1 2 3 4 5; do
    edit "lacking$i/summary.json" '.*' step gone
done
expect 5 '^Verdict: missing: .*tolerance 5 %; 5 against 5 runs' "figures that all five candidates lack are missing" "${five[@]}" lacking{1..5}
expect 1 'lacking1 has no figure to judge, and neither has any other run; name some with --metrics' "runs without a figure to judge" lacking1 lacking2
scaled base1 huge ddp 1e300
expect 4 '^ddp step .* [0-9.]+e[+][0-9]+ s \(n=1\) .* unseen +-100[.]0 % +- +4$' "a huge value in a baseline is printed and judged" lacking huge --candidate same1
expect 4 '^ddp step .* ambiguous +[+][0-9]+ +- +-$' "a huge value in a candidate is ambiguous" same1 huge
scaled lacking lacking_slow ddp_flat 1.3
expect 3 '^ddp step .* missing in 1 of 1 +- +- +-$' "the verdict is regressed if one figure is regressed and another is missing" "${five[@]}" lacking_slow
expect 5 '^ddp_flat step .* ambiguous ' "the verdict is missing if one figure is missing and another is ambiguous" base1 lacking_slow

# ---- selection of figures ----

expect 4 '^ddp tokens_per_second .* unseen ' "other figures can be judged" base1 slow1 --metrics tokens_per_second
expect 2 "--metrics 'bandwidth': the runs have no such figure; they have: step " "a figure in --metrics that the runs lack is refused" base1 slow1 \
    --metrics bandwidth
expect 4 '^ddp backward_pass +- +[0-9.]+ [mu]?s +[0-9.]+ [mu]?s +1[.]000$' "--label shows all figures side by side" base1 same1 \
    --label cuda,rocm
succeeds "--label names the columns" grep -qE '^figure .* cuda \(n=1\) +rocm \(n=1\)' printed

# Tests a figure of 0, which is not a missing figure.
for tail in none:0 late:0.005; do
    cp -r profile "tail_${tail%:*}"
    edit "tail_${tail%:*}/ddp_bucketed/summary.json" ddp_bucketed exposed_tail "${tail#*:}"
done
expect 2 '--metrics exposed_tail: has values of 0 or less, hence no ratio; --label shows it' "a figure of 0 cannot be judged" \
    tail_none tail_late --metrics step,exposed_tail
expect 4 '^ddp_bucketed exposed_tail +- +0 ms +5 ms ' "a figure of 0 is shown with --label" tail_none tail_late --label a,b --metrics \
    forward_pass --tolerance 1000

# ---- other kinds of runs ----

cp -r profile profile2
edit profile2/ddp_bucketed/summary.json none step '*10'
expect 4 '^none step .* ambiguous +[+]900[.]0 % +- +-$' "a slower control of a profile is judged" profile profile2
is "steps of a profile are judged" "$(grep -oE '^(ddp_bucketed|after_backward) step .* unseen ' printed | cut -d ' ' -f 1 | sort | paste -sd ' ')" "after_backward ddp_bucketed"
cp -r profile profile_again
expect 4 '^ddp_bucketed compute_coverage ' "a profile can be named by its strategy's directory" profile/ddp_bucketed profile_again --label a,b
expect 6 '^  mode: baseline profile, candidate benchmark$' "a profile and a benchmark are incomparable" profile base1

succeeds "a run of allreduce to compare is made" "${mpirun[@]}" -n 2 "$program" allreduce --sizes 8,1K,4K,1M --iters 20 --output real_sweep
others_used 0.05 real_sweep

# swept TO FACTOR: copies the allreduce run and multiplies all its times by FACTOR.
swept() {
    cp -r real_sweep "$1"
    edit "$1/summary.json" '.*' time "*$2"
}
i=0
for factor in 1 1.01 0.99 1.005 0.995; do
    i=$((i + 1))
    swept "sweep$i" "$factor"
    swept "slower_sweep$i" "$(awk "BEGIN { print 1.075 * $factor }")"
done
cp -r sweep1 wrong && cp -r sweep1 again1 && cp -r sweep2 again2
edit wrong/summary.json '.*' wrong_elements 3 '^8$'
sweeps=(sweep1 sweep2 sweep3 sweep4 sweep5 --candidate)
expect 0 '^all_reduce float sum in_place time +4 sizes .* ok +[-+][0-9.]+ to [-+][0-9.]+ % +[+][0-9.]+ % +-$' "sizes that are ok share one line" "${sweeps[@]}" again1 again2
expect 0 '^all_reduce float sum in_place time +1 MiB +[0-9.]+ [mu]s .* (ok|unseen) +[-+][0-9.]+ % ' "--all shows each size" "${sweeps[@]}" again1 --all
expect 0 '^Verdict: ok: no mean over sizes is worse by more than 3 %, though single sizes may be \(8 judged and 2 means over sizes, 8 unseen; ' \
    "single sizes that are unseen leave the status at 0 if their mean is ok" "${sweeps[@]}" again1 --tolerance 3
expect 0 '^all_reduce float sum out_of_place time +4 sizes .* unseen +' "sizes that are unseen share one line" "${sweeps[@]}" again1 --tolerance 3
for i in 1 2 3 4 5; do
    cp -r "sweep$i" "late$i" && edit "late$i/summary.json" 'all_reduce float sum in_place' time '*1.06' '^8$'
done
expect 0 '^all_reduce float sum in_place time +8 B .* ambiguous +[+]6[.]0 % ' "a single size that is ambiguous leaves the status at 0" "${sweeps[@]}" late{1..5}
expect 4 '^Verdict: unseen: .* all sizes is worse by 0.5 %' "a mean over sizes that is unseen has status 4" "${sweeps[@]}" again1 --tolerance 0.5
expect 3 '^all_reduce float sum in_place time +all sizes .* regressed +[+]7[.]5 % ' "all sizes slower: one line for all sizes" \
    "${sweeps[@]}" slower_sweep{1..5}
expect 3 '^all_reduce .* 8 B .* regressed: wrong elements ' "wrong elements are a regression" "${sweeps[@]}" again1 wrong
expect 3 '^Verdict: regressed: the figures called regressed' "wrong elements are a regression also in a single pair of runs" sweep1 wrong
expect 3 '^all_reduce .* busbw +8 B .* regressed: wrong elements ' "wrong elements are a regression whatever --metrics lists" \
    "${sweeps[@]}" again1 wrong --metrics busbw
expect 1 'wrong: found wrong elements in all_reduce float sum (out_of|in)_place of 8 bytes, so it is not a baseline' \
    "wrong elements in a baseline are refused" sweep1 wrong --candidate sweep2

# ---- comparability ----

cp -r base1 other && sed -i 's/"d-model":\t32/"d-model":\t64/; s/"world_size":\t2/"world_size":\t4/' other/run.json
cp -r other other2
expect 6 '^  d-model: baseline 32, candidate 64$' "runs of different models are incomparable" base1 other
grep -qx '  world_size: baseline 2, candidate 4' printed && grep -qx 'To compare the runs anyway, name these settings with --allow, or give --allow all.' printed &&
    good=0 || good=1
result "$good" "every difference is listed, with the option that allows it"
expect 6 '^  d-model: baseline 32, another baseline 64$' "baselines of different models are incomparable" base1 other --candidate same1
expect 6 '^  d-model: baseline 32, candidate 64$' "a difference that two runs have" base1 --candidate other other2
is "is listed once" "$(grep -c '^  d-model: ' printed)" 1
expect 6 '^  world_size: ' "runs with two different settings are incomparable if --allow names one of them" base1 other --allow d_model
expect 4 '^Settings differ, as allowed:' "runs with two different settings are compared if --allow names both" base1 other --allow d-model,world_size
expect 4 'unseen' "--allow all compares runs with different settings" base1 other --allow all
expect 2 "--allow 'width': the runs have no such setting; known: all mode " "an unknown setting in --allow is refused" base1 other \
    --allow width
expect 4 'unseen' "--allow all,threads is accepted" base1 other --allow all,threads
cp -r base1 older && sed -i '/"warmup-epochs"/d' older/run.json && ! cmp -s base1/run.json older/run.json && good=0 || good=1
result "$good" "a run without the option warmup-epochs is made"
expect 4 '^  warmup-epochs: baseline not set, candidate ' "an option that one side lacks is listed, not refused" older base1
succeeds "a missing option is listed under other differences" grep -qx 'Other differences (informational):' printed
cp -r base1 watched && sed -i 's/"monitor-cpu":\tfalse/"monitor-cpu":\ttrue/' watched/run.json
expect 4 '^  monitor-cpu: baseline false, candidate true$' "monitoring is listed, not refused" base1 watched
expect 2 'base1 and [.]/base1 are the same run; name each run once' "a baseline listed twice is refused" base1 base2 ./base1/ --candidate same1
cp -r profile/ddp_bucketed cut_before && sed -i '/"bucket_rule"/d' cut_before/run.json
expect 6 '^  bucket_rule: baseline at_most, candidate at_least$' "a run that does not record its bucket rule has the earlier rule" \
    cut_before profile/ddp_bucketed

# which_differ RUN: prints, in one line, the options that may differ between the two runs of a comparison.
which_differ() {
    local key
    rm -rf changed
    cp -r "$1" changed
    awk '/^\t"configuration":/ { inside = 1 } /^\t}/ { inside = 0 }
        inside && match($0, /^\t\t"[^"]*"/) { print substr($0, 4, RLENGTH - 4) }' "$1/run.json" | sort | while read -r key; do
        sed -E 's/^(\t\t"'"$key"'":\t).*[^,](,?)$/\177\2/' "$1/run.json" >changed/run.json
        "$program" compare "$1" changed >printed 2>said || true
        ! grep -q "^Verdict: unseen" printed || ! grep -q "^  $key: baseline .*, candidate 77" printed || echo "$key"
    done | tr '\n' ' '
}
is "options in which benchmarks may differ" "$(which_differ base1)" \
    "attainable blas max-minutes monitor-cpu monitor-gpu profile-buffer-mb profile-ranks resolve rounds seed "
is "options in which profiles may differ" "$(which_differ profile/ddp_bucketed)" \
    "attainable blas max-minutes monitor-cpu monitor-gpu profile-buffer-mb profile-ranks resolve rounds seed "
is "options in which runs of allreduce may differ" "$(which_differ real_sweep)" \
    "blas check iters max-bytes min-bytes monitor-cpu monitor-gpu nominal run-cycles sizes sizes-from-model step-bytes step-factor "
cp -r base1 longer && sed -i 's/"rounds":\t2,/"rounds":\t3,/' longer/run.json
expect 4 '^  rounds: baseline 2, candidate 3$' "more rounds are listed, not refused" base1 longer
ln -s same1 link
expect 2 'same1 and link are the same run' "a candidate listed twice, once by a link, is refused" base1 --candidate same1 same2 link
expect 2 'base1 and link/../base1 are the same run' "a run compared with itself is refused" base1 base2 --candidate link/../base1
cp -r base1 elsewhere && sed -i 's/"kernel":\t"[^"]*"/"kernel":\t"Linux 1.0"/; s/"version":\t"[^"]*"/"version":\t"old"/
    s/"label":\t""/"label":\t"x"/' elsewhere/run.json
expect 4 '^  kernel: baseline .*, candidate Linux 1[.]0$' "another kernel is listed, not refused" base1 elsewhere
is "another version is listed, not refused" "$(sed -n 's/^  version: baseline //p' printed)" "$("$program" --version | cut -d ' ' -f 2-), candidate old"
for gpu in 1 2; do
    cp -r base1 "gpu$gpu" && sed -i "s/^\t\"derived\":\t{/&\n\t\t\"gpu_id\":\t\"GPU-$gpu\",/" "gpu$gpu/run.json"
done
expect 4 '^  gpu_id: baseline GPU-1, candidate GPU-2$' "another GPU of the same kind is listed, not refused" gpu1 gpu2
is "a different label is not listed" "$(grep -c '^  label' printed)" 0
cp -r base1 peer && sed -i '1,9s/"program":\t"ddpbench"/"program":\t"peer.py"/; /"mpi_library"/d; /"comm":/d' peer/run.json
expect 4 '^  program: baseline ddpbench, candidate peer[.]py$' "a run of another program in the same format is compared, and the program is listed" \
    base1 peer

# ---- JSON ----

expect 3 '^ddp step' "--json FILE keeps the verdict" "${five[@]}" slow1 --json out.json
valid out.json >>said && grep -q '"verdict":	"regressed"' out.json && grep -q '"exit_status":	3' out.json && good=0 || good=1
result "$good" "the file of --json is valid and contains the verdict"
expect 6 '"verdict":.*"incomparable"' "--json - prints the verdict as JSON" base1 other --json -
succeeds "--json -: the output is valid JSON and nothing else" valid printed
expect 4 '"verdict":.*"ambiguous"' "--json - prints the verdict of five runs as JSON" "${five[@]}" little{1..5} --json - --label a,b
succeeds "--json - of five runs: the output is valid JSON" valid printed

expect 2 '--json and --junit: only one can be printed' "two forms that are printed are refused" base1 base2 --json - --junit -

# ---- intervals in text, and the page ----

expect 3 '^Change in %, [+] is worse; between the colons: tolerance 5 %$' "--html FILE keeps the text" "${five[@]}" slow1 --html page.html
is "intervals are drawn below the table, the worst first, in 80 columns" \
    "$(sed -n '/^Change in/,/^$/p' printed | sed -nE 's/^(.* step)  .*[[<].*[]>] .*  ([a-z]+)$/\1 \2/p' | head -n 1) $(sed -n '/^Change in/,/^$/p' printed | awk 'length > 80')" \
    "ddp step regressed "
change=$(sed -nE 's/^ddp step .* regressed +([-+].*]) .*/\1/p' printed | head -n 1)
is "the page has the verdict, and in table and picture the printed change" \
    "$(grep -cF "<p>$(sed -n '/^Verdict: /p' printed | sed 's/&/\&amp;/g')</p>" page.html) $(grep -cF ">$change</text>" page.html) $(grep -cF ">$change</td>" page.html)" "1 1 1"
succeeds "the title of the picture is its finding" grep -qE '^<title>ddp step \([+][0-9.]+ %\)( and [0-9]+ more are| is) regressed' page.html
succeeds "the page has the runs, the settings and the machine" grep -qE 'slow1: benchmark of 20.*, ddpbench .*, on ' page.html
expect 6 '<title>ddpbench compare: incomparable</title>' "--html - prints a page, also on incomparable runs" base1 other --html -
is "it has no picture" "$(grep -c '<svg' printed) $(grep -c '^<p>Verdict: incomparable: ' printed)" "0 1"
expect 4 'Verdict: unseen' "a page of single runs" base1 same1 --html page.html
is "its picture says that there are no intervals, the text has none" "$(grep -c 'none below 5 baselines' page.html | sed 's/[2-9]/1/') $(grep -c '^Change in' printed)" "1 0"

# ---- JUnit XML ----

counts="[root[0].get(name) for name in ('tests', 'failures', 'errors', 'skipped')]"
# each: a Python expression that lists each test case: its name, and the tag, type and message of each of its results.
each="'; '.join(' '.join([case.get('name')] + [part.tag + ' ' + part.get('type') + ': ' + part.get('message') for part in case]) for case in root.iter('testcase'))"
# words FILE: checks that the output of the test suite in FILE is exactly what compare printed.
words() { xml_has "the output of the suite in $1 equals the printed table" "$1" "root[0].find('system-out').text == open('printed').read()" True; }
expect 3 '^ddp step' "--junit FILE keeps the verdict" "${five[@]}" slow1 --junit out.xml --json out.json
xml_has "--junit: a test case for each judged figure" out.xml "$counts" "\['4', '1', '0', '0'\]"
xml_has "--junit: a regressed figure is a failure with the text of the table" out.xml "$each" "the same settings; none step; ddp step failure regressed:\
 regressed: baseline [0-9.]+ [mu]s, candidate [0-9.]+ [mu]s, change [+][23][0-9.]+ % \\[[+][^;]*\\](; [a-z_]+ step)*"
words out.xml
xml_has "--junit: the time of a test case is the candidate's step time" out.xml "[round(float(case.get('time')), 9) for case in root[0][1:-1]] ==\
 [round(row['candidate'], 9) for row in __import__('json').load(open('out.json'))['judged']]" True
expect 4 'ambiguous' "--junit keeps an ambiguous verdict" "${five[@]}" little{1..5} --junit out.xml
xml_has "--junit: an ambiguous figure is skipped" out.xml "$counts" "\['4', '0', '0', '1'\]"
words out.xml
expect 4 'unseen' "--junit keeps an unseen verdict" base1 same1 --junit out.xml
xml_has "--junit: unseen figures are skipped" out.xml "$counts" "\['4', '0', '0', '3'\]"
xml_has "--junit: an unseen figure names what these runs show" out.xml "$each" ".*; ddp step skipped unseen: unseen: baseline [0-9.]+ [mu]s, candidate [0-9.]+ [mu]s, change [^;]* %, seen from -, 4 more runs;.*"
words out.xml
expect 5 'missing in 1 of 1' "--junit keeps a missing verdict" "${five[@]}" lacking --junit out.xml
xml_has "--junit: a missing figure is a failure" out.xml "$each" ".*; ddp step failure missing: missing in 1 of 1: baseline [0-9.]+ [mu]s, candidate -, change -.*"
expect 6 'incomparable' "--junit keeps an incomparable verdict" base1 other --junit out.xml
xml_has "--junit: incomparable runs are one error" out.xml "$counts, $each" "\(\['1', '0', '1', '0'\], 'the same settings error incomparable: the settings .*'\)"
words out.xml
expect 3 '^<testsuites name="ddpbench compare" tests="4"' "--junit - prints XML" "${five[@]}" slow1 --junit -
xml_has "--junit -: the output is XML and nothing else" printed "$counts" "\['4', '1', '0', '0'\]"
cp -r slow1 nasty && sed -i 's/^\t\t\t"subject":\t"ddp"/\t\t\t"subject":\t"<b>\&\\"]]>"/' nasty/summary.json
expect 5 '<b>&"]]> step' "--junit accepts a name that contains markup" "${five[@]}" nasty --junit out.xml
xml_has "--junit: a name that contains markup is escaped" out.xml "$each" '.*; <b>&"]]> step.*'

# ---- input and output errors ----

fails() { expect 1 "^ddpbench: $1" "refused: $2" base1 --candidate same1 "${@:3}"; }
fails 'cannot read absent: No such file' "a missing directory" absent
cp -r base1 half && rm half/summary.json
fails 'half: holds no summary[.]json: the run has not finished' "a run that has not finished" half
cp -r profile/ddp_bucketed early_profile
sed -i 's/^\t"done":\t2/\t"done":\t0/; s/^\t"planned":\t2/\t"planned":\t0/' early_profile/summary.json
cp -r early_profile early_again
expect 4 'unseen' "a profile with 0 rounds counts as finished" early_profile early_again
cp -r base1 listed && sed -i 's/^\t"environment":\t{/\t"environment":\t[{"x":\t[1]}],\t"other":\t{/' listed/run.json
succeeds "a run.json with a list as environment is valid JSON" valid listed/run.json
fails 'listed/run[.]json: "environment" is .*; expected an object' "a list in place of the environment" listed
cp -r base1 broken && sed -i '20s/[:,]//' broken/run.json
fails 'broken/run[.]json: is not valid JSON \(line 2[0-9]\)' "a broken run.json" broken
mkfifo pipe
fails '--json pipe: is not a regular file' "a pipe as --json" --json pipe
succeeds "--json does not replace a pipe" [ -p pipe ]
fails '--json: cannot write absent/out.json' "--json in a missing directory" --json absent/out.json
fails '--junit: cannot write absent/out.xml' "--junit in a missing directory" --junit absent/out.xml

# over FILE...: tests that --json and --junit refuse to overwrite any of these files.
# shellcheck disable=SC2317 # called by succeeds
over() {
    local file option
    md5sum "$@" >sums
    for file in "$@"; do
        for option in json junit; do
            try "$program" compare base1 same1 "--$option" "$file"
            [ "$status" = 1 ] && grep -q -- "^ddpbench: --$option $file: exists, and is not what ddpbench writes there; choose" said || return 1
        done
    done
    md5sum --quiet -c sums
}
succeeds "--json and --junit do not overwrite a file of a run" over base1/* same1/*
for again in 1 2; do expect 4 'unseen' "--json and --junit overwrite the file of an earlier call (call $again)" base1 same1 --json again.json --junit again.xml; done
fails '--json again[.]xml: exists, and is not what' "--json does not overwrite a file of --junit" --json again.xml
ln -s . here
for path in both ./both here/both; do
    fails "--json and --junit name the same file, $path" "--json and --junit with the same file, $path" --json both --junit $path
done
: >made_empty
fails '--json made_empty: exists, and is not what' "--json on an empty file" --json made_empty

# ---- the command line ----

expect 0 '^Usage: ddpbench compare' "--help prints the usage" --help
expect 4 '^Verdict: ambiguous .*; 1 against 3 runs\)' "a word after an option other than --candidate is a directory" base1 --tolerance 2.5% base2 \
    --floor=0 base3 --candidate=slow1
while IFS='|' read -r words why; do
    # shellcheck disable=SC2086 # $words is a list
    expect 2 "$why" "refused: compare $words" $words
done <<'END'
|no baseline
base1|no candidate
base1 base2 base3|no candidate
--candidate base1 base2|no baseline
base1 --candidate|--candidate needs a value
base1 --candidate=|an empty word
base1 same1 --tolerance -1|--tolerance -1: expected a percentage from 0 to 1000
base1 same1 --tolerance 5%%|--tolerance 5%%: expected a percentage
base1 same1 --floor ten|--floor ten: expected a percentage
base1 same1 --all=1|--all takes no value
base1 same1 --tollerance 3|did you mean --tolerance[?]
base1 same1 --allow threads,|--allow 'threads,': the runs have no such setting; known: all mode
base1 same1 --allow ,threads|no such setting
base1 same1 --allow ALL|no such setting
base1 same1 --metrics step,|--metrics 'step,': the runs have no such figure; they have: step
base1 same1 --metrics ,step|no such figure
base1 same1 --metrics ste|no such figure
base1 same1 --label one|--label 'one': expected two names
base1 same1 --label one,|expected two names
base1 same1 --label ,two|expected two names
base1 same1 --label one,two,three|expected two names
base1 same1 --label one,tw/o|may hold letters
base1 same1 --label one,one|'one' is listed twice
END
status=0
"$program" compare base1 slow1 >/dev/full 2>said || status=$?
is "a failed write to stdout is an error, whatever the verdict" "$status $(grep -c '^ddpbench: cannot write to the standard output' said)" "1 1"
exit "$failed"
