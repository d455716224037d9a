/* search.h - successive halving over candidates: who runs in the next round, and when the search ends.
 *
 * Pure: samples in, decisions out. In stages of a few rounds all that are in are ranked, and the slower half is
 * dropped (Karnin, Koren and Somekh, Almost Optimal Exploration in Multi-Armed Bandits, ICML 2013). When few are left,
 * the final begins: they and the sizes beside the best one run in new rounds, from which alone their figures and what
 * is claimed of them are taken, so that nobody wins by the luck of the rounds that chose it. */
#ifndef BENCH_MEASURE_BENCHMARK_SEARCH_H
#define BENCH_MEASURE_BENCHMARK_SEARCH_H

#include "base/best.h"

enum search_state {
    SEARCH_CONTROL,  /* in every round, and compared with nothing */
    SEARCH_IN,       /* in the next round */
    SEARCH_RESERVE,  /* a size between two others: in the final, if it is beside the best */
    SEARCH_LEFT_OUT, /* never in a round: there is no time for it */
    SEARCH_DROPPED,  /* was in the slower half of a stage */
    SEARCH_SLOWER    /* was significantly slower than the best in the final */
};

enum search_end {
    SEARCH_GOES_ON,
    SEARCH_BEST,   /* one is left: all others that were in the final are significantly slower */
    SEARCH_WITHIN, /* all that are left are within SEARCH_CLOSE of the best */
    SEARCH_TIME
};
#define SEARCH_CLOSE 0.01

enum { SEARCH_ROWS = 64 };

struct search_row {
    enum search_state state;
    int has_size;                /* it is one of several sizes; its neighbours in the list are the next ones */
    size_t from, to;             /* the rounds that its figures are of: of the final, or from 0 until it was dropped */
    struct against_best against; /* when it was last compared; ratio 1 for the best; an interval in the final alone */
};

struct search {
    int n;
    struct search_row row[SEARCH_ROWS];
    double limit, seconds; /* s: for all rounds; of those made */
    size_t rounds, blocks;
    int stage, stages;    /* of halving, from 0; how many there are about; the final is stage `stages` */
    size_t stage_from;    /* its first round */
    double stage_seconds; /* when it began */
    int final, looks;     /* the final has begun; it may end early, and its intervals hold whenever it does */
    int best;             /* row; -1 before the first comparison */
    enum search_end end;
};

/* Begins a search over row[n], whose states are CONTROL, IN or RESERVE, and whose has_size is set. If there is no time
 * for all sizes, only every second one, every fourth and so on is IN, and the others are LEFT_OUT. */
void search_begin(struct search *search, double limit, double block_seconds);

/* After a round, `seconds` since the first began: sets states, best and end. step[n][rounds] are the samples of every
 * row in seconds, numbers in the rounds in which it was in. */
void search_round(struct search *search, const double *const *step, size_t rounds, double seconds);

/* The level of each round: the geometric mean of the control and of the rows that have run in all rounds, divided by
 * the median of the levels. search_steady: the samples [to - from] of a row, each divided by the level of its round, so
 * that a drift of the machine changes no figure. The caller frees both. */
double *search_levels(const struct search *search, const double *const *step);
double *search_steady(const double *step, const double *level, size_t from, size_t to);

/* How many rows are in that state; and how many have blocks in the next round. */
int search_count(const struct search *search, enum search_state state);
int search_running(const struct search *search);

#endif
