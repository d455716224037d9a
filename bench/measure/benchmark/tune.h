/* tune.h - `ddpbench tune`: finds the strategy and the bucket size with the shortest step. */
#ifndef BENCH_MEASURE_BENCHMARK_TUNE_H
#define BENCH_MEASURE_BENCHMARK_TUNE_H

#include "training/training.h"

struct tune_options {
    struct run_options run; /* run.training.implementation holds the candidates (candidates_make) */
    double max_minutes;
    char between[MAX_IMPLEMENTATIONS]; /* set by candidates_make: 1 for a row whose bucket size is no power of two */
};

/* Adds the options of `tune`, which fill *options, to a table. */
void tune_options_add(struct option_table *table, struct tune_options *options);

/* Checks the options for a number of ranks, on GPUs or not, and makes the candidates. line: a struct tune_options *.
 * Returns 0; or -1, reported. */
int tune_options_check(void *line, const struct option_table *table, int ranks, int on_gpus);

/* Runs the search and writes its results. line: a struct tune_options *. All ranks call it. Returns 0; or -1 on every
 * rank, reported by rank 0. In either case the results of all complete rounds have been written and printed. */
int tune_search(void *line, const struct job *job, const struct command *command);

/* Makes the rows of a search on a model with tensor[tensors]: the control `none`; the strategies that reduce without
 * buckets; and each strategy with buckets at sizes of 2^(i/2) MiB, rounded to three digits, from the smallest size that
 * joins two tensors to the first power of two that holds the whole gradient. Sizes that make the same buckets share one
 * row, with a power of two if possible. between[r] becomes 1 if the size of row r is no power of two: such a row can
 * run only in the final. Returns the number of rows, at most MAX_IMPLEMENTATIONS. */
int candidates_make(struct implementation row[MAX_IMPLEMENTATIONS], char between[MAX_IMPLEMENTATIONS],
                    const struct tensor *tensor, int tensors);

#endif
