#!/usr/bin/env bash
# isolate.sh - ddpbench isolate on the command line: its answer, files and exit status agree, it finds a rank that sends
# slowly (a preloaded library makes it sleep), and it refuses too few members. Whether this machine is healthy is not tested.
# awk expands its own fields:
# shellcheck disable=SC2016
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"
start_quickly

# isolate RANKS OPTION...: runs isolate on that many ranks, each a member, into the new directory `out`; sets status.
isolate() {
    local ranks=$1
    shift
    rm -rf out
    latest --device cpu --per rank --bytes 64K --resolve 50% --output out "$@"
    try "${mpirun[@]}" -n "$ranks" "$program" isolate "${latest[@]}"
}

# verdict: prints the exit status that belongs to the printed answer.
verdict() {
    if grep -qE 'x +95 % interval' printed; then
        echo 3
    elif grep -q '^Undecided after ' printed; then
        echo 4
    elif grep -qE '^All [0-9]+ members are healthy within ' printed; then
        echo 0
    fi
}
# cases PATTERN: prints how many lines of the file for JUnit match.
cases() { grep -c "$1" junit.xml || true; }

# ---- any machine ----

isolate 4 --max-minutes 0.05 --junit junit.xml
is "the exit status agrees with the printed answer" "$status" "$(verdict)"
is "a search writes the expected files" "$(cd out && echo *)" "bad.txt good.txt matrix.csv metrics.csv rank_0_metrics.jsonl \
rank_1_metrics.jsonl rank_2_metrics.jsonl rank_3_metrics.jsonl run.json summary.csv summary.json summary.prom summary.txt"
succeeds "a search writes valid files" valid out/*.json
succeeds "summary.txt equals the printed result" cmp printed out/summary.txt
is "the table has a row for each rank" "$(grep -cE '^rank [0-3] on .* (healthy|slow|undecided)' printed)" 4
is "the matrix begins with the messages of the ring, in both directions" "$(sed -E '1d; s/rank ([0-9]) on [^,]*/\1/g; s/^(.),(.),.*/\1\2/; 9q' out/matrix.csv | tr '\n' ' ')" \
    "01 10 23 32 03 12 21 30 "
# typical RANK PARTNER N: prints the median of `send` over the first N repetitions of the search, from the lines of the rank.
typical() {
    sed -nE "/\"part\":\"search\",.*\"partner\":$2,/s/.*\"send\":([0-9.e-]+).*/\1/p" "out/rank_$1_metrics.jsonl" | head -n "$3" | sort -g |
        awk '{ x[NR] = $1 } END { printf "%.9g", (x[int((NR + 1) / 2)] + x[int(NR / 2) + 1]) / 2 }'
}
# A search that the time limit ends may have begun another repetition. The matrix does not include it.
for row in 0,1 1,0; do
    IFS=, read -ra cell < <(grep "^rank ${row%,*} on [^,]*,rank ${row#*,} on " out/matrix.csv)
    succeeds "the seconds of the matrix follow from the lines of each repetition: $row" \
        awk -v a="${cell[2]}" -v b="$(typical "${row%,*}" "${row#*,}" "${cell[7]}")" 'BEGIN { exit !(a / b < 1.01 && b / a < 1.01) }'
done
is "each repetition of groups has a line" "$(grep -c '"part":"all-reduces among groups of 2".*"all_reduce":' out/rank_3_metrics.jsonl | awk '{ print ($1 >= 13) }')" 1
is "the table of groups begins with two groups of 2" "$(awk '$1 == "size" && $2 == "groups" { found = NR } found && NR == found + 2 { print $1, $2, ($6 >= 12) }' printed)" "2 2 1"
is "summary.csv has the figures of groups of 2; compare judges only their time" \
    "$(awk -F, '$2 == "groups of 2" { print $3, $5, $11 }' out/summary.csv | tr '\n' ' ')" "all_reduce s 1 all_reduce_to_expected 1 0 "
is "good.txt and bad.txt name this host at most once" "$(cat out/good.txt out/bad.txt | sort | uniq -d)" ""
is "JUnit's file has a case for each rank, and one for the run" "$(cases '<testcase ')" 5
is "summary.csv has the figures of each rank" "$(awk -F, '$2 ~ /^rank [0-3] on / { print $3 }' out/summary.csv | sort | uniq -c | awk '{ print $1 $2 }' | tr '\n' ' ')" \
    "4copy 4member_state 8message 4product 4receive 8round_trip 4send "
mv out before
isolate 4 --max-minutes 0.05
is "a second run ends with its verdict, too" "$status" "$(verdict)"
try "$program" compare before --candidate out
# status 5: under load, a run may lack a figure, such as a figure of groups of 4
is "compare judges two runs" "$(grep -c . said) $([[ $status = [0345] ]] && echo judged || echo "status $status")" "0 judged"
# slowed FILE PATTERN: prints a summary.json in which the values of figures whose subject matches are 3 times as large.
slowed() {
    awk -v pattern="\"subject\":.*$2\"" '$0 ~ /"subject":/ { found = $0 ~ pattern }
        found && match($0, /"value":[ \t]*/) { $0 = substr($0, 1, RSTART + RLENGTH - 1) 3 * (substr($0, RSTART + RLENGTH) + 0) "," }
        { print }' "$1"
}
mkdir same slower
for i in 1 2 3; do
    cp -r before same/$i && cp -r before slower/$i
    slowed before/summary.json '(rank 1 on [^"]* -> rank 2|rank 0 on [^"]* <-> rank 3) on [^"]*' >slower/$i/summary.json
done
try "$program" compare same/1 same/2 same/3 --candidate slower/1 slower/2 slower/3
is "compare finds a pair that became slow, in one direction, and a slow round trip" "$status $(grep -c '^rank .* regressed ' printed)" "3 2"
succeeds "compare names the pair and its direction" grep -qE '^rank 1 on [^ ]+ -> rank 2 on [^ ]+ message .* regressed [+]200[.]0 %' printed
succeeds "compare names the pair of the round trip" grep -qE '^rank 0 on [^ ]+ <-> rank 3 on [^ ]+ round_trip .* regressed [+]200[.]0 %' printed
for directory in same/[123] slower/[123]; do
    awk 'sub(/"figures":[ \t]*\[[{]/, "\"figures\": [") {
        for (i = 0; i < 70; i++)
            $0 = $0 sprintf("{\"subject\":\"host n%d\",\"name\":\"copy\",\"unit\":\"s\",\"value\":1,\"n\":9,\"better\":\"lower\",\"judged\":true},\n", i)
        $0 = $0 "{" }
        { print }' \
        "$directory/summary.json" >many.json
    mv many.json "$directory/summary.json"
done
# a run under load may lack a figure
others=$(($(grep -oE '"judged":[[:space:]]*true' same/1/summary.json | wc -l) - 2))
try "$program" compare same/1 same/2 same/3 --candidate slower/1 slower/2 slower/3
is "compare lists only the regressed ones of many figures, and counts the others" \
    "$status $(grep -c '^rank .* regressed ' printed) $(grep -c ' unseen ' printed) $(grep -oE '^[0-9]+ other figures +unseen ' printed | tr -s ' ')" "3 2 1 $others other figures unseen "
try "$program" compare same/1 same/2 same/3 --candidate slower/1 slower/2 slower/3 --all
is "--all shows all figures" "$(grep -c ' unseen ' printed)" "$others"
try "$program" report out --output report
is "report reads a run" "$status" 0
messages=$(sed 1d out/matrix.csv | wc -l) # 8 of the ring; under load a search may try more
is "report draws a run's messages, with a number in each cell" "$((messages >= 8)) $(grep -cE '>[0-9]+([.][0-9]+)?</text>' report/pictures/messages.svg)" "1 $messages"
is "report has a table of a run's messages" "$(grep -cE '^\| rank [0-3] on [^|]* \| rank [0-3] on ' report/BOTTLENECK_ANALYSIS.md)" "$messages"
isolate 5 --max-minutes 0.05
is "an odd number of ranks: the exit status agrees with the answer" "$status" "$(verdict)"

# ---- a rank that sends slowly ----

# slow RANK [TO]: searches while all ranks sleep for 10 ms before each message, and RANK for 40 ms (before messages to
# TO). A search ends when all is decided: messages after about 5 s, products and copies perhaps never.
slow() {
    local to=(${2:+SLOW_SENDS_TO=$2})
    rm -rf out
    try env LD_PRELOAD="slow_sends.so:${LD_PRELOAD:-}" SLOW_SENDS_ALL_MS=10 SLOW_SENDS_RANK="$1" SLOW_SENDS_MS=30 "${to[@]}" \
        "${mpirun[@]}" -n 4 "$program" isolate --device cpu --per rank --bytes 64K --resolve 50% --max-minutes 0.4 \
        --output out --junit junit.xml
}
slow 2
is "a slow sender: exit status" "$status" 3
succeeds "a slow sender is named, with its rate" grep -qE '^Rank 2 on [^ ]+ sends at [0-9.e+-]+ % of its peers. rate \[[0-9.e+-]+, [0-9.e+-]+\] \(n = [0-9]+\)[.]$' \
    <(texts out/summary.json)
is "a slow sender is the only fault of sending or receiving" "$(grep -cE '"fault":[[:blank:]]*"(sends|receives|pair)"' out/summary.json)" 1
is "the host of a slow sender is in bad.txt, and not in good.txt" "$(cat out/bad.txt) $(wc -l <out/good.txt)" "$host 0"
succeeds "JUnit's file has a slow sender as a failure" grep -qE 'name="rank 2 on [^"]*"[^<]*<failure type="slow" ' <(tr -d '\n' <junit.xml)
succeeds "the matrix has a slow sender's messages" awk -F, '$1 ~ /^rank 2 / { n++; good += $3 > 0.03 && $5 > 1.25 } END { exit n < 2 || good < n }' out/matrix.csv
try "$program" report out --html report.html
succeeds "report draws the messages of a slow sender in the colours for slow cells" [ "$(grep -cE '<rect [^>]*dp-area dp-c10[456]"' report.html)" -ge 2 ]
succeeds "report lists a slow sender as the main bottleneck" grep -qE 'Main bottleneck: sends in .*Rank 2 on' <(unwrapped printed)

slow 1 2
is "a slow pair: exit status" "$status" 3
succeeds "a slow pair is named, with its direction" grep -qE '^Messages from rank 1 on [^ ]+ to rank 2 on [^ ]+ move at ' <(texts out/summary.json)

# ---- an interrupted run ----

interrupt INT junit2.xml "${mpirun[@]}" -n 4 "$program" isolate --device cpu --per rank --bytes 64K --resolve 0.1 --max-minutes 10 --junit junit2.xml --output out2
succeeds "an interrupted run ends with a failure" [ "$status" != 0 ]
succeeds "an interrupted run keeps what it found" valid out2/summary.json
is "an interrupted run keeps JUnit's file, with all members, and is an error in it" \
    "$(grep -c '<testcase ' junit2.xml) $(grep -c '<error ' junit2.xml)" "5 1"
succeeds "an interrupted run's summary states the interruption" grep -qE '^Interrupted, or still running: [0-9]+ of at least [0-9]+ rounds[.]$' <(texts out2/summary.json)
is "an interrupted run prints what it found" "$(grep -cE '^Interrupted: [0-9]+ of at least [0-9]+ rounds[.]$' printed)" 1
is "an interrupted run leaves no process" "$(gone out2)" ""

# ---- hosts ----

if name_hosts 2; then
    rm -rf out
    try "${mpirun[@]}" -n 6 "${named[@]}" "$program" isolate --device cpu --bytes 64K --resolve 50% --max-minutes 0.05 --output out --nominal 1mbit
    is "hosts: the exit status agrees with the answer" "$status" "$(verdict)"
    is "hosts: each is a member, by its first rank" "$(grep -oE '^host host[0-9]+' printed | sort | tr '\n' ' ')" "host host0 host host1 host host2 "
    is "hosts: the median message is compared with the nominal rate" "$(texts out/summary.json | grep -cE \
        '^The median of [0-9]+ messages of 64 KiB, which shows if most members are equally slow: [0-9.]+ % of 1mbit, more than a link can carry: ')" 1
    is "hosts: the share of the nominal rate is a figure" "$(grep -c ',all,nominal_share,' out/summary.csv)" 1
    is "hosts: groups consist of one rank per host, while the other ranks rest" "$(awk '$1 == "size" && $2 == "groups" { found = NR } found && NR == found + 2 { print $1, $2, $(NF - 4), $(NF - 3), $(NF - 1), $NF }' printed)" "2 1 host host0 host host1"
    is "hosts: good.txt and bad.txt name hosts" "$(cat out/good.txt out/bad.txt | grep -cvxE 'host[0-2]')" 0
else
    echo "skip - members on different hosts: needs root"
fi

# ---- refused ----

isolate 2
check 2 "refused: two ranks" 'isolate compares 3 members or more with each other, and --per rank has 2: start 3 ranks or more$'
try "${mpirun[@]}" -n 3 "$program" isolate --device cpu --output refused
check 2 "refused: one host" 'this job has 1 host: --per rank compares ranks, .*ddpbench allreduce'
is "refused: no results" "$(echo out* refused*)" "out2 refused*"
try "$program" isolate --dry-run 2
check 2 "refused: a dry run of two ranks" 'isolate compares 3 members or more'
isolate 3 --nominal 1gbit
check 2 "refused: the rate of a network on one host" '--nominal 1gbit: all ranks are on one host, so no network is involved$'
isolate 3 --resolve 60%
check 2 "refused: --resolve 60%" '--resolve 60%: expected '
isolate 3 --per node
check 2 "refused: --per node" "--per 'node'|--per node"
isolate 3 --junit /dev/full
check 1 "refused: a JUnit file that cannot be written" '--junit /dev/full'
isolate 3 --junit ./one.xml --prometheus one.xml
check 1 "refused: a file for two outputs" '--prometheus and --junit name the same file, ./one.xml$'
: >good.txt
isolate 3 --junit good.txt
check 1 "refused: good.txt of another run" '--junit good.txt: runs write files of that name; choose another name$'
: >made_empty
isolate 3 --junit made_empty
check 1 "refused: an empty file" '--junit made_empty: exists, and is not what ddpbench writes there'
is "refused: nothing is measured or written" "$(cat good.txt made_empty; echo *.xml)" "junit.xml junit2.xml"
isolate 3 --junit -
check 2 "refused: to print JUnit's XML" "--junit '-': expected a path; write ./- for a file of that name$"
try "$program" isolate --per rank --dry-run 16
is "--dry-run prints what would be done" "$status $(grep -c '^Work: messages of 1 MiB between pairs ' printed)" "0 1"
check_sentences
exit $failed
