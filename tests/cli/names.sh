#!/usr/bin/env bash
# names.sh - names of 10 and of 100 or more characters of CPU, host, label and directory: results have them whole, and printed
# sentences and reports have the same words. Runs BUILD_DIR/ddpbench with small sizes.
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
exit "$failed"
