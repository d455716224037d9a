/* best.h - finds the shortest of k series of n samples paired by round, and compares the others with it. */
#ifndef BENCH_BASE_BEST_H
#define BENCH_BASE_BEST_H

#include "base/stats.h"

struct against_best {
    struct estimate ratio; /* of this series to the best; its interval holds jointly with those of all other series */
    int slower;            /* 1: the whole interval of the ratio is above 1 */
    double dependent; /* correlation of neighbouring rounds, if it is too large for chance (stats_neighbours); else 0 */
};

/* Compares each of k series with the best of them, chosen from the same samples, and returns the index of the best.
 * sample[i]: the n samples of series i, above 0; k is at least 1. Fills out[k]; out[best] has ratio 1 and no interval.
 *
 * anytime 0: ratio is the geometric mean of sample / sample of the best in the same round, and the best is the series
 * of least geometric mean. The interval is that of stats_paired at level 1 - best_alpha(k).
 *
 * anytime 1: sampling may stop after any round. ratio is the median of sample / sample of the best in the same round;
 * its interval is that of stats_paired_anytime at this level. The best is the series for which the least ratio of
 * another series to it is greatest. (Medians of ratios need not agree on an order; a ratio to the best may be below 1.)
 *
 * If rounds are independent and identically distributed, the intervals of all pairs of series contain the true ratios
 * jointly with a probability of at least 95 % (Bonferroni). So do the intervals of pairs with the best: any series is
 * wrongly called slower in at most 5 % of cases. With n = 0 all ratios are NAN, and series 0 is the best. */
int best_of(const double *const *sample, int k, size_t n, int anytime, struct against_best *out);

/* Compares a series with the best, as best_of does, with intervals for `family` series in all. For a series that has
 * fewer samples than others, since it is no longer measured: pass the samples of the rounds that both have. */
struct against_best best_compare(const double *sample, const double *best, size_t n, int family, int anytime);

/* Returns 1 - the level of each interval, so that the intervals of all pairs of `family` >= 2 series hold jointly. */
double best_alpha(int family);

/* Returns the fewest rounds with which best_of has intervals for k series. */
size_t best_least_rounds(int k, int anytime);

/* Whether the interval of to_best lies between 1 / (1 + share) and 1 + share (share 0.01: 1 %); false if it is NAN. */
int best_within(const struct estimate *to_best, double share);

/* Returns the number of rounds after which the verdict on `against` is known: its interval lies above 1, or within
 * `share` of 1 (best_within). If it is known already, returns the rounds made; otherwise an estimate for intervals that
 * shrink as 1 / sqrt(rounds); INFINITY without an interval. */
double best_rounds_needed(const struct against_best *against, double share);

#endif
