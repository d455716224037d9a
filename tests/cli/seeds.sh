#!/usr/bin/env bash
# seeds.sh - runs the commands of results/reference/seeds.md on a small model, except those that need a GPU or Slurm. The
# files that they are said to write must then exist.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"
start_quickly
table=$root/results/reference/seeds.md

# rows FILE: prints the rows of its tables without borders, their cells separated by tabs.
rows() { sed -nE '/^[|] *(what it has|---)/d; s/^[|] *(.*[^ ]) *[|]$/\1/; T; s/ *[|] */\t/gp' "$1"; }
# quoted PATTERN: reads rows; prints what stands in backticks in the second cell and begins with the pattern, without rows
# that need a GPU or Slurm.
quoted() { awk -F '\t' '$2 !~ /[(](GPU|Slurm)/ { print $2 }' | grep -oE "\`[^\`]+\`" | tr -d "\`" | grep -E "^($1)" || true; }

is "no cell is empty, and each row has three" "$(rows "$table" | awk -F '\t' 'NF != 3 || /(^|\t) *(\t|$)/' | head -n 3)" ''
is "the table has five documents" "$(grep -c '^## ' "$table")" 5
printf '| %s |\n' 'what it has | ours | note' 'a | | c' "a | \`run x\` (GPU) | c" "a | \`run y\`, \`run z\` | c" >example.md
is "an empty cell would be seen" "$(rows example.md | grep -cE $'\t\t')" 1
is "of a cell all commands are run" "$(rows example.md | quoted 'run ' | paste -sd ' ')" "run y run z"

# The commands are run in a directory like a checkout. Its program takes a small model in place of the sizes on the command
# line, and a directory of its own for results if the command line names none.
mkdir build results
ln -s "$root/launch" launch
printf '%s\n' 'd-model 32' 'num-layers 1' 'num-heads 2' 'd-ff 48' 'context-length 16' >small.conf
cat >build/ddpbench <<END
#!/usr/bin/env bash
conf=$temporary/small.conf words=()
while [ \$# -gt 0 ]; do
    case \$1 in
    --preset|--d-model|--num-layers|--num-heads) shift ;;
    --max-minutes) words+=(--max-minutes 0.05); shift ;;
    --config) cat "\$2" "\$conf" | grep -v preset >"own.\$\$"; mv "own.\$\$" own.conf; conf=own.conf; shift ;;
    *) words+=("\$1") ;;
    esac
    shift
done
case \${words[0]:-} in
''|--*|tune) words+=(--config "\$conf") ;;
esac
case " \${words[*]} " in
*' --profile-output-dir '*|*' --output '*|*' report '*|*' compare '*|*' allreduce '*|*' --dry-run '*) ;;
*' --profile '*) words+=(--profile-output-dir "own-\$SEED") ;;
*) words+=(--output "own-\$SEED") ;;
esac
exec "$program" "\${words[@]}"
END
chmod +x build/ddpbench
if ! command -v rsvg-convert magick convert inkscape >/dev/null; then # for --png, where none is installed
    printf '#!/bin/sh\nprintf "\\211PNG"\n' >rsvg-convert
    chmod +x rsvg-convert
    PATH=$PATH:$PWD
fi
rows "$table" | quoted 'mpirun|build/ddpbench|launch/(run|nsys)[.]sh .*--|printf' | awk '!seen[$0]++' >commands
is "most commands can run here" "$(($(wc -l <commands) > 50))" 1

wrong=()
while IFS= read -r command; do
    export SEED=$((${SEED:-0} + 1))
    try bash -c "$command"
    case $command in
    *' compare '*) [[ $status =~ ^[0345]$ ]] || wrong+=("$status: $command") ;;
    *) [ "$status" = 0 ] || wrong+=("$status: $command: $(tail -n 3 said)") ;;
    esac
done <commands
is "every command ends well" "${wrong[*]+$(printf '%s\n' "${wrong[@]}")}" ''
is "every file that the table names exists" "$(rows "$table" | quoted 'results/(workflow|aorta|ddp|tools|accelerate)/' | sort -u |
    while IFS= read -r file; do [ -e "$file" ] || echo "$file"; done)" ''
exit "$failed"
