#!/usr/bin/env bash
# report.sh - ddpbench report from outside: runs of every kind are printed again as they printed themselves, a sweep
# whose step times are known is judged, and what is no finished run is refused.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

# ---- runs ----

tiny=(--d-model 32 --num-layers 1 --num-heads 2 --d-ff 48 --context-length 16 --batch-size 6 --vocab-size 256 --rounds 2
    --steps-per-block 2)
run=("${mpirun[@]}" -n 2 "$program")

# with_python WORDS COMMAND...: a check by a program in Python, where there is a python3.
with_python() {
    if command -v python3 >/dev/null; then
        "${@:2}" >said 2>&1 && good=0 || good=1
        result "$good" "$1"
    else
        echo "skip - $1: there is no python3"
    fi
}
# shellcheck disable=SC2317 # with_python calls it
not() { ! "$@"; }

"${run[@]}" "${tiny[@]}" --implementations none,ddp --label "a-label" --output "a benchmark" >said 2>&1 && good=0 || good=1
result "$good" "a benchmark"
"${run[@]}" "${tiny[@]}" --profile --profile-implementation ddp --profile-output-dir profile >said 2>&1 && good=0 || good=1
result "$good" "a profile"
"${run[@]}" allreduce --sizes 8,1K --iters 20 --output collectives >said 2>&1 && good=0 || good=1
result "$good" "a sweep of collectives"

# again DIRECTORY MODE COMMAND SUMMARY: the report ends with when and how the run was made, and what it printed. Lines with
# the # of nccl-tests are folded anew.
again() {
    local time
    try "$program" report "$1"
    time=$(sed -nE 's/^\t"time":\t"(.*)",$/\1/p' "$4/run.json")
    tr -s ' \n' ' ' <printed >joined
    [ "$status" = 0 ] && [ ! -s said ] && [ -n "$time" ] &&
        [ "$(head -n 1 printed | cut -d' ' -f1-3)" = "Bottleneck analysis of" ] &&
        grep -qF "$2 of $time, ddpbench " joined && grep -qF ": $3 " joined &&
        [ "$(grep -cv '^#' "$4/summary.txt")" -gt 3 ] && ! grep -v '^#' "$4/summary.txt" | grep -vxFf printed >>said && good=0 || good=1
    result "$good" "what mode $2 printed is printed again"
}
again "a benchmark" benchmark "$(quote_words "$program") ${tiny[*]} --implementations none,ddp --label a-label --output 'a benchmark'" "a benchmark"
again profile profile "$(quote_words "$program") ${tiny[*]} --profile --profile-implementation ddp --profile-output-dir profile" profile/ddp
again collectives allreduce "allreduce --sizes 8,1K --iters 20 --output collectives" collectives

try "$program" report profile --output pictures
is "no heading stands above pictures alone, which words do not show" \
    "$(grep -c '^A step, rank by rank' printed) $(grep -c '## A step, rank by rank' pictures/BOTTLENECK_ANALYSIS.md)" "0 1"
try "$program" report "a benchmark" profile collectives --csv all.csv
is "several runs: what they say together, without what each printed" \
    "$status $(head -n 1 printed) $(grep -c '^Losses of all' printed)" "0 Bottleneck analysis of 3 runs 0"
is "their figures in one file" "$(head -n 1 all.csv)" \
    "directory,label,state,subject,name,bytes,unit,value,low,high,n,better,judged"
for run_of in "a benchmark,a-label" profile/ddp,profile collectives,collectives; do
    is "those of ${run_of%,*} are its summary.csv's" \
        "$(sed -n "s|^$run_of,complete,||p" all.csv)" "$(tail -n +2 "${run_of%,*}/summary.csv" | sed 's/^[^,]*,//')"
done
try "$program" report "a benchmark" absent --csv some.csv
is "one that is not there is named, and the others are reported" \
    "$status $(grep -c '1 of 2 runs could not be read' printed) $(grep -c 'cannot read absent: No such file' printed) $(wc -l <some.csv) $(cat said)" \
    "1 1 1 $(wc -l <"a benchmark/summary.csv") ddpbench: cannot read absent: No such file or directory"
try "$program" report "a benchmark" profile collectives --csv -
is "or instead of the words" "$status $(cmp printed all.csv && echo same)" "0 same"

# ---- what they say together ----

"${run[@]}" "${tiny[@]}" --profile --profile-implementation ddp --profile-output-dir late/profile --num-epochs 5 \
    --inject-delay rank=1,ms=150,phase=backward_pass >said 2>&1 && good=0 || good=1
result "$good" "a profile with a rank that is late"
"${mpirun[@]}" -n 1 "$program" "${tiny[@]}" --implementations none,ddp --output alone >said 2>&1 && good=0 || good=1
result "$good" "the benchmark on one rank"
try "$program" report one=alone two="a benchmark" two=late two=collectives --output whole
is "a whole report" "$status $(cd whole && echo *)" \
    "0 BOTTLENECK_ANALYSIS.md pictures report.csv report.html report.json report.prom report.xml"
with_python "JUnit fails what is high, in the order of the bottlenecks" python3 -c '
import json, xml.etree.ElementTree as tree
blocks = json.load(open("whole/report.json"))["blocks"]
rows = next(b["table"] for b in blocks if b.get("table", {}).get("key") == "bottlenecks")["rows"]
cases = [c for c in tree.parse("whole/report.xml").iter("testcase")][4:]
assert len(rows) > 1 and rows[0]["level"] == "high", rows
assert [(c.get("classname"), c.get("name")) for c in cases] == [(r["run"], r["bottleneck"]) for r in rows], cases
failed = [c.find("failure") is not None for c in cases]
assert failed == [r["level"] == "high" for r in rows], failed
assert cases[0].find("failure").get("message") == rows[0]["text"], rows[0]'
is "the rank that is late is the first bottleneck, by the 150 ms that it costs, more or less" \
    "$(sed -n 's/^ *straggler  *two  *profile //p' printed | awk '$2 > 75 && $2 < 300' | wc -l)" 1
is "and named at the top" "$(grep -A 3 'Main bottleneck: straggler in two: ' printed | tr -s ' \n' ' ' | grep -c 'rank 1 came last')" 1
is "runs on one and on two ranks are compared" "$(grep -c '^From 1 to 2 ranks\|^- From 1 to 2 ranks' printed)" 1
for rank in 0 1; do
    ms=$(sed -nE 's/.*"profiler_step": 1,.*"trace_start_ms": ([0-9.]+),.*/\1/p' late/profile/ddp/rank_${rank}_metrics.jsonl)
    ts=$(sed -nE '/"ProfilerStep#1"/s/.*"ts": ([0-9.]+),.*/\1/p' late/profile/ddp_rank_${rank}_trace.json | head -n 1)
    succeeds "a step of rank $rank starts where its trace says: $ms ms" \
        awk -v ms="$ms" -v ts="$ts" 'BEGIN { exit !(ms != "" && ts != "" && (ms - ts / 1000) ^ 2 < 1e-6) }'
done
with_python "every figure and every cell of every form is what the runs' summaries say" \
    "$root/tests/consumers/recompute_report.py" whole one=alone two="a benchmark" two=late/profile/ddp two=collectives
mkdir bad && cp -r whole bad/ && sed -i 's/"name":"step","unit":"s","value":[0-9]/&9/' bad/whole/report.json
with_python "and the check would notice" not "$root/tests/consumers/recompute_report.py" bad/whole one=alone \
    two="a benchmark" two=late/profile/ddp two=collectives
cp -r late nasty && cp -r "a benchmark" "nasty/<b> & \"x\", \$(touch harm) \`touch harm\`"
nasty=("nasty/<b> & \"x\", \$(touch harm) \`touch harm\`")
# shellcheck disable=SC2016 # nothing is to be expanded
sed -i 's/"label":.*/"label": "<script>alert(1)<\/script>, |x| ]]> \\"q\\" \\u0001 $(touch harm)",/' nasty/profile/ddp/run.json "${nasty[0]}/run.json"
sed -i 's/"heading":\t\[/&"\\u001b]0;x\\u0007 \\u009b2J",/' "${nasty[0]}/summary.json"
sed -i 's/"cpu":.*/"cpu": "<img src=x> | [a](http:\/\/b) \\u001b[31m",/' "${nasty[0]}/run.json"
try "$program" report nasty --output nasty/report
is "names that mean something to a page, a table or a shell" "$status $([ -e harm ] && echo harm) $(grep -c '<script\|<img' nasty/report/report.html)" "0  0"
is "and nothing reaches the terminal that it would obey" \
    "$(LC_ALL=C tr -d '\n\t -~' <printed | wc -c) $(grep -c '\[31m' printed)" "0 2"
"$program" report "${nasty[0]}" >printed 2>said && good=0 || good=1
printed=$(cat printed) && printed=${printed//"$(quote_words "$program")"/}
is "neither of one run alone, with what it printed" "$good $(LC_ALL=C tr -d '\n\t -~' <<<"$printed" | wc -c)" "0 0"
with_python "break no form" "$root/tests/consumers/recompute_report.py" nasty/report "${nasty[0]}" nasty/profile/ddp
name=$(printf 'n%.0s' {1..100})
try "$program" report "$name=alone" right="a benchmark"
is "a label as long as --label allows" "$status $(grep -c "$name" printed | sed 's/^[1-9].*/some/')" "0 some"
cp -r late pipes && rm pipes/profile/ddp/rank_1_metrics.jsonl # and a pipe, whose writer never comes
try "$program" report pipes/profile --output some-ranks
is "a step is drawn of the ranks that have it, and said to be" \
    "$(grep -o 'Only 1 of 2 ranks: rank_1_metrics.jsonl has no such step' some-ranks/pictures/step-1.svg | sort -u)" \
    "Only 1 of 2 ranks: rank_1_metrics.jsonl has no such step"
mkfifo pipes/profile/ddp/rank_1_metrics.jsonl
try timeout 20 "$program" report pipes
is "a pipe is no file of a run" "$status$(cat said)" 0

# ---- runs that ended before their time ----

cp -r "a benchmark" early && sed -i 's/^\t"done":\t2/\t"done":\t1/' early/summary.json
cp -r collectives short && sed -i -E 's/^\t"done":\t[0-9]+/\t"done":\t1/' short/summary.json
rows=$(sed -nE 's/^\t"planned":\t([0-9]+),$/\1/p' short/summary.json)
cut='interrupted, 1 of 2 rounds'
try "$program" report early
is "an interrupted run is reported, and said to be one at the top, in the summary and behind it" \
    "$status $(head -n 1 printed | grep -c "^Bottleneck analysis of a-label ($cut)\$") \
$(grep -c "^- a-label (benchmark): $cut; its figures are from the complete part[.]" printed) $(grep -c "^a-label .* $cut" printed)" "0 1 1 1"
try "$program" report cut=early whole=alone cut=short cut=unread --output interrupted
is "report.prom says how far both are" "$(grep -cE '^ddpbench_run_done[{]run="cut",.*[}] 1$' interrupted/report.prom)" 2
cp -r profile captured && sed -i 's/"interrupted":\tfalse/"interrupted":\ttrue/; s/^\t"done":.*/\t"done":\t0,/; s/^\t"planned":.*/\t"planned":\t0,/' captured/ddp/summary.json
"$program" report captured --prometheus - >progress 2>said || true
is "nor is a profile complete whose capture was interrupted" "$(sed -nE 's/^ddpbench_run_(done|planned)[{].* /\1 /p' progress | paste -sd ' ')" "done 0 planned 1"
for form in report.html BOTTLENECK_ANALYSIS.md report.json report.csv report.xml; do
    is "$form names both that were interrupted" "$status $(grep -c "$cut" interrupted/$form | sed 's/^[1-9].*/some/') \
$(grep -c "interrupted, 1 of $rows rows" interrupted/$form | sed 's/^[1-9].*/some/')" "1 some some"
done
is "a run that is not there has no ranks" "$(grep -c '^cut  *n/a  *n/a .* unreadable  *cannot read unread: ' printed)" 1
with_python "interrupted runs fail in JUnit's XML; one that cannot be read is an error" python3 -c '
import xml.etree.ElementTree as tree
cases = list(tree.parse("interrupted/report.xml").iter("testcase"))[:4]
said = [[(e.tag, e.get("type")) for e in c] for c in cases]
assert said == [[("failure", "interrupted")], [], [("failure", "interrupted")], [("error", "unreadable")]], said'
try "$program" report cut=early whole=alone cut=short --output interrupted/again
with_python "their figures are those of their summaries" \
    "$root/tests/consumers/recompute_report.py" interrupted/again cut=early whole=alone cut=short

# ---- what is refused ----

# refuses STATUS WORDS PATTERN ARGUMENT...
refuses() {
    try "$program" report "${@:4}"
    check "$1" "$2" "^ddpbench: $3"
    is "$2: in one line, and nothing is printed" "$(wc -l <said) $(wc -c <printed)" "1 0"
}
cp -r "a benchmark" loud && sed -i 's/"mode":.*/"mode": "\\u001b[31m",/' loud/run.json
refuses 1 "a mode that a terminal would obey" 'loud: run.json has mode [\]x1b[[]31m and summary.json has mode benchmark' loud
mkdir -p empty sweeps/ranks=2/model=m
refuses 1 "a directory that is not there" 'cannot read absent: No such file' absent
refuses 2 "a form beside metrics.csv" '--html does not go with --metrics-csv' --metrics-csv --html x alone
try "$program" report absent missing
is "none that can be read: each is named" "$status $(wc -c <printed) $(paste -sd ';' said)" \
    "1 0 ddpbench: cannot read absent: No such file or directory;ddpbench: cannot read missing: No such file or directory"
# of runs below a directory: what lost its run.json, what nobody may enter, and a label that stands beside a bad summary
mkdir below && cp -r "a benchmark" below/good && cp -r "a benchmark" below/left && cp -r alone below/torn
echo '{}' >below/summary.json # a stray one hides none of them
rm below/left/run.json && head -c 400 alone/summary.json >below/torn/summary.json && sed -i 's/"label":.*/"label": "mine",/' below/torn/run.json
try "$program" report below
is "broken ones below a directory are named, by their own labels" \
    "$status $(sed -n 's/^ddpbench: //p' said | cut -d : -f 1 | paste -sd ';')" \
    "1 below/left;below/torn/summary.json"
try "$program" report --metrics-csv below absent
is "metrics.csv of the others" "$status $(paste -sd ';' said)" \
    "1 ddpbench: cannot read absent/rank_0_metrics.jsonl: No such file or directory"
if [ "$(id -u)" != 0 ]; then
    chmod 0 below/good
    try "$program" report below alone
    chmod 755 below/good
    is "so is what nobody may enter" "$status $(grep -c '^ddpbench: cannot read below/good: Permission denied$' said)" "1 1"
else
    echo "skip - a directory that nobody may enter: root may"
fi
refuses 1 "a sweep beside a run" 'a sweep .* is reported alone' "a benchmark" sweeps
refuses 1 "a file in a directory that is not there" '--csv: cannot write absent/out[.]csv' "a benchmark" --csv absent/out.csv
refuses 2 "a path of 800 characters" '--output x{100}[.]{3}: the path is longer than 736 characters' "a benchmark" --output "$(printf 'x%.0s' {1..800})"
refuses 1 "a directory as the file" '--csv empty: is not a regular file' "a benchmark" --csv empty
try "$program" report alone --output free
pictures=(free/pictures/*.svg)
mkdir -p taken/pictures && echo mine >"taken/pictures/${pictures[-1]##*/}"
refuses 1 "somebody's file in --output" '--output taken/pictures/[^ ]*: exists, and is not what ddpbench writes there; choose another name' alone --output taken
is "nothing was written beside it" "$(find taken -type f | wc -l) $(cat taken/pictures/*)" "1 mine"
echo mine >taken/report.prom && rm -r taken/pictures
refuses 1 "somebody's file of another form" '--output taken/report[.]prom: exists, and is not' alone --output taken
is "nothing was written beside it" "$(ls -A taken) $(cat taken/report.prom)" "report.prom mine"
try flock taken "$program" report alone --output taken
check 1 "a second report in the directory" '^ddpbench: --output taken: another run or report writes there now; choose another directory$'

# over INPUTS: each form onto each file of the run, by its name, another name of it and links; none is changed.
# shellcheck disable=SC2317 # succeeds calls it
over() {
    local file path form
    rm -rf read && cp -r alone read && ln -s read other
    find read -type f -exec md5sum {} + >sums
    for file in read/*; do
        ln -sf "$PWD/$file" soft
        ln -f "$file" hard
        for path in "$file" "other/../$file" "other/${file##*/}" soft hard; do
            for form in html markdown json csv prometheus junit; do
                try "$program" report read "--$form" "$path"
                if [ "$status" != 1 ] || ! grep -q -- "^ddpbench: --$form $path: " said; then
                    echo "--$form $path: status $status, $(cat said)"
                    return 1
                fi
            done
        done
    done
    md5sum --quiet -c sums
}
succeeds "no form goes over a file of the run" over
for again in 1 2; do
    try "$program" report alone --html page.html --markdown page.md --json page.json --csv page.csv --prometheus page.prom --junit page.xml \
        --output whole
    is "but over that of an earlier call ($again)" "$status$(cat said)" 0
done
refuses 1 "a form over another form" '--csv page[.]html: exists, and is not' alone --csv page.html
cp -r alone lost && : >lost/summary.csv
refuses 1 "a form over an empty file of the run" '--csv lost/summary[.]csv: the run writes a file of this name' lost --csv lost/summary.csv
mkdir above && cp -r lost above
refuses 1 "or of a run below the directory" '--csv above/lost/summary[.]csv: the run writes a file of this name' above --csv above/lost/summary.csv
rm -r above
cp "alone/metrics.csv" steps && echo mine >"alone/metrics.csv"
refuses 1 "somebody's metrics.csv" 'cannot write alone/metrics[.]csv: exists, and is not what' --metrics-csv alone
sed 's/$/,mine/' steps >"alone/metrics.csv"
refuses 1 "metrics.csv with columns of somebody's" 'cannot write alone/metrics[.]csv: exists, and is not what' --metrics-csv alone
cut -c 1-5 steps >"alone/metrics.csv"
refuses 1 "metrics.csv with a part of a column's name" 'cannot write alone/metrics[.]csv: exists, and is not what' --metrics-csv alone
cut -d , -f 1-4 steps >"alone/metrics.csv"
try "$program" report --metrics-csv alone
is "one of steps that had fewer is replaced" "$status $(cmp alone/metrics.csv steps && echo same)" "0 same"
echo mine >"alone/metrics.csv"
mv steps "alone/metrics.csv"
refuses 2 "no directory" 'no directory: name the result directories' --csv x
refuses 2 "an empty word" "'': expected a result directory, or LABEL=DIR" ""
refuses 2 "a label alone" "'a=': expected a result directory, or LABEL=DIR" a=
refuses 2 "a label with a blank" "'a b=alone': a label has only letters, digits and -_[+][.], and at most 103 of them" "a b=alone"
refuses 2 "a label that is too long" "'x*=alone': a label has only" "$(printf 'x%.0s' {1..104})=alone"
refuses 1 "a path that is not there, with a = in it" 'cannot read ab sent/a b=c: No such file' "ab sent/a b=c"
refuses 2 "two forms in place of the words" '--html - and --csv -: both name the same output' alone --csv - --html -
refuses 2 "two forms in one file" '--markdown both and --json both: both name the same output' alone --json both --markdown both
is "which is not written" "$([ -e both ] || echo none)" none
refuses 1 "the steps of what is no run" 'cannot read empty/rank_0_metrics[.]jsonl: No such file' --metrics-csv empty
mkdir killed && cp -r "a benchmark" killed/benchmark && cp -r profile/ddp killed/profile
rm killed/*/{summary.*,metrics.csv} && printf '{"implementation": "dd' >>killed/benchmark/rank_0_metrics.jsonl
: >killed/benchmark/.ddpbench-0123abcd.tmp
try "$program" report --metrics-csv killed
is "the steps of runs that were killed" "$status $(wc -c <printed) $(cmp killed/benchmark/metrics.csv "a benchmark/metrics.csv" &&
    cmp killed/profile/metrics.csv profile/ddp/metrics.csv && echo same)" "0 0 same"
is "what a killed process left there is gone" "$(find killed -name '*.tmp')" ""
try "$program" report --help
is "--help" "$status $(head -n 1 printed)" "0 Usage: ddpbench report [LABEL=]DIR... [OPTION VALUE]..."

# ---- a sweep whose step times are known ----

# made_up RANKS NAME STRATEGY BUCKET STEP...: complete runs with these step times in ms, - for one that is not there; of
# the sweep $sweep.
sweep=known
made_up() {
    local ranks=$1 name=$2 strategy=$3 bucket=$4 repeat=0 step directory version='"schema_version": 3, "mode": "benchmark"'
    shift 4
    for step in "$@"; do
        repeat=$((repeat + 1))
        [ "$step" != - ] || continue
        directory=$sweep/ranks=$ranks/model=m/$name${bucket:+-$bucket}/repeat-$repeat
        mkdir -p "$directory"
        cat >"$directory/run.json" <<END
{$version, "label": "", "configuration": {"bucket-size-mb": "$bucket"}, "derived": {"world_size": $ranks, "host_count": 1, "threads": 1, "comm": "mpi"},
"hosts": {"h": {"cpu": "Some(R) CPU @ 1.0GHz"}}, "environment": {"DDPBENCH_LINK": ""},
"implementations": [{"name": "$name", "strategy": "$strategy"${bucket:+, \"bucket_bytes\": 1}}]}
END
        cat >"$directory/summary.json" <<END
{$version, "done": 6, "planned": 6, "of": "rounds", "figures": [
{"subject": "$name", "name": "step", "unit": "s", "value": ${step}e-3, "n": 6, "better": "lower", "judged": true},
{"subject": "$name", "name": "tokens_per_second", "unit": "1/s", "value": ${step}e2, "n": 6, "better": "higher"}]}
END
    done
}
made_up 2 best ddp_flat '' 10 11 12
made_up 2 none none '' 9 10 11
made_up 2 twice ddp_bucketed 0.5 20 22 24
made_up 2 noisy ddp_bucketed 4 11 9.9 14.4                # ratios 1.1, 0.9, 1.2
made_up 2 close ddp '' 10.7250818 12.1568801 13.6659406   # e^0.07, e^0.10, e^0.13: p = 0.029 alone
made_up 4 best ddp_flat '' 10 11 12                       # half of the tokens for each rank
made_up 10 two ddp '' 10 12
made_up 10 other ddp_flat '' 20 24
mkdir known/ranks=2/model=m/best/repeat-4.part known/ranks=2/model=m/best/repeat-5.failed
cp -r known copy
try "$program" report known
is "a sweep is reported" "$status $(head -n 1 printed)" "0 Bottleneck analysis of known, a sweep of 22 runs"
row() { sed -nE "s/^([ *=])? *($1 .*)/\\1 \\2/p" printed | sed -n "${2:-1}p" | tr -s ' ' | sed 's/ *$//'; }
is "the best" "$(row best)" "* best 11.00 [8.52, 13.48] 3 1.000 1100"
is "twice the best" "$(row twice)" " twice 0.5 22.00 [17.03, 26.97] 3 2.000 [2.000, 2.000] 2200"
is "a noisy one" "$(row noisy)" "= noisy 4 11.77 [5.94, 17.59] 3 1.059 [0.594, 1.888] 1177"
is "one that would be slower if it were the only other" "$(row close)" "= close 12.18 [8.53, 15.84] 3 1.105 [0.983, 1.243] 1218"
is "none is no candidate" "$(row none)" " none 10.00 [7.52, 12.48] 3 0.909 [0.888, 0.930] 1000"
is "more ranks, and how they scale" "$(row best 2)" "* best 11.00 [8.52, 13.48] 3 1.000 1100 0.500"
is "two repeats decide nothing" "$(row two)" " two 11.00 2 1.000 1100"
is "and the report says so" "$(grep -cx 'No verdict: too few repeats for an interval; let there be 3 or more (--repeats)[.]' printed)" 1
is "one candidate" "$(grep '^Nothing' printed)" "Nothing to choose: fewer than two strategies that reduce."
is "ranks in order" "$(sed -nE 's/^([0-9]+ ranks?, model m, .*)/\1/p' printed | tr '\n' ';')" \
    "$(printf '%s ranks, model m, link: mpi on 1 host, machine: Some(R) CPU @ 1.0GHz;' 2 4 10)"
is "the sentences" "$(grep -A 4 '^Use ' printed | paste -sd ' ' | tr -s ' ')" "Use best: step 11.00 ms [8.52, 13.48]. Options: --implementations ddp_flat \
Tie (not significantly slower): noisy at 4 MiB +5.9 % [-40.6, +88.8], close +10.5 % [-1.7, +24.3]."
picture=sweep_m_2-ranks.svg
# texts FILE PATTERN: what a picture says
texts() { grep -oE ">($2)[^<]*" "$1" | sort -u | tr '>\n' ' ;'; }
cp printed words
for again in 1 2; do try "$program" report known --html sweep.html --output "sweep report"; done
is "a sweep has every form" "$status$(cat said) $(cmp sweep.html "sweep report/report.html" && echo same) $(cd "sweep report" && echo pictures/*) $(
    grep -c 'Use best' sweep.html | sed 's/^[1-9].*/some/')" "0 same pictures/$picture some"
picture="sweep report/pictures/$picture"
is "the picture says what it is of" "$(texts "$picture" '2 ranks, model')" " 2 ranks, model m, link: mpi on 1 host, machine: Some(R) CPU @ 1.0GHz;"
is "a line for each implementation" "$(grep -oE '>(best|none|close|twice|noisy)<' "$picture" | sort -u | tr -d '>\n' | tr '<' ' ')" "best close noisy none twice "
try "$program" report known --csv -
is "all of its figures, by directory" "$(wc -l <printed) $(grep -c '^\(known/ranks=2/model=m/noisy-4/repeat-3,\)\1complete,noisy,step,' printed)" "45 1"
"${run[@]}" report known >printed 2>said && cmp printed words && good=0 || good=1
result "$good" "two ranks print once"
try "$program" report known/
is "a path may end with /" "$(tail -n +3 printed | cmp - <(tail -n +3 words) && echo same)" same
mv copy 'a [*]?\ sweep'
try "$program" report 'a [*]?\ sweep'
is "and hold any character" "$(tail -n +3 printed | cmp - <(tail -n +3 words) && echo same)" same

# the best bucket is the smallest, then there are too few to call it the best
sweep=edge
made_up 2 b ddp_bucketed 1 10 11 12
made_up 2 b ddp_bucketed 2 12 13.1 14
made_up 3 b ddp_bucketed 1 10 11
made_up 3 b ddp_bucketed 2 12 13
made_up 3 none none '' 10 11
try "$program" report edge --output edge/report
is "a bucket size at the edge is named" "$(grep -o 'b is best.*' printed)" "b is best at the smallest size tried: try smaller."
is "also on the picture" "$(grep -o 'try smaller' edge/report/pictures/sweep_m_2-ranks.svg | sort -u)" "try smaller"
is "without intervals nothing is called the best" "$(grep -oE '>(No verdict[^<]*[.]|Use[^<]*|best)<' edge/report/pictures/sweep_m_3-ranks.svg | sort -u)" \
    ">No verdict: too few repeats for an interval; let there be 3 or more (--repeats).<"


mkdir -p nothing/ranks=2/model=m/ddp/repeat-1.failed
refuses 1 "a sweep without a complete run" 'nothing: no run in it is complete' nothing
sed -i 's/"schema_version": 3/"schema_version": 1/' known/ranks=4/model=m/best/repeat-2/*.json
refuses 1 "a run of an older schema in it" 'known/ranks=4/model=m/best/repeat-2/run[.]json: schema_version 1: ' known
rm -r known/ranks=4/model=m/best/repeat-2 && cp -r "a benchmark" known/ranks=4/model=m/best/repeat-2
refuses 1 "a run of several implementations in it" 'known/.*/repeat-2: is not the benchmark of one implementation' known
exit "$failed"
