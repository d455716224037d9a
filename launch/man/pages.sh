#!/usr/bin/env bash
# pages.sh - makes manual pages (man(7)) from the --help of the program and of scripts
#
# Usage: launch/man/pages.sh PROGRAM DIR [SCRIPT...]
# Writes below DIR man1/ddpbench.1, a page for each command of the program, and one for each SCRIPT (ddpbench-sweep.1).
set -euo pipefail

# shellcheck source=launch/common.sh
. "$(dirname "$(realpath "$0")")/../common.sh"

most_arguments=99
read_options "$@"
set -- "${arguments[@]}"
[ $# -ge 2 ] || usage_error "expected PROGRAM DIR [SCRIPT...], but there are $# words; see --help"
program=$1 directory=$2
for file in "$program" "${@:3}"; do
    [[ -f $file && -x $file ]] || die "there is no program $file; run make first"
done
program=$(realpath -e -- "$program")
make_directory "$directory/man1"

# make_page NAME SUMMARY: makes a page of the help in $work/NAME, in which options are rows with a tab before each
# field: name, letter, name of the value, default, choices, help. All other lines keep their layout.
make_page() {
    awk -F '\t' -v name="$1" -v summary="$2" -v version="$version" -v also="${names[*]}" '
        function roff(text) {
            gsub(/\\/, "\\e", text)
            gsub(/-/, "\\-", text)
            return text ~ /^[.\047]/ ? "\\&" text : text
        }
        function section(title) { print ".fi\n.SH \"" toupper(roff(title)) "\"\n.nf" }
        BEGIN {
            printf ".TH %s 1 \"\" \"%s\" \"User Commands\"\n.SH NAME\n%s\n", toupper(roff(name)), roff(version), roff(name " - " summary)
        }
        sub(/^Usage: /, "") { section("synopsis") }
        !described { sub(/^       /, "") } # below "Usage: "
        $0 == "" && !described++ { section("description"); next }
        /^[A-Z].*:$/ { title = substr($0, 1, length - 1); next } # of a section, or of a group of options
        title != "" && /^\t/ && !grouped++ { section("options") }
        title != "" {
            if (/^\t/) print ".fi\n.SS " roff(title) "\n.nf"
            else section(title)
            title = ""
        }
        /^Exit status/ { section("exit status") }
        /^\t/ {
            value = $4 == "" ? "" : " \\fI" roff($4) "\\fR"
            print ".fi\n.TP\n\\fB" roff("--" $2) "\\fR" value ($3 == "-" ? "" : ", \\fB" roff("-" $3) "\\fR" value)
            print roff($7) ($5 == "" ? "" : " [\\fB" roff($5) "\\fR]") "\n.nf"
            next
        }
        { print $0 == "" ? ".PP" : roff($0) }
        END {
            section("see also")
            n = split(also, page, " ")
            for (i = 1; i <= n; i++) if (page[i] != name) print "\\fB" roff(page[i]) "\\fR(1)"
        }' "$work/$1" >"$directory/man1/$1.1"
}

export LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version=$("$program" --version)

# use_installed_names: reads a help and prints it with the names that scripts and program have where they are installed.
use_installed_names() { sed -E 's,launch/([a-z]+)[.]sh,ddpbench-\1,g; s,build/ddpbench,ddpbench,g'; }
"$program" --help rows | use_installed_names >"$work/ddpbench"
names=(ddpbench) summaries=("a benchmark of data-parallel training, strategy by strategy")
while IFS=$'\t' read -r command summary; do
    "$program" "$command" --help rows | use_installed_names >"$work/ddpbench-$command"
    names+=("ddpbench-$command") summaries+=("$summary")
done < <(sed -nE 's/^       .*ddpbench ([a-z]+) .*   (.*) \(see its --help\)$/\1\t\2/p' "$work/ddpbench")
for file in "${@:3}"; do
    name=ddpbench-$(basename "$file" .sh)
    bash "$file" --help | use_installed_names >"$work/$name"
    names+=("$name") summaries+=("$(sed -nE '2s/^# [a-z_]+[.]sh - ([^:]*[^:.]).*/\1/p' "$file")")
done
for i in "${!names[@]}"; do
    make_page "${names[i]}" "${summaries[i]}"
done
