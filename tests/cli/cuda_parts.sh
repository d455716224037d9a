#!/usr/bin/env bash
# cuda_parts.sh - the shared object with the program's CUDA parts: where it is found, when it is opened, what is printed if it
# or something in it is missing, and when make builds it. Tests copies of BUILD_DIR/emulated/ddpbench, with an emulated GPU.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

name=libddpbench_cuda.so emulated=$build/emulated
[ -e "$emulated/$name" ] || { say "there is no $emulated/$name; build it first"; exit 2; }
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0:verify_asan_link_order=0 EMULATED_CUDA_GPUS=2
tiny=(--d-model 32 --num-layers 1 --num-heads 2 --d-ff 48 --context-length 16 --batch-size 2 --vocab-size 64 --rounds 1)
mkdir bin && cp "$emulated/ddpbench" bin
# run RANKS OPTION...: runs the copy in bin.
run() {
    rm -rf out
    try "${mpirun[@]}" -n "$1" bin/ddpbench "${tiny[@]}" --implementations ddp --output out "${@:2}"
}
# field NAME: prints the field of the last run that follows the options in run.json.
field() { sed -nE "s/^\t*\"$1\":\t\"(.*)\",\$/\1/p" out/run.json | tail -n 1; }

# ---- what is linked ----

needed() { readelf -d "$1" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p'; }
is "the program links no library of CUDA or C++" "$(needed "$program" | grep -E 'cuda|cublas|nccl|cupti|stdc')" ""
for object in "$emulated/$name" "$build/$name"; do
    [ -e "$object" ] || { echo "skip - the exported names of real CUDA parts: built without them"; continue; }
    is "${object#"$build/"} exports only its tables of functions" "$(nm -D --defined-only "$object" | cut -d ' ' -f 3 | sort | xargs)" \
        "ddpbench_accelerator ddpbench_nccl ddpbench_start ddpbench_tracer"
done
[ ! -e "$build/$name" ] || is "real CUDA parts link cuBLAS, and no optional library" "$(needed "$build/$name" | grep -oE '^lib(cu|nccl)[a-zA-Z]*' | xargs)" "libcublas libcublasLt"

# ---- no CUDA parts ----

without='this program was built without its CUDA parts: there is no libddpbench_cuda.so beside it; install the CUDA toolkit'
run 2 --device cuda
check 1 "--device cuda without CUDA parts is an error" "^ddpbench: $without"
is "the error is printed once" "$(grep -c 'CUDA parts' said)" 1
LD_PRELOAD="made_up_names.so${LD_PRELOAD:+:$LD_PRELOAD}" MADE_UP_DEVICE=/dev/nvidiactl run 2
check 0 "with a GPU, --device auto computes on the CPU and prints the reason" "^ddpbench: computing on the CPU: $without"
is "the reason is printed once" "$(grep -c 'CUDA parts' said) $(field device)" "1 cpu"
if [ -e /dev/nvidiactl ]; then
    echo "skip - without a GPU, --device auto prints nothing: this machine has one"
else
    run 1
    is "without a GPU, --device auto computes on the CPU and prints nothing about CUDA" "$status $(grep -c CUDA said) $(field device)" "0 0 cpu"
fi

# ---- where they are ----

mkdir -p lib/ddpbench elsewhere && cp "$emulated/$name" lib/ddpbench
run 1 --device cuda
is "CUDA parts in ../lib/ddpbench are found" "$status $(field device)" "0 cuda"
ln -s ../bin/ddpbench elsewhere
try elsewhere/ddpbench "${tiny[@]}" --implementations none --device cuda --output linked
check 0 "a link to the program finds them too" ''
mv "lib/ddpbench/$name" bin
run 2
is "CUDA parts beside the program are found, and --device auto uses them" "$status $(field device)" "0 cuda"

# ---- CUDA parts that cannot be used ----

read -ra compiler <<<"${CC:-cc}"

# fake CODE OPTION...: replaces the CUDA parts of bin by a shared object of this code.
fake() {
    printf '%s\n' "$1" >fake.c
    succeeds "${1%%(*}: a shared object is made" "${compiler[@]}" -shared -fPIC -o "bin/$name" fake.c "${@:2}"
}
fake '__attribute__((constructor)) void opened(void) { write(2, "opened\n", 7); }' -w
for words in --version --help 'compare --help' "compare out --candidate out" "report out --output page.html" 'predict out' "--device cpu ${tiny[*]} --implementations none --output cpu"; do
    read -ra options <<<"$words"
    try bin/ddpbench "${options[@]}"
    is "ddpbench ${words:0:30} does not open them" "$(grep -c opened said)" 0
done
run 1 --device cuda
check 1 "parts of another build are refused" "^ddpbench: .*/bin/$name is of version unknown, and this program of version .*: build both with make CUDA=1$"
is "they were opened" "$(grep -c opened said)" 1
fake 'const char *ddpbench_start(void) { return "0.1 old"; }'
run 1 --device cuda
check 1 "the other version is named" "is of version 0.1 old, and this program of version"
"${compiler[@]}" -shared -fPIC -Wl,-soname,libabsent.so.7 -o libabsent.so -x c - <<<'int absent(void) { return 0; }'
fake 'int absent(void); int use(void) { return absent(); }' libabsent.so
run 1 --device cuda
check 1 "a library that they need is named" "^ddpbench: the program's CUDA parts, $name, cannot be opened: libabsent[.]so[.]7: .*; install what is missing, or add its directory to LD_LIBRARY_PATH$"

# ---- CUDA parts that were built without NCCL and CUPTI ----

mapfile -t objects < <(find "$emulated/obj/kernels/cuda" -name '*.o' ! -name '*cupti*')
"${CXX:-g++}" -shared -fsanitize=address,undefined -o "bin/$name" "${objects[@]}" "$emulated"/obj/kernels/{activity,timeline}.o \
    -Wl,--version-script="$root/kernels/cuda/exported.map" || true
run 2 --comm nccl
check 1 "without NCCL, --comm nccl is an error" "^ddpbench: --comm nccl: the program's CUDA parts were built without NCCL; install it"
run 2
is "without NCCL, --comm auto takes MPI" "$status $(field device) $(field comm)" "0 cuda mpi"
latest "${tiny[@]}" --rounds 0 --num-epochs 4 --warmup-epochs 2 --device cuda --profile --profile-output-dir profile
try bin/ddpbench "${latest[@]}"
grep -rqh "the program's CUDA parts were built without CUPTI" profile/*_summary.txt said && found=0 || found=1
result "$found" "without CUPTI, a profile names what is missing"

# ---- installed, and what make builds ----

succeeds "install.sh succeeds" "$root/launch/install.sh" "$emulated/ddpbench" "$PWD/usr"
try usr/bin/ddpbench "${tiny[@]}" --implementations none --device cuda --output installed
check 0 "an installed program finds its CUDA parts" ''
succeeds "install.sh --uninstall succeeds" "$root/launch/install.sh" --uninstall "$PWD/usr"
is "uninstalling removes them" "$(find usr -name '*ddpbench*')" ""

if command -v make >/dev/null; then
    mkdir -p "toolkit/bin"
    printf '#!/bin/sh\necho sm_90\n' >toolkit/bin/nvcc && chmod +x toolkit/bin/nvcc
    # made VARIABLE... TARGET: prints what make would do with a made-up nvcc in a new build directory.
    made() { env -u MAKEFLAGS -u MAKELEVEL -u CUDA make -n -C "$root" SETTING=made-up CUDA_HOME="$PWD/toolkit" "$@" 2>&1; }
    is "CUDA=1 builds the CUDA parts" "$(made CUDA=1 program | grep -c "$name .*-lcublas")" 1
    is "CUDA=0 does not, and removes them" "$(made CUDA=0 program | grep -cE 'bin/nvcc|lcublas') $(made CUDA=0 program | grep -c "^rm -f build/made-up/$name")" "0 1"
    succeeds "CUDA=1 without nvcc is an error" grep -q 'CUDA=1: there is no nvcc .*CUDA_HOME' <(made CUDA=1 CUDA_HOME="$PWD/absent" program || true)
    if compgen -G '/dev/nvidia*' >/dev/null; then
        succeeds "with a GPU, they are built by default" grep -q "$name .*-lcublas" <(made program)
    else
        is "without a GPU, they are not built by default" "$(made program | grep -cE 'bin/nvcc|lcublas')" 0
        is "the last line of make names CUDA=1" "$(made all | grep -c 'Built for CPUs only.*make CUDA=1')" 1
    fi
else
    echo "skip - what make builds: no make"
fi
exit "$failed"
