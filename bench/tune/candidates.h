/* candidates.h - what a search compares: every strategy, and those with buckets at many sizes. */
#ifndef BENCH_TUNE_CANDIDATES_H
#define BENCH_TUNE_CANDIDATES_H

#include "training/training.h"

struct candidate {
    double bucket_mb; /* MiB; 0 for a strategy without buckets */
    char words[16];   /* the same as --bucket-size-mb takes it; "" */
    int between;      /* between two sizes of the first round: it is for the end of the search */
};

/* Makes the rows of a search on a model with these tensors: the control `none`, the strategies that reduce, and at the
 * end each one with buckets at sizes of 2^(i/2) MiB, rounded to three digits, from the least one that joins any two
 * tensors to one that holds the whole gradient; those with an odd i lie between the others. A size that makes the same
 * buckets as its neighbour is left out. Returns how many rows, at most MAX_IMPLEMENTATIONS. */
int candidates_make(struct implementation row[MAX_IMPLEMENTATIONS], struct candidate candidate[MAX_IMPLEMENTATIONS],
                    const struct tensor *tensor, int tensors);

#endif
