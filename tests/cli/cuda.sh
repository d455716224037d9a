#!/usr/bin/env bash
# cuda.sh - the program on a GPU: its losses agree with the CPU's, repeated runs are bitwise equal, and failures of
# drivers, GPUs and NCCL end it on every rank with one error line. Tests BUILD_DIR/emulated/ddpbench, with an emulated
# GPU and NCCL that can be made to fail. If REAL_GPU=1, tests BUILD_DIR/ddpbench on the machine's GPUs instead, without
# those failures. BUILD_DIR/ddpbench computes the CPU's losses.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

on_cpu=$program
[ -n "${REAL_GPU:-}" ] || program=$build/emulated/ddpbench
[ -x "$program" ] || { say "there is no $program; build it first"; exit 2; }
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 # libraries of MPI leak memory
tiny=(--d-model 32 --num-layers 2 --num-heads 2 --d-ff 48 --context-length 16 --batch-size 2 --vocab-size 256
    --implementations ddp_bucketed --bucket-size-mb 0.02 --rounds 1 --num-epochs 21 --warmup-epochs 3)

# The training text is this project's own files.
cat "$root"/README.md "$root"/ddp/*.c >text

# train NAME PROGRAM RANKS OPTION...: runs the program, each rank by the command `before`; writes the losses to NAME.losses, one per step.
before=()
train() {
    local name=$1 what=$2 ranks=$3
    shift 3
    rm -rf "$name"
    latest "${tiny[@]}" --data text --output "$name" "$@"
    try "${mpirun[@]}" -n "$ranks" "${before[@]}" "$what" "${latest[@]}"
    result "$status" "$name: exit status 0"
    [ ! -e "$name" ] || sed -n 's/.*"loss": \([^,}]*\).*/\1/p' "$name/rank_0_metrics.jsonl" >"$name.losses"
}

# apart A B: prints the largest relative difference between the losses of two runs; 1 if the numbers of losses differ or are below 20.
apart() {
    paste "$1.losses" "$2.losses" | awk '
        NF != 2 || $2 <= 0 { bad = 1 }
        { d = ($1 - $2) / $2; if (d < 0) d = -d; if (d > worst) worst = d; n++ }
        END { print (bad || n < 20) ? 1 : worst + 0 }'
}

# close A B LIMIT: checks that the losses of A and B differ by at most LIMIT, relative to B.
close() {
    local worst
    worst=$(apart "$1" "$2")
    echo "largest relative difference: $worst" >>said
    result "$(awk -v a="$worst" -v b="$3" 'BEGIN { print !(a <= b) }')" "losses of $1 and $2 agree within $3 over the run"
}

# learns NAME: checks that the last five losses of a run are on average lower than the first five.
learns() {
    result "$(awk '{ loss[NR] = $1 } END { for (i = 1; i <= 5; i++) { first += loss[i]; last += loss[NR + 1 - i] }
        print !(last < 0.985 * first) }' "$1.losses")" "$1: the loss decreases"
}

train cpu "$on_cpu" 1 --device cpu
learns cpu
for dtype in fp32 tf32 bf16; do
    try "${mpirun[@]}" -n 1 "$program" check --device cuda --dtype $dtype
    is "check in $dtype covers the GPU and the CPU" "$status $(grep -oE '^(ok|warning) +(products|collectives) +on (cuda|cpu)' printed | sort -u | wc -l)" "0 4"
done
train fp32 "$program" 1 --device cuda
close fp32 cpu 1e-4
train again "$program" 1 --device cuda --num-epochs 8
is "two runs have the same losses bit for bit" "$(cat again.losses)" "$(head -n 7 fp32.losses)"
train tf32 "$program" 1 --device cuda --dtype tf32
close tf32 cpu 1e-2
train bf16 "$program" 1 --device cuda --dtype bf16
close bf16 cpu 3e-2
learns bf16
is "losses of bf16 and fp32 differ" "$(cmp -s bf16.losses fp32.losses && echo the same || echo another)" another

# ---- products by cublasLt ----

# algorithms NAME: prints which of cublasLt's proposals a run used, and for how many products.
algorithms() { sed -n 's/^.*"used":[[:space:]]*\([0-9]*\),$/\1/p' "$1/run.json" | sort | uniq -c | xargs; }
EMULATED_CUBLASLT_FASTEST=0 train cublaslt "$program" 1 --device cuda --blas cublaslt
close cublaslt fp32 1e-4
EMULATED_CUBLASLT_FASTEST=2 train cublaslt_bf16 "$program" 1 --device cuda --dtype bf16 --blas cublaslt --gemm-sms 4
close cublaslt_bf16 bf16 3e-2
is "--blas cublaslt: run.json has the algorithm of each of three products of four weights" "$(grep -c '"used":' cublaslt/run.json)" 12

# ---- bad input ----

latest "${tiny[@]}" --device cuda --d-model 1024 --num-heads 2
try "$program" "${latest[@]}"
check 1 "heads wider than the GPU's attention supports are refused" 'heads of width 512: on a GPU they are at most 256 wide'
for device in cuda cpu; do
    heads=12
    [ $device = cuda ] || heads=4
    try "$program" --device $device --d-model 770
    check 2 "the preset on $device has $heads heads" "--num-heads $heads does not divide --d-model 770 "
done
try "$program" "${tiny[@]}" --device gpu
check 2 "an unknown device is refused" '--device gpu: expected auto, cpu or cuda'
try "$program" "${tiny[@]}" --device cpu --dtype bf16
check 1 "--dtype bf16 on the CPU is refused" '--dtype bf16 needs a GPU'
try "$program" "${tiny[@]}" --device cpu --comm nccl
check 1 "--comm nccl on the CPU is refused" '--comm nccl'

try "$program" "${tiny[@]}" --device cuda --blas mkl
check 2 "an unknown library of products is refused" '--blas mkl: expected auto, cblas, onednn, cublas or cublaslt'
try "${mpirun[@]}" -n 2 "$program" "${tiny[@]}" --device cpu --blas cublaslt
check 1 "--blas cublaslt on the CPU is refused" '--blas cublaslt: it needs a GPU; on the CPU it is auto, cblas or onednn'
try "$program" "${tiny[@]}" --device cuda --blas onednn
check 1 "--blas onednn on a GPU is refused" '--blas onednn are for CPUs; on a GPU it is auto, cublas or cublaslt'
try "$program" "${tiny[@]}" --device cuda --blas cublaslt --gemm-sms 1024
check 1 "--gemm-sms above the GPU's number is refused" '--gemm-sms 1024: GPU 0, .*, has only [0-9]+ multiprocessors'

if [ -n "${REAL_GPU:-}" ]; then
    exit "$failed"
fi

# The emulated algorithm 0 sums as the emulated cuBLAS does, and others in parts.
is "losses by cublasLt's first proposal are those by cuBLAS" "$(cat cublaslt.losses)" "$(cat fp32.losses)"
is "the fastest proposals are used" "$(algorithms cublaslt), $(algorithms cublaslt_bf16)" "12 0, 12 1"

# pair NAME A B OPTION...: trains on two GPUs with algorithm A the fastest on rank 0 and B on rank 1; writes rank 1's losses.
pair() {
    latest "${tiny[@]}" --num-epochs 6 --device cuda --blas cublaslt --output "$1"
    EMULATED_CUBLASLT_APART=100 try "${mpirun[@]}" -n 1 env "EMULATED_CUBLASLT_FASTEST=$2" "$program" "${latest[@]}" : \
        -n 1 env "EMULATED_CUBLASLT_FASTEST=$3" "${@:4}" "$program" "${latest[@]}"
    [ ! -e "$1" ] || sed -n 's/.*"loss": \([^,}]*\).*/\1/p' "$1/rank_1_metrics.jsonl" >"$1.losses"
}
pair first 2 2
is "rank 0 chooses" "$status $(algorithms first)" "0 12 1"
pair second 2 3
is "and rank 1, for which another algorithm is faster, has the same losses" "$status $(algorithms second) $(cat second.losses)" "0 12 1 $(cat first.losses)"
pair third 3 3
is "which differ by another algorithm" "$status $(algorithms third) $(cmp -s third.losses first.losses && echo the same || echo another)" "0 12 2 another"
pair versions 2 2 EMULATED_CUBLASLT_VERSION=120900
check 1 "ranks with different versions of cublasLt are refused" 'rank 0 has version 130100 of cublasLt, but this rank 120900'

EMULATED_CUBLASLT_PROPOSALS=0 try "$program" "${tiny[@]}" --device cuda --blas cublaslt
check 1 "a product for which cublasLt has no algorithm ends the run" 'cublasLt has no algorithm for a product of [0-9]+ x [0-9]+, .*--blas cublas avoids cublasLt'

# ---- several GPUs ----

train cpus "$on_cpu" 2 --device cpu
train nccl "$program" 2 --device cuda --comm nccl
close nccl cpus 1e-4
EMULATED_NCCL_MEMORY=0 train unregistered "$program" 2 --device cuda --comm nccl
is "if NCCL cannot allocate memory, losses are the same, and run.json says that buffers are not registered" \
    "$(cat unregistered.losses) $(grep -o 'buffers [a-z ]*' unregistered/run.json | sort -u)" "$(cat nccl.losses) buffers not registered"
# Uploads use 16 of the 17 MiB of pinned memory. The rest suffices for one gradient (133 KiB), not for one per collective.
EMULATED_CUDA_GPUS=1 EMULATED_PINNED_MIB=17 train shared "$program" 2 --device cuda --share-gpu --implementations ddp_flat --bucket-size-mb auto
close shared cpus 1e-4

# Eight ranks (fewer if /dev/shm is small) on two made-up hosts, each of which sees its own GPU only, train with all strategies.
half=$(at_most 4 9)
[ "$half" != 3 ] || half=2 # the number of ranks divides the batch
if ! name_hosts "$half"; then
    echo "skip - ddp_hierarchical on several hosts: needs root"
    named=()
fi
# shellcheck disable=SC2016 # expanded by the shell of each rank
before=("${named[@]}" sh -c 'EMULATED_CUDA_ONLY=${PMI_RANK:-$OMPI_COMM_WORLD_RANK} exec "$@"' sh)
strategies=(--implementations 'ddp_bucketed,ddp_sharded,ddp_powersgd:2,ddp_hierarchical,ddp_local:2,ddp_individual_v2' --wire-dtype 'fp32,bf16'
    --batch-size 8 --num-epochs 3 --warmup-epochs 1)
train cpus_of_all "$on_cpu" $((2 * half)) --device cpu "${strategies[@]}"
train nccl_of_all "$program" $((2 * half)) --device cuda --comm nccl "${strategies[@]}"
before=()
close nccl_of_all cpus_of_all 1e-3
succeeds "a summary warns of GPUs that a control group hides" grep -q 'Warning: a control group or container hides GPUs' nccl_of_all/summary.txt

isolate() { try "${mpirun[@]}" -n 3 "$program" isolate --device cuda --comm nccl --per rank --bytes 64K --resolve 50% --max-minutes 0.05 --output "$@"; }
isolate searched
is "isolate on three GPUs judges each rank" "$(grep -cE '^rank [0-2] on .* (healthy|slow|undecided)' printed) $([[ $status = [034] ]] && echo judged || echo "status $status")" "3 judged"
is "isolate on GPUs measures groups" "$(grep -c '"part":"all-reduces among groups of 2".*"all_reduce":' searched/rank_0_metrics.jsonl | awk '{ print ($1 >= 13) }')" 1

# ---- failures ----

# broken RANKS OPTION...: makes a short run with something broken.
broken() {
    local ranks=$1
    shift
    rm -rf out
    latest "${tiny[@]}" --output out "$@"
    try "${mpirun[@]}" -n "$ranks" "$program" "${latest[@]}"
}
lines() { grep -c 'ddpbench: ' said || true; }

EMULATED_CUDA_DRIVER=none broken 2 --device cuda
check 1 "--device cuda without a driver is an error" 'there is no NVIDIA driver on this machine'
is "no driver: the error is printed once" "$(lines)" 1
EMULATED_CUDA_DRIVER=none broken 2 --device auto
check 0 "no driver, --device auto: runs on the CPU and prints the reason" 'computing on the CPU: there is no NVIDIA driver on this machine'
EMULATED_CUDA_DRIVER=old broken 2 --device cuda
check 1 "a driver that is too old is an error" 'the NVIDIA driver is too old: it supports CUDA up to [0-9.]+, and this program was built with [0-9.]+'
EMULATED_CUDA_GPUS=0 broken 2 --device cuda
check 1 "--device cuda without a GPU is an error" 'shows no GPU'
EMULATED_CUDA_GPUS=0 try "$program" check --dtype bf16
check 1 "check says why it uses no GPU" 'needs a GPU; on the CPU it is fp32. No GPU is used: the NVIDIA driver shows no GPU'
EMULATED_CUDA_GPUS=1 broken 2 --device cuda
check 1 "two ranks on one GPU are refused" 'share.*--share-gpu'
EMULATED_CUDA_ARCH=70 broken 2 --device cuda
check 1 "a GPU of an architecture that the program was not built for is an error" 'is sm_70: build with CUDA_ARCHITECTURES=70'
EMULATED_CUDA_SHARED=65536 broken 2 --device cuda
check 1 "too little shared memory is an error" 'allows a thread block only 65536 bytes of shared memory; attention needs 101376; choose another GPU, or --device cpu'
EMULATED_CUDA_MEMORY=1074000000 broken 2 --device cuda
check 1 "too little GPU memory is detected before allocation" \
    'apart from its libraries, .* has .* KiB of memory free and 1 rank on it needs'
EMULATED_NCCL_FAIL_RANK=1,call=9 broken 2 --device cuda --comm nccl --timeout 5
check 1 "NCCL fails on one rank: the collective is named" 'all_reduce of [0-9]+ float'
result "$([ -s out/run.json ] && echo 0 || echo 1)" "NCCL fails on one rank: run.json is kept"
is "NCCL fails on one rank: no rank is left" "$(gone out)" ''
EMULATED_NCCL_FAIL_RANK=1,call=0 broken 2 --device cuda --comm nccl
check 1 "NCCL fails to connect: the message has what helps" \
    'rank 1: .*NCCL: unhandled system error: .*connecting 2 ranks by NCCL \(NCCL_DEBUG=INFO .*NCCL_NVLS_ENABLE=0.* /dev/shm, which has [0-9]+ MiB free'
EMULATED_NCCL_FAIL_RANK=1,call=5 isolate failing --timeout 60
check 1 "NCCL fails in isolate: its error, the peer and the direction are named" \
    'rank 1: NCCL: unhandled system error: .*, in (sending|receiving) 65536 bytes (to|from) rank [02]'
EMULATED_NCCL_HANG_RANK=1,finalize broken 2 --device cuda --comm nccl --timeout 20
check 0 "NCCL hangs while it disconnects: the run succeeds" 'rank 1: NCCL has not disconnected from the other ranks within 10 s'
succeeds "NCCL hangs while it disconnects: the results are kept" valid out/summary.json
EMULATED_NCCL_HANG_RANK=1,call=9 broken 2 --device cuda --comm nccl --timeout 3
check 1 "NCCL hangs on one rank: the collective and the rank are named" 'all_reduce of [0-9]+ float.*rank 1|rank 1.*all_reduce'
is "NCCL hangs on one rank: no rank is left" "$(gone out)" ''

exit "$failed"
