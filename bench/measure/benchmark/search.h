/* search.h - successive halving over candidates: which of them run in the next round, and when the search ends.
 *
 * A stage is a few rounds of all candidates that are still in the search. At the end of a stage the slower half is
 * dropped (Karnin, Koren and Somekh, Almost Optimal Exploration in Multi-Armed Bandits, ICML 2013). The last few
 * candidates, the sizes next to the best one, and plans around it run in new rounds: the final. Its figures and
 * verdicts use these rounds alone, so that no candidate gains from luck in the rounds that selected it. */
#ifndef BENCH_MEASURE_BENCHMARK_SEARCH_H
#define BENCH_MEASURE_BENCHMARK_SEARCH_H

#include "results/results.h"
#include "results/verdict.h"

enum search_state {
    SEARCH_CONTROL,  /* runs in every round, but is not a candidate */
    SEARCH_IN,       /* runs in the next round */
    SEARCH_RESERVE,  /* size between two others, or a plan, which may enter the final if it is next to the best */
    SEARCH_LEFT_OUT, /* does not run, since time is short; may still enter the final if it is next to the best */
    SEARCH_DROPPED,  /* was in the slower half of a stage */
    SEARCH_SLOWER    /* was significantly slower than the best in the final */
};

enum search_end {
    SEARCH_GOES_ON,
    SEARCH_BEST,   /* the best is significantly faster than all others of the final */
    SEARCH_WITHIN, /* all candidates left are within VERDICT_WITHIN of the best */
    SEARCH_TIME
};

enum { SEARCH_ROWS = 64 };

struct search_row {
    enum search_state state;
    int series;      /* above 0: number of a strategy; its rows have its bucket sizes, in order */
    int is_plan;     /* 1: has buckets of several sizes; enters the final, if at all, with the best size */
    size_t from, to; /* the row's figures use rounds [from, to): of the final, or all if it was dropped */
    /* step / step of the best, as last compared; in the final over its rounds alone; ratio.n 0: not yet compared */
    struct against_best against;
};

struct search {
    int n;
    struct search_row row[SEARCH_ROWS];
    double limit, seconds; /* limit: seconds that all rounds may take; seconds: taken by the rounds so far */
    size_t rounds, blocks;
    int stage, stages;    /* stage: the current one, counted from 0; stages: estimated number before the final */
    size_t stage_from;    /* first round of the current stage */
    double stage_seconds; /* `seconds` when the current stage began */
    int final, looks;     /* final 1: the final has begun; looks 1: candidates are compared repeatedly and the final
                             may end early, with intervals that allow for this */
    int best;             /* row of the best candidate; -1 before the first comparison */
    enum search_end end;
};

/* Begins a search of `limit` seconds over row[n], whose state (CONTROL, IN or RESERVE) and series are set. If the
 * time is too short for all sizes, at block_seconds a block, leaves only every second (fourth, eighth ...) size of a
 * series IN, and makes the other sizes LEFT_OUT. */
void search_begin(struct search *search, double limit, double block_seconds);

/* Call after each round, `seconds` after the first round began: sets states, best and end. step[n][rounds]: the samples
 * of each row in seconds, finite in the rounds in which the row ran. */
void search_round(struct search *search, const double *const *step, size_t rounds, double seconds);

int search_count(const struct search *search, enum search_state state); /* returns the number of rows in a state */
int search_has_plans(const struct search *search);                      /* returns 1 if plans run in the next round */
int search_running(const struct search *search); /* returns the number of rows that run in the next round */

#endif
