#!/usr/bin/env bash
# install.sh - installs the program, the scripts that are useful elsewhere, manual pages and shell completion
#
# Usage: launch/install.sh PROGRAM PREFIX [DESTDIR], by `make install`
#        launch/install.sh --uninstall PREFIX [DESTDIR], by `make uninstall`
# Scripts lie in share/ddpbench/launch, with links to them as bin/ddpbench-NAME. share/ddpbench/files lists all files; only
# what it lists is removed, by --uninstall and before anything is installed again.
set -euo pipefail

# shellcheck source=launch/common.sh
. "$(dirname "$(realpath "$0")")/common.sh"

scripts=(corpus ncu netlab nsys paper run slurm sweep) # each a command
read_by_them=(mpi.sh paper.tsv profiler.sh common.sh series.sh slurm.sbatch slurmconf.sh slurmjobs.sh)

# install_file MODE FILE PLACE: installs a file and lists it.
install_file() {
    install -D -T -m "$1" "$2" "$root/$3"
    echo "$3" >>"$list"
}

# install_link TARGET PLACE: makes a link and lists it.
install_link() {
    ln -sfnT "$1" "$root/$2"
    echo "$2" >>"$list"
}

# check_listed: sets text to the list, and ends the script if a line of it is not a file below $root.
check_listed() {
    local why
    read_text "the list of installed files," "$list"
    why=$(awk '!/^(bin|share)\/[A-Za-z0-9._\/-]+$/ || /\.\./ || length > 200 {
        print "line " NR ": expected a file below bin or share, not \047" $0 "\047"
        exit
    }' <<<"$text")
    [ -z "$why" ] || usage_error "$list, $why; nothing was removed"
}

uninstall() {
    local file
    [ -e "$list" ] || return 0
    check_listed
    while read -r file; do
        rm -f "$root/$file"
    done <<<"$text"
    rm -f "$list"
    rmdir "$root/share/ddpbench/launch" "$root/share/ddpbench" 2>/dev/null || true
}

install_all() {
    local name
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    uninstall
    make_directory "$root/share/ddpbench"
    make_directory "$root/bin"
    : >"$list"
    install_file 755 "$program" bin/ddpbench
    for name in "${scripts[@]/%/.sh}" "${read_by_them[@]}"; do
        # with the names that scripts and program have where they are installed
        sed -E "s,[\$]here/\.\./build/ddpbench,\$here/../../../bin/ddpbench,; s,launch/([a-z]+)[.]sh,ddpbench-\1,g
            s,build/ddpbench,ddpbench,g" "$here/$name" >"$work/$name"
        install_file "$([ -x "$here/$name" ] && echo 755 || echo 644)" "$work/$name" "share/ddpbench/launch/$name"
    done
    for name in "${scripts[@]}"; do
        install_link "../share/ddpbench/launch/$name.sh" "bin/ddpbench-$name"
    done
    local paths=("${scripts[@]/#/$here/}")
    "$here/man/pages.sh" "$program" "$work" "${paths[@]/%/.sh}"
    for name in "$work"/man1/*; do
        install_file 644 "$name" "share/man/man1/${name##*/}"
    done
    install_file 644 "$here/man/completion.bash" share/bash-completion/completions/ddpbench
    for name in "${scripts[@]}"; do
        install_link ddpbench "share/bash-completion/completions/ddpbench-$name"
    done
    {
        echo "#compdef ddpbench ${scripts[*]/#/ddpbench-}"
        echo "autoload -U +X bashcompinit && bashcompinit"
        echo ". '$prefix/share/bash-completion/completions/ddpbench'"
        echo "_bash_complete -o default -F _ddpbench"
    } >"$work/zsh"
    install_file 644 "$work/zsh" share/zsh/site-functions/_ddpbench
}

uninstalling=''
option_rows=("--uninstall uninstalling flag") most_arguments=3
read_options "$@"
[ -z "$uninstalling" ] || arguments=('' "${arguments[@]}")
[[ ${#arguments[@]} == [23] ]] ||
    usage_error "expected PROGRAM PREFIX [DESTDIR], or --uninstall PREFIX [DESTDIR], but there are $# words; see --help"
program=${arguments[0]} prefix=${arguments[1]}
[[ $prefix == /* && $prefix != *[[:cntrl:]\'\"\\]* ]] ||
    usage_error "PREFIX '$prefix': expected an absolute path, such as /usr/local, without ' \" \\ and control characters"
[[ ${arguments[2]:-} != *[[:cntrl:]]* ]] || usage_error "DESTDIR '${arguments[2]}': expected a path without control characters"
here=$(dirname "$(realpath "$0")")
root=${arguments[2]:-}$prefix
list=$root/share/ddpbench/files
if [ -n "$uninstalling" ]; then
    [ -e "$list" ] || die "nothing is installed in $root: there is no $list"
    uninstall
    exit
fi
umask 022 # for directories, too
[[ -f $program && -x $program ]] || die "there is no ${program:-program}; run make first, with the same variables"
install_all
