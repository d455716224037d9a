#!/usr/bin/env bash
# prometheus.sh - summary.prom, --prometheus and metrics.csv from outside: what they hold is what summary.csv and the
# lines say, while a run goes and when it has ended. Tests --prometheus of BUILD_DIR/ddpbench with tiny sizes, and
# metrics.csv.

# Checks are called by name, and awk has its own dollars:
# shellcheck disable=SC2317,SC2016
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

tiny=(--device cpu --d-model 32 --num-layers 1 --num-heads 2 --d-ff 48 --context-length 16 --batch-size 6 --vocab-size 256)
two=(--steps-per-block 2 --implementations 'none,ddp' --rounds 3)
slow=("${two[@]}" --inject-delay 'rank=0,ms=20,phase=forward_pass')

# launch OPTION...: two ranks, from begin to end.
launch() { try "${mpirun[@]}" -n 2 "$program" "$@"; }

# value METRIC FILE: of its only sample
value() { awk -v metric="$1{" 'index($0, metric) == 1 { print $NF }' "$2"; }

# same_figures DIRECTORY: summary.prom has each finite value, end of an interval and number of samples of summary.csv once,
# to 9 digits, under the subject and bytes there, and no others.
same_figures() {
    awk -F, '
        FILENAME ~ /csv$/ && FNR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        FILENAME ~ /csv$/ {
            subject = $column["subject"] "," $column["bytes"]
            for (part = 1; part <= 4; part++) {
                name = part == 1 ? "value" : part == 2 ? "low" : part == 3 ? "high" : "n"
                if ($column[name] != "") { left[subject "," name "," sprintf("%.8e", $column[name])]++; expected++ }
            }
            next
        }
        /^ddpbench_result_/ {
            name = $0 ~ /^[^{]*_low[{]/ ? "low" : $0 ~ /^[^{]*_high[{]/ ? "high" : $0 ~ /^[^{]*_samples[{]/ ? "n" : "value"
            match($0, /subject="[^"]*"/)
            subject = substr($0, RSTART + 9, RLENGTH - 10)
            bytes = match($0, /bytes="[^"]*"/) ? substr($0, RSTART + 7, RLENGTH - 8) : ""
            number = $0
            sub(/.* /, "", number)
            if (!left[subject "," bytes "," name "," sprintf("%.8e", number)]--) { print "not in summary.csv: " $0; bad = 1 }
            found++
        }
        END {
            if (found != expected || !found) { print found + 0 " of " expected + 0 " figures"; bad = 1 }
            exit bad
        }' "$1/summary.csv" "$1/summary.prom"
}
sed_copy() { mkdir -p "$2" && cp "$1/summary.csv" "$2" && sed "$3" "$1/summary.prom" >"$2/summary.prom"; }

# table DIRECTORY: metrics.csv has a row for each line of rank 0; what is in a row, tests/unit/results/test_metrics.c checks.
table() { [ "$(wc -l <"$1/metrics.csv")" = $(($(wc -l <"$1/rank_0_metrics.jsonl") + 1)) ]; }

# ---- the benchmark, while it goes and at its end ----

limit=300 start_ranks filed 2 "$program" "${tiny[@]}" "${slow[@]}" --rounds 90 --label a-label --prometheus filed.prom --output "$temporary/filed"
wait_until grep -q ddpbench_result_step_seconds filed.prom || true
cp filed.prom during
succeeds "while the run goes the file says how far it is" awk -v done="$(value ddpbench_run_done during)" -v planned="$(value ddpbench_run_planned during)" \
    'BEGIN { exit !(done >= 1 && done < planned && planned == 90) }'
end_ranks filed
is "exit status 0" "$status" 0
is "all is done, and which run it was" "$(grep -cx 'ddpbench_run_done{run="a-label",mode="benchmark",directory=".*/filed"} 90' filed.prom)" 1
is "it is summary.prom, and says what wrote it" "$(head -n 1 filed.prom) $(sed 1d filed.prom | cmp - filed/summary.prom && echo same)" \
    "# From ddpbench --prometheus. same"
succeeds "its numbers are the figures of summary.csv" same_figures filed
sed_copy filed one '0,/_seconds{.*subject="ddp"/s/[0-9.]*$/7/' && sed_copy filed fewer '$d'
for wrong in one fewer; do
    if same_figures $wrong >said; then result 1 "a wrong or missing figure is found: $wrong"; fi
done
succeeds "metrics.csv is what the lines say" table filed
succeeds "nothing else is left" [ -z "$(find . -name '*.tmp')" ]
launch "${tiny[@]}" "${two[@]}" --prometheus filed.prom --output again
is "the next run replaces it" "$status $(grep -c 'directory="again"} 3$' filed.prom)" "0 2"

# ---- the other commands ----

launch "${tiny[@]}" --profile --profile-implementation ddp_bucketed --bucket-size-mb 0.02 --rounds 2 --steps-per-block 2 \
    --prometheus profile.prom --profile-output-dir profiled
is "a profile: exit status 0" "$status" 0
succeeds "a profile: its numbers are the figures" same_figures profiled/ddp_bucketed
succeeds "a profile: metrics.csv" table profiled/ddp_bucketed
launch "${tiny[@]}" --profile --profile-implementation ddp,ddp_flat --rounds 0 --num-epochs 4 --prometheus both.prom --profile-output-dir both
is "two profiles: exit status 0" "$status" 0
is "two profiles: the file is that of their comparison" "$(sed 1d both.prom | cmp - both/comparison/summary.prom && echo same)" same
succeeds "each has its own" same_figures both/ddp_flat/ddp_flat
launch tune "${tiny[@]}" --max-minutes 0.05 --prometheus tuned.prom --output tuned
is "tune: exit status 0" "$status" 0
succeeds "tune: its numbers are the figures" same_figures tuned
succeeds "tune: metrics.csv" table tuned
launch allreduce --sizes 64,4K --iters 5 --prometheus reduced.prom --output reduced
is "allreduce: exit status 0" "$status" 0
succeeds "allreduce: its numbers are the figures" same_figures reduced
succeeds "allreduce: metrics.csv" table reduced

# ---- what is refused ----

echo mine >mine.prom
for command in '' --profile tune allreduce; do
    case $command in
    allreduce) words=(allreduce --sizes 64 --output refused) ;;
    --profile) words=("${tiny[@]}" --profile --profile-output-dir refused) ;;
    *) words=(${command:+"$command"} "${tiny[@]}" --output refused) ;;
    esac
    launch "${words[@]}" --prometheus mine.prom
    check 1 "${command:-benchmark}: a file that is not ours" '^ddpbench: --prometheus mine.prom: exists, and is not '
    is "in one line of one rank" "$(grep -c -- --prometheus said)" 1
done
mkdir run
launch "${tiny[@]}" "${two[@]}" --prometheus run/summary.csv --output run
check 1 "a file that the run writes" '^ddpbench: --prometheus run/summary.csv: the run writes a file of this name there'
launch "${tiny[@]}" "${two[@]}" --prometheus filed/summary.prom --output refused
check 1 "a file of another run" '^ddpbench: --prometheus filed/summary.prom: exists, and is not '
launch "${tiny[@]}" --profile --profile-implementation ddp --prometheus run/ddp_summary.txt --profile-output-dir run
check 1 "a file that a profile writes" '^ddpbench: --prometheus run/ddp_summary.txt: the run writes a file of this name there'
is "nothing was begun, and a directory that was there stays" "$(find refused run 2>/dev/null)" run
is "and nothing was written" "$(cat mine.prom)" mine

# ---- what an interrupted profile leaves ----

limit=300 start_ranks stopped 2 "$program" "${tiny[@]}" --profile --profile-implementation ddp --num-epochs 100000 --rounds 0 \
    --inject-delay 'rank=0,ms=20,phase=forward_pass' --profile-output-dir "$temporary/stopped"
wait_until [ -e stopped/ddp_rank_1_trace.json ] || true
for pid in $(left_over stopped); do
    [[ $(tr '\0' ' ' <"/proc/$pid/cmdline") != "$program "* ]] || kill -INT "$pid" 2>/dev/null || true
done
end_ranks stopped
check 1 "an interrupted profile says so" "Interrupted: the capture ends after"
succeeds "it leaves metrics.csv" table stopped/ddp
exit $failed
