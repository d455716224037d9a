/* candidates.h - what a search compares: every strategy, and ddp_bucketed at many sizes. */
#ifndef BENCH_MEASURE_BENCHMARK_CANDIDATES_H
#define BENCH_MEASURE_BENCHMARK_CANDIDATES_H

#include "training/training.h"

struct candidate {
    double bucket_mb; /* MiB; 0 for a strategy without buckets */
    int between;      /* not a power of two: not in the first round, but for the end of the search */
};

/* Makes the rows of a search on a model with tensor[tensors], as in struct model: the control `none`, the
 * strategies without buckets that reduce, and at the end ddp_bucketed at sizes of 2^(i/2) MiB, rounded to three digits,
 * from the least one that joins any two tensors to one that holds the whole gradient, which is a power of two. Of sizes
 * that make the same buckets one stands for all, a power of two where there is one. Returns how many rows, at most
 * MAX_IMPLEMENTATIONS. */
int candidates_make(struct implementation row[MAX_IMPLEMENTATIONS], struct candidate candidate[MAX_IMPLEMENTATIONS],
                    const struct tensor *tensor, int tensors);

#endif
