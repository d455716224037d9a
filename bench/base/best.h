/* best.h - finds the least of k series of n samples each, paired by round, and the series that are significantly more.
 */
#ifndef BENCH_BASE_BEST_H
#define BENCH_BASE_BEST_H

#include "base/stats.h"

struct against_best {
    /* sample(i) / sample(best), with the adjusted interval of best_compare; p is that of this pair alone */
    struct paired paired;
    int slower; /* the whole interval is above 1 */
};

/* Compares series `best`, which was chosen by these samples, with the others, and fills out[k]; out[best] has ratio 1.
 * sample[i]: [n] of series i, above 0; k is at least 1. With n = 0 all ratios are NAN, and nothing is slower.
 *
 * The probability of calling any series slower that is not is at most 5 % over all series (family-wise), although best
 * was chosen by the same samples. The procedure is step-down. With r series left, best among them, it tests the series
 * with the largest t = mean / standard error of log(a / best): if t is above c(r), the series is slower and is taken
 * out; otherwise all series that are left are not slower, with the intervals exp(mean +- c(r) se). c(2) is the
 * two-sided 5 % point of Student's t with n - 1 degrees of freedom. c(r) is the 95 % quantile, by simulation with a
 * fixed seed, of the largest t of r equal series of independent normal samples against the least of them. Dependence
 * between series, such as a drift that all share, and unequal spreads only make that largest t smaller (compare Hayter,
 * Ann. Statist. 12 (1984) 61-75, on Tukey's test), as a test shows. Without an interval (NAN), and so not slower, if n
 * < STATS_LEAST_PAIRS or k < 2.
 *
 * anytime: intervals that hold whenever the rounds end, by stats_paired_anytime at the level 5 % / (r (r - 1) / 2).
 * Not thread-safe: the last table of c is kept. */
void best_compare(const double *const *sample, int k, size_t n, int best, int anytime, struct against_best *out);

/* best_compare with the series that has the least median, the first of equal ones (0 with n = 0). Returns its index. */
int best_of(const double *const *sample, int k, size_t n, int anytime, struct against_best *out);

/* Whether the whole interval is between 1 / (1 + share) and 1 + share, such as 0.01 for 1 %. Not if it is NAN. */
int best_within(const struct paired *to_best, double share);

#endif
