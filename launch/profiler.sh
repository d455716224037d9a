# profiler.sh - what launch/nsys.sh and launch/ncu.sh share: their options, and who starts the ranks. They define usage(),
# tool (its program) and own_option(), and then read this file; it sets the variables below and leaves the rest to them.
# shellcheck shell=bash
# Used by the scripts:
# shellcheck disable=SC2034

# shellcheck source=launch/common.sh
. "$(dirname "$(realpath "$0")")/common.sh"

# shellcheck source=launch/mpi.sh
. "$(dirname "$(realpath "$0")")/mpi.sh"

# find_tool PROGRAM PACKAGE: on PATH, or where the CUDA toolkit puts it.
find_tool() {
    local place
    for place in "$1" "${CUDA_HOME:-/usr/local/cuda}/bin/$1"; do
        if command -v "$place" >/dev/null; then
            command -v "$place"
            return 0
        fi
    done
    die "there is no $1; it comes with $2: install that of your CUDA toolkit, or add its folder to PATH"
}

# Options before --; what follows is the program with its arguments. own_option sets taken to how many words it read. Sets
# ranks ('' for a single process), slurm, out, dry_run, captured (1: the program brackets its captured steps for profilers),
# program, and mpi and rank_variable as find_mpirun() does; by srun, MPIRUN tells whose MPI it is.
mpi=mpich ranks='' slurm='' out='' dry_run='' captured='' program=() taken=1
read_options() {
    while [ $# -gt 0 ]; do
        case $1 in
        --) shift; program=("$@"); break ;;
        --help) usage; exit 0 ;;
        --dry-run) dry_run=1; shift; continue ;;
        --slurm) slurm=1; shift; continue ;;
        -n | --ranks | -o | --output) ;;
        *)
            own_option "$@"
            shift "$taken"
            continue
            ;;
        esac
        need_value "$@"
        case $1 in
        -n | --ranks) check_integer "$1" "$2" 1 9999 && ranks=$2 ;;
        *) out=$2 ;;
        esac
        shift 2
    done
    [ -n "${program[0]:-}" ] || usage_error "which program? It comes last, after --, as in: $0 -- build/ddpbench --profile"
    command -v -- "${program[0]}" >/dev/null || usage_error "there is no program '${program[0]}'; build it first"
    [ -z "$slurm" ] || [ -z "$ranks" ] || usage_error "--slurm takes the ranks of the job; --ranks is for this machine"
    [[ " ${program[*]} " != *" --cuda-profiler-range "* ]] || captured=1
    [ -z "$ranks${MPIRUN:-}" ] || find_mpirun
}

# The part of a report's name that tells ranks apart, as both tools expand it.
rank_name() {
    if [ -n "$slurm" ]; then
        echo 'rank_%q{SLURM_PROCID}'
    elif [ -n "$ranks" ]; then
        echo "rank_%q{$rank_variable}"
    else
        echo rank_0
    fi
}

# start COMMAND...: on every rank.
start() {
    local line=("$@") command_words
    if [ -n "$slurm" ]; then
        split_command "${SRUN:-srun}" # SRUN may hold options
        [ -n "$dry_run" ] || command -v -- "${command_words[0]:-}" >/dev/null || die "there is no ${SRUN:-srun}; --slurm is for jobs of Slurm"
        line=("${command_words[@]}" "$@")
    elif [ -n "$ranks" ]; then
        line=("$(dirname "$(realpath "$0")")/run.sh" -n "$ranks" -- "$@")
    fi
    run_line "${line[@]}"
}

# run_line COMMAND...: or prints it.
run_line() {
    if [ -n "$dry_run" ]; then
        printf '%q ' "$@"
        echo
        exit 0
    fi
    make_directory "$out"
    exec "$@"
}
