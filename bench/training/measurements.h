/* measurements.h - the samples of a run: one for each block, that is for each round of each implementation. */
#ifndef BENCH_TRAINING_MEASUREMENTS_H
#define BENCH_TRAINING_MEASUREMENTS_H

#include "ddp/step.h"

#include <stddef.h>

/* A sample's figures, in seconds: a phase is its time per step, averaged over the timed steps of a block and over
 * ranks; FIGURE_STEP is the block's time / timed steps on the slowest rank. */
enum { FIGURE_STEP = PHASES, FIGURES };

struct measurements {
    int n;           /* implementations */
    size_t capacity; /* rounds that there is room for */
    size_t rounds;   /* complete rounds so far */
    double *seconds; /* [n, FIGURES, capacity] */
};

/* Room for `capacity` rounds of n implementations, none measured yet. Release with measurements_destroy. */
void measurements_create(struct measurements *measurements, int n, size_t capacity);
void measurements_destroy(struct measurements *measurements); /* zeroed ones are fine */

/* The samples [rounds] of one figure of one implementation. */
double *measurements_of(const struct measurements *measurements, int implementation, int figure);

#endif
