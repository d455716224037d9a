/* launcher.h - reads the rank and the number of ranks from environment variables of the launcher, for use without MPI
 * or before it starts.
 *
 * Known launchers are MPICH's Hydra, Open MPI's mpirun, PMIx and Slurm's srun. If one runs inside another, as Hydra
 * does in a step of Slurm, the earlier one in this list counts. A value that is not a number counts as unset. */
#ifndef KERNELS_LAUNCHER_H
#define KERNELS_LAUNCHER_H

/* Tests whether a launcher started this process as a rank. The batch script of a Slurm job and the shell that salloc
 * may start are steps of Slurm too, but not ranks. */
int launcher_started_this(void);

/* launcher_rank returns the rank of this process among all ranks; launcher_rank_here, its rank among the ranks of this
 * machine. Both ranks count from 0, and are 0 without a launcher. */
long launcher_rank(void);
long launcher_rank_here(void);

/* Returns the name of the variable that launcher_rank reads; NULL if there is none. */
const char *launcher_rank_variable(void);

/* Returns the number of ranks started on this machine; 1 without a launcher. */
long launcher_ranks_here(void);

/* Returns the name of a launcher's variable that counts more than one rank, and stores the count in *ranks; or returns
 * NULL and stores 1 if there is none. Considers every launcher, even one that started another launcher, so MPI may
 * report fewer ranks. */
const char *launcher_of_several(long *ranks);

#endif
