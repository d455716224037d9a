/* benchmark.h - the benchmark, which compares all implementations on the same model; and tune, which searches. */
#ifndef BENCH_MEASURE_BENCHMARK_BENCHMARK_H
#define BENCH_MEASURE_BENCHMARK_BENCHMARK_H

#include "training/training.h"

/* Checks the options of a benchmark, and makes the rows of the comparison. Returns 0; or -1, reported. */
int benchmark_options_check(struct training_options *options, const struct option_table *table);

/* Runs the benchmark and writes its results. All ranks call. Returns 0; or -1 on every rank, reported by rank 0. In
 * either case all measured rounds have been written and printed. */
int benchmark_run(const struct job *job, const struct run_options *options, const struct command *command);

#define TUNE_SYNOPSIS "mpirun -n RANKS ddpbench tune" /* the command line, without its options */

/* The entry of `ddpbench tune` for harness_main: finds the strategy and bucket size with the shortest step. */
enum exit_status tune_main(const struct job *job, int argc, char *const argv[]);

#endif
