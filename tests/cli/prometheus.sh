#!/usr/bin/env bash
# prometheus.sh - summary.prom and the file of --prometheus have the figures of summary.csv, during a run and after it, and
# metrics.csv has the lines of the .jsonl file. Tests BUILD_DIR/ddpbench --prometheus with small sizes.

# Checks are called by name, and awk expands its own fields:
# shellcheck disable=SC2317,SC2016
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"
start_quickly

tiny=(--device cpu --d-model 32 --num-layers 1 --num-heads 2 --d-ff 48 --context-length 16 --batch-size 6 --vocab-size 256)
two=(--steps-per-block 2 --implementations 'none,ddp' --rounds 3)
slow=("${two[@]}" --inject-delay 'rank=0,ms=20,phase=forward_pass')

# launch OPTION...: runs the program on two ranks to its end.
launch() {
    latest "$@"
    try "${mpirun[@]}" -n 2 "$program" "${latest[@]}"
}

# value METRIC FILE: prints the value of the only sample of the Prometheus metric in the file.
value() { awk -v metric="$1{" 'index($0, metric) == 1 { print $NF }' "$2"; }

# same_figures DIRECTORY: tests that summary.prom has each value, interval bound and number of samples of summary.csv
# exactly once, to 9 digits, with the same subject and bytes, and no other numbers.
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

# table DIRECTORY: tests that metrics.csv has a row for each line of rank 0; tests/unit/results/test_metrics.c checks the content.
table() { [ "$(wc -l <"$1/metrics.csv")" = $(($(wc -l <"$1/rank_0_metrics.jsonl") + 1)) ]; }

# ---- the benchmark, during and after the run ----

latest "${tiny[@]}" "${slow[@]}" --rounds 90
start_ranks filed 2 "$program" "${latest[@]}" --label a-label --prometheus filed.prom --output "$temporary/filed"
wait_until grep -q ddpbench_result_step_seconds filed.prom || true
cp filed.prom during
succeeds "during a run the file has the progress of the run" awk -v done="$(value ddpbench_run_done during)" -v planned="$(value ddpbench_run_planned during)" \
    'BEGIN { exit !(done >= 1 && done < planned && planned == 90) }'
end_ranks filed
is "the benchmark with --prometheus succeeds" "$status" 0
is "the file has the final progress with label and directory" "$(grep -cx 'ddpbench_run_done{run="a-label",mode="benchmark",directory=".*/filed"} 90' filed.prom)" 1
is "the file equals summary.prom after a heading" "$(head -n 1 filed.prom) $(sed 1d filed.prom | cmp - filed/summary.prom && echo same)" \
    "# From ddpbench --prometheus. same"
succeeds "summary.prom has the figures of summary.csv" same_figures filed
sed_copy filed one '0,/_seconds{.*subject="ddp"/s/[0-9.]*$/7/' && sed_copy filed fewer '/^ddpbench_result_step_seconds{/d'
for wrong in one fewer; do
    if same_figures $wrong >said; then result 1 "same_figures detects a wrong or missing figure: $wrong"; fi
done
succeeds "metrics.csv has a row for each line" table filed
succeeds "no temporary file is left" [ -z "$(find . -name '*.tmp')" ]
launch "${tiny[@]}" "${two[@]}" --prometheus filed.prom --output again
is "the next run replaces the file of --prometheus" "$status $(grep -c 'directory="again"} 3$' filed.prom)" "0 2"

# ---- the other commands ----

launch "${tiny[@]}" --profile --profile-implementation ddp_bucketed --bucket-size-mb 0.02 --rounds 2 --steps-per-block 2 \
    --prometheus profile.prom --profile-output-dir profiled
is "a profile: exit status 0" "$status" 0
succeeds "a profile: summary.prom has the figures of summary.csv" same_figures profiled/ddp_bucketed
succeeds "a profile: metrics.csv has a row for each line" table profiled/ddp_bucketed
launch "${tiny[@]}" --profile --profile-implementation ddp,ddp_flat --rounds 0 --num-epochs 4 --prometheus both.prom --profile-output-dir both
is "two profiles: exit status 0" "$status" 0
is "two profiles: the file equals summary.prom of the comparison" "$(sed 1d both.prom | cmp - both/comparison/summary.prom && echo same)" same
succeeds "two profiles: each has its own summary.prom" same_figures both/ddp_flat/ddp_flat
launch tune "${tiny[@]}" --max-minutes 0.05 --prometheus tuned.prom --output tuned
is "tune: exit status 0" "$status" 0
succeeds "tune: summary.prom has the figures of summary.csv" same_figures tuned
succeeds "tune: metrics.csv has a row for each line" table tuned
launch allreduce --sizes 64,4K --iters 5 --prometheus reduced.prom --output reduced
is "allreduce: exit status 0" "$status" 0
succeeds "allreduce: summary.prom has the figures of summary.csv" same_figures reduced
succeeds "allreduce: metrics.csv has a row for each line" table reduced

# ---- refused files ----

echo mine >mine.prom
for command in '' --profile tune allreduce; do
    case $command in
    allreduce) words=(allreduce --sizes 64 --output refused) ;;
    --profile) words=("${tiny[@]}" --profile --profile-output-dir refused) ;;
    *) words=(${command:+"$command"} "${tiny[@]}" --output refused) ;;
    esac
    launch "${words[@]}" --prometheus mine.prom
    check 1 "${command:-benchmark}: a file that ddpbench did not write is refused" '^ddpbench: --prometheus mine.prom: exists, and is not '
    is "${command:-benchmark}: a refused --prometheus prints one line" "$(grep -c -- --prometheus said)" 1
done
mkdir run
launch "${tiny[@]}" "${two[@]}" --prometheus run/summary.csv --output run
check 1 "a file that the run itself writes is refused" '^ddpbench: --prometheus run/summary.csv: runs write files of that name; choose another name'
mkdir inside
launch "${tiny[@]}" "${two[@]}" --rounds 1 --prometheus inside/live.prom --output inside
is "the file may lie in the directory of the run" "$status $(sed 1d inside/live.prom | cmp - inside/summary.prom && echo same)" "0 same"
launch "${tiny[@]}" "${two[@]}" --prometheus filed/summary.prom --output refused
check 1 "a file of another run is refused" '^ddpbench: --prometheus filed/summary.prom: runs write files of that name'
# same PATH OPTION...: checks that the file --prometheus PATH is refused since another option names it.
same() {
    launch "${tiny[@]}" "${two[@]}" --output refused "${@:2}" --prometheus "$1"
    check 1 "a second path to a file is refused: $1 ${*:2}" "^ddpbench: --[a-z]+ and --[a-z]+ name the same file, "
}
ln -s . again_here
same refused/
same ./refused
same again_here/refused
same ./filed.prom --data filed.prom --vocab-size 256
: >made_empty
launch "${tiny[@]}" "${two[@]}" --prometheus made_empty --output refused
check 1 "an empty file is refused" '^ddpbench: --prometheus made_empty: exists, and is not '
cp filed.prom immutable.prom
if chattr +i immutable.prom 2>/dev/null; then
    launch "${tiny[@]}" "${two[@]}" --prometheus immutable.prom --output refused
    chattr -i immutable.prom
    check 1 "an immutable file is refused" '^ddpbench: --prometheus immutable.prom: cannot be replaced: Operation not permitted; '
else
    echo "skip - an immutable file is refused: this user or file system cannot make one"
fi
for name in ddp_summary.txt ddp_rank_0_trace.json.gz; do
    launch "${tiny[@]}" --profile --profile-output-dir refused --prometheus "$name"
    check 1 "a file that a profile writes is refused: $name" "^ddpbench: --prometheus $name: runs write files of that name"
done
# in_way PATH OPTION...: checks that --prometheus PATH is refused before a profile measures if the profile makes a directory there.
in_way() {
    rm -rf made && mkdir made
    launch "${tiny[@]}" --profile --profile-output-dir made --prometheus "$@"
    check 1 "a directory that a profile makes is refused: $1" "^ddpbench: --prometheus:? .*$1"
    is "nothing was measured: $1" "$(find made -type f -size +0)" ''
}
in_way made/ddp_bucketed --profile-implementation ddp_bucketed
in_way made/ddp/ddp --profile-implementation ddp,ddp_flat
rm -r made
for option in prometheus output data; do
    launch "${tiny[@]}" "--$option" -
    check 2 "--$option does not print" "^ddpbench: --$option '-': expected a path; write ./- for a file of that name$"
done
is "refused runs write no files" "$(find refused -type f 2>/dev/null)" ''
is "refused runs do not change the file of --prometheus" "$(cat mine.prom)" mine

# ---- interrupted profiles ----

start_ranks stopped 2 "$program" "${tiny[@]}" --profile --profile-implementation ddp --num-epochs 100000 --rounds 0 \
    --inject-delay 'rank=0,ms=20,phase=forward_pass' --profile-output-dir "$temporary/stopped"
wait_until [ -e stopped/ddp_rank_1_trace.json ] || true
for pid in $(left_over stopped); do
    [[ $(tr '\0' ' ' <"/proc/$pid/cmdline") != "$program "* ]] || kill -INT "$pid" 2>/dev/null || true
done
end_ranks stopped
check 1 "an interrupted profile reports the interruption" "Interrupted: the capture ends after"
succeeds "an interrupted profile leaves metrics.csv" table stopped/ddp
exit $failed
