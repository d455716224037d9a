#!/usr/bin/env bash
# names.sh - CPU, host, label and directory with names of 10 and of 100 or more characters. Results have the whole
# names, and printed sentences and reports have the same words. Results are valid even if names have bytes that are not
# UTF-8. Runs BUILD_DIR/ddpbench with small sizes.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

for n in 10 120; do
    make_up_names $n
    label=$(text_of $((n < 100 ? n : 100)) label-) out=$(text_of $n 'a directory ')
    try "${mpirun[@]}" -n 2 "$program" --device cpu --d-model 32 --num-layers 1 --num-heads 2 --d-ff 48 --context-length 16 \
        --batch-size 4 --vocab-size 256 --implementations none,ddp --rounds 2 --label "$label" --output "$out"
    is "$n characters: a run succeeds" "$status" 0
    is "$n characters: run.json has CPU, host and label" \
        "$(sed -nE 's/^(\t"label|\t\t\t"cpu)":\t"(.*)",$/\2/p; s/^\t\t"(made.*)":\t\{$/\1/p' "$out/run.json" | paste -sd ';')" "$label;$host;$MADE_UP_CPU"
    succeeds "$n characters: the printed heading has the CPU" grep -qF "on 1 host ($MADE_UP_CPU, " <(unwrapped printed)
    texts "$out/summary.json" | tr -s ' ' >sentences
    succeeds "$n characters: every sentence is printed" test "$(while read -r line; do
        grep -qF -e "$line" <(unwrapped printed) || echo "$line"
    done <sentences)" = ""
    is "$n characters: lines of sentences are wrapped at 100 columns" \
        "$(awk 'length($0) > 100 && NF > 1 && !/^(implementation|none|ddp|  )/' printed)" ""
    try "$program" report "$out" --output "report $out"
    is "$n characters: a report is made" "$status" 0
    succeeds "$n characters: the results are valid JSON" valid "$out"/*.json "$out"/*.jsonl "report $out/report.json"
    for form in report.html report.json; do
        succeeds "$n characters: $form has label and CPU" grep -qzE "$(literal "$label").*$(literal "$MADE_UP_CPU")" "report $out/$form"
    done
done
check_sentences

# Bytes that are not UTF-8, control characters and quotes from outside: host, CPU, environment, command line and paths.
make_up_names 30
MADE_UP_CPU=$'CPU \xff "\xc3" \\ \x01\xe2\x82' MADE_UP_HOST=$'host\xfe\xc3\xa9' out=$'bytes \xff\xc3'
export OMP_AFFINITY_FORMAT=$'\xed\xa0\x80 %H'
try "${mpirun[@]}" -n 2 "$program" --device cpu --d-model 32 --num-layers 1 --num-heads 2 --d-ff 48 --context-length 16 \
    --batch-size 4 --vocab-size 256 --rounds 2 --steps-per-block 1 --warmup-epochs 1 --num-epochs 1 --profile \
    --profile-implementation ddp --profile-output-dir "$out"
is "other bytes: a profile succeeds" "$status" 0
try "$program" report --output "report $out" "$out/ddp"
is "other bytes: a report is made" "$status" 0
mapfile -d '' -t files < <(find "$out" "report $out" \( -name '*.json' -o -name '*.jsonl' \) -print0)
succeeds "other bytes: the results are valid JSON" valid "${files[@]}"
is "other bytes: run.json names the host in ranks and hosts" "$(grep -c $'"host?\xc3\xa9"' "$out/ddp/run.json")" 3
with_python "other bytes: all ${#files[@]} files are JSON in UTF-8" python3 -c '
import json, sys
for name in sys.argv[1:]:
    with open(name, encoding="utf-8", errors="strict") as file:
        for text in file if name.endswith(".jsonl") else [file.read()]:
            json.loads(text, parse_constant=lambda word: sys.exit(f"{name}: {word}"))' "${files[@]}"
exit "$failed"
