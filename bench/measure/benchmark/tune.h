/* tune.h - `ddpbench tune`: finds the strategy and the bucket size with the shortest step. */
#ifndef BENCH_MEASURE_BENCHMARK_TUNE_H
#define BENCH_MEASURE_BENCHMARK_TUNE_H

#include "training/training.h"

/* The rows of a search. A size that is not a power of two, or a plan with buckets of several sizes, runs only in the
 * final, if at all: the size if it is next to the best, the plan if it is around the best. */
enum candidate_kind { CANDIDATE, CANDIDATE_BETWEEN, CANDIDATE_PLAN };

struct tune_options {
    struct run_options run; /* run.training.implementation holds the candidates (candidates_make) */
    double max_minutes;
    char kind[MAX_IMPLEMENTATIONS]; /* enum candidate_kind, set by candidates_make */
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
 * joins two tensors to the first power of two that makes a single bucket. Sizes that make the same buckets share one
 * row, with the greatest power of two among them, if there is one. After the sizes of a strategy come CANDIDATE_PLANS
 * rows for plans with buckets of several sizes, which candidates_plan makes anew once the best size is known, and a row
 * with a bucket for each transformer block, unless a size makes the same buckets. kind[r] becomes the kind of row r.
 * Returns the number of rows, at most MAX_IMPLEMENTATIONS. */
enum { CANDIDATE_PLANS = 4 };
int candidates_make(struct implementation row[MAX_IMPLEMENTATIONS], char kind[MAX_IMPLEMENTATIONS],
                    const struct tensor *tensor, int tensors);

/* Makes row[CANDIDATE_PLANS] around a row with buckets of S MiB: the first bucket of S / 4; the last of S / 4; both;
 * and both, with sizes that double up to 2 S. is_new[p] becomes 1 if plan p differs from the plans before it and from
 * the plan with buckets of S. Keeps the strategies of the rows, which the caller has set; sets size and label. */
void candidates_plan(struct implementation *row, char is_new[CANDIDATE_PLANS], const struct implementation *around,
                     const struct tensor *tensor, int tensors);

#endif
