#!/usr/bin/env bash
# sweep_cli.sh - launch/sweep.sh with the real program at tiny sizes: every point is run, in a rotated order, and its rows are
# in sweep.csv; it goes on after kill -KILL, refuses other options, tells failing points; the figures against known ones.
set -euo pipefail

usage() {
    cat <<'END'
Usage: [MPIRUN=mpirun] tests/sweep_cli.sh [--help] BUILD_DIR
Tests launch/sweep.sh with BUILD_DIR/ddpbench. Prints a line for each check, "ok - ", "not ok - " or "skip - "; exits with
status 1 if one failed.
END
}

# shellcheck source=tests/cli.sh
. "$(dirname "$0")/cli.sh"

sweep=$root/launch/sweep.sh
export MPIRUN="${mpirun[*]}"
sizes='--d-model 32 --num-layers 1 --num-heads 2 --d-ff 48 --context-length 16 --batch-size 4 --vocab-size 256'
grid=(--program "$program" --implementations 'none,a=ddp,ddp_bucketed' --bucket-size-mb '0.010,0.05' --ranks '1,2'
    --model "tiny:$sizes" --rounds 2 --repeats 2)
points=8 # 2 numbers of ranks x (2 implementations + 2 buckets)

# try COMMAND...: its words go to said, what it prints to printed, its exit status to status.
try() {
    status=0
    timeout --kill-after=5 60 "$@" >printed 2>said </dev/null || status=$?
}

# check STATUS WORDS PATTERN: the last command ended so, and said something that matches (an extended expression).
check() {
    local good=0
    [ "$status" = "$1" ] && grep -qE -- "$3" said || good=1
    [ "$good" = 0 ] || echo "status $status, expected $1 and '$3'" >>said
    result "$good" "$2"
}

# is WORDS GOT EXPECTED
is() {
    local good=0
    [ "$2" = "$3" ] || good=1
    [ $good = 0 ] || echo "got '$2', expected '$3'" >>said
    result $good "$1"
}

# ---- a sweep from end to end ----

# A launcher that notes when which point is run.
cat >launcher <<END
#!/bin/sh
ranks=\$1
shift
case "\$*" in *--output\ *) echo "\$*" | sed 's/.*--output [^ ]*out[^/]*[/]//' >>$temporary/order ;; esac
exec $root/launch/run.sh -n "\$ranks" -- "\$@"
END
chmod +x launcher
grid+=(--launcher "$temporary/launcher {ranks}")
try "$sweep" "${grid[@]}" --output out -- --steps-per-block 1 --threads 1
check 0 "a sweep ends with status 0, and counts its runs" '^sweep.sh: 16 runs: 0 were there, 16 made, 0 failed'
is "each point has a directory with all results" "$(find out -path '*/repeat-[12]/summary.json' | sort | sed 's/.*model=tiny.//' | tr '\n' ' ')" \
    "$(for i in 1 2; do for p in a ddp_bucketed-0.01 ddp_bucketed-0.05 none; do printf '%s/repeat-%d/summary.json ' $p 1 $p 2; done; done)"
is "nothing else is there" "$(find out -name '*.part' -o -name '*.failed')" ""
is "the second repeat begins in the middle of the grid" \
    "$(sed 's,/repeat.*,,' order | awk -v n=$points 'NR <= n { o[NR - 1] = $0; next } { good += $0 == o[(NR - 1 - n + n / 2) % n] } END { print good }')" $points
# what was run in a directory is what its name says
good=0
while read -r file; do
    [[ $file =~ ranks=([12])/model=tiny/([a-z_]*)-?([0-9.]*)/ ]]
    grep -q "^\"world_size\":${BASH_REMATCH[1]},$" <(tr -d ' \t' <"$file") &&
        grep -q "^\"name\":\"${BASH_REMATCH[2]}\",$" <(tr -d ' \t' <"$file") &&
        { [ -z "${BASH_REMATCH[3]}" ] || grep -q "^\"bucket_size_mb\":${BASH_REMATCH[3]}," <(tr -d ' \t' <"$file"); } || good=1
done < <(find out -name run.json)
result $good "ranks, implementation and bucket of each run are those of its directory"

# rows of the runs' own tables, with what their directories say
find out -name summary.csv | while read -r file; do
    awk -F, -v OFS=, -v file="$file" '
        FNR > 1 {
            split(file, part, "/")
            repeat = part[5]
            sub(/repeat-/, "", repeat)
            print $5, "tiny", $2, $4, repeat, $3, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15
        }' "$file"
done | sort >expected
is "sweep.csv has the rows of all runs" "$(tail -n +2 out/sweep.csv | sort | cmp - expected && wc -l <expected)" $((points * 2 * 12))
is "and a line of names" "$(head -n 1 out/sweep.csv)" \
    "ranks,model,implementation,bucket_size_mb,repeat,strategy,hosts,threads,metric,unit,n,median,ci_low,ci_high,p5,p95"
is "the table has a row for each point" "$(grep -cE '^  [ *=] (none|a|ddp_bucketed) ' printed)" $points
is "and a best for each number of ranks" "$(grep -cE '^  Best: ' printed)" 2
if command -v gnuplot >/dev/null; then
    for file in out/sweep-1-tiny.png out/sweep-2-tiny.png; do
        is "$file is a picture" "$(head -c 8 "$file" | od -An -tx1)" " 89 50 4e 47 0d 0a 1a 0a"
    done
    is "and there as SVG" "$(grep -c '</svg>' out/sweep-1-tiny.svg out/sweep-2-tiny.svg | tr '\n' ' ')" "out/sweep-1-tiny.svg:1 out/sweep-2-tiny.svg:1 "
    is "the SVG names the lines and the best bucket" "$(grep -oE '(none|best bucket: 0.0[15] MiB)' out/sweep-2-tiny.svg | sed 's/ 0.*//' | sort -u | tr '\n' ' ')" "best bucket: none "
else
    echo "skip - pictures: there is no gnuplot"
fi
mkdir few
for tool in bash timeout awk mawk gawk sort find mktemp rm mv wc dirname realpath sed basename; do
    ! command -v $tool >/dev/null || ln -s "$(command -v $tool)" few/$tool
done
cp printed table
rm -f out/sweep.csv out/sweep-*.png
PATH=$temporary/few try "$(command -v bash)" "$sweep" --report-only --output out
check 0 "without gnuplot the report says how to get it" 'gnuplot: launch/setup.sh --plot'
cmp -s printed table && [ "$(tail -n +2 out/sweep.csv | wc -l)" = "$(wc -l <expected)" ] && [ -s out/sweep-2-tiny.gp ] && good=0 || good=1
result $good "and the same table, sweep.csv and the script for gnuplot are there"

# ---- going on ----

: >order
try "$sweep" "${grid[@]}" --output out -- --steps-per-block 1 --threads 1
check 0 "a complete sweep runs nothing again" '^sweep.sh: 16 runs: 16 were there, 0 made, 0 failed'
is "really nothing" "$(cat order)" ""
try "$sweep" "${grid[@]}" --repeats 3 --output out -- --steps-per-block 1 --threads 1
check 2 "another number of repeats is refused, with both" '^sweep.sh: --repeats: earlier starts in out had "2", this one has "3"'
try "$sweep" "${grid[@]}" --output out -- --steps-per-block 1
check 2 "other options of every run are refused, with both" '^sweep.sh: --: earlier starts in out had "--steps-per-block 1 --threads 1", this one has "--steps-per-block 1"'
try "$sweep" "${grid[@]}" --model "more:$sizes" --output out -- --steps-per-block 1 --threads 1
check 2 "another model is refused" '^sweep.sh: --model more: earlier starts in out had "", this one has "--d-model 32'

exec 7<out
flock 7
try "$sweep" "${grid[@]}" --output out -- --steps-per-block 1 --threads 1
check 1 "two sweeps cannot share a directory" '^sweep.sh: another sweep runs in out$'
exec 7<&-

# The processes of these runs are told by the directory in their command lines.
left_over() {
    local process line
    for process in /proc/[0-9]*; do
        { mapfile -d '' -t line <"$process/cmdline"; } 2>/dev/null || continue
        [[ ${line[*]} != *"$temporary/stopped"* ]] || echo "${process#/proc/}"
    done
}

# A launcher with which the run of ddp_flat would take hours as long as there is a file called hours.
cat >slow <<END
#!/bin/sh
ranks=\$1
shift
case "\$*" in *\ ddp_flat\ --rounds\ 2\ *)
    [ ! -e $temporary/hours ] || set -- \$(echo "\$*" | sed 's/--rounds 2 /--rounds 1000000 /') ;;
esac
exec $root/launch/run.sh -n "\$ranks" -- "\$@"
END
chmod +x slow
: >hours

# stop SIGNAL: sweeps three points until the second has begun, and sends the signal; its exit status is in status.
stopped=(--program "$program" --implementations 'none,ddp_flat,ddp' --ranks 2 --model "tiny:$sizes" --rounds 2 --repeats 1
    --launcher "$temporary/slow {ranks}")
stop() {
    local i points=$temporary/stopped-$1/ranks=2/model=tiny
    # with job control the script has SIGINT's default, as it has on a terminal
    set -m
    "$sweep" "${stopped[@]}" --output "$temporary/stopped-$1" >printed 2>said </dev/null &
    set +m
    for ((i = 0; i < 200; i++)); do
        [ ! -s "$points/ddp_flat/repeat-1.part/rank_1_metrics.jsonl" ] || break
        sleep 0.05
    done
    began=$([ -e "$points/none/repeat-1" ] && [ -n "$(left_over)" ] && echo yes || echo no)
    kill "-$1" $!
    status=0
    wait $! 2>/dev/null || status=$?
    for ((i = 0; i < 50; i++)); do
        [ -n "$(left_over)" ] || break
        sleep 0.1
    done
    is "SIG$1 ends a sweep and its run (status $status)" "$began $(left_over)" "yes "
    left_over | xargs -r kill -KILL
    is "SIG$1 leaves the complete run, and none that looks complete" "$(cd "$points" && echo */repeat-1)" none/repeat-1
}

for signal in TERM INT; do
    stop $signal
    is "SIG$signal leaves nothing half-written" "$(find "stopped-$signal" -name '*.part')" ""
done
stop KILL
is "SIGKILL leaves a half-written run under another name" "$(cd stopped-KILL/ranks=2/model=tiny && echo */*.part)" ddp_flat/repeat-1.part
rm hours
try "$sweep" "${stopped[@]}" --output "$temporary/stopped-KILL"
check 0 "the same command goes on after SIGKILL" '^sweep.sh: 3 runs: 1 were there, 2 made, 0 failed'
valid stopped-KILL/*/*/*/repeat-1/*.json stopped-KILL/*/*/*/repeat-1/*.jsonl >>said && good=0 || good=1
result $good "and all results are whole"
is "with nothing half-written left" "$(find stopped-KILL -name '*.part')" ""

# ---- what fails ----

try "$sweep" --program "$program" --implementations ddp --ranks 1,3 --model "tiny:$sizes" --repeats 1 --rounds 2 --output part -- --steps-per-block 1
check 1 "a failing point is told" '^sweep.sh: part/ranks=3/.*/ddp/repeat-1 failed with status 2: ddpbench: .*batch of 4 .*3 ranks'
grep -q '^sweep.sh: 2 runs: 0 were there, 1 made, 1 failed' said && good=0 || good=1
result $good "the rest goes on"
is "only what was complete is in the results" "$(cd part/ && echo ranks=*/*/ddp/repeat-1 && cut -d, -f1 sweep.csv | sort -u | tr '\n' ' ')" \
    "ranks=1/model=tiny/ddp/repeat-1
1 ranks "
grep -q 'batch of 4' part/ranks=3/model=tiny/ddp/repeat-1.failed/log.txt && good=0 || good=1
result $good "what the failing run said is kept"
try "$sweep" --program "$program" --implementations ddp --model "tiny:$sizes" --repeats 1 --launcher 'true {ranks}' --output nothing
check 1 "a launcher that runs nothing and ends with status 0 is no success" '^sweep.sh: 1 runs: 0 were there, 0 made, 1 failed'
grep -q '^sweep_report.sh: no run in nothing is complete' said && good=0 || good=1
result $good "and without a complete run there is no table"

# refuse WORDS PATTERN OPTION...
refuse() {
    local words=$1 pattern=$2
    shift 2
    try "$sweep" --program "$program" --output refused "$@"
    check 2 "refused: $words" "^sweep.sh: .*$pattern"
}
refuse "an unknown implementation" "'magic' is none of ddp, .*ddp_bucketed" --implementations none,magic
refuse "one label for two" "'ddp' is listed twice" --implementations ddp,ddp=none
refuse "a bucket of 0" "'0' is none of sizes above 0" --bucket-size-mb 0.0,1
refuse "a bucket with a unit" "'25MB' is none of sizes in MiB" --bucket-size-mb 25MB
refuse "a bucket in two spellings" "'0.5' is listed twice" --bucket-size-mb 0.5,0.50
refuse "0 ranks" "'0' is none of numbers from 1" --ranks 2,0
refuse "a list that ends in a comma" "comma with nothing behind" --ranks 2,
refuse "a model without a name" "expected a name, a colon and options" --model '--d-model 32'
refuse "two models of one name" "'a' is listed twice" --model 'a:--d-model 32' --model 'a:--d-model 64'
refuse "no repeats" "repeats 0: expected a whole number from 1" --repeats 0
refuse "a launcher without ranks" "write \{ranks\} where" --launcher mpirun
refuse "a launcher that is not there" "there is no program '/absent'" --launcher '/absent {ranks}'
refuse "what the sweep sets itself" "output is the sweep's" -- --output x
refuse "a profile" "profile: a sweep compares benchmarks only" -- --profile
refuse "an unknown option" "unknown option '--bogus'; known are --implementations" --bogus 1
refuse "an option without its value" "rounds needs a value" --rounds
refuse "--report-only with a grid" "report-only takes --output DIR and nothing else" --report-only
refuse "a directory with something else" "output few holds something else than a sweep" --output few
is "what was refused left nothing" "$(find . -maxdepth 1 -name refused)" ""
try "$sweep" --help
[ "$status" = 0 ] && [ ! -s said ] && grep -q '^Usage: launch/sweep.sh' printed && good=0 || good=1
result "$good" "--help"

# ---- known figures ----

# made_up RANKS NAME STRATEGY BUCKET STEP...: complete runs with these step times.
mkdir made-up
: >made-up/sweep.txt
made_up() {
    local ranks=$1 name=$2 strategy=$3 bucket=$4 repeat=0 step directory
    shift 4
    for step in "$@"; do
        repeat=$((repeat + 1))
        directory=made-up/ranks=$ranks/model=m/$name${bucket:+-$bucket}/repeat-$repeat
        mkdir -p "$directory"
        printf '%s\n' names "x,$name,$strategy,$bucket,$ranks,1,1,step,ms,6,$step,,,," >"$directory/summary.csv"
    done
}
made_up 2 best ddp_flat '' 10 11 12
made_up 2 none none '' 9 10 11
made_up 2 twice ddp_bucketed 0.5 20 22 24
made_up 2 noisy ddp_bucketed 4 11 9.9 14.4                # ratios 1.1, 0.9, 1.2
made_up 2 close ddp '' 10.7250818 12.1568801 13.6659406   # e^0.07, e^0.10, e^0.13: p = 0.029, by Holm 0.057
made_up 3 two ddp '' 10 12                                 # t = 12.7062 with 1 degree of freedom,
made_up 4 four ddp '' 10 20 30 40                          # 3.18245 with 3,
made_up 5 five ddp '' 10 20 30 40 50                       # 2.77645 with 4,
made_up 6 eleven ddp '' 10 20 30 40 50 60 70 80 90 100 110 # 2.22814 with 10
made_up 7 one ddp '' 10
try "$sweep" --report-only --output made-up
check 0 "figures that are known are reported" .
row() { sed -nE "s/^  ([ *=] $1 .*)/\\1/p" printed | tr -s ' ' | sed 's/ *$//'; }
is "the best" "$(row best)" "* best - 11.00 [8.52, 13.48] 3 best"
is "twice the best" "$(row twice)" " twice 0.5 22.00 [17.03, 26.97] 3 2.000 [2.000, 2.000]"
is "a noisy one" "$(row noisy)" "= noisy 4 11.77 [5.94, 17.59] 3 1.059 [0.734, 1.528]"
is "one that is slower only without Holm" "$(row close)" "= close - 12.18 [8.53, 15.84] 3 1.105 [1.026, 1.191]"
is "none is no candidate" "$(row none)" " none - 10.00 [7.52, 12.48] 3 0.909 [0.888, 0.930]"
is "the sentence" "$(sed -n 's/^  Best: best, //p' printed)" "11.00 ms a step (n = 3 runs); cannot be told apart from it: noisy at 4 MiB; close."
is "two runs" "$(row two)" "* two - 11.00 [-1.71, 23.71] 2 best"
is "four runs" "$(row four)" "* four - 25.00 [4.46, 45.54] 4 best"
is "five runs" "$(row five)" "* five - 30.00 [10.37, 49.63] 5 best"
is "eleven runs" "$(row eleven)" "* eleven - 60.00 [37.72, 82.28] 11 best"
is "one run has no interval" "$(row one)" "* one - 10.00 1 best"
exit "$failed"
