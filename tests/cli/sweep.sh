#!/usr/bin/env bash
# sweep.sh - launch/sweep.sh with the real program at small sizes. Every point of the grid is run, in an order that each
# repeat rotates, and is in the report. An interrupted sweep continues, changed options are refused, and failed points
# are named. report.sh tests the tables and verdicts of sweeps.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"
start_quickly

sweep=$root/launch/sweep.sh
sizes='--d-model 32 --num-layers 1 --num-heads 2 --d-ff 48 --context-length 16 --batch-size 4 --vocab-size 256'
# Labels contain the character -, and one bucket size is so small that it is printed with an exponent.
grid=(--program "$program" --implementations 'none,a-b=ddp,x-1=ddp_bucketed' --bucket-size-mb '0.010,0.00005' --ranks '1,2'
    --model "tiny:$sizes" --rounds 2 --repeats 2)
points=8 # 2 numbers of ranks x (2 implementations without buckets + 2 bucket sizes)

# ---- a sweep from end to end ----

export temporary root # the launchers below read these
# A launcher that records the order of the runs.
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
check 0 "a sweep succeeds and prints the number of runs" '^sweep.sh: 16 runs: 0 existed, 16 made, 0 failed'
is "each point has a directory with all results" "$(find out -path '*/repeat-[12]/summary.json' | sort | sed 's/.*model=tiny.//' | tr '\n' ' ')" \
    "$(for i in 1 2; do for p in a-b none x-1-0.01 x-1-5e-05; do printf '%s/repeat-%d/summary.json ' $p 1 $p 2; done; done)"
is "a complete sweep leaves no .part and no .failed directory" "$(find out -name '*.part' -o -name '*.failed')" ""
is "the second repeat begins in the middle of the grid" \
    "$(sed 's,/repeat.*,,' order | awk -v n=$points 'NR <= n { o[NR - 1] = $0; next } { good += $0 == o[(NR - 1 - n + n / 2) % n] } END { print good }')" $points
# Tests that each run has the settings of its directory's name.
good=0
while read -r file; do
    [[ $file =~ ranks=([12])/model=tiny/(none|a-b|x-1)-?(.*)/repeat ]]
    grep -q "^\"world_size\":${BASH_REMATCH[1]},$" <(tr -d ' \t' <"$file") &&
        grep -q "^\"name\":\"${BASH_REMATCH[2]}\",$" <(tr -d ' \t' <"$file") &&
        { [ -z "${BASH_REMATCH[3]}" ] || grep -q "^\"bucket-size-mb\":\"${BASH_REMATCH[3]}\"," <(tr -d ' \t' <"$file"); } || good=1
done < <(find out -name run.json)
result $good "each run has the ranks, implementation and bucket size of its directory"

is "report.csv has the figures of all runs" "$(grep -c ',step,' out/report/report.csv)" $((points * 2))
is "the tables have a row for each point" "$(grep -cE '^ *(none|a-b|x-1) ' printed)" $points
is "the tables name the link for more than one rank" "$(sed -nE 's/^([12]) ranks?, model tiny(, link: .*)?, machine:.*/\1\2/p' printed | tr '\n' ' ')" \
    "1 2, link: a bus "
is "two repeats give no verdict" "$(grep -c '^No verdict: too few repeats' printed) $(grep -c '^Nothing to choose: one rank' printed)" "1 1"
svg=out/report/pictures/sweep_tiny_2-ranks.svg
is "each number of ranks has a picture" "$(cd out/report/pictures && echo *.svg)" "sweep_tiny_1-rank.svg sweep_tiny_2-ranks.svg"
is "the picture names lines and ticks and notes that there is no verdict" "$(grep -oE \
    '>(none|x-1|5e-05|0[.]01|2 ranks, model tiny, link: a bus|No verdict: too few repeats)' "$svg" |
    sort -u | tr '\n>' ' ,')" ",0.01 ,2 ranks, model tiny, link: a bus ,5e-05 ,No verdict: too few repeats ,none ,x-1 "
cp printed table
rm -r out/report
try "$program" report out --output out/report
is "ddpbench report prints the same tables and remakes the report" "$(cmp printed table && [ -s "$svg" ] && echo same)" same
mkdir few && : >few/something

# ---- continuation ----

: >order
try "$sweep" "${grid[@]}" --output out -- --steps-per-block 1 --threads 1
check 0 "a complete sweep repeats no run" '^sweep.sh: 16 runs: 16 existed, 0 made, 0 failed'
is "a complete sweep does not call the launcher" "$(cat order)" ""
try "$sweep" "${grid[@]}" --repeats 1 --output out -- --steps-per-block 1 --threads 1
check 2 "fewer repeats are refused, with both values" '^sweep.sh: --repeats: earlier starts in out had "2", this one has "1"; use the same or more,'
try "$sweep" "${grid[@]}" --output out -- --steps-per-block 1
check 2 "different options after -- are refused, with both values" '^sweep.sh: --: earlier starts in out had "--steps-per-block 1 --threads 1", this one has "--steps-per-block 1"'
try "$sweep" "${grid[@]}" --model "more:$sizes" --output out -- --steps-per-block 1 --threads 1
check 2 "an additional model is refused" '^sweep.sh: --model more: earlier starts in out had "", this one has "--d-model 32'

# Two fake flocks: one like busybox's, which has no -w, and one that fails as on a file system without locks.
mkdir busybox unable
cat >busybox/flock <<END
#!/bin/sh
[ "\$1 \$#" = "-n 2" ] || { echo "flock: invalid option -- '\$1'" >&2; exit 1; }
exec $(printf %q "$(command -v flock)") -n "\$2"
END
printf '#!/bin/sh\necho "flock: 9: Function not implemented" >&2\nexit 65\n' >unable/flock
chmod +x busybox/flock unable/flock
again=("${grid[@]}" --output out -- --steps-per-block 1 --threads 1)
try env PATH="$temporary/unable:$PATH" "$sweep" "${again[@]}"
check 0 "a sweep goes on where nothing can be locked" '^sweep.sh: out cannot be locked .flock: 9: Function not implemented.; do not start another sweep.sh there'
try env PATH="$temporary/busybox:$PATH" "$sweep" "${again[@]}"
is "busybox's flock locks a directory, and no warning is printed" "$status $(grep -c locked said)" "0 0"
exec 7<out
flock 7
for tools in "$temporary/busybox:" ''; do
    try env PATH="$tools$PATH" "$sweep" "${again[@]}"
    check 1 "two sweeps cannot share a directory${tools:+, flock of busybox}" '^sweep.sh: another sweep.sh runs in out$'
done
exec 7<&-

write_slow_launcher '*\ ddp_flat\ --rounds\ 2\ *'
: >hours

# stop SIGNAL STATUS: sends the signal to a sweep of three points once the second has begun; checks that the sweep ends with STATUS.
stopped=(--program "$program" --implementations 'none,ddp_flat,ddp' --ranks 2 --model "tiny:$sizes" --rounds 2 --repeats 1
    --launcher "$(quote_words "$temporary/slow") {ranks}")
stop() {
    local points=$temporary/stopped-$1/ranks=2/model=tiny
    interrupt "$1" "$points/ddp_flat/repeat-1.part/rank_1_metrics.jsonl" "$sweep" "${stopped[@]}" --output "$temporary/stopped-$1"
    is "SIG$1 ends a sweep and its run" "$([ -e "$points/none/repeat-1" ] && [ -n "$began" ] && echo yes) $status $(gone stopped)" "yes $2 "
    for pid in $(left_over stopped); do kill -KILL "$pid" || true; done
    is "SIG$1 leaves only complete runs under their final names" "$(cd "$points" && echo */repeat-1)" none/repeat-1
}

for signal in HUP:129 INT:130 TERM:143; do
    stop "${signal%:*}" "${signal#*:}"
    is "SIG${signal%:*} leaves no incomplete run" "$(find "stopped-${signal%:*}" -name '*.part')" ""
done
stop KILL 137
is "SIGKILL leaves an incomplete run under the name *.part" "$(cd stopped-KILL/ranks=2/model=tiny && echo */*.part)" ddp_flat/repeat-1.part
rm hours
try "$sweep" "${stopped[@]}" --output "$temporary/stopped-KILL"
check 0 "the same command continues after SIGKILL" '^sweep.sh: 3 runs: 1 existed, 2 made, 0 failed'
succeeds "all results are valid after SIGKILL and continuation" valid stopped-KILL/*/*/*/repeat-1/*.json stopped-KILL/*/*/*/repeat-1/*.jsonl
is "the continuation removes the incomplete run" "$(find stopped-KILL -name '*.part')" ""
try "$sweep" "${stopped[@]}" --repeats 2 --output "$temporary/stopped-KILL"
check 0 "more repeats continue in the same directory" '^sweep.sh: 6 runs: 3 existed, 3 made, 0 failed'
is "sweep.txt records the larger number of repeats" "$(grep -- '^--repeats' stopped-KILL/sweep.txt)" "--repeats	2"
try "$sweep" "${stopped[@]}" --output "$temporary/stopped-KILL"
check 2 "fewer repeats are refused after an increase" '^sweep.sh: --repeats: earlier starts in .* had "2", this one has "1"'
for place in report/report.html report; do
    [ $place != report ] || rm -r stopped-KILL/report
    echo mine >stopped-KILL/$place
    try "$sweep" "${stopped[@]}" --repeats 3 --output "$temporary/stopped-KILL"
    check 2 "a user's file, $place, is refused" '^sweep.sh: /.*/stopped-KILL/report cannot be replaced: .*; remove it, or choose'
    is "a refused sweep makes no run, and keeps the file" "$(find stopped-KILL -name 'repeat-3*') $(cat stopped-KILL/$place)" " mine"
done

# Runs a copy of launch/, with run.sh of the copy as launcher, in a directory whose name contains a blank.
mkdir "a sweep"
cp -r "$root/launch" "$program" "a sweep"
try "a sweep/launch/sweep.sh" --program "$temporary/a sweep/ddpbench" --implementations ddp --ranks 2 --model "tiny:$sizes" \
    --rounds 2 --repeats 1 --output "a sweep/out"
check 0 "paths may contain blanks" '^sweep.sh: 1 run: 0 existed, 1 made, 0 failed'

# Bash and tools read POSIXLY_CORRECT, which selects POSIX mode, when they start.
try env POSIXLY_CORRECT=1 "$sweep" --program "$program" --implementations none --ranks 1 --model "tiny:$sizes" --rounds 2 --repeats 1 --output posix
check 0 "POSIXLY_CORRECT does not change a sweep" '^sweep.sh: 1 run: 0 existed, 1 made, 0 failed'
# shellcheck disable=SC2016 # expanded by the other shell
settings='. "$root/launch/common.sh"; shopt; set -o; [ -z "${POSIXLY_CORRECT+set}" ]'
bash -c "$settings" >plain 2>said || true
is "scripts leave POSIX mode completely" "$(bash --posix -c "$settings" 2>&1 | diff - plain) $(grep -c posix plain)" " 1"

# ---- what is in the way ----

# in_way DIRECTORY COMMAND...: checks that a sweep is refused before it measures if COMMAND has made DIRECTORY in its place.
in_way() {
    local at=way/ranks=1/model=tiny/ddp
    mkdir -p $at
    cp settings way/sweep.txt
    (cd $at && "${@:2}")
    try "$sweep" --program "$program" --implementations ddp --ranks 1 --model "tiny:$sizes" --repeats 2 --rounds 2 --output way
    check 2 "refused: $1, ${*:2}" "^sweep.sh: $at/$1 is not a directory that sweep.sh made; remove it"
    rm -r way
}
try "$sweep" --program "$program" --implementations ddp --ranks 1 --model "tiny:$sizes" --repeats 1 --rounds 2 --output way
cp way/sweep.txt settings && rm -r way
in_way repeat-2 touch repeat-2
in_way repeat-1.failed mkdir -p repeat-1.failed/notes
in_way repeat-1.part ln -s nowhere repeat-1.part

# ---- failed runs ----

try "$sweep" --program "$program" --implementations ddp --ranks 1,3 --model "tiny:$sizes" --repeats 1 --rounds 2 --output part -- --steps-per-block 1
check 1 "a failed point is reported" '^sweep.sh: part/ranks=3/.*/ddp/repeat-1 failed with status 2: ddpbench: .*batch of 4 .*3 ranks'
succeeds "the sweep continues after a failed point" grep -q '^sweep.sh: 2 runs: 0 existed, 1 made, 1 failed' said
is "the report has only complete runs" "$(cd part/ && echo ranks=*/*/ddp/repeat-1 && cut -d, -f1 report/report.csv | sort -u | tr '\n' ' ')" \
    "ranks=1/model=tiny/ddp/repeat-1
directory part/ranks=1/model=tiny/ddp/repeat-1 "
succeeds "the log of a failed run is kept" grep -q 'batch of 4' part/ranks=3/model=tiny/ddp/repeat-1.failed/log.txt
try "$sweep" --program "$program" --implementations ddp --model "tiny:$sizes" --repeats 1 --launcher 'true {ranks}' --output nothing
check 1 "a launcher that runs nothing and returns 0 is a failure" '^sweep.sh: 1 run: 0 existed, 0 made, 1 failed'
succeeds "a sweep without a complete run has no report" grep -q '^ddpbench: nothing: no run in it is complete' said

# refuse WORDS PATTERN OPTION...: checks that the options are refused with an error matching PATTERN.
refuse() {
    local words=$1 pattern=$2
    shift 2
    try "$sweep" --program "$program" --output refused "$@"
    check 2 "refused: $words" "^sweep.sh: .*$pattern"
}
refuse "one label for two implementations" "'ddp' is listed twice" --implementations ddp,ddp=none
refuse "a bucket size in two spellings" "'0.5' is listed twice" --bucket-size-mb 0.5,0.50
refuse "a label of 41 characters" ": expected ddp, .* a label of up to 40" --implementations "$(printf 'l%.0s' {1..41})=ddp"
refuse "a label that looks like a bucket" "'a-4' is also a at 4 MiB" --implementations a-4=ddp,a=ddp_bucketed --bucket-size-mb 1,4
refuse "a model without a name" "expected a name, a colon and options" --model '--d-model 32'
refuse "two models with the same name" "'a' is listed twice" --model 'a:--d-model 32' --model 'a:--d-model 64'
refuse "--output after --" "--output after --: give it before --" -- --output x
refuse "--bucket_size_mb (with _) after --" "--bucket-size-mb after --: give it before --" -- --bucket_size_mb 7
refuse "--rounds in a model" "--rounds after --: give it before --" --model 'm:--d-model 32 --rounds=3'
refuse "--profile after --" "--profile after --: a sweep compares benchmarks only" -- --profile
refuse "an unknown option, reported once" "unknown option '--frob'" -- --frob 2
is "refused options leave no files" "$(find . -maxdepth 1 -name refused)" ""
try "$sweep" --help
is "--help prints the usage and nothing on stderr" "$status$(cat said) $(grep -c '^Usage: launch/sweep.sh' printed)" "0 1"

exit "$failed"
