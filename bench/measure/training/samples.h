/* samples.h - the samples of a run, one of each block (a round of an implementation), and whether the losses of the
 * blocks agree. */
#ifndef BENCH_MEASURE_TRAINING_SAMPLES_H
#define BENCH_MEASURE_TRAINING_SAMPLES_H

#include "ddp/job.h"
#include "ddp/step.h"

/* The figures of a sample, in seconds: the phases of a step, as means over the timed steps of the block and over ranks;
 * and FIGURE_STEP, the time of the block on the slowest rank / its timed steps. */
enum { FIGURE_STEP = PHASES, FIGURES };

struct measurements {
    int n;           /* implementations */
    size_t capacity; /* rounds that fit */
    size_t rounds;   /* complete rounds so far */
    double *seconds; /* [n, FIGURES, capacity]; NAN in rounds in which an implementation had no block */
};

/* Allocates `capacity` rounds of n implementations. Release with measurements_destroy. */
void measurements_create(struct measurements *measurements, int n, size_t capacity);
void measurements_destroy(struct measurements *measurements); /* a zeroed one is fine */

/* The samples [rounds] of one figure of one implementation. */
double *measurements_of(const struct measurements *measurements, int implementation, int figure);

/* Doubles the room: replaces the array series[n, room] by one of [n, 2 room]. */
void series_grow(double **series, size_t n, size_t *room);

/* ---- losses: every block starts from the same weights and data, so all strategies that reduce the whole gradient in
 * fp32 must have the same losses, up to the order of the sums ---- */

struct losses {
    int steps;         /* of a block, with the untimed ones */
    int judged;        /* the first step after an update that moved the weights; -1: none */
    double *mean;      /* [steps] of the last block, over ranks */
    double *expected;  /* [steps] of the first block that must agree; NULL before it */
    double difference; /* largest relative difference so far; NAN before there are two blocks to compare */
    double wrong;      /* the same in the judged step: above 1e-3 a gradient was reduced wrongly */
    int not_a_number;  /* a loss was NaN or infinite */
};

/* For blocks of `steps` steps. Release with losses_destroy. */
void losses_create(struct losses *losses, int steps, int judged);
void losses_destroy(struct losses *losses); /* a zeroed one is fine */

/* Takes this rank's loss of each step of a block, mine[steps]. must_agree: its strategy reduces the whole gradient in
 * fp32. All ranks call; afterwards all have the same losses. */
void losses_add(struct losses *losses, const struct job *job, const double *mine, int must_agree);

/* Returns -1 if a gradient was reduced wrongly, reported on stderr of rank 0; otherwise 0. */
int losses_check(const struct losses *losses, const struct job *job);

#endif
