/* stats.h - medians, intervals and paired comparisons; pure functions. */
#ifndef BENCH_BASE_STATS_H
#define BENCH_BASE_STATS_H

#include <stddef.h>

/* Statistics of n samples. [ci_low, ci_high] is an interval of the median at 95 % or more by order statistics
 * (binomial, no assumption about the distribution); both ends are NAN when n < 6, too few for 95 %. p5 and p95 are
 * interpolated linearly between order statistics (Hyndman and Fan's type 7). All are NAN when n = 0. */
struct estimate {
    double median, ci_low, ci_high, p5, p95;
    size_t n;
};
struct estimate stats_estimate(const double *sample, size_t n);

/* Returns the geometric mean of sample[n] with a 95 % interval by Student's t on the logarithms, above 0; p5 and p95 as
 * above. No interval if n < STATS_LEAST, or if a sample is 0, which makes the mean 0. */
struct estimate stats_geometric(const double *sample, size_t n);

/* Compares, for qsort, numbers or structures whose first member is a number: the smallest first. */
int stats_ascending(const void *a, const void *b);

/* Return quantile q in [0, 1], or the median, of sample[n] (type 7, the default of numpy and R); NAN when n = 0. */
double stats_quantile(const double *sample, size_t n, double q);
static inline double stats_median(const double *sample, size_t n)
{
    return stats_quantile(sample, n, 0.5);
}

/* With fewer samples or pairs there are neither intervals nor verdicts: an order statistic has no 95 % interval, and
 * one by Student's t with few degrees of freedom spans orders of magnitude. */
enum { STATS_LEAST = 6 };

/* Returns the geometric mean of a_i / b_i (b NULL: of a_i) for a fixed n, without percentiles. Its interval at `level`
 * comes from Student's t with n - 1 degrees of freedom on log(a_i / b_i); no interval if n < STATS_LEAST. */
struct estimate stats_paired(const double *a, const double *b, size_t n, double level);

/* Figures that are read together use one kind of estimate. anytime 0: geometric means, with intervals for a fixed n
 * (stats_geometric, stats_paired). anytime 1: medians, with intervals that hold at any n at which sampling may stop
 * (stats_paired_anytime), at 95 %. Both estimates lie inside their intervals. stats_typical estimates samples, with
 * percentiles; stats_ratios, the ratios a[i] / b[i]; stats_excess, (ratio - 1) x the typical b, from the ratio and both
 * ends of its interval. Medians of ratios are not ratios of medians. */
struct estimate stats_typical(const double *sample, size_t n, int anytime);
struct estimate stats_ratios(const double *a, const double *b, size_t n, int anytime);
struct estimate stats_excess(const double *a, const double *b, size_t n, int anytime);

/* Returns the rank correlation of a[i] / b[i] with its successor if it is significant: independent rounds exceed it by
 * chance in at most a share `chance` of cases. Otherwise, and with fewer than 10 rounds, returns 0. Without dependence
 * the correlation has a mean of -1 / n and a variance of about 1 / n. Source: Wald and Wolfowitz, An Exact Test for
 * Randomness in the Non-Parametric Case Based on Serial Correlation, Ann. Math. Stat. 14 (1943) 378-388. */
double stats_neighbours(const double *a, const double *b, size_t n, double chance);

/* Returns the median of a_i / b_i (b NULL: of a_i), without percentiles, for an n that is not fixed in advance, so that
 * sampling may stop after any sample: the intervals of all n together contain the true median with probability `level`.
 * This is a sign test: the interval contains all values x with p > 1 - level, where p = min(1, (n + 1) (n choose k) /
 * 2^n), and k is the smaller of the number of ratios below x and the number above x. If p < 1, 1 / p is a
 * likelihood ratio: the signs' probability under a coin whose bias is uniform in [0, 1] / that under a fair coin. This
 * ratio is a martingale, so if x is the true median, the probability that p ever falls to q or below is at most q. The
 * only condition is that each sample is as likely above the true median as below it, whatever the samples before it. At
 * 95 % n must be 8 or more. Source: Robbins, Statistical Methods Related to the Law of the Iterated Logarithm, Ann.
 * Math. Stat. 41 (1970) 1397-1409. */
struct estimate stats_paired_anytime(const double *a, const double *b, size_t n, double level);

/* Return this p; and m (0: n is too small): the m-th smallest and m-th largest of n samples are the interval's ends at
 * level 1 - alpha, so the median is above x if fewer than m samples are at or below x. */
double stats_sign_p(size_t n, size_t k);
size_t stats_sign_outside(size_t n, double alpha);

/* Compares a[n_a] with b[n_b] without pairs: difference = mean log a - mean log b. Its standard error `error` comes
 * from the pooled standard deviation, or from least_sd if that is larger, with df = n_a + n_b - 2 degrees of freedom.
 * With n_a = 1, `error` is the standard error of a prediction of one more sample of b. Samples are above 0; n_a and n_b
 * are at least 1; if both are 1, only the difference is defined. */
struct unpaired {
    double difference, error, df;
};
struct unpaired stats_unpaired(const double *a, size_t n_a, const double *b, size_t n_b, double least_sd);

/* Returns mean a / mean b, geometric, with a 95 % interval by Student's t; NAN if n_a or n_b is below STATS_LEAST. */
struct estimate stats_unpaired_ratio(const double *a, size_t n_a, const double *b, size_t n_b);

/* Return the mean of x[n], or of log(a[i] / b[i]) (b NULL: log(a[i])), its standard error, and df = n - 1; n > 0. */
struct unpaired stats_mean(const double *x, size_t n);
struct unpaired stats_log_ratio(const double *a, const double *b, size_t n);

/* Returns the one-sided p-value, by Student's t, of the hypothesis that a mean or difference is 0 or below. */
double stats_p_above(const struct unpaired *of);

/* A measured value with its interval; low and high are NAN without one. */
struct measured {
    double value, low, high;
};

/* Return x - y and x / y of two independent measurements, with an interval that follows from the intervals of x and y,
 * which need not be symmetric, by the method of variance estimates recovery:
 *     low = x - y - hypot(x - x.low, y.high - y), high = x - y + hypot(x.high - x, y - y.low),
 * for x / y on logarithms. A ratio has no interval unless both intervals are above 0. Source: Zou and Donner,
 * Construction of Confidence Limits about Effect Measures: A General Approach, Statist. Med. 27 (2008) 1693-1702. */
struct measured stats_difference(struct measured x, struct measured y);
struct measured stats_ratio(struct measured x, struct measured y);

/* Return, for Student's t with df > 0 degrees of freedom, P(T <= t), and the t for which P(T <= t) = p, 0 < p < 1.
 * Computed by the regularised incomplete beta function (continued fraction, NIST DLMF 8.17.22). Error below 1e-10. */
double stats_t_cdf(double t, double df);
double stats_t_quantile(double p, double df);

#endif
