#!/usr/bin/env bash
# bench_gpu.sh - measures the GPUs of this machine, one command after another, and compares with earlier results
#
# Usage: launch/bench_gpu.sh [OPTION]... [PART]..., by `make bench-gpu`, or in the unpacked archive of `make pack`
# Parts, in the order in which they are measured (default: all):
#   tests       tests of the kernels, the model, the collectives, and the strategies' results by MPI and by NCCL
#   step        a step against its matrix products: the default model, by cuBLAS and by cublasLt, and GPT-2 small (vocabulary 50257)
#   strategies  the strategies, two of them twice: rows of the same work show the smallest difference that means something
#   peers       ours, PyTorch compiled and PyTorch eager in turn, twice; all with a residual stream in bf16
#   profile     where a step's time goes, of the default model and of GPT-2 small
#   kernels     each operation in bf16, and PyTorch's
#   nccl        two ranks by NCCL on one GPU with a trace, isolate of three ranks; all-reduces where there are several GPUs
#   more        racecheck, memcheck, three more rounds of peers, a larger model, fp32, Nsight Compute, the program's tests
# Options:
#   --minutes N       ends after N minutes: what is not expected to fit is not started. The same command with the same --output
#                     goes on; it repeats measurements that failed or were cut off
#   --output DIR      directory of the results (default results/gpu-<time>): provenance.txt, measurements.txt (status, seconds,
#                     clock and power of each measurement) and, for each, a directory with output.txt, gpu.csv and status
#   --archive FILE    after each measurement, packs the results into FILE, a .tgz; if --output has no results, unpacks FILE first
#   --reference DIR   results of an earlier call, perhaps of another GPU, with which ddpbench compare compares each measurement that
#                     has a summary.json in both
#   --python PROGRAM  a Python with PyTorch and NumPy (default python3); without them PyTorch is not measured
#   --quick           small sizes and few repeats, to see that all parts run; leaves out measurements that have no small size
#   --bare            for minimal containers, as root: makes the host's name resolve, mounts /dev/shm and brings lo up
#   --dry-run         prints the commands for the GPUs in CUDA_VISIBLE_DEVICES (if it is empty, for two), with their expected
#                     seconds; needs no GPU
# A failed measurement does not stop the others. The last line has the number of measurements, and the names of those that
# failed, are left, or were skipped because a tool is missing. All results of a directory are of the same GPUs: with others, the
# script asks for another directory. launch/gpus.md explains the figures.
# Exit status: 1 if a measurement failed; 7 if measurements are left; otherwise the highest of the comparisons.

# shellcheck disable=SC2317 # functions are called through variables
set -euo pipefail

# shellcheck source=launch/common.sh
. "$(dirname "$(realpath "$0")")/common.sh"

all_parts=(tests step strategies peers profile kernels nccl more)
output='' reference='' python=python3 minutes='' bare='' dry_run='' archive='' quick=''
check_directory() { [ -d "$2" ] || usage_error "$1 $2: there is no such directory"; }
check_minutes() { [[ $2 =~ ^[0-9]{1,5}([.][0-9]{1,3})?$ && $2 == *[1-9]* ]] || usage_error "$1 $2: expected 0.001 to 99999"; }
option_rows=("--output output check_path" "--minutes minutes check_minutes" "--reference reference check_directory"
    "--python python check_path" "--bare bare flag" "--dry-run dry_run flag" "--archive archive check_path" "--quick quick flag")
most_arguments=99
read_options "$@"
parts=("${arguments[@]}")
for part in "${parts[@]}"; do
    [[ " ${all_parts[*]} " == *" $part "* && $part != *' '* ]] || usage_error "unknown part '$part'; expected one of ${all_parts[*]}; see --help"
done
[ "${#parts[@]}" -gt 0 ] || parts=("${all_parts[@]}")
end=''
[ -z "$minutes" ] || end=$(awk -v minutes="$minutes" 'BEGIN { printf "%d", 60 * minutes }') # in seconds of this call
[ -z "$archive" ] || archive=$(realpath -m -- "$archive")
[ -z "$output" ] || output=$(realpath -m -- "$output")
[ -z "$reference" ] || reference=$(realpath -e -- "$reference")
[[ -z $reference || $output != "$reference" ]] || usage_error "--reference and --output are one directory, $reference"
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
# ---- one measurement ----
gpu_columns=utilization.gpu,clocks.sm,power.draw,temperature.gpu
gpu_columns+=,clocks_event_reasons.sw_power_cap,clocks_event_reasons.hw_slowdown,clocks_event_reasons.sw_thermal_slowdown
# watch_gpus DIR COMMAND...: runs the command, and copies its output to DIR/output.txt. Meanwhile samples the GPUs each second.
watch_gpus() {
    local sampler='' status=0
    if command -v nvidia-smi >/dev/null; then
        nvidia-smi ${CUDA_VISIBLE_DEVICES:+-i "$CUDA_VISIBLE_DEVICES"} "--query-gpu=$gpu_columns" --format=csv,nounits -l 1 >"$1/gpu.csv" 2>&1 </dev/null &
        sampler=$!
    fi
    tee_output "$1/output.txt" "${@:2}" || status=$?
    [ -z "$sampler" ] || kill "$sampler" 2>/dev/null || true
    return "$status"
}

# expect_seconds NAME SECONDS: prints how long the measurement takes: SECONDS or, if it was cut off after as long, a second more.
expect_seconds() {
    local had=0
    [ ! -e "$output/$1/seconds" ] || had=$(<"$output/$1/seconds")
    echo $((had >= $2 ? had + 1 : $2))
}

failed='' left='' left_seconds=0 longest=0 skipped='' alone='' worst=0 measured=0
# leave NAME SECONDS: leaves the measurement to the next call.
leave() {
    local seconds
    seconds=$(expect_seconds "$1" "$2")
    left+=" $1" left_seconds=$((left_seconds + seconds)) longest=$((seconds > longest ? seconds : longest))
}

# measure NAME SECONDS COMMAND...: runs the command for at most ten minutes, unless it succeeded in an earlier call or took too
# long, or the SECONDS that it takes on one H100 are not left. Writes its exit status to NAME/status when it ends, as 0 if it matches
# the pattern in $answers, and its seconds to NAME/seconds.
measure() {
    local name=$1 expected=$2 status=0 limit=600 begin && shift 2
    local to=$output/$name
    # shellcheck disable=SC2053 # too_long is a pattern
    [[ $name != $too_long ]] || { say "$name: left out by --quick"; return; }
    if [ -n "$dry_run" ]; then
        echo "$name, about $expected s: $(quote_words "$@")"
        left_seconds=$((left_seconds + expected))
        return
    fi
    [ -z "$end" ] || [ $((end - SECONDS)) -ge "$limit" ] || limit=$((end - SECONDS))
    if [[ $(cat "$to/status" 2>/dev/null) == @(0|124|137) ]]; then
        say "$name: ended earlier with status $(<"$to/status")"
    elif [ "$limit" -lt "$(expect_seconds "$name" "$expected")" ]; then
        leave "$name" "$expected"
        return
    else
        say "$name, about $expected s: $*"
        check_run "$to" output.txt
        rm -rf "$to"
        mkdir -p "$to"
        begin=$SECONDS
        wait_child watch_gpus "$to" timeout --foreground --kill-after=10 "$limit" "$@" || status=$?
        echo $((SECONDS - begin)) >"$to/seconds"
        if [[ $status == @(124|137) ]] && [ "$limit" -lt 600 ]; then # the next call gives it more time
            leave "$name" "$expected"
            pack_results
            return
        fi
        # shellcheck disable=SC2053 # answers is a pattern
        [[ $status != ${answers:-0} ]] || status=0
        echo "$status" >"$to/status"
        pack_results
    fi
    measured=$((measured + 1))
    [ "$(<"$to/status")" = 0 ] || failed+=" $name"
    [[ -n $reference && -e $to/summary.json ]] || return 0
    [ -e "$reference/$name/summary.json" ] || { alone+=" $name"; return; }
    status=0
    build/ddpbench compare "$reference/$name" "$to" --allow gpu | tee "$to/compared.txt" || status=$?
    [ "$status" -le "$worst" ] || worst=$status
}

# list_measurements: prints a line for each measurement of this and earlier calls: status, seconds and, of the samples in which a
# GPU worked, the clock's median and 5 % quantile, the median power, and the share held back by power, temperature or hardware.
list_measurements() {
    local file
    echo "measurement status seconds clock_MHz low_MHz power_W hottest_C held_back_%"
    while read -r file; do
        awk -F', *' -v name="${file%/seconds}" -v status="$(cat "$output/${file%seconds}status" 2>/dev/null || echo cut-off)" \
            -v seconds="$(<"$output/$file")" '
            function median(x, n, i, j, t) {
                for (i = 2; i <= n; i++) for (j = i; j > 1 && x[j] < x[j - 1]; j--) { t = x[j]; x[j] = x[j - 1]; x[j - 1] = t }
                return n ? (x[int((n + 1) / 2)] + x[int(n / 2) + 1]) / 2 : "N/A"
            }
            $1 ~ /^[0-9]+$/ && $1 > 0 {
                clock[++n] = $2 + 0
                power[n] = $3 + 0
                if ($4 + 0 > hottest) hottest = $4 + 0
                held += $5 == "Active" || $6 == "Active" || $7 == "Active"
            }
            END { print name, status, seconds, median(clock, n), n ? clock[int((n + 19) / 20)] : "N/A", median(power, n), n ? hottest : "N/A",
                n ? sprintf("%.0f", 100 * held / n) : "N/A" }' "$(ls "$output/${file%seconds}gpu.csv" 2>/dev/null || echo /dev/null)"
    done < <(cd "$output" && find . -name seconds -printf '%P\n' | sort)
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

# check_boards: refuses GPUs other than those of which the directory has results.
check_boards() {
    local here
    if ! here=$(nvidia-smi -L 2>/dev/null); then
        say "there is no nvidia-smi here: clocks and power are not recorded, nor which GPU it is"
    elif [ -e "$output/gpus.txt" ]; then
        [ "$here" = "$(<"$output/gpus.txt")" ] || die "--output $output: has results of other GPUs, $(head -n 1 "$output/gpus.txt"); \
here is $(head -n 1 <<<"$here"): give another --output"
    else
        echo "$here" >"$output/gpus.txt"
    fi
}

trap end_child EXIT
trap_signals
[ -z "$bare" ] || [ -n "$dry_run" ] || prepare_bare
gpus=2
[[ -n $dry_run && -z ${CUDA_VISIBLE_DEVICES:-} ]] || gpus=$(count_gpus)
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
    check_boards
    write_file "$output/provenance.txt" provenance
fi

# ---- what is measured ----
ranks=("${mpirun[@]}" -n "$gpus" build/ddpbench) monitor=()
! command -v nvidia-smi >/dev/null || monitor=(--monitor-gpu)
on=(--device cuda --dtype bf16) unpadded=50257 padded=50304 largest=1G small=() too_long=''
tiny=(--d-model 128 --num-layers 2 --num-heads 2 --context-length 64 --batch-size-per-rank 2)
model=(--batch-size-per-rank 32 --bucket-size-mb 25) gpt2=(--preset gpt2-small --batch-size-per-rank 16 --bucket-size-mb 25)
rounds=(--rounds 8) many=(--rounds 20) profile=(--rounds 30) few=(--rounds 5) trace=(--rounds 2) bytes=64M
step=() gpt2_step=(--context-length 1024 --batch-size 16) kernels=(--rounds 20)
if [ -n "$quick" ]; then # sizes that even an emulated GPU computes in seconds
    unpadded=57 padded=64 largest=64K small=(--quick) bytes=64K
    too_long='@(kernels-fp32|step-large|tests/@(device|comm|parity-*|cuda*))'
    tiny=(--d-model 32 --num-layers 1 --num-heads 2 --context-length 16 --vocab-size 100 --batch-size-per-rank 2)
    model=("${tiny[@]}") gpt2=("${tiny[@]}") rounds=(--rounds 1) many=(--rounds 1) profile=(--rounds 1) few=(--rounds 1) trace=(--rounds 1)
    gpt2_step=(--quick --d-model 32 --num-layers 1 --num-heads 2 --context-length 16 --pairs 1)
    step=("${gpt2_step[@]}" --vocab-size 256) kernels=(--quick --array-mib 2 --rounds 1)
fi
torch=$dry_run # 1: PyTorch can be measured
[ -n "$torch" ] || ! "$python" -c 'import numpy, torch; assert torch.cuda.is_available()' 2>/dev/null || torch=1

part_tests() {
    measure_tests device 12 'unit/kernels/*'
    measure_tests model 8 'unit/ddp/*'
    measure_tests comm 6 'mpi/comm*'
    measure_tests parity-mpi 8 'mpi/parity*by mpi*'
    measure_tests parity-nccl 8 'mpi/parity*by nccl*'
}
# measure_tests NAME SECONDS PATTERN: runs the tests whose names match the pattern.
measure_tests() { measure "tests/$1" "$2" env TEST_ONLY="$3" tests/run.sh --gpu build; }

part_step() {
    measure step 18 build/bench_step "${on[@]}" "${step[@]}"
    measure step-50257 18 build/bench_step "${on[@]}" "${gpt2_step[@]}" --vocab-size "$unpadded"
    measure step-cublaslt 20 build/bench_step "${on[@]}" "${step[@]}" --blas cublaslt
}

part_strategies() {
    measure strategies 30 "${ranks[@]}" "${on[@]}" "${model[@]}" --steps-per-block 7 "${rounds[@]}" --implementations \
        none,a=none,ddp_bucketed,b=ddp_bucketed,ddp_sharded,ddp_powersgd:4,ddp_local:7 --output "$output/strategies"
}

# measure_peers FIRST LAST: rounds of the three programs in turn. PyTorch keeps what it compiled in its cache.
measure_peers() {
    local i list=none
    [ "$gpus" = 1 ] || list=none,ddp_bucketed
    local options=("${on[@]}" "${model[@]}" "${few[@]}" --implementations "$list")
    local theirs=("$python" -m torch.distributed.run --standalone --nproc-per-node "$gpus" bench/peers/torch_ddp.py
        "${options[@]}" --residual-dtype bf16)
    for ((i = $1; i <= $2; i++)); do
        measure "peers/ddpbench-$i" 15 "${ranks[@]}" "${options[@]}" --output "$output/peers/ddpbench-$i"
        measure "peers/torch_compile-$i" $((i == 1 ? 80 : 45)) "${theirs[@]}" --compile --output "$output/peers/torch_compile-$i"
        measure "peers/torch-$i" 30 "${theirs[@]}" --output "$output/peers/torch-$i"
    done
    [ -n "$dry_run" ] || compare_peers
}
# compare_peers: compares PyTorch's runs with ours, as far as there are any.
compare_peers() {
    local peer ours theirs status
    ours=$(ended_peers ddpbench)
    for peer in torch torch_compile; do
        theirs=$(ended_peers "$peer")
        [[ -n $ours && -n $theirs ]] || continue
        status=0
        # shellcheck disable=SC2086 # names without blanks
        (cd "$output/peers" && "$OLDPWD/build/ddpbench" compare $ours --candidate $theirs --allow implementations --label "ddpbench,$peer") |
            tee "$output/peers/$peer.txt" || status=$?
        [[ $status == [034] ]] || failed+=" peers/$peer.txt" # regressed (3) and ambiguous (4) are not failures
    done
}
# ended_peers PROGRAM: prints the names of its runs that ended with status 0.
ended_peers() {
    local file
    for file in "$output/peers/$1"-*/status; do
        [ "$(cat "$file" 2>/dev/null)" != 0 ] || basename "$(dirname "$file")"
    done
}
part_peers() { if [ -n "$torch" ]; then measure_peers 1 2; else skipped+=" peers"; fi; }

part_profile() {
    measure profile/ddp_bucketed 25 "${ranks[@]}" "${on[@]}" "${model[@]}" "${profile[@]}" "${monitor[@]}" --profile \
        --profile-implementation ddp_bucketed --profile-output-dir "$output/profile"
    measure profile-gpt2-small/ddp_bucketed 25 "${ranks[@]}" "${on[@]}" "${gpt2[@]}" "${profile[@]}" "${monitor[@]}" --profile \
        --profile-implementation ddp_bucketed --profile-output-dir "$output/profile-gpt2-small"
}

part_kernels() {
    measure kernels-bf16 20 build/bench_kernels "${on[@]}" "${kernels[@]}"
    if [ -n "$torch" ]; then measure torch 15 "$python" bench/peers/torch_kernels.py --device cuda "${small[@]}"; else skipped+=" torch"; fi
}

# NCCL: what one GPU can show. Ranks on one GPU show that they work, not how fast they are.
part_nccl() {
    local two=(--share-gpu --profile --profile-implementation ddp_bucketed) isolate=(isolate --per rank --device cuda --comm nccl
        --bytes "$bytes" --max-minutes 0.1 --output "$output/nccl/isolate")
    measure nccl/two-on-one 12 "${mpirun[@]}" -n 2 "${as_hosts[@]}" build/ddpbench "${on[@]}" "${tiny[@]}" "${trace[@]}" "${two[@]}" \
        --comm nccl --profile-output-dir "$output/nccl/two-on-one/run"
    if [ -z "$dry_run" ] && [ "$(cat "$output/nccl/two-on-one/status" 2>/dev/null)" != 0 ]; then
        leave nccl/trace 3 # there is no trace yet
    elif command -v "$python" >/dev/null; then
        measure nccl/trace 3 "$python" tests/gpu/gpu_trace.py "$output/nccl/two-on-one/run"
    else
        skipped+=" nccl/trace"
    fi
    if [ "$gpus" -ge 3 ]; then isolate=("${ranks[@]}" "${isolate[@]}"); else
        isolate=("${mpirun[@]}" -n 3 "${as_hosts[@]}" build/ddpbench "${isolate[@]}" --share-gpu)
    fi
    answers='[034]' measure nccl/isolate 25 "${isolate[@]}" # 3, slow, and 4, undecided, are answers
    [ "$gpus" = 1 ] || measure allreduce 60 "${ranks[@]}" allreduce --device cuda --comm nccl -b 8 -e "$largest" -f 2 --output "$output/allreduce"
}

# measure_with TOOL NAME SECONDS ARGUMENT...: runs the tool with the arguments as measurement NAME, if the tool is installed.
measure_with() {
    local path
    path=$(command -v "$1" || ls "${CUDA_HOME:-/usr/local/cuda}/bin/$1" 2>/dev/null || { [ -n "$dry_run" ] && echo "$1"; }) ||
        { skipped+=" $2"; return; }
    measure "$2" "$3" "$path" "${@:4}"
}
part_more() {
    measure_with compute-sanitizer tests/racecheck 60 --tool racecheck --error-exitcode 1 --target-processes all \
        env CK_RUN_CASE=attention build/tests/unit/kernels/test_device
    measure_with compute-sanitizer tests/memcheck 60 --error-exitcode 1 --target-processes all build/bench_step "${on[@]}" --quick --vocab-size 1000
    [ -z "$torch" ] || measure_peers 3 5
    measure benchmark 60 "${ranks[@]}" "${on[@]}" "${model[@]}" "${many[@]}" "${monitor[@]}" --output "$output/benchmark"
    measure benchmark-gpt2-small 60 "${ranks[@]}" "${on[@]}" "${gpt2[@]}" "${rounds[@]}" "${monitor[@]}" --output "$output/benchmark-gpt2-small"
    measure step-50304 18 build/bench_step "${on[@]}" "${gpt2_step[@]}" --vocab-size "$padded"
    measure step-large 40 build/bench_step "${on[@]}" --d-model 1600 --num-heads 25 --num-layers 24
    measure kernels-fp32 30 build/bench_kernels --device cuda --dtype fp32 "${kernels[@]}"
    measure_with ncu tools/ncu 90 --target-processes all --clock-control none --set full -k 'regex:attention|rmsnorm|cross|swiglu' \
        -c 16 build/bench_kernels "${on[@]}" "${small[@]}"
    measure_with ncu tools/ncu-products 60 --target-processes all --clock-control none --set basic -k 'regex:gemm|cutlass|nvjet' -c 40 \
        build/bench_kernels "${on[@]}" "${small[@]}"
    measure_tests cuda 120 cli/cuda.sh
    measure_tests cuda_profile 120 cli/cuda_profile.sh
}

for part in "${parts[@]}"; do "part_$part"; done
[ -n "$dry_run" ] || write_file "$output/measurements.txt" list_measurements || failed+=" measurements.txt"
pack_results
[ -z "$dry_run" ] || { echo "in all about $left_seconds s; GPUs: $gpus"; exit 0; }
column -t "$output/measurements.txt" 2>/dev/null || cat "$output/measurements.txt"
[ "$longest" -lt "${end:-600}" ] || left+=" (the longest needs --minutes $((longest / 60 + 2)))"
say "$measured measurements ended${left:+; LEFT, about $left_seconds s:$left}${failed:+; FAILED:$failed (see output.txt of each)}\
${skipped:+; SKIPPED:$skipped (no Python, no PyTorch that sees a GPU, or no such tool)}\
${alone:+; NOT COMPARED, as --reference has none:$alone}\
$([ -z "$left$failed" ] || echo "; the same command with --output $(quote_words "$output") goes on")"
[ -z "$failed" ] || exit 1
[ -z "$left" ] || exit 7
exit "$worst"
