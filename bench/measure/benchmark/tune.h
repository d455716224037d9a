/* tune.h - `ddpbench tune`: finds the strategy and the bucket size with the shortest step. */
#ifndef BENCH_MEASURE_BENCHMARK_TUNE_H
#define BENCH_MEASURE_BENCHMARK_TUNE_H

#include "benchmark/candidates.h"

struct tune_options {
    struct run_options run;
    double max_minutes;
    struct candidate candidate[MAX_IMPLEMENTATIONS]; /* of run.training.implementation */
};

/* Reads the command line, whose argv[0] is the command's name. The table points into the options. 0, or -1, reported.
 */
int tune_options_parse(struct tune_options *options, struct option_table *table, int argc, char *const argv[]);

/* Checks them for so many ranks, which compute on GPUs or not, and makes the candidates as the rows of
 * options->run.training. 0, or -1, reported. */
int tune_options_check(struct tune_options *options, const struct option_table *table, int ranks, int on_gpus);

/* Runs the search and writes its results. Returns 0; or -1 when something went wrong that rank 0 has said; what was
 * measured until then has been written and printed. All ranks call it and get the same answer. */
int tune_search(const struct job *job, const struct tune_options *options, const struct command *command);

#endif
