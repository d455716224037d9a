/* best.h - compares k series of n samples, paired by round: which is the least, and which are significantly greater. */
#ifndef BENCH_BASE_BEST_H
#define BENCH_BASE_BEST_H

#include "base/stats.h"

struct against_best {
    /* sample(i) / sample(best), with the adjusted interval of best_compare; p is not adjusted */
    struct paired paired;
    int slower; /* the whole interval is above 1 */
};

/* Compares each series with series `best`, which the caller chose from the same samples. Fills out[k]; out[best] has
 * ratio 1. sample[i]: the n samples of series i, above 0; k is at least 1. With n = 0 all ratios are NAN, and no series
 * is slower.
 *
 * The probability that any series is wrongly called slower is at most 5 % (family-wise), although best was chosen from
 * the same samples. The procedure is step-down. With r series left, including best, it tests the series with the
 * largest t = mean / standard error of log(a / best). If t is above c(r), this series is slower and is removed;
 * otherwise no series that is left is slower, and their intervals are exp(mean +- c(r) se). c(2) is the two-sided 5 %
 * point of Student's t with n - 1 degrees of freedom. c(r) is simulated with a fixed seed: among r series of
 * independent normal samples with equal true means, each series is compared with the one of least mean, and c(r) is the
 * 95 % quantile of the largest t. If series depend on each other, for example by a shared drift, or have unequal
 * spreads, the largest t only becomes smaller (compare Hayter, Ann. Statist. 12 (1984) 61-75, on Tukey's test); a test
 * checks this. If n < STATS_LEAST_PAIRS or k < 2, intervals are NAN and no series is slower.
 *
 * anytime: the intervals hold at whichever round sampling stops: stats_paired_anytime at the level 5 % / (r (r - 1) /
 * 2). Not thread-safe: the last table of c is kept. */
void best_compare(const double *const *sample, int k, size_t n, int best, int anytime, struct against_best *out);

/* Calls best_compare with the (first) series of least median as best, or with series 0 if n = 0. Returns its index. */
int best_of(const double *const *sample, int k, size_t n, int anytime, struct against_best *out);

/* Whether the whole interval is between 1 / (1 + share) and 1 + share (share 0.01: 1 %); false for NAN. */
int best_within(const struct paired *to_best, double share);

#endif
