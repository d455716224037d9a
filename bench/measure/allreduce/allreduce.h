/* allreduce.h - `ddpbench allreduce`: the interconnect alone. */
#ifndef BENCH_MEASURE_ALLREDUCE_ALLREDUCE_H
#define BENCH_MEASURE_ALLREDUCE_ALLREDUCE_H

#include "ddp/job.h"

#define ALLREDUCE_SYNOPSIS "mpirun -n RANKS ddpbench allreduce" /* without options */

/* Runs the command whose words are argv (argv[0] is its name). All ranks call. Returns 0; 1 when the run failed or a
 * result was wrong; 2 when the options make no sense; rank 0 has said why. */
int run_allreduce(const struct job *job, int argc, char *const argv[]);

#endif
