#!/usr/bin/env bash
# setup.sh - sees that what the build needs is there, and installs what is missing on Debian and Ubuntu.
# It looks for the things themselves (pkg-config, commands, headers), so any system that has them is fine.
set -euo pipefail

usage() {
    cat <<'END'
Usage: launch/setup.sh [--blas NAME] [--lint] [--consumers] [--plot] [--help]
Installs the missing ones of pkg-config, MPICH, g++, a CBLAS, hwloc, cJSON, zlib and Check, with apt; says nothing when all are there.
  --blas NAME  the CBLAS to build with, as pkg-config or the linker knows it (default openblas, which can be installed from here)
  --lint       also clang-format, clang-tidy (with OpenMP's header), cppcheck and shellcheck
  --consumers  also Python's venv, for make test-consumers
  --plot       also gnuplot, for the pictures of launch/sweep.sh
END
}

say() { echo "setup.sh: $*" >&2; }

die() {
    say "$@"
    exit 1
}

blas=openblas lint='' consumers='' plot=''
while [ $# -gt 0 ]; do
    case $1 in
    --blas)
        blas=${2:-}
        [[ $blas =~ ^[A-Za-z0-9_][A-Za-z0-9_.+-]*$ ]] || { say "--blas needs a name that pkg-config knows, such as openblas"; exit 2; }
        shift
        ;;
    --lint) lint=1 ;;
    --consumers) consumers=1 ;;
    --plot) plot=1 ;;
    --help) usage; exit 0 ;;
    *) say "unknown option '$1'; known are --blas NAME, --lint, --consumers, --plot, --help"; exit 2 ;;
    esac
    shift
done

# MPICH, or an MPI made from it: only their compiler wrappers know -compile_info. The Makefile chooses alike.
have_mpi_compiler() { command -v mpicc.mpich || mpicc -compile_info; }
have_mpi_launcher() {
    command -v mpirun.mpich && return
    command -v mpirun && ! mpirun --version | grep -qE 'Open MPI|OpenRTE'
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
    want libmpich-dev "MPI's compiler wrapper" have_mpi_compiler
    want mpich "starts the ranks" have_mpi_launcher
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
    [ -z "$plot" ] || want gnuplot-nox "pictures of sweeps" command -v gnuplot
    if [ -n "$lint" ]; then
        want clang-format "make lint" command -v clang-format
        want cppcheck "make lint" command -v cppcheck
        want shellcheck "make lint" command -v shellcheck
        want clang-tidy "make lint" command -v clang-tidy
        want libomp-dev "omp.h for clang-tidy" have_clang_openmp
    fi
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
    local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0)
    if [ "$(id -u)" != 0 ]; then
        local sudo=(sudo)
        [ -t 0 ] || sudo=(sudo -n)
        command -v sudo >/dev/null || die "cannot install without sudo. As root: ${command#sudo }"
        "${sudo[@]}" true || die "sudo was refused. Run: $command"
        apt=("${sudo[@]}" "${apt[@]}")
    fi
    say "installing ${packages[*]}"
    local log
    log=$(mktemp)
    # shellcheck disable=SC2064 # the name is known now
    trap "rm -f '$log'" EXIT
    local install=("${apt[@]}" install -y --no-install-recommends "${packages[@]}")
    # lists of packages may be absent, or too old to fetch from
    if ! apt-cache show "${packages[@]}" >/dev/null 2>&1 || ! "${install[@]}" >"$log" 2>&1 </dev/null; then
        if ! { "${apt[@]}" update && "${install[@]}"; } >"$log" 2>&1 </dev/null; then
            tail -n 20 "$log" >&2
            die "the installation failed. Run: $command"
        fi
    fi
}

check_blas
find_missing
[ ${#packages[@]} -gt 0 ] || exit 0
say "missing: $(printf '%s; ' "${missing[@]}" | sed 's/; $//')"
install_packages
hash -r
check_blas
find_missing
[ ${#packages[@]} -eq 0 ] || die "installed, but still not found: $(printf '%s; ' "${missing[@]}" | sed 's/; $//')"
