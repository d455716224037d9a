#!/usr/bin/env bash
# bench_gpu.sh - measures the program on this machine's GPUs, in less than ten minutes: kernels, steps, strategies,
# profiling, PyTorch beside, and collectives where there are several; with what it was measured on.
set -euo pipefail

usage() {
    cat <<'END'
Usage: launch/bench_gpu.sh [--output DIR] [--python PROGRAM] [--dry-run], by `make bench-gpu`, which builds the programs
  --output DIR      where all of it goes (default results/gpu-<time>)
  --python PROGRAM  a Python that has PyTorch, to measure beside (default python3; left out where it has none)
  --dry-run         prints the commands instead of running them; needs no GPU
  --help
Leaves a file NAME.txt for each measurement NAME (NAME.log: what it said meanwhile), tables *.tsv, results of ddpbench, the
machine in provenance.txt, and in aims.txt the figures against the aims of this project, which are printed at the end.
Exits with status 1 if a measurement failed; the others are made all the same.
END
}

say() { echo "bench_gpu.sh: $*" >&2; }

output='' python=python3 dry_run=''
while [ $# -gt 0 ]; do
    case $1 in
    --help) usage; exit 0 ;;
    --dry-run) dry_run=1; shift ;;
    --output | --python)
        [ -n "${2:-}" ] || { say "$1 needs a value"; exit 2; }
        case $1 in
        --output) output=$(realpath -m -- "$2") ;; # from where the user stands
        --python) python=$2 ;;
        esac
        shift 2
        ;;
    *) say "unknown option '$1'; known are --output, --python, --dry-run and --help"; exit 2 ;;
    esac
done
[[ $python != */* ]] || python=$(realpath -ms -- "$python") # a link of a virtual environment stays one

cd "$(dirname "$0")/.."
output=${output:-results/gpu-$(date +%Y%m%d-%H%M%S)}
mpirun=$(command -v mpirun.mpich || command -v mpirun || echo mpirun)
gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU ' || true)

failed=() child='' limit_seconds=400 # of a measurement, so that one that hangs does not keep the others
# timeout has a process group of its own, which a key press on the terminal does not reach
stop() { [ -z "$child" ] || kill "$child" 2>/dev/null || true; }
trap 'stop; exit 130' INT
trap 'stop; exit 143' TERM

# measure NAME COMMAND...: what it prints goes to NAME.txt, what it says meanwhile to NAME.log.
measure() {
    local name=$1 begin=$SECONDS status=0
    shift
    if [ -n "$dry_run" ]; then
        printf '%s:' "$name"
        printf ' %q' "$@"
        printf '\n'
        return
    fi
    say "$name"
    timeout --kill-after=10 "$limit_seconds" "$@" >"$output/$name.txt" 2>"$output/$name.log" </dev/null &
    child=$!
    wait "$child" || status=$?
    child=
    echo "$name $((SECONDS - begin)) s, status $status" >>"$output/seconds.txt"
    [ "$status" != 0 ] || return 0
    failed+=("$name")
    case $status in
    124 | 137) say "$name FAILED: it took longer than $limit_seconds s or was killed" ;;
    *) say "$name FAILED:" ;;
    esac
    tail -5 "$output/$name.log" >&2
}

# ---- the machine ----

clocks() {
    echo "==== clocks $1"
    nvidia-smi -q -d CLOCK,PERFORMANCE,POWER,TEMPERATURE
}

provenance() {
    date --iso-8601=seconds
    echo "source $(git describe --always --dirty --tags 2>/dev/null || echo unknown), $(build/ddpbench --version)"
    uname -srm
    lscpu | grep -E '^(Model name|CPU\(s\)|NUMA node\(s\))' || true
    "$python" -c 'import torch; print("PyTorch", torch.__version__, "CUDA", torch.version.cuda, "cuDNN", torch.backends.cudnn.version())' \
        2>/dev/null || echo "no PyTorch"
    nvidia-smi --query-gpu=name,uuid,driver_version,memory.total,power.limit --format=csv
    nvidia-smi -q | grep -E 'Driver Version|CUDA Version|VBIOS Version|Persistence Mode|MIG Mode|Current +:|Compute Mode' || true
    clocks before
}

if [ -n "$dry_run" ]; then
    [ "$gpus" -gt 0 ] || gpus=1
else
    command -v nvidia-smi >/dev/null || { say "no NVIDIA GPU here: there is no nvidia-smi, which comes with the driver"; exit 1; }
    [ "$gpus" -gt 0 ] || { say "no NVIDIA GPU here: nvidia-smi -L lists none"; exit 1; }
    for program in ddpbench bench_kernels bench_step; do
        [ -x build/$program ] || { say "build/$program is not built; run make bench-gpu"; exit 1; }
    done
    [ ! -e "$output" ] || { say "$output is there already; choose another --output"; exit 1; }
    mkdir -p "$output"
    provenance >"$output/provenance.txt"
    say "$(nvidia-smi -L | head -1 | sed 's/ (.*//'), $gpus in all; results go to $output"
    if ! "$python" -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
        say "PyTorch is left out: $python has none that sees a GPU; name one that has with --python"
        python=''
    fi
fi

# ---- the measurements ----

on=(--device cuda --dtype bf16)
one_rank=("$mpirun" -n 1 build/ddpbench "${on[@]}" --comm nccl --bucket-size-mb 25)

for dtype in fp32 bf16; do
    measure "kernels-$dtype" build/bench_kernels --device cuda --dtype "$dtype" --tsv "$output/kernels-$dtype.tsv"
done
if [ -n "$python" ]; then
    measure kernels-torch "$python" bench/peers/torch_kernels.py --device cuda
    measure kernels-ratio awk -f launch/bench_gpu_join.awk "$output/kernels-torch.txt" "$output/kernels-fp32.tsv" \
        "$output/kernels-bf16.tsv"
fi
measure step-default build/bench_step "${on[@]}" --tsv "$output/step-default.tsv"
measure step-d1600 build/bench_step "${on[@]}" --d-model 1600 --num-heads 25 --d-ff 6400 --num-layers 24 \
    --tsv "$output/step-d1600.tsv"
measure strategies "${one_rank[@]}" --rounds 20 --steps-per-block 5 --output "$output/strategies" \
    --implementations none,ddp_flat,ddp,ddp_individual,ddp_individual_v2,ddp_bucketed
measure profiling "${one_rank[@]}" --profile --profile-implementation ddp_bucketed --rounds 60 --steps-per-block 3 \
    --profile-output-dir "$output/profiling"
if [ -n "$python" ]; then
    measure peers bench/peers/compare.sh --ranks "$gpus" --repeats 3 --implementations none,ddp_bucketed \
        --python "$python" --output "$output/peers" -- "${on[@]}" --batch-size-per-rank 32 --bucket-size-mb 25 \
        --rounds 5 --steps-per-block 5
fi
if [ "$gpus" -gt 1 ]; then
    measure allreduce "$mpirun" -n "$gpus" build/ddpbench allreduce --device cuda --comm nccl -b 8 -e 1G -f 2 \
        --output "$output/allreduce"
fi
[ -z "$dry_run" ] || exit 0

# ---- what came of it ----

clocks after >>"$output/provenance.txt"
launch/bench_gpu_aims.sh "$output" | tee "$output/aims.txt"
if [ ${#failed[@]} -gt 0 ]; then
    say "FAILED: ${failed[*]}; what each said is in its .log in $output"
    exit 1
fi
