/* samples.h - what a run keeps of its blocks: a sample of each, that is of each round of each implementation; and
 * whether their losses agree. */
#ifndef BENCH_MEASURE_TRAINING_SAMPLES_H
#define BENCH_MEASURE_TRAINING_SAMPLES_H

#include "ddp/job.h"
#include "ddp/step.h"

/* The figures of a sample, in seconds: phases per step, averaged over the timed steps of a block and over ranks; and
 * FIGURE_STEP, the time of the block on the slowest rank / its timed steps. */
enum { FIGURE_STEP = PHASES, FIGURES };

struct measurements {
    int n;           /* implementations */
    size_t capacity; /* rounds that there is room for */
    size_t rounds;   /* complete rounds so far */
    double *seconds; /* [n, FIGURES, capacity]; NAN in rounds in which an implementation had no block */
};

/* Makes room for `capacity` rounds of n implementations. Release with measurements_destroy. */
void measurements_create(struct measurements *measurements, int n, size_t capacity);
void measurements_destroy(struct measurements *measurements); /* a zeroed one is fine */

/* The samples [rounds] of one figure of one implementation. */
double *measurements_of(const struct measurements *measurements, int implementation, int figure);

/* Doubles the room: the array series[n, room] becomes another one, [n, 2 room]. */
void series_grow(double **series, size_t n, size_t *room);

/* ---- losses: every block starts from the same weights and data, so all strategies that reduce the whole gradient in
 * fp32 must have the same losses, up to the order of the sums ---- */

struct losses {
    int steps;         /* of a block, including those that are not timed */
    int judged;        /* the first step whose loss comes after an update that moved the weights; -1: there is none */
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

/* Prints on stderr of rank 0 what is wrong with the losses. Returns -1 if a gradient was reduced wrongly, otherwise 0.
 */
int losses_check(const struct losses *losses, const struct job *job);

#endif
