#!/usr/bin/env bash
# bench_gpu.sh - measures the GPUs of this machine, one command after another, and compares with earlier results
#
# Usage: launch/bench_gpu.sh [OPTION]... [PART]..., by `make bench-gpu`, or in the unpacked archive of `make pack`
# Parts (default: step bench peer), each of which takes less than ten minutes on one GPU:
#   smoke  all measurements at small sizes, as a quick test
#   step   a step against its matrix products, also of GPT-2 with a vocabulary of 50257 and of 50304; each operation
#   tests  tests/run.sh --gpu, group by group, and racecheck of attention
#   torch  PyTorch's kernels
#   peer   the strategies in PyTorch, alternating with ours; with a residual stream in fp32, as ours, and in bf16
#   tools  compute-sanitizer and Nsight Compute, where they are installed
#   bench  the strategies, a profile, and NCCL where there are several GPUs; each operation in fp32, and a step of a larger model
# Options:
#   --first-contact   smoke and step; tests; torch and peer; tools; bench: each of the five gets at most nine minutes, and what did
#                     not end is left to the next call. launch/first-contact.md says what to conclude from the figures
#   --archive FILE    after each measurement, packs the results into FILE, a .tgz; if --output does not exist, unpacks FILE first
#   --output DIR      directory of the results (default results/gpu-<time>): provenance.txt and, for each measurement, a
#                     directory with output.txt and status. Measurements that ended in an earlier call are not repeated
#   --seconds N       stops after N seconds (default: no limit)
#   --reference DIR   results of an earlier call, with which ddpbench compare compares the new results
#   --python PROGRAM  a Python with PyTorch and NumPy (default python3); without them torch and peer are skipped
#   --quick           small sizes and few repeats in all parts, to see that they run
#   --bare            for minimal containers, as root: makes the host's name resolve, mounts /dev/shm and brings lo up
#   --dry-run         prints the commands instead of running them; needs no GPU
# A failed measurement does not stop the others, and is not repeated until its directory is removed. The last line has the
# number of measurements, and the names of those that failed or are left.
# Exit status: 1 if a measurement failed, now or earlier; 7 if measurements remain; otherwise the highest of the comparisons.

# shellcheck disable=SC2317 # functions are called through variables
set -euo pipefail

# shellcheck source=launch/common.sh
. "$(dirname "$(realpath "$0")")/common.sh"

output='' reference='' python=python3 seconds='' bare='' dry_run='' first_contact='' archive='' quick=''
check_directory() { [ -d "$2" ] || usage_error "$1 $2: there is no such directory"; }
option_rows=("--output output check_any" "--seconds seconds check_integer 1 9999999" "--reference reference check_directory"
    "--python python check_any" "--bare bare flag" "--dry-run dry_run flag" "--first-contact first_contact flag"
    "--archive archive check_any" "--quick quick flag")
most_arguments=99
read_options "$@"
parts=("${arguments[@]}")
for part in "${parts[@]}"; do
    [[ $part == @(smoke|step|bench|tests|torch|peer|tools) ]] ||
        usage_error "unknown part '$part'; expected smoke, step, bench, tests, torch, peer or tools; see --help"
done
[ -z "$first_contact" ] || [ ${#parts[@]} = 0 ] || usage_error "--first-contact makes all parts; give no part"
[ -z "$archive" ] || archive=$(realpath -m -- "$archive")
[ -z "$output" ] || output=$(realpath -m -- "$output")
[ -z "$reference" ] || reference=$(realpath -e -- "$reference")
[ "${#parts[@]}" -gt 0 ] || parts=(step bench peer)
[ -z "$first_contact" ] || parts=("smoke step" tests "torch peer" tools bench)
[[ $python != */* ]] || python=$(realpath -ms -- "$python") # keeps the symbolic link of a virtual environment
cd "$(dirname "$0")/.."
[ ! -d bin ] || export PATH=$PWD/bin:$PATH MPIRUN=$PWD/bin/mpirun # in the unpacked archive of `make pack`
output=${output:-$PWD/results/gpu-$(date +%Y%m%d-%H%M%S)}
export PYTHON=$python # for the archive's programs, which look for CUDA's libraries beside PyTorch
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

# count_gpus: prints the number of GPUs; without nvidia-smi, which some containers lack, it is the most ranks that find one each.
count_gpus() {
    local n=0 runs
    if command -v nvidia-smi >/dev/null; then
        nvidia-smi -L 2>/dev/null | grep -c '^GPU ' || true
        return
    fi
    runs=$(mktemp -d)
    while "${mpirun[@]}" -n $((n + 1)) build/ddpbench --device cuda --d-model 32 --num-layers 1 --num-heads 2 --context-length 16 \
        --vocab-size 100 --batch-size-per-rank 1 --implementations none --rounds 1 --output "$runs/$n" >/dev/null 2>&1; do
        n=$((n + 1))
    done
    rm -rf "$runs"
    echo "$n"
}

# pack_results: replaces the archive by one of all results so far.
pack_results() {
    [ -z "$archive" ] || [ -n "$dry_run" ] || { tar -czf "$archive.new" -C "$output" . && mv "$archive.new" "$archive"; }
}
failed='' left='' worst=0 others='' measured=0 part_ends=''
# measure NAME COMMAND...: runs the command for at most ten minutes, unless it ended in an earlier call. Writes its exit
# status to NAME/status when it ends.
measure() {
    local name=$1 status=0 limit=600 end && shift
    local to=$output/$name
    # shellcheck disable=SC2053 # too_long is a pattern
    [[ $name != $too_long ]] || return 0
    if [ -n "$dry_run" ]; then
        say "$name: $*"
        return
    fi
    for end in $seconds $part_ends; do
        [ $((end - SECONDS)) -ge "$limit" ] || limit=$((end - SECONDS))
    done
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
        # A command that was cut off is left to the next call, unless it was the first one of its part: it never has more time.
        if [[ $status == @(124|137) ]] && [ "$limit" -lt 600 ] && [ -n "$others" ]; then
            left+=" $name"
            pack_results
            return
        fi
        others=1
        echo "$status" >"$to/status"
        pack_results
    fi
    measured=$((measured + 1))
    [ "$(<"$to/status")" = 0 ] || failed+=" $name"
    [[ -n $reference && -e $to/summary.json ]] || return 0
    status=0
    build/ddpbench compare "$reference/$name" "$to" | tee "$to/compared.txt" || status=$?
    [ "$status" -le "$worst" ] || worst=$status
}

# provenance: prints what is measured, and on what.
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

trap end_child EXIT
trap_signals
[ -z "$bare" ] || [ -n "$dry_run" ] || prepare_bare
gpus=2
[ -n "$dry_run" ] || gpus=$(count_gpus)
[ "$gpus" -gt 0 ] || die "there is no NVIDIA GPU here: nvidia-smi -L lists none, or without it ddpbench --device cuda fails"

if [ -z "$dry_run" ]; then
    if [ -e "$archive" ] && [ ! -e "$output" ]; then
        mkdir -p "$output"
        tar -xzf "$archive" -C "$output" || die "--archive $archive: is not an archive of results; remove it, or name another"
    fi
    claim_directory "$output" provenance.txt '# measured by bench_gpu.sh'
    provenance >>"$output/provenance.txt" 2>&1 || true
fi

# ---- what is measured ----
ranks=("${mpirun[@]}" -n "$gpus" build/ddpbench) monitor=()
! command -v nvidia-smi >/dev/null || monitor=(--monitor-gpu)
on=(--device cuda --dtype bf16) odd=50257 even=50304 largest=1G small=() too_long='' profile=(--rounds 60)
tiny=(--d-model 128 --num-layers 2 --num-heads 2 --context-length 64 --batch-size-per-rank 2 --rounds 2)
model=(--batch-size-per-rank 32 --rounds 20) gpt2=(--preset gpt2-small --batch-size-per-rank 16 --rounds 8)
step=() gpt2_step=(--context-length 1024 --batch-size 16) kernels=(--rounds 20)
if [ -n "$quick" ]; then # sizes that also an emulated GPU computes in seconds
    odd=57 even=64 largest=64K small=(--quick) profile=()
    too_long='@(smoke/@(kernels|step)|kernels-fp32|step-large|tests/@(device|comm|parity-*|cuda*))'
    tiny=(--d-model 32 --num-layers 1 --num-heads 2 --context-length 16 --vocab-size 100 --batch-size-per-rank 2 --rounds 1 --steps-per-block 1)
    model=("${tiny[@]}") gpt2=("${tiny[@]}")
    step=(--quick --d-model 32 --num-layers 1 --num-heads 2 --context-length 16 --vocab-size 256 --pairs 1)
    gpt2_step=("${step[@]}") kernels=(--quick --array-mib 2 --rounds 1)
fi
two=(--share-gpu --profile --profile-implementation ddp_bucketed)

part_smoke() {
    measure smoke/kernels build/bench_kernels "${on[@]}" --quick
    measure smoke/step build/bench_step "${on[@]}" --quick
    measure smoke/benchmark "${ranks[@]}" "${on[@]}" "${tiny[@]}" --output "$output/smoke/benchmark/run"
    measure smoke/profile "${ranks[@]}" "${on[@]}" "${tiny[@]}" --profile --profile-implementation ddp_bucketed \
        --profile-output-dir "$output/smoke/profile/run"
    measure smoke/two-on-one "${mpirun[@]}" -n 2 build/ddpbench "${on[@]}" "${tiny[@]}" "${two[@]}" --comm mpi \
        --profile-output-dir "$output/smoke/two-on-one/run"
    measure smoke/nccl-two-on-one "${mpirun[@]}" -n 2 "${as_hosts[@]}" build/ddpbench "${on[@]}" "${tiny[@]}" "${two[@]}" --comm nccl \
        --profile-output-dir "$output/smoke/nccl-two-on-one/run"
    measure_trace smoke/nccl-two-on-one-trace "$output/smoke/nccl-two-on-one/run"
}

part_step() {
    measure step build/bench_step "${on[@]}" "${step[@]}"
    measure step-50257 build/bench_step "${on[@]}" "${gpt2_step[@]}" --vocab-size "$odd"
    measure step-50304 build/bench_step "${on[@]}" "${gpt2_step[@]}" --vocab-size "$even"
    measure kernels-bf16 build/bench_kernels "${on[@]}" "${kernels[@]}"
}

# measure_trace NAME DIR: checks the traces and the summary in DIR as measurement NAME, if there is Python.
measure_trace() { ! command -v "$python" >/dev/null || measure "$1" "$python" tests/gpu/gpu_trace.py "$2"; }

part_bench() {
    measure kernels-fp32 build/bench_kernels --device cuda --dtype fp32 "${kernels[@]}"
    measure step-large build/bench_step "${on[@]}" --d-model 1600 --num-heads 25 --num-layers 24
    measure benchmark "${ranks[@]}" "${on[@]}" "${model[@]}" --bucket-size-mb 25 "${monitor[@]}" --output "$output/benchmark"
    measure benchmark-gpt2-small "${ranks[@]}" "${on[@]}" "${gpt2[@]}" --bucket-size-mb 25 "${monitor[@]}" \
        --output "$output/benchmark-gpt2-small"
    measure profile/ddp_bucketed "${ranks[@]}" "${on[@]}" "${model[@]}" "${profile[@]}" --bucket-size-mb 25 "${monitor[@]}" --profile \
        --profile-implementation ddp_bucketed --profile-output-dir "$output/profile"
    [ "$gpus" = 1 ] || measure allreduce "${ranks[@]}" allreduce --device cuda --comm nccl -b 8 \
        -e "$largest" -f 2 --output "$output/allreduce"
}

part_tests() {
    local group
    for group in 'device unit/kernels/*' 'model unit/ddp/*' 'comm mpi/comm*' 'parity-mpi mpi/parity*by mpi*' \
        'parity-nccl mpi/parity*by nccl*' 'cuda cli/cuda.sh' 'cuda_profile cli/cuda_profile.sh'; do
        measure "tests/${group%% *}" env TEST_ONLY="${group#* }" tests/run.sh --gpu build
    done
    CK_RUN_CASE=attention measure_with compute-sanitizer tests/racecheck --tool racecheck --target-processes all \
        build/tests/unit/kernels/test_device
}

part_torch() { measure torch "$python" bench/peers/torch_kernels.py --device cuda "${small[@]}"; }

part_peer() {
    local residual
    for residual in fp32 bf16; do
        measure "peers-$residual" bench/peers/compare.sh --ranks "$gpus" --python "$python" --repeats 2 \
            --implementations none,ddp_bucketed --peer-options "--residual-dtype $residual" \
            --output "$output/peers-$residual/runs" -- "${on[@]}" "${model[@]}" --bucket-size-mb 25 --rounds 5
    done
}

# measure_with TOOL NAME ARGUMENT...: runs the tool with the arguments as measurement NAME, if the tool is installed.
measure_with() {
    local path
    path=$(command -v "$1" || ls "${CUDA_HOME:-/usr/local/cuda}/bin/$1" 2>/dev/null || { [ -n "$dry_run" ] && echo "$1"; }) ||
        { say "$2: there is no $1 here"; return; }
    measure "$2" "$path" "${@:3}"
}
part_tools() {
    measure_with compute-sanitizer tools/memcheck --target-processes all build/bench_step "${on[@]}" --quick --vocab-size 1000
    measure_with ncu tools/ncu --target-processes all --clock-control none --set full -k 'regex:attention|rmsnorm|cross|swiglu' \
        -c 16 build/bench_kernels "${on[@]}" "${small[@]}"
    measure_with ncu tools/ncu-products --target-processes all --clock-control none --set basic -k 'regex:gemm|cutlass|nvjet' -c 40 \
        build/bench_kernels "${on[@]}" "${small[@]}"
}

has_torch() { [ -n "$dry_run" ] || "$python" -c 'import numpy, torch; assert torch.cuda.is_available()' 2>/dev/null; }
for group in "${parts[@]}"; do
    others='' part_ends=${first_contact:+$((SECONDS + 540))}
    for part in $group; do
        if [[ $part != @(torch|peer) ]] || has_torch; then
            "part_$part"
        else
            say "$part: $python has no NumPy, or no PyTorch that sees a GPU"
        fi
    done
done

pack_results
[ -n "$dry_run" ] ||
    say "$measured measurements ended${left:+; LEFT:$left (the same command with --output $output continues)}${failed:+; FAILED:$failed (see \
output.txt of each in $output; remove its directory to repeat it)}"
[ -z "$failed" ] || exit 1
[ -z "$left" ] || exit 7
exit "$worst"
