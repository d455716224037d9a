/* ranking.h - from samples to figures: medians, what a strategy costs, which differences are real.
 *
 * Pure: samples in, figures out. One sample is one block (one round of one implementation). */
#ifndef BENCH_BENCHMARK_RANKING_H
#define BENCH_BENCHMARK_RANKING_H

#include "base/stats.h"
#include "training/training.h"

struct row {
    const char *label; /* of the implementation, which must outlive the ranking */
    int reduces;
    struct estimate seconds[FIGURES];
    struct estimate tokens_per_second;
    struct estimate communication_ratio; /* gradient_sync / step; n is 0 where nothing is communicated */
    struct estimate sync_cost; /* seconds: (mean ratio - 1) x median step of none, the ratio of step(this) to step(none)
                                  paired by round; n is 0 without `none` in the comparison */
    double attainable, step_to_attainable; /* seconds, and the ratio to it; NAN if not measured */
    struct paired to_fastest; /* step(this) / step(fastest), where both reduce; its interval is of this pair alone */
    int slower;               /* than the fastest: different at the 5 % level over all pairs */
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
void ranking_create(struct ranking *ranking, const struct measurements *measurements,
                    const struct implementation *implementation, int ranks, double tokens, const double *attainable);
void ranking_destroy(struct ranking *ranking); /* a zeroed one is fine */

/* ---- as parts of summary.json ---- */

/* Every figure of every row, and the ratio of every pair. */
void ranking_add_figures(const struct ranking *ranking, struct figure_list *figures);

/* The table of the comparison; block_steps are the timed steps behind a sample. */
void ranking_add_table(const struct ranking *ranking, size_t block_steps, cJSON *summary);

/* The pairs with their p-values, the fastest, and those that do not differ significantly from it; and the verdict in
 * words, for so many ranks. */
void ranking_add_verdict(const struct ranking *ranking, int ranks, cJSON *summary);

/* The buckets of those rows that have some, in the order of their reduction; reducer[n] as the rows. */
void buckets_add_table(const struct implementation *row, const struct reducer *reducer, int n, cJSON *summary);

#endif
