/* ranking.h - from samples to figures: medians, costs of strategies, significant differences. Pure. A sample is a block
 * (a round of an implementation). */
#ifndef BENCH_MEASURE_BENCHMARK_RANKING_H
#define BENCH_MEASURE_BENCHMARK_RANKING_H

#include "base/best.h"
#include "training/training.h"

struct ranking_row {
    const char *label;                           /* of the implementation */
    const struct implementation *implementation; /* must outlive the ranking */
    int reduces;
    struct estimate seconds[FIGURES];
    struct estimate tokens_per_second;
    struct estimate communication_ratio; /* gradient_sync / step; n is 0 without communication */
    struct estimate sync_cost;           /* seconds: step(this) - step(none), paired by round; n is 0 without
                                            communication, and without `none` in the comparison */
    struct estimate to_ddp;     /* step(this) / step(ddp), paired by round; n is 0 without `ddp` in the comparison */
    struct estimate attainable; /* seconds; n is 0 if it was not measured */
    struct paired step_to_attainable; /* step(this) / attainable, round by round */
    struct against_best to_fastest;   /* of the rows that reduce; n is 0 for the others */
    int undecided;                    /* not slower, and the interval reaches beyond --resolve */
    const char *mark;                 /* "*": the fastest, "=": tie, or "" */
};

struct ranking {
    int n, compared; /* rows; those that reduce */
    size_t rounds;
    double resolve;       /* of --resolve, 0.01 for 1 %; 0: without it */
    double rounds_needed; /* see ranking_rounds_needed */
    struct ranking_row row[MAX_IMPLEMENTATIONS];
    int fastest; /* row with the shortest median step of those that reduce; -1: no such row, or no rounds */
};

/* tokens: of a step of all ranks. attainable[n, rounds]: seconds of the rows that reduce, or NULL. With resolve > 0 the
 * comparison holds whenever the rounds end (best_of, anytime). */
void ranking_create(struct ranking *ranking, const struct measurements *measurements,
                    const struct implementation *implementation, int ranks, double tokens, const double *attainable,
                    double resolve);

/* The rounds after which each row that reduces is slower than the fastest, or has its whole interval within a factor of
 * 1 + resolve: the rounds made, if no row is undecided; otherwise an estimate from intervals that shrink as
 * 1 / sqrt(rounds), INFINITY if an interval is NAN. */
double ranking_rounds_needed(const struct measurements *measurements, const struct implementation *implementation,
                             double resolve);

/* ---- as parts of summary.json ---- */

/* Every figure of every row. */
void ranking_add_figures(const struct ranking *ranking, struct figure_list *figures);

/* The table of the comparison; block_steps are the timed steps behind a sample. */
void ranking_add_table(const struct ranking *ranking, size_t block_steps, cJSON *summary);

/* The verdict of a run on that many ranks; and with --resolve how the rounds ended, if none is planned any more. */
void ranking_add_verdict(const struct ranking *ranking, int ranks, size_t planned, cJSON *summary);

#endif
