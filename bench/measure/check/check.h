/* check.h - `ddpbench check`: whether this build works on this machine, in some seconds. */
#ifndef BENCH_MEASURE_CHECK_CHECK_H
#define BENCH_MEASURE_CHECK_CHECK_H

#include "harness/harness.h"

#define CHECK_SYNOPSIS "[mpirun -n RANKS] ddpbench check" /* the command line, without its options */

/* Runs `ddpbench check`, which prints a line for each check: ok, warning or FAILED, its name, and what was found.
 * Returns STATUS_FAILED if a check failed. */
enum exit_status check_main(const struct job *job, int argc, char *const argv[]);

#endif
