#!/usr/bin/env bash
# first_contact.sh - rehearses bench_gpu.sh --first-contact, at small sizes, with the programs of BUILD_DIR/emulated, which have an
# emulated GPU, and a made-up nvidia-smi: each part runs, is continued from the archive, and is not repeated.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

[ -x "$build/emulated/bench_step" ] || { say "there is no $build/emulated/bench_step; build it first"; exit 2; }
command -v python3 >/dev/null || { echo "skip - first contact: no python3 here"; exit 0; }
limit=600
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 # libraries of MPI leak memory
export EMULATED_CUDA_GPUS=1 OMP_NUM_THREADS=1
mkdir -p there/{bench,tools,lib}
cp -r "$root/launch" "$root/tests" there && cp -r "$root/bench/peers" there/bench
ln -s "$(realpath "$build/emulated")" there/build
printf '#!/bin/sh\necho "GPU 0: made up"\n' >there/tools/nvidia-smi
# A Python whose PyTorch sees no GPU, and tools that do not run what they are given
# shellcheck disable=SC2016 # expanded by the made-up Python
printf '#!/bin/sh\n[ "$1" != -c ] || exit 1\nexec python3 "$@"\n' >there/tools/python
for tool in ncu compute-sanitizer; do printf '#!/bin/sh\necho "%s $*"\n' "$tool" >there/tools/$tool; done
chmod +x there/tools/*
"${CC:-cc}" -shared -fPIC -o there/lib/libnvidia-ml.so.1 "$root/tests/support/fixture/fake_nvml.c" 2>said || rm there/tools/nvidia-smi
contact=(env PATH="$PWD/there/tools:$PATH" LD_LIBRARY_PATH="$PWD/there/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$PWD/there/launch/bench_gpu.sh"
    --quick --python "$PWD/there/tools/python" --archive "$PWD/first.tgz") # not bin: bench_gpu.sh takes a folder bin for an archive of `make pack`

try "${contact[@]}" --output first smoke
check 0 "a part is measured" 'measurements ended$'
succeeds "the archive contains the measurements" bash -c 'tar -tzf first.tgz | grep -q ^./smoke/benchmark/status'
done_first=$(cd first && find . -name status | wc -l)
contact+=(--first-contact)
try "${contact[@]}" --output first --seconds 1
check 7 "after --seconds the last line names the remaining measurements" 'LEFT:( [a-z0-9/_-]+)+;.* the same command'
try "${contact[@]}" --output second
check 0 "the archive is continued elsewhere" 'smoke/benchmark: ended earlier with status 0'
is "no measurement of the first call is repeated" "$(grep -c 'ended earlier' said)" "$done_first"
is "each part has results" "$(cd second && find . -name status -printf '%h\n' | LC_ALL=C sort | xargs)" \
    "./benchmark ./benchmark-gpt2-small ./kernels-bf16 ./profile/ddp_bucketed ./smoke/benchmark ./smoke/nccl-two-on-one\
 ./smoke/nccl-two-on-one-trace ./smoke/profile ./smoke/two-on-one ./step ./step-50257 ./step-50304 ./tests/model ./tests/racecheck\
 ./tools/memcheck ./tools/ncu ./tools/ncu-products"
is "the last line counts the measurements, and names skipped ones" "$(tail -n 1 said)" \
    "bench_gpu.sh: 17 measurements ended; SKIPPED: torch peer (no Python, no PyTorch that sees a GPU, or no such tool)"
succeeds "ncu leaves the clock as it is" grep -q 'clock-control none' second/tools/ncu/output.txt
# shares FILE: recomputes each share in a table of bench_kernels from the other columns. Prints lines whose share differs by more
# than the rounding of all three numbers, then the number of operations with a share.
shares() {
    awk '$1 == "peak" { peak = $2 + 0 }
        NF < 10 { next }
        $(NF - 1) == "peak" && $(NF - 2) > linear { linear = $(NF - 2) }
        $1 == $(NF - 1) { copy = $(NF - 3) }
        NR > FNR && $(NF - 1) ~ /^(copy(_loop)?|linear_[*]|peak)$/ {
            limit = $(NF - 1) ~ /^c/ ? copy : $(NF - 1) ~ /^l/ ? linear : peak
            rate = $(NF - 1) ~ /^c/ ? $(NF - 3) : $(NF - 2)
            half = $(NF - 1) ~ /^c/ ? 0.05 : 0.00005
            if ($NF != "N/A" && limit > half && ($NF < (rate - half) / (limit + half) - 0.0051 || $NF > (rate + half) / (limit - half) + 0.0051)) print
            if (($NF == "N/A") != ($(NF - 1) == "peak" && !peak)) print
            if ($1 != "copy_loop" && !seen[$1]++) n++
        }
        END { print n }' "$1" "$1"
}
operations=$(grep -c '^    \[OPERATION_' "$root/kernels/operations.c")
is "on the GPU each operation has a share of a limit, which the other columns give" "$(shares second/kernels-bf16/output.txt)" "$operations"
"$build/emulated/bench_kernels" --device cpu --quick --array-mib 1 --rounds 2 >printed 2>said
is "on the CPU, too" "$(shares printed)" "$operations"
for found in tests/racecheck tools/memcheck; do
    succeeds "$found fails if it finds an error" grep -q 'error-exitcode 1' "second/$found/output.txt"
done
printf '#!/bin/sh\nexit 3\n' >there/tools/ncu && rm -r second/tools/ncu first.tgz
try "${contact[@]}" --output second
tail -n 1 said >last && mv last said
check 1 "the last line names failed measurements" '17 measurements ended; FAILED: tools/ncu \(see output.txt of each\); SKIPPED:'
printf '#!/bin/sh\n' >there/tools/ncu
rm second/tools/ncu/status # as if a call that repeats ncu had been killed; the archive still has the status
try "${contact[@]}" --output second --seconds 1
check 7 "an interrupted repetition loses no results of the archive" 'LEFT: tools/ncu'
mkdir third
ln second/provenance.txt before
try "${contact[@]}" --output third
check 0 "a failed measurement is repeated after unpacking into an empty directory" 'tools/ncu: .*ncu --target-processes'
is "nothing else is repeated" "$(grep -c 'ended earlier' said)" 16
is "the text of earlier calls is kept, and its hard link is not changed" "$(grep -c '^# measured' third/provenance.txt) $(grep -c '^# measured' before)" \
    "$(($(grep -c '^# measured' before) + 1)) $(grep -c '^# measured' second/provenance.txt)"
try "${contact[@]}" --output third --reference third
check 2 "the reference is another directory" '--reference and --output are one directory'
cp -r third fifth && rm -r fifth/tools/ncu/* && echo mine >fifth/tools/ncu/notes
try "${contact[@]}" --output fifth
check 2 "a directory of somebody else is not replaced" 'fifth/tools/ncu is not a directory that bench_gpu.sh made'
is "a directory of somebody else is kept" "$(<fifth/tools/ncu/notes)" mine
mkdir fourth && cp -r third/provenance.txt third/smoke fourth
try "${contact[@]}" --output fourth
check 2 "an archive is not replaced by one with fewer results" '--archive .*first.tgz: has results that --output .* lacks'
rm -f there/tools/nvidia-smi
if command -v nvidia-smi >/dev/null; then
    echo "skip - first contact without nvidia-smi: this machine has it"
else
    try "${contact[@]}" --output third
    check 0 "without nvidia-smi, ddpbench finds the number of GPUs" '^bench_gpu.sh: 17 measurements ended;'
    EMULATED_CUDA_GPUS=0 try "${contact[@]}" --output fifth
    check 1 "without a GPU there is an error" 'found no NVIDIA GPU'
fi

exit "$failed"
