/* samples.h - the samples of a run, one for each block, and whether the losses of the blocks agree. */
#ifndef BENCH_MEASURE_TRAINING_SAMPLES_H
#define BENCH_MEASURE_TRAINING_SAMPLES_H

#include "ddp/job.h"
#include "ddp/step.h"

/* The figures of a sample, averaged over the timed steps: the time of each phase, mean over ranks; and FIGURE_STEP, the
 * time of the block / its number of timed steps, on the slowest rank. Each figure is a row of a table, with the name
 * and unit that it has in summary.json and in all that is made from it. */
enum { FIGURE_STEP = PHASES, FIGURES };
struct sample_figure {
    const char *name, *unit;
    int of_slowest; /* 1: the largest value of the ranks; 0: their mean */
};
struct sample_figure sample_figure(int figure);

struct measurements {
    int n;           /* number of implementations */
    size_t capacity; /* number of rounds for which memory is allocated */
    size_t rounds;   /* complete rounds so far */
    double *value;   /* [n, FIGURES, capacity]; NAN if the implementation had no block in the round */
};

/* Allocates room for `capacity` rounds of n implementations. Release with measurements_destroy. */
void measurements_create(struct measurements *measurements, int n, size_t capacity);
void measurements_destroy(struct measurements *measurements); /* zeroed measurements are fine */

/* Returns the samples [rounds] of a figure (a phase or FIGURE_STEP) of an implementation. */
double *measurements_of(const struct measurements *measurements, int implementation, int figure);

/* Stores the sample of an implementation in a round, made from the samples of_rank[ranks, FIGURES] of all ranks. */
void measurements_keep(struct measurements *measurements, int implementation, size_t round, const double *of_rank,
                       int ranks);

/* Doubles *room and the memory of *series, an array [n, *room]; keeps its content. */
void series_grow(double **series, size_t n, size_t *room);

/* ---- losses: every block starts from the same weights and data, so all strategies that reduce the whole gradient in
 * fp32 must have the same losses, up to the order of the sums ---- */

struct losses {
    int steps;         /* steps in a block, including untimed ones */
    int judged;        /* the step for `wrong`: a block's first step after the weights changed; -1: no such step */
    double *mean;      /* [steps] losses of the last block, means over ranks */
    double *expected;  /* [steps] losses of the first compared block, which later ones must match; NULL: none yet */
    double difference; /* largest relative difference from `expected` so far; NAN until two blocks can be compared */
    double wrong;      /* `difference` in step `judged` alone; above 1e-3, a gradient was reduced wrongly */
    int not_a_number;  /* 1: a loss was NaN or infinite */
};

/* Allocates room for the losses of blocks of `steps` steps; judged: see struct losses. Release with losses_destroy. */
void losses_create(struct losses *losses, int steps, int judged);
void losses_destroy(struct losses *losses); /* zeroed losses are fine */

/* Adds this rank's losses of a block, mine[steps]. must_agree 1: the strategy reduces the sum of all gradients in fp32.
 * All ranks call, and get the same losses. */
void losses_add(struct losses *losses, const struct job *job, const double *mine, int must_agree);

/* Returns -1 if a gradient was reduced wrongly, which rank 0 reports on stderr; otherwise 0. */
int losses_check(const struct losses *losses, const struct job *job);

#endif
