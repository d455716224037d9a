#!/usr/bin/env bash
# allreduce.sh - `ddpbench allreduce` from outside: its table, its files, what it refuses, and that it does not hang.

# wait_until calls functions by name:
# shellcheck disable=SC2317
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

# measure RANKS OPTION...: runs it into the directory `out`, which is made anew; sets status.
measure() {
    local ranks=$1
    shift
    rm -rf out
    status=0
    [[ " $* " == *" --overlap "* ]] || set -- --blocking yield "$@" # overlaps are measured in that way in any case
    timeout 60 "${mpirun[@]}" -n "$ranks" "$program" allreduce --output out "$@" >printed 2>said </dev/null || status=$?
}

# expect WORDS CONDITION...: the last command ended with status 0, and the condition, a command, holds.
expect() {
    local words=$1 good=0
    shift
    [ "$status" = 0 ] || good=1
    "$@" >>said 2>&1 || good=1
    result "$good" "$words"
}

rows() { grep -cE '^ +[0-9]+ +[0-9]+ ' printed || true; }
# figures COLUMN [NAME]: a column of summary.csv, of the figures of that name or of all; subject, bytes, value and n.
figures() {
    awk -F, -v column="$1" -v name="${2:-}" '
        BEGIN { of["subject"] = 2; of["bytes"] = 4; of["value"] = 6; of["n"] = 9 }
        FNR > 1 && (name == "" || $3 == name) { print $of[column] }' out/summary.csv
}
# word N: the Nth word of all subjects: 2 type, 3 operation, 4 placement, 6 root.
word() { figures subject | awk -v n="$1" '{ print $n }' | sort -u | tr '\n' ' ' | sed 's/ $//'; }
sizes() { figures bytes | sort -nu | tr '\n' ' '; }
# shellcheck disable=SC2317 # expect calls it
equal() { [ "$1" = "$2" ] || { echo "'$1' is not '$2'"; return 1; }; }
values() { figures value "$1" | sort -u | tr '\n' ' ' | sed 's/ $//'; }
counts() { figures n time | sort -u | tr '\n' ' ' | sed 's/ $//'; }

measure 2 -b 8 -e 1M -f 8 -n 10 -w 2
expect "six sizes are six lines" equal "$(rows)" 6
expect "of both placements" equal "$(word 4)" "in_place out_of_place"
expect "each with ten iterations" equal "$(counts)" 10
expect "and no wrong element" equal "$(values wrong_elements)" 0
expect "which the foot says" grep -q '^# Out of bounds values : 0 OK' printed
expect "all files are JSON" valid out/run.json out/summary.json out/rank_0_metrics.jsonl out/rank_1_metrics.jsonl
expect "run.json knows the mode" grep -q '"mode":.*"allreduce"' out/run.json
expect "every iteration of every rank is kept" equal \
    "$(cat out/rank_*_metrics.jsonl | tr -cd ',\n[]' | sed 's/.*\[\(.*\)\].*/\1/' | awk '{ n += length + 1 } END { print n }')" 240
# one line of figures for each subject and size
# shellcheck disable=SC2016 # fields of awk
by_size='FNR > 1 { key = $2 "," $4; bytes[key] = $4; x[key, $3] = $6 + 0 }'
# algbw = bytes / time, busbw = algbw x 2 (n - 1) / n
expect "the rates follow from the times" awk -F, "$by_size"' END { for (k in bytes) {
    rate = x[k, "algbw"] * x[k, "time"] / bytes[k]
    if (x[k, "algbw"] != x[k, "busbw"] || rate < 0.999 || rate > 1.001) { print k, rate; bad = 1 } } exit bad }' out/summary.csv
expect "percentiles are in order" awk -F, "$by_size"' END { for (k in bytes)
    if (!(x[k, "time_min"] <= x[k, "time_median"] && x[k, "time_median"] <= x[k, "time_p95"] &&
          x[k, "time_p95"] <= x[k, "time_p99"] && x[k, "time_p99"] <= x[k, "time_max"])) { print k; bad = 1 }
    exit bad }' out/summary.csv
expect "what was printed is summary.txt" diff printed out/summary.txt
expect "only the time is judged" equal "$(awk -F, 'FNR > 1 && $11 == 1 { print $3 }' out/summary.csv | sort -u)" time

status=0
rm -rf out
timeout 60 "${mpirun[@]}" -n 2 "$program" allreduce -b 8 -e 64K -f 8 -n 10 --output out >printed 2>said </dev/null || status=$?
expect "blocking calls, the default, are exact too" equal "$(values wrong_elements)" 0
expect "and are named" grep -q ', blocking calls' out/summary.json
mv out blocking
status=0
timeout 60 "${mpirun[@]}" -n 2 "$program" allreduce -b 8 -e 64K -f 8 -n 10 -z 0 --output out >printed 2>said </dev/null || status=$?
expect "those that are queued are named, too" grep -q ', queued calls' out/summary.json
"$program" compare --metrics time blocking out >said 2>&1 && status=1 || status=0
expect "the two are not compared" grep -q 'blocking: baseline blocking calls, candidate queued calls' said

for kind in all_reduce reduce_scatter all_gather broadcast; do
    types='bf16 double float int32' ops='avg max sum' which=(-o all)
    case $kind in all_gather) ops=none which=() ;; broadcast) ops=none which=(--root 1) ;; esac
    measure 3 --collective $kind -d all "${which[@]}" -b 1 -e 48K -f 200 -n 2 -w 1 -c 1
    expect "$kind: every type" equal "$(word 2)" "$types"
    expect "$kind: every operation" equal "$(word 3)" "$ops"
    expect "$kind: is exact on 3 ranks" equal "$(values wrong_elements)" 0
done
expect "a broadcast is in place" equal "$(word 4)" in_place
expect "and has its root" equal "$(word 6)" 1
measure 3 --collective reduce_scatter -b 100 -e 100 -n 5
expect "messages are whole elements of equal parts" equal "$(sed -n 's/^ *\([0-9]*\) *\([0-9]*\) .*/\1 \2/p' printed)" "96 8"
measure 1 --sizes 64 -n 5
expect "one rank has no bus bandwidth" equal "$(values busbw)" ""

for kind in all_reduce reduce_scatter all_gather broadcast; do
    DDPBENCH_TEST_FLIP_BIT=12 measure 2 --collective $kind --sizes 8,4K -n 5
    [ "$status" = 1 ] && status=0 || status=1
    expect "$kind: one flipped bit is one wrong element" equal "$(values wrong_elements)" 1
    expect "$kind: and the run failed" grep -q '^# Out of bounds values : [24] FAILED' printed
done

measure 2 -b 100 -e 400 -i 100 -n 5
expect "sizes by steps" equal "$(sizes)" "100 200 300 400 "
measure 2 --sizes 4K,8 -n 5
expect "a list is sorted" equal "$(sizes)" "8 4096 "
measure 2 --sizes-from-model --d-model 32 --num-layers 1 --num-heads 2 --d-ff 64 --vocab-size 50 --implementations ddp_individual -n 5
expect "the sizes of a model's tensors" equal "$(sizes)" "128 4096 6400 8192 "
measure 2 --sizes-from-model --d-model 32 --num-layers 1 --num-heads 2 --d-ff 64 --vocab-size 50 --implementations ddp_individual_v2 --grad-dtype bf16 -n 5
expect "half of them in bf16" equal "$(sizes)" "64 2048 3200 4096 "
measure 2 --sizes-from-model --device cpu --num-layers 1 --implementations ddp_bucketed -n 5
expect "those of buckets of a quarter of a preset's gradient" equal "$(sizes)" "262144 263168 1048576 1049600 "
expect "the preset is named" grep -q '^# Model: preset laptop$' printed
measure 2 --sizes 1K -n 12 -N 4 -I 1 -C 1 -c 0
expect "cycles share the iterations" equal "$(counts)" 12
expect "percentiles and CPU time in the table" grep -q 'cputime.*i_p99' printed
expect "unchecked is not 0 wrong" equal "$(values wrong_elements)" ""
measure 2 --sizes 1K
figures n time >counts
# shellcheck disable=SC2016
expect "by itself it takes a good number of iterations" awk '!($1 >= 5) { print; bad = 1 } END { exit bad || NR != 2 }' counts

expect "without a nominal rate there is no share of it" equal "$(values nominal_share)" ""
measure 2 -b 1K -e 64K -f 2 -n 20 --nominal 100mbit
expect "a column has the share of the nominal rate" grep -q 'busbw nominal' printed
expect "which is that of busbw" awk -F, "$by_size"' END { for (k in bytes) {
    n++
    ratio = x[k, "nominal_share"] * 12.5e6 / x[k, "busbw"]
    if (ratio < 0.999 || ratio > 1.001) { print k, ratio; bad = 1 } } exit bad || n != 14 }' out/summary.csv
expect "one host has no network" grep -q '^# But all ranks are on one host, so no network is involved' printed
if [ "$(id -u)" = 0 ] && unshare --uts hostname host0 2>>said; then
    # shellcheck disable=SC2016
    printf '#!/bin/sh\nhostname "host${PMI_RANK:-$OMPI_COMM_WORLD_RANK}"\nexec "$@"\n' >as_host
    chmod +x as_host
    status=0
    rm -rf out
    timeout 60 "${mpirun[@]}" -n 2 unshare --uts "$temporary/as_host" "$program" allreduce -b 1K -e 64K -f 2 -n 20 \
        --nominal 1mbit --output out >printed 2>said </dev/null || status=$?
    expect "between hosts the largest size of each placement is judged" equal \
        "$(texts out/summary.json | grep -c '^float sum \(out_of\|in\)_place, 64 KiB on 2 ranks: [0-9.]* % of 1mbit, more than one link carries: ')" 2
else
    echo "skip - hosts of their own: need root"
fi

measure 2 --overlap --sizes 1K,256K -n 8
expect "overlap has a line a size" equal "$(rows)" 2
expect "and its figures" equal "$(awk -F, 'FNR > 1 { print $3 }' out/summary.csv | sort -u | tr '\n' ' ')" \
    "both comm compute overlap "
expect "over rounds" equal "$(figures n | sort -u)" 8
expect "its summary is JSON" valid out/summary.json
expect "and what was printed" diff printed out/summary.txt

for n in 500 5000 50000; do # until it took more than the 0.2 s of a shortest line
    measure 2 --sizes 64K -n $n --monitor-cpu
    ! grep -q '^[0-9.]*,[0-9.]*,' out/cpu_monitor.csv || break
done
expect "the CPUs are watched meanwhile" grep -q '^[0-9.]*,[0-9.]*,' out/cpu_monitor.csv
expect "which the summary holds" grep -q '"cpu_seconds_per_sample"' out/summary.json

# ---- bad input ----

refuse() {
    local words=$1 pattern=$2
    shift 2
    measure 2 "$@"
    [ "$status" = 2 ] && grep -qE "^ddpbench: .*($pattern)" said && [ "$(grep -c '^ddpbench: ' said)" = 1 ] && [ ! -e out ] && good=0 || good=1
    result "$good" "refused: $words"
}
refuse "a size that is none" '--sizes 8X: expected a size' --sizes 8,8X
refuse "a range from large to small" '--max-bytes 8 is less than --min-bytes 1048576' -b 1M -e 8
refuse "two ways to say sizes" '--max-bytes does not go with --sizes' --sizes 8 -e 1M
refuse "two ways to step" '--step-factor does not go with --step-bytes' -f 2 -i 8
refuse "a size in two spellings" '--sizes: 1024 bytes are listed twice' --sizes 1K,1024
refuse "a size that is no whole element" '--sizes: 3 bytes of float are no whole number of elements; use multiples of 4' --sizes 8,3
refuse "nor one of each rank" '--sizes: 12 bytes of double are .* of each rank; use multiples of 16' \
    --collective all_gather -d double --sizes 12
refuse "a sum of what is only gathered" '--op does not go with --collective all_gather' --collective all_gather -o sum
refuse "a root of what has none" '--root needs --collective broadcast' --root 1
refuse "calls in another way than overlaps are measured" '--blocking does not go with --overlap' --overlap -z 1
refuse "a model without its use" '--d-model needs --sizes-from-model' --d-model 64
refuse "what overlap does not measure" '--check does not go with --overlap' --overlap -c 3
refuse "an unknown link" '--nominal nvlink9: expected a rate such as 100mbit, .* pcie3x16, .*nvlink5, or bytes' --nominal nvlink9
refuse "a nominal rate for overlaps" '--nominal does not go with --overlap' --overlap --nominal 1gbit
refuse "a root that is no rank" '--root 2: there are ranks 0 to 1' --collective broadcast --root 2
refuse "too many sizes" 'more than 100000 sizes' -b 1 -e 1G -i 1
measure 2 -b 1G -e 1024G -f 1024
[ "$status" = 1 ] && grep -q 'need .* of memory .*--max-bytes' said && good=0 || good=1
result "$good" "refused: more memory than there is"
status=0
"${mpirun[@]}" -n 2 "$program" allreduce --help >printed 2>said </dev/null || status=$?
expect "--help is printed once" equal "$(grep -c '^Usage:' printed)" 1

# ---- a rank that does not come ----

# begin OPTION...: starts a run of two ranks, `job`, and waits until rank 0 has printed the heading: `ranks` are their processes.
begin() {
    rm -rf hang
    took=$SECONDS
    timeout --kill-after=5 60 "${mpirun[@]}" -n 2 "$program" allreduce --sizes 8,64K -c 0 --output "$temporary/hang" "$@" \
        >printed 2>said </dev/null &
    job=$!
    wait_until ranks_run || true
}

# ranks_run: sets ranks; succeeds if both run and the heading is printed, or if the job has ended.
ranks_run() {
    local process
    ranks=()
    for process in $(left_over hang); do
        [ "$(readlink "/proc/$process/exe")" != "$program" ] || ranks+=("$process")
    done
    { [ "${#ranks[@]}" = 2 ] && [ -s printed ]; } || ! kill -0 "$job"
}

# stop_ranks: SIGSTOP to both; succeeds if they stand then, and had not ended.
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
    result "$good" "a collective that does not return ends the job"
    # the heading is printed, so that it was about to measure, or did
    grep -qE 'rank 0 on .* has waited for [0-9]+ s in (the set-up|[a-z-]+( iteration [0-9]+| evaluation) of all_reduce of (8 B|64.0 KiB) \(float sum, (in|out of) place\))[:;]' said && good=0 || good=1
    result "$good" "and says where it stood"
    succeeds "and what was written is whole" valid hang/run.json
else
    result 1 "a collective that does not return: two ranks did not start, but ${#ranks[@]}"
fi

# Iterations enough to be suspended in, where cores are idle, and few enough to end, where each takes a time slice of others:
# more of them until the job has not ended before.
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
    expect "a job that was only suspended goes on" grep -q '^# Avg bus bandwidth' printed
else
    result 1 "a job that is suspended: it had ended before, or two ranks did not start: ${#ranks[@]}"
fi
check_sentences
exit "$failed"
