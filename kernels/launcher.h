/* launcher.h - what a launcher of ranks says in the environment, for what has to be known without MPI or before it.
 *
 * Known are MPICH's Hydra, Open MPI's mpirun, PMIx and Slurm's srun; where one runs inside of another, as Hydra does in
 * a step of Slurm, the one named first counts. A variable that holds no number is as if it were not set. */
#ifndef KERNELS_LAUNCHER_H
#define KERNELS_LAUNCHER_H

/* Whether a launcher started this process. The shells of a job of Slurm, its batch script and the one that salloc may
 * start on a node, are steps too, with numbers of their own, and no launcher's ranks. */
int launcher_started_this(void);

/* The number of this rank among all and among those of this machine, from 0; 0 without a launcher. */
long launcher_rank(void);
long launcher_rank_here(void);

/* The variable that launcher_rank is read from; NULL: none. */
const char *launcher_rank_variable(void);

/* The ranks that were started on this machine; 1 without a launcher. */
long launcher_ranks_here(void);

/* The name of the variable that says that more than one rank was started, and in *ranks how many; NULL, and 1, where
 * none does. MPI may know better: any launcher counts, also one that started another launcher. */
const char *launcher_of_several(long *ranks);

#endif
