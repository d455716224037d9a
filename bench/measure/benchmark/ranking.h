/* ranking.h - computes mean times, costs of strategies and significant differences from the samples, in pure functions.
 * A sample is the mean over the steps of a block, which one implementation runs in one round. */
#ifndef BENCH_MEASURE_BENCHMARK_RANKING_H
#define BENCH_MEASURE_BENCHMARK_RANKING_H

#include "training/training.h"

/* Every time, rate and ratio of a row is a geometric mean over the rounds. With --resolve, where the rounds end once a
 * condition holds, it is a median with an interval that holds whenever they end (stats_typical). */
struct ranking_row {
    const char *label;                           /* label of the implementation, such as ddp */
    const struct implementation *implementation; /* must outlive the ranking */
    int reduces, compared;                       /* compared 1: implementation_is_compared */
    struct estimate seconds[FIGURES];
    double other; /* seconds: step - the other phases of the table */
    struct estimate tokens_per_second;
    struct estimate communication_ratio; /* (gradient_sync + parameter_gather) / step; n is 0 without communication */
    struct estimate sync_cost;  /* seconds: (step(this) / step(none) - 1) x step(none), by round; n is 0 if the row does
                                   not communicate, or `none` is not compared */
    struct estimate to_ddp;     /* step(this) / step(ddp), paired by round; n is 0 if `ddp` is not compared */
    struct estimate attainable; /* attainable step in seconds; n is 0 if not measured */
    struct estimate step_to_attainable; /* step(this) / attainable, paired by round */
    struct against_best to_fastest;     /* step(this) / step(fastest); ratio.n is 0 if the row is not compared */
    struct gradient_errors error;       /* set by the caller */
    double final_loss;                  /* set by the caller: of the last step of a block, mean over ranks */
    const char *mark;                   /* "*": the fastest; "=": a tie with the fastest; or "" */
};

struct ranking {
    int n, compared; /* n rows; `compared` of them are ranked (implementation_is_compared) */
    size_t rounds;
    double resolve;       /* --resolve as a fraction: 0.01 for 1 %; 0: not given */
    double within;        /* margin of a tie: `resolve`, or VERDICT_WITHIN */
    double rounds_needed; /* see ranking_rounds_needed */
    struct ranking_row row[MAX_IMPLEMENTATIONS];
    int fastest; /* of the compared rows, the one with the shortest step; -1: no such row, or no rounds */
};

/* Computes a ranking. tokens: tokens of a step on all ranks. attainable[n, rounds]: attainable steps in s, of rows that
 * reduce; or NULL. With resolve > 0, verdicts hold at any number of rounds (best_of with anytime set). */
void ranking_create(struct ranking *ranking, const struct measurements *measurements,
                    const struct implementation *implementation, int ranks, double tokens, const double *attainable,
                    double resolve);

/* Returns after how many rounds every compared row is known to be slower than the fastest row or within a factor of
 * 1 + resolve of it, by its whole interval. If that is so already, returns the number of rounds so far; otherwise an
 * estimate for intervals that shrink as 1 / sqrt(rounds), which is INFINITY if an interval is NAN. */
double ranking_rounds_needed(const struct measurements *measurements, const struct implementation *implementation,
                             double resolve);

/* ---- a ranking as parts of summary.json ---- */

/* Adds all figures of all rows to the list. */
void ranking_add_figures(const struct ranking *ranking, struct figure_list *figures);

/* Adds the table of the comparison to the summary. block_steps: number of timed steps in a block. */
void ranking_add_table(const struct ranking *ranking, size_t block_steps, cJSON *summary);

/* Adds the verdict of a run on `ranks` ranks, where a round took round_seconds; busy: whether the machine was busy.
 * With --resolve, also adds whether every implementation has been resolved. */
void ranking_add_verdict(const struct ranking *ranking, int ranks, size_t planned, double round_seconds, int busy,
                         cJSON *summary);

#endif
