/* tune.h - `ddpbench tune`: finds the strategy and the bucket size with the shortest step. */
#ifndef BENCH_MEASURE_BENCHMARK_TUNE_H
#define BENCH_MEASURE_BENCHMARK_TUNE_H

#include "benchmark/candidates.h"

struct tune_options {
    struct run_options run;
    double max_minutes;
    struct candidate candidate[MAX_IMPLEMENTATIONS]; /* of run.training.implementation */
};

/* Adds the options to a table. */
void tune_options_add(struct option_table *table, struct tune_options *options);

/* Checks the options for a number of ranks, which compute on GPUs or not, and makes the candidates the rows of
 * run.training; line: the struct tune_options. Returns 0; or -1, reported. */
int tune_options_check(void *line, const struct option_table *table, int ranks, int on_gpus);

/* Runs the search and writes its results. All ranks call. Returns 0; or -1 on every rank, reported by rank 0: then too,
 * what was measured has been written and printed. */
int tune_search(void *line, const struct job *job, const struct command *command);

#endif
