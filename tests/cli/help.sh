#!/usr/bin/env bash
# help.sh - what each command's --help and --help all print: every option with its default and bounds is what
# tests/support/help says, word for word, so that no default changes unseen.
set -euo pipefail

usage() {
    cat <<'END'
Usage: tests/cli/help.sh [--help] BUILD_DIR
Compares the help of BUILD_DIR/ddpbench with the files in tests/support/help. Prints ok or not ok for each check. Where a
difference is meant, the file is made anew: BUILD_DIR/ddpbench COMMAND --help all >tests/support/help/COMMAND.txt
END
}

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

# options FILE: how many options a help lists
options() { grep -cE '^  --[a-z]' "$1"; }

for name in benchmark tune allreduce compare report; do
    command=("$name")
    [ "$name" != benchmark ] || command=()
    "$program" "${command[@]}" --help all >all.txt
    "$program" "${command[@]}" --help >common.txt
    succeeds "$name --help all is as it is kept" diff "$root/tests/support/help/$name.txt" all.txt
    succeeds "$name --help is short" [ "$(options common.txt)" -le 20 ]
    succeeds "$name --help says where the rest is" grep -q -- '--help all' common.txt
    status=0
    "$program" "${command[@]}" --hlep >printed 2>said || status=$?
    check 2 "$name refuses an unknown option" "unknown option '--hlep'.* see --help all"
    is "in one line" "$(wc -l <said)" 1
done
succeeds "most options of the benchmark are left for --help all" \
    [ "$(options "$root/tests/support/help/benchmark.txt")" -gt 40 ]
exit $failed
