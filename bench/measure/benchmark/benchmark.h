/* benchmark.h - the benchmark, which compares all implementations on one model; and tune, which finds the best one. */
#ifndef BENCH_MEASURE_BENCHMARK_BENCHMARK_H
#define BENCH_MEASURE_BENCHMARK_BENCHMARK_H

#include "training/training.h"

/* Checks the options of a benchmark, and makes the rows of the comparison. Returns 0; or -1, reported. */
int benchmark_options_check(struct training_options *options, const struct option_table *table);

/* Runs the benchmark and writes its results. All ranks call it. Returns 0; or -1 on every rank, reported by rank 0. In
 * either case the results of all complete rounds have been written and printed. */
int benchmark_run(const struct job *job, const struct run_options *options, const struct command *command);

#define TUNE_SYNOPSIS "mpirun -n RANKS ddpbench tune" /* the command line, without its options */

/* Runs `ddpbench tune`, which finds the strategy and bucket size with the shortest step. All ranks call it. */
enum exit_status tune_main(const struct job *job, int argc, char *const argv[]);

#endif
