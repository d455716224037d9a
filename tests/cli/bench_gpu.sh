#!/usr/bin/env bash
# bench_gpu.sh - rehearses launch/bench_gpu.sh at small sizes, with the programs of BUILD_DIR/emulated, which have an emulated GPU,
# a made-up nvidia-smi and a made-up PyTorch: each part runs, is continued from the archive, and is not repeated.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

[ -x "$build/emulated/bench_step" ] || { say "there is no $build/emulated/bench_step; build it first"; exit 2; }
command -v python3 >/dev/null || { echo "skip - bench_gpu.sh: no python3 here"; exit 0; }
limit=600
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 # libraries of MPI leak memory
export EMULATED_CUDA_GPUS=1 OMP_NUM_THREADS=1
mkdir -p there/{bench,tools,lib}
cp -r "$root/launch" "$root/tests" there && cp -r "$root/bench/peers" there/bench
ln -s "$(realpath "$build/emulated")" there/build
# A GPU that works in two of three samples, once held back by its power limit; one write has all samples
cat >there/tools/nvidia-smi <<'END'
#!/bin/sh
case $* in
-L) echo "GPU 0: made up (UUID: GPU-${BOARD:-1})" ;;
*--query-gpu=*)
    echo "utilization.gpu [%], clocks.current.sm [MHz], power.draw [W], temperature.gpu, power cap, hardware, thermal
0, 345, 70.10, 31, Not Active, Not Active, Not Active
100, 1980, 640.00, 60, Not Active, Not Active, Not Active
97, 1755, 699.50, 64, Active, Not Active, Not Active" ;;
esac
END
# A Python whose PyTorch is ddpbench, and tools that do not run what they are given
cat >there/tools/python <<'END'
#!/usr/bin/env bash
case $* in
-c*) exit "${NO_TORCH:-0}" ;;
*gpu_trace.py*) [ -z "$TRACE_SECONDS" ] || exec sleep "$TRACE_SECONDS"; exec python3 "$@" ;;
*torch_kernels.py*) echo "flash" ;;
*torch_ddp.py*)
    [[ -z $BAD_COMPILER || $* != *--compile* ]] || exit 1
    words=" ${*/--compile/} "
    words=${words/ --residual-dtype bf16/}
    read -r -a words <<<"${words#*torch_ddp.py}"
    exec build/ddpbench "${words[@]}"
    ;;
*) exec python3 "$@" ;;
esac
END
for tool in ncu compute-sanitizer; do printf '#!/bin/sh\necho "%s $*"\n' "$tool" >there/tools/$tool; done
chmod +x there/tools/*
"${CC:-cc}" -shared -fPIC -o there/lib/libnvidia-ml.so.1 "$root/tests/support/fixture/fake_nvml.c" 2>said || rm there/tools/nvidia-smi
measure=(env PATH="$PWD/there/tools:$PATH" LD_LIBRARY_PATH="$PWD/there/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$PWD/there/launch/bench_gpu.sh"
    --quick --python "$PWD/there/tools/python" --archive "$PWD/first.tgz") # not bin: bench_gpu.sh takes a folder bin for an archive of `make pack`

CUDA_VISIBLE_DEVICES=0,1,2 try "${measure[@]}" --dry-run --minutes 9.5 kernels nccl
result "$status" "a dry run needs no GPU"
succeeds "its commands are for the GPUs in CUDA_VISIBLE_DEVICES" grep -qE '^allreduce, about [0-9]+ s: .* -n 3 ' printed
is "its last line has the sum of the expected seconds" "$(tail -n 1 printed)" \
    "in all about $(awk '$2 == "about" { s += $3 } END { print s }' printed) s; GPUs: 3"
try "${measure[@]}" --output first tests kernels
check 0 "parts are measured" '^bench_gpu.sh: [0-9]+ measurements ended$'
succeeds "the archive contains the measurements" bash -c 'tar -tzf first.tgz | grep -q ^./kernels-bf16/status'
done_first=$(cd first && find . -name status | wc -l)
try "${measure[@]}" --output first --minutes 0.1
check 7 "what is not expected to fit in --minutes is not started" 'LEFT, about [0-9]+ s:.* step .*strategies .*peers/torch_compile-1 .*; the same command'
is "no measurement is cut off" "$(cd first && find . -name seconds | wc -l)" "$done_first"
try "${measure[@]}" --output second
check 0 "the archive is continued elsewhere, and all parts are measured" 'kernels-bf16: ended earlier with status 0'
is "no measurement of the first call is repeated" "$(grep -c 'ended earlier' said)" "$done_first"
is "each part has results" "$(cd second && find . -name status -printf '%h\n' | LC_ALL=C sort | xargs)" \
    "./benchmark ./benchmark-gpt2-small ./kernels-bf16 ./nccl/isolate ./nccl/trace ./nccl/two-on-one\
 $(for program in ddpbench torch torch_compile; do printf './peers/%s ' $program-{1..5}; done)./profile-gpt2-small/ddp_bucketed\
 ./profile/ddp_bucketed ./step ./step-50257 ./step-50304 ./step-cublaslt ./strategies ./tests/memcheck ./tests/model ./tests/racecheck\
 ./tools/ncu ./tools/ncu-products ./torch"
measurements=$(cd second && find . -name status | wc -l)
is "the last line counts the measurements" "$(tail -n 1 said)" "bench_gpu.sh: $measurements measurements ended"
for program in ddpbench torch torch_compile; do
    [ $program = ddpbench ] || succeeds "all runs of $program are compared with ours" grep -q "ddpbench.*$program" "second/peers/$program.txt"
done
unknown='N/A N/A N/A N/A N/A' gpu=$unknown # unknown: there is no nvidia-smi, or the measurement ended before its first sample
[ ! -e there/tools/nvidia-smi ] || gpu='1867.5 1755 669.75 64 50'
is "measurements.txt has the seconds and the GPU of each measurement" \
    "$(awk 'NR > 1 && NF == 8 && $2 == 0 && $3 ~ /^[0-9]+$/ { print $4, $5, $6, $7, $8 }' second/measurements.txt | grep -cE "^($gpu|$unknown)$") \
$(awk '$1 == "strategies" { print $4, $5, $6, $7, $8 }' second/measurements.txt)" "$measurements $gpu"
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
succeeds "isolate copies five times the GPU's L2 cache" grep -qE '3 members, .*messages of 64 KiB, products of [0-9]+ x [0-9]+, copies of 20 MiB;' \
    second/nccl/isolate/output.txt
for found in tests/racecheck tests/memcheck; do
    succeeds "$found fails if it finds an error" grep -q 'error-exitcode 1' "second/$found/output.txt"
done

# ---- failures, and calls that end early ----
printf '#!/bin/sh\nexit 3\n' >there/tools/ncu && rm -r second/tools/ncu first.tgz
try "${measure[@]}" --output second
tail -n 1 said >last && mv last said
check 1 "the last line names failed measurements" "$measurements measurements ended; FAILED: tools/ncu \(see output.txt of each\)"
printf '#!/bin/sh\nsleep 60\n' >there/tools/ncu
rm second/tools/ncu/status # as if a call that repeats ncu had been killed; the archive still has the status
try "${measure[@]}" --output second --minutes 0.05 more
check 7 "an interrupted repetition loses no results of the archive" 'LEFT, about 90 s: tools/ncu .the longest needs --minutes 3.;'
mkdir third
ln second/provenance.txt before
printf '#!/bin/sh\n' >there/tools/ncu
try "${measure[@]}" --output third
check 0 "a failed measurement is repeated after unpacking into an empty directory" 'tools/ncu, about 90 s: .*ncu --target-processes'
is "nothing else is repeated" "$(grep -c 'ended earlier' said)" "$((measurements - 1))"
is "the text of earlier calls is kept, and its hard link is not changed" "$(grep -c '^# measured' third/provenance.txt) $(grep -c '^# measured' before)" \
    "$(($(grep -c '^# measured' before) + 1)) $(grep -c '^# measured' second/provenance.txt)"
if [ -e there/tools/nvidia-smi ]; then
    BOARD=2 try "${measure[@]}" --output third
    check 1 "results of another board need another directory" 'third: has results of other GPUs, GPU 0: made up .UUID: GPU-1.; here is GPU 0: made up .UUID: GPU-2.'
fi
rm third/nccl/trace/status
TRACE_SECONDS=60 try "${measure[@]}" --output third --minutes 0.5 nccl
check 7 "a measurement that outlasts --minutes is cut off" 'LEFT, about [0-9]+ s: nccl/trace( .the longest needs --minutes 2.)?;'
succeeds "its seconds are kept" grep -qE '^nccl/trace cut-off [0-9]+ ' third/measurements.txt
echo 1000 >third/nccl/trace/seconds
try "${measure[@]}" --output third --minutes 2 nccl
check 7 "a measurement that was cut off is left to a call that gives it more time" 'LEFT, about 1001 s: nccl/trace .the longest needs --minutes 18.;'
BAD_COMPILER=1 try "${measure[@]}" --output failing --archive failing.tgz peers kernels
check 1 "a peer that always fails does not end the script" '^bench_gpu.sh: 8 measurements ended; FAILED: peers/torch_compile-1 peers/torch_compile-2 '
succeeds "the other peer is compared" grep -q 'ddpbench.*torch' failing/peers/torch.txt
NO_TORCH=1 try "${measure[@]}" --output without --archive without.tgz peers
check 0 "without PyTorch its comparison is skipped" '^bench_gpu.sh: 0 measurements ended; SKIPPED: peers '
try "${measure[@]}" --output third --reference third
check 2 "the reference is another directory" '--reference and --output are one directory'
cp -r third fifth && rm -r fifth/tools/ncu/* && echo mine >fifth/tools/ncu/notes
try "${measure[@]}" --output fifth
check 2 "a directory of somebody else is not replaced" 'fifth/tools/ncu is not a directory that bench_gpu.sh made'
is "a directory of somebody else is kept" "$(<fifth/tools/ncu/notes)" mine
mkdir fourth && cp -r third/provenance.txt third/step fourth
try "${measure[@]}" --output fourth
check 2 "an archive is not replaced by one with fewer results" '--archive .*first.tgz: has results that --output .* lacks'
sed 's/"name":\t*"[^"]*"/"name": "another GPU"/' third/strategies/run.json >run.json && cp -r third reference && mv run.json reference/strategies
rm -r third/strategies/status reference/profile/ddp_bucketed
try "${measure[@]}" --output third --reference reference strategies profile
result "$([[ $status == [04] ]] && echo 0 || echo 1)" "a reference may be of another GPU (status $status)"
succeeds "the last line names what the reference lacks" grep -q 'ended; NOT COMPARED, as --reference has none: profile/ddp_bucketed$' said
rm -f there/tools/nvidia-smi
if command -v nvidia-smi >/dev/null; then
    echo "skip - bench_gpu.sh without nvidia-smi: this machine has it"
else
    try "${measure[@]}" --output third step
    check 0 "without nvidia-smi, ddpbench finds the number of GPUs" '^bench_gpu.sh: 3 measurements ended$'
    EMULATED_CUDA_GPUS=0 try "${measure[@]}" --output fifth
    check 1 "without a GPU there is an error" 'found no NVIDIA GPU'
fi

exit "$failed"
