#!/usr/bin/env bash
# pack.sh - makes an archive of a portable build for machines where nothing can be installed
#
# Usage: launch/pack.sh [--directory DIR] BUILD_DIR PROGRAM..., by `make pack`
# Writes build/ddpbench-pack.tar.xz: the PROGRAMs of BUILD_DIR, MPICH's mpirun, the libraries that they need, and scripts of
# launch/ and tests/ for the other machine. glibc, CUDA and NCCL come from the machine where the archive is unpacked.
#   --directory DIR  writes the content of the archive to DIR, which must not exist yet, and makes no archive
set -euo pipefail

# shellcheck source=launch/common.sh
. "$(dirname "$(realpath "$0")")/common.sh"

pack=''
option_rows=("--directory pack check_path") most_arguments=99
read_options "$@"
set -- "${arguments[@]}"
[ -z "$pack" ] || pack=$(realpath -m -- "$pack")
[ -z "$pack" ] || [ ! -e "$pack" ] || die "$pack exists already; choose another --directory"
[ $# -ge 2 ] || usage_error "expected BUILD_DIR PROGRAM..., such as build ddpbench; see --help"
[ -d "$1" ] || usage_error "there is no directory '$1'; give the one where make has put the programs"
build=$(realpath -e -- "$1")
shift
programs=("$@")
cd "$(dirname "$0")/.."
output=build/ddpbench-pack.tar.xz most=$((30 << 20))
[[ ! -d $output && ! -L $output ]] || die "$output is a directory or a link; remove it"

need_tools binutils strip readelf nm
need_tools libc-bin ldd
need_tools mpich mpiexec.hydra hydra_pmi_proxy
need_tools mawk awk
[ -n "$pack" ] || need_tools xz-utils xz
hydra=("$(command -v mpiexec.hydra)" "$(command -v hydra_pmi_proxy)")
files=("${programs[@]/#/$build/}")
parts=$build/libddpbench_cuda.so # does not exist in a build without the CUDA parts
for file in "${files[@]}"; do
    [[ -f $file && -x $file ]] || die "there is no program $file; make pack builds it"
done
[[ $(ldd "${files[0]}") != *libopen-*([[:alnum:]_])* ]] || die "${files[0]} is not linked with MPICH, whose mpirun is packed"

work=$(mktemp -d)
begun=$pack # the DIR of --directory, to remove if the script fails; empty without that option
trap 'end_child; rm -rf "$work" ${begun:+"$begun"}' EXIT
trap_signals
archive=${pack:+none}
[ -z "$pack" ] || make_directory "$pack"
pack=${pack:-$work/ddpbench-pack}
mkdir -p "$pack"/{bin,build,lib/hydra,lib/compiler,programs/hydra}

# ---- programs, each started by a wrapper script of the same name ----

# Lists the CUDA libraries that the CUDA parts need, or load when they need them.
cuda=''
if [ -e "$parts" ]; then
    cuda=$(readelf -d "$parts" | sed -nE 's/.*NEEDED.*\[(libcublas)(\.so.*)\]/\1\2 libcupti\2/p')
    [[ $(nm -D "$parts") != *ddpbench_nccl* ]] || cuda+=' libnccl.so.2'
    strip -o "$pack/programs/${parts##*/}" "$parts"
    files+=("$parts")
fi
for program in "${programs[@]}"; do
    mkdir -p "$(dirname "$pack/programs/$program")" "$(dirname "$pack/build/$program")"
    strip -o "$pack/programs/$program" "$build/$program"
    up=${program//[!\/]/}
    # shellcheck disable=SC2016 # expanded by the wrapper script
    printf '#!/bin/sh\nroot=$(cd "${0%%/*}/..%s" && pwd) && program=%s cuda_libraries="%s" && . "$root/bin/start.sh"\n' \
        "${up//\//\/..}" "$program" "$cuda" >"$pack/build/$program"
    chmod +x "$pack/build/$program"
    [[ $program != */* || -z $cuda ]] || ln -sf "${up//\//../}${parts##*/}" "$pack/programs/${program%/*}" # programs look for it beside themselves
done
cp launch/pack/start.sh "$pack/bin"
cp launch/pack/mpirun.sh "$pack/bin/mpirun"
ln -s mpirun "$pack/bin/mpirun.mpich" # scripts prefer this name to mpirun
cp -L "${hydra[0]}" "$pack/programs/hydra/mpirun"
cp -L "${hydra[1]}" "$pack/programs/hydra/hydra_pmi_proxy"

# ---- libraries ----

# needed FILE...: prints the libraries that the files need, except those of glibc and NVIDIA
needed() {
    env -u LD_PRELOAD ldd "$@" | sed -nE 's/^\s*(\S+) => not found.*/not-found:\1/p; s/.* => (\/.*) \(0x[0-9a-f]+\)$/\1/p' | sort -u |
        grep -vE '/(libc|libm|libdl|librt|libpthread|libresolv|libutil|ld-linux[^/]*)\.so|lib(cublas|cublasLt)\.so' || true
}
mapfile -t libraries < <(needed "${files[@]}" "${hydra[@]}")
[[ ${libraries[*]} != *not-found:* ]] || die "this machine lacks the libraries that are marked not-found: ${libraries[*]}"
for library in "${libraries[@]}"; do
    cp -L "$library" "$pack/lib"
    # UCX loads its transport between processes (CMA) by name, from the subdirectory ucx of the directory that has libuct.
    cma=$(dirname "$library")/ucx/libuct_cma.so.0
    if [[ $library == */libuct.so.0 && -e $cma ]]; then
        mkdir "$pack/lib/ucx"
        cp -L "$cma" "$pack/lib/ucx"
    fi
done
mapfile -t libraries < <(needed "${hydra[@]}")
for library in "${libraries[@]}"; do
    ln -s "../$(basename "$library")" "$pack/lib/hydra"
done
# Keep the compiler's libraries apart: they need a newer glibc than the others, and start.sh prefers the target machine's own.
find "$pack/lib" -maxdepth 1 \( -name 'libgcc_s.*' -o -name 'libstdc++.*' \) -exec mv -t "$pack/lib/compiler" {} +
chmod -R u+w "$pack"
find "$pack/lib" "$pack/programs/hydra" -type f -exec strip --strip-unneeded {} +

# ---- scripts, tests, README ----

# Includes the sources of ddp/, because tests/cli/cuda.sh trains on their text.
find launch bench/{VERSION,peers} ddp LICENSE tests/{run.sh,cli/cuda.sh,cli/cuda_profile.sh,support/{cli,here}.sh,support/fixture,gpu/gpu_trace.py,consumers/recompute_trace.py} \
    -type f ! -path '*/__pycache__/*' | grep -vE '^launch/(pack|setup|install|completion)' | tar -cf - -T - | tar -C "$pack" -xf -
# newest_glibc DIRECTORY OPTION...: prints the newest glibc version that files below the directory need
newest_glibc() { grep -rhoaE 'GLIBC_2\.[0-9]+' "$@" | sort -uV | tail -n 1 | cut -d _ -f 2; }
version=$("$build/ddpbench" --version)
sed -e "s|@VERSION@|$version|" -e "s/@MACHINE@/$(uname -m)/" -e "s/@CUDA@/${cuda:-none: this pack was built without CUDA}/" \
    -e "s/@GLIBC@/$(newest_glibc "$pack" --exclude-dir compiler)/" -e "s/@WITHOUT@/$(newest_glibc "$pack/lib/compiler")/" \
    launch/pack/README.md >"$pack/README.md"
begun=
[ -z "$archive" ] || exit 0

# The dictionary of xz must be as large as two programs, so that xz finds the code that all programs contain.
compress() {
    tar -C "$work" --owner=0 --group=0 --numeric-owner --sort=name -c ddpbench-pack | xz -T1 --lzma2=preset=3,dict=64MiB
}
wait_child compress >"$work/pack.tar.xz"
bytes=$(stat -c %s "$work/pack.tar.xz")
[ "$bytes" -le "$most" ] || die "the archive has $bytes bytes, more than $most"
mv -T "$work/pack.tar.xz" "$output"
echo "$output: $(awk -v b="$bytes" 'BEGIN { printf "%.1f", b / 1048576 }') MiB, unpacked $(du -sm "$pack" | cut -f 1) MiB"
