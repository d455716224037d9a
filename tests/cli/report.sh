#!/usr/bin/env bash
# report.sh - ddpbench report repeats the output of runs of every kind, judges a sweep with known step times, and refuses
# directories that are not finished runs.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"
start_quickly

# ---- runs ----

tiny=(--d-model 32 --num-layers 1 --num-heads 2 --d-ff 48 --context-length 16 --batch-size 6 --vocab-size 256 --rounds 2
    --steps-per-block 2)
run=("${mpirun[@]}" -n 2 "$program")

# shellcheck disable=SC2317 # called by with_python
not() { ! "$@"; }

succeeds "a benchmark to report is made" "${run[@]}" "${tiny[@]}" --implementations none,ddp --label "a-label" --output "a benchmark"
succeeds "a profile to report is made" "${run[@]}" "${tiny[@]}" --profile --profile-implementation ddp --profile-output-dir profile
succeeds "a run of allreduce to report is made" "${run[@]}" allreduce --sizes 8,1K --iters 20 --output collectives

# others_used SHARE RUN...: sets the share of the cores that other processes used during the runs.
others_used() {
    local run
    for run in "${@:2}"; do
        sed -i "/\"other_processes\"/,/}/ s/\(\"share\":[[:space:]]*\)[^,]*/\1$1/; /\"other_processes\"/,/}/ s/\(\"machine_cores\":[[:space:]]*\)[^,]*/\12/" "$run/summary.json"
    done
}
cp -r "a benchmark" busy
cp -r profile/ddp busier
others_used 0.3 busy
others_used 0.4 busier
try "$program" report busy busier
is "the note on a busy machine is printed once, before the summary" \
    "$status $(sed '/^Summary/q' printed | grep -c '^Busy machine: other processes used 0[.]8 of 2 cores') $(grep -c '^Busy machine' printed)" "0 1 1"

# again DIRECTORY MODE COMMAND SUMMARY: checks that the report contains date, command and output of the run. Output
# lines of allreduce that begin with # are wrapped differently.
again() {
    local time
    try "$program" report "$1"
    time=$(sed -nE 's/^\t"time":\t"(.*)",$/\1/p' "$4/run.json")
    unwrapped printed >joined
    [ "$status" = 0 ] && [ ! -s said ] && [ -n "$time" ] &&
        [ "$(head -n 1 printed | cut -d' ' -f1-2)" = "ddpbench report:" ] &&
        grep -qF "$2 of $time, ddpbench " joined && grep -qF ": $3 " joined &&
        [ "$(grep -cv '^#' "$4/summary.txt")" -gt 3 ] && ! grep -v '^#' "$4/summary.txt" | grep -vxFf printed >>said && good=0 || good=1
    result "$good" "the report repeats the output of mode $2"
}
again "a benchmark" benchmark "$(quote_words "$program") ${tiny[*]} --implementations none,ddp --label a-label --output 'a benchmark'" "a benchmark"
again profile profile "$(quote_words "$program") ${tiny[*]} --profile --profile-implementation ddp --profile-output-dir profile" profile/ddp
again collectives allreduce "allreduce --sizes 8,1K --iters 20 --output collectives" collectives

"$program" report profile --output few >said 2>&1 || true
with_python "every figure and every cell of a profile with few rounds equals its summary" \
    "$root/tests/consumers/recompute_report.py" few profile/ddp

try "$program" report "a benchmark" --markdown -
is "the picture of a benchmark is titled by the strategy with the shortest step" \
    "$(sed -nE 's/^!\[(.*) has the shortest step: [0-9.]+ % of a step is exposed communication, .*\]\(pictures.*/\1/p' printed)" "a-label, ddp"

try "$program" report "a benchmark" profile collectives --csv all.csv
is "a report of several runs omits the output of each" \
    "$status $(head -n 1 printed) $(grep -c '^Losses of all' printed)" "0 ddpbench report: 3 runs 0"
is "--csv of several runs has one header line" "$(head -n 1 all.csv)" \
    "directory,label,state,subject,name,bytes,unit,value,low,high,n,better,judged"
try "$program" report "a benchmark" profile --output lines
n=$(grep -c '"captured": true' profile/ddp/rank_0_metrics.jsonl)
timeline=lines/pictures/profile_timeline.svg
is "a profile has a picture of computation, communication, their overlap and the step, named by its label" \
    "$(cd lines/pictures && echo *_timeline.svg) $(grep '<path class="dp-line' $timeline | tr -cd 'ML\n' | awk '{ print length($0) }' | paste -sd ' ')" \
    "profile_timeline.svg $n $n $n $n"
is "every criterion of a profile has a value, or the reason why not; a benchmark has those that it measures" \
    "$(grep -cE '^device busy / step +[0-9.]+ > 80  < 70, high < 50' printed) $(grep -c 'n/a: no GPU to copy to$' printed) $(grep -c '^backward / step' printed) $(grep -c 'n/a: not measured$' printed)" \
    "1 1 2 0"
for run_of in "a benchmark,a-label" profile/ddp,profile collectives,collectives; do
    is "--csv: figures of ${run_of%,*} equal its summary.csv" \
        "$(sed -n "s|^$run_of,complete,||p" all.csv)" "$(tail -n +2 "${run_of%,*}/summary.csv" | sed 's/^[^,]*,//')"
done
try "$program" report "a benchmark" absent --csv some.csv
is "a missing run is named, and the others are reported" \
    "$status $(unwrapped printed | grep -c 'Left out: 1 of 2 runs, which could not be read') $(grep -c 'cannot read absent: No such file' printed) $(wc -l <some.csv) $(cat said)" \
    "1 1 1 $(wc -l <"a benchmark/summary.csv") ddpbench: cannot read absent: No such file or directory"
try "$program" report "a benchmark" profile collectives --csv -
is "--csv - prints CSV instead of text" "$status $(cmp printed all.csv && echo same)" "0 same"

# ---- reports of several runs ----

"${run[@]}" "${tiny[@]}" --profile --profile-implementation ddp --profile-output-dir late/profile --num-epochs 5 \
    --inject-delay rank=1,ms=150,phase=backward_pass >said 2>&1 && good=0 || good=1
result "$good" "a profile with a straggler is made"
# as on a quiet machine
sed -i '/"name":[[:space:]]*"straggler"/,/"level"/ s/\("level":[[:space:]]*\)"note"/\1"high"/' late/profile/ddp/summary.json
succeeds "a benchmark on one rank is made" "${mpirun[@]}" -n 1 "$program" "${tiny[@]}" --implementations none,ddp --output alone
succeeds "a benchmark of one strategy is made" "${mpirun[@]}" -n 2 "$program" "${tiny[@]}" --implementations none,ddp --output single
try "$program" report single
is "the report of a run that leaves no choice gives no advice" "$status $(grep -c 'What to use' printed)" "0 0"
try "$program" report one=alone two="a benchmark" two=late two=collectives --output whole
is "--output writes all forms" "$status $(cd whole && echo *)" \
    "0 BOTTLENECK_ANALYSIS.md pictures report.csv report.html report.json"
with_python "the first bottleneck is rated high" python3 -c '
import json
blocks = json.load(open("whole/report.json"))["blocks"]
rows = next(b["table"] for b in blocks if b.get("table", {}).get("key") == "bottlenecks")["rows"]
assert len(rows) > 1 and rows[0]["level"] == "high", rows'
is "the straggler is the first bottleneck, with a cost near its delay of 150 ms" \
    "$(sed -n 's/^ *straggler  *two, ddp  *profile //p' printed | awk '$2 > 75 && $2 < 300' | wc -l)" 1
is "the main bottleneck, at the top, is the straggler" "$(unwrapped printed | grep -c 'Main bottleneck: straggler in two, ddp: .\{0,300\}rank 1 came last')" 1
is "the report compares runs on one and on two ranks" "$(grep -c '^From 1 to 2 ranks\|^- From 1 to 2 ranks' printed)" 1
for rank in 0 1; do
    ms=$(sed -nE 's/.*"profiler_step": 1,.*"trace_start_ms": ([0-9.]+),.*/\1/p' late/profile/ddp/rank_${rank}_metrics.jsonl)
    ts=$(sed -nE '/"ProfilerStep#1"/s/.*"ts": ([0-9.]+),.*/\1/p' late/profile/ddp_rank_${rank}_trace.json | head -n 1)
    succeeds "trace_start_ms of rank $rank equals the start in the trace: $ms ms" \
        awk -v ms="$ms" -v ts="$ts" 'BEGIN { exit !(ms != "" && ts != "" && (ms - ts / 1000) ^ 2 < 1e-6) }'
done
with_python "every figure and every cell of all forms equals the runs' summaries" \
    "$root/tests/consumers/recompute_report.py" whole one=alone two="a benchmark" two=late/profile/ddp two=collectives
mkdir bad && cp -r whole bad/ && sed -i 's/"name":"step","unit":"s","value":[0-9]/&9/' bad/whole/report.json
with_python "recompute_report.py detects a changed figure" not "$root/tests/consumers/recompute_report.py" bad/whole one=alone \
    two="a benchmark" two=late/profile/ddp two=collectives
cp -r late nasty && cp -r "a benchmark" "nasty/<b> & \"x\", \$(touch harm) \`touch harm\`"
nasty=("nasty/<b> & \"x\", \$(touch harm) \`touch harm\`")
# shellcheck disable=SC2016 # must not be expanded
sed -i 's/"label":.*/"label": "<script>alert(1)<\/script>, |x| ]]> \\"q\\" \\u0001 $(touch harm)",/' nasty/profile/ddp/run.json "${nasty[0]}/run.json"
sed -i 's/"heading":\t\[/&"\\u001b]0;x\\u0007 \\u009b2J",/' "${nasty[0]}/summary.json"
sed -i 's/"cpu":.*/"cpu": "<img src=x> | [a](http:\/\/b) \\u001b[31m",/' "${nasty[0]}/run.json"
try "$program" report nasty --output nasty/report
is "names with HTML, Markdown and shell syntax are escaped" "$status $([ -e harm ] && echo harm) $(grep -c '<script\|<img' nasty/report/report.html)" "0  0"
is "names with control characters are escaped on the terminal" \
    "$(LC_ALL=C tr -d '\n\t -~' <printed | wc -c) $(grep -c '\[31m' printed)" "0 2"
"$program" report "${nasty[0]}" >printed 2>said && good=0 || good=1
printed=$(cat printed) && printed=${printed//"$(quote_words "$program")"/}
is "the report of one run escapes control characters in its output" "$good $(LC_ALL=C tr -d '\n\t -~' <<<"$printed" | wc -c)" "0 0"
with_python "names with special characters do not break a form" "$root/tests/consumers/recompute_report.py" nasty/report "${nasty[0]}" nasty/profile/ddp
name=$(printf 'n%.0s' {1..100})
try "$program" report "$name=alone" right="a benchmark"
is "a label of 100 characters is accepted" "$status $(grep -c "$name" printed | sed 's/^[1-9].*/some/')" "0 some"
cp -r late pipes && rm pipes/profile/ddp/rank_1_metrics.jsonl # below, a pipe takes the place of this file
try "$program" report pipes/profile --output some-ranks
is "a picture of a step without all ranks notes the missing rank" \
    "$(grep -o 'Only 1 of 2 ranks: rank_1_metrics.jsonl lacks the step' some-ranks/pictures/step.svg | sort -u)" \
    "Only 1 of 2 ranks: rank_1_metrics.jsonl lacks the step"
mkfifo pipes/profile/ddp/rank_1_metrics.jsonl
try timeout 20 "$program" report pipes
is "a pipe in a run's directory is ignored" "$status$(cat said)" 0

# ---- interrupted runs ----

cp -r "a benchmark" early && sed -i 's/^\t"done":\t2/\t"done":\t1/' early/summary.json
cp -r collectives short && sed -i -E 's/^\t"done":\t[0-9]+/\t"done":\t1/' short/summary.json
rows=$(sed -nE 's/^\t"planned":\t([0-9]+),$/\1/p' short/summary.json)
cut='interrupted, 1 of 2 rounds'
cp -r profile stopped && sed -i 's/^\t"done":.*/\t"done":\t0,/; s/^\t"planned":.*/\t"planned":\t10,/' stopped/ddp/summary.json
try "$program" report stopped
is "a profile without rounds is reported by its captured steps, with a line on that" \
    "$status $(head -n 1 printed | grep -c '(interrupted, 0 of 10 rounds)$') $(grep -c '^- stopped ended before its rounds (the controls); ' printed) $(grep -c '^run  *source ' printed)" "0 1 1 1"
try "$program" report early
is "an interrupted run is marked in heading, summary and table" \
    "$status $(head -n 1 printed | grep -c "^ddpbench report: a-label ($cut)\$") \
$(grep -c '^- Interrupted: 1 of 1 runs; their figures are from their last summary (see Runs)[.]' printed) $(grep -c "^a-label .* $cut" printed)" "0 1 1 1"
try "$program" report cut=early whole=alone cut=short cut=unread --output interrupted
cp -r profile captured && sed -i 's/"interrupted":\tfalse/"interrupted":\ttrue/; s/^\t"done":.*/\t"done":\t0,/; s/^\t"planned":.*/\t"planned":\t0,/' captured/ddp/summary.json
"$program" report captured >progress 2>said || true
is "a profile with an interrupted capture is not complete" "$(head -n 1 progress | grep -c '(interrupted during the capture)$')" 1
for form in report.html BOTTLENECK_ANALYSIS.md report.json report.csv; do
    is "$form names both interrupted runs" "$status $(grep -c "$cut" interrupted/$form | sed 's/^[1-9].*/some/') \
$(grep -c "interrupted, 1 of $rows rows" interrupted/$form | sed 's/^[1-9].*/some/')" "1 some some"
done
is "a missing run has N/A as number of ranks" "$(grep -c '^cut  *N/A  *N/A .* unreadable  *cannot read unread: ' printed)" 1
try "$program" report cut=early whole=alone cut=short --output interrupted/again
with_python "figures of interrupted runs equal their summaries" \
    "$root/tests/consumers/recompute_report.py" interrupted/again cut=early whole=alone cut=short

# ---- refused input ----

# refuses STATUS WORDS PATTERN ARGUMENT...: checks the status and the one error line of a refused report.
refuses() {
    try "$program" report "${@:4}"
    check "$1" "refused: $2" "^ddpbench: $3"
    is "refused: $2: one error line and no output" "$(wc -l <said) $(wc -c <printed)" "1 0"
}
cp -r "a benchmark" loud && sed -i 's/"mode":.*/"mode": "\\u001b[31m",/' loud/run.json
refuses 1 "a mode with a terminal escape sequence" 'loud: run.json has mode [\]x1b[[]31m and summary.json has mode benchmark' loud
mkdir -p empty sweeps/ranks=2/model=m
refuses 1 "a missing directory" 'cannot read absent: No such file' absent
refuses 2 "--html with --metrics-csv" '--html does not go with --metrics-csv' --metrics-csv --html x alone
try "$program" report absent missing
is "no readable run: each one is named" "$status $(wc -c <printed) $(paste -sd ';' said)" \
    "1 0 ddpbench: cannot read absent: No such file or directory;ddpbench: cannot read missing: No such file or directory"
# Makes a run without run.json, an unreadable directory, and a run with a label and a truncated summary.
mkdir below && cp -r "a benchmark" below/good && cp -r "a benchmark" below/left && cp -r alone below/torn
echo '{}' >below/summary.json # a summary.json here must not hide the runs in subdirectories
rm below/left/run.json && head -c 400 alone/summary.json >below/torn/summary.json && sed -i 's/"label":.*/"label": "mine",/' below/torn/run.json
try "$program" report below
is "broken runs below a directory are named" \
    "$status $(sed -n 's/^ddpbench: //p' said | cut -d : -f 1 | paste -sd ';')" \
    "1 below/left;below/torn/summary.json"
try "$program" report --metrics-csv below absent
is "--metrics-csv names the unreadable directory" "$status $(paste -sd ';' said)" \
    "1 ddpbench: cannot read absent/rank_0_metrics.jsonl: No such file or directory"
if [ "$(id -u)" != 0 ]; then
    chmod 0 below/good
    try "$program" report below alone
    chmod 755 below/good
    is "a directory without permissions is named" "$status $(grep -c '^ddpbench: cannot read below/good: Permission denied$' said)" "1 1"
else
    echo "skip - a directory without permissions: root can read it"
fi
refuses 1 "a sweep together with a run" 'a sweep .* is reported alone' "a benchmark" sweeps
refuses 1 "--csv in a missing directory" '--csv: cannot write absent/out[.]csv' "a benchmark" --csv absent/out.csv
refuses 2 "a path of 800 characters" '--output x{100}[.]{3}: the path is longer than 736 characters' "a benchmark" --output "$(printf 'x%.0s' {1..800})"
refuses 1 "a directory as --csv" '--csv empty: is not a regular file' "a benchmark" --csv empty
try "$program" report alone --output free
pictures=(free/pictures/*.svg)
mkdir -p taken/pictures && echo mine >"taken/pictures/${pictures[-1]##*/}"
refuses 1 "a user's picture in --output" '--output taken/pictures/[^ ]*: exists, and is not what ddpbench writes there; choose another name' alone --output taken
is "a refused --output directory keeps the picture and gets no file" "$(find taken -type f | wc -l) $(cat taken/pictures/*)" "1 mine"
echo mine >taken/report.csv && rm -r taken/pictures
refuses 1 "a user's report.csv in --output" '--output taken/report[.]csv: exists, and is not' alone --output taken
is "a refused --output directory keeps report.csv and gets no file" "$(find taken -type f) $(cat taken/report.csv)" "taken/report.csv mine"

# ---- PNG: stand-ins for the programs that convert ----

mkdir -p tools none
# shellcheck disable=SC2016 # the stand-in expands them
printf '#!/bin/sh\necho "$0 $*" >>tools/calls\ncase $0 in *magick) exit 3 ;; esac\nprintf "\\211PNG"\nhead -c 4\n' >tools/rsvg-convert
chmod +x tools/rsvg-convert
# shellcheck disable=SC2016 # must not be expanded
try env PATH="$PWD/tools:$PATH" "$program" report "a benchmark" --output free --png 'png $(touch harm) `touch harm`'
is "--png converts every picture, and expands no name" "$status $(cd png* && find . -name '*.png' | sed 's,./,,; s/[.]png$//' | LC_ALL=C sort | cksum) $(head -c 8 png*/step-breakdown.png | tail -c 7) $([ -e harm ] && echo harm)" \
    "0 $(cd free/pictures && find . -name '*.svg' | sed 's,./,,; s/[.]svg$//' | LC_ALL=C sort | cksum) PNG<svg "
is "rsvg-convert gets twice the size and a white background" "$(sort -u tools/calls)" "$PWD/tools/rsvg-convert --zoom=2 --background-color=white"
try env PATH="$PWD/none" "$program" report alone --png elsewhere
check 1 "without a program that converts, --png names the package" 'none of rsvg-convert, magick, convert and inkscape is on the PATH: install librsvg2-bin'
is "a PNG that could not be made leaves no file" "$(find elsewhere -type f | wc -l)" 0
mv tools/rsvg-convert tools/magick
try env PATH="$PWD/tools" "$program" report alone --png elsewhere
check 1 "the next program is tried, and its failure is reported" 'elsewhere/.*[.]png: magick failed with status 3'
echo mine >elsewhere/step-breakdown.png
refuses 1 "a user's file in --png" '--png elsewhere/step-breakdown[.]png: exists, and is not what ddpbench writes there' alone --png elsewhere

try flock taken "$program" report alone --output taken
check 1 "two reports cannot share a directory" '^ddpbench: --output taken: another run or report writes there now; choose another directory$'

# over: tests that report refuses to write any format over any file of a run, whether a path or a link names the file.
# shellcheck disable=SC2317 # called by succeeds
over() {
    local file path form
    rm -rf read && cp -r alone read && ln -s read other
    find read -type f -exec md5sum {} + >sums
    for file in read/*; do
        ln -sf "$PWD/$file" soft
        ln -f "$file" hard
        for path in "$file" "other/../$file" "other/${file##*/}" soft hard; do
            for form in html markdown json csv; do
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
succeeds "no form overwrites a file of the run" over
for again in 1 2; do
    try "$program" report alone --html page.html --markdown page.md --json page.json --csv page.csv --output whole
    is "forms overwrite the files of an earlier call (call $again)" "$status$(cat said)" 0
done
refuses 1 "--csv on a file of --html" '--csv page[.]html: exists, and is not' alone --csv page.html
cp alone/metrics.csv steps && sed -i '1s/,round,/,lap,/' alone/metrics.csv
refuses 1 "--metrics-csv where a file of somebody else has that name" '--metrics-csv alone/metrics[.]csv: exists, and is not' --metrics-csv alone
head -n 1 steps >alone/metrics.csv
try "$program" report --metrics-csv alone
is "an older metrics.csv is replaced" "$status $(cmp alone/metrics.csv steps && echo same)" "0 same"
refuses 2 "a report without a directory" 'no directory: name the result directories' --csv x
refuses 2 "an empty argument" "'': expected a result directory, or LABEL=DIR" ""
refuses 2 "a label without a directory" "'a=': expected a result directory, or LABEL=DIR" a=
refuses 1 "a run that is named twice" 'alone and [.]/alone are the same run; name each run once' a=alone b=./alone
refuses 2 "a label with a blank" "'a b=alone': a label has only letters, digits and -_[+][.], and at most 103 of them" "a b=alone"
refuses 2 "a label that is too long" "'x*=alone': a label has only" "$(printf 'x%.0s' {1..104})=alone"
refuses 1 "a missing path that contains =" 'cannot read ab sent/a b=c: No such file' "ab sent/a b=c"
refuses 1 "two forms in the same file" '--markdown and --json name the same file, both' alone --json both --markdown both
refuses 1 "two spellings of a file" '--markdown and --json name the same file, alone/../both' alone --json alone/../both --markdown both
refuses 1 "a form in the place of the directory" '--json new: is not a regular file' alone --json new --output new
refuses 1 "a form in the place of a file in the directory" '--html and --output name the same file' alone --html new/../new/report.csv --output new
: >empty_file
refuses 1 "a form on an empty file" '--csv empty_file: exists, and is not' alone --csv empty_file
refuses 2 "a directory that is printed" "--output '-': expected a path; write ./- for a file of that name" alone --output -
refuses 2 "two forms that are printed" '--html and --json: only one can be printed' alone --html - --json -
refuses 1 "--metrics-csv of an empty directory" 'cannot read empty/rank_0_metrics[.]jsonl: No such file' --metrics-csv empty
mkdir killed && cp -r "a benchmark" killed/benchmark && cp -r profile/ddp killed/profile
rm killed/*/{summary.*,metrics.csv} && printf '{"implementation": "dd' >>killed/benchmark/rank_0_metrics.jsonl
: >killed/benchmark/.ddpbench-0123abcd.tmp
try "$program" report --metrics-csv killed
is "--metrics-csv makes metrics.csv of killed runs" "$status $(wc -c <printed) $(cmp killed/benchmark/metrics.csv "a benchmark/metrics.csv" &&
    cmp killed/profile/metrics.csv profile/ddp/metrics.csv && echo same)" "0 0 same"
is "--metrics-csv removes temporary files of killed runs" "$(find killed -name '*.tmp')" ""
try "$program" report --help
is "--help prints the usage" "$status $(head -n 1 printed)" "0 Usage: ddpbench report [LABEL=]DIR... [OPTION VALUE]..."

# ---- a sweep with known step times ----

# made_up RANKS NAME STRATEGY BUCKET STEP...: makes complete runs of the sweep $sweep with these step times in ms; -
# leaves a run out.
sweep=known
made_up() {
    local ranks=$1 name=$2 strategy=$3 bucket=$4 repeat=0 step directory version='"schema_version": 4, "mode": "benchmark"'
    shift 4
    for step in "$@"; do
        repeat=$((repeat + 1))
        [ "$step" != - ] || continue
        directory=$sweep/ranks=$ranks/model=m/$name${bucket:+-$bucket}/repeat-$repeat
        mkdir -p "$directory"
        cat >"$directory/run.json" <<END
{$version, "label": "", "configuration": {"bucket-size-mb": "$bucket"}, "derived": {"world_size": $ranks, "host_count": 1, "threads": 1, "comm": "mpi", "tokens_per_step": 12},
"hosts": {"h": {"cpu": "Some(R) CPU @ 1.0GHz"}}, "environment": {"DDPBENCH_LINK": ""},
"implementations": [{"name": "$name", "strategy": "$strategy"${bucket:+, \"bucket_bytes\": 1}}]}
END
        cat >"$directory/summary.json" <<END
{$version, "done": 6, "planned": 6, "of": "rounds", "figures": [
{"subject": "$name", "name": "step", "unit": "s", "value": ${step}e-3, "n": 6, "better": "lower", "judged": true},
{"subject": "$name", "name": "sync_cost", "unit": "s", "value": 0, "n": 6, "better": "lower"}]}
END
    done
}
made_up 2 best ddp_flat '' 10 11 12 10 11 12
made_up 2 none none '' 9 10 11 9 10 11
made_up 2 twice ddp_bucketed 0.5 20 22 24 20 22 24
made_up 2 noisy ddp_bucketed 4 11 9.9 14.4 11 9.9 14.4 # ratios to best: 1.1, 0.9, 1.2 twice
made_up 2 close ddp '' 10.06018 10.95609 12.0481 10.06018 10.95609 12.0481 # ratios e^0.006, e^-0.004, e^0.004 twice
made_up 4 best ddp_flat '' 10 11 12 10 11 12 # per rank, half the tokens/s of 2 ranks
made_up 10 two ddp '' 10 12
made_up 10 other ddp_flat '' 20 24
mkdir known/ranks=2/model=m/best/repeat-4.part known/ranks=2/model=m/best/repeat-5.failed
cp -r known copy
try "$program" report known
is "a sweep is reported" "$status $(head -n 1 printed)" "0 ddpbench report: known, a sweep of 40 runs"
row() { sed -nE "s/^([ *=])? *($1 .*)/\\1 \\2/p" printed | sed -n "${2:-1}p" | tr -s ' ' | sed 's/ *$//'; }
is "rows are in order of their steps" "$(sed -nE 's/^[ *=]* (none|best|close|noisy|twice) .*/\1/p' printed | head -n 5 | paste -sd ' ')" \
    "none best close noisy twice"
is "the best strategy is marked with *" "$(row best)" "* best 10.97 [10.07, 11.95] 6 1.000 1094"
is "a strategy that takes twice as long has no mark" "$(row twice)" " twice 0.5 21.94 [20.14, 23.90] 6 2.000 [2.000, 2.000] 547"
is "a noisy strategy has no mark" "$(row noisy)" " noisy 4 11.62 [9.69, 13.93] 6 1.059 [0.844, 1.329] 1033"
is "a strategy known to be within 2 % is a tie" "$(row close)" "= close 10.99 [10.10, 11.96] 6 1.002 [0.994, 1.010] 1092"
is "none is not a candidate" "$(row none)" " none 9.967 [9.07, 10.95] 6 0.909 [0.901, 0.916] 1204"
is "a row on more ranks has the scaling efficiency" "$(row best 2)" "* best 10.97 [10.07, 11.95] 6 1.000 1094 0.500"
is "two repeats give no interval" "$(row two)" " two 10.95 2 1.000 1095"
is "two repeats: the report gives no verdict" "$(grep -cx 'No verdict: too few repeats; use 6 or more (--repeats)[.]' printed)" 1
is "with one candidate there is no choice to make" "$(grep '^Nothing' printed)" "Nothing to choose: fewer than two of the strategies reduce gradients."
is "tables are in order of ranks" "$(sed -nE 's/^([0-9]+ ranks?, model m, .*)/\1/p' printed | tr '\n' ';')" \
    "$(printf '%s ranks, model m, link: mpi on 1 host, machine: Some(R) CPU @ 1.0GHz;' 2 4 10)"
is "the recommendation names the shortest, the tie and what is undecided" "$(grep -A 7 '^Shortest so far' printed | paste -sd ' ' | tr -s ' ')" \
    "Shortest so far is best: a step takes 10.97 ms [10.07, 11.95]. Options: --implementations ddp_flat Tie (within 2 %): close +0.2 % [-0.6, +1.0]. \
Undecided (not known to 2 %): noisy at 4 MiB +5.9 % [-15.6, +32.9]. About 89 repeats more would decide."
picture=sweep_m_2-ranks.svg
# labels FILE PATTERN: prints the texts of an SVG picture that begin with PATTERN.
labels() { grep -oE ">($2)[^<]*" "$1" | sort -u | tr '>\n' ' ;'; }
cp printed words
for place in new new/../new; do
    refuses 1 "a form in the place of a picture" "--html and --output name the same file" known --html $place/pictures/$picture --output new
done
for again in 1 2; do try "$program" report known --html sweep.html --output "sweep report"; done
is "a sweep is written in every form" "$status$(cat said) $(cmp sweep.html "sweep report/report.html" && echo same) $(cd "sweep report" && echo pictures/*) $(
    grep -c 'Shortest so far is best' sweep.html | sed 's/^[1-9].*/some/')" "0 same pictures/$picture pictures/verdict${picture#sweep} some"
is "the picture of the verdict has its words" "$(grep -cE '>(shortest so far|tie|undecided|slower)</text>' "sweep report/pictures/verdict_m_2-ranks.svg") $(
    labels "sweep report/pictures/verdict_m_2-ranks.svg" 'noisy|[+]5.9')" "4  +5.9 % [-15.6, +32.9]; noisy at 4 MiB;"
picture="sweep report/pictures/$picture"
is "the picture names ranks, model, link and machine" "$(labels "$picture" '2 ranks, model')" " 2 ranks, model m, link: mpi on 1 host, machine: Some(R) CPU @ 1.0GHz;"
is "the picture has a line for each implementation" "$(grep -oE '>(best|none|close|twice|noisy)<' "$picture" | sort -u | tr -d '>\n' | tr '<' ' ')" "best close noisy none twice "
try "$program" report known --csv -
is "--csv - prints all figures by directory" "$(wc -l <printed) $(grep -c '^\(known/ranks=2/model=m/noisy-4/repeat-3,\)\1complete,noisy,step,' printed)" "81 1"
"${run[@]}" report known >printed 2>said && cmp printed words && good=0 || good=1
result "$good" "a report under mpirun prints once"
try "$program" report known/
is "a path may end with /" "$(tail -n +3 printed | cmp - <(tail -n +3 words) && echo same)" same
mv copy 'a [*]?\ sweep'
try "$program" report 'a [*]?\ sweep'
is "a path may contain any character" "$(tail -n +3 printed | cmp - <(tail -n +3 words) && echo same)" same

# A sweep whose best bucket size is its smallest; with 3 ranks it has too few runs to decide.
sweep=edge
made_up 2 b ddp_bucketed 1 10 11 12 10 11 12
made_up 2 b ddp_bucketed 2 12 13.1 14 12 13.1 14
made_up 3 b ddp_bucketed 1 10 11
made_up 3 b ddp_bucketed 2 12 13
made_up 3 none none '' 10 11
try "$program" report edge --output edge/report
is "the report notes that the smallest size is best" "$(grep -o 'b is best.*' printed)" "b is best at the smallest size tried: try smaller."
is "the picture notes that the smallest size is best" "$(grep -o 'try smaller' edge/report/pictures/sweep_m_2-ranks.svg | sort -u)" "try smaller"
is "without intervals the picture marks no best strategy" "$(grep -oE '>(No verdict[^<]*[.]|Use[^<]*|best)<' edge/report/pictures/sweep_m_3-ranks.svg | sort -u)" \
    ">No verdict: too few repeats; use 6 or more (--repeats).<"


mkdir -p nothing/ranks=2/model=m/ddp/repeat-1.failed
refuses 1 "a sweep without a complete run" 'nothing: no run in it is complete' nothing
sed -i 's/"schema_version": 4/"schema_version": 1/' known/ranks=4/model=m/best/repeat-2/*.json
refuses 1 "a sweep with a run of an older schema" 'known/ranks=4/model=m/best/repeat-2/run[.]json: schema_version 1: ' known
rm -r known/ranks=4/model=m/best/repeat-2 && cp -r "a benchmark" known/ranks=4/model=m/best/repeat-2
refuses 1 "a sweep with a run of several implementations" 'known/.*/repeat-2: is not the benchmark of one implementation' known
exit "$failed"
