#!/usr/bin/env bash
# cuda_profile.sh - profiles on GPUs: the content of the traces, with and without CUPTI. Tests
# BUILD_DIR/emulated/ddpbench, with emulated GPUs, NCCL and CUPTI. If REAL_GPU=1, tests BUILD_DIR/ddpbench on the
# machine's GPUs instead.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

[ -n "${REAL_GPU:-}" ] || program=$build/emulated/ddpbench
[ -x "$program" ] || { say "there is no $program; build it first"; exit 2; }
command -v python3 >/dev/null || { echo "skip - profiles on GPUs: no python3 here"; exit 0; }
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 # libraries of MPI leak memory
tiny=(--d-model 32 --num-layers 2 --num-heads 2 --d-ff 48 --context-length 16 --batch-size 2 --vocab-size 64 --num-epochs 5
    --warmup-epochs 2 --rounds 0 --device cuda --profile --profile-implementation ddp_bucketed --bucket-size-mb 0.015)

before=() # words before the program
# profile NAME RANKS OPTION...: makes a profile with traces in directory NAME.
profile() {
    local name=$1 ranks=$2
    shift 2
    rm -rf "$name"
    latest "${tiny[@]}" --profile-output-dir "$name" "$@"
    try "${mpirun[@]}" -n "$ranks" "${before[@]}" "$program" "${latest[@]}"
    result "$status" "$name: exit status 0"
}

# has NAME RANK: checks the trace of the rank; writes the number of rows of each kind in the trace to the file `counts`.
has() { keeps "$1/ddp_bucketed_rank_$2_trace.json" "$1: the trace of rank $2 is complete"; }
keeps() {
    status=0
    "$root/tests/gpu/gpu_trace.py" "$1" >counts 2>said || status=$?
    result "$status" "$2"
}
# holds NAME: checks that the trace of rank 0 contains the device's allocations.
holds() {
    succeeds "$1: the trace contains allocations" python3 -c "import json
rows = json.load(open('$1/ddp_bucketed_rank_0_trace.json'))['traceEvents']
assert sum(r['args']['Bytes'] for r in rows if r['name'] == '[memory]') > 0"
}
count() { awk -v name="$1" '$1 == name { n = $2 } END { print n + 0 }' counts; }

# ---- with CUPTI ----
profile one 1
has one 0
is "one: the trace contains every step" "$(count steps)" 5
succeeds "one: the trace contains kernels and host operations" test "$(count kernel)" -gt 300 -a "$(count cpu_op)" -gt 300
is "one: no kernels are reported missing" "$(grep -c 'CUPTI unavailable\|missing in' said one/*_summary.txt | tail -1)" "one/ddp_bucketed_summary.txt:0"
us=$(awk -F '"compute_ms": ' '/"captured": true/ { us += 1000 * $2 } END { print us }' one/ddp_bucketed/rank_0_metrics.jsonl)
succeeds "one: compute_ms ($us us) is the union of the kernels in the trace" \
    awk -v us="$us" -v trace="$(count compute_us)" 'BEGIN { exit !(us > 0 && us / trace > 0.99 && us / trace < 1.01) }'
if [ -z "${REAL_GPU:-}" ]; then # two ranks cannot share a real GPU with NCCL
    profile two 2 --comm nccl
    has two 0
    holds two
    is "two: one NCCL kernel for each bucket of each step" "$(count nccl)" 25
    kernels=$(count kernel)
    has two 1
    is "two: ranks 0 and 1 have equal numbers of kernels" "$(count kernel)" "$kernels"
    is "two: the trace lists all GPUs that the rank sees" "$(count gpus)" 8
    keeps two "two: collectives, waits and stragglers follow from the NCCL kernels"
    succeeds "two: more than 40 figures are compared with the kernels" test "$(count compared)" -gt 40
    keeps two/ddp_bucketed/all_ranks/ddp_bucketed_all_ranks_trace.json "two: the trace of all ranks is complete"
    is "two: the trace of all ranks has a GPU for each rank" "$(count gpus)" 2
    profile staged 2 --comm mpi
    has staged 1
    holds staged
    is "staged: no NCCL kernels" "$(count nccl)" 0
    succeeds "staged: copies to the host and back" test "$(count gpu_memcpy)" -ge 50
    succeeds "staged: the share of copies in the step is that of the trace, on the rank with most" python3 -c "import json
shares = []
for rank in 0, 1:
    rows = json.load(open(f'staged/ddp_bucketed_rank_{rank}_trace.json'))['traceEvents']
    lines = [line for line in map(json.loads, open(f'staged/ddp_bucketed/rank_{rank}_metrics.jsonl')) if line['epoch_kind'] == 'active']
    first, end, busy = 1000 * lines[0]['trace_start_ms'], 0, 0
    for start, stop in sorted((r['ts'], r['ts'] + r['dur']) for r in rows if r.get('cat') == 'gpu_memcpy' and 'DtoD' not in r['name'] and r['ts'] >= first):
        busy, end = busy + max(0, stop - max(start, end)), max(end, stop)
    shares.append(busy / 10 / sum(line['step_ms'] for line in lines))
table = next(t for t in json.load(open('staged/ddp_bucketed/summary.json'))['tables'] if t['key'] == 'criteria')
found = next(row['percent'] for row in table['rows'] if row['criterion'].startswith('copies'))
assert 0 < max(shares) and abs(found - max(shares)) < 0.02 * found, (found, shares)"
fi
if [ -z "${REAL_GPU:-}" ]; then # NVTX ranges of epochs, steps and collectives; each epoch has one step
    EMULATED_NVTX=2 profile ranges 1 --comm nccl --profile-activities cpu --num-epochs 2 --warmup-epochs 1
    grep '^NVTX: ' said | tr -d '\n' >heard
    succeeds "ranges: NVTX ranges nest: epoch, step, collective" grep -qE \
        ' warmup_epoch_1\( start ProfilerStep#1\( .* all_reduce bucket 4\( \) .* \) \) active_epoch_2\( ProfilerStep#2\( ' heard
    is "ranges: profilers record the captured steps" "$(grep -oE ' (start|stop) |ProfilerStep#[0-9]+' heard | tr -d ' ' | paste -sd ' ')" \
        "start ProfilerStep#1 ProfilerStep#2 stop"
    is "ranges: every NVTX range ends; only the domain is not closed" "$(tr -cd '(' <heard | wc -c)" "$(($(tr -cd ')' <heard | wc -c) + 1))"
fi
profile cycles 1 --profile-wait 1 --profile-warmup 1 --profile-active 1 --profile-repeat 1
has cycles 0
is "cycles: the trace contains one step" "$(count steps)" 1
# The upper limit is below the number of kernels in two steps. A real cuBLAS launches some kernels more than the emulated one.
succeeds "cycles: the trace contains the kernels of one step" test "$(count kernel)" -gt 50 -a "$(count kernel)" -lt 200

# ---- two ranks on one GPU ----
# NCCL before 2.30 refuses two ranks on one GPU, unless each rank seems to be on a host of its own.
before=("${as_hosts[@]}")
EMULATED_CUDA_GPUS=1 profile shared 2 --share-gpu --comm nccl
has shared 0
is "shared: one NCCL kernel for each bucket of each step" "$(count nccl)" 25
before=()

# ---- selected activities ----
profile cpu 1 --profile-activities cpu
has cpu 0
is "--profile-activities cpu: no GPU rows" "$(grep -cE '^(kernel|gpu_|cuda_)' counts)" 0
profile gpu 1 --profile-activities cuda
has gpu 0
is "--profile-activities cuda: no host operations" "$(count cpu_op)" 0
succeeds "--profile-activities cuda: kernels" test "$(count kernel)" -gt 300

# ---- overhead ----
if [ -z "${REAL_GPU:-}" ]; then # a tracer that takes 2 ms per record
    EMULATED_CUPTI_US=2000 profile slow 1 --profile-implementation ddp --bucket-size-mb auto --num-epochs 1 --warmup-epochs 0 --rounds 1 --steps-per-block 1
    is "slow: profiling_overhead includes the time that the tracer takes" \
        "$(awk -F, '$3 == "profiling_overhead" { print ($6 > 1.5) }' slow/ddp/summary.csv)" 1
    is "slow: only traced blocks have kernels" \
        "$(grep -v captured slow/ddp/rank_0_metrics.jsonl | grep -c 'untraced.*compute_ms\|"ddp".*compute_ms": null')" 0
    profile before 1 --profile-implementation ddp --bucket-size-mb auto --num-epochs 1 --warmup-epochs 0 --rounds 6 --steps-per-block 1
    is "before: the step before the tracer's first start is a separate control, and tracer_residue is relative to it" \
        "$(awk -F, '$2 ~ /before_tracer/ && $3 == "step" { n = $9; before = $6 } $2 == "untraced" && $3 == "step" { untraced = $6 }
            $3 == "tracer_residue" { print n, ($6 > 0.99 * untraced / before && $6 < 1.01 * untraced / before) }' before/ddp/summary.csv)" "7 1"
fi

# ---- without CUPTI ----
if [ -z "${REAL_GPU:-}" ]; then
    EMULATED_CUPTI=taken profile taken 2 --comm nccl
    check 0 "CUPTI used by another tool: a note on stderr" '^CUPTI unavailable \(.*another tool is tracing this process'
    is "CUPTI used by another tool: the note is printed once" "$(grep -c 'another tool' said)" 1
    is "CUPTI used by another tool: a note in the summary" "$(texts taken/ddp_bucketed/summary.json | grep -c 'CUPTI unavailable (.*no kernels, and when the GPU computed is N/A\.$')" 1
    is "CUPTI used by another tool: a note in the trace" "$(grep -c '"labels": "GPU 0 .*times are of CUDA events: another tool' taken/ddp_bucketed_rank_0_trace.json)" 1
    has taken 1
    is "CUPTI used by another tool: no kernels" "$(grep -cE '^(kernel|gpu_mem|cuda_)' counts)" 0
    succeeds "CUPTI used by another tool: the trace contains operations and collectives" test "$(count gpu_user_annotation)" -gt 200
    is "CUPTI used by another tool: compute_ms is null" "$(grep -c '"captured": true.*"compute_ms": null.*"hidden_ratio": null' \
        taken/ddp_bucketed/rank_1_metrics.jsonl)" 5
    EMULATED_CUPTI_LOSE=10 profile lost 1
    has lost 0
    is "kernels without times are reported" "$(texts lost/ddp_bucketed/summary.json | grep -cE 'and [1-9][0-9]* had no times')" 1
fi

exit "$failed"
