# mpi.sh - the launcher of ranks, and what differs between MPICH's and Open MPI's. Read after common.sh by the scripts that start ranks.
# shellcheck shell=bash disable=SC2034 # used there

# Sets mpirun (the command, with the options that MPIRUN may hold), MPIRUN (the same, for scripts that this one starts),
# mpi (mpich or openmpi: whose it is; all others that are made from MPICH take MPICH's options) and rank_variable (in
# which it gives each rank its number).
find_mpirun() {
    local name command_words=()
    if [[ ${MPIRUN:-} == *[![:blank:]]* ]]; then
        split_command "$MPIRUN"
        command -v -- "${command_words[0]:-}" >/dev/null || die "MPIRUN=$MPIRUN: there is no such program"
    else
        for name in mpirun mpiexec mpirun.mpich mpiexec.mpich; do
            ! command -v $name >/dev/null || command_words=("$name")
        done
        [ ${#command_words[@]} -gt 0 ] || die "there is no mpiexec; install one (package mpich), or set MPIRUN to it"
    fi
    mpirun=("${command_words[@]}") mpi=mpich rank_variable=PMI_RANK
    MPIRUN=$(quote_words "${mpirun[@]}")
    export MPIRUN
    if [[ $("${mpirun[0]}" --version 2>/dev/null </dev/null) =~ Open\ MPI|OpenRTE|PRRTE ]]; then
        mpi=openmpi rank_variable=OMPI_COMM_WORLD_RANK
    fi
}
