#!/usr/bin/env bash
# memcheck.sh - on two ranks of each kind of run, valgrind's memcheck finds no invalid access, no use of uninitialised
# memory, and no leak in ddpbench. BUILD_DIR must be built with PORTABLE=1, since valgrind does not support the widest
# vectors. Takes some minutes.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

command -v valgrind >/dev/null || { echo "skip - memcheck: no valgrind here"; exit 0; }
export OPENBLAS_CORETYPE=Haswell # valgrind supports these kernels; x86-64 CPUs since 2013 have them
[ "$(uname -m)" = x86_64 ] || unset OPENBLAS_CORETYPE
limit=600
check=(valgrind --quiet --fair-sched=yes --leak-check=full "--errors-for-leak-kinds=definite,possible" --num-callers=30 --error-exitcode=9
    --suppressions="$root/tests/support/memcheck.supp" --log-file="$temporary/found.%p")

# memcheck WORDS RANKS OPTION...: checks that the program with these options succeeds without memory errors.
memcheck() {
    local words=$1 ranks=$2
    shift 2
    rm -f found.*
    try "${mpirun[@]}" -n "$ranks" "${check[@]}" "$program" "$@"
    cat found.* >>said
    result "$status" "$words: no memory errors"
}

model=(--device cpu --d-model 32 --num-layers 2 --num-heads 2 --d-ff 48 --context-length 16 --batch-size 2 --vocab-size 256)
short=(--rounds 2 --steps-per-block 2 --timeout 0)
memcheck "the benchmark with all optional features" 2 "${model[@]}" "${short[@]}" --implementations all --bucket-size-mb 0.01 \
    --grad-accumulation 1 --data-workers 2 --monitor-cpu --checkpoint-every 2 --output benchmark
memcheck "a warm-up with gradient clipping and data from a file" 2 "${model[@]}" "${short[@]}" --implementations ddp_flat --regime warmup \
    --data "$root/README.md" --output warm-up
memcheck "a profile" 2 "${model[@]}" "${short[@]}" --profile --profile-implementation all --bucket-size-mb 0.01 \
    --profile-output-dir profile
memcheck "allreduce" 2 allreduce --device cpu -b 8 -e 4K -f 8 -n 3 -w 1 -d all -o all --output allreduce
memcheck "allreduce --overlap" 2 allreduce --device cpu --overlap --sizes 1K -n 3 --output overlap
memcheck "a report on the benchmark, the profile and allreduce" 1 report benchmark profile allreduce --output report
memcheck "a comparison" 1 compare allreduce allreduce
exit "$failed"
