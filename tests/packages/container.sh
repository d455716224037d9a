#!/usr/bin/env bash
# container.sh - packaging/Containerfile: buildah builds its images from the archive of the last commit, on a root of Debian by
# debootstrap in place of a registry's image, with MPICH, with Open MPI and, where there is nvcc, with the CUDA parts; the
# program runs in them. Needs root, buildah, debootstrap and Debian's packages. Takes some minutes.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"
limit=1800
export BUILDAH_ISOLATION=chroot # also works in a container, and without control groups

# skip REASON: says that no image can be built here, and ends the script.
skip() {
    echo "skip - the images: $1"
    exit "$failed"
}

[ "$(id -u)" = 0 ] || skip "this needs root"
for tool in buildah debootstrap; do command -v $tool >/dev/null || skip "$tool is not installed"; done
[ -e "$root/.git" ] || skip "the sources are no repository of git, of which make dist makes an archive"

builder=(buildah --root "$temporary/storage" --runroot "$temporary/storage-run")

# A root of Debian 12, from the mirror and with the settings of this machine's apt.
# shellcheck disable=SC2016 # expanded by apt-get
mirror=$(apt-get indextargets --format '$(SITE)' 'Codename: bookworm' 2>/dev/null | sort -u | head -n 1) || true
debootstrap --variant=minbase bookworm base ${mirror:+"$mirror"} >said 2>&1 || skip "debootstrap cannot make a root: $(tail -n 1 said)"
cp -r /etc/apt/apt.conf.d/. base/etc/apt/apt.conf.d/
base=$("${builder[@]}" from scratch)
"${builder[@]}" add -q "$base" base / >/dev/null
"${builder[@]}" commit -q --rm "$base" localhost/base >/dev/null
rm -rf base

succeeds "make dist makes the archive" env -u MAKEFLAGS -u MAKELEVEL make -C "$root" --no-print-directory CUDA=0 dist
mkdir archive
cp "$root"/build/ddpbench-*.tar.gz archive

# image NAME OPTION...: builds an image as the Containerfile's opening comment tells, and makes a container of it, `image`.
image() {
    try "${builder[@]}" build --build-arg BASE=localhost/base -t "localhost/$1" -f "$root/packaging/Containerfile" "${@:2}" archive
    check 0 "the image $1 is built" ''
    [ "$status" = 0 ] || exit
    is "its last step checks the program, with one rank and with two" "$(grep -cE '^0 of [0-9]+ checks failed' printed)" 2
    image=$("${builder[@]}" from "localhost/$1")
}

# inside WORD...: runs words in the container; sets printed, said and status.
inside() { try "${builder[@]}" run "$image" -- "$@"; }

for mpi in mpich openmpi; do
    image $mpi --build-arg MPI=$mpi
    # shellcheck disable=SC2016 # expanded in the container
    inside sh -c 'id -un; pwd; ddpbench --version; ls /usr/local/share/doc/ddpbench/LICENSE; command -v gcc'
    is "$mpi: a user without privileges, the program, its licence and no compiler" "$(cat printed)" \
        "$(printf '%s\n' ddpbench /results "ddpbench $(cut -d ' ' -f 1 "$root/bench/VERSION" | head -n 1) ($(git -C "$root" rev-parse --short HEAD))" /usr/local/share/doc/ddpbench/LICENSE)"
    inside ddpbench-run -n 2 -- ddpbench --d-model 32 --num-layers 1 --num-heads 2 --d-ff 48 --context-length 16 --batch-size 4 \
        --vocab-size 256 --rounds 2 --output one
    check 0 "$mpi: two ranks run, and write below the working directory" 'Results: one'
    "${builder[@]}" rm "$image" >/dev/null
done
toolkit=$(realpath -m "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")
if [ -x "$toolkit" ]; then
    image cuda --build-arg CUDA=1 --volume "${toolkit%/bin/nvcc}:/usr/local/cuda:ro"
    inside sh -c 'ls /usr/local/lib/ddpbench && ldconfig -p | grep -o "libcupti[^ ]*" | head -n 1'
    is "the image for GPUs has the CUDA parts, and CUPTI" "$(tr '\n' ' ' <printed)" "libddpbench_cuda.so $(cd "${toolkit%/bin/nvcc}" && find -L . -name 'libcupti.so.??' -printf '%f\n' -quit) "
else
    echo "skip - the image for GPUs: there is no nvcc"
fi
exit "$failed"
