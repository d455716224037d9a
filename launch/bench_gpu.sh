#!/usr/bin/env bash
# bench_gpu.sh - measures this machine's GPUs, one command after the other, and compares with kept results.
set -euo pipefail

usage() {
    cat <<'END'
Usage: launch/bench_gpu.sh [--output DIR] [--reference DIR] [--python PROGRAM] [--dry-run], by `make bench-gpu`
  --output DIR      where results go (default: results/gpu-<time>): a directory NAME for each measurement, in it
                    output.txt, and for commands of ddpbench their results; provenance.txt
  --reference DIR   an earlier output: each result is compared with the one of its name by ddpbench compare
  --python PROGRAM  a Python with PyTorch, measured too (default: python3; skipped where it has none)
  --dry-run         prints the commands instead of running them; needs no GPU
  --help
A measurement that fails does not keep the others. Exit status: 1 if one failed, else the highest of the comparisons.
END
}

say() { echo "bench_gpu.sh: $*" >&2; }

output='' reference='' python=python3 dry_run=''
while [ $# -gt 0 ]; do
    case $1 in
    --help) usage; exit 0 ;;
    --dry-run) dry_run=1; shift; continue ;;
    --output | --reference | --python) [ -n "${2:-}" ] || { say "$1 needs a value"; exit 2; } ;;
    *) say "unknown option '$1'; known are --output, --reference, --python, --dry-run, --help"; exit 2 ;;
    esac
    case $1 in
    --output) output=$(realpath -m -- "$2") ;;
    --reference) reference=$(realpath -e -- "$2") || exit 2 ;;
    *) python=$2 ;;
    esac
    shift 2
done
[[ $python != */* ]] || python=$(realpath -ms -- "$python") # a link of a virtual environment stays one
cd "$(dirname "$0")/.."
output=${output:-results/gpu-$(date +%Y%m%d-%H%M%S)}
gpus=$([ -n "$dry_run" ] && echo 2 || nvidia-smi -L 2>/dev/null | grep -c '^GPU ' || true)
[ "$gpus" -gt 0 ] || { say "nvidia-smi -L lists no NVIDIA GPU here"; exit 1; }
[ ! -e "$output" ] || { say "$output is there already; choose another --output"; exit 1; }

failed='' worst=0
# measure NAME COMMAND...: at most ten minutes, so that one that hangs does not keep the others.
measure() {
    local name=$1 status=0 && shift
    say "$name: $*"
    [ -z "$dry_run" ] || return 0
    mkdir -p "$output/$name"
    timeout --foreground --kill-after=10 600 "$@" </dev/null 2>&1 | tee "$output/$name/output.txt" || failed+=" $name"
    [ -n "$reference" ] && [ -e "$output/$name/summary.json" ] || return 0
    build/ddpbench compare "$reference/$name" "$output/$name" | tee "$output/$name/compared.txt" || status=$?
    [ "$status" -le "$worst" ] || worst=$status
}
provenance() {
    date --iso-8601=seconds
    git describe --always --dirty --tags
    uname -srm
    lscpu | grep -E '^(Model name|CPU\(s\))'
    "${NVCC:-nvcc}" --version || "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" --version
    "$python" -c 'import torch; print("PyTorch", torch.__version__, "CUDA", torch.version.cuda)'
    nvidia-smi
    nvidia-smi -q -d CLOCK,PERFORMANCE,POWER,TEMPERATURE
}
[ -n "$dry_run" ] || { mkdir -p "$output"; provenance >"$output/provenance.txt" 2>&1 || true; }

mpirun=$(command -v mpirun.mpich || command -v mpirun || echo mpirun)
on=(--device cuda --dtype bf16) ranks=("$mpirun" -n "$gpus" build/ddpbench)
for dtype in fp32 bf16; do measure "kernels-$dtype" build/bench_kernels --device cuda --dtype "$dtype"; done
measure step build/bench_step "${on[@]}"
measure step-large build/bench_step "${on[@]}" --d-model 1600 --num-heads 25 --d-ff 6400 --num-layers 24
measure benchmark "${ranks[@]}" "${on[@]}" --bucket-size-mb 25 --rounds 20 --output "$output/benchmark"
measure profile/ddp_bucketed "${ranks[@]}" "${on[@]}" --bucket-size-mb 25 --rounds 60 --profile \
    --profile-implementation ddp_bucketed --profile-output-dir "$output/profile"
[ "$gpus" = 1 ] ||
    measure allreduce "${ranks[@]}" allreduce --device cuda --comm nccl -b 8 -e 1G -f 2 --output "$output/allreduce"
if [ -n "$dry_run" ] || "$python" -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
    measure peers bench/peers/compare.sh --ranks "$gpus" --python "$python" --repeats 3 \
        --implementations none,ddp_bucketed --output "$output/peers/runs" -- "${on[@]}" --bucket-size-mb 25 --rounds 5
fi

[ -z "$failed" ] || { say "FAILED:$failed; each has its output.txt in $output"; exit 1; }
exit "$worst"
