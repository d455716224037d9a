# Copyright (c) 2026 The ddpbench authors
#
# SPDX-License-Identifier: MIT

import os

from spack_repo.builtin.build_systems.cuda import CudaPackage
from spack_repo.builtin.build_systems.makefile import MakefilePackage

from spack.package import *


class Ddpbench(MakefilePackage, CudaPackage):
    """Benchmarks what synchronising the gradients costs in data-parallel training (DDP), strategy
    by strategy, on CPUs and NVIDIA GPUs; measures the interconnect, and finds slow hosts."""

    # The archive is made by `make dist`, and is read from the directory in which spack runs.
    manual_download = True
    url = f"file://{os.getcwd()}/ddpbench-0.9.0.tar.gz"

    license("MIT", checked_by="ddpbench")

    version("0.9.0")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+cuda")
    depends_on("pkgconfig", type="build")

    depends_on("mpi@3:")
    depends_on("blas")
    depends_on("openblas threads=openmp", when="^[virtuals=blas] openblas")
    depends_on("blis+cblas", when="^[virtuals=blas] blis")
    depends_on("hwloc@2:")
    depends_on("cjson")
    depends_on("zlib-api")
    depends_on("nccl", when="+cuda")

    for old in (arch for arch in CudaPackage.cuda_arch_values if int(arch.rstrip("af")) < 80):
        conflicts(f"cuda_arch={old}", when="+cuda", msg="needs compute capability 8.0 or later")
    for mkl in ("intel-oneapi-mkl", "intel-mkl"):
        conflicts(f"^[virtuals=blas] {mkl}", msg="MKL has no cblas.h; take openblas or blis")

    @property
    def make_variables(self):
        """The variables of make: the same in each phase, as they also name the build's folder."""
        spec = self.spec
        variables = [
            "PORTABLE=1",
            "MARCH=",  # the compiler wrapper gives the target of the spec
            "V=1",
            f"CC={spack_cc}",
            f"MPICC={spec['mpi'].mpicc}",
            f"BLAS={spec['blas'].name}",
            f"BLAS_LIBS={spec['blas:c,fortran'].libs.ld_flags}",
            f"PREFIX={self.prefix}",
        ]
        if spec["mpi"].name in ("openmpi", "hpcx-mpi", "spectrum-mpi", "fujitsu-mpi"):
            variables.append("MPI=openmpi")  # these are made from Open MPI
        if spec.satisfies("+cuda"):
            variables += [
                "CUDA=1",
                f"CUDA_HOME={spec['cuda'].prefix}",
                f"NCCL={join_path(spec['nccl'].prefix.include, 'nccl.h')}",
            ]
            architectures = spec.variants["cuda_arch"].value
            if "none" not in architectures:
                variables.append(f"CUDA_ARCHITECTURES={' '.join(architectures)}")
        else:
            variables.append("CUDA=0")
        return variables

    @property
    def build_targets(self):
        return ["program"] + self.make_variables

    @property
    def install_targets(self):
        return ["install"] + self.make_variables

    def check(self):
        """Not `make test`, which installs packages of the system; the program checks itself."""

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        self.test_check()

    def test_check(self):
        """the installed program finds its libraries, and their results are right"""
        ddpbench = Executable(self.prefix.bin.ddpbench)
        ddpbench("check")
