#!/usr/bin/env bash
# ncu.sh - profiles a program with NVIDIA Nsight Compute, which shows what limits each kernel, by the GPU's counters
#
# Usage: launch/ncu.sh [OPTION...] -- PROGRAM [ARGUMENT...]
#   -n, --ranks N     starts N ranks here by launch/run.sh (default: one process)
#   --slurm           starts the ranks of this job by srun; the environment variable SRUN holds srun and its options
#   --rank R          with --ranks or --slurm: the rank whose kernels are measured (default 0); the others run normally
#   -o, --output DIR  directory of the report, rank_0.ncu-rep (default ncu)
#   --set NAME        metrics: basic, detailed, full, roofline (default basic); see ncu --list-sets
#   --kernels REGEX   kernels (default: those of ddpbench and of cuBLAS). Never kernels of NCCL, because ncu runs each kernel several times
#   --launches N      number of kernels to measure (default 100)
#   --overwrite       replaces an existing report
#   --dry-run         prints the command instead of running it
# ncu runs with --clock-control none: by default it locks the GPU to its base clock. With ddpbench's --profile only the
# captured steps are measured. Times under ncu are meaningless. If the driver reports ERR_NVGPUCTRPERM, only
# administrators may read the counters.
set -euo pipefail

# shellcheck source=launch/profiler.sh
. "$(dirname "$(realpath "$0")")/profiler.sh"

check_set() { [[ $2 =~ ^[a-z_-]{1,100}$ ]] || usage_error "$1 '$2': expected a name such as basic"; }
check_regex() {
    check_line "$@"
    [[ $2 != '*'* && x =~ $2|x ]] 2>/dev/null || usage_error "$1 '$2': expected a regular expression such as 'gemm|_kernel'"
}
rank=0 set=basic kernels='.*(_kernel|gemm|gemv|cutlass|nvjet).*' launches=100 out=ncu
read_profiler_options "$@" <<'END'
--rank rank check_integer 0 9999
--set set check_set
--kernels kernels check_regex
--launches launches check_integer 1 999999
END
[ "$rank" = 0 ] || [ -n "$ranks$slurm" ] || usage_error "--rank $rank: there is one process; give --ranks or --slurm"
[ -z "$ranks" ] || [ "$rank" -lt "$ranks" ] || usage_error "--rank $rank: there are $ranks ranks, numbered from 0"

find_tool ncu "NVIDIA Nsight Compute"
command=("$tool" --target-processes all --clock-control none --set "$set" --kernel-name "regex:$kernels" --launch-count "$launches" --nvtx
    --export "$out/$report")
[ -z "$overwrite" ] || command+=(--force-overwrite)
[ -z "$captured" ] || command+=(--profile-from-start off)
[ ${#launcher[@]} -gt 0 ] || run_or_print "${command[@]}" "${program[@]}"
# Each rank decides by itself whether to run under ncu. $0 is the rank to measure, $1 the number of words of the ncu
# command; that command and the program follow.
# shellcheck disable=SC2016 # expanded by the shell of each rank
run_or_print "${launcher[@]}" bash -c 'n=$1; shift; if [ "${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-$SLURM_PROCID}}" != "$0" ]; then shift "$n"; fi; exec "$@"' \
    "$rank" ${#command[@]} "${command[@]}" "${program[@]}"
