#!/usr/bin/env bash
# bench_gpu.sh - tests launch/bench_gpu.sh with programs that stand in for the GPU's: what it runs, in which order, what
# it says where something fails or is not there, and its table of aims from made-up figures.
set -euo pipefail

usage() {
    cat <<'END'
Usage: tests/cli/bench_gpu.sh [--help] BUILD_DIR
Runs a copy of launch/bench_gpu.sh among made-up programs; BUILD_DIR/bench_kernels is not needed. Prints a line per check.
END
}

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

# ---- a tree of its own, with programs that write down how they were called and print figures ----
mkdir -p tree/launch tree/build tree/bench/peers bin
cp "$root"/launch/bench_gpu* tree/launch
run=tree/launch/bench_gpu.sh

cat >bin/nvidia-smi <<'END'
#!/usr/bin/env bash
case $1 in
-L)
    [ "${MADE_UP_GPUS:-1}" -gt 0 ] || { echo "No devices were found"; exit 6; }
    for ((i = 0; i < ${MADE_UP_GPUS:-1}; i++)); do echo "GPU $i: NVIDIA Made-Up (UUID: GPU-$i)"; echo "  MIG 1g.5gb Device 0: (UUID: MIG-$i)"; done
    ;;
--query-gpu*) echo "NVIDIA Made-Up, 999.1" ;;
*) echo "SM : 1980 MHz" ;;
esac
END
cat >bin/mpirun <<'END'
#!/usr/bin/env bash
echo "ranks $2" >>"$HEARD"
shift 2
exec "$@"
END
cp bin/mpirun bin/mpirun.mpich
cat >bin/python <<'END'
#!/usr/bin/env bash
if [ "$1" = -c ]; then [ -z "${NO_TORCH:-}" ]; exit; fi
echo "python $*" >>"$HEARD"
row() { printf '%s\t%s\t%s\t%s\t1.00\t0.90\t20\t%s\t%s\n' "$@"; }
echo '# torch 2.0'
printf 'operation\tbackend\tdtype\tsizes\tus_median\tus_least\trepeats\trate\tunit\n'
row copy default float32 n=99 4000 GB/s
row attention_forward flash bfloat16 'B=32 H=32 T=512 D=64' 400000 GFLOP/s
row attention_forward cudnn bfloat16 'B=32 H=32 T=512 D=64' n/a GFLOP/s
row attention_forward flash bfloat16 'B=8 H=32 T=2048 D=64' 500000 GFLOP/s
row attention_backward flash bfloat16 'B=32 H=32 T=512 D=64' 300000 GFLOP/s
END
cat >tree/build/bench_kernels <<'END'
#!/usr/bin/env bash
echo "bench_kernels $*" >>"$HEARD"
dtype=$4 tsv=$6 word=float32
[ "$dtype" = fp32 ] || word=bfloat16
row() { printf '%s\tcuda\t%s\t%s\t1.00\t0.90\t20\t%s\t%s\t%s\t%s\t%s\n' "$@"; }
{
    echo '# ddpbench 1'
    printf 'operation\tbackend\tdtype\tsizes\tus_median\tus_least\trepeats\trate\tunit\tcopy_ratio\tcopy_ratio_least\tcopy_ratio_most\n'
    row copy float32 n=77 3000 GB/s 1 1 1
    row rope "$word" 'B=1 H=1 T=1 D=2' 2700 GB/s 0.9 0.88 0.91
    [ "$dtype" = fp32 ] || row swiglu_forward bfloat16 n=154 2100 GB/s 0.7 0.65 0.72
    row attention_forward "$word" 'B=32 H=32 T=512 D=64' 320000 GFLOP/s n/a n/a n/a
    row attention_forward "$word" 'B=8 H=32 T=2048 D=64' 350000 GFLOP/s n/a n/a n/a
    row attention_backward "$word" 'B=32 H=32 T=512 D=64' 90000 GFLOP/s n/a n/a n/a
} >"$tsv"
END
cat >tree/build/bench_step <<'END'
#!/usr/bin/env bash
echo "bench_step $*" >>"$HEARD"
[ -z "${STEP_HANGS:-}" ] || exec sleep 20
[ -z "${STEP_FAILS:-}" ] || { echo "bench_step: out of memory" >&2; exit 1; }
printf 'figure\tunit\tmedian\tleast\tmost\tn\nstep\tms\t9\t9\t9\t15\nmfu\t1\t0.55\t0.5\t0.6\t15\n' >"${*: -1}"
END
cat >tree/build/ddpbench <<'END'
#!/usr/bin/env bash
[ "$1" != --version ] || { echo "ddpbench 1"; exit; }
echo "ddpbench $*" >>"$HEARD"
while [ $# -gt 0 ]; do
    [ "$1" != --output ] || out=$2
    [ "$1" != --profile ] || profile=1
    shift
done
if [ -n "${profile:-}" ]; then
    echo 'Controls, interleaved with it in 60 rounds of 3 timed steps (95 % intervals)'
    echo '  profiling overhead       1.012 [1.008, 1.016]  x the step without tracing'
    exit
fi
mkdir -p "$out"
cat >"$out/summary.csv" <<'CSV'
label,implementation,strategy,bucket_size_mb,ranks,hosts,threads,metric,unit,n,median,ci_low,ci_high,p5,p95
,none,none,,1,1,2,step,ms,20,25,24,26,24,26
,none,none,,1,1,2,sync_cost,ms,0,,,,,
,ddp,ddp,,1,1,2,step,ms,20,25.1,24,26,24,26
,ddp,ddp,,1,1,2,sync_cost,ms,20,0.1,-0.05,0.2,,
,ddp_individual_v2,ddp_individual_v2,,1,1,2,sync_cost,ms,20,0.5,0.4,0.6,,
CSV
END
cat >tree/bench/peers/compare.sh <<'END'
#!/usr/bin/env bash
echo "compare.sh $*" >>"$HEARD"
cat <<'TABLE'
Median step in ms, median over 3 repeats (least to most); ratio to ddpbench by repeat,
none                 ddpbench           25.00     24.90     25.10  
none                 torch              35.00     34.90     35.10   1.400 [1.250, 1.600]
none                 torch_compile      22.50     22.40     22.60   0.900 [0.800, 1.000]
torch_ddp            torch              37.50     37.40     37.60   1.500 [1.450, 1.550]
TABLE
END
chmod +x bin/* tree/build/* tree/bench/peers/compare.sh
export HEARD=$temporary/heard PATH=$temporary/bin:$PATH

# go GPUS OPTION...: runs it anew, its words to said.
go() {
    rm -rf "$HEARD" out
    : >"$HEARD"
    MADE_UP_GPUS=$1 try "$run" --python python "${@:2}"
}

# ---- all of it ----
go 1 --output out
result "$status" "one GPU: exit status 0"
is "one GPU: what is run, in this order" "$(sed 's/ .*--profile .*/ --profile/; s/ .*--implementations.*/ --implementations/; s/^\([a-z]*_[a-z]* [a-z0-9 -]*\) --tsv.*/\1/' "$HEARD" | grep -v ^ranks)" \
    'bench_kernels --device cuda --dtype fp32
bench_kernels --device cuda --dtype bf16
python bench/peers/torch_kernels.py --device cuda
bench_step --device cuda --dtype bf16
bench_step --device cuda --dtype bf16 --d-model 1600 --num-heads 25 --d-ff 6400 --num-layers 24
ddpbench --implementations
ddpbench --profile
compare.sh --implementations'
is "the table of aims" "$(cat printed)" \
'                                             figure  aim              least to most, or interval
step / PyTorch eager                          0.714  <= 0.8   met     0.625 to 0.800, n 3 repeats, 95 %
step / torch.compile                          1.111  <= 1.0   missed  1.000 to 1.250, n 3 repeats, 95 %
ddp_bucketed / DistributedDataParallel        0.667  <= 0.8   met     0.645 to 0.690, n 3 repeats, 95 %
ddp_bucketed / the same, torch.compile          n/a  <= 1.0   not measured
mfu, default model                            0.550  >= 0.5   met     0.500 to 0.600, n 15 pairs
mfu, d 1600 x 24 layers                       0.550  >= 0.5   met     0.500 to 0.600, n 15 pairs
slowest memory-bound / copy, fp32             0.900  >= 0.8   met     0.880 to 0.910, n 20 rounds: rope
slowest memory-bound / copy, bf16             0.700  >= 0.8   missed  0.650 to 0.720, n 20 rounds: swiglu_forward
slowest attention forward / flash             0.700  >= 0.6   met     0.700 to 0.800, n 2 sizes: B=8 H=32 T=2048 D=64
slowest attention backward / flash            0.300  >= 0.4   missed  0.300 to 0.300, n 1 sizes: B=32 H=32 T=512 D=64
at one rank, cost of ddp                    +0.0040  <= 0.01  met     -0.0020 to +0.0080, n 20 rounds, 95 %
at one rank, cost of ddp_individual_v2      +0.0200  <= 0.01  missed  +0.0160 to +0.0240, n 20 rounds, 95 %
cost of profiling                           +0.0120  <= 0.01  missed  +0.0080 to +0.0160, n 60 rounds, 95 %
Below 80 % of the copy, bf16: swiglu_forward 0.70.'
is "it is kept" "$(cat out/aims.txt)" "$(cat printed)"
is "kernels side by side: by sizes where they count, once each" "$(cut -f 1-4,8 out/kernels-ratio.txt | tr '\t' ,)" \
    'operation,dtype,sizes,backend,ratio
copy,float32,n=77,default,0.750
attention_forward,bfloat16,B=32 H=32 T=512 D=64,flash,0.800
attention_forward,bfloat16,B=32 H=32 T=512 D=64,cudnn,n/a
attention_forward,bfloat16,B=8 H=32 T=2048 D=64,flash,0.700
attention_backward,bfloat16,B=32 H=32 T=512 D=64,flash,0.300'
is "clocks before and after" "$(grep -A 1 '^==== clocks' out/provenance.txt | tr '\n' ' ')" \
    '==== clocks before SM : 1980 MHz ==== clocks after SM : 1980 MHz '
succeeds "the GPU and its driver" grep -q '^NVIDIA Made-Up, 999.1$' out/provenance.txt

# ---- several GPUs, no PyTorch, and what fails ----
go 2 --output out
is "two GPUs: the sweep is by both" "$(tail -2 "$HEARD" | sed 's/ --output.*//')" 'ranks 2
ddpbench allreduce --device cuda --comm nccl -b 8 -e 1G -f 2'
succeeds "two GPUs: PyTorch's ranks, too" grep -q '^compare.sh --ranks 2 ' "$HEARD"
NO_TORCH=1 go 1 --output out
check 0 "without PyTorch: it says so" 'PyTorch is left out: python has none'
is "without PyTorch: it is not run" "$(grep -c '^python\|^compare' "$HEARD")" 0
STEP_FAILS=1 go 1 --output out
check 1 "a measurement fails: it is named at the end" '^bench_gpu.sh: FAILED: step-default step-d1600; '
succeeds "a measurement fails: why is shown" grep -q '^bench_step: out of memory$' said
is "a measurement fails: the others are made" "$(grep -c 'not measured' out/aims.txt)" 3
succeeds "a measurement fails: the last one, too" grep -q '^compare.sh' "$HEARD"
sed -i 's/limit_seconds=400/limit_seconds=1/' "$run"
STEP_HANGS=1 go 1 --output out
check 1 "a measurement hangs: it is ended" '^bench_gpu.sh: step-d1600 FAILED: it took longer than 1 s'
succeeds "a measurement hangs: the others are made" grep -q '^compare.sh' "$HEARD"

# ---- what is refused ----
mkdir there
go 1 --output there
check 1 "a directory that is there" 'there is there already; choose another'
go 0 --output out
check 1 "no GPU" 'no NVIDIA GPU here: nvidia-smi -L lists none'
is "no GPU: nothing is left" "$(ls out 2>/dev/null)" ''
go 0 --dry-run
is "no GPU, dry run: nothing is run" "$status $(wc -l <"$HEARD") $(grep -c '^step-d1600: build/bench_step ' printed)" '0 0 1'
go 1 --fast
check 2 "an unknown option" "unknown option '--fast'; known are --output"

# ---- make bench ----
# shellcheck disable=SC2016 # make's variables
sizes() {
    env -u MAKEFLAGS -u CUDA -u RANKS MADE_UP_GPUS="$1" make -s -C "$root" "$2" \
        --eval 'show:;@echo "$(RANKS) $(SIZES) $(BUCKETS_$(BENCH_ON))"' show 2>said
}
is "make bench on three GPUs" "$(sizes 3 NVCC=true)" "3 --dtype bf16 --batch-size-per-rank 16 1,5,25,100"
laptop='2 --d-model 256 --num-layers 4 --num-heads 4 --d-ff 1024 --context-length 128 --batch-size-per-rank 4 0.5,1,4,16'
is "make bench without GPUs" "$(sizes 0 NVCC=true)" "$laptop"
is "make bench on GPUs that the program was not built for" "$(sizes 2 CUDA=0)" "$laptop"
exit "$failed"
