#!/usr/bin/env bash
# ncu.sh - runs a program under NVIDIA Nsight Compute: what limits each of its kernels, by the GPU's counters.
set -euo pipefail

usage() {
    cat <<'END'
Usage: launch/ncu.sh [OPTION...] -- PROGRAM [ARGUMENT...]
  -n, --ranks N     starts N ranks here by launch/run.sh (default: one process)
  --slurm           starts the ranks of this job by srun; SRUN may hold srun and its options
  --rank R          with --ranks or --slurm: the rank whose kernels are measured (default 0); the others run as they are
  -o, --output DIR  where the report goes (default: ncu): rank_0.ncu-rep
  --set NAME        which figures: basic, detailed, full, roofline (default: basic); see ncu --list-sets
  --kernels REGEX   which kernels (default: those of ddpbench and of cuBLAS). Never NCCL's: a kernel is measured by running
                    it again and again, and a collective needs all ranks each time
  --launches N      so many of them (default: 100)
  --overwrite       replaces a report that is there
  --dry-run         prints the command instead of running it
  --help
With ddpbench's --profile --cuda-profiler-range only the captured steps count, which leaves the first steps out. Times of
a run under ncu mean nothing; its own --timeout must be long enough. Where the driver says ERR_NVGPUCTRPERM, counters are
for administrators only.
END
}

rank=0 set=basic kernels='.*(_kernel|gemm|gemv|cutlass|nvjet).*' launches=100 overwrite='' taken=1
own_option() {
    taken=2
    case $1 in
    --overwrite) overwrite=1; taken=1; return ;;
    --rank | --set | --kernels | --launches) need_value "$@" ;;
    *) usage_error "unknown option '$1'; known are -n --ranks --slurm --rank -o --output --set --kernels --launches --overwrite --dry-run --help" ;;
    esac
    case $1 in
    --rank) check_integer "$1" "$2" 0 9999 ;;
    --set) [[ $2 =~ ^[a-z_-]{1,100}$ ]] || usage_error "--set '$2': expected a name such as basic" ;;
    --kernels)
        check_line "$1" "$2"
        [[ $2 != '*'* && x =~ $2|x ]] 2>/dev/null || usage_error "--kernels '$2': expected a regular expression such as 'gemm|_kernel'"
        ;;
    --launches) check_integer "$1" "$2" 1 999999 ;;
    esac
    case $1 in
    --rank) rank=$2 ;;
    --set) set=$2 ;;
    --kernels) kernels=$2 ;;
    --launches) launches=$2 ;;
    esac
}

# shellcheck source=launch/profiler.sh
. "$(dirname "$(realpath "$0")")/profiler.sh"
read_options "$@"
out=${out:-ncu}
[ "$rank" = 0 ] || [ -n "$ranks$slurm" ] || usage_error "--rank $rank: there is one process; give --ranks or --slurm"
[ -z "$ranks" ] || [ "$rank" -lt "$ranks" ] || usage_error "--rank $rank: there are $ranks ranks, from 0"

tool=ncu
[ -n "$dry_run" ] || tool=$(find_tool ncu "NVIDIA Nsight Compute")
command=("$tool" --target-processes all --set "$set" --kernel-name "regex:$kernels" --launch-count "$launches" --nvtx
    --export "$out/$(rank_name)")
[ -z "$overwrite" ] || command+=(--force-overwrite)
[ -z "$captured" ] || command+=(--profile-from-start off)

if [ -z "$ranks$slurm" ]; then
    start "${command[@]}" "${program[@]}"
fi
# Each rank decides: $0 is the rank that is measured, then come the number of words of ncu's line, it, and the program's.
# shellcheck disable=SC2016 # meant for the shell of each rank
start bash -c 'words=$1; shift; if [ "${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-$SLURM_PROCID}}" != "$0" ]; then shift "$words"; fi; exec "$@"' \
    "$rank" ${#command[@]} "${command[@]}" "${program[@]}"
