# profiler.sh - what launch/nsys.sh and launch/ncu.sh share: their options, and how they start ranks. They define usage().
# shellcheck shell=bash
# Used by the scripts:
# shellcheck disable=SC2034,SC2154

here=$(dirname "$(realpath "$0")")
# shellcheck source=launch/common.sh
. "$here/common.sh"

# find_tool PROGRAM PRODUCT: sets tool to the program, on PATH or in the CUDA toolkit; with --dry-run only its name.
find_tool() {
    tool=$1
    [ -z "$dry_run" ] || return 0
    tool=$(command -v "$1" || command -v "${CUDA_HOME:-/usr/local/cuda}/bin/$1") ||
        die "there is no $1; it comes with $2: install that of your CUDA toolkit, or add its folder to PATH"
}

# read_profiler_options ARGUMENT... <ROWS: reads the options that both scripts have, and those of ROWS (see
# read_options). Sets program (with its arguments), ranks ('' for a single process), run_ranks (what starts them),
# captured (1: the program brackets its captured steps for profilers), and mpi and rank_variable like find_mpirun();
# under srun MPIRUN tells which MPI it is.
mpi=mpich ranks='' slurm='' dry_run='' overwrite='' captured=''
read_profiler_options() {
    mapfile -t option_rows
    option_rows+=("-n,--ranks ranks check_integer 1 9999" "--slurm slurm flag" "-o,--output out check_any"
        "--overwrite overwrite flag" "--dry-run dry_run flag")
    takes_dashes=1
    read_options "$@"
    program=("${after_dashes[@]}")
    [ -n "${program[0]:-}" ] || usage_error "the program is missing: give it after --, as in: $0 -- build/ddpbench --profile"
    command -v -- "${program[0]}" >/dev/null || usage_error "there is no program '${program[0]}'; build it first"
    [ -z "$slurm" ] || [ -z "$ranks" ] || usage_error "--slurm takes the ranks of the job; --ranks is for this machine"
    [[ " ${program[*]} " != *" --cuda-profiler-range "* ]] || captured=1
    run_ranks=("$here/run.sh" -n "$ranks" --)
    [ -z "$ranks${MPIRUN:-}" ] || find_mpirun
}

# rank_name: prints the name of a report, in which both tools expand %q{VARIABLE} on each rank.
rank_name() {
    if [ -n "$slurm" ]; then
        echo 'rank_%q{SLURM_PROCID}'
    elif [ -n "$ranks" ]; then
        echo "rank_%q{$rank_variable}"
    else
        echo rank_0
    fi
}

# start_ranks COMMAND...: runs the command on every rank.
start_ranks() {
    local command_words
    if [ -n "$slurm" ]; then
        split_command "${SRUN:-srun}"
        [ -n "$dry_run" ] || command -v -- "${command_words[0]:-}" >/dev/null ||
            die "there is no ${SRUN:-srun}; --slurm is for jobs of Slurm"
        run_or_print "${command_words[@]}" "$@"
    elif [ -n "$ranks" ]; then
        run_or_print "${run_ranks[@]}" "$@"
    fi
    run_or_print "$@"
}

# run_or_print COMMAND...: becomes the command, or prints it.
run_or_print() {
    if [ -n "$dry_run" ]; then
        printf '%q ' "$@"
        echo
        exit 0
    fi
    make_directory "$out"
    exec "$@"
}
