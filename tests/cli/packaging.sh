#!/usr/bin/env bash
# packaging.sh - the recipes of packaging/ without the tools that read them: Spack's package.py runs with stand-ins for Spack's
# modules, and EasyBuild's recipe with one for its constant. For each spec, `make -n` takes what a recipe gives to make.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

for tool in python3 make; do
    command -v $tool >/dev/null || { echo "skip - recipes of packages: $tool is not installed" && exit 0; }
done
[[ $temporary != *[[:blank:]]* ]] || { echo "skip - recipes of packages: make takes no MPICC in a path with a blank" && exit 0; }

# ---- stand-ins: an MPI's wrapper, a CUDA toolkit with NCCL, and a make that shows what it would do ----

mkdir -p mpi/bin cuda/bin nccl/include
printf '%s\n' '#!/bin/sh' 'echo gcc -I/mpi/include -L/mpi/lib -lmpi_of_the_spec' >mpi/bin/mpicc
# shellcheck disable=SC2016 # expanded by the stand-in
printf '%s\n' '#!/bin/sh' 'case $1 in --list-gpu-code) echo sm_80 sm_90 sm_100 ;; *) echo release 12.4, V12.4 ;; esac' >cuda/bin/nvcc
touch mpi/bin/mpirun nccl/include/nccl.h
chmod +x mpi/bin/mpicc mpi/bin/mpirun cuda/bin/nvcc

cat >spack.py <<'END'
"""Runs the phases of package.py for a spec: spack.py PACKAGE_PY MAKEFILE_DIR MPI BLAS CUDA_ARCH. CUDA_ARCH is such as 80,90, none
or, for ~cuda, ''. Prints directives, the commands of each phase, and what `make -n` says."""
import os
import subprocess
import sys
import types

package_py, sources, mpi, blas, cuda_arch = sys.argv[1:]
here = os.getcwd()


def directive(name):
    def record(*arguments, **keywords):
        print(name, *arguments, *(f"{key}={value}" for key, value in keywords.items()))
        return lambda function: function

    return record


class Prefix(str):
    def __getattr__(self, name):
        return Prefix(os.path.join(self, name))


class Dependency:
    def __init__(self, query):
        virtual, _, self.extra = query.partition(":")
        self.name = {"mpi": mpi, "blas": blas}.get(virtual, virtual)
        self.prefix = Prefix(f"{here}/{virtual}")
        self.mpicc = self.prefix.bin.mpicc
        self.libs = types.SimpleNamespace(ld_flags=f"-L/blas/lib -l{self.name}_of_the_spec")


class Spec:
    variants = {"cuda_arch": types.SimpleNamespace(value=tuple(cuda_arch.split(",")))}

    def __getitem__(self, query):
        return Dependency(query)

    def satisfies(self, constraint):
        return {"+cuda": bool(cuda_arch), "~cuda": not cuda_arch}[constraint]


class Executable:
    def __init__(self, path):
        self.path = path

    def __call__(self, *arguments):
        print("RUN", self.path, *arguments)


class MakefilePackage:
    spec, prefix = Spec(), Prefix("/installed")


class CudaPackage:
    cuda_arch_values = ("35", "75", "80", "90a", "100f")


def module(name, **contents):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(contents)


names = "version license depends_on conflicts variant maintainers run_after on_package_attributes"
for name in ("spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems", "spack"):
    module(name)
module("spack_repo.builtin.build_systems.makefile", MakefilePackage=MakefilePackage)
module("spack_repo.builtin.build_systems.cuda", CudaPackage=CudaPackage)
module("spack.package", Executable=Executable, spack_cc="cc", join_path=os.path.join,
       **{name: directive(name) for name in names.split()})
recipe = {"__name__": "package"}
exec(compile(open(package_py).read(), package_py, "exec"), recipe)
package = recipe["Ddpbench"]()
for phase in (package.build_targets, package.install_targets):
    print("MAKE", *phase)
    subprocess.run(["make", "-n", "-C", sources, *phase], check=True)
package.check()
package.check_install()
package.test_check()
END

# recipe MPI BLAS CUDA_ARCH: runs the phases of package.py for a spec.
# The variables of a make that runs the tests would reach the recipe's make.
recipe() { try env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS python3 spack.py "$root/packaging/spack/package.py" "$root" "$@"; }
# built: prints the program that `make program` links, and the one that `make install` installs.
built() { sed -nE 's/.* -o (build[^ ]*\/ddpbench) .*/\1/p; s/^launch\/install.sh .* (build[^ ]*\/ddpbench) .*/\1/p' printed; }
# count PATTERN: prints how many lines of the output match.
count() { grep -cE -- "$1" printed || true; }

# ---- Spack ----

recipe mpich openblas ''
is "~cuda ^mpich ^openblas: build and install take the same program" "$status $(built | xargs)" "0 build/portable/ddpbench build/portable/ddpbench"
is "it links the MPI and the BLAS of the spec" "$(count '^cc .* -o build/portable/ddpbench .* -L/mpi/lib -lmpi_of_the_spec -L/blas/lib -lopenblas_of_the_spec')" 1
is "no GPU, and the target is left to Spack's compiler" "$(count 'nvcc|-march=')" 0
is "make install takes the prefix" "$(count "^launch/install.sh .*'/installed'")" 1
is "Spack does not call make test; the installed program checks itself" "$(grep -E '^RUN' printed | sort -u)" "RUN /installed/bin/ddpbench check"
is "the version is that of the sources" "$(sed -n 's/^version //p' printed)" "$(sed -n 1p "$root/bench/VERSION")"
read -ra libraries <<<"$(sed -n 's/^PACKAGES = //p' "$root/Makefile")"
is "what make asks pkg-config for is a dependency" \
    "$(for name in "${libraries[@]}"; do count "^depends_on (lib)?${name#lib}(-api)?(@[^ ]*)?$"; done | xargs)" "1 1 1"
is "GPUs before compute capability 8.0 are refused" "$(sed -n 's/^conflicts cuda_arch=\([^ ]*\) .*/\1/p' printed | xargs)" "35 75"
recipe openmpi blis ''
is "^openmpi ^blis: the build has its own folder" "$status $(built | xargs)" "0 build/portable-blis-openmpi/ddpbench build/portable-blis-openmpi/ddpbench"
is "the installed scripts start ranks with the launcher beside mpicc" "$(count "^launch/install.sh --mpirun $temporary/mpi/bin/mpirun ")" 1
recipe mvapich openblas ''
is "^mvapich is built as MPICH is" "$status $(built | sort -u)" "0 build/portable/ddpbench"
recipe openmpi openblas 80,90
is "+cuda cuda_arch=80,90: for these GPUs" "$status $(grep -E '^[^ ]*nvcc ' printed | grep -oE 'code=sm_[0-9]+' | sort -u | xargs)" "0 code=sm_80 code=sm_90"
is "with the NCCL of the spec" "$(count '^cc .* -c -o .*/ddp/comm_nccl.o')" 1
recipe mpich openblas none
is "+cuda cuda_arch=none: for all GPUs that make knows" "$status $(grep -E '^[^ ]*nvcc ' printed | grep -oE 'code=sm_[0-9]+' | sort -u | xargs)" "0 code=sm_100 code=sm_80 code=sm_90"

# ---- EasyBuild ----

cat >easybuild.py <<'END'
"""Prints buildopts and installopts of a recipe of EasyBuild."""
import sys

recipe = {"SOURCELOWER_TAR_GZ": ""}
exec(open(sys.argv[1]).read(), recipe)
print(recipe["buildopts"])
print("install", recipe["installopts"] % {"installdir": "/installed"})
END
export CC=cc EBROOTOPENMPI=$temporary/mpi
easyconfig=$root/packaging/easybuild/ddpbench-$(sed -n 1p "$root/bench/VERSION")-foss-2023b.eb
python3 easybuild.py "$easyconfig" >phases
try bash -c "while read -r words; do eval \"env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -n -C '$root' \$words\" || exit; done <phases"
is "EasyBuild: build and install take the same program" "$status $(built | xargs)" "0 build/portable-flexiblas-openmpi/ddpbench build/portable-flexiblas-openmpi/ddpbench"
is "EasyBuild: make install takes the prefix and the launcher" "$(count "^launch/install.sh --mpirun $temporary/mpi/bin/mpirun .*'/installed'")" 1

# ---- ReFrame ----

try python3 -c 'import ast, sys; [ast.parse(open(file).read(), file) for file in sys.argv[1:]]' "$root"/packaging/reframe/*.py
is "ReFrame's files are Python" "$status" 0
exit "$failed"
