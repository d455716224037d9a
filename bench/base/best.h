/* best.h - finds, of k series of n samples paired by round, the least and those significantly greater. */
#ifndef BENCH_BASE_BEST_H
#define BENCH_BASE_BEST_H

#include "base/stats.h"

struct against_best {
    /* the ratio of this series to the best; the interval is adjusted for the number of series, p is not */
    struct paired paired;
    int slower; /* 1: the whole interval of the ratio is above 1 */
};

/* Compares each series with series `best`, which the caller chose from the same samples. Fills out[k]; out[best] has
 * ratio 1. sample[i]: the n samples of series i, above 0; k is at least 1. With n = 0 all ratios are NAN, and no series
 * is slower. If n < STATS_LEAST or k < 2, intervals are NAN and no series is slower.
 *
 * The probability that any series is wrongly called slower is at most 5 % (family-wise), although best was chosen from
 * the same samples. The procedure is step-down. With r series left, including best, it tests the series of largest
 * t = m / se, where m is the mean of log(sample / sample of best), and se its standard error. If t is above c(r), the
 * series is slower and is removed; otherwise no series left is slower. The interval of a series is exp(m +- c(r) se).
 * c(2) is the two-sided 5 % point of Student's t with n - 1 degrees of freedom. Above r = 2, c(r) is simulated with a
 * fixed seed: among r series of independent normal samples with equal true means, each series is compared with the one
 * of least mean, and c(r) is the 95 % quantile of the largest t. If series depend on each other, for example by a
 * shared drift, or have unequal spreads, the largest t only becomes smaller (compare Hayter, Ann. Statist. 12 (1984)
 * 61-75, on Tukey's test); a test checks this.
 *
 * anytime != 0: sampling may stop after any round. Intervals are then those of stats_paired_anytime at level
 * 1 - 5 % / (r (r - 1) / 2). Not thread-safe, because a static table of c(r) is kept. */
void best_compare(const double *const *sample, int k, size_t n, int best, int anytime, struct against_best *out);

/* Calls best_compare with the first series of least geometric mean (anytime: of least median) as best, or with series 0
 * if n = 0, and returns its index, so that no ratio is below 1. With anytime, ratios become those of the medians, and
 * their intervals, which are about the medians of ratios, are widened to contain them: give samples without a common
 * drift. */
int best_of(const double *const *sample, int k, size_t n, int anytime, struct against_best *out);

/* Returns the fewest rounds with which best_of, with anytime set, has intervals for k series: their p-values can then
 * reach 5 % / (k (k - 1) / 2). */
size_t best_least_rounds(int k);

/* Whether the interval of to_best lies between 1 / (1 + share) and 1 + share (share 0.01: 1 %); false if it is NAN. */
int best_within(const struct paired *to_best, double share);

/* Returns after how many rounds the interval of `against` will be above 1 or within `share` (best_within), whichever
 * comes first: the rounds made, if it already is; otherwise an estimate for intervals that shrink as 1 / sqrt(rounds);
 * INFINITY without an interval. */
double best_rounds_needed(const struct against_best *against, double share);

#endif
