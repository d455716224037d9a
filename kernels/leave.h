/* leave.h - ends a rank that hangs in MPI_Finalize in a way that its launcher accepts. */
#ifndef KERNELS_LEAVE_H
#define KERNELS_LEAVE_H

#include <pthread.h>

/* Ends the process with `status` although thread `inside` has not returned from MPI_Finalize. Call it from another
 * thread, when no rank needs this one any more and all output is written. First tells the launcher that the rank ends,
 * as MPI_Finalize would, by PMI-1 (MPICH's Hydra, Slurm) or PMIx (Open MPI). A launcher that is not told treats the end
 * as a failure: Hydra then kills the other ranks of the host, and Open MPI's mpirun returns 1 instead of 0. All ranks
 * that are in MPI_Finalize must call it within 2 s of each other. */
void leave_finalize(pthread_t inside, int status) __attribute__((noreturn));

#endif
