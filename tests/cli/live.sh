#!/usr/bin/env bash
# live.sh - --live and metrics.csv from outside: what a run serves while it goes, and what it leaves, is what its lines
# say; clients and ports that misbehave disturb nobody. GPUs come from a library that is built here.
# Checks are called by name, and awk has its own dollars:
# shellcheck disable=SC2317,SC2016
set -euo pipefail

usage() {
    cat <<'END'
Usage: [MPIRUN=mpirun] [CC=cc] tests/cli/live.sh [--help] BUILD_DIR
Tests --live of BUILD_DIR/ddpbench with tiny sizes, on ports of 127.0.0.1 that are free, and metrics.csv.
Prints a line for each check, "ok - ", "not ok - " or "skip - "; exits with status 1 if one failed.
END
}

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

tiny=(--device cpu --d-model 32 --num-layers 1 --num-heads 2 --d-ff 48 --context-length 16 --batch-size 6 --vocab-size 256)
two=(--steps-per-block 2 --implementations 'none,ddp' --rounds 3)
slow=("${two[@]}" --inject-delay 'rank=0,ms=20,phase=forward_pass')

# begin NAME COMMAND...: two ranks in the background; what they print and say is kept below NAME.
declare -A jobs=()
begin() {
    local name=$1
    shift
    timeout --kill-after=5 300 "${mpirun[@]}" -n 2 "$@" >"$name.printed" 2>"$name.said" </dev/null &
    jobs[$name]=$!
}
# end NAME: waits for it; status and said are its own.
end() {
    status=0
    wait "${jobs[$1]}" 2>/dev/null || status=$?
    cp "$1.printed" printed
    cp "$1.said" said
}
# launch OPTION...: two ranks, from begin to end.
launch() { try "${mpirun[@]}" -n 2 "$program" "$@"; }

# port_of NAME: the port that a run says it took, as soon as it does.
port_of() {
    wait_until grep -q '^Live: ' "$1.said" || true
    sed -nE 's|^Live: http://127[.]0[.]0[.]1:([0-9]+)/metrics$|\1|p' "$1.said"
}
# fetch PORT PATH: the answer, head and all.
fetch() {
    exec 8<>"/dev/tcp/127.0.0.1/$1" || return 1
    printf 'GET %s HTTP/1.1\r\nHost: x\r\n\r\n' "$2" >&8
    timeout 10 cat <&8
    exec 8>&- 8<&-
}
# page_has PORT PATTERN...: whether each matches a line of the page, whose text goes to the file page.
page_has() {
    local pattern
    fetch "$1" /metrics | sed '1,/^\r$/d' >page
    for pattern in "${@:2}"; do
        grep -qE "$pattern" page || return
    done
}

# strict FILE: whether it keeps to the text format: each metric begins with one HELP and one TYPE, its samples follow, all
# in one place; names, labels, escapes and numbers are well formed; no sample twice; counters end in _total; ended lines.
strict() {
    [ "$(tail -c 1 "$1" | od -An -c | tr -d ' ')" = '\n' ] || { echo "$1 is empty, or cut off"; return 1; }
    LC_ALL=C awk '
        function wrong(why) { print FILENAME ":" FNR ": " why ": " $0; bad = 1 }
        /^# HELP / {
            if (awaited != "") wrong("no TYPE before the next HELP")
            if ($3 !~ /^[a-zA-Z_:][a-zA-Z0-9_:]*$/ || NF < 4 || $3 in seen) wrong("HELP")
            awaited = $3
            seen[$3] = 1
            next
        }
        /^# TYPE / {
            if ($3 != awaited || NF != 4 || $4 !~ /^(gauge|counter)$/) wrong("TYPE")
            if (($4 == "counter") != ($3 ~ /_total$/)) wrong("name of a counter")
            name = $3
            awaited = ""
            next
        }
        /^#/ || /^$/ { wrong("neither metric nor sample"); next }
        {
            if (awaited != "") wrong("a sample before TYPE")
            if (!match($0, /^[a-zA-Z_:][a-zA-Z0-9_:]*([{][a-zA-Z_][a-zA-Z0-9_]*="([^\\"]|\\[\\"n])*"(,[a-zA-Z_][a-zA-Z0-9_]*="([^\\"]|\\[\\"n])*")*[}])? /)) {
                wrong("no sample")
                next
            }
            series = substr($0, 1, RLENGTH - 1)
            value = substr($0, RLENGTH + 1)
            of = series
            sub(/[{].*/, "", of)
            if (of != name) wrong("not of the metric above")
            if (series in samples) wrong("twice")
            samples[series] = 1
            if (value !~ /^(-?[0-9]+([.][0-9]+)?(e[-+]?[0-9]+)?|NaN|[+-]Inf)$/) wrong("number")
        }
        END { exit bad }' "$1"
}
for text in 'a 1' $'# HELP a x\n# TYPE a gauge\nb 1' $'# HELP a x\n# TYPE a gauge\na 1\na 2' $'# HELP a x\n# TYPE a gauge\na{b="\\x"} 1' \
    $'# HELP a x\n# TYPE a counter\na 1' $'# HELP a x\n# TYPE a gauge\na 1 2' $'# HELP a x\n# TYPE a gauge\na{b="c} 1'; do
    echo "$text" >wrong.prom
    if strict wrong.prom >/dev/null; then result 1 "the check of the format finds '$text'"; fi
done

# value SERIES [FILE]: of that sample
value() { SERIES="$1 " awk 'index($0, ENVIRON["SERIES"]) == 1 { print substr($0, length(ENVIRON["SERIES"]) + 1) }' "${2:-page}"; }

# table DIRECTORY: metrics.csv has a row for each line of rank 0, and each field is the text that the line has.
table() {
    awk -F, '
        FNR == 1 { file++ }
        file == 1 { gsub(/": /, "\":"); gsub(/, "/, ",\""); line[FNR] = $0; lines = FNR; next }
        FNR == 1 { for (i = 1; i <= NF; i++) name[i] = $i; columns = NF; next }
        {
            if (NF != columns) { print "row " FNR " has " NF " fields of " columns; bad = 1 }
            for (i = 1; i <= NF; i++) {
                if ($i != "") fields++
                number = "\"" name[i] "\":" $i
                at = index(line[FNR - 1], number)
                after = substr(line[FNR - 1], at + length(number), 1)
                if ($i == "" ? line[FNR - 1] ~ "\"" name[i] "\":[^n\\[]" : !(at && (after == "," || after == "}")) && \
                    !index(line[FNR - 1], "\"" name[i] "\":\"" $i "\"")) { print "row " FNR ", " name[i] " is " $i; bad = 1 }
            }
        }
        END {
            if (FNR != lines + 1 || !fields) { print FNR " rows, " lines " lines, " fields " fields"; bad = 1 }
            exit bad
        }' "$1/rank_0_metrics.jsonl" "$1/metrics.csv"
}

# last DIRECTORY IMPLEMENTATION COLUMN: of its last row in metrics.csv that is of a step
last() {
    awk -F, -v of="$2" -v want="$3" '
        NR == 1 { for (i = 1; i <= NF; i++) { if ($i == want) c = i; if ($i == "implementation") m = i; if ($i == "step_ms") s = i } next }
        $m == of && $s != "" { value = $c }
        END { print value }' "$1/metrics.csv"
}
# same MILLISECONDS SECONDS: to the nanosecond
same() { [ -n "$1" ] && [ -n "$2" ] && awk -v a="$1" -v b="$2" 'BEGIN { exit sprintf("%.6f", a) != sprintf("%.6f", 1000 * b) }'; }
# steps FILE DIRECTORY IMPLEMENTATION...: the page's step, phases, loss and learning rate are those of the last lines.
steps() {
    local file=$1 directory=$2 name phase
    shift 2
    for name in "$@"; do
        same "$(last "$directory" "$name" step_ms)" "$(value "ddpbench_step_seconds{implementation=\"$name\"}" "$file")" ||
            { echo "step of $name"; return 1; }
        for phase in zero_grad forward_pass backward_pass gradient_sync optimizer_step; do
            same "$(last "$directory" "$name" "${phase}_ms")" \
                "$(value "ddpbench_step_phase_seconds{implementation=\"$name\",phase=\"$phase\"}" "$file")" ||
                { echo "$phase of $name"; return 1; }
        done
        for phase in loss learning_rate; do
            [ "$(printf %.9g "$(last "$directory" "$name" "$phase")")" = \
                "$(printf %.9g "$(value "ddpbench_${phase}{implementation=\"$name\"}" "$file")")" ] ||
                { echo "$phase of $name"; return 1; }
        done
    done
}

# ---- a port, while the run goes ----

begin served "$program" "${tiny[@]}" "${slow[@]}" --rounds 90 --monitor-cpu --live 0 --label 'a-label' --output "$temporary/served"
port=$(port_of served)
succeeds "port 0 is a free one, and it is printed" [ "${port:-0}" -gt 0 ]
succeeds "the page has the steps of both, and the monitor's" wait_until page_has "$port" ddpbench_job_cores \
    '^ddpbench_step_seconds[{]implementation="none"' '^ddpbench_step_seconds[{]implementation="ddp"'
cp page first
succeeds "the page keeps to the format" strict first
is "which run it is" "$(grep -c '^ddpbench_run_info{mode="benchmark",label="a-label",version="[^"]*"} 1$' first)" 1
is "ranks; it runs" "$(value ddpbench_ranks first) $(value ddpbench_running first)" "2 1"
is "blocks planned" "$(value 'ddpbench_progress_planned{of="blocks"}' first)" 180
done_first=$(value 'ddpbench_progress_done{of="blocks"}' first)
succeeds "blocks done" [ "$done_first" -gt 0 ]
# the time of the blocks until then in proportion: in each, rank 0 has slept 20 ms in 4 steps, and all took less than the run
succeeds "how long the rest will take" awk -v left="$(value ddpbench_progress_left_seconds first)" -v f="$done_first" \
    -v s="$(value ddpbench_run_seconds first)" 'BEGIN { took = left * f / (180 - f); exit !(took > 0.08 * f && took < s) }'
is "one implementation runs" "$(grep -c '^ddpbench_implementation_running{.*} 1$' first)" 1
is "the head" "$(fetch "$port" /metrics | tr -d '\r' | sed -n '1p; /^Content-Type/p')" "HTTP/1.1 200 OK
Content-Type: text/plain; version=0.0.4; charset=utf-8"
is "other paths" "$(for path in /x /metrics/x /../etc/passwd; do fetch "$port" $path | head -n 1; done | sort -u | tr -d '\r')" \
    "HTTP/1.1 404 Not Found"
is "a link" "$(fetch "$port" / | grep -c 'href="/metrics"')" 1
# clients that say nothing, or the wrong thing
still_open() { for fd; do ! read -r -t 0 -u "$fd" || return; done; } # there would be an end to read
for fd in 20 21 22 23; do eval "exec $fd<>/dev/tcp/127.0.0.1/$port"; done
printf 'GET /metr' >&20
head -c 20000 /dev/urandom >&21 2>/dev/null || true
succeeds "silent and garbled clients hold nobody up" page_has "$port" '^ddpbench_running 1$'
succeeds "while they are still there" still_open 22 23
for fd in 20 21 22 23; do eval "exec $fd>&-"; done
# the port is taken
launch "${tiny[@]}" "${two[@]}" --live "$port" --output taken
check 1 "a port in use is refused" "^ddpbench: --live: cannot listen on port $port of 127.0.0.1: Address already in use$"
is "in one line of one rank" "$(grep -c -- --live said)" 1
succeeds "before there is a directory" [ ! -e taken ]
more_done() { page_has "$port" && [ "$(value 'ddpbench_progress_done{of="blocks"}')" -gt "$done_first" ]; }
succeeds "it goes on: more blocks are done" wait_until more_done
cp page later
end served
is "exit status 0" "$status" 0
is "the port is closed" "$( (exec 8<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && echo open)" ""
is "no process is left over" "$(gone served)" ""
succeeds "metrics.csv is what the lines say" table served
for name in none ddp; do # what was served is a line, of the last step of a block
    ms=$(awk -v s="$(value "ddpbench_step_seconds{implementation=\"$name\"}" first)" 'BEGIN { printf "%.6f", 1000 * s }')
    is "the step of $name that was served is one of its lines" \
        "$(grep -c "\"implementation\": \"$name\".*\"step\": 3,.*\"step_ms\": $ms," served/rank_0_metrics.jsonl)" 1
done
# the block of that line gives the tokens: 2 timed steps of 6 x 16
ms=$(grep "\"implementation\": \"ddp\".*\"step\": 3,.*\"step_ms\": $ms," served/rank_0_metrics.jsonl | sed 's/.*"block_ms": \([0-9.]*\).*/\1/')
is "tokens a second" "$(printf %.5g "$(value 'ddpbench_tokens_per_second{implementation="ddp"}' first)")" \
    "$(awk -v ms="$ms" 'BEGIN { printf "%.5g", 2 * 6 * 16 / (ms / 1000) }')"
succeeds "a page costs little" awk -v s="$(value ddpbench_live_cpu_seconds_total later)" 'BEGIN { exit !(s > 0 && s < 0.5) }'

# ---- a file, and what it holds at the end ----

{ echo '# HELP ddpbench_run_info mine' && printf '%1000s' ''; } >text.prom && ln text.prom linked.prom
try "$program" "${tiny[@]}" --rounds 1 --data text.prom --live linked.prom --output unread
check 1 "the text that --data reads is no file for --live" '^ddpbench: --live linked.prom: is what --data reads; name another file$'
is "and stays" "$(wc -c <text.prom)" 1030
begin filed "$program" "${tiny[@]}" "${slow[@]}" --rounds 30 --live filed.prom --output filed
wait_until grep -q ddpbench_loss filed.prom || true
cp filed.prom during
succeeds "the file is there while the run goes, and keeps to the format" strict during
is "it runs" "$(value ddpbench_running during)" 1
end filed
is "exit status 0 (file)" "$status" 0
succeeds "the file at the end keeps to the format" strict filed.prom
is "the run is over, all blocks are done, in no time" "$(value ddpbench_running filed.prom) $(value \
    'ddpbench_progress_done{of="blocks"}' filed.prom) $(value ddpbench_progress_left_seconds filed.prom)" "0 60 0"
succeeds "its numbers are those of the last lines" steps filed.prom filed none ddp
first=$(($(value ddpbench_steps_total filed.prom) - $(wc -l <filed/rank_0_metrics.jsonl)))
succeeds "all steps are counted, the 2 to 10 before the rounds included" test "$((first <= 10 && first >= 2))" = 1
is "no monitor, no cores" "$(grep -c job_cores filed.prom)" 0
succeeds "nothing else is left" [ -z "$(find . -name '*.tmp')" ]

# ---- the other commands ----

launch "${tiny[@]}" --profile --profile-implementation ddp_bucketed --bucket-size-mb 0.02 --rounds 2 --steps-per-block 2 \
    --live profile.prom --profile-output-dir profiled
is "a profile: exit status 0" "$status" 0
succeeds "a profile: the file keeps to the format" strict profile.prom
is "a profile: mode" "$(grep -c '^ddpbench_run_info{mode="profile"' profile.prom)" 1
succeeds "a profile: metrics.csv" table profiled/ddp_bucketed
succeeds "a profile: its numbers are those of the last lines" steps profile.prom profiled/ddp_bucketed ddp_bucketed none
launch "${tiny[@]}" --profile --profile-implementation ddp --rounds 0 --num-epochs 6 --live captured.prom --profile-output-dir captured
succeeds "a profile without controls: numbers of the last captured step" steps captured.prom captured/ddp ddp
is "a profile without controls: all steps are done" "$(grep -c '^ddpbench_progress_done{of="steps"} 6$' captured.prom)" 1
launch tune "${tiny[@]}" --max-minutes 0.05 --live tuned.prom --output tuned
is "tune: exit status 0" "$status" 0
succeeds "tune: the file keeps to the format" strict tuned.prom
is "tune: progress is time" "$(value 'ddpbench_progress_planned{of="milliseconds"}' tuned.prom)" 3001
succeeds "tune: metrics.csv" table tuned
mapfile -t names < <(sed 1d tuned/metrics.csv | cut -d, -f 1 | sort -u)
succeeds "tune: its numbers are those of the last lines" steps tuned.prom tuned "${names[@]}"
launch allreduce --sizes 64,4K --iters 5 --live reduced.prom --output reduced
is "allreduce: exit status 0" "$status" 0
succeeds "allreduce: the file keeps to the format" strict reduced.prom
succeeds "allreduce: metrics.csv" table reduced
labels='{collective="all_reduce",dtype="float",op="sum",placement="in_place"}'
is "allreduce: the last size" "$(value "ddpbench_collective_bytes$labels" reduced.prom)" 4096
is "allreduce: all are done" "$(value 'ddpbench_progress_done{of="collectives"}' reduced.prom)" 4
# figure NAME: of the last collective in summary.csv (label, subject, name, bytes, unit, value)
figure() { awk -F, -v want="$1" '$2 ~ /in_place$/ && $3 == want && $4 == 4096 { print $6 }' reduced/summary.csv; }
for pair in time:seconds busbw:busbw_bytes_per_second algbw:algbw_bytes_per_second; do
    is "allreduce: ${pair%:*} is that of the summary" "$(printf %.6g "$(value "ddpbench_collective_${pair#*:}$labels" reduced.prom)")" \
        "$(printf %.6g "$(figure "${pair%:*}")")"
done
launch allreduce --sizes 4K --iters 10 --overlap --live overlap.prom --output overlap
succeeds "allreduce --overlap: the file keeps to the format" strict overlap.prom
is "allreduce --overlap: the share hidden" "$(grep -c '^ddpbench_collective_overlap_ratio{' overlap.prom)" 1

# ---- GPUs, under dcgm-exporter's names ----

mkdir lib
if "${CC:-cc}" -shared -fPIC -o lib/libnvidia-ml.so.1 "$root/tests/support/fixture/fake_nvml.c" 2>said; then
    export LD_LIBRARY_PATH=$temporary/lib
    begin gpus "$program" "${tiny[@]}" "${slow[@]}" --rounds 15 --monitor-gpu --live gpus.prom --output gpus
    unset LD_LIBRARY_PATH
    end gpus
    succeeds "GPUs: the file keeps to the format" strict gpus.prom
    grep ,GPU-0000, gpus/gpu_monitor.csv | tail -n 1 >line
    IFS=, read -r _ _ _ _ util _ memory _ power temperature clock _ <line
    label="{gpu=\"0\",UUID=\"GPU-0000\",device=\"nvidia0\",modelName=\"Fake GPU, number 0\",Hostname=\"$(uname -n)\"}"
    for pair in GPU_UTIL:$util FB_USED:$memory POWER_USAGE:$power GPU_TEMP:$temperature SM_CLOCK:$clock; do
        is "GPUs: ${pair%:*} is that of gpu_monitor.csv" "$(value "DCGM_FI_DEV_${pair%:*}$label" gpus.prom | awk '{ print $1 + 0 }')" \
            "$(awk -v v="${pair#*:}" 'BEGIN { print v + 0 }')"
    done
else
    echo "skip - GPUs: no library of theirs can be built: $(head -n 1 said)"
fi

# ---- what is refused ----

for command in '' --profile tune allreduce; do
    # shellcheck disable=SC2086 # no command is no word
    launch $command --live 65536 --output refused
    check 2 "${command:-benchmark} refuses a port that there is not" "^ddpbench: --live 65536: expected a port from 0 to 65535"
    is "in one line" "$(grep -c -- --live said)" 1
done
launch --live '' --output refused
check 2 "an empty one is refused" "^ddpbench: --live '': expected a port"
launch --live metrics.txt --output refused
check 2 "and a file of another name" "^ddpbench: --live metrics.txt: expected a port .* name ends in .prom$"
launch "${tiny[@]}" "${two[@]}" --live none/a.prom --output refused
check 1 "a file that cannot be written" "^ddpbench: --live: cannot write none/a.prom: No such file or directory$"
launch allreduce --sizes 64 --live none/a.prom --output refused
check 1 "a file that cannot be written: allreduce" "^ddpbench: --live: cannot write none/a.prom: No such file or directory$"
launch "${tiny[@]}" "${two[@]}" --live 192.0.2.1:0 --output refused # RFC 5737: nobody's
check 1 "an address that is not this machine's" "^ddpbench: --live: cannot listen on port 0 of 192.0.2.1: Cannot assign"
succeeds "and nothing was begun" [ ! -e refused ]

# ---- what an interrupted profile leaves ----

begin stopped "$program" "${tiny[@]}" --profile --profile-implementation ddp --num-epochs 100000 --rounds 0 \
    --inject-delay 'rank=0,ms=20,phase=forward_pass' --live stopped.prom --profile-output-dir "$temporary/stopped"
wait_until [ -e stopped/ddp_rank_1_trace.json ] || true
for pid in $(left_over stopped); do
    [[ $(tr '\0' ' ' <"/proc/$pid/cmdline") != "$program "* ]] || kill -INT "$pid" 2>/dev/null || true
done
end stopped
check 1 "an interrupted profile says so" "Interrupted: the capture ends after"
succeeds "it leaves metrics.csv" table stopped/ddp
succeeds "and its last words" steps stopped.prom stopped/ddp ddp
exit $failed
