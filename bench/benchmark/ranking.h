/* ranking.h - from samples to figures: medians, what a strategy costs, which differences are real.
 *
 * Pure: samples in, figures out. One sample is one block (one round of one implementation). */
#ifndef BENCH_BENCHMARK_RANKING_H
#define BENCH_BENCHMARK_RANKING_H

#include "base/stats.h"
#include "training/training.h"

struct row {
    struct estimate seconds[FIGURES];
    struct estimate tokens_per_second;
    struct estimate communication_ratio; /* gradient_sync / step; n is 0 where nothing is communicated */
    /* step(this) against step(none), paired by round; n is 0 without `none` in the comparison */
    struct paired against_none;
    double sync_cost, sync_cost_low, sync_cost_high; /* seconds: (mean ratio - 1) x median step of none */
    double attainable;                               /* seconds; NAN if not measured */
};

struct pair {
    int a, b;             /* implementations; step(a) / step(b) */
    struct paired paired; /* interval at 95 %, of this pair alone */
    double p;             /* adjusted by Holm over all pairs */
};

struct ranking {
    int n, pairs;
    size_t rounds;
    struct row row[MAX_IMPLEMENTATIONS];
    struct pair *pair; /* [pairs] every two implementations that reduce */
    int fastest;       /* the least mean of log(step) among those that reduce; -1 if none does */
};

/* tokens: of one step of all ranks. attainable[n] in seconds, or NULL. Release with ranking_destroy. */
void ranking_create(struct ranking *comparison, const struct measurements *measurements,
                    const struct implementation *implementation, int ranks, double tokens, const double *attainable);
void ranking_destroy(struct ranking *comparison); /* a zeroed one is fine */

/* Whether a pair with the fastest is different at the 5 % level over all pairs. */
int ranking_slower(const struct ranking *comparison, int implementation);

#endif
