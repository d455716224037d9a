/* benchmark.h - benchmark mode: every implementation in turn on the same model, compared. */
#ifndef BENCH_MEASURE_BENCHMARK_BENCHMARK_H
#define BENCH_MEASURE_BENCHMARK_BENCHMARK_H

#include "training/training.h"

/* Checks the options of a benchmark, and makes its rows. 0, or -1, reported. */
int benchmark_options_check(struct training_options *options, const struct option_table *table);

/* Runs the whole benchmark and writes its results. Returns 0; or -1 when something went wrong that rank 0 has said;
 * what was measured until then has been written and printed. All ranks call it and get the same answer. */
int run_benchmark(const struct job *job, const struct run_options *options, const struct command *command);

#define TUNE_SYNOPSIS "mpirun -n RANKS ddpbench tune" /* without options */

/* `ddpbench tune`, which finds the strategy and the bucket size with the shortest step: the command whose words are
 * argv. Returns the exit status: 0; 1 when the run failed; 2 when the options make no sense; rank 0 has said why. All
 * ranks call it. */
int run_tune(const struct job *job, int argc, char *const argv[]);

#endif
