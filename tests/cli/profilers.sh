#!/usr/bin/env bash
# profilers.sh - tests launch/nsys.sh and launch/ncu.sh with programs that stand in for NVIDIA's: what they are called
# with, on which ranks, and what is said where they cannot be.
set -euo pipefail

usage() {
    cat <<'END'
Usage: tests/cli/profilers.sh [--help] BUILD_DIR
Runs launch/nsys.sh and launch/ncu.sh of this tree. Prints a line per check.
END
}

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

# ---- programs that stand in: each writes down how it was called, and runs what it is to measure ----
mkdir bin
cat >bin/nsys <<'END'
#!/usr/bin/env bash
echo "nsys${PMI_RANK:+ rank $PMI_RANK}${SLURM_PROCID:+ task $SLURM_PROCID}: $*" >>"$HEARD/nsys.${PMI_RANK:-${SLURM_PROCID:-one}}"
[ "$1" = profile ] || exit 3
shift
while [[ ${1:-} == --* ]]; do shift; done
exec "$@"
END
cat >bin/ncu <<'END'
#!/usr/bin/env bash
echo "ncu${PMI_RANK:+ rank $PMI_RANK}: $*" >>"$HEARD/ncu.${PMI_RANK:-${SLURM_PROCID:-one}}"
while [[ ${1:-} == --* ]]; do
    case $1 in
    --nvtx | --force-overwrite) shift ;;
    *) shift 2 ;;
    esac
done
exec "$@"
END
cat >bin/srun <<'END'
#!/usr/bin/env bash
while [[ ${1:-} == --* ]]; do shift; done
for task in 0 1 2; do SLURM_PROCID=$task "$@" || exit; done
END
cat >bin/measured <<'END'
#!/usr/bin/env bash
echo "rank ${SLURM_PROCID:-${PMI_RANK:-none}}:$(printf ' [%s]' "$@")" >>"$HEARD/program"
exit "${MEASURED_STATUS:-0}"
END
chmod +x bin/*
export HEARD=$temporary/heard PATH=$temporary/bin:$PATH
# The folder's name tells whether it was kept: neither has to find the real ones.
heard() { cat "$HEARD/$1" 2>/dev/null || true; }
fresh() {
    rm -rf "$HEARD"
    mkdir "$HEARD"
}
nsys=$root/launch/nsys.sh ncu=$root/launch/ncu.sh
flags='--trace=cuda,nvtx,cublas,mpi --mpi-impl=mpich --sample=none --cpuctxsw=none --force-overwrite=false'

# ---- one process ----
fresh
try "$nsys" -- measured 'a b' --profile
is "nsys, one process: its flags" "$(heard nsys.one)" "nsys: profile $flags --output=nsys/rank_0 measured a b --profile"
is "nsys, one process: the program's arguments" "$(heard program)" "rank none: [a b] [--profile]"
is "nsys makes the folder" "$(ls -d nsys)" nsys
fresh
try "$nsys" -o 'my reports' --trace cuda,nvtx --overwrite -- measured --profile --cuda-profiler-range
is "nsys, with a range and options" "$(heard nsys.one)" "nsys: profile --trace=cuda,nvtx --mpi-impl=mpich --sample=none \
--cpuctxsw=none --force-overwrite=true --output=my reports/rank_0 --capture-range=cudaProfilerApi --capture-range-end=stop \
measured --profile --cuda-profiler-range"
fresh
try "$ncu" -- measured x
is "ncu, one process: its flags" "$(heard ncu.one)" "ncu: --target-processes all --set basic --kernel-name \
regex:.*(_kernel|gemm|gemv|cutlass|nvjet).* --launch-count 100 --nvtx --export ncu/rank_0 measured x"
is "ncu, one process: the program's arguments" "$(heard program)" "rank none: [x]"
fresh
try "$ncu" --set full --kernels 'rope.*' --launches 5 --overwrite -o d -- measured --cuda-profiler-range
is "ncu, with a range and options" "$(heard ncu.one)" "ncu: --target-processes all --set full --kernel-name regex:rope.* \
--launch-count 5 --nvtx --export d/rank_0 --force-overwrite --profile-from-start off measured --cuda-profiler-range"
for tool in "$nsys" "$ncu"; do
    MEASURED_STATUS=7 try "$tool" -- measured
    is "$(basename "$tool"): the program's exit status" "$status" 7
done
# NCCL's kernels cannot be run again by one rank; ours and cuBLAS's are meant
chosen='^.*(_kernel|gemm|gemv|cutlass|nvjet).*$'
for name in rmsnorm_forward_kernel sm90_xmma_gemm_bf16f32 cutlass_80_tensorop nvjet_hsh_128x256; do
    succeeds "ncu measures $name" grep -qE "$chosen" <<<$name
done
is "ncu leaves NCCL alone" "$(grep -cE "$chosen" <<<ncclDevKernel_AllReduce_Sum_f32_RING_LL)" 0

# ---- ranks ----
fresh
MPIRUN="${mpirun[*]}" try "$nsys" -n 3 -- measured x
is "nsys on three ranks" "$status $(cat "$HEARD"/nsys.* | sort)" "0 $(for r in 0 1 2; do
    echo "nsys rank $r: profile $flags --output=nsys/rank_%q{PMI_RANK} measured x"
done)"
is "and the program on each" "$(heard program | sort)" "$(printf 'rank %s: [x]\n' 0 1 2)"
fresh
MPIRUN="${mpirun[*]}" try "$nsys" -n 2 --one-report -- measured x
is "nsys around two ranks" "$(heard nsys.one)" "nsys: profile $flags --output=nsys/all_ranks $root/launch/run.sh -n 2 -- measured x"
is "which run" "$(heard program | sort)" "$(printf 'rank %s: [x]\n' 0 1)"
fresh
MPIRUN="${mpirun[*]}" try "$ncu" -n 3 --rank 1 -- measured 'a b'
is "ncu on one rank of three" "$(cat "$HEARD"/ncu.*)" "ncu rank 1: --target-processes all --set basic --kernel-name \
regex:.*(_kernel|gemm|gemv|cutlass|nvjet).* --launch-count 100 --nvtx --export ncu/rank_%q{PMI_RANK} measured a b"
is "and the program on all" "$(heard program | sort)" "$(printf 'rank %s: [a b]\n' 0 1 2)"
fresh
SRUN='srun --mpi=pmi2' try "$nsys" --slurm -- measured x
is "nsys by Slurm" "$status $(cat "$HEARD"/nsys.* | sort)" "0 $(for r in 0 1 2; do
    echo "nsys task $r: profile $flags --output=nsys/rank_%q{SLURM_PROCID} measured x"
done)"
fresh
try "$ncu" --slurm --rank 2 -- measured x
is "ncu by Slurm, on one task" "$(ls "$HEARD")" "$(printf 'ncu.2\nprogram\n')"
is "and the program on all tasks" "$(heard program)" "$(printf 'rank %s: [x]\n' 0 1 2)"

# ---- only said ----
fresh
try "$nsys" --dry-run -n 2 -- measured 'a b'
is "--dry-run prints the command" "$status $(cat printed)" "0 $root/launch/run.sh -n 2 -- nsys profile \
${flags//,/\\,} --output=nsys/rank_%q\\{PMI_RANK\\} measured a\\ b "
is "and runs nothing" "$(ls "$HEARD")" ""
for tool in "$nsys" "$ncu"; do
    try "$tool" --help
    is "$(basename "$tool") --help" "$status $(head -1 printed)" "0 Usage: launch/$(basename "$tool") [OPTION...] -- PROGRAM [ARGUMENT...]"
done

# ---- what cannot be ----
mkdir less
for name in bash dirname basename mkdir timeout; do ln -s "$(command -v $name)" less/$name; done
cp bin/measured less
PATH=$temporary/less CUDA_HOME=/nowhere try "$nsys" -- measured
check 1 "nsys is not installed" 'there is no nsys; it comes with NVIDIA Nsight Systems'
PATH=$temporary/less CUDA_HOME=/nowhere try "$ncu" -- measured
check 1 "ncu is not installed" 'there is no ncu; it comes with NVIDIA Nsight Compute'
cp bin/nsys less
PATH=$temporary/less try "$nsys" --slurm -- measured
check 1 "Slurm is not there" 'there is no srun; --slurm is for jobs of Slurm'
mkdir -p cuda/bin
mv less/nsys cuda/bin
fresh
PATH=$temporary/less CUDA_HOME=$temporary/cuda try "$nsys" -- measured
is "nsys of the toolkit, off PATH" "$status $(ls "$HEARD")" "0 $(printf 'nsys.one\nprogram')"

refused() {
    local words=$1
    shift
    try "$@"
    check 2 "$(basename "$1") ${*:2}" "$words"
}
refused 'which program' "$nsys"
refused 'which program' "$ncu" --
refused "no program 'nothing'" "$nsys" -- nothing
refused "unknown option 'measured'" "$nsys" measured
refused "unknown option '--fast'; known are" "$ncu" --fast -- measured
refused 'expected a whole number from 1' "$nsys" -n 0 -- measured
refused 'needs a value' "$nsys" -n
refused '--slurm takes the ranks of the job' "$nsys" --slurm -n 2 -- measured
refused '--one-report is for the ranks' "$nsys" --one-report -- measured
refused 'expected a list' "$nsys" --trace 'a b' -- measured
refused 'there is one process' "$ncu" --rank 1 -- measured
refused 'there are 2 ranks' "$ncu" -n 2 --rank 2 -- measured
refused '--rank x: expected' "$ncu" -n 2 --rank x -- measured
refused '--set needs a value' "$ncu" --set
refused '--launches 0' "$ncu" --launches 0 -- measured

exit "$failed"
