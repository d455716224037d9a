/* stats.h - medians, intervals and paired comparisons; pure functions. */
#ifndef BENCH_BASE_STATS_H
#define BENCH_BASE_STATS_H

#include <stddef.h>

/* A summary of n samples. ci_low and ci_high bound the median at 95 % or more by order statistics (binomial, no
 * assumption about the distribution); both are NAN when n < 6, where no such pair exists. p5 and p95 are
 * interpolated linearly between order statistics (Hyndman and Fan's type 7). All NAN when n = 0. */
struct estimate {
    double median, ci_low, ci_high, p5, p95;
    size_t n;
};
struct estimate stats_estimate(const double *sample, size_t n);

/* The same of a[i] - b[i], i < n. */
struct estimate stats_differences(const double *a, const double *b, size_t n);

/* Quantile q in [0, 1] of sample[n] (type 7, as numpy's and R's default); NAN when n = 0. sample is not changed. */
double stats_quantile(const double *sample, size_t n, double q);
static inline double stats_median(const double *sample, size_t n)
{
    return stats_quantile(sample, n, 0.5);
}

/* A comparison of a[i] with b[i] in pairs. */
struct paired {
    double ratio;           /* a mean of a_i / b_i; NAN when n = 0 */
    double ci_low, ci_high; /* two-sided interval of the ratio; NAN if n is too small */
    double p;               /* two-sided p-value of a ratio of 1 */
    size_t n;
};

/* With fewer samples a comparison in pairs has neither intervals nor verdicts, since Student's t with 1 degree of
 * freedom gives intervals over many orders of magnitude. */
enum { STATS_LEAST_PAIRS = 3 };

/* For a fixed n: with x_i = log(a_i / b_i), ratio = exp(mean x) (the geometric mean), and interval and p by Student's t
 * on n - 1 degrees of freedom. No interval, and p 1, below STATS_LEAST_PAIRS; when all x_i are equal the interval is
 * that point, and p is 1 if it is 0, else 0. */
struct paired stats_paired(const double *a, const double *b, size_t n, double level);

/* The ratio and its interval as an estimate, without percentiles. */
struct estimate stats_of_paired(const struct paired *paired);

/* For an n that is not fixed in advance, so that sampling may stop after any sample: ratio is the median, and the
 * intervals of all n together contain the true median with probability `level`. By a sign test: with k the number of
 * ratios below 1 or above 1, whichever is less (ratios of 1 count as less),
 *     p = min(1, (n + 1) (n choose k) / 2^n)
 * and the interval holds all values that have p > 1 - level in place of 1. 1 / p is the likelihood ratio of the signs
 * under a coin with a bias uniform in [0, 1] to those under a fair coin. It is a martingale, so p falls to q or below
 * at any n with probability at most q. The only condition is that each sample is as likely above the true median as
 * below it, whatever the samples before it. No interval below n = 8 at 95 %. Source: Robbins, Statistical Methods
 * Related to the Law of the Iterated Logarithm, Ann. Math. Statist. 41 (1970) 1397-1409. */
struct paired stats_paired_anytime(const double *a, const double *b, size_t n, double level);

/* A comparison of a[n_a] with b[n_b], not in pairs: difference = mean log a - mean log b, with its standard error from
 * the pooled standard deviation, which is taken as least_sd if it is smaller, and df = n_a + n_b - 2 degrees of
 * freedom. With n_a = 1 this is the error of predicting one more sample of b. Samples are above 0; n_a and n_b are at
 * least 1; if both are 1, only the difference is defined. */
struct unpaired {
    double difference, error, df;
};
struct unpaired stats_unpaired(const double *a, size_t n_a, const double *b, size_t n_b, double least_sd);

/* The mean of log(a[i] / b[i]), i < n, with its standard error and n - 1 degrees of freedom; n is at least 1. */
struct unpaired stats_log_ratio(const double *a, const double *b, size_t n);

/* A measurement with its interval; NAN: none. */
struct measured {
    double value, low, high;
};

/* x - y and x / y of two independent measurements, from their intervals, which need not be symmetric: the method of
 * variance estimates recovery,
 *     low = x - y - hypot(x - x.low, y.high - y), high = x - y + hypot(x.high - x, y - y.low),
 * for the ratio on logarithms. A ratio has no interval unless both intervals are above 0. Source: Zou and Donner,
 * Construction of Confidence Limits about Effect Measures: A General Approach, Statist. Med. 27 (2008) 1693-1702. */
struct measured stats_difference(struct measured x, struct measured y);
struct measured stats_ratio(struct measured x, struct measured y);

/* Holm's step-down test of m hypotheses with weights above 0, at a family-wise level: step[i] becomes the level of the
 * test of hypothesis i, its share of `level` among the hypotheses that are not rejected before it; it is rejected if
 * p[i] <= step[i]. Hypotheses are tested in the order of p / weight, and after the first that is not rejected none is.
 * Source: Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scand. J. Statist. 6 (1979) 65-70,
 * section 4. */
void stats_holm(const double *p, const double *weight, size_t m, double level, double *step);

/* Student's t with df > 0 degrees of freedom: P(T <= t), and the t that has a probability 0 < p < 1. By the
 * regularised incomplete beta function: continued fraction, NIST DLMF 8.17.22. Error below 1e-10. */
double stats_t_cdf(double t, double df);
double stats_t_quantile(double p, double df);

#endif
