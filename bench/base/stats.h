/* stats.h - medians, intervals and paired comparisons; pure functions of samples in, figures out. */
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

/* The same of a[i] - b[i], for i below n. */
struct estimate stats_differences(const double *a, const double *b, size_t n);

/* Quantile q in [0, 1] of sample[n] (type 7, as numpy's and R's default); NAN when n = 0. sample is not changed. */
double stats_quantile(const double *sample, size_t n, double q);
static inline double stats_median(const double *sample, size_t n)
{
    return stats_quantile(sample, n, 0.5);
}

/* How a[i] compares with b[i], paired. */
struct paired {
    double ratio;           /* a mean of a_i / b_i; NAN when n = 0 */
    double ci_low, ci_high; /* its two-sided interval at some level; NAN where n is too small for one */
    double p;               /* two-sided, of the ratio being 1 */
    size_t n;
};

/* With fewer samples a comparison in pairs has neither intervals nor verdicts: Student's t on 1 degree of freedom gives
 * intervals over many orders of magnitude. */
enum { STATS_LEAST_PAIRS = 3 };

/* For a fixed n: with x_i = log(a_i / b_i), ratio = exp(mean x) (the geometric mean), and interval and p by Student's t
 * on n - 1 degrees of freedom. No interval, and p 1, below STATS_LEAST_PAIRS; when all x_i are equal the interval is
 * that point, and p is 1 if it is 0, else 0. */
struct paired stats_paired(const double *a, const double *b, size_t n, double level);

/* The ratio and its interval as an estimate, without percentiles. */
struct estimate stats_of_paired(const struct paired *paired);

/* For an n that is not fixed beforehand, so that one may look after every sample and stop at will: ratio is the median,
 * and the intervals of all n together hold the true one with probability `level`. By signs: with k the samples below 1,
 * or above, whichever are fewer (those that are 1 count as fewer),
 *     p = min(1, (n + 1) (n choose k) / 2^n)
 * and the interval has all values that would have p > 1 - level in place of 1. 1 / p is the likelihood of the signs
 * under a coin of unknown bias, uniform in [0, 1], to that under a fair one: a martingale, so that p falls to q or
 * below at any n with probability at most q. That needs each sample to be as likely above the true median as below it,
 * whatever came before, and nothing else of its distribution. No interval below n = 8 at 95 %. Source: Robbins,
 * Statistical Methods Related to the Law of the Iterated Logarithm, Ann. Math. Statist. 41 (1970) 1397-1409. */
struct paired stats_paired_anytime(const double *a, const double *b, size_t n, double level);

/* How a[n_a] compares with b[n_b], not paired: difference = mean log a - mean log b, and its standard error from the
 * spread of both around their own means (pooled), taken as least_sd where it is smaller; on df = n_a + n_b - 2 degrees
 * of freedom. With n_a = 1 this is the error of predicting one more sample of b. Samples above 0; n_a and n_b at least
 * 1; with 1 and 1 only the difference has a meaning. */
struct unpaired {
    double difference, error, df;
};
struct unpaired stats_unpaired(const double *a, size_t n_a, const double *b, size_t n_b, double least_sd);

/* What was measured, and its interval; NAN where there is none. */
struct measured {
    double value, low, high;
};

/* x - y and x / y of two that are independent, from their intervals, which need not reach as far to both sides: the
 * method of variance estimates recovery,
 *     low = x - y - hypot(x - x.low, y.high - y), high = x - y + hypot(x.high - x, y - y.low),
 * for the ratio on the logarithms. No interval of a ratio unless all is above 0. Source: Zou and Donner, Construction
 * of Confidence Limits about Effect Measures: A General Approach, Statist. Med. 27 (2008) 1693-1702. */
struct measured stats_difference(struct measured x, struct measured y);
struct measured stats_ratio(struct measured x, struct measured y);

/* Holm's step-down test of m hypotheses with weights above 0, at one family-wise level: step[i] becomes the level at
 * which hypothesis i is tested, its share of `level` among the hypotheses that still stand when its turn comes; it is
 * rejected if p[i] <= step[i]. The hypothesis with the least p / weight is next, and where one stands, all that remain
 * stand. Source: Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scand. J. Statist. 6 (1979) 65-70,
 * section 4. */
void stats_holm(const double *p, const double *weight, size_t m, double level, double *step);

/* Student's t with df > 0 degrees of freedom: P(T <= t), and the t with that probability (0 < p < 1). By the
 * regularised incomplete beta function: continued fraction, NIST DLMF 8.17.22. Error below 1e-10. */
double stats_t_cdf(double t, double df);
double stats_t_quantile(double p, double df);

#endif
