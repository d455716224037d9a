#!/usr/bin/env bash
# trend.sh - ddpbench trend on the command line, with made-up nights: what it finds, accepts, leaves out and refuses; and
# launch/nightly.sh with real runs.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"
# shellcheck source=tests/support/nights.sh
. "$root/tests/support/nights.sh"

# expect STATUS PATTERN WORDS ARGUMENT...: checks the status of trend, and PATTERN in its output or, for status 1 and 2, its words.
expect() {
    local wanted=$1 pattern=$2 words=$3 status=0 where=printed good=1
    shift 3
    timeout "$limit" "$program" trend "$@" >printed 2>said </dev/null || status=$?
    case $wanted in 1 | 2) where=said ;; esac
    [ "$status" = "$wanted" ] && tr -s '\n ' ' ' <"$where" | grep -qE -- "$pattern" && good=0
    [ "$good" = 0 ] || { echo "status $status" && cat printed; } >>said
    result "$good" "$words"
}

# json FILE EXPRESSION: prints a value of a JSON file, by python3.
json() { python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"; }

# ---- what is found ----

mkdir slow && (cd slow && noisy_nights 46 2 31 0.10 1 | make_runs)
expect 3 'Slower since 2026-01-3[01]|Slower since 2026-02-01' "a slowdown of 10 % from the 31st night on is found" slow --json slow.json --html slow.html \
    --csv slow.csv --junit slow.xml
expect 3 'ring time 1 MiB by \+(9|10|11)\.[0-9] %' "with its size" slow
expect 3 '"verdict":[[:space:]]*"slower"' "the JSON has the change" slow --json -
mkdir equal && (cd equal && noisy_nights 46 2 99 0 2 | make_runs)
expect 0 'Nothing got slower in 46 nights, 2026-01-01 to 2026-02-15: the evidence is [0-9.]+, and an alarm needs 20' \
    "equal nights give no alarm" equal
if command -v python3 >/dev/null; then
    is "the JSON has a value for each night and figure" \
        "$(json slow.json '[len(f["candidate"]) for f in d["series"]], len(d["nights"]), d["exit_status"]')" "([46, 46], 46, 3)"
    # Recomputes the joint evidence of the first nights from the values in the file: one figure each has half of 1/2.
    is "the evidence of each night follows from the values in the JSON" "$(python3 - <<'END'
import json, math
d = json.load(open('slow.json'))
def uniform(*texts):
    h = 0xcbf29ce484222325
    for t in texts:
        for b in t.encode() + b'\0':
            h = (h ^ b) * 0x100000001b3 % 2**64
    x = (h + 0x9e3779b97f4a7c15) % 2**64
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 % 2**64
    x = (x ^ x >> 27) * 0x94d049bb133111eb % 2**64
    return (((x ^ x >> 31) >> 11) + 0.5) * 2**-53
state = [([0.0] * 4, [], [1.0]) for f in d['series']]
good = 0
for t, night in enumerate(d['nights']):
    if t and night['regime_begins']:
        break
    joint = 0.5
    for f, (bets, seen, left) in zip(d['series'], state):
        y = math.log(f['candidate'][t])
        p = (sum(o > y for o in seen) + uniform(f['figure'], night['name']) * (1 + sum(o == y for o in seen))) / (t + 1)
        seen.append(y)
        w = 1 / (0.793 * (t + 4) * math.log(t + 4)**2)
        left[0] -= w
        for i, e in enumerate((0.1, 0.2, 0.3, 0.5)):
            bets[i] = (bets[i] + w) * e * p**(e - 1)
        joint += 0.25 * (sum(bets) / 4 + left[0])
    good += abs(joint / night['evidence'] - 1) < 1e-9
print(good > 30 and good == t + (t + 1 == len(d['nights'])))
END
)" True
    is "the CSV has a column for each figure and a line for each night" "$(python3 -c 'import csv
rows = list(csv.reader(open("slow.csv")))
print(rows[0], len(rows), float(rows[40][3]) > 0.095, rows[1][:3])')" "['time', 'commit', 'night', 'ring time 1 MiB', 'tree time 1 MiB'] 47 True ['2026-01-01 01:01:01 +0000', 'new1', '2026-01-01']"
    python3 -c 'import sys, xml.dom.minidom as m; [m.parse(f) for f in sys.argv[1:]]' slow.xml slow.html 2>said && good=0 || good=1
    result "$good" "JUnit's XML and the page are valid XML"
fi
is "JUnit has a failed case and a passed one" "$(grep -c '<failure' slow.xml) $(grep -c '<testcase' slow.xml)" "1 2"
is "the page has a picture for each figure" "$(grep -o '<svg' slow.html | wc -l)" 2

# ---- the same nights, read otherwise ----

mkdir fewer && cp -r slow/2026-01-* fewer
"$program" trend slow --csv - >all.csv || true
"$program" trend fewer --csv - >january.csv || true
is "nights that are added change nothing of earlier ones" "$(head -n 32 all.csv | cmp - january.csv && echo same)" same
mkdir halves halves/a halves/b && cp -r slow/2026-01-* halves/a && cp -r slow/2026-02-* halves/b
"$program" trend slow >one || true
"$program" trend halves/b halves/a >two || true
is "the order of the directories changes nothing" "$(cmp one two && echo same)" same
expect 3 'Slower since' "nights may be dates in place of directories" slow --night date
expect 0 'Nothing got slower in 46 nights, new1 to new46' "nights may be commits" equal --night commit

# ---- accepting ----

cp -r slow accepting
first=$(sed -nE 's/.*--accept ([^ ]*[0-9]).*/\1/p' one | head -n 1)
expect 0 'Too few nights to tell: 46 nights, .*, of which 1[67] count since the last alarm, accepted change or new figure.* Accepted: 2026-0' "an accepted change is no alarm, and is listed" accepting --accept "$first"
expect 0 'Too few nights to tell' "the directory remembers it" accepting
is "the file of accepted changes has the night" "$(cat accepting/accepted.txt)" "$first"
expect 0 'Too few nights to tell' "a change of a figure can be accepted" slow --accept "$first:ring time 1 MiB"
rm slow/accepted.txt
expect 1 "accept '2027-01-01': expected NIGHT or NIGHT:FIGURE, with a night from 2026-01-01 to 2026-02-15" "an unknown night is refused" slow --accept 2027-01-01
expect 1 "expected NIGHT or NIGHT:FIGURE" "an unknown figure is refused" slow --accept "$first:ring"
[ ! -e slow/accepted.txt ] && good=0 || good=1
result "$good" "and not remembered"
expect 0 'Too few nights to tell' "a change of a figure is also accepted by a night after it was found" slow --accept "2026-02-13:ring time 1 MiB"
"$program" trend slow --accept "2026-02-13:ring time 1 MiB" >/dev/null
is "a change that is accepted twice is kept once" "$(wc -l <slow/accepted.txt)" 1
printf '%s\r\nno night\n\n:\n2026-01-01:no figure\n' "$first" >slow/accepted.txt
expect 0 'Too few nights to tell.* 3 lines that name no night, or no figure, of these, such as .no night.' "lines of the file that name nothing are counted, and an example is given" slow
rm slow/accepted.txt && mkdir slow/accepted.txt
expect 1 'cannot read slow/accepted.txt: Is a directory' "a file of accepted changes that cannot be read is an error" slow
rmdir slow/accepted.txt
"$program" trend halves/b halves/a --accept "$first" >/dev/null
expect 0 'Too few nights to tell' "the files of all directories are read" halves/a halves/b

# ---- controls ----

mkdir shaky && (cd shaky && noisy_nights 70 2 31 0.03 3 0.03 'control candidate' | make_runs)
expect 3 'Slower since 2026-01-[23]|Slower since 2026-02-0[0-9]' "a control shows 3 % where nights differ by 3 %" shaky
mkdir alone && (cd alone && noisy_nights 70 2 31 0.03 3 0.03 | make_runs)
expect 0 'Nothing got slower' "without a control they do not" alone
expect 1 '^ddpbench: --control other: no run has this label' "a label that no run has is refused" alone --control other
cp -r shaky lacking && rm -r lacking/2026-01-1[0-2]/control-*
expect 3 'Left out: 3 nights of allreduce without a control, such as 2026-01-10' "nights without a control are left out, and named" lacking
cp -r shaky rebuilt && sed -i 's/(old)/(older)/' rebuilt/2026-01-[01]?/control-*/allreduce/run.json
expect 0 'From 2026-01-20 on, the control is of another build' "another build of the control begins a level" rebuilt
cp -r alone later && cp -r shaky/2026-01-3*/ shaky/2026-02-0[0-3] later
expect 0 'From 2026-01-30 on, there is a control' "the first control begins a level" later

"$program" trend shaky --night commit --csv - >commits.csv || true
is "with commits as nights, a control belongs to the candidate that is nearest in time" \
    "$(wc -l <commits.csv) $(cut -d, -f4 commits.csv | sed 1d | grep -c '^[01]\.')" "71 70"

# ---- what is doubtful, left out or refused ----

mkdir few && cp -r equal/2026-01-0* few
expect 0 'Too few nights to tell: 9 nights, 2026-01-01 to 2026-01-09, of which 9 count since .* within 20 nights with a chance of [0-9]+ %, however large; from [0-9]+ more nights on, of 80 % or more' "few nights are called few" few
mkdir drifting && awk 'BEGIN { srand(5); x = 0; for (t = 1; t <= 60; t++) { x = 0.8 * x + sqrt(-2 * log(1 - rand())) * cos(6.2832 * rand())
    printf "night-%02d/candidate-1/allreduce 2026-%02d-%02dT01:00:00+0000 a - ring %.6g\n", t, 1 + int((t - 1) / 28), 1 + (t - 1) % 28, exp(0.02 * x) } }' |
    (cd drifting && make_runs)
expect '4' 'Nights depend on each other: neighbouring nights of ring time 1 MiB have a rank correlation of 0' "nights that depend on each other are called so" drifting
cp -r equal jumped && sed -i 's/2026-01-05T/2026-02-25T/' jumped/2026-01-05/*/*/run.json
expect 0 'Doubtful order: .*a clock may have jumped' "a clock that jumps is mentioned" jumped
cp -r equal other && sed -i 's/"x":1/"x":2/' other/2026-02-*/*/*/run.json
expect 0 'From 2026-02-01 on, there are runs of allreduce with other settings \(x 2\)' "other settings are figures of their own" other
is "which have names of their own" "$(grep -cE '(ring|tree) time 1 MiB( \(x 2\))? ' printed)" 4
cp -r equal broken && rm broken/2026-01-07/candidate-1/allreduce/summary.json && mv broken/2026-01-08/candidate-1/allreduce{,.failed}
expect 0 'Left out: 1 run that failed.*Left out: 1 of 91 runs, such as: .*2026-01-07/candidate-1/allreduce' "runs that failed are left out, and named" broken
mkdir broken/2026-01-09/profile.failed && mv broken/2026-01-09/candidate-1/allreduce broken/2026-01-09/profile.failed/ddp
expect 0 'Left out: 2 runs that failed' "also if the run is in a directory below the failed one" broken
cp -r equal timeless && sed -i 's/"time":"[^"]*"/"time":"noon"/' timeless/2026-01-05/candidate-1/allreduce/run.json
expect 0 "Left out: 1 of 92 runs, such as: .*time 'noon': expected a time such as" "a run without a time is left out, and named" timeless
cp -r slow modes && for d in modes/*/candidate-1; do cp -r "$d/allreduce" "$d/other" && sed -i 's/"mode":"allreduce"/"mode":"isolate"/' "$d"/other/*.json; done
expect 3 'ring time 1 MiB \(isolate\) ' "figures of one name from two modes have two names" modes
expect 1 'is itself a run; give the directory above the nights' "a run in place of nights is refused" equal/2026-01-01/candidate-1/allreduce
expect 1 'holds the runs of one night, such as .*; give the directory above it' "a night in place of nights is refused" shaky/2026-01-01
cp -r shaky lost && rm -r lost/2026-01-1[01]/candidate-*
expect 3 'Missing: 2 nights of allreduce with a control and no candidate, such as 2026-01-11' "nights without a candidate are named" lost
mkdir repaired && { noisy_nights 60 2 31 0.10 1; noisy_nights 110 2 999 0 77 | awk '$2 >= "2026-03-02"'; } | (cd repaired && make_runs)
expect 3 'It is faster again since 2026-03-0[1-4]: `--accept 2026-03-0' "a repair after an alarm is found, and what to do is said" repaired
mkdir empty
expect 1 'holds no run: expected ' "a directory without runs is refused" empty
expect 1 'two nights of one name' "two nights of one name are refused" equal slow
expect 1 'are the same run' "a directory that is named twice is refused" equal equal/.
expect 1 'no candidate has a figure to judge' "controls alone are refused" equal --control candidate
expect 2 'no directory' "a directory is needed"
expect 2 "only one can be printed" "two printed forms are refused" equal --json - --csv -
mkdir hundred && awk 'BEGIN { srand(9); for (t = 1; t <= 30; t++) { printf "night-%02d/r 2026-01-%02dT01:00:00+0000 a -", t, t
    for (f = 1; f <= (t > 20 ? 100 : 50); f++) printf " f%d %.6g", f, 1 + 0.02 * rand(); print "" } }' | (cd hundred && make_runs)
expect 0 'Too few nights to tell: 30 nights' "a hundred figures of which half are new give no alarm" hundred

# ---- launch/nightly.sh ----

nightly=("$root/launch/nightly.sh" --program "$program" --output nightly --pairs 1 --command "allreduce -b 8 -e 16 --iters 2"
    --command "--rounds 1 --d-model 32 --num-layers 1 --num-heads 2 --d-ff 48 --context-length 16 --batch-size 4 --vocab-size 256 --implementations none,ddp"
    --night n1)
# night WORDS: measures a night, and checks that compare's verdict of it is printed.
night() {
    try "${nightly[@]}" --control "$program" -- --threads 1
    [ "$status" = 0 ] && grep -q 'n1, allreduce: Verdict: ' printed && grep -q 'n1, benchmark: Verdict: ' printed && good=0 || good=1
    result "$good" "$1"
}
night "a night is measured and judged"
is "with runs of all commands of control and candidate" "$(cd nightly/n1 && echo */*/summary.json)" \
    "candidate-1/allreduce/summary.json candidate-1/benchmark/summary.json control-1/allreduce/summary.json control-1/benchmark/summary.json"
result "$(grep -q 'Too few nights to tell: 1 night, n1 to n1' printed && echo 0 || echo 1)" "and trend's verdict of all nights is printed"
rm -r nightly/n1/candidate-1/allreduce
night "the same call makes what is missing"
result "$(grep -q '4 runs: 3 existed, 1 made, 0 failed' said && echo 0 || echo 1)" "and nothing else"
try "${nightly[@]}" --control "$program" -- --threads 2
check 2 "another setting of the same night is refused" 'earlier starts in nightly/n1 had'
try "${nightly[@]/-e 16/-e 32}" --control "$program" -- --threads 1
check 2 "and so is another command" '^nightly.sh: --command allreduce: earlier starts in nightly/n1 had "allreduce -b 8 -e 16 --iters 2", .* another --night$'
nightly[-1]=n2
cat >failing <<END
#!/bin/sh
case "\$*" in *candidate-1/allreduce*) exit 7 ;; esac
shift
exec "$root/launch/run.sh" -n 2 -- "\$@"
END
chmod +x failing
try "${nightly[@]}" --control "$program" --launcher "$(quote_words "$temporary/failing") {ranks}"
check 1 "a run that fails is reported" 'candidate-1/allreduce failed with status 7'
result "$(grep -q 'of 4 runs of n2, 1 failed or are missing' said && echo 0 || echo 1)" "as missing"
nightly[-1]=n3
flock nightly "${nightly[@]}" >printed 2>said && good=1 || good=0
grep -q 'another nightly.sh measures in nightly' said || good=1
result "$good" "two calls at once are refused"
cat >deaf <<END
#!/bin/sh
echo >"$temporary/begun"
tail -f "$temporary/deaf"
echo done
END
chmod +x deaf
"${nightly[@]}" --launcher "$(quote_words "$temporary/deaf") {ranks}" >printed 2>said </dev/null &
wait_until [ -e begun ] || true
kill -KILL $!
wait $! 2>/dev/null || true
is "if nightly.sh is killed, all processes of its run end" "$(gone deaf)" ""
try "${nightly[@]}" --launcher "$(quote_words "$root/launch/run.sh") -n {ranks} --"
check 2 "the same night with another launcher is refused" '--launcher: earlier starts in nightly/n3 had'
rm -r nightly/n3
try env SECONDS=60 "${nightly[@]}" --minutes 1
check 1 "when the time of a night is over, nothing is measured" 'of 2 runs of n3, 2 failed or are missing'
result "$(grep -q ' 0 runs: 0 existed, 0 made, 0 failed' said && echo 0 || echo 1)" "and no run is said to exist"
rm -r nightly/n3
try "${nightly[@]}" --control "$temporary/none"
check 1 "a control that does not exist is refused" '--control .*none: there is no such program'
try "${nightly[@]}" --control "$program" --command 'compare a b'
check 2 "a command that measures nothing is refused" "expected allreduce, isolate or tune with options, or options of the benchmark"
try "${nightly[@]}" --control "$program" --command '--profile'
check 2 "a profile is refused" "a night has no profiles"
try "${nightly[@]}" --command ' '
check 2 "a command without words is refused" 'expected a command of ddpbench'
try "${nightly[@]}" --night control-1
check 2 "a night that would look like a control is refused" "control-1': expected"
try "${nightly[@]}" --command 'allreduce --nonsense'
check 2 "a wrong command is refused before anything is measured" "allreduce --nonsense': .*nonsense"

exit "$failed"
