#!/usr/bin/env bash
# setup.sh - checks that what the build needs is installed, and installs what is missing on Debian and Ubuntu
#
# Usage: launch/setup.sh [OPTION...]
# Looks for pkg-config, an MPI, g++, a CBLAS, hwloc, cJSON, zlib and Check, and installs what is missing with apt. Prints
# nothing if all are there. oneDNN (libdnnl), which is optional, is installed together with OpenBLAS where apt has it.
#   --mpi NAME    mpich (default) or openmpi; commands mpicc and mpirun that exist already stay those of the same MPI
#   --mpicc PATH  the compiler wrapper of an MPI that is installed elsewhere; no MPI is installed then
#   --blas NAME   a CBLAS that pkg-config or the linker knows (default openblas, the only CBLAS that this script installs)
#   --lint        also clang-format, clang-tidy (with OpenMP's header), cppcheck and shellcheck
#   --fuzz        also clang with libFuzzer and OpenMP, for make fuzz
#   --consumers   also Python's venv and Protocol Buffers, for make test-consumers
#   --viewers     also Chromium, in which make test-consumers opens traces
#   --lab         also iproute2 and ethtool, for launch/netlab.sh
#   --slurm       also Slurm and munge, for the tests of launch/slurm.sh; where systemd runs, Debian starts their daemons
set -euo pipefail

# shellcheck source=launch/common.sh
. "$(dirname "$(realpath "$0")")/common.sh"

check_blas_name() {
    [[ $2 =~ ^[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}$ ]] || usage_error "$1 '$2': expected a name that pkg-config knows, such as openblas"
}
mpi=mpich mpicc='' blas=openblas lab='' lint='' fuzz='' consumers='' viewers='' slurm=''
option_rows=("--mpi mpi check_choice mpich openmpi" "--mpicc mpicc check_any" "--blas blas check_blas_name" "--lab lab flag" "--lint lint flag"
    "--fuzz fuzz flag" "--consumers consumers flag" "--viewers viewers flag" "--slurm slurm flag")
read_options "$@"

# Finds MPI as the Makefile does: Debian's names first, then mpicc and mpirun if they belong to the requested MPI.
have_mpi_compiler() {
    command -v "mpicc.$mpi" && return
    case $mpi in
    mpich) mpicc -compile_info ;; # an option of MPICH and of MPIs derived from it
    openmpi) mpicc --showme:version | grep 'Open MPI' ;;
    esac
}
have_mpi_launcher() {
    local kind=mpich
    command -v "mpirun.$mpi" && return
    command -v mpirun || return
    ! mpirun --version | grep -E 'Open MPI|OpenRTE|PRRTE' || kind=openmpi
    [ $kind = "$mpi" ]
}

# have_clang_openmp: tests whether clang has its own OpenMP header, which not every package of clang contains.
have_clang_openmp() {
    printf '#include <omp.h>\nint threads;\n' |
        clang-tidy --quiet '--checks=-*,misc-unused-parameters' /dev/stdin -- -x c -fopenmp
}

# have_clang_with FLAG...: tests whether clang can link a program with the flags, which may need another package.
have_clang_with() { echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' | clang "$@" -x c -o /dev/null -; }

# have_protobuf: looks for protoc, and for the package of Debian's Python, which may not be the first in the PATH.
have_protobuf() { command -v protoc && /usr/bin/python3 -c 'import google.protobuf'; }

# has_plugins: looks for Slurm's plugins in the directory of this machine's architecture.
has_plugins() { compgen -G '/usr/lib*/**/slurm-wlm/mpi_pmi2.so' || compgen -G '/usr/lib*/slurm*/mpi_pmi2.so'; }

# want PACKAGES WHY TEST...: if the command TEST fails, adds PACKAGES to those to install, and the reason WHY to a message.
want() {
    local names=$1
    "${@:3}" >/dev/null 2>&1 && return
    missing+=("${names// /, } ($2)")
    read -ra names <<<"$names"
    packages+=("${names[@]}")
}

find_missing() {
    local tool
    missing=() packages=()
    want pkg-config "finds the libraries" command -v pkg-config
    local of_mpi=(libmpich-dev mpich)
    [ "$mpi" = mpich ] || of_mpi=(libopenmpi-dev openmpi-bin)
    if [ -z "$mpicc" ]; then
        want "${of_mpi[0]}" "MPI's compiler wrapper" have_mpi_compiler
        want "${of_mpi[1]}" "starts the ranks" have_mpi_launcher
    fi
    want g++ "CUDA's host compiler, and the emulated GPU of the tests" command -v g++
    if ! pkg-config --exists hwloc libcjson zlib check "$blas" 2>/dev/null; then
        want libhwloc-dev "the machine's cores" pkg-config --exists hwloc
        want libcjson-dev "reads and writes JSON" pkg-config --exists libcjson
        want zlib1g-dev "compresses traces" pkg-config --exists zlib
        want "check libsubunit-dev" "unit tests" pkg-config --exists check
        [ "$blas" != openblas ] || want libopenblas-openmp-dev "matrix products" pkg-config --exists openblas
    fi
    [ -z "$consumers" ] || want python3-venv "make test-consumers" python3 -c 'import ensurepip, venv'
    [ -z "$consumers" ] || want "protobuf-compiler python3-protobuf" "decode Chakra traces" have_protobuf
    [ -z "$viewers" ] || want chromium "opens the viewers" chromium --version
    [ -z "$lab" ] || want iproute2 "launch/netlab.sh" command -v tc
    [ -z "$lab" ] || want ethtool "delays in launch/netlab.sh" command -v ethtool
    if [ -n "$slurm" ]; then
        want slurm-wlm "a Slurm for tests" command -v slurmctld
        want slurm-wlm-basic-plugins "Slurm's plugins" has_plugins
        want munge "Slurm's authentication" command -v munged
    fi
    if [ -n "$fuzz" ]; then
        want clang "make fuzz" command -v clang
        want libclang-rt-dev "make fuzz" have_clang_with -fsanitize=fuzzer,address
        want libomp-dev "OpenMP for make fuzz" have_clang_with -fsanitize=fuzzer -fopenmp
    fi
    if [ -n "$lint" ]; then
        for tool in clang-format cppcheck shellcheck clang-tidy; do want $tool "make lint" command -v $tool; done
        want libomp-dev "omp.h for clang-tidy" have_clang_openmp
    fi
}

check_mpicc() {
    [ -z "$mpicc" ] || "$mpicc" -show 2>/dev/null </dev/null | grep -q . ||
        die "MPICC=$mpicc is not the compiler wrapper of an MPI: '$mpicc -show' has to print the compiler's command"
}

# keep_meaning NAME MEANING: sets the alternative NAME, such as mpicc, back to MEANING if installing Debian's Open MPI changed it.
keep_meaning() {
    [[ -e $2 && $(readlink -f "/etc/alternatives/$1") != "$(readlink -f "$2")" ]] || return 0
    "${as_root[@]}" update-alternatives --quiet --set "$1" "$2" >&2
    say "'$1' stays $2; update-alternatives --auto $1 would change that"
}

# check_blas: ends the script if $blas is missing, unless it is openblas; the user has to install any other CBLAS.
check_blas() {
    [ "$blas" != openblas ] && command -v pkg-config >/dev/null || return 0
    pkg-config --exists "$blas" && return
    # The compiler also searches CPATH and LIBRARY_PATH.
    printf '#include <cblas.h>\nint main(void) { return !cblas_sgemm; }\n' |
        cc -x c - -o /dev/null "-l$blas" 2>/dev/null && return
    local known
    known=$(pkg-config --list-all | grep -iE '^[^ ]*(blas|blis|mkl)' | cut -d' ' -f1 | sort | tr '\n' ' ' || true)
    die "there is no BLAS called '$blas': pkg-config knows ${known:-none }(PKG_CONFIG_PATH names more), and the compiler finds" \
        "no such library with cblas.h (CPATH and LIBRARY_PATH name more). Without BLAS=$blas, OpenBLAS is used."
}

install_packages() {
    local command="sudo apt-get install --no-install-recommends ${packages[*]}"
    command -v apt-get >/dev/null ||
        die "there is no apt-get here. Install what is missing; its packages on Debian and Ubuntu: $command"
    local as_root=() meanings name meaning optional apt=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0)
    if [ "$(id -u)" != 0 ]; then
        local sudo=(sudo)
        [ -t 0 ] || sudo=(sudo -n)
        command -v sudo >/dev/null || die "cannot install without sudo. As root: ${command#sudo }"
        "${sudo[@]}" true || die "sudo was refused. Run: $command"
        as_root=("${sudo[@]}") apt=("${sudo[@]}" "${apt[@]}")
    fi
    say "installing ${packages[*]}"
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    local install=("${apt[@]}" install -y --no-install-recommends "${packages[@]}")
    meanings=$(update-alternatives --get-selections 2>/dev/null | awk '/^mpi/ { print $1, $3 }')
    # Update the package lists if they are missing or outdated.
    if ! apt-cache show "${packages[@]}" >/dev/null 2>&1 || ! "${install[@]}" >"$log" 2>&1 </dev/null; then
        if ! { "${apt[@]}" update && "${install[@]}"; } >"$log" 2>&1 </dev/null; then
            tail -n 20 "$log" >&2
            die "the installation failed. Run: $command"
        fi
    fi
    # The newest library of oneDNN; its absence alone installs nothing, so that later calls do not ask for it again.
    optional=$(apt-cache pkgnames libdnnl 2>/dev/null | grep -xE 'libdnnl[0-9.]+' | sort -V | tail -n 1 || true)
    if [[ -n $optional && " ${packages[*]} " == *" libopenblas-openmp-dev "* ]]; then
        "${apt[@]}" install -y --no-install-recommends "$optional" >"$log" 2>&1 </dev/null || say "$optional, which is optional, cannot be installed"
    fi
    while read -r name meaning; do
        keep_meaning "$name" "$meaning"
    done <<<"$meanings"
}

check_mpicc
check_blas
find_missing
[ ${#packages[@]} -gt 0 ] || exit 0
say "missing: $(printf '%s; ' "${missing[@]}" | sed 's/; $//')"
install_packages
hash -r
check_blas
find_missing
[ ${#packages[@]} -eq 0 ] || die "installed, but still not found: $(printf '%s; ' "${missing[@]}" | sed 's/; $//')"
