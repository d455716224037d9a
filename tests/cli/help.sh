#!/usr/bin/env bash
# help.sh - --help and --help all of each command: every option, default and bound equals the copy in
# tests/support/help, so that no default changes unnoticed, and each option is in the manual page and in the completion.
# For an intended change, remake the copy: BUILD_DIR/ddpbench COMMAND --help all >tests/support/help/COMMAND.txt
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

# options FILE: prints the number of options listed in a help text.
options() { grep -cE '^  --[a-z]' "$1"; }

succeeds "manual pages are made" "$root/launch/install.sh" "$program" / "$PWD/staged"
ln -s staged/share/man/man1 man1
# offered WORD...: prints the completions for the last word.
offered() { COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) && _ddpbench && echo "${COMPREPLY[*]}"; }
# shellcheck source=launch/completion.bash
. "$root/launch/completion.bash"
mkdir bin && ln -s "$program" bin/ddpbench
for script in sweep netlab; do ln -s "$root/launch/$script.sh" bin/ddpbench-$script; done
PATH=$PWD/bin:$PATH
# in_page OPTION PAGE: tests whether the manual page contains the option.
in_page() { grep -qF "\\fB${1//-/\\-}\\fR" "$2"; }

for name in benchmark $("$program" --help | sed -nE '/^Commands/,/^$/s/^  ([a-z]+) .*/\1/p'); do
    command=("$name")
    [ "$name" != benchmark ] || command=()
    "$program" "${command[@]}" --help all >all.txt
    "$program" "${command[@]}" --help >common.txt
    succeeds "$name --help all equals tests/support/help/$name.txt" diff "$root/tests/support/help/$name.txt" all.txt
    "$program" "${command[@]}" --help rows >rows.txt
    page=man1/ddpbench${command:+-$name}.1 lacking='' offered=" $(offered ddpbench "${command[@]}" --) "
    while IFS=$'\t' read -r option _; do
        option=--$option
        in_page "$option" "$page" || lacking+=" $option (page)"
        [[ $offered == *" $option "* ]] || lacking+=" $option (completion)"
    done < <(sed -n 's/^\t//p' rows.txt)
    is "each option of $name is in the manual page and the completion" "$(grep -c '^	' rows.txt)$lacking" "$(($(options all.txt) - 2))"
    succeeds "$name --help lists at most 20 options" [ "$(options common.txt)" -le 20 ]
    is "no line of $name --help all has more than 80 columns" "$(awk 'length > 80' all.txt)" ""
    succeeds "$name --help mentions --help all" grep -q -- '--help all' common.txt
    status=0
    "$program" "${command[@]}" --hlep >printed 2>said || status=$?
    check 2 "$name refuses an unknown option" "unknown option '--hlep'.* see --help all"
    is "$name refuses an unknown option with one line" "$(wc -l <said)" 1
done
succeeds "--help all of the benchmark lists more than 40 options" \
    [ "$(options "$root/tests/support/help/benchmark.txt")" -gt 40 ]

# ---- manual pages and completion ----

is "each command and each script has a manual page" "$(cd man1 && echo *)" "ddpbench-allreduce.1 ddpbench-check.1 ddpbench-compare.1 \
ddpbench-corpus.1 ddpbench-isolate.1 ddpbench-ncu.1 ddpbench-netlab.1 ddpbench-nightly.1 ddpbench-nsys.1 ddpbench-paper.1 ddpbench-predict.1 ddpbench-report.1 ddpbench-run.1 \
ddpbench-slurm.1 ddpbench-sweep.1 ddpbench-trend.1 ddpbench-tune.1 ddpbench.1"
for heading in NAME SYNOPSIS DESCRIPTION OPTIONS "EXIT STATUS" "SEE ALSO"; do
    succeeds "ddpbench(1) has $heading" grep -qE "^[.]SH \"?$heading\"?$" man1/ddpbench.1
done
if command -v groff >/dev/null; then
    is "groff accepts the manual pages" "$(groff -man -ww -z man1/* 2>&1)" ""
elif command -v mandoc >/dev/null; then
    is "mandoc accepts the manual pages" "$(mandoc -T lint -W error man1/* 2>&1)" ""
else
    echo "skip - groff accepts the manual pages: groff and mandoc are not installed"
fi
# ---- make help ----

env -u MAKEFLAGS make -s -C "$root" help >made 2>said
is "make help has lines of at most 80 columns" "$(awk 'length > 80' made)" ""
is "make help lists the targets of the Makefiles, with a sentence for each" \
    "$(sed '/^Variables/,$d' made | sed -nE 's/^  ([a-z-]+) +[A-Z].*[.]$/\1/p' | sort)" \
    "$(cat "$root"/{Makefile,tests/developer.mk} | sed -nE 's/^[.]PHONY: //p' | tr ' ' '\n' | grep -vxE 'FORCE|packed|lint-.*' | sort)"
lacking=''
while read -r variable rest; do
    variable=${variable%%=*}
    [[ $rest =~ [A-Z].*[].]$ ]] && grep -qF "\$($variable)" "$root/Makefile" "$root/tests/developer.mk" || lacking+=" $variable"
done < <(sed '1,/^Variables/d' made)
is "make help lists variables of the Makefiles, with a sentence for each" "$lacking" ""

is "completion offers the choices of an option" "$(offered ddpbench --device = c)" "cpu cuda"
is "completion offers items of a list" "$(offered ddpbench --implementations none,ddp_f)" "none,ddp_flat"
is "completion offers commands after a launcher" "$(offered mpirun -n 2 bin/ddpbench allr)" allreduce
is "completion knows one-letter options" "$(offered ddpbench allreduce -d b)" bf16
is "completion offers options and commands of scripts" "$(offered ddpbench-sweep --rep) $(offered ddpbench-netlab u)" "--repeats up"
is "completion falls back to file names" "$(offered ddpbench --data '') $(complete -p ddpbench)" " complete -o default -F _ddpbench ddpbench"
exit $failed
