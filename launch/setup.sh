#!/usr/bin/env bash
# setup.sh - sees that what the build needs is there, and installs what is missing on Debian and Ubuntu.
# It looks for the things themselves (pkg-config, commands, headers), so any system that has them is fine.
set -euo pipefail

usage() {
    cat <<'END'
Usage: launch/setup.sh [--mpi NAME] [--mpicc PATH] [--blas NAME] [--lint] [--fuzz] [--consumers] [--viewers] [--slurm] [--help]
Installs the missing ones of pkg-config, an MPI, g++, a CBLAS, hwloc, cJSON, zlib and Check, with apt; says nothing when all are there.
  --mpi NAME   mpich (default) or openmpi; what mpicc and mpirun mean stays as it is
  --mpicc PATH the compiler wrapper of an MPI that is installed elsewhere; then none is installed
  --blas NAME  the CBLAS to build with, as pkg-config or the linker knows it (default openblas, which can be installed from here)
  --lint       also clang-format, clang-tidy (with OpenMP's header), cppcheck and shellcheck
  --fuzz       also clang with libFuzzer, and its OpenMP, for make fuzz
  --consumers  also Python's venv, for make test-consumers
  --viewers    also Chromium, for the viewers that make test-consumers opens traces with
  --slurm      also Slurm and munge, for the tests of launch/slurm.sh, which start daemons of their own; where systemd
               runs, Debian's packages start theirs, too, which nothing here needs
END
}

# shellcheck source=launch/common.sh
. "$(dirname "$(realpath "$0")")/common.sh"

mpi=mpich mpicc='' blas=openblas lint='' fuzz='' consumers='' viewers='' slurm=''
while [ $# -gt 0 ]; do
    case $1 in
    --blas)
        need_value "$@"
        blas=$2
        [[ $blas =~ ^[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}$ ]] || usage_error "--blas '$blas': expected a name that pkg-config knows, such as openblas"
        shift
        ;;
    --mpi)
        need_value "$@"
        mpi=$2
        [[ $mpi =~ ^(mpich|openmpi)$ ]] ||
            usage_error "--mpi '$mpi': expected mpich (or an MPI made from it) or openmpi (or one made from that)"
        shift
        ;;
    --mpicc)
        need_value "$@"
        mpicc=$2
        shift
        ;;
    --lint) lint=1 ;;
    --fuzz) fuzz=1 ;;
    --consumers) consumers=1 ;;
    --viewers) viewers=1 ;;
    --slurm) slurm=1 ;;
    --help) usage; exit 0 ;;
    *) usage_error "unknown option '$1'; known are --mpi NAME, --mpicc PATH, --blas NAME, --lint, --fuzz, --consumers, --viewers, --slurm, --help" ;;
    esac
    shift
done

# The Makefile chooses alike: by Debian's names first, then what is called mpicc and mpirun, if it is of that kind.
have_mpi_compiler() {
    command -v "mpicc.$mpi" && return
    case $mpi in
    mpich) mpicc -compile_info ;; # only the wrappers of MPICH and of what is made from it know this
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

# clang has its own OpenMP header, and its package does not always bring it.
have_clang_openmp() {
    local directory status=0
    directory=$(mktemp -d)
    printf '#include <omp.h>\nint threads;\n' >"$directory/omp.c"
    clang-tidy --quiet '--checks=-*,misc-unused-parameters' "$directory/omp.c" -- -fopenmp || status=1
    rm -rf "$directory"
    return $status
}

# have_clang_with FLAG...: its parts are packages of their own.
have_clang_with() { echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' | clang "$@" -x c -o /dev/null -; }

# Slurm's plugins lie in a directory of the machine's architecture.
has_plugins() { compgen -G '/usr/lib*/**/slurm-wlm/mpi_pmi2.so' || compgen -G '/usr/lib*/slurm*/mpi_pmi2.so'; }

# want PACKAGES WHY TEST...: unless the test succeeds, PACKAGES are to be installed.
want() {
    local names=$1 why=$2
    shift 2
    "$@" >/dev/null 2>&1 && return
    missing+=("${names// /, } ($why)")
    read -ra names <<<"$names"
    packages+=("${names[@]}")
}

find_missing() {
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
    if [ -n "$consumers" ]; then
        want python3-venv "make test-consumers" python3 -c 'import ensurepip, venv'
    fi
    [ -z "$viewers" ] || want chromium "opens the viewers" chromium --version
    if [ -n "$slurm" ]; then
        want slurm-wlm "a Slurm for tests" command -v slurmctld
        want slurm-wlm-basic-plugins "its plugins" has_plugins
        want munge "its keys" command -v munged
    fi
    if [ -n "$fuzz" ]; then
        want clang "make fuzz" command -v clang
        want libclang-rt-dev "make fuzz" have_clang_with -fsanitize=fuzzer,address
        want libomp-dev "OpenMP for make fuzz" have_clang_with -fsanitize=fuzzer -fopenmp
    fi
    if [ -n "$lint" ]; then
        want clang-format "make lint" command -v clang-format
        want cppcheck "make lint" command -v cppcheck
        want shellcheck "make lint" command -v shellcheck
        want clang-tidy "make lint" command -v clang-tidy
        want libomp-dev "omp.h for clang-tidy" have_clang_openmp
    fi
}

check_mpicc() {
    [ -z "$mpicc" ] || "$mpicc" -show 2>/dev/null </dev/null | grep -q . ||
        die "MPICC=$mpicc is no MPI's compiler wrapper: '$mpicc -show' should print the compiler's command"
}

# Debian would let mpicc and mpirun be Open MPI's from then on. keep_meaning NAME MEANING: of one that they, or its headers, had before.
keep_meaning() {
    [ -e "$2" ] && [ "$(readlink -f "/etc/alternatives/$1")" != "$(readlink -f "$2")" ] || return 0
    "${as_root[@]}" update-alternatives --quiet --set "$1" "$2" >&2
    say "'$1' stays $2; update-alternatives --auto $1 would change that"
}

# Another CBLAS than OpenBLAS is the user's to install.
check_blas() {
    [ "$blas" != openblas ] && command -v pkg-config >/dev/null || return 0
    pkg-config --exists "$blas" && return
    # CPATH and LIBRARY_PATH say where the compiler looks for it
    printf '#include <cblas.h>\nint main(void) { return !cblas_sgemm; }\n' |
        cc -x c - -o /dev/null "-l$blas" 2>/dev/null && return
    local known
    known=$(pkg-config --list-all | grep -iE '^[^ ]*(blas|blis|mkl)' | cut -d' ' -f1 | sort | tr '\n' ' ' || true)
    die "pkg-config knows no BLAS called '$blas' (it knows: ${known:-none }; more with PKG_CONFIG_PATH), nor does the compiler find a library of that name with cblas.h (it looks in CPATH and LIBRARY_PATH too). Without BLAS=$blas, OpenBLAS is used."
}

install_packages() {
    local command="sudo apt-get install --no-install-recommends ${packages[*]}"
    command -v apt-get >/dev/null ||
        die "there is no apt-get here. Install what is missing; its packages on Debian and Ubuntu: $command"
    local as_root=() meanings name meaning apt=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0)
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
    # lists of packages may be absent, or too old to fetch from
    if ! apt-cache show "${packages[@]}" >/dev/null 2>&1 || ! "${install[@]}" >"$log" 2>&1 </dev/null; then
        if ! { "${apt[@]}" update && "${install[@]}"; } >"$log" 2>&1 </dev/null; then
            tail -n 20 "$log" >&2
            die "the installation failed. Run: $command"
        fi
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
