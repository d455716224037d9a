#!/usr/bin/env bash
# install.sh - launch/install.sh: the installed copy works from any directory, its files are listed, and uninstalling
# removes only these files. Installs BUILD_DIR/ddpbench below a temporary directory and runs it there. Also the archive of
# `make dist`, and options of the compiler.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

install=$root/launch/install.sh
# files: lists the files and links below the installation prefix.
files() { (cd staged/usr && find . ! -type d | sed 's,^[.]/,,' | sort); }

mkdir -p staged/usr/bin
echo mine >staged/usr/bin/ddpbench-mine
succeeds "install.sh succeeds" "$install" "$program" /usr "$temporary/staged"
is "all installed files are in the list" "$(files)" "$(grep -v '/$' staged/usr/share/ddpbench/files | sort - <(printf '%s\n' bin/ddpbench-mine share/ddpbench/files))"
pages=(LICENSE CHANGELOG.md README.md bench/measure/allreduce/README.md results/reference/verdict.png examples/ci/github.yml examples/reframe/ddpbench.py)
is "licence, pages, their pictures and examples are installed" \
    "$(for name in "${pages[@]}"; do [ -f "staged/usr/share/doc/ddpbench/$name" ] || echo "$name"; done)" ''
find staged | sort >before
cp staged/usr/share/ddpbench/files list
succeeds "install.sh succeeds a second time" "$install" "$program" /usr "$temporary/staged"
is "a second installation changes no file, no directory and no line of the list" "$(find staged | sort | cmp - before && cmp list staged/usr/share/ddpbench/files && echo same)" same

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
    mkdir -p outer/archive/{bench,tests/gpu/emulator} outer/by-git
    for file in .gitattributes Makefile bench/VERSION tests/developer.mk tests/gpu/emulator/emulator.mk; do cp "$root/$file" "outer/archive/$file"; done
    # shellcheck disable=SC2016 # expanded by make
    # described: prints the version and git's description as make finds them.
    described() { env -u MAKEFLAGS -u MAKELEVEL make -s -C "outer/$1" CUDA=0 --eval 'described: ; @echo "$(VERSION);$(DESCRIPTION)"' described; }
    git() { command git -c user.name=me -c user.email=me@there -c init.defaultBranch=main -C "$@"; }
    git outer init -q && git outer commit -q --allow-empty -m outer
    version=$(head -n 1 "$root/bench/VERSION")
    is "sources without a repository have a version, and no commit" "$(described archive)" "$version;"
    git outer/archive init -q && git outer/archive add . && git outer/archive commit -q -m inner
    commit=$(git outer/archive rev-parse --short HEAD)
    is "a repository has git's description, too" "$(described archive)" "$version;$commit"
    succeeds "make dist archives a commit" env -u MAKEFLAGS -u MAKELEVEL make -s -C outer/archive CUDA=0 dist
    tar -xzf "outer/archive/build/ddpbench-$version.tar.gz" -C outer/by-git
    is "its archive has the version and the commit" "$(described "by-git/ddpbench-$version")" "$version;$commit"
    try env -u MAKEFLAGS -u MAKELEVEL make -C "outer/by-git/ddpbench-$version" CUDA=0 dist
    check 2 "make dist of an archive is refused" 'there is no repository of git here'
else
    echo "skip - the version of an archive of the sources: git or make is not installed"
fi

# ---- options of the compiler; objects do not depend on the folder ----

if command -v make >/dev/null; then
    for folder in one "two of them"; do
        mkdir -p "$folder/kernels" "$folder/bench" "$folder/tests/gpu/emulator"
        for file in Makefile bench/VERSION tests/developer.mk tests/gpu/emulator/emulator.mk kernels/utf8.c kernels/utf8.h; do
            cp "$root/$file" "$folder/$file"
        done
        CFLAGS='-g -O2' CPPFLAGS=-DUNUSED env -u MAKEFLAGS -u MAKELEVEL make -C "$folder" CUDA=0 V=1 build/obj/kernels/utf8.o >printed
    done
    is "two folders give equal objects" "$(cmp {one,"two of them"}/build/obj/kernels/utf8.o && echo equal)" equal
    is "CPPFLAGS and CFLAGS of the environment come last, and LDFLAGS go to the linker" "$(grep -cE -- '-O3 .* -DUNUSED -g -O2 ' printed) $(
        LDFLAGS=-Wl,-O1 env -u MAKEFLAGS -u MAKELEVEL make -n -C "$root" CUDA=0 OUT=build/none V=1 build/none/ddpbench 2>said | grep -c -- "-Wl,-O1 -o build/none/ddpbench ")" "1 1"
else
    echo "skip - options of the compiler: make is not installed"
fi

: >staged/usr/share/mine
try "$install" --uninstall /usr "$temporary/staged"
is "--uninstall removes all that was installed and nothing else" "$status $(find staged | sort | paste -sd ' ')" \
    "0 staged staged/usr staged/usr/bin staged/usr/bin/ddpbench-mine staged/usr/share staged/usr/share/mine"
mkdir -p sources/results
cp -r "$root"/{launch,packaging,README.md,CHANGELOG.md,LICENSE} sources
cp -r "$root"/results/{reference,README.md,lines.md} sources/results
mkdir -p sources/{bench,ddp,kernels,tests} launchers
: >"sources/bench/my notes.md"
printf '#!/bin/sh\n' >launchers/mpirun
chmod +x launchers/mpirun
succeeds "install.sh takes a launcher" sources/launch/install.sh --mpirun "$PWD/launchers/mpirun" "$program" /usr "$PWD/other"
is "its scripts start ranks with it" "$(PATH=$PWD/launchers:$PATH MPIRUN='' other/usr/bin/ddpbench-run -n 1 --dry-run -- true 2>&1 | grep -c "^$PWD/launchers/mpirun ")" 1
succeeds "a file with a blank in its name is left out, and a second installation succeeds" sources/launch/install.sh "$program" /usr "$PWD/other"
succeeds "uninstalling succeeds" sources/launch/install.sh --uninstall /usr "$PWD/other"
is "it leaves nothing below the prefix" "$(find other/usr -mindepth 1)" ''
try "$install" --uninstall /usr "$temporary/staged"
check 1 "--uninstall without an installation is refused" '^install.sh: nothing is installed in .*/staged/usr'
exit "$failed"
