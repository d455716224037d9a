#!/usr/bin/env bash
# easybuild.sh - packaging/easybuild with EasyBuild of PyPI: its style check, the search for all dependencies among EasyBuild's
# own recipes, and a build by `eb` with its sanity checks. The modules of the toolchain are stand-ins that lead to this machine's
# gcc, Open MPI and OpenBLAS, since to build the toolchain itself takes hours; Debian's Environment Modules load them.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

limit=1200 # `eb` builds the program
# skip WORDS REASON: says that the rest cannot be checked here, and ends the script.
skip() {
    echo "skip - $1: $2"
    exit "$failed"
}

command -v python3 >/dev/null || skip "EasyBuild" "python3 is not installed"
python3 -m venv venv >/dev/null 2>&1 || skip "EasyBuild" "python3 makes no virtual environment"
venv/bin/pip install -q easybuild pycodestyle >said 2>&1 || skip "EasyBuild" "pip cannot install it: $(tail -n 1 said)"
export PATH=$temporary/venv/bin:$PATH EB_PYTHON=$temporary/venv/bin/python3 HOME=$temporary/home
unset "${!EASYBUILD_@}" XDG_CONFIG_HOME LD_PRELOAD # modules change LD_LIBRARY_PATH, where the library of made-up names is
recipes=$root/packaging/easybuild

# ---- the tool that loads modules, the modules of the toolchain, and those of the dependencies ----

# unpack_modules_tool: makes `modulecmd`, which starts Debian's Environment Modules without installing them.
unpack_modules_tool() {
    local package
    (cd debs && apt-get -q download environment-modules tcl8.6 libtcl8.6) || return
    for package in debs/*.deb; do dpkg-deb -x "$package" modules-tool || return; done
    cat >modulecmd <<END
#!/bin/sh
cd '$temporary/modules-tool/usr' || exit
export TCL_LIBRARY="\$PWD/share/tcltk/tcl8.6" LD_LIBRARY_PATH="\$(dirname "\$PWD"/lib/*/libtcl8.6.so)"
exec bin/tclsh8.6 lib/modulecmd.tcl "\$@"
END
    chmod +x modulecmd
    ./modulecmd bash --version
}

# stand_in NAME VERSION DIR LINE...: makes the module of a software in DIR, with more lines in the language of modules.
stand_in() {
    local variable
    variable=$(tr -cd '[:alnum:]' <<<"${1^^}")
    mkdir -p "modules/$1"
    printf '%s\n' '#%Module' "setenv EBROOT$variable $3" "setenv EBVERSION$variable ${2%%-*}" "${@:4}" >"modules/$1/$2"
}

make_stand_ins() {
    local tool gcc=GCC-13.2.0 core=GCCcore-13.2.0
    for tool in mpicc mpicxx mpif90 mpif77 mpirun; do ln -s "$(command -v $tool.openmpi)" openmpi/bin/$tool; done
    printf '%s\n' 'Name: flexiblas' 'Description: a stand-in' 'Version: 3.3.1' 'Requires: openblas' >flexiblas/flexiblas.pc
    ln -s "$(type -P true)" flexiblas/bin/flexiblas # eb asks it for the libraries that it opens
    stand_in GCC 13.2.0 /usr
    stand_in OpenMPI 4.1.6-$gcc "$temporary/openmpi" "prepend-path PATH $temporary/openmpi/bin"
    stand_in FlexiBLAS 3.3.1-$gcc "$temporary/flexiblas" "prepend-path PKG_CONFIG_PATH $temporary/flexiblas" "prepend-path PATH $temporary/flexiblas/bin"
    stand_in FFTW 3.3.10-$gcc /usr
    stand_in FFTW.MPI 3.3.10-gompi-2023b /usr
    stand_in ScaLAPACK 2.2.0-gompi-2023b-fb /usr
    stand_in foss 2023b /usr "module load GCC/13.2.0" "module load OpenMPI/4.1.6-$gcc" "module load FlexiBLAS/3.3.1-$gcc" \
        "module load FFTW/3.3.10-$gcc" "module load FFTW.MPI/3.3.10-gompi-2023b" "module load ScaLAPACK/2.2.0-gompi-2023b-fb"
    stand_in hwloc 2.9.2-$core /usr
    stand_in zlib 1.2.13-$core /usr
    stand_in cJSON 1.7.18-$core /usr
    stand_in pkgconf 2.0.3-$core /usr
}

mkdir -p home debs modules sources openmpi/bin flexiblas/bin
unpack_modules_tool >said 2>&1 || skip "EasyBuild" "apt cannot download Environment Modules: $(tail -n 1 said)"
export MODULES_CMD=$temporary/modulecmd MODULEPATH=$temporary/modules
eb=(eb --modules-tool=EnvironmentModules --allow-modules-tool-mismatch --module-syntax=Tcl --allow-use-as-root-and-accept-consequences
    --prefix="$temporary/eb" --sourcepath="$temporary/sources" --robot="$recipes:")

# ---- the recipes ----

try "${eb[@]}" --check-style "$recipes"/*.eb
is "eb --check-style" "$status $(grep -c '^\[PASS\]' printed)" "0 2"
try "${eb[@]}" --dry-run "$recipes"/ddpbench-*.eb
is "eb --dry-run finds recipes for the toolchain and all dependencies" \
    "$status $(grep -cE '\(module: (foss/2023b|(hwloc/2.9.2|cJSON/1.7.18|zlib/1.2.13|pkgconf/2.0.3)-GCCcore-13.2.0|ddpbench/0.9.0-foss-2023b)\)' printed)" "0 6"

for needed in git make mpicc.openmpi; do command -v $needed >/dev/null || skip "the build by eb" "$needed is not installed"; done
[ -e "$root/.git" ] || skip "the build by eb" "make dist needs a repository of git"
make_stand_ins
succeeds "make dist" env -u MAKEFLAGS -u MAKELEVEL make -s -C "$root" dist
cp "$root"/build/ddpbench-*.tar.gz sources
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
try "${eb[@]}" --parallel="$(count_cpus)" "$recipes"/ddpbench-*.eb
grep -E 'FAILED|ERROR' printed >>said || true
is "eb builds and installs, and its sanity checks hold" "$status $(grep -c "result for command 'ddpbench [a-z-]*': OK" printed)" "0 2"
installed=$temporary/eb/software/ddpbench/0.9.0-foss-2023b
try ldd "$installed/bin/ddpbench"
is "the installed program has the Open MPI of the toolchain" "$(grep -cE '^\s*libmpi\.so' printed)" 1
export MODULEPATH=$temporary/eb/modules/all:$MODULEPATH
is "the module gives the program" "$(bash -c "eval \"\$('$MODULES_CMD' bash load ddpbench 2>said)\"; command -v ddpbench" 2>&1)" "$installed/bin/ddpbench"
exit "$failed"
