/* best.h - k series of n samples each, paired by round: which is least, and which are significantly more. */
#ifndef BENCH_BASE_BEST_H
#define BENCH_BASE_BEST_H

#include "base/stats.h"

struct against_best {
    /* sample(i) / sample(best), with the adjusted interval of best_compare; p: of this pair alone */
    struct paired paired;
    int slower; /* the whole interval is above 1 */
};

/* Compares series `best`, chosen by some figure of these samples, with the others, and fills out[k]; out[best] has
 * ratio 1. sample[i]: [n] of series i, above 0; k is at least 1. With n = 0 all ratios are NAN, and nothing is slower.
 *
 * Over all series the probability of calling any slower that is not is at most 5 % (family-wise), with best being
 * chosen by the same samples. Step-down: those that are called slower are no longer compared with the rest. With r
 * series left, best among them, the next is that with the largest t = mean / standard error of log(a / best), and is
 * slower if t is above c(r); at the first that is not, all that are left stay, with the interval of that step, exp(mean
 * +- c se). c(2) is Student's two-sided 5 % point on n - 1 degrees of freedom; c(r) is by simulation, with a fixed
 * seed, the 95 % quantile of the largest t of r equal series of independent normal samples against the least of them.
 * Dependence between series, such as a drift that all share, and unequal spreads only make that largest t smaller
 * (compare Hayter, Ann. Statist. 12 (1984) 61-75, on Tukey's test); a test tries that. Interval NAN, and
 * nothing slower, where n < STATS_LEAST_PAIRS or k < 2.
 *
 * anytime: valid whenever the rounds end, by signs (stats_paired_anytime), at the level 5 % / (r (r - 1) / 2).
 * Keeps the last table of c from call to call, so not for several threads at once. */
void best_compare(const double *const *sample, int k, size_t n, int best, int anytime, struct against_best *out);

/* best_compare for the series with the least median, as tables show it, the first of equal ones (0 with n = 0).
 * Returns it. */
int best_of(const double *const *sample, int k, size_t n, int anytime, struct against_best *out);

/* The whole interval is within `share` of 1 on both sides, as 0.01 for 1 %. A NAN one is not. */
int best_within(const struct paired *to_best, double share);

#endif
