#!/usr/bin/env bash
# allreduce.sh - `ddpbench allreduce` on the command line: its table, its files, refused options, and ranks that hang.

# wait_until calls functions by name:
# shellcheck disable=SC2317
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"
start_quickly

# measure RANKS OPTION...: runs allreduce into the new directory `out`; sets status.
measure() {
    local ranks=$1
    shift
    rm -rf out
    status=0
    [[ " $* " == *" --overlap "* ]] || set -- --blocking yield "$@" # --overlap refuses --blocking
    timeout "$limit" "${mpirun[@]}" -n "$ranks" "$program" allreduce --output out "$@" >printed 2>said </dev/null || status=$?
}

# expect WORDS CONDITION...: checks that the last command ended with status 0 and that the condition, a command, succeeds.
expect() {
    local words=$1 good=0
    shift
    [ "$status" = 0 ] || good=1
    "$@" >>said 2>&1 || good=1
    result "$good" "$words"
}

rows() { grep -cE '^ +[0-9]+ +[0-9]+ ' printed || true; }
# figures COLUMN [NAME]: prints a column of summary.csv (subject, bytes, value or n), for all figures or those called NAME.
figures() {
    awk -F, -v column="$1" -v name="${2:-}" '
        BEGIN { of["subject"] = 2; of["bytes"] = 4; of["value"] = 6; of["n"] = 9 }
        FNR > 1 && (name == "" || $3 == name) { print $of[column] }' out/summary.csv
}
# word N: prints the different Nth words that subjects have: 2 type, 3 operation, 4 placement, 6 root.
word() { figures subject | awk -v n="$1" '{ print $n }' | sort -u | tr '\n' ' ' | sed 's/ $//'; }
sizes() { figures bytes | sort -nu | tr '\n' ' '; }
# shellcheck disable=SC2317 # called by expect
equal() { [ "$1" = "$2" ] || { echo "'$1' is not '$2'"; return 1; }; }
values() { figures value "$1" | sort -u | tr '\n' ' ' | sed 's/ $//'; }
counts() { figures n time | sort -u | tr '\n' ' ' | sed 's/ $//'; }

# read_as_nccl_tests WRONG ROWS: reads the last run as two readers of nccl-tests' output do. Every line that does not
# begin with # is a row for them. One reader counts fields from the end of the row. The other uses the first heading with
# the words time (or cputime) and busbw after a line with out-of-place. Checks that both find ROWS rows of 13 fields, each
# with the busbw of summary.csv in GB/s and with WRONG as #wrong, or with N/A for both if the placement was not measured.
read_as_nccl_tests() {
    # shellcheck disable=SC2016 # these are awk fields
    awk -v wrong="$1" -v rows="$2" '
        function fail(words) { print words ": " $0; bad = 1 }
        function compare(placement, got, got_wrong,    key) {
            key = $first["size"] " " $first["type"] " " placement
            if (!(key in busbw)) { if (got != "N/A" || got_wrong != "N/A") fail(placement " is not N/A") }
            else if (got == "N/A" || (got - busbw[key]) ^ 2 > (0.01 * busbw[key] + 1e-5) ^ 2) fail(placement " has busbw " got)
            else if (got_wrong != wrong) fail(placement " has #wrong " got_wrong)
        }
        NR == FNR { split($0, csv, ","); split(csv[2], word, " "); if (csv[3] == "busbw") busbw[csv[4] " " word[2] " " word[4]] = 1e-9 * csv[6]; next }
        /^#/ && /out-of-place/ { placed = 1 }
        /^#/ && / (cpu)?time / && / busbw / && placed && !words {
            words = split(substr($0, 2), name, " ")
            for (i = words; i; i--) first[name[i]] = i
            for (i = 1; i <= words; i++) last[name[i]] = i
            if (words != 13) fail("heading of " words " words")
        }
        /^#/ || NF == 0 { next }
        NF != 13 { fail("row of " NF " fields") }
        {
            compare("out_of_place", $(NF - 5), $(NF - 4))
            compare("in_place", $(NF - 1), $NF)
            compare("out_of_place", $first["busbw"], $first["#wrong"])
            compare("in_place", $last["busbw"], $last["#wrong"])
            found++
        }
        END { if (found != rows) print found " rows"; exit bad || found != rows }' out/summary.csv printed
}

measure 2 -b 8 -e 1M -f 8 -n 10 -w 2
expect "the table has one line for each of six sizes" equal "$(rows)" 6
expect "in-place and out-of-place calls are measured" equal "$(word 4)" "in_place out_of_place"
expect "-n 10: each time figure is from ten iterations" equal "$(counts)" 10
expect "no element of an all-reduce is wrong" equal "$(values wrong_elements)" 0
expect "readers of nccl-tests' output find busbw and #wrong" read_as_nccl_tests 0 6
expect "a line counts the wrong elements" grep -qx '# Out of bounds values : 0 OK' printed
# shellcheck disable=SC2016 # these are awk fields
expect "the line of the average ends with the mean busbw in GB/s" awk -F, 'NR == FNR { if ($3 == "busbw") { sum += $6; n++ } next }
    /^# Avg bus bandwidth    : [0-9.e-]+$/ { sub(/.* /, ""); ratio = 1e-9 * sum / n / $0 } END { exit !(ratio > 0.999 && ratio < 1.001) }' out/summary.csv printed
expect "all .json and .jsonl files are valid" valid out/run.json out/summary.json out/rank_0_metrics.jsonl out/rank_1_metrics.jsonl
expect "run.json contains the mode" grep -q '"mode":.*"allreduce"' out/run.json
expect "the .jsonl files contain every iteration of every rank" equal \
    "$(cat out/rank_*_metrics.jsonl | tr -cd ',\n[]' | sed 's/.*\[\(.*\)\].*/\1/' | awk '{ n += length + 1 } END { print n }')" 240
# by_size: awk code that reads the figures of each subject and size into arrays.
# shellcheck disable=SC2016 # these are awk fields
by_size='FNR > 1 { key = $2 "," $4; bytes[key] = $4; x[key, $3] = $6 + 0 }'
# algbw = bytes / time, busbw = algbw x 2 (n - 1) / n; with 2 ranks algbw and busbw are equal.
expect "the bandwidths follow from the times" awk -F, "$by_size"' END { for (k in bytes) {
    rate = x[k, "algbw"] * x[k, "time"] / bytes[k]
    if (x[k, "algbw"] != x[k, "busbw"] || rate < 0.999 || rate > 1.001) { print k, rate; bad = 1 } } exit bad }' out/summary.csv
expect "percentiles of the times increase from minimum to maximum" awk -F, "$by_size"' END { for (k in bytes)
    if (!(x[k, "time_min"] <= x[k, "time_median"] && x[k, "time_median"] <= x[k, "time_p95"] &&
          x[k, "time_p95"] <= x[k, "time_p99"] && x[k, "time_p99"] <= x[k, "time_max"])) { print k; bad = 1 }
    exit bad }' out/summary.csv
expect "summary.txt equals the printed table" diff printed out/summary.txt
expect "compare judges only the time" equal "$(awk -F, 'FNR > 1 && $11 == 1 { print $3 }' out/summary.csv | sort -u)" time

status=0
rm -rf out
timeout "$limit" "${mpirun[@]}" -n 2 "$program" allreduce -b 8 -e 64K -f 8 -n 10 --output out >printed 2>said </dev/null || status=$?
expect "blocking calls (the default) produce no wrong element" equal "$(values wrong_elements)" 0
expect "summary.json names blocking calls" grep -q ', blocking calls' out/summary.json
mv out blocking
status=0
timeout "$limit" "${mpirun[@]}" -n 2 "$program" allreduce -b 8 -e 64K -f 8 -n 10 -z 0 --output out >printed 2>said </dev/null || status=$?
expect "summary.json names queued calls" grep -q ', queued calls' out/summary.json
"$program" compare --metrics time blocking out >said 2>&1 && status=1 || status=0
expect "compare refuses blocking against queued calls" grep -q 'blocking: baseline blocking calls, candidate queued calls' said

for kind in all_reduce reduce_scatter all_gather broadcast; do
    types='bf16 double float int32' ops='avg max sum' which=(-o all)
    case $kind in all_gather) ops=none which=() ;; broadcast) ops=none which=(--root 1) ;; esac
    measure 3 --collective $kind -d all "${which[@]}" -b 1 -e 48K -f 200 -n 2 -w 1 -c 1
    expect "$kind: -d all measures every type" equal "$(word 2)" "$types"
    expect "$kind: -o all measures every operation" equal "$(word 3)" "$ops"
    expect "$kind: no wrong element on 3 ranks" equal "$(values wrong_elements)" 0
done
expect "a broadcast is measured in place only" equal "$(word 4)" in_place
expect "a broadcast names its root" equal "$(word 6)" 1
expect "readers of nccl-tests' output find N/A for a broadcast out of place" read_as_nccl_tests 0 12
measure 2 -b 8 -e 64 -f 8 -n 5 -c 0 -C 1
expect "readers of nccl-tests' output find N/A for #wrong with -c 0, and cputime with -C 1" read_as_nccl_tests N/A 2
measure 3 --collective reduce_scatter -b 100 -e 100 -n 5
expect "message sizes are rounded down to equal parts of whole elements" equal "$(sed -n 's/^ *\([0-9]*\) *\([0-9]*\) .*/\1 \2/p' printed)" "96 8"
measure 1 --sizes 64 -n 5
expect "no bus bandwidth on one rank" equal "$(values busbw)" ""

for kind in all_reduce reduce_scatter all_gather broadcast; do
    DDPBENCH_TEST_FLIP_BIT=12 measure 2 --collective $kind --sizes 8,4K -n 5
    [ "$status" = 1 ] && status=0 || status=1
    expect "$kind: one flipped bit makes one wrong element" equal "$(values wrong_elements)" 1
    expect "$kind: the table ends with FAILED after a flipped bit" grep -q '^# Out of bounds values : [24] FAILED' printed
done

measure 2 -b 100 -e 400 -i 100 -n 5
expect "-i 100 increases the size by 100 bytes" equal "$(sizes)" "100 200 300 400 "
measure 2 --sizes 4K,8 -n 5
expect "a list of sizes is sorted" equal "$(sizes)" "8 4096 "
measure 2 --sizes-from-model --d-model 32 --num-layers 1 --num-heads 2 --d-ff 64 --vocab-size 50 --implementations ddp_individual -n 5
expect "--sizes-from-model measures the sizes of the model's tensors" equal "$(sizes)" "128 4096 6400 8192 "
measure 2 --sizes-from-model --d-model 32 --num-layers 1 --num-heads 2 --d-ff 64 --vocab-size 50 --implementations ddp_individual_v2 --wire-dtype bf16 -n 5
expect "--sizes-from-model halves the sizes with --wire-dtype bf16" equal "$(sizes)" "64 2048 3200 4096 "
measure 2 --sizes-from-model --d-model 32 --num-layers 1 --num-heads 2 --d-ff 64 --vocab-size 50 --collective reduce_scatter --implementations ddp_sharded --bucket-size-mb 0.02 -n 5
expect "--sizes-from-model measures what ddp_sharded scatters" equal "$(sizes)" "23040 32896 "
measure 2 --sizes-from-model --d-model 32 --num-layers 2 --num-heads 2 --d-ff 64 --vocab-size 50 --implementations ddp_bucketed --bucket-size-mb block -n 5
expect "--sizes-from-model measures a transformer block, the tensors before the blocks, and those after" equal "$(sizes)" "6400 8320 41216 "
measure 2 --sizes-from-model --device cpu --num-layers 1 --implementations ddp_bucketed -n 5
expect "--sizes-from-model measures the bucket sizes of the preset's model" equal "$(sizes)" "1311744 1312768 2097152 "
expect "the heading names the preset and what comes from it" grep -q '^# From the preset laptop: d-model ' printed
expect "the heading has the sizes of the model" grep -q '^# Model: 1 layers, d_model ' printed
measure 2 --sizes 1K -n 12 -N 4 -I 1 -C 1 -c 0
expect "-N 4: the four cycles together make 12 iterations" equal "$(counts)" 12
expect "the table contains percentiles and CPU time" grep -q 'cputime.*i_p99' printed
# shellcheck disable=SC2016 # these are awk fields
expect "-I 1: the further columns, calls first, follow the 13 of nccl-tests" awk '/^# +size/ { sub(/#/, ""); words = NF; calls = $14 }
    /^ +[0-9]/ { if (NF != words || $14 != 12) bad = 1 } END { exit bad || calls != "calls" || words != 13 + 2 * 7 }' printed
expect "-c 0: the number of wrong elements is empty, not 0" equal "$(values wrong_elements)" ""
measure 2 --sizes 1K
figures n time >counts
# shellcheck disable=SC2016
expect "the default number of iterations is at least 5" awk '!($1 >= 5) { print; bad = 1 } END { exit bad || NR != 2 }' counts

expect "no share of the nominal rate without --nominal" equal "$(values nominal_share)" ""
measure 2 -b 1K -e 64K -f 2 -n 20 --nominal 100mbit
expect "--nominal adds a column with the share of the nominal rate" grep -q '#wrong  *nominal  *nominal$' printed
expect "the share of the nominal rate is busbw divided by the nominal rate" awk -F, "$by_size"' END { for (k in bytes) {
    n++
    ratio = x[k, "nominal_share"] * 12.5e6 / x[k, "busbw"]
    if (ratio < 0.999 || ratio > 1.001) { print k, ratio; bad = 1 } } exit bad || n != 14 }' out/summary.csv
expect "a note explains that one host uses no network" grep -q '^# But all ranks are on one host, so no network is involved' printed
if name_hosts 1; then
    status=0
    rm -rf out
    timeout "$limit" "${mpirun[@]}" -n 2 "${named[@]}" "$program" allreduce -b 1K -e 64K -f 2 -n 20 \
        --nominal 1mbit --output out >printed 2>said </dev/null || status=$?
    expect "between hosts, the largest size of each placement is compared with the nominal rate" equal \
        "$(texts out/summary.json | grep -c '^float sum \(out_of\|in\)_place, 64 KiB on 2 ranks: [0-9.]* % of 1mbit, more than a link can carry: ')" 2
else
    echo "skip - ranks on different hosts: needs root"
fi

measure 2 --overlap --sizes 1K,256K -n 8
expect "--overlap prints a line for each size" equal "$(rows)" 2
expect "--overlap reports its figures in summary.csv" equal "$(awk -F, 'FNR > 1 { print $3 }' out/summary.csv | sort -u | tr '\n' ' ')" \
    "both comm compute overlap "
expect "--overlap: n is the number of rounds" equal "$(figures n | sort -u)" 8
expect "--overlap: summary.json is valid" valid out/summary.json
expect "--overlap: summary.txt equals the printed table" diff printed out/summary.txt

for n in 500 5000 50000; do # repeats with more iterations until the run lasts longer than the monitor's shortest interval of 0.2 s
    measure 2 --sizes 64K -n $n --monitor-cpu
    ! grep -q '^[0-9.]*,[0-9.]*,' out/cpu_monitor.csv || break
done
expect "--monitor-cpu samples the CPUs" grep -q '^[0-9.]*,[0-9.]*,' out/cpu_monitor.csv
expect "summary.json contains the monitor's own CPU time" grep -q '"cpu_seconds_per_sample"' out/summary.json

# ---- bad input: bad_calls.sh tests more ----

measure 2 -b 1G -e 1024G -f 1024
check 1 "refused: more memory than the machine has" 'need .* of memory .*--max-bytes'
status=0
"${mpirun[@]}" -n 2 "$program" allreduce --help >printed 2>said </dev/null || status=$?
expect "--help is printed once" equal "$(grep -c '^Usage:' printed)" 1

# ---- a rank that stops responding ----

# begin OPTION...: starts two ranks and waits until they print the heading; sets `job` (the launcher) and `ranks` to process ids.
begin() {
    rm -rf hang
    took=$SECONDS
    timeout --kill-after=5 "$limit" "${mpirun[@]}" -n 2 "$program" allreduce --sizes 8,64K -c 0 --output "$temporary/hang" "$@" \
        >printed 2>said </dev/null &
    job=$!
    wait_until ranks_run || true
}

# ranks_run: sets `ranks`; succeeds if both ranks run and the heading is printed, or if the job has ended.
ranks_run() {
    local process
    ranks=()
    for process in $(left_over hang); do
        [ "$(readlink "/proc/$process/exe")" != "$program" ] || ranks+=("$process")
    done
    { [ "${#ranks[@]}" = 2 ] && [ -s printed ]; } || ! kill -0 "$job"
}

# stop_ranks: sends SIGSTOP to both ranks; succeeds if both have stopped, and neither has ended before.
stop_ranks() {
    [ "${#ranks[@]}" = 2 ] && kill -STOP "${ranks[@]}" 2>/dev/null && wait_until ranks_stand
}
ranks_stand() { [ "$(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/${ranks[0]}/status" "/proc/${ranks[1]}/status")" = $'T\nT' ]; }

begin -n 1000000 -T 1.5
if [ "${#ranks[@]}" = 2 ] && [ -s printed ]; then
    kill -STOP "${ranks[1]}" || true
    status=0
    wait $job || status=$?
    kill -CONT "${ranks[1]}" 2>/dev/null || true
    took=$((SECONDS - took))
    [ "$status" != 0 ] && ended_by_itself && good=0 || good=1
    echo "status $status after $took s" >>said
    result "$good" "a collective that hangs ends the job"
    # The heading was printed, so rank 0 was measuring or about to measure.
    succeeds "a job ended by a hanging collective names the size and the iteration" \
        grep -qE 'rank 0 on .* has waited for [0-9]+ s in (the set-up|[a-z-]+( iteration [0-9]+| evaluation) of all_reduce of (8 B|64 KiB) \(float sum, (in|out of) place\))[:;]' said
    succeeds "run.json is valid after a hanging collective" valid hang/run.json
else
    result 1 "a collective that hangs: ${#ranks[@]} of 2 ranks started"
fi

# The job needs enough iterations to be suspended before it ends, but few enough to end soon on busy cores: tries more
# iterations until it is suspended in time.
for n in 500 5000 50000 500000; do
    begin -n $n -T 1.5
    suspended=0
    ! stop_ranks || suspended=1
    [ $suspended = 0 ] || break
    kill -CONT "${ranks[@]}" 2>/dev/null || true
    wait $job || true
done
if [ "$suspended" = 1 ]; then
    status=0
    sleep 2
    kill -CONT "${ranks[@]}" || status=$?
    wait $job || status=$?
    expect "a job that was suspended for less than --timeout continues" grep -q '^# Avg bus bandwidth' printed
else
    result 1 "a job that is suspended: it had ended before, or only ${#ranks[@]} of 2 ranks started"
fi
check_sentences
exit "$failed"
