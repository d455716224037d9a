/* allreduce.h - `ddpbench allreduce`: measures the interconnect alone, without training. */
#ifndef BENCH_MEASURE_ALLREDUCE_ALLREDUCE_H
#define BENCH_MEASURE_ALLREDUCE_ALLREDUCE_H

#include "harness/harness.h"

#define ALLREDUCE_SYNOPSIS "mpirun -n RANKS ddpbench allreduce" /* the command line, without its options */

/* Runs `ddpbench allreduce` by calling harness_main. Returns the exit status. */
enum exit_status allreduce_main(const struct job *job, int argc, char *const argv[]);

#endif
