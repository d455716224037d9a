#!/usr/bin/env bash
# install.sh - installs the program, the scripts that work without the source tree, manual pages and shell completion
#
# Usage: launch/install.sh [--mpirun PATH] PROGRAM PREFIX [DESTDIR], by `make install`
#        launch/install.sh --uninstall PREFIX [DESTDIR], by `make uninstall`
# Scripts are installed in share/ddpbench/launch, with links to them as bin/ddpbench-NAME; licence, pages and examples in
# share/doc/ddpbench, in the folders of the sources. share/ddpbench/files lists all installed files and new directories.
# --uninstall and a repeated installation remove the listed files and no others.
#   --mpirun PATH  the launcher of the program's MPI, with which the scripts start ranks
set -euo pipefail

# shellcheck source=launch/common.sh
. "$(dirname "$(realpath "$0")")/common.sh"

scripts=(corpus ncu netlab nightly nsys paper run slurm sweep) # installed as commands
read_by_them=(paper.tsv profiler.sh common.sh series.sh slurm.sbatch slurmconf.sh slurmjobs.sh)
# What has pages, and the pictures in them; results of the user's own runs lie beside results/reference.
documents=(README.md CHANGELOG.md LICENSE bench ddp kernels launch packaging results/README.md results/lines.md results/reference tests)

# make_folders PLACE: makes the directories of $root/PLACE, and prints those that are new, each with a slash.
make_folders() {
    local folder=${1%/*}
    [ ! -d "$root/$folder" ] || return 0
    [[ $folder != */* ]] || make_folders "$folder"
    mkdir "$root/$folder"
    echo "$folder/"
}

# install_file MODE FILE PLACE: installs FILE as $root/PLACE, and adds PLACE to the list of installed files.
install_file() {
    { make_folders "$3" && echo "$3"; } >>"$list"
    install -T -m "$1" "$2" "$root/$3"
}

# install_link TARGET PLACE: makes $root/PLACE a link to TARGET, and adds PLACE to the list of installed files.
install_link() {
    { make_folders "$2" && echo "$2"; } >>"$list"
    ln -sfnT "$1" "$root/$2"
}

# check_listed: sets text to the list of installed files; ends the script if a line is not a path below bin, lib or share.
check_listed() {
    local why
    read_text "the list of installed files," "$list"
    why=$(awk '!/^(bin|lib|share)\/[A-Za-z0-9._\/-]*$/ || /\.\./ || length > 200 {
        print "line " NR ": expected a file below bin, lib or share, not \047" $0 "\047"
        exit
    }' <<<"$text")
    [ -z "$why" ] || usage_error "$list, $why; nothing was removed"
}

uninstall() {
    local file
    [ -e "$list" ] || return 0
    check_listed
    rm -f "$list"
    while read -r file; do
        [[ $file == */ ]] || rm -f "$root/$file"
    done <<<"$text"
    tac <<<"$text" | while read -r file; do
        [[ $file != */ ]] || rmdir "$root/$file" 2>/dev/null || true # a directory with files of others stays
    done
}

# make_page NAME SUMMARY: installs a manual page made from the help text on stdin. Lines of options begin with a tab and
# have tab-separated fields: name, letter, name of the value, default, choices, help. All other lines keep their layout.
make_page() {
    sed -E "$renames" | awk -F '\t' -v name="$1" -v summary="$2" -v version="$version" -v also="$pages" '
        function roff(text) {
            gsub(/\\/, "\\e", text)
            gsub(/-/, "\\-", text)
            return text ~ /^[.\047]/ ? "\\&" text : text
        }
        function section(title) { print ".fi\n" title "\n.nf" }
        BEGIN {
            print ".TH " toupper(roff(name)) " 1 \"\" \"" roff(version) "\" \"User Commands\"\n.SH NAME\n" roff(name " - " summary)
            section(".SH SYNOPSIS")
        }
        !described && !sub(/^(Usage: |       )/, "") { section(".SH DESCRIPTION"); described = 1; if ($0 == "") next }
        /^[A-Z].*:$/ { if (!groups++) section(".SH OPTIONS"); section(".SS " roff(substr($0, 1, length - 1))); next }
        /^Exit status/ { section(".SH \"EXIT STATUS\"") }
        /^\t/ {
            value = $4 == "" ? "" : " \\fI" roff($4) "\\fR"
            print ".fi\n.TP\n\\fB" roff("--" $2) "\\fR" value ($3 == "-" ? "" : ", \\fB" roff("-" $3) "\\fR" value)
            print roff($7) ($5 == "" ? "" : " [\\fB" roff($5) "\\fR]") "\n.nf"
            next
        }
        { print $0 == "" ? ".PP" : roff($0) }
        END {
            section(".SH \"SEE ALSO\"")
            n = split(also, page, " ")
            for (i = 1; i <= n; i++) if (page[i] != name) print "\\fB" roff(page[i]) "\\fR(1)"
        }' >"$work/page"
    install_file 644 "$work/page" "share/man/man1/$1.1"
}

install_all() {
    local name commands summary version pages renames='s,launch/([a-z]+)[.]sh,ddpbench-\1,g; s,build/ddpbench,ddpbench,g'
    [ -z "$launcher" ] || renames+="; /^find_mpirun/,/^}/s,(for name in .*); do,\1 $launcher; do," # the last one found is used
    version=$("$program" --version)
    commands=$("$program" --help | sed -nE '/^Commands/,/^$/s/^  ([a-z]+) +(.*)/\1\t\2/p')
    pages="ddpbench $(sed 's/\t.*//; s/^/ddpbench-/' <<<"$commands" | paste -sd ' ') ${scripts[*]/#/ddpbench-}"
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    uninstall
    make_directory "$root"
    text=$(make_folders share/ddpbench/files)
    printf %s "${text:+$text$'\n'}" >"$list"
    install_file 755 "$program" bin/ddpbench
    [ ! -e "$parts" ] || install_file 755 "$parts" lib/ddpbench/libddpbench_cuda.so
    for name in "${scripts[@]/%/.sh}" "${read_by_them[@]}"; do
        # Replace the names that scripts and the program have in the source tree by their installed names.
        sed -E "s,[\$]here/\.\./build/ddpbench,\$here/../../../bin/ddpbench,; $renames" "$here/$name" >"$work/$name"
        install_file "$([ -x "$here/$name" ] && echo 755 || echo 644)" "$work/$name" "share/ddpbench/launch/$name"
    done
    "$program" --help rows | make_page ddpbench "a benchmark of data-parallel training, strategy by strategy"
    while IFS=$'\t' read -r name summary; do
        "$program" "$name" --help rows | make_page "ddpbench-$name" "$summary"
    done <<<"$commands"
    install_file 644 "$here/completion.bash" share/bash-completion/completions/ddpbench
    for name in "${scripts[@]}"; do
        install_link "../share/ddpbench/launch/$name.sh" "bin/ddpbench-$name"
        install_link ddpbench "share/bash-completion/completions/ddpbench-$name"
        bash "$here/$name.sh" --help | make_page "ddpbench-$name" "$(sed -nE '2s/^# [a-z]+[.]sh - ([^:]*[^:.]).*/\1/p' "$here/$name.sh")"
    done
    printf '%s\n' "#compdef ddpbench ${scripts[*]/#/ddpbench-}" "autoload -U +X bashcompinit && bashcompinit" \
        ". '$prefix/share/bash-completion/completions/ddpbench'" "_bash_complete -o default -F _ddpbench" >"$work/zsh"
    install_file 644 "$work/zsh" share/zsh/site-functions/_ddpbench
    # Leaves out names that the list of installed files may not have: those of the user's own files.
    text=$(cd "$here/.." && find "${documents[@]}" -name __pycache__ -prune -o -type f '(' -path 'packaging/*' -o -name LICENSE -o \
        -name '*.md' -o -name '*.png' -o -name '*.svg' -o -path 'results/reference/*.txt' ')' -print)
    while read -r name; do
        install_file 644 "$here/../$name" "share/doc/ddpbench/$name"
    done < <(grep -xE '[A-Za-z0-9._/-]+' <<<"$text" | grep -v '^packaging/debian/' | sort)
    install_link packaging share/doc/ddpbench/examples
}

uninstalling='' launcher=''
option_rows=("--uninstall uninstalling flag" "--mpirun launcher check_any") most_arguments=3
read_options "$@"
[ -z "$uninstalling" ] || arguments=('' "${arguments[@]}")
[[ ${#arguments[@]} == [23] ]] ||
    usage_error "expected PROGRAM PREFIX [DESTDIR], or --uninstall PREFIX [DESTDIR], but there are $# words; see --help"
program=${arguments[0]} prefix=${arguments[1]}
parts=$(dirname "$program")/libddpbench_cuda.so # if the program was built with its CUDA parts
[[ $prefix == /* && $prefix != *[[:cntrl:]\'\"\\]* ]] ||
    usage_error "PREFIX '$prefix': expected an absolute path, such as /usr/local, without ' \" \\ and control characters"
[[ $launcher =~ ^[A-Za-z0-9._/+-]*$ ]] || usage_error "--mpirun '$launcher': expected a path of letters, digits and . _ / + -"
[[ ${arguments[2]:-} != *[[:cntrl:]]* ]] || usage_error "DESTDIR '${arguments[2]}': expected a path without control characters"
here=$(dirname "$(realpath "$0")")
root=${arguments[2]:-}$prefix
list=$root/share/ddpbench/files
if [ -n "$uninstalling" ]; then
    [ -e "$list" ] || die "nothing is installed in $root: there is no $list"
    uninstall
    exit
fi
umask 022 # lets other users read the new directories and the list of installed files
[[ -f $program && -x $program ]] || die "there is no ${program:-program}; run make first, with the same variables"
install_all
