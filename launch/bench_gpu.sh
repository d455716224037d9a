#!/usr/bin/env bash
# bench_gpu.sh - measures the GPUs of this machine, one command after another, and compares with earlier results
#
# Usage: launch/bench_gpu.sh [OPTION]... [PART]..., by `make bench-gpu`, or in the unpacked archive of `make pack`
# Parts (default: step bench peer), each planned for less than ten minutes on one GPU:
#   smoke  all measurements at small sizes, as a quick test
#   step   a step against its matrix products, also of GPT-2 with a vocabulary of 50257 and of 50304; each operation
#   tests  tests/run.sh --gpu, group by group, and racecheck of attention
#   torch  PyTorch's kernels
#   peer   the strategies in PyTorch, alternating with ours; with a residual stream in fp32, and in bf16, as ours
#   tools  compute-sanitizer and Nsight Compute, where they are installed
#   bench  the strategies, a profile, and NCCL where there are several GPUs; each operation in fp32, and a step of a larger model
# Options:
#   --first-contact   runs all parts in five groups of at most nine minutes each (smoke and step; tests; torch and peer; tools;
#                     bench), and leaves what has not ended to the next call. launch/first-contact.md explains the figures
#   --archive FILE    after each measurement, packs the results into FILE, a .tgz; if --output has no results, unpacks FILE first
#   --output DIR      directory of the results (default results/gpu-<time>): provenance.txt and, for each measurement, a
#                     directory with output.txt and status. The next call repeats only measurements that failed
#   --seconds N       stops after N seconds (default: no limit); the next call goes on with the measurement that was cut off
#   --reference DIR   results of an earlier call, with which ddpbench compare compares the new results
#   --python PROGRAM  a Python with PyTorch and NumPy (default python3); without them torch and peer are skipped
#   --quick           small sizes and few repeats, to see that all parts run; leaves out measurements that have no small size
#   --bare            for minimal containers, as root: makes the host's name resolve, mounts /dev/shm and brings lo up
#   --dry-run         prints the commands for a machine with two GPUs instead of running them; needs no GPU
# A failed measurement does not stop the others. The last line has the number of measurements, and the names of those that
# failed, are left, or were skipped because a tool is missing.
# Exit status: 1 if a measurement failed; 7 if measurements are left; otherwise the highest of the comparisons.

# shellcheck disable=SC2317 # functions are called through variables
set -euo pipefail

# shellcheck source=launch/common.sh
. "$(dirname "$(realpath "$0")")/common.sh"

output='' reference='' python=python3 seconds='' bare='' dry_run='' first_contact='' archive='' quick=''
check_directory() { [ -d "$2" ] || usage_error "$1 $2: there is no such directory"; }
option_rows=("--output output check_path" "--seconds seconds check_integer 1 9999999" "--reference reference check_directory"
    "--python python check_path" "--bare bare flag" "--dry-run dry_run flag" "--first-contact first_contact flag"
    "--archive archive check_path" "--quick quick flag")
most_arguments=99
read_options "$@"
parts=("${arguments[@]}")
for part in "${parts[@]}"; do
    [[ $part == @(smoke|step|bench|tests|torch|peer|tools) ]] ||
        usage_error "unknown part '$part'; expected smoke, step, bench, tests, torch, peer or tools; see --help"
done
[ -z "$first_contact" ] || [ ${#parts[@]} = 0 ] || usage_error "--first-contact runs all parts; leave out '${parts[*]}'"
[ -z "$archive" ] || archive=$(realpath -m -- "$archive")
[ -z "$output" ] || output=$(realpath -m -- "$output")
[ -z "$reference" ] || reference=$(realpath -e -- "$reference")
[[ -z $reference || $output != "$reference" ]] || usage_error "--reference and --output are one directory, $reference"
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

# count_gpus: prints the number of GPUs in CUDA_VISIBLE_DEVICES or, if that is empty, in this machine. Some containers
# lack nvidia-smi; the number is then the most ranks with which ddpbench finds a GPU for each rank.
count_gpus() {
    local n=0 runs visible
    if [ -n "${CUDA_VISIBLE_DEVICES:-}" ]; then
        IFS=, read -ra visible <<<"$CUDA_VISIBLE_DEVICES"
        echo "${#visible[@]}"
        return
    elif command -v nvidia-smi >/dev/null; then
        nvidia-smi -L 2>/dev/null | grep -c '^GPU ' || true
        return
    fi
    runs=$(mktemp -d)
    while "${mpirun[@]}" -n $((n + 1)) build/ddpbench --device cuda --d-model 32 --num-layers 1 --num-heads 2 --context-length 16 \
        --vocab-size 100 --batch-size-per-rank 1 --implementations none --rounds 1 --output "$runs/$n" >/dev/null 2>"$runs/said"; do
        n=$((n + 1))
    done
    [ "$n" -gt 0 ] || say "$(tail -n 1 "$runs/said")"
    rm -rf "$runs"
    echo "$n"
}

# pack_results: packs all results so far, but for TensorBoard's links to traces, and replaces the earlier archive.
pack_results() {
    [ -z "$archive" ] || [ -n "$dry_run" ] || write_file "$archive" tar -czf - --exclude=tensorboard -C "$output" . ||
        say "--archive $archive: cannot be written; the results are in $output"
}
# check_archive: refuses an archive without results, or with anything but files and directories with relative names.
check_archive() {
    local listed other no="--archive $archive: is not a .tgz of results; remove it, or name another file"
    listed=$(LC_ALL=C tar --numeric-owner -tvzf "$archive" 2>/dev/null) || die "$no"
    other=$(sed -nE 's/^(.)([^ ]+ +){5}/\1 /; \,^[^d-]|^. /|[ /]\.\.(/|$), { s/^[bc].*/&, a device/; s/^p.*/&, a pipe/; s/..//p; q }' <<<"$listed")
    [ -z "$other" ] || die "--archive $archive: has $other; only plain files and directories with relative names, without .., are unpacked"
    [[ $(tar -xzOf "$archive" ./provenance.txt 2>/dev/null | head -n 1) == '# measured by bench_gpu.sh' ]] || die "$no"
}
failed='' left='' skipped='' worst=0 others='' measured=0 part_ends=''
is_over() { [ -n "$seconds" ] && [ "$SECONDS" -ge "$seconds" ]; }
# measure NAME COMMAND...: runs the command for at most ten minutes, unless it succeeded in an earlier call or took too
# long. Writes its exit status to NAME/status when it ends.
measure() {
    local name=$1 status=0 limit=600 end && shift
    local to=$output/$name
    # shellcheck disable=SC2053 # too_long is a pattern
    [[ $name != $too_long ]] || { say "$name: left out by --quick"; return; }
    if [ -n "$dry_run" ]; then
        echo "$name: $(quote_words "$@")"
        return
    fi
    for end in $seconds $part_ends; do
        [ $((end - SECONDS)) -ge "$limit" ] || limit=$((end - SECONDS))
    done
    if [[ $(cat "$to/status" 2>/dev/null) == @(0|124|137) ]]; then
        say "$name: ended earlier with status $(<"$to/status")"
    elif [ "$limit" -lt 5 ]; then
        left+=" $name"
        return
    else
        say "$name: $*"
        check_run "$to" output.txt
        rm -rf "$to"
        mkdir -p "$to"
        wait_child tee_output "$to/output.txt" timeout --foreground --kill-after=10 "$limit" "$@" || status=$?
        # A command that was cut off is left to the next call, unless it had all the time of its part.
        if [[ $status == @(124|137) ]] && [ "$limit" -lt 600 ] && { [ -n "$others" ] || is_over; }; then
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

# provenance: prints what earlier calls wrote to provenance.txt, and then date, versions and machine of this call.
provenance() {
    [ ! -e "$output/provenance.txt" ] || cat "$output/provenance.txt"
    {
        echo "# measured by bench_gpu.sh"
        date --iso-8601=seconds
        build/ddpbench --version
        uname -srm
        lscpu | grep -E '^(Model name|CPU\(s\))'
        "${NVCC:-nvcc}" --version || "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" --version
        "$python" -c 'import torch; print("PyTorch", torch.__version__, "CUDA", torch.version.cuda)'
        nvidia-smi
        nvidia-smi -q -d CLOCK,PERFORMANCE,POWER,TEMPERATURE
    } 2>&1 || true
}

trap end_child EXIT
trap_signals
[ -z "$bare" ] || [ -n "$dry_run" ] || prepare_bare
gpus=2
[ -n "$dry_run" ] || gpus=$(count_gpus)
[ "$gpus" -gt 0 ] || die "found no NVIDIA GPU: nvidia-smi -L must list one, or, without nvidia-smi, build/ddpbench --device cuda must run"

if [ -z "$dry_run" ]; then
    [[ -z $archive || ($archive/ != "$output"/* && $output != "$archive"/*) ]] ||
        usage_error "--archive $archive: is, holds or lies in --output $output, which it packs; name another file"
    [[ -f $archive || (! -e $archive && ! -L $archive) ]] || die "--archive $archive: is not a plain file; name another file"
    [ -z "$archive" ] || rm "$(mktemp -- "$archive.XXXXXX" 2>/dev/null)" 2>/dev/null || die "--archive $archive: cannot be written; name another file"
    [ ! -e "$archive" ] || check_archive
    if [ -e "$archive" ] && [ -z "$(ls -A "$output" 2>/dev/null)" ]; then
        mkdir -p "$output"
        tar -xzf "$archive" -C "$output" --no-same-owner --no-same-permissions || die "--archive $archive: cannot be unpacked"
        chmod -R u+rwX "$output"
    fi
    claim_directory "$output" provenance.txt '# measured by bench_gpu.sh'
    for name in $(tar -tzf "$archive" 2>/dev/null | grep '/status$' || true); do
        [ -d "$output/${name%/status}" ] || usage_error "--archive $archive: has results that --output $output lacks, such as ${name%/status}; \
give a new --output, into which the archive is unpacked, or another archive"
    done
    write_file "$output/provenance.txt" provenance
fi

# ---- what is measured ----
ranks=("${mpirun[@]}" -n "$gpus" build/ddpbench) monitor=()
! command -v nvidia-smi >/dev/null || monitor=(--monitor-gpu)
on=(--device cuda --dtype bf16) unpadded=50257 padded=50304 largest=1G small=() too_long='' profile=(--rounds 60)
tiny=(--d-model 128 --num-layers 2 --num-heads 2 --context-length 64 --batch-size-per-rank 2)
model=(--batch-size-per-rank 32) smoke=(--rounds 2) many=(--rounds 20) gpt2=(--preset gpt2-small --batch-size-per-rank 16 --rounds 8)
step=() gpt2_step=(--context-length 1024 --batch-size 16) kernels=(--rounds 20)
if [ -n "$quick" ]; then # sizes that even an emulated GPU computes in seconds
    unpadded=57 padded=64 largest=64K small=(--quick) profile=(--rounds 1)
    too_long='@(smoke/@(kernels|step)|kernels-fp32|step-large|tests/@(device|comm|parity-*|cuda*))'
    tiny=(--d-model 32 --num-layers 1 --num-heads 2 --context-length 16 --vocab-size 100 --batch-size-per-rank 2 --steps-per-block 1)
    model=("${tiny[@]}") smoke=(--rounds 1) many=(--rounds 1) gpt2=("${tiny[@]}" --rounds 1)
    gpt2_step=(--quick --d-model 32 --num-layers 1 --num-heads 2 --context-length 16 --pairs 1)
    step=("${gpt2_step[@]}" --vocab-size 256) kernels=(--quick --array-mib 2 --rounds 1)
fi
two=("${tiny[@]}" "${smoke[@]}" --share-gpu --profile --profile-implementation ddp_bucketed)

part_smoke() {
    measure smoke/kernels build/bench_kernels "${on[@]}" --quick
    measure smoke/step build/bench_step "${on[@]}" --quick
    measure smoke/benchmark "${ranks[@]}" "${on[@]}" "${tiny[@]}" "${smoke[@]}" --output "$output/smoke/benchmark/run"
    measure smoke/profile "${ranks[@]}" "${on[@]}" "${tiny[@]}" "${smoke[@]}" --profile --profile-implementation ddp_bucketed \
        --profile-output-dir "$output/smoke/profile/run"
    measure smoke/two-on-one "${mpirun[@]}" -n 2 build/ddpbench "${on[@]}" "${two[@]}" --comm mpi \
        --profile-output-dir "$output/smoke/two-on-one/run"
    measure smoke/nccl-two-on-one "${mpirun[@]}" -n 2 "${as_hosts[@]}" build/ddpbench "${on[@]}" "${two[@]}" --comm nccl \
        --profile-output-dir "$output/smoke/nccl-two-on-one/run"
    measure_trace smoke/nccl-two-on-one-trace "$output/smoke/nccl-two-on-one/run"
}

part_step() {
    measure step build/bench_step "${on[@]}" "${step[@]}"
    measure step-50257 build/bench_step "${on[@]}" "${gpt2_step[@]}" --vocab-size "$unpadded"
    measure step-50304 build/bench_step "${on[@]}" "${gpt2_step[@]}" --vocab-size "$padded"
    measure kernels-bf16 build/bench_kernels "${on[@]}" "${kernels[@]}"
}

# measure_trace NAME DIR: checks the traces and the summary in DIR as measurement NAME, if there is Python.
measure_trace() { if command -v "$python" >/dev/null; then measure "$1" "$python" tests/gpu/gpu_trace.py "$2"; else skipped+=" $1"; fi; }

part_bench() {
    measure kernels-fp32 build/bench_kernels --device cuda --dtype fp32 "${kernels[@]}"
    measure step-large build/bench_step "${on[@]}" --d-model 1600 --num-heads 25 --num-layers 24
    measure benchmark "${ranks[@]}" "${on[@]}" "${model[@]}" "${many[@]}" --bucket-size-mb 25 "${monitor[@]}" --output "$output/benchmark"
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
    measure_with compute-sanitizer tests/racecheck --tool racecheck --error-exitcode 1 --target-processes all \
        env CK_RUN_CASE=attention build/tests/unit/kernels/test_device
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
        { skipped+=" $2"; return; }
    measure "$2" "$path" "${@:3}"
}
part_tools() {
    measure_with compute-sanitizer tools/memcheck --error-exitcode 1 --target-processes all build/bench_step "${on[@]}" --quick --vocab-size 1000
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
            skipped+=" $part"
        fi
    done
done

pack_results
[ -n "$dry_run" ] || say "$measured measurements ended${left:+; LEFT:$left}${failed:+; FAILED:$failed (see output.txt of each)}\
${skipped:+; SKIPPED:$skipped (no Python, no PyTorch that sees a GPU, or no such tool)}\
$([ -z "$left$failed" ] || echo "; the same command with --output $(quote_words "$output") goes on")"
[ -z "$failed" ] || exit 1
[ -z "$left" ] || exit 7
exit "$worst"
