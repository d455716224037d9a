#!/usr/bin/env bash
# monitor.sh - --monitor-cpu and --monitor-gpu: one line per second with the expected content, complete lines after a
# kill, and notes and errors. A fake NVML library, built here, provides GPUs. Tests BUILD_DIR/ddpbench with small sizes,
# partly while a busy loop of 3 s runs.

# Checks are called by name, and awk expands its own fields:
# shellcheck disable=SC2317,SC2016
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

tiny=(--device cpu --d-model 32 --num-layers 1 --num-heads 2 --d-ff 48 --context-length 16 --batch-size 6 --vocab-size 256
    --steps-per-block 2)
two=(--implementations 'none,ddp')
# Makes steps long (a run takes 3.5 s) and leaves the cores idle for other runs.
slow=(--inject-delay 'rank=0,ms=20,phase=forward_pass' --rounds 22)

# end NAME: waits for the ranks that start_ranks started as NAME; sets `out` to their results directory.
end() {
    out=$temporary/$1
    end_ranks "$1"
}

# begin_benchmark NAME RANKS OPTION...: starts the benchmark with results in the new directory NAME.
begin_benchmark() {
    local name=$1 ranks=$2
    shift 2
    latest "${tiny[@]}" "${two[@]}" --output "$temporary/$name" "$@"
    start_ranks "$name" "$ranks" "$program" "${latest[@]}"
}

# launch NAME RANKS OPTION...: runs the benchmark to its end.
launch() {
    begin_benchmark "$@"
    end "$1"
}

# whole FILE: tests that the file ends with a newline, all lines have the fields of the header, and cpu_monitor.csv has only numbers.
whole() {
    [ "$(tail -c 1 "$1" | od -An -c | tr -d ' ')" = '\n' ] || { echo "$1 does not end with a line feed"; return 1; }
    awk -F, -v file="$1" 'NR == 1 { n = NF; if ($1 != "seconds" || n < 10) bad = 1 }
        NF != n { bad = 1 }
        NR > 1 && file ~ /cpu/ { for (i = 1; i <= NF; i++) if ($i !~ /^(-?[0-9]+([.][0-9]+)?)?$/) bad = 1 }
        END { if (bad) print file " is not whole, or holds other things than numbers"; exit bad }' "$1"
}

# column FILE NAME: prints the values of a column, one per line.
column() { awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next } { print $c }' "$1"; }

# a_second FILE: tests that FILE has at least 3 lines, no more lines than seconds, and at least half of the lines 0.7 to
# 1.3 s after the previous line. A line may be late when the machine stalls.
a_second() {
    column "$1" seconds | awk '{ t[NR] = $1 } END {
        for (i = 2; i < NR; i++) {
            even += t[i] - t[i - 1] >= 0.7 && t[i] - t[i - 1] <= 1.3
            if (t[i] <= t[i - 1]) { print "line " i " at " t[i]; bad = 1 }
        }
        if (NR < 3 || 2 * even < NR - 2 || NR > t[NR] + 2) { print NR " lines until " t[NR] ", " even + 0 " after a second"; bad = 1 }
        exit bad }'
}

# with_gpus HOW NAME RANKS OPTION...: calls begin_benchmark with the fake NVML library and FAKE_NVML=HOW.
with_gpus() {
    local how=$1
    shift
    FAKE_NVML=$how FAKE_NVML_SHUTDOWN=$temporary/$1.shutdown LD_LIBRARY_PATH=$temporary/${library:-lib} begin_benchmark "$@"
}
mkdir lib empty old
cc=${CC:-cc} no_gpus=''
"$cc" -shared -fPIC -o lib/libnvidia-ml.so.1 "$root/tests/support/fixture/fake_nvml.c" 2>said || no_gpus=$(head -n 1 said)

# ---- CPUs ----

# These runs sleep most of the time, and no check on them depends on other processes.
begin_benchmark ranks1 1 "${slow[@]}" --monitor-cpu
begin_benchmark ranks3 3 "${slow[@]}" --monitor-cpu
begin_benchmark killed 2 "${slow[@]}" --rounds 10000 --monitor-cpu
[ -n "$no_gpus" ] || with_gpus '' gpus 2 "${slow[@]}" --monitor-gpu

has_lines() { [ "$(wc -l <"$1")" -ge "$2" ]; }
wait_until has_lines killed/cpu_monitor.csv 3 || true
for pid in $(left_over killed); do kill -KILL "$pid" 2>/dev/null || true; done
end killed
succeeds "SIGKILL leaves complete lines" whole "$out/cpu_monitor.csv"
succeeds "SIGKILL leaves the lines written before" [ "$(wc -l <"$out/cpu_monitor.csv")" -ge 3 ]
is "SIGKILL to all ranks leaves no process" "$(gone killed)" ""

for ranks in 1 3; do
    end "ranks$ranks"
    csv=$out/cpu_monitor.csv
    result "$status" "$ranks ranks: exit status 0"
    is "$ranks ranks on one host: one monitor file" "$(cd "$out" && echo *_monitor*.csv)" cpu_monitor.csv
    succeeds "$ranks ranks: cpu_monitor.csv has complete lines of numbers" whole "$csv"
    succeeds "$ranks ranks: cpu_monitor.csv has one line per second" a_second "$csv"
    # The last line is written after the last step, and the first 1 s after the start.
    step=$(tail -n 1 "$out/rank_0_metrics.jsonl" | sed 's/.*"start": \([0-9.]*\).*/\1/')
    succeeds "$ranks ranks: seconds agree with the steps of rank 0, which end at $step" \
        awk -v a="$step" -v b="$(column "$csv" seconds | tail -n 1)" 'BEGIN { exit !(a > 1 && b - a > -0.5 && b - a < 3) }'
    succeeds "$ranks ranks: cpu_monitor.csv contains the used memory and the job's memory" \
        awk -v used="$(column "$csv" memory_used_mib | tail -n 1)" -v job="$(column "$csv" job_resident_mib | tail -n 1)" \
        -v ranks="$ranks" 'BEGIN { exit !(job > 10 * ranks && job < 200 * ranks && used > 0) }'
    succeeds "$ranks ranks: summary.json is valid" valid "$out"/*.json
    succeeds "$ranks ranks: summary.json contains the CPU time of a sample" grep -q '"cpu_seconds_per_sample"' "$out/summary.json"
    # The upper bound is far above the usual 0.2 ms, because other processes evict the caches.
    succeeds "$ranks ranks: a sample costs less than 5 ms of CPU time" awk -F: '/cpu_seconds_per_sample/ { seen = $2 + 0 }
        END { print seen " s"; exit !(seen > 0 && seen < 0.005) }' "$out/summary.json"
done

[ -n "$no_gpus" ] || wait "${started[gpus]}" || true

launch neither 2 --rounds 1
[ "$status" = 0 ] && ! compgen -G "$out/*_monitor*.csv" >>said && ! grep -q '"monitor"' "$out/summary.json" && good=0 || good=1
result "$good" "without --monitor-* there is no monitor file and no entry in summary.json"

# Runs without a delay, so that two ranks keep two cores busy, or share one.
launch compute 2 --monitor-cpu --rounds 400 --d-model 64
most=$(column "$out/cpu_monitor.csv" job_cores | sort -n | tail -n 1)
succeeds "2 ranks that compute use $most cores" awk -v most="$most" 'BEGIN { exit !(most > 0.2 && most < 2.3) }' # other processes may use the rest

# busy SECONDS: keeps a core busy.
busy() { timeout "$1" sh -c 'while :; do :; done' || true; }

# Runs a busy loop for 3 s while two runs sleep nearly all of the time.
(sleep 1.5 && busy 3) &
busy=$!
# Makes blocks of a few hundredths of a second: other processes must be detected over several blocks.
begin_benchmark beside 1 "${slow[@]}" --rounds 120 --steps-per-block 1 --monitor-cpu
start_ranks profile 1 "$program" "${tiny[@]}" "${slow[@]}" --profile --profile-implementation ddp --num-epochs 20 \
    --profile-output-dir "$temporary/profile" --monitor-cpu
wait $busy
end beside
# Adds up the intervals that the lines cover, because a late line covers more than a second.
seen=$(paste <(column "$out/cpu_monitor.csv" seconds) <(column "$out/cpu_monitor.csv" other_processes_cores) |
    awk '{ seen += $2 >= 0.25 ? $1 - last : 0; last = $1 } END { printf "%.0f", seen }')
[ "$seen" -ge 2 ] && good=$status || good=1
result "$good" "a busy loop of 3 s is in cpu_monitor.csv ($seen s)"
most=$(column "$out/cpu_monitor.csv" job_cores | sort -n | tail -n 1)
succeeds "a busy loop is not counted as the job's CPU use ($most cores)" \
    awk -v most="$most" 'BEGIN { exit !(most < 0.6) }'
is "a busy loop is reported once" "$(grep -c '^Note: other processes used' printed)" 1
tr -d ' \t\n' <"$out/summary.json" | grep -qE '"other_processes":\{"cores":[0-9.]*[1-9]' && good=0 || good=1
result "$good" "summary.json contains the cores that other processes used"
for file in printed "$out/summary.txt"; do
    succeeds "a busy loop is reported in $(basename "$file")" grep -qE '^Note: other processes used 0.25 cores or more in [0-9]+ of [0-9]+ s, [0-9.]+ at most\.$' "$file"
done
grep -q '"name":.*"other_processes"' "$out/summary.json" && valid "$out/summary.json" >>said && good=0 || good=1
result "$good" "a busy loop is reported in summary.json"

end profile
succeeds "a profile: cpu_monitor.csv has complete lines" whole "$temporary/profile/ddp/cpu_monitor.csv"
grep -q '^Note: other processes used' printed && grep -q '"name":.*"other_processes"' "$temporary/profile/ddp/summary.json" &&
    valid "$temporary/profile/ddp/summary.json" >>said && good=$status || good=1
result "$good" "a profile reports a busy loop"

# ---- several hosts ----

if name_hosts 2; then
    (sleep 1 && busy 2) &
    busy=$!
    latest "${tiny[@]}" "${two[@]}" --batch-size 8 "${slow[@]}" --rounds 15 --output "$temporary/hosts" --monitor-cpu
    start_ranks hosts 4 "${named[@]}" "$program" "${latest[@]}"
    wait $busy
    end hosts
    result "$status" "2 hosts: exit status 0"
    is "2 hosts: one monitor file per host" "$(cd hosts && echo *_monitor*.csv)" "cpu_monitor_host0.csv cpu_monitor_host1.csv"
    for csv in hosts/*_monitor*.csv; do
        succeeds "2 hosts: complete lines in $csv" whole "$csv"
        succeeds "2 hosts: $csv counts the memory of the job's ranks" awk -v job="$(column "$csv" job_resident_mib | tail -n 1)" \
            'BEGIN { exit !(job > 4 * 8) }'
    done
    is "2 hosts: a note for each host, by name" "$(grep -cE '^Note: host[01]: other processes used' printed)" 2
else
    echo "skip - 2 hosts: host names cannot be set here"
fi

# ---- existing files ----

mkdir -p "$temporary/taken/cpu_monitor.csv"
launch taken 2 --rounds 1 --monitor-cpu
[ "$status" = 1 ] && grep -q "^ddpbench: --output $(literal "$temporary")/taken already holds cpu_monitor.csv, which is not overwritten" said &&
    [ "$(grep -c '^ddpbench: ' said)" = 1 ] && good=0 || good=1
result "$good" "an existing monitor file is refused (status $status)"

# ---- GPUs ----

if [ -n "$no_gpus" ]; then
    echo "skip - $cc cannot build a shared library: $no_gpus"
    exit "$failed"
fi

end gpus
csv=$out/gpu_monitor.csv
result "$status" "GPUs: exit status 0"
is "GPUs: gpu_monitor.csv is the only monitor file" "$(cd "$out" && echo *_monitor*.csv)" gpu_monitor.csv
succeeds "GPUs: gpu_monitor.csv has complete lines" whole "$csv"
succeeds "GPUs: every line has the values of the fake library" awk -F, '
    { $1 = ""; rest = $0 }
    NR > 1 && $2 == 0 && rest != " 0 GPU-0000 87 950 1000 312.6 66 1755 sw_power_cap|hw_thermal_slowdown" { print; bad = 1 }
    NR > 1 && $2 == 2 && rest != " 2 GPU-0002     41  " { print; bad = 1 }
    NR > 1 { lines[$2]++ }
    END { exit bad || lines[1] || lines[0] < 3 || lines[0] != lines[2] }' OFS=' ' "$csv"
for words in "host GPU 0 (NVML's number) was held back by its power limit in" \
    "host GPU 0 (NVML's number) was throttled because of its temperature in" \
    "host GPU 0 (NVML's number) had its memory nearly full in [0-9]* of [0-9]* samples (95.0 % at most, threshold 90 %)"; do
    texts "$out/summary.json" | grep "^Note: $words" >said && good=0 || good=1
    result "$good" "GPUs: reported: ${words%% in*}"
done
[ "$(grep -c '^Note: host GPU' printed)" = 3 ] && valid "$out/summary.json" >>said && good=0 || good=1
result "$good" "GPUs: no other note is reported"
is "GPUs: only one rank per host uses the library, and shuts it down" "$(cat gpus.shutdown)" shutdown

with_gpus '' both 2 --rounds 1 --monitor-cpu --monitor-gpu
end both
is "both monitors write both files" "$status $(cd "$out" && echo *_monitor*.csv)" "0 cpu_monitor.csv gpu_monitor.csv"

with_gpus many many 2 "${slow[@]}" --rounds 2 --monitor-gpu
end many
is "100 GPUs: all are sampled" "$(column many/gpu_monitor.csv gpu | sort -n | uniq | tail -n 1) $status" "99 0"

# refused WORDS PATTERN: checks that the last launch failed with one error line and left no files.
refused() {
    [ "$status" = 1 ] && [ "$(grep -c '^ddpbench: ' said)" = 1 ] && grep -qE "^ddpbench: .*$2" said && [ ! -s printed ] &&
        [ ! -e "$out" ] && good=0 || good=1
    result "$good" "refused: $1 (status $status)"
}

with_gpus no_driver no_driver 2 --monitor-gpu
end no_driver
refused "--monitor-gpu without a driver" '--monitor-gpu: libnvidia-ml[.]so[.]1 cannot start [(]error 9: Driver Not Loaded[)]'
with_gpus no_gpu no_gpu 2 --monitor-gpu
end no_gpu
refused "--monitor-gpu with a driver but no GPUs" '--monitor-gpu: the driver is loaded, but no GPU can be accessed'
sed 's/nvmlDeviceGetHandleByIndex_v2/nvmlDeviceGetHandleByIndex/' "$root/tests/support/fixture/fake_nvml.c" >old/old.c
"$cc" -shared -fPIC -o old/libnvidia-ml.so.1 old/old.c
library=old with_gpus '' too_old 2 --monitor-gpu
end too_old
refused "--monitor-gpu with an NVML that is too old" 'has no nvmlDeviceGetHandleByIndex_v2: it is too old'
: >empty/libnvidia-ml.so.1 # an empty file that is found before a real library
library=empty with_gpus '' none 2 --monitor-gpu
end none
refused "--monitor-gpu without NVML" "--monitor-gpu needs NVIDIA's management library, which comes with the driver: .*libnvidia-ml"
exit "$failed"
