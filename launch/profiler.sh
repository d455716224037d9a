# profiler.sh - functions shared by launch/nsys.sh and launch/ncu.sh: parsing options and starting ranks.
# shellcheck shell=bash
# The scripts that source this file use these variables:
# shellcheck disable=SC2034,SC2154

here=$(dirname "$(realpath "$0")")
# shellcheck source=launch/common.sh
. "$here/common.sh"

# find_tool PROGRAM PRODUCT: sets tool to the path of the program, on PATH or in the CUDA toolkit; with --dry-run, to PROGRAM.
find_tool() {
    tool=$1
    [ -z "$dry_run" ] || return 0
    tool=$(command -v "$1" || command -v "${CUDA_HOME:-/usr/local/cuda}/bin/$1") ||
        die "there is no $1; it comes with $2: install that of your CUDA toolkit, or add its folder to PATH"
}

# read_profiler_options ARGUMENT... <ROWS: parses the options of both scripts and those of ROWS (see read_options). Sets
# program (with its arguments), launcher (the command that starts the ranks, empty for a single process), report (file name
# of a report; both tools expand %q{VARIABLE} on each rank), captured (1: a profile on GPUs, which marks its steps), and
# mpi (see find_mpirun; with --slurm, the MPI of MPIRUN). Ends the script if a report is a link, as tools write through it.
mpi=mpich ranks='' slurm='' dry_run='' overwrite='' captured='' launcher=() report=rank_0
read_profiler_options() {
    local command_words old
    mapfile -t option_rows
    option_rows+=("-n,--ranks ranks check_integer 1 9999" "--slurm slurm flag" "-o,--output out check_path"
        "--overwrite overwrite flag" "--dry-run dry_run flag")
    takes_dashes=1
    read_options "$@"
    program=("${after_dashes[@]}")
    [ -n "${program[0]:-}" ] || usage_error "the program is missing: give it after --, as in: $0 -- build/ddpbench --profile"
    command -v -- "${program[0]}" >/dev/null || usage_error "there is no program '${program[0]}'; build it first"
    [ -z "$slurm" ] || [ -z "$ranks" ] || usage_error "--slurm takes the ranks of the job; --ranks is for this machine"
    [[ " ${program[*]} " != *" --profile "* || " ${program[*]} " == *" --device"[\ =]"cpu "* ]] || captured=1
    [ -z "$ranks${MPIRUN:-}" ] || find_mpirun
    if [ -n "$slurm" ]; then
        split_command "${SRUN:-srun}"
        launcher=("${command_words[@]}") report='rank_%q{SLURM_PROCID}'
        [ -n "$dry_run" ] || command -v -- "${launcher[0]:-}" >/dev/null ||
            die "there is no ${SRUN:-srun}; --slurm is for jobs of Slurm"
    elif [ -n "$ranks" ]; then
        launcher=("$here/run.sh" -n "$ranks" --) report="rank_%q{$rank_variable}"
    fi
    for old in "$out"/*.n{sys,cu}-rep; do
        [ ! -L "$old" ] || usage_error "$old is a symbolic link; remove it, or choose another --output"
    done
}

# run_or_print COMMAND...: prints the command if --dry-run is set, otherwise replaces this process by the command.
run_or_print() {
    if [ -n "$dry_run" ]; then
        quote_words "$@"
        exit
    fi
    make_directory "$out"
    exec "$@"
}
