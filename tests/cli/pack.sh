#!/usr/bin/env bash
# pack.sh - the archive of launch/pack.sh works in a root directory with glibc and a shell only. Packs programs of
# BUILD_DIR and runs them in a chroot, which besides glibc and bash has only /proc, /sys and /dev.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

mkdir -p tree/build/ddpbench-pack.tar.xz && cp -r "$root/launch" tree
try tree/launch/pack.sh tree/build ddpbench
check 1 "a directory in the place of the archive is refused" '^pack.sh: build/ddpbench-pack.tar.xz is a directory or a link; remove it$'

bare=$temporary/root
inside=(unshare --mount --pid --fork --kill-child)
[ "$(id -u)" = 0 ] || inside+=(--user --map-root-user)
if [ "$mpi" != mpich ] || ! command -v mpiexec.hydra >/dev/null || ! command -v hydra_pmi_proxy >/dev/null; then
    echo "skip - pack: needs MPICH and its mpirun"
    exit 0
fi
if ! "${inside[@]}" mount -t proc none /proc 2>said; then
    echo "skip - pack: cannot make namespaces here: $(tail -n 1 said)"
    exit 0
fi

mkdir -p "$bare"/{bin,etc,proc,sys,dev,tmp,usr}
succeeds "pack.sh succeeds" "$root/launch/pack.sh" --directory "$bare/pack" "$build" ddpbench tests/unit/kernels/test_device \
    tests/unit/ddp/test_model tests/mpi/comm tests/mpi/parity
[ "$failed" = 0 ] || exit 1
cp -L "$(command -v bash)" "$bare/bin/bash"
ln -s bash "$bare/bin/sh"
linked=$(env -u LD_PRELOAD ldd "$(command -v bash)")
loader=$(awk '$1 ~ /^\// { print $1 }' <<<"$linked")
libc=$(dirname "$(awk '$1 ~ /^libc\./ { print $3 }' <<<"$linked")")
for library in "$loader" "$libc"/lib{c,m,dl,rt,pthread,resolv}.so.[0-9] $(awk '/=> \// { print $3 }' <<<"$linked"); do
    mkdir -p "$bare/$(dirname "$library")"
    cp -L "$library" "$bare/$library"
done
echo "127.0.0.1 localhost $(cat /proc/sys/kernel/hostname)" >"$bare/etc/hosts"

# alone COMMAND...: runs the command by `try` in the chroot, where the unpacked archive is in /pack.
alone() {
    # shellcheck disable=SC2016 # expanded by the inner shells
    try "${inside[@]}" bash -euc '
        mount -t proc none "$0/proc"; mount --rbind /sys "$0/sys"; mount --rbind /dev "$0/dev"
        exec env -i PATH=/bin OMP_NUM_THREADS=1 "$(command -v chroot)" "$0" /bin/bash -c "cd /pack && exec \"\$@\"" bash "$@"' \
        "$bare" "$@"
    cat printed >>said
}
is "the archive's page names the version" "$(head -n 1 "$bare/pack/README.md")" "# $("$program" --version), packed for $(uname -m)"
ranks=(bin/mpirun -n 2)
tiny=(--d-model 32 --num-layers 2 --num-heads 2 --d-ff 48 --context-length 16 --batch-size 2 --vocab-size 64 --rounds 3)

alone "${ranks[@]}" build/ddpbench "${tiny[@]}" --implementations none,ddp,ddp_bucketed --output out
check 0 "the benchmark runs on 2 ranks" '^No verdict: too few rounds'
is "the benchmark writes its results" "$(cd "$bare/pack/out" && ls run.json summary.json summary.csv)" $'run.json\nsummary.csv\nsummary.json'
for name in base today; do
    alone "${ranks[@]}" build/ddpbench allreduce -b 8 -e 32K -f 8 --output "$name"
    check 0 "allreduce runs on 2 ranks, for $name" '^ +32768 .*'
done
alone build/ddpbench compare base --candidate today
result "$([[ $status == [034] ]] && echo 0 || echo 1)" "compare judges the two runs of allreduce (status $status)"
for name in unit/kernels/test_device unit/ddp/test_model mpi/comm; do
    alone ${name:+$([ "$name" != mpi/comm ] || echo "${ranks[@]}")} "build/tests/$name"
    check 0 "$name passes on the CPU" '^100%: Checks: [1-9][0-9]*, Failures: 0, Errors: 0'
done
succeeds "tests/run.sh of the pack finds its files" "$bare/pack/tests/run.sh" --help
alone "${ranks[@]}" -genv CK_RUN_CASE core build/tests/mpi/parity # not the environment, which the chroot starts without
check 0 "mpi/parity passes on the CPU" '^100%: Checks: [1-9][0-9]*, Failures: 0, Errors: 0'

if command -v python3 >/dev/null; then
    succeeds "gpu_trace.py of the pack finds what it imports" python3 "$bare/pack/tests/gpu/gpu_trace.py" --help
fi

# ---- bench_gpu.sh, interrupted and continued, with fake programs ----

there=$temporary/there
mkdir -p "$there/build" "$there/bin"
cp -r "$bare/pack/launch" "$there"
# shellcheck disable=SC2016 # expanded by the fake programs
{
    printf '#!/bin/sh\necho GPU 0: made up\n' >"$there/bin/nvidia-smi"
    printf '#!/bin/sh\necho "$@" >>"$0.calls"\n' >"$there/build/bench_kernels"
    printf '#!/bin/sh\n' >"$there/bin/mpirun"
    printf '#!/bin/sh\necho begun; read -r word <"$0.word"\n' >"$there/build/bench_step" # blocks until the pipe is written to
}
chmod +x "$there"/b*/*
mkfifo "$there/build/bench_step.word"
measure=(env PATH="$there/bin:$PATH" "$there/launch/bench_gpu.sh" --python false --output "$temporary/measured" kernels step)
try "${measure[@]}" --minutes 0.01
check 7 "no measurement fits in --minutes 0.01" '0 measurements ended; LEFT, about 76 s: kernels-bf16 step step-50257 step-cublaslt .the longest needs --minutes 2.; SKIPPED: torch '
setsid "${measure[@]}" >/dev/null 2>said &
wait_until [ -s measured/step/output.txt ] || true
# Kills all processes of the session, as the end of a container does; stops the script first, so that it starts no new process.
{ kill -STOP "$!" && cat /proc/[0-9]*/stat | awk -v session="$!" '$6 == session { print $1 }' | xargs kill -KILL && wait "$!"; } 2>/dev/null || true
is "a killed measurement keeps its output" "$(cat measured/step/output.txt)" begun
is "a killed measurement has no status" "$(cd measured && ls ./*/status)" ./kernels-bf16/status
printf '#!/bin/sh\necho done\ncase $* in *50257*) exit 4 ;; esac\n' >"$there/build/bench_step"
try "${measure[@]}"
check 1 "the same call measures the rest, and names failed measurements" '4 measurements ended; FAILED: step-50257 '
is "the same call measures nothing twice" "$(wc -l <"$there/build/bench_kernels.calls")" 1
is "all measurements have a status" "$(cd measured && cat {kernels-bf16,step,step-50257,step-cublaslt}/status | xargs)" '0 0 4 0'
printf '#!/bin/sh\n' >"$there/build/bench_step"
try "${measure[@]}"
check 0 "a failed measurement is repeated" 'step: ended earlier with status 0'

# ---- CUDA's libraries ----

if [ ! -e "$bare/pack/programs/libddpbench_cuda.so" ]; then
    echo "skip - CUDA's libraries: this build has no CUDA"
    exit "$failed"
fi
alone build/ddpbench --version
check 0 "without CUDA's libraries the program starts and reports that" '^pack: computing on CPUs; not found: libcublas'
alone bash -c 'PMI_RANK=1 build/ddpbench --version'
is "only rank 0 reports missing libraries" "$(grep -c '^pack: ' said)" 0
for name in ddpbench tests/unit/ddp/test_model; do
    alone bash -c "TEST_DEVICE=cuda build/$name --device cuda 2>&1"
    succeeds "$name finds the CUDA parts, which lack a library" grep -q "CUDA parts, libddpbench_cuda.so, cannot be opened: libcublas" printed
done
mkdir -p "$bare/usr/local/cuda/lib64"
cublas=$(sed -nE 's/.*(libcublas[^" ]*).*/\1/p' "$bare/pack/build/ddpbench")
touch "$bare/usr/local/cuda/lib64/$cublas" # good enough for a program that does not open the CUDA parts
alone build/ddpbench --version
check 0 "an installed CUDA toolkit is found" '^pack: computing on GPUs is possible; libcublas[^ ]* from /usr/local/cuda/lib64; not found: libcupti'

exit "$failed"
