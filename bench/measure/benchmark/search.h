/* search.h - successive halving over candidates: which of them run in the next round, and when the search ends. Pure.
 *
 * A stage is a few rounds of all candidates that are in. At the end of a stage the slower half is dropped (Karnin,
 * Koren and Somekh, Almost Optimal Exploration in Multi-Armed Bandits, ICML 2013). When few are left, the final begins:
 * these candidates and the sizes next to the best one run in new rounds. The figures and verdicts of the final are of
 * its own rounds alone, so that no candidate gains from luck in the rounds that selected it. */
#ifndef BENCH_MEASURE_BENCHMARK_SEARCH_H
#define BENCH_MEASURE_BENCHMARK_SEARCH_H

#include "base/best.h"

enum search_state {
    SEARCH_CONTROL,  /* in every round, and compared with nothing */
    SEARCH_IN,       /* in the next round */
    SEARCH_RESERVE,  /* a size between two others: in the final, if it is next to the best */
    SEARCH_LEFT_OUT, /* in no round: the time is too short */
    SEARCH_DROPPED,  /* was in the slower half of a stage */
    SEARCH_SLOWER    /* was significantly slower than the best in the final */
};

enum search_end {
    SEARCH_GOES_ON,
    SEARCH_BEST,   /* one is left: all others of the final are significantly slower */
    SEARCH_WITHIN, /* all that are left are within SEARCH_CLOSE of the best */
    SEARCH_TIME
};
#define SEARCH_CLOSE 0.01

enum { SEARCH_ROWS = 64 };

struct search_row {
    enum search_state state;
    int has_size;                /* it is a bucket size; its neighbours in the list are the next sizes */
    size_t from, to;             /* the rounds of its figures: of the final, or from 0 until it was dropped */
    struct against_best against; /* of the last comparison; ratio 1 for the best; an interval in the final alone */
};

struct search {
    int n;
    struct search_row row[SEARCH_ROWS];
    double limit, seconds; /* s: for all rounds; of the rounds made */
    size_t rounds, blocks;
    int stage, stages;    /* of halving, from 0; about how many; the final is stage `stages` */
    size_t stage_from;    /* first round of the stage */
    double stage_seconds; /* when the stage began */
    int final, looks;     /* the final has begun; it may end early, with intervals that hold whenever it ends */
    int best;             /* row; -1 before the first comparison */
    enum search_end end;
};

/* Begins a search over row[n], with states CONTROL, IN or RESERVE and has_size set. If the time is too short for all
 * sizes, only every second size, every fourth and so on is IN, and the others are LEFT_OUT. */
void search_begin(struct search *search, double limit, double block_seconds);

/* After a round, `seconds` after the first began: sets states, best and end. step[n][rounds]: the samples of each row
 * in seconds, finite in the rounds in which the row was in. */
void search_round(struct search *search, const double *const *step, size_t rounds, double seconds);

/* The level of each round [rounds]: the geometric mean of the control and of the rows that have run in all rounds,
 * divided by the median of the levels. search_steady: the samples [to - from] of a row, each divided by the level of
 * its round, so that a drift of the machine changes no figure. The caller frees both. */
double *search_levels(const struct search *search, const double *const *step);
double *search_steady(const double *step, const double *level, size_t from, size_t to);

/* The number of rows in that state; and of rows that have blocks in the next round. */
int search_count(const struct search *search, enum search_state state);
int search_running(const struct search *search);

#endif
