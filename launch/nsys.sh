#!/usr/bin/env bash
# nsys.sh - profiles a program with NVIDIA Nsight Systems, which shows a timeline of its ranks and GPUs
#
# Usage: launch/nsys.sh [OPTION...] -- PROGRAM [ARGUMENT...]
#   -n, --ranks N     starts N ranks here by launch/run.sh, with a report for each (default: one process)
#   --slurm           starts the ranks of this job by srun, with a report for each; the environment variable SRUN holds srun and its options
#   --one-report      with --ranks: one report for all of them
#   -o, --output DIR  directory of the reports, rank_0.nsys-rep and so on, and of summary_stats.csv: nsys stats of rank 0 (default nsys)
#   --trace LIST      what is traced (default cuda,nvtx,cublas,mpi), also osrt (calls of the system); see nsys profile --help
#   --overwrite       replaces existing reports
#   --dry-run         prints the command instead of running it
# With ddpbench's --profile on GPUs only the captured steps are recorded. Otherwise the whole run is recorded. Only one
# tool can trace a GPU: under nsys, ddpbench's own traces have operations in place of kernels.
set -euo pipefail

# shellcheck source=launch/profiler.sh
. "$(dirname "$(realpath "$0")")/profiler.sh"

check_trace() {
    [[ ${#2} -le 1000 && $2 =~ ^[a-z0-9-]+(,[a-z0-9-]+)*$ ]] || usage_error "$1 '$2': expected a list such as cuda,nvtx,mpi"
}
one_report='' trace=cuda,nvtx,cublas,mpi out=nsys
read_profiler_options "$@" <<'END'
--one-report one_report flag
--trace trace check_trace
END
[ -z "$one_report" ] || [ -n "$ranks" ] || usage_error "--one-report is for the ranks of --ranks"

find_tool nsys "NVIDIA Nsight Systems"
[ -z "$one_report" ] || report=all_ranks
# CPU sampling is disabled because it slows the run and needs privileges.
command=("$tool" profile "--trace=$trace" "--mpi-impl=$mpi" --sample=none --cpuctxsw=none
    "--force-overwrite=$([ -n "$overwrite" ] && echo true || echo false)" "--output=$out/$report")
[ -z "$captured" ] || command+=(--capture-range=cudaProfilerApi --capture-range-end=stop)
if [ -n "$one_report" ]; then command+=("${launcher[@]}"); else command=("${launcher[@]}" "${command[@]}"); fi
[ -z "$dry_run" ] || run_or_print "${command[@]}" "${program[@]}"
trap end_child EXIT
trap_signals
make_directory "$out"
reports=("$out"/*.nsys-rep) stats=$out/summary_stats.csv
[[ (! -e $stats && ! -L $stats) || (-f $stats && ! -L $stats && -e ${reports[0]}) ]] ||
    usage_error "$stats was not written by $script; remove it, or choose another --output"
wait_child "${command[@]}" "${program[@]}" && status=0 || status=$?
first=$out/${report/%\%q*/0}.nsys-rep
[ "$status" != 0 ] || [ -e "$first" ] || [ -z "$captured" ] || say "no step was captured on a GPU, so there is no report; --device cpu reports the whole program"
[ "$status" != 0 ] || [ ! -e "$first" ] ||
    write_file "$stats" wait_child "$tool" stats --quiet --force-export=true --format csv --output - "$first" ||
    say "nsys stats failed: there is no $stats of this run"
[ "$status" = 0 ] || exit "$status"
