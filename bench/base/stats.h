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

/* Quantile q in [0, 1] of sample[n] (type 7, as numpy's and R's default); NAN when n = 0. sample is not changed. */
double stats_quantile(const double *sample, size_t n, double q);
static inline double stats_median(const double *sample, size_t n)
{
    return stats_quantile(sample, n, 0.5);
}

/* How a[i] compares with b[i], paired: x_i = log(a_i / b_i), ratio = exp(mean x), and its two-sided interval at
 * `level` from Student's t on n - 1 degrees of freedom. p is the two-sided p-value of mean x = 0. Interval NAN and
 * p 1 when n < 2; when all x_i are equal the interval is that point, and p is 1 if it is 0, else 0.
 *
 * With `anytime`, n need not be fixed beforehand: the intervals of all n together hold the mean with probability
 * `level`, and if it is 0, p is ever at most q with probability q at most; so one may look after each sample and stop
 * at will (as for t, x_i normal). By a martingale, the likelihood ratio of t with mean / sd from N(0, g) to t with mean
 * 0: where G = 1 + n g, 1 / p = G^(-1/2) ((1 + t^2 / (n - 1)) / (1 + t^2 / (n - 1) / G))^(n / 2). That holds for every
 * g; 100 is cautious with small n, and still sees large differences in five samples. There is no upper bound, or it is
 * NAN, where n is too small. Source: Wang and Ramdas, Anytime-valid t-tests and confidence sequences for Gaussian means
 * with unknown variance, arXiv:2310.03722, section 4 (their c^2 is 1 / g). */
struct paired {
    double ratio, ci_low, ci_high, p;
    size_t n;
};
struct paired stats_paired(const double *a, const double *b, size_t n, double level, int anytime);

/* How a[n_a] compares with b[n_b], not paired: difference = mean log a - mean log b, and its standard error from the
 * spread of both around their own means (pooled), taken as least_sd where it is smaller; on df = n_a + n_b - 2 degrees
 * of freedom. With n_a = 1 this is the error of predicting one more sample of b. Samples above 0; n_a and n_b at least
 * 1; with 1 and 1 only the difference has a meaning. */
struct unpaired {
    double difference, error, df;
};
struct unpaired stats_unpaired(const double *a, size_t n_a, const double *b, size_t n_b, double least_sd);

/* Holm's step-down adjustment, in place: p[m] becomes the smallest family-wise level at which each of the m
 * comparisons is called different; at most 1. Source: Holm, A Simple Sequentially Rejective Multiple Test
 * Procedure, Scand. J. Statist. 6 (1979) 65-70. */
void stats_holm(double *p, size_t m);

/* The same with weights above 0, at one level: step[i] becomes the level at which hypothesis i is tested, its share of
 * `level` among the hypotheses that still stand when its turn comes; it is rejected if p[i] <= step[i]. The hypothesis
 * with the least p / weight is next, and where one stands, all that remain stand. Same source, section 4. */
void stats_holm_weighted(const double *p, const double *weight, size_t m, double level, double *step);

/* Student's t with df > 0 degrees of freedom: P(T <= t), and the t with that probability (0 < p < 1). By the
 * regularised incomplete beta function: continued fraction, NIST DLMF 8.17.22. Error below 1e-10. */
double stats_t_cdf(double t, double df);
double stats_t_quantile(double p, double df);

#endif
