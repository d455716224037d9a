#!/usr/bin/env bash
# nsys.sh - runs a program under NVIDIA Nsight Systems: what its ranks and GPUs do when, as a timeline.
set -euo pipefail

usage() {
    cat <<'END'
Usage: launch/nsys.sh [OPTION...] -- PROGRAM [ARGUMENT...]
  -n, --ranks N     starts N ranks here by launch/run.sh, each with a report of its own (default: one process)
  --slurm           starts the ranks of this job by srun, each with a report of its own; SRUN may hold srun and its options
  --one-report      with --ranks: one report for all of them
  -o, --output DIR  where reports go (default: nsys): rank_0.nsys-rep and so on
  --trace LIST      what is traced (default: cuda,nvtx,cublas,mpi); see nsys profile --help
  --overwrite       replaces reports that are there
  --dry-run         prints the command instead of running it
  --help
With ddpbench's --profile --cuda-profiler-range only the captured steps are recorded; otherwise the whole run is. NVTX
ranges show epochs, steps, phases, layers and calls of collectives. Only one tool can trace a GPU: under nsys ddpbench's own
traces have operations in place of kernels; --profile-activities cpu leaves them out.
END
}

one_report='' trace=cuda,nvtx,cublas,mpi overwrite=false taken=1
own_option() {
    taken=1
    case $1 in
    --one-report) one_report=1 ;;
    --overwrite) overwrite=true ;;
    --trace)
        need_value "$@"
        [[ ${#2} -le 1000 && $2 =~ ^[a-z0-9-]+(,[a-z0-9-]+)*$ ]] || usage_error "--trace '$2': expected a list such as cuda,nvtx,mpi"
        trace=$2
        taken=2
        ;;
    *) usage_error "unknown option '$1'; known are -n --ranks --slurm --one-report -o --output --trace --overwrite --dry-run --help" ;;
    esac
}

# shellcheck source=launch/profiler.sh
. "$(dirname "$(realpath "$0")")/profiler.sh"
read_options "$@"
[ -z "$one_report" ] || [ -n "$ranks" ] || usage_error "--one-report is for the ranks of --ranks"
out=${out:-nsys}

tool=nsys
[ -n "$dry_run" ] || tool=$(find_tool nsys "NVIDIA Nsight Systems")
name=$(rank_name)
[ -z "$one_report" ] || name=all_ranks
# No sampling of the CPUs: it costs time and needs rights.
command=("$tool" profile "--trace=$trace" "--mpi-impl=$mpi" --sample=none --cpuctxsw=none "--force-overwrite=$overwrite"
    "--output=$out/$name")
[ -z "$captured" ] || command+=(--capture-range=cudaProfilerApi --capture-range-end=stop)

if [ -n "$one_report" ]; then
    run_line "${command[@]}" "$(dirname "$(realpath "$0")")/run.sh" -n "$ranks" -- "${program[@]}"
else
    start "${command[@]}" "${program[@]}"
fi
