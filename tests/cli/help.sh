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

for name in benchmark allreduce compare report; do
    command=("$name")
    [ "$name" != benchmark ] || command=()
    "$program" "${command[@]}" --help all >all.txt
    "$program" "${command[@]}" --help >common.txt
    diff "$root/tests/support/help/$name.txt" all.txt >said 2>&1 && same=0 || same=1
    result $same "$name --help all is as it is kept"
    is "$name --help is short" "$(($(options common.txt) <= 20))" 1
    is "$name --help says where the rest is" "$(grep -c -- '--help all' common.txt | head -n 1)" 1
    status=0
    "$program" "${command[@]}" --hlep >printed 2>said || status=$?
    check 2 "$name refuses an unknown option" "unknown option '--hlep'.* see --help all"
    is "in one line" "$(wc -l <said)" 1
done
is "the benchmark has $(options "$root/tests/support/help/benchmark.txt") options, and most are left for --help all" \
    "$(("$(options "$root/tests/support/help/benchmark.txt")" > 40))" 1
exit $failed
