#!/usr/bin/env bash
# install.sh - launch/install.sh: the installed copy works from any directory, its files are listed, and uninstalling
# removes only these files. Installs BUILD_DIR/ddpbench below a temporary directory and runs it there.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

install=$root/launch/install.sh
# files: lists the files and links below the installation prefix.
files() { (cd staged/usr && find . ! -type d | sed 's,^[.]/,,' | sort); }

mkdir -p staged/usr/bin
echo mine >staged/usr/bin/ddpbench-mine
succeeds "install.sh succeeds" "$install" "$program" /usr "$temporary/staged"
is "all installed files are in the list" "$(files)" "$(sort staged/usr/share/ddpbench/files <(printf '%s\n' bin/ddpbench-mine share/ddpbench/files))"
files >before
succeeds "install.sh succeeds a second time" "$install" "$program" /usr "$temporary/staged"
is "a second installation changes no file name" "$(files | cmp - before && echo same)" same

# From here on, PATH finds the installed copy only.
PATH=$temporary/staged/usr/bin:$PATH
tiny='--d-model 32 --num-layers 1 --num-heads 2 --d-ff 48 --context-length 16 --batch-size 4 --vocab-size 256'
read -ra words <<<"$tiny"
try ddpbench-run -n 1 -- ddpbench "${words[@]}" --implementations none,ddp --rounds 2 --output one
check 0 "ddpbench-run starts the installed program" '^run.sh: 1 rank on this machine'
try ddpbench-sweep --implementations ddp,ddp_bucketed --bucket-size-mb 0.01,0.02 --ranks 1 --model "tiny:$tiny" --rounds 2 --repeats 1 --output sweep
check 0 "ddpbench-sweep finds program and launcher" '^sweep.sh: 3 runs: 0 existed, 3 made, 0 failed'
read -ra words <<<"${tiny/--batch-size 4/}"
try ddpbench-paper --quick --rounds 2 --ranks 2 --every 1 --output paper -- "${words[@]}"
check 0 "ddpbench-paper finds its files" '^paper.sh: 4 runs: 0 existed, 4 made, 0 failed'
ln -s "$(command -v true)" staged/usr/bin/nsys
try ddpbench-nsys --dry-run -n 2 -- ddpbench --profile
is "ddpbench-nsys finds run.sh" "$status $(grep -cF "$(printf %q "$temporary/staged/usr/share/ddpbench/launch/run.sh") -n 2" printed)" "0 1"
rm staged/usr/bin/nsys
for name in corpus ncu netlab nsys paper run slurm sweep; do
    try "ddpbench-$name" --help
    is "ddpbench-$name --help uses the installed names" \
        "$status $(sed -nE "1s/^Usage: (ddpbench-[a-z]+) .*/\1/p" printed) $(grep -cE 'launch/|build/' printed)" "0 ddpbench-$name 0"
done
is "installed files do not mention paths of the source tree" "$(grep -rlE 'launch/|build/' staged/usr/share/ddpbench/launch staged/usr/share/man)" ""
if command -v man >/dev/null; then
    try man -M staged/usr/share/man -w ddpbench ddpbench-report ddpbench-sweep
    is "man finds the pages" "$status $(wc -l <printed)" "0 3"
else
    echo "skip - man finds the pages: man is not installed"
fi
is "bash finds completion for each command" \
    "$(cd staged/usr/share/bash-completion/completions && for name in *; do bash -c ". ./$name && complete -p $name"; done | wc -l)" 10
is "a manual page names the version" "$(sed -nE '1{ s/\\-/-/g; s/^[.]TH .* "(ddpbench [^"]*)" .*/\1/p }' staged/usr/share/man/man1/ddpbench-tune.1)" "$("$program" --version)"

# ---- the version of an archive of the sources, by make, inside a repository of something else ----

if command -v git >/dev/null && command -v make >/dev/null; then
    mkdir -p outer/archive/{bench,tests/gpu/emulator}
    for file in Makefile bench/VERSION tests/developer.mk tests/gpu/emulator/emulator.mk; do cp "$root/$file" "outer/archive/$file"; done
    # shellcheck disable=SC2016 # expanded by make
    # described: prints the version and git's description as make finds them.
    described() { env -u MAKEFLAGS -u MAKELEVEL make -s -C outer/archive CUDA=0 --eval 'described: ; @echo "$(VERSION);$(DESCRIPTION)"' described; }
    git() { command git -c user.name=me -c user.email=me@there -c init.defaultBranch=main -C "$@"; }
    git outer init -q && git outer commit -q --allow-empty -m outer
    is "an archive has a version, and no description by git" "$(described)" "$(cat "$root/bench/VERSION");"
    git outer/archive init -q && git outer/archive commit -q --allow-empty -m inner
    is "a repository has git's description, too" "$(described)" "$(cat "$root/bench/VERSION");$(git outer/archive rev-parse --short HEAD)"
else
    echo "skip - the version of an archive of the sources: git or make is not installed"
fi

try "$install" --uninstall /usr "$temporary/staged"
is "--uninstall removes all installed files and no other file" "$status $(files)" "0 bin/ddpbench-mine"
try "$install" --uninstall /usr "$temporary/staged"
check 1 "--uninstall without an installation is refused" '^install.sh: nothing is installed in .*/staged/usr'
exit "$failed"
