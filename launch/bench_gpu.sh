#!/usr/bin/env bash
# bench_gpu.sh - measures the GPUs of this machine, one command after another, and compares with earlier results
#
# Usage: launch/bench_gpu.sh [OPTION]... [PART]..., by `make bench-gpu`, or in the unpacked archive of `make pack`
# Parts (default: bench peer), each of which takes less than ten minutes on one GPU:
#   smoke  all measurements at small sizes, as a quick test
#   bench  kernels, a step against its matrix products, the strategies, a profile, and NCCL where there are several GPUs
#   tests  tests/run.sh --gpu, group by group
#   torch  PyTorch's kernels
#   peer   the strategies in PyTorch, alternating with ours
#   tools  compute-sanitizer and Nsight Compute, where they are installed
# Options:
#   --output DIR      directory of the results (default results/gpu-<time>): provenance.txt and, for each measurement, a
#                     directory with output.txt and status. Measurements that ended in an earlier call are not repeated
#   --seconds N       stops after N seconds (default: no limit)
#   --reference DIR   results of an earlier call, with which ddpbench compare compares the new results
#   --python PROGRAM  a Python with PyTorch and NumPy (default python3); without them torch and peer are skipped
#   --bare            for minimal containers, as root: makes the host's name resolve, mounts /dev/shm and brings lo up
#   --dry-run         prints the commands instead of running them; needs no GPU
# A failed measurement does not stop the others; remove its directory to repeat it.
# Exit status: 1 if a measurement failed, now or earlier; 7 if measurements remain; otherwise the highest of the comparisons.

# shellcheck disable=SC2317 # functions are called through variables
set -euo pipefail

# shellcheck source=launch/common.sh
. "$(dirname "$(realpath "$0")")/common.sh"

output='' reference='' python=python3 seconds='' bare='' dry_run=''
check_directory() { [ -d "$2" ] || usage_error "$1 $2: there is no such directory"; }
option_rows=("--output output check_any" "--seconds seconds check_integer 1 9999999" "--reference reference check_directory"
    "--python python check_any" "--bare bare flag" "--dry-run dry_run flag")
most_arguments=99
read_options "$@"
parts=("${arguments[@]}")
for part in "${parts[@]}"; do
    [[ $part == @(smoke|bench|tests|torch|peer|tools) ]] ||
        usage_error "unknown part '$part'; expected smoke, bench, tests, torch, peer or tools; see --help"
done
[ -z "$output" ] || output=$(realpath -m -- "$output")
[ -z "$reference" ] || reference=$(realpath -e -- "$reference")
[ "${#parts[@]}" -gt 0 ] || parts=(bench peer)
[[ $python != */* ]] || python=$(realpath -ms -- "$python") # keeps the symbolic link of a virtual environment
cd "$(dirname "$0")/.."
[ ! -d bin ] || export PATH=$PWD/bin:$PATH MPIRUN=$PWD/bin/mpirun # in the unpacked archive of `make pack`
output=${output:-$PWD/results/gpu-$(date +%Y%m%d-%H%M%S)}
gpus=$([ -n "$dry_run" ] && echo 2 || nvidia-smi -L 2>/dev/null | grep -c '^GPU ' || true)
[ "$gpus" -gt 0 ] || die "nvidia-smi -L lists no NVIDIA GPU here"
find_mpirun

# prepare_bare: sets up what Hydra, MPICH and NCCL need even if all ranks run on one machine.
prepare_bare() {
    local name
    name=$(</proc/sys/kernel/hostname)
    getent hosts "$name" >/dev/null || echo "127.0.0.1 $name" >>/etc/hosts || say "the host's name does not resolve: $name"
    mountpoint -q /dev/shm || { mkdir -p /dev/shm && mount -t tmpfs none /dev/shm; } || say "there is no /dev/shm"
    [ "$(</sys/class/net/lo/operstate)" != down ] || ip link set lo up || say "the loopback device, lo, is down"
    export UCX_TLS=self,sm HYDRA_LAUNCHER=fork NCCL_SOCKET_IFNAME=lo GLOO_SOCKET_IFNAME=lo
}
[ -z "$bare" ] || [ -n "$dry_run" ] || prepare_bare

failed='' left='' worst=0 others=''
trap end_child EXIT
trap_signals
# measure NAME COMMAND...: runs the command for at most ten minutes, unless it ended in an earlier call. Writes its exit
# status to NAME/status when it ends.
measure() {
    local name=$1 status=0 limit=600 && shift
    local to=$output/$name
    if [ -n "$dry_run" ]; then
        say "$name: $*"
        return
    fi
    [ -z "$seconds" ] || [ $((seconds - SECONDS)) -ge "$limit" ] || limit=$((seconds - SECONDS))
    if [ -e "$to/status" ]; then
        say "$name: ended earlier with status $(<"$to/status")"
    elif [ "$limit" -lt 5 ]; then
        left+=" $name"
        return
    else
        say "$name: $*"
        rm -rf "$to"
        mkdir -p "$to"
        wait_child tee_output "$to/output.txt" timeout --foreground --kill-after=10 "$limit" "$@" || status=$?
        # A command that was cut off by --seconds is left to the next call, unless it was the first one: no call has more time.
        if [[ $status == @(124|137) ]] && [ "$limit" -lt 600 ] && [ -n "$others" ]; then
            left+=" $name"
            return
        fi
        others=1
        echo "$status" >"$to/status"
    fi
    [ "$(<"$to/status")" = 0 ] || failed+=" $name"
    [[ -n $reference && -e $to/summary.json ]] || return 0
    status=0
    build/ddpbench compare "$reference/$name" "$to" | tee "$to/compared.txt" || status=$?
    [ "$status" -le "$worst" ] || worst=$status
}

provenance() {
    echo "# measured by bench_gpu.sh"
    date --iso-8601=seconds
    git describe --always --dirty --tags
    build/ddpbench --version
    uname -srm
    lscpu | grep -E '^(Model name|CPU\(s\))'
    "${NVCC:-nvcc}" --version || "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" --version
    "$python" -c 'import torch; print("PyTorch", torch.__version__, "CUDA", torch.version.cuda)'
    nvidia-smi
    nvidia-smi -q -d CLOCK,PERFORMANCE,POWER,TEMPERATURE
}
if [ -z "$dry_run" ]; then
    claim_directory "$output" provenance.txt '# measured by bench_gpu.sh'
    provenance >>"$output/provenance.txt" 2>&1 || true
fi

on=(--device cuda --dtype bf16) ranks=("${mpirun[@]}" -n "$gpus" build/ddpbench)
tiny=(--d-model 128 --num-layers 2 --num-heads 2 --d-ff 256 --context-length 64 --batch-size-per-rank 2 --rounds 2)

part_smoke() {
    measure smoke/kernels build/bench_kernels "${on[@]}" --quick
    measure smoke/step build/bench_step "${on[@]}" --quick
    measure smoke/benchmark "${ranks[@]}" "${on[@]}" "${tiny[@]}" --output "$output/smoke/benchmark/run"
    measure smoke/profile "${ranks[@]}" "${on[@]}" "${tiny[@]}" --profile --profile-implementation ddp_bucketed \
        --profile-output-dir "$output/smoke/profile/run"
    measure smoke/two-on-one "${mpirun[@]}" -n 2 build/ddpbench "${on[@]}" "${tiny[@]}" --share-gpu --comm mpi \
        --output "$output/smoke/two-on-one/run"
}

part_bench() {
    local dtype
    for dtype in fp32 bf16; do measure "kernels-$dtype" build/bench_kernels --device cuda --dtype "$dtype"; done
    measure step build/bench_step "${on[@]}"
    measure step-large build/bench_step "${on[@]}" --d-model 1600 --num-heads 25 --d-ff 6400 --num-layers 24
    measure benchmark "${ranks[@]}" "${on[@]}" --bucket-size-mb 25 --rounds 20 --output "$output/benchmark"
    measure profile/ddp_bucketed "${ranks[@]}" "${on[@]}" --bucket-size-mb 25 --rounds 60 --profile \
        --profile-implementation ddp_bucketed --profile-output-dir "$output/profile"
    [ "$gpus" = 1 ] ||
        measure allreduce "${ranks[@]}" allreduce --device cuda --comm nccl -b 8 -e 1G -f 2 --output "$output/allreduce"
}

part_tests() {
    local group
    for group in 'device unit/kernels/*' 'model unit/ddp/*' 'comm mpi/comm*' 'parity-mpi mpi/parity*by mpi*' \
        'parity-nccl mpi/parity*by nccl*' 'cuda cli/cuda.sh' 'cuda_profile cli/cuda_profile.sh'; do
        measure "tests/${group%% *}" env TEST_ONLY="${group#* }" tests/run.sh --gpu build
    done
}

part_torch() { measure torch "$python" bench/peers/torch_kernels.py --device cuda; }

part_peer() {
    measure peers bench/peers/compare.sh --ranks "$gpus" --python "$python" --repeats 3 \
        --implementations none,ddp_bucketed --output "$output/peers/runs" -- "${on[@]}" --bucket-size-mb 25 --rounds 5
}

# measure_with TOOL NAME ARGUMENT...: runs the tool with the arguments as measurement NAME, if the tool is installed.
measure_with() {
    local path
    path=$(command -v "$1" || ls "${CUDA_HOME:-/usr/local/cuda}/bin/$1" 2>/dev/null || { [ -n "$dry_run" ] && echo "$1"; }) ||
        { say "$2: there is no $1 here"; return; }
    measure "$2" "$path" "${@:3}"
}
part_tools() {
    measure_with compute-sanitizer tools/sanitizer --target-processes all build/bench_step "${on[@]}" --quick
    measure_with ncu tools/ncu --target-processes all --set full -k 'regex:attention|rmsnorm|cross' -c 12 \
        build/bench_kernels "${on[@]}"
}

has_torch() { [ -n "$dry_run" ] || "$python" -c 'import numpy, torch; assert torch.cuda.is_available()' 2>/dev/null; }
for part in "${parts[@]}"; do
    if [[ $part != @(torch|peer) ]] || has_torch; then
        "part_$part"
    else
        say "$part: $python has no NumPy, or no PyTorch that sees a GPU"
    fi
done

[ -z "$left" ] || say "LEFT after $seconds seconds:$left; the same command with --output $output continues"
[ -z "$failed" ] || { say "FAILED:$failed; each has its output.txt in $output"; exit 1; }
[ -z "$left" ] || exit 7
exit "$worst"
