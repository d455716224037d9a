#!/usr/bin/env bash
# pages.sh - makes manual pages of what the program and the scripts say themselves with --help.
set -euo pipefail

usage() {
    cat <<'END'
Usage: launch/man/pages.sh PROGRAM DIR [SCRIPT...]
Writes DIR/man1/ddpbench.1, a page for each of the program's commands, such as ddpbench-report.1, and one for each SCRIPT,
such as ddpbench-sweep.1 of sweep.sh.
END
}

# shellcheck source=launch/common.sh
. "$(dirname "$(realpath "$0")")/../common.sh"

[ "${1:-}" != --help ] || { usage; exit 0; }
[[ ${1:-} != -* ]] || usage_error "unknown option '$1'; known is --help"
[ $# -ge 2 ] || usage_error "expected PROGRAM DIR [SCRIPT...], but there are $# words; see --help"
here=$(dirname "$(realpath "$0")")
[[ -f $1 && -x $1 ]] || die "there is no program $1; run make first"
program=$(realpath -e -- "$1")
directory=$2
shift 2
for file in "$@"; do
    [[ -f $file && -x $file ]] || die "there is no script $file"
done
export LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
make_directory "$directory/man1"

# Scripts and the program have other names where they are installed.
named() { sed -E 's,launch/([a-z]+)[.]sh,ddpbench-\1,g; s,build/ddpbench,ddpbench,g'; }

version=$("$program" --version)
"$program" --help rows | named >"$work/ddpbench"
names=(ddpbench) summaries=("a benchmark of data-parallel training, strategy by strategy")
while IFS=$'\t' read -r command summary; do
    "$program" "$command" --help rows | named >"$work/ddpbench-$command"
    names+=("ddpbench-$command") summaries+=("$summary")
done < <(sed -nE 's/^       .*ddpbench ([a-z]+) .*   (.*) \(see its --help\)$/\1\t\2/p' "$work/ddpbench")
for script in "$@"; do
    name=ddpbench-$(basename "$script" .sh)
    bash "$script" --help | named >"$work/$name"
    names+=("$name") summaries+=("$(sed -nE '2s/^# [a-z_]+[.]sh - ([^:]*[^:.]).*/\1/p' "$script")")
done
for i in "${!names[@]}"; do
    awk -v name="${names[i]}" -v summary="${summaries[i]}" -v version="$version" -v also="${names[*]}" -f "$here/man.awk" \
        "$work/${names[i]}" >"$directory/man1/${names[i]}.1"
done
