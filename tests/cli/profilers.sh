#!/usr/bin/env bash
# profilers.sh - launch/nsys.sh and launch/ncu.sh with fake NVIDIA tools: the commands that they run, the ranks they
# measure, and the exit status.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

# The fake nsys also makes its report and, as `nsys stats`, prints the report's path.
# Each fake tool records its command line and runs the program, which also records its command line.
mkdir bin
cat >bin/nsys <<'END'
#!/usr/bin/env bash
[ "$1" != stats ] || { echo "${*:2}"; exit "${STATS_STATUS:-0}"; }
for word; do
    [[ $word == --output=* ]] || continue
    word=${word#*=} name=${word##*[{]} name=${name%\}}
    [[ $word != *%q* ]] || word=${word%\%q*}${!name}
    : >"$word.nsys-rep"
done
echo "${0##*/}: $*" >>"$HEARD/tool${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-${SLURM_PROCID:-}}}"
while [ "$1" != measured ] && [[ $1 != */run.sh ]]; do shift; done
exec "$@"
END
cp bin/nsys bin/ncu
cat >bin/srun <<'END'
#!/usr/bin/env bash
while [[ $1 == --* ]]; do shift; done
for task in 0 1; do SLURM_PROCID=$task "$@"; done
END
cat >bin/measured <<'END'
#!/usr/bin/env bash
echo "rank ${SLURM_PROCID:-${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-none}}}:$(printf ' [%s]' "$@")" >>"$HEARD/program"
[ -z "${PMI_RANK:-}" ] || sleep 0.3 # Hydra may die of SIGPIPE if all ranks end while it still starts them
exit "${MEASURED_STATUS:-0}"
END
chmod +x bin/*
export HEARD=$temporary/heard PATH=$temporary/bin:$PATH
nsys=$root/launch/nsys.sh ncu=$root/launch/ncu.sh
plain="--mpi-impl=$mpi --sample=none --cpuctxsw=none"
as_usual="nsys: profile --trace=cuda,nvtx,cublas,mpi $plain --force-overwrite=false"
ours='.*(_kernel|gemm|gemv|cutlass|nvjet).*' # excludes NCCL's kernels
measures="ncu: --target-processes all --clock-control none --set basic --kernel-name regex:$ours --launch-count 100 --nvtx"

# runs WORDS TOOL_SAID PROGRAM_SAID COMMAND...: checks the recorded command lines of tools and programs on all ranks, joined by "|".
runs() {
    local words=$1 tool=$2 said_by_program=$3
    shift 3
    rm -rf heard && mkdir heard
    try "$@"
    is "$words" "$status $(cat heard/tool* | sort | paste -sd '|') $(sort heard/program | paste -sd '|')" \
        "0 $tool $said_by_program"
}

twice() { echo "$1|$1"; }

runs "nsys.sh, one process" "$as_usual --output=nsys/rank_0 measured a b" 'rank none: [a b]' \
    "$nsys" -- measured 'a b'
runs "nsys.sh, --profile and options" "nsys: profile --trace=cuda,nvtx $plain \
--force-overwrite=true --output=my reports/rank_0 --capture-range=cudaProfilerApi --capture-range-end=stop measured \
--profile" 'rank none: [--profile]' \
    "$nsys" -o 'my reports' --trace cuda,nvtx --overwrite -- measured --profile
runs "nsys.sh, a profile on the CPU" "$as_usual --output=nsys/rank_0 measured --profile --device cpu" \
    'rank none: [--profile] [--device] [cpu]' "$nsys" -- measured --profile --device cpu
runs "nsys.sh, a report for each of two ranks" "$(twice "$as_usual --output=nsys/rank_%q{$rank_variable} measured x")" \
    'rank 0: [x]|rank 1: [x]' "$nsys" -n 2 -- measured x
summary='--quiet --force-export=true --format csv --output -'
is "nsys.sh, statistics of rank 0" "$(cat nsys/summary_stats.csv) $(cd nsys && echo rank_*)" "$summary nsys/rank_0.nsys-rep rank_0.nsys-rep rank_1.nsys-rep"
runs "nsys.sh, --one-report" "$as_usual --output=nsys/all_ranks $root/launch/run.sh -n 2 -- measured x" \
    'rank 0: [x]|rank 1: [x]' "$nsys" -n 2 --one-report -- measured x
is "nsys.sh, statistics of all ranks" "$(cat nsys/summary_stats.csv)" "$summary nsys/all_ranks.nsys-rep"
mkdir theirs && ln -s nowhere theirs/summary_stats.csv
try "$nsys" -o theirs -- measured x
check 2 "nsys.sh replaces no link" 'theirs/summary_stats.csv was not written by nsys.sh'
ln -s mine theirs/rank_0.nsys-rep
try "$nsys" -o theirs --overwrite -- measured x
check 2 "nsys.sh --overwrite writes through no link" 'theirs/rank_0.nsys-rep is a symbolic link'
rm theirs/*
echo mine >theirs/summary_stats.csv
try "$nsys" -o theirs --overwrite -- measured x
check 2 "nsys.sh --overwrite replaces no file without reports" 'theirs/summary_stats.csv was not written by nsys.sh'
runs "nsys.sh, --trace osrt" "nsys: profile --trace=cuda,nvtx,osrt $plain --force-overwrite=false --output=nsys/rank_0 measured x" \
    'rank none: [x]' env STATS_STATUS=1 "$nsys" --trace cuda,nvtx,osrt -- measured x
is "nsys.sh reports that nsys stats failed" "$(cat said)" 'nsys.sh: nsys stats failed: there is no nsys/summary_stats.csv of this run'
runs "nsys.sh, --slurm" "$(twice "$as_usual --output=nsys/rank_%q{SLURM_PROCID} measured x")" \
    'rank 0: [x]|rank 1: [x]' env SRUN='srun --mpi=pmi2' "$nsys" --slurm -- measured x
runs "ncu.sh, one process" "$measures --export ncu/rank_0 measured x" 'rank none: [x]' "$ncu" -- measured x
runs "ncu.sh, --profile and options" "ncu: --target-processes all --clock-control none --set full --kernel-name regex:rope.* --launch-count 5 \
--nvtx --export d/rank_0 --force-overwrite --profile-from-start off measured --profile" \
    'rank none: [--profile]' \
    "$ncu" --set full --kernels 'rope.*' --launches 5 --overwrite -o d -- measured --profile
runs "ncu.sh, one rank of three" "$measures --export ncu/rank_%q{$rank_variable} measured a b" \
    'rank 0: [a b]|rank 1: [a b]|rank 2: [a b]' "$ncu" -n 3 --rank 1 -- measured 'a b'
runs "ncu.sh, one task of Slurm" "$measures --export ncu/rank_%q{SLURM_PROCID} measured x" 'rank 0: [x]|rank 1: [x]' \
    "$ncu" --slurm --rank 1 -- measured x
for tool in "$nsys" "$ncu"; do
    MEASURED_STATUS=7 try "$tool" -- measured
    is "${tool##*/}: returns the program's exit status" "$status" 7
    rm heard/*
    try "$tool" --dry-run -- measured 'a b'
    is "${tool##*/}: --dry-run prints the command and runs nothing" \
        "$status $(grep -c "measured 'a b'" printed) $(ls heard)" '0 1 '
done

mkdir less
for name in bash dirname realpath basename mkdir timeout; do ln -s "$(command -v $name)" less/$name; done
cp bin/measured less
for name in nsys ncu; do
    MPIRUN='' PATH=$temporary/less CUDA_HOME=/nowhere try "$root/launch/$name.sh" -- measured
    check 1 "$name.sh reports that $name is not installed" "there is no $name; it comes with NVIDIA Nsight"
done

exit "$failed"
