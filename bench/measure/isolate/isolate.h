/* isolate.h - `ddpbench isolate`: finds which host, link or direction is slow. */
#ifndef BENCH_MEASURE_ISOLATE_ISOLATE_H
#define BENCH_MEASURE_ISOLATE_ISOLATE_H

#include "harness/harness.h"

#define ISOLATE_SYNOPSIS "mpirun -n RANKS ddpbench isolate" /* the command line, without its options */

/* Runs `ddpbench isolate` by calling harness_main. Returns the exit status, which may be an enum isolate_status. */
enum isolate_status { ISOLATE_HEALTHY, ISOLATE_SLOW = STATUS_USAGE + 1, ISOLATE_UNDECIDED };
enum exit_status isolate_main(const struct job *job, int argc, char *const argv[]);

#endif
