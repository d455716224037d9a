#!/usr/bin/env bash
# sweep.sh - launch/sweep.sh with the real program at tiny sizes: every point is run, in a rotated order, and is
# in the report; it goes on after kill -KILL, refuses other options, and names failing points. What the report makes
# of the figures is in report.sh.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

sweep=$root/launch/sweep.sh
sizes='--d-model 32 --num-layers 1 --num-heads 2 --d-ff 48 --context-length 16 --batch-size 4 --vocab-size 256'
# a label may hold -, and a bucket may be so small that its size is written with an exponent
grid=(--program "$program" --implementations 'none,a-b=ddp,x-1=ddp_bucketed' --bucket-size-mb '0.010,0.00005' --ranks '1,2'
    --model "tiny:$sizes" --rounds 2 --repeats 2)
points=8 # 2 numbers of ranks x (2 implementations + 2 buckets)

# ---- a sweep from end to end ----

export temporary root # which launchers read
# A launcher that notes when which point is run.
cat >launcher <<END
#!/bin/sh
ranks=\$1
shift
case "\$*" in *--output\ *) echo "\$*" | sed 's/.*--output [^ ]*out[^/]*[/]//' >>"\$temporary/order" ;; esac
exec "\$root/launch/run.sh" -n "\$ranks" -- "\$@"
END
chmod +x launcher
grid+=(--launcher "$(quote_words "$temporary/launcher") {ranks}")
grid+=(--link-name 'a bus')
try "$sweep" "${grid[@]}" --output out -- --steps-per-block 1 --threads 1
check 0 "a sweep ends with status 0, and counts its runs" '^sweep.sh: 16 runs: 0 were there, 16 made, 0 failed'
is "each point has a directory with all results" "$(find out -path '*/repeat-[12]/summary.json' | sort | sed 's/.*model=tiny.//' | tr '\n' ' ')" \
    "$(for i in 1 2; do for p in a-b none x-1-0.01 x-1-5e-05; do printf '%s/repeat-%d/summary.json ' $p 1 $p 2; done; done)"
is "nothing else is there" "$(find out -name '*.part' -o -name '*.failed')" ""
is "the second repeat begins in the middle of the grid" \
    "$(sed 's,/repeat.*,,' order | awk -v n=$points 'NR <= n { o[NR - 1] = $0; next } { good += $0 == o[(NR - 1 - n + n / 2) % n] } END { print good }')" $points
# what was run in a directory is what its name says
good=0
while read -r file; do
    [[ $file =~ ranks=([12])/model=tiny/(none|a-b|x-1)-?(.*)/repeat ]]
    grep -q "^\"world_size\":${BASH_REMATCH[1]},$" <(tr -d ' \t' <"$file") &&
        grep -q "^\"name\":\"${BASH_REMATCH[2]}\",$" <(tr -d ' \t' <"$file") &&
        { [ -z "${BASH_REMATCH[3]}" ] || grep -q "^\"bucket-size-mb\":\"${BASH_REMATCH[3]}\"," <(tr -d ' \t' <"$file"); } || good=1
done < <(find out -name run.json)
result $good "ranks, implementation and bucket of each run are those of its directory"

is "the report has the figures of all runs" "$(grep -c ',step,' out/report/report.csv)" $((points * 2))
is "the tables have a row for each point" "$(grep -cE '^ *(none|a-b|x-1) ' printed)" $points
is "which names the link, where there are ranks to join" "$(sed -nE 's/^([12]) ranks?, model tiny(, link: .*)?, machine: .*/\1\2/p' printed | tr '\n' ' ')" \
    "1 2, link: a bus "
is "and two repeats decide nothing" "$(grep -c '^No verdict: too few repeats' printed) $(grep -c '^Nothing to choose: one rank' printed)" "1 1"
svg=out/report/pictures/sweep_tiny_2-ranks.svg
is "each number of ranks has a picture" "$(cd out/report/pictures && echo *.svg)" "sweep_tiny_1-rank.svg sweep_tiny_2-ranks.svg"
is "which names lines and ticks and says that there is no verdict" "$(grep -oE \
    '>(none|x-1|5e-05|0[.]01|2 ranks, model tiny, link: a bus|No verdict: too few repeats for an interval)' "$svg" |
    sort -u | tr '\n>' ' ,')" ",0.01 ,2 ranks, model tiny, link: a bus ,5e-05 ,No verdict: too few repeats for an interval ,none ,x-1 "
cp printed table
rm -r out/report
try "$sweep" --report-only --output out --program "$program"
cmp -s printed table && [ -s "$svg" ] && good=0 || good=1
result $good "--report-only prints the same tables, and makes the report anew"
mkdir few && : >few/something

# ---- going on ----

: >order
try "$sweep" "${grid[@]}" --output out -- --steps-per-block 1 --threads 1
check 0 "a complete sweep runs nothing again" '^sweep.sh: 16 runs: 16 were there, 0 made, 0 failed'
is "really nothing" "$(cat order)" ""
try "$sweep" "${grid[@]}" --repeats 1 --output out -- --steps-per-block 1 --threads 1
check 2 "fewer repeats are refused, with both" '^sweep.sh: --repeats: earlier starts in out had "2", this one has "1"; use the same or more,'
try "$sweep" "${grid[@]}" --output out -- --steps-per-block 1
check 2 "other options of every run are refused, with both" '^sweep.sh: --: earlier starts in out had "--steps-per-block 1 --threads 1", this one has "--steps-per-block 1"'
try "$sweep" "${grid[@]}" --model "more:$sizes" --output out -- --steps-per-block 1 --threads 1
check 2 "another model is refused" '^sweep.sh: --model more: earlier starts in out had "", this one has "--d-model 32'

exec 7<out
flock 7
try "$sweep" "${grid[@]}" --output out -- --steps-per-block 1 --threads 1
check 1 "two sweeps cannot share a directory" '^sweep.sh: another sweep.sh runs in out$'
exec 7<&-

# A launcher with which the run of ddp_flat would take hours as long as there is a file called hours.
cat >slow <<END
#!/bin/sh
ranks=\$1
shift
case "\$*" in *\ ddp_flat\ --rounds\ 2\ *)
    [ ! -e "\$temporary/hours" ] || set -- "\$@" --rounds 1000000 ;;
esac
exec "\$root/launch/run.sh" -n "\$ranks" -- "\$@"
END
chmod +x slow
: >hours

# stop SIGNAL STATUS: sweeps three points until the second has begun, and sends the signal; the sweep ends with STATUS.
stopped=(--program "$program" --implementations 'none,ddp_flat,ddp' --ranks 2 --model "tiny:$sizes" --rounds 2 --repeats 1
    --launcher "$(quote_words "$temporary/slow") {ranks}")
stop() {
    local points=$temporary/stopped-$1/ranks=2/model=tiny
    interrupt "$1" "$points/ddp_flat/repeat-1.part/rank_1_metrics.jsonl" "$sweep" "${stopped[@]}" --output "$temporary/stopped-$1"
    is "SIG$1 ends a sweep and its run" "$([ -e "$points/none/repeat-1" ] && [ -n "$began" ] && echo yes) $status $(gone stopped)" "yes $2 "
    for pid in $(left_over stopped); do kill -KILL "$pid" || true; done
    is "SIG$1 leaves the complete run, and none that looks complete" "$(cd "$points" && echo */repeat-1)" none/repeat-1
}

for signal in HUP:129 INT:130 TERM:143; do
    stop "${signal%:*}" "${signal#*:}"
    is "SIG${signal%:*} leaves nothing half-written" "$(find "stopped-${signal%:*}" -name '*.part')" ""
done
stop KILL 137
is "SIGKILL leaves a half-written run under another name" "$(cd stopped-KILL/ranks=2/model=tiny && echo */*.part)" ddp_flat/repeat-1.part
rm hours
try "$sweep" "${stopped[@]}" --output "$temporary/stopped-KILL"
check 0 "the same command goes on after SIGKILL" '^sweep.sh: 3 runs: 1 were there, 2 made, 0 failed'
valid stopped-KILL/*/*/*/repeat-1/*.json stopped-KILL/*/*/*/repeat-1/*.jsonl >>said && good=0 || good=1
result $good "and all results are whole"
is "with nothing half-written left" "$(find stopped-KILL -name '*.part')" ""
try "$sweep" "${stopped[@]}" --repeats 2 --output "$temporary/stopped-KILL"
check 0 "more repeats go on in the same directory" '^sweep.sh: 6 runs: 3 were there, 3 made, 0 failed'
is "which now is one of so many" "$(grep -- '^--repeats' stopped-KILL/sweep.txt)" "--repeats	2"
try "$sweep" "${stopped[@]}" --output "$temporary/stopped-KILL"
check 2 "and no longer one of fewer" '^sweep.sh: --repeats: earlier starts in .* had "2", this one has "1"'

# The launcher that is there by itself, and all else, in a directory whose name has blanks.
mkdir "a sweep"
cp -r "$root/launch" "$program" "a sweep"
try "a sweep/launch/sweep.sh" --program "$temporary/a sweep/ddpbench" --implementations ddp --ranks 2 --model "tiny:$sizes" \
    --rounds 2 --repeats 1 --output "a sweep/out"
check 0 "paths may have blanks" '^sweep.sh: 1 run: 0 were there, 1 made, 0 failed'

# ---- what fails ----

try "$sweep" --program "$program" --implementations ddp --ranks 1,3 --model "tiny:$sizes" --repeats 1 --rounds 2 --output part -- --steps-per-block 1
check 1 "a failing point is reported" '^sweep.sh: part/ranks=3/.*/ddp/repeat-1 failed with status 2: ddpbench: .*batch of 4 .*3 ranks'
grep -q '^sweep.sh: 2 runs: 0 were there, 1 made, 1 failed' said && good=0 || good=1
result $good "the rest goes on"
is "only what was complete is in the results" "$(cd part/ && echo ranks=*/*/ddp/repeat-1 && cut -d, -f1 report/report.csv | sort -u | tr '\n' ' ')" \
    "ranks=1/model=tiny/ddp/repeat-1
directory part/ranks=1/model=tiny/ddp/repeat-1 "
grep -q 'batch of 4' part/ranks=3/model=tiny/ddp/repeat-1.failed/log.txt && good=0 || good=1
result $good "what the failing run said is kept"
try "$sweep" --program "$program" --implementations ddp --model "tiny:$sizes" --repeats 1 --launcher 'true {ranks}' --output nothing
check 1 "a launcher that runs nothing and ends with status 0 is no success" '^sweep.sh: 1 run: 0 were there, 0 made, 1 failed'
grep -q '^ddpbench: nothing: no run in it is complete' said && good=0 || good=1
result $good "and without a complete run there is no table"

# refuse WORDS PATTERN OPTION...
refuse() {
    local words=$1 pattern=$2
    shift 2
    try "$sweep" --program "$program" --output refused "$@"
    check 2 "refused: $words" "^sweep.sh: .*$pattern"
}
refuse "one label for two" "'ddp' is listed twice" --implementations ddp,ddp=none
refuse "a bucket in two spellings" "'0.5' is listed twice" --bucket-size-mb 0.5,0.50
refuse "a label of 41 characters" ": expected ddp, .* a label of up to 40" --implementations "$(printf 'l%.0s' {1..41})=ddp"
refuse "a label that looks like a bucket" "'a-4' is also a at 4 MiB" --implementations a-4=ddp,a=ddp_bucketed --bucket-size-mb 1,4
refuse "a model without a name" "expected a name, a colon and options" --model '--d-model 32'
refuse "two models of one name" "'a' is listed twice" --model 'a:--d-model 32' --model 'a:--d-model 64'
refuse "what the sweep sets itself" "--output after --: give it before --" -- --output x
refuse "the same with _" "--bucket-size-mb after --: give it before --" -- --bucket_size_mb 7
refuse "the same in a model" "--rounds after --: give it before --" --model 'm:--d-model 32 --rounds=3'
refuse "a profile" "--profile after --: a sweep compares benchmarks only" -- --profile
refuse "an option that the program has not, once" "unknown option '--frob'" -- --frob 2
refuse "--report-only with a grid" "report-only takes --output DIR and --program FILE only, not --ranks" --ranks 2 --report-only
is "what was refused left nothing" "$(find . -maxdepth 1 -name refused)" ""
try "$sweep" --help
[ "$status" = 0 ] && [ ! -s said ] && grep -q '^Usage: launch/sweep.sh' printed && good=0 || good=1
result "$good" "--help"

exit "$failed"
