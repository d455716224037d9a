/* ranking.h - computes medians, costs of strategies and significant differences from the samples, in pure functions. A
 * sample is the mean over a block (one round of one implementation). */
#ifndef BENCH_MEASURE_BENCHMARK_RANKING_H
#define BENCH_MEASURE_BENCHMARK_RANKING_H

#include "base/best.h"
#include "training/training.h"

struct ranking_row {
    const char *label;                           /* label of the implementation, such as ddp */
    const struct implementation *implementation; /* must outlive the ranking */
    int reduces;
    struct estimate seconds[FIGURES];
    struct estimate tokens_per_second;
    struct estimate communication_ratio; /* gradient_sync / step; n is 0 if the row does not communicate */
    struct estimate sync_cost;  /* seconds: step(this) - step(none), paired by round; n is 0 if it does not communicate,
                                   or `none` is not compared */
    struct estimate to_ddp;     /* step(this) / step(ddp), paired by round; n is 0 if `ddp` is not compared */
    struct estimate attainable; /* attainable step in seconds; n is 0 if not measured */
    struct paired step_to_attainable; /* step(this) / attainable, paired by round */
    struct against_best to_fastest;   /* for rows that reduce; n is 0 for other rows */
    int undecided;                    /* 1: not slower, but the interval exceeds --resolve */
    const char *mark;                 /* "*": the fastest; "=": a tie with the fastest; or "" */
};

struct ranking {
    int n, compared; /* n rows, of which `compared` rows reduce */
    size_t rounds;
    double resolve;       /* --resolve as a fraction: 0.01 for 1 %; 0: not given */
    double rounds_needed; /* see ranking_rounds_needed */
    struct ranking_row row[MAX_IMPLEMENTATIONS];
    int fastest; /* of the rows that reduce, the one with the shortest median step; -1: no such row, or no rounds */
};

/* tokens: per step, on all ranks. attainable[n, rounds]: seconds, for rows that reduce; or NULL. With resolve > 0 the
 * verdicts are valid whenever the rounds end (best_of with anytime set). */
void ranking_create(struct ranking *ranking, const struct measurements *measurements,
                    const struct implementation *implementation, int ranks, double tokens, const double *attainable,
                    double resolve);

/* Returns after how many rounds each row that reduces is either slower than the fastest, or has its whole interval
 * within a factor of 1 + resolve. If this is so for every row, returns the rounds made; otherwise an estimate for
 * intervals that shrink as 1 / sqrt(rounds), INFINITY if an interval is NAN. */
double ranking_rounds_needed(const struct measurements *measurements, const struct implementation *implementation,
                             double resolve);

/* ---- a ranking as parts of summary.json ---- */

/* Adds every figure of every row. */
void ranking_add_figures(const struct ranking *ranking, struct figure_list *figures);

/* Adds the table of the comparison; block_steps: timed steps per sample. */
void ranking_add_table(const struct ranking *ranking, size_t block_steps, cJSON *summary);

/* Adds the verdict of a run on `ranks` ranks; and with --resolve, once all planned rounds have run, how they ended. */
void ranking_add_verdict(const struct ranking *ranking, int ranks, size_t planned, cJSON *summary);

#endif
