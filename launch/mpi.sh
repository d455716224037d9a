# mpi.sh - the launcher of ranks, and what differs between MPICH's and Open MPI's. Read by the scripts that start ranks, which define die().
# shellcheck shell=bash disable=SC2034 # used there

# Sets mpirun (the command, with the options that MPIRUN may hold), mpi (mpich or openmpi: whose it is; all others that are made from
# MPICH take MPICH's options) and rank_variable (in which it gives each rank its number).
find_mpirun() {
    local name
    read -ra mpirun <<<"${MPIRUN:-}"
    for name in mpiexec.mpich mpirun.mpich mpiexec mpirun; do
        [ ${#mpirun[@]} -eq 0 ] || break
        ! command -v $name >/dev/null || mpirun=("$name")
    done
    [ ${#mpirun[@]} -gt 0 ] || die "there is no mpiexec; install one (package mpich), or set MPIRUN to it"
    if [[ ${MPIRUN:-} == *$'\n'* ]] || ! command -v -- "${mpirun[0]}" >/dev/null; then
        die "MPIRUN=$MPIRUN: there is no such program"
    fi
    mpi=mpich rank_variable=PMI_RANK
    if [[ $("${mpirun[0]}" --version 2>/dev/null </dev/null) =~ Open\ MPI|OpenRTE|PRRTE ]]; then
        mpi=openmpi rank_variable=OMPI_COMM_WORLD_RANK
    fi
}
