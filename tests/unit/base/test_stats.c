/* test_stats.c - known values of all statistics, and simulations of how often the intervals cover the true value.
 *
 * Simulations have a fixed seed and bounds of three standard errors; unless TEST_LONG is set, they do a tenth of the
 * repetitions. */
#include "base/stats.h"
#include "tests/support/noise.h"
#include "tests/support/suite.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* ---- known values ---- */

/* The values were computed by mpmath 1.3.0 with 40 digits, from the regularised incomplete beta function. */
TEST(t_cdf_known)
{
    static const double known[][3] = {
        {0.5, 1, 0.64758361765043327},    {2, 1, 0.85241638234956673},
        {-3, 2, 0.047732983133354566},    {1, 3, 0.80449889052211468},
        {2.5, 4.5, 0.97004715674889973},  {-12, 9, 3.849943111492826e-7},
        {-4, 250, 4.1735100729350625e-5}, {3, 1e6, 0.9986500687292891},
        {1e-6, 0.5, 0.50000026967630059}, {0, 5, 0.5},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const double *k = known[i];
        ck_assert_double_eq_tol(stats_t_cdf(k[0], k[1]), k[2], 1e-13);
        ck_assert_double_eq_tol(stats_t_cdf(-k[0], k[1]), 1 - k[2], 1e-13);
    }
    /* in the far tail even the relative error is small */
    ck_assert_double_eq_tol(stats_t_cdf(-12, 9) / 3.849943111492826e-7, 1, 1e-12);
    ck_assert(stats_t_cdf(INFINITY, 3) == 1 && stats_t_cdf(-INFINITY, 3) == 0);
}

TEST(t_quantile_known)
{
    static const double known[][3] = {
        {0.975, 1, 12.706204736174693},       {0.975, 2, 4.3026527297494618},    {0.975, 5, 2.5705818356363148},
        {0.975, 9, 2.262157162798205},        {0.975, 11, 2.2009851600916394},   {0.975, 29, 2.0452296421327039},
        {0.95, 10, 1.8124611228116759},       {0.995, 3, 5.8409093097333554},    {0.9, 0.5, 10.270324410234511},
        {0.025, 7, -2.3646242515927853},      {0.6, 4, 0.27072229470759736},     {1e-6, 6, -17.830314500655492},
        {0.9995, 120, 3.3734537685625336},    {0.975, 1000, 1.9623390808264081}, {0.975, 1e6, 1.9599663568141067},
        {0.50001, 12, 2.5593362585169123e-5},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const double *k = known[i];
        ck_assert_double_eq_tol(stats_t_quantile(k[0], k[1]), k[2], 1e-10);
        ck_assert_double_eq_tol(stats_t_cdf(stats_t_quantile(k[0], k[1]), k[1]), k[0], 1e-11);
    }
    ck_assert(stats_t_quantile(0.5, 3) == 0);
}

TEST(quantile_type_7)
{
    const double sample[] = {7, 1, 3, 10, 2}; /* sorted: 1 2 3 7 10; expected values from numpy.quantile */
    ck_assert_double_eq(stats_quantile(sample, 5, 0), 1);
    ck_assert_double_eq(stats_quantile(sample, 5, 1), 10);
    ck_assert_double_eq(stats_quantile(sample, 5, 0.25), 2);
    ck_assert_double_eq_tol(stats_quantile(sample, 5, 0.1), 1.4, 1e-15);
    ck_assert_double_eq_tol(stats_quantile(sample, 5, 0.9), 8.8, 1e-14);
    ck_assert_double_eq(stats_quantile(sample, 4, 0.5), 5); /* sorted: 1 3 7 10 */
    ck_assert_double_eq_tol(stats_quantile(sample, 4, 0.3), 2.8, 1e-15);
    ck_assert_double_eq(stats_median(sample, 5), 3);
    ck_assert_double_eq(stats_quantile(sample, 1, 0.77), 7);
    ck_assert_double_eq(stats_quantile(sample, 2, 0.75), 5.5);
    ck_assert_double_nan(stats_quantile(sample, 0, 0.5));
    ck_assert(sample[0] == 7 && sample[1] == 1 && sample[2] == 3 && sample[3] == 10 && sample[4] == 2);
}

/* Rows are {n, k}: the interval is from the k-th smallest of n samples to the k-th largest. k was computed exactly. */
TEST(median_interval_ranks)
{
    static const size_t known[][2] = {
        {6, 1},  {7, 1},  {8, 1},   {9, 2},   {10, 2},   {11, 2},    {12, 3},     {15, 4},     {17, 5},
        {20, 6}, {25, 8}, {30, 10}, {50, 18}, {100, 40}, {999, 469}, {1000, 469}, {2000, 956}, {10000, 4902},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t n = known[i][0], k = known[i][1];
        double *sample = kept(malloc(n * sizeof *sample));
        for (size_t j = 0; j < n; j++)
            sample[j] = (double)(j * 7919 % n + 1); /* 1..n, shuffled: 7919 is a prime that divides no n here */
        struct estimate s = stats_estimate(sample, n);
        ck_assert_uint_eq(s.n, n);
        ck_assert_double_eq(s.ci_low, (double)k);
        ck_assert_double_eq(s.ci_high, (double)(n + 1 - k));
        ck_assert_double_eq_tol(s.median, (double)(n + 1) / 2, 1e-9);
        ck_assert_double_eq_tol(s.p5, 1 + 0.05 * (double)(n - 1), 1e-9);
        ck_assert_double_eq_tol(s.p95, 1 + 0.95 * (double)(n - 1), 1e-9);
    }
}

TEST(summary_edges)
{
    const double sample[] = {4, 2, 4, 4, 4, 4, 4, 4};
    struct estimate s = stats_estimate(sample, 0);
    ck_assert(isnan(s.median) && isnan(s.ci_low) && isnan(s.ci_high) && isnan(s.p5) && isnan(s.p95) && s.n == 0);
    s = stats_estimate(sample, 1);
    ck_assert(s.median == 4 && s.p5 == 4 && s.p95 == 4 && isnan(s.ci_low) && isnan(s.ci_high) && s.n == 1);
    s = stats_estimate(sample, 2);
    ck_assert(s.median == 3 && isnan(s.ci_low) && isnan(s.ci_high));
    ck_assert_double_eq_tol(s.p5, 2.1, 1e-15);
    ck_assert_double_eq_tol(s.p95, 3.9, 1e-15);
    s = stats_estimate(sample, 5);
    ck_assert(s.median == 4 && isnan(s.ci_low) && isnan(s.ci_high));
    s = stats_estimate(sample + 2, 6); /* all samples are equal */
    ck_assert(s.median == 4 && s.ci_low == 4 && s.ci_high == 4 && s.p5 == 4 && s.p95 == 4);
}

TEST(paired_known)
{
    /* the logarithms of the ratios are 0, 1, 2, 2, 1, 0 times log 2: mean log 2, variance 0.8 log^2 2 */
    const double a[] = {5, 6, 40, 4, 6, 7}, b[] = {5, 3, 10, 1, 3, 7};
    struct estimate s = stats_paired(a, b, 6, 0.95);
    double reach = 2.5705818356363146 * log(2) * sqrt(0.8 / 6);
    ck_assert_double_eq_tol(s.median, 2, 1e-14);
    ck_assert_double_eq_tol(s.ci_low, exp(log(2) - reach), 1e-12);
    ck_assert_double_eq_tol(s.ci_high, exp(log(2) + reach), 1e-10);
    ck_assert_uint_eq(s.n, 6);
    /* swapping a and b gives the reciprocal ratio */
    struct estimate r = stats_paired(b, a, 6, 0.95);
    ck_assert_double_eq_tol(r.median * s.median, 1, 1e-14);
    ck_assert_double_eq_tol(r.ci_low * s.ci_high, 1, 1e-13);
    ck_assert(stats_paired(a, b, 6, 0.99).ci_low < s.ci_low && stats_paired(a, b, 6, 0.5).ci_low > s.ci_low);
}

TEST(paired_edges)
{
    const double a[] = {3, 3, 3, 3, 3, 3}, twice[] = {6, 6, 6, 6, 6, 6}, other[] = {3, 3, 3, 3, 3, 5};
    struct estimate s = stats_paired(a, a, 0, 0.95);
    ck_assert(isnan(s.median) && isnan(s.ci_low) && isnan(s.ci_high) && s.n == 0);
    s = stats_paired(twice, a, 1, 0.95);
    ck_assert_double_eq_tol(s.median, 2, 1e-15);
    ck_assert(isnan(s.ci_low) && isnan(s.ci_high) && s.n == 1);
    s = stats_paired(a, a, 6, 0.95);
    ck_assert(s.median == 1 && s.ci_low == 1 && s.ci_high == 1);
    s = stats_paired(twice, a, 6, 0.95);
    ck_assert_double_eq_tol(s.median, 2, 1e-15);
    ck_assert(s.ci_low == s.median && s.ci_high == s.median);
    s = stats_paired(other, a, 6, 0.95);
    ck_assert_double_eq_tol(log(s.ci_high) / log(s.median), 1 + 2.5705818356363146, 1e-9); /* mean = standard error */
    ck_assert(s.ci_low < 1 && s.ci_high > 1);
    s = stats_paired(other + 1, a, 5, 0.95); /* too few for an interval */
    ck_assert_double_eq_tol(s.median, pow(5.0 / 3, 0.2), 1e-15);
    ck_assert(isnan(s.ci_low) && isnan(s.ci_high) && s.n == 5);
}

/* By hand: one of eight ratios is below 1, so p = 9 x 8 / 2^8. The 95 % interval holds all 8, as 9 / 2^8 < 0.05 < p. */
TEST(paired_anytime_known)
{
    const double a[] = {1.10, 1.30, 0.90, 1.25, 1.40, 1.05, 1.20, 1.15, 1, 1}, b[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    struct estimate s = stats_paired_anytime(a, b, 8, 0.95), narrow = stats_paired_anytime(a, b, 8, 0.7);
    ck_assert_double_eq_tol(s.median, 1.175, 1e-15);
    ck_assert_double_eq_tol(stats_sign_p(8, 1), 0.28125, 1e-13);
    ck_assert(s.ci_low == 0.9 && s.ci_high == 1.4 && s.n == 8);
    ck_assert(narrow.ci_low == 1.05 && narrow.ci_high == 1.3);
    s = stats_paired_anytime(b, a, 8, 0.7);
    ck_assert_double_eq_tol(s.ci_high * narrow.ci_low, 1, 1e-15);
    s = stats_paired_anytime(b, b, 9, 0.95);
    ck_assert(s.median == 1 && s.ci_low == 1 && s.ci_high == 1);
    /* seven rounds are too few for an interval */
    s = stats_paired_anytime(a, b, 7, 0.95);
    ck_assert(stats_sign_p(7, 0) > 0.05 && isnan(s.ci_low) && isnan(s.ci_high));
    s = stats_paired_anytime(a, b, 0, 0.95);
    ck_assert(isnan(s.median) && isnan(s.ci_low) && s.n == 0);
}

/* With 4001 rounds, 2^n and n! exceed the largest double, and the interval holds 6 % of the samples. */
TEST(paired_anytime_many)
{
    enum { MANY = 4001 };
    static double a[MANY], b[MANY];
    for (int i = 0; i < MANY; i++) {
        a[i] = 1 + i * 1e-4;
        b[i] = 1.2;
    }
    struct estimate s = stats_paired_anytime(a, b, MANY, 0.95);
    ck_assert_double_eq_tol(s.median, 1, 1e-12);
    ck_assert_double_eq(stats_sign_p(MANY, MANY / 2), 1);
    /* computed with Python's integers: the largest k with 4002 x (4001 choose k) / 2^4001 <= 0.05 is 1882 */
    ck_assert_double_eq_tol(s.ci_low, (1 + 1e-4 * 1882) / 1.2, 1e-12);
    ck_assert_double_eq_tol(s.ci_high, (1 + 1e-4 * (4000 - 1882)) / 1.2, 1e-12);
}

/* The geometric mean of 1, 2, 4, ... 32 is 2^2.5; its interval is Student's on the logarithms, and never reaches 0. */
TEST(geometric_known)
{
    const double x[] = {1, 2, 4, 8, 16, 32}, zero[] = {1, 0, 4, 8, 16, 32}, negligible[] = {1e-300, 1, 1, 1, 1, 1};
    struct estimate e = stats_geometric(x, 6);
    double reach = 2.5705818 * log(2) * sqrt(3.5 / 6); /* the 97.5 % point of t with 5 degrees of freedom */
    ck_assert_double_eq_tol(e.median, pow(2, 2.5), 1e-13);
    ck_assert_double_eq_tol(log(e.ci_high / e.median), reach, 1e-6);
    ck_assert_double_eq_tol(log(e.median / e.ci_low), reach, 1e-6);
    ck_assert(e.n == 6 && e.p5 > 1 && e.p95 < 32);
    e = stats_geometric(negligible, 6);
    ck_assert(e.ci_low > 0);
    e = stats_geometric(zero, 6);
    ck_assert(e.median == 0 && isnan(e.ci_low) && e.n == 6);
    e = stats_geometric(x, 5);
    ck_assert(fabs(e.median - 4) < 1e-14 && isnan(e.ci_low) && isnan(e.ci_high));
    e = stats_geometric(x, 0);
    ck_assert(isnan(e.median) && e.n == 0);
}

/* The excess over b is a difference of geometric means, and cannot be below -b. */
TEST(excess_known)
{
    const double a[] = {1, 2, 4, 8, 16, 32, 5, 7}, b[] = {3, 3, 3, 3, 3, 3, 3, 3}, tiny[] = {1e-9, 1, 1e-9, 1, 1e-9, 1};
    struct estimate e = stats_excess(a, b, 6, 0), mean = stats_geometric(a, 6);
    ck_assert_double_eq_tol(e.median, mean.median - 3, 1e-13);
    ck_assert_double_eq_tol(e.ci_low, mean.ci_low - 3, 1e-13);
    ck_assert_double_eq_tol(e.ci_high, mean.ci_high - 3, 1e-12);
    e = stats_excess(tiny, b, 6, 0);
    ck_assert(e.ci_low > -3 && e.ci_low < -2.99);
    e = stats_excess(a, b, 5, 0);
    ck_assert(isfinite(e.median) && isnan(e.ci_low));
    e = stats_excess(a, b, 8, 1); /* the median of the ratios is 2, and they lie between 1 / 3 and 32 / 3 */
    ck_assert_double_eq_tol(e.median, 3, 1e-14);
    ck_assert_double_eq_tol(e.ci_low, -2, 1e-14);
    ck_assert_double_eq_tol(e.ci_high, 29, 1e-13);
}

TEST(unpaired_known)
{
    /* logarithms / log 2: a 1, 3, 5 (mean 3, sum of squares 8), b 0, 2 (mean 1, sum of squares 2); variance 10 / 3 */
    const double a[] = {2, 8, 32}, b[] = {1, 4}, one[] = {16}, equal[] = {3, 3, 3};
    struct unpaired s = stats_unpaired(a, 3, b, 2, 0);
    ck_assert_double_eq_tol(s.difference, 2 * log(2), 1e-14);
    ck_assert_double_eq_tol(s.error, log(2) * sqrt(10.0 / 3 * (1.0 / 3 + 1.0 / 2)), 1e-14);
    ck_assert_double_eq(s.df, 3);
    struct unpaired r = stats_unpaired(b, 2, a, 3, 0);
    ck_assert_double_eq_tol(r.difference, -s.difference, 1e-14);
    ck_assert_double_eq_tol(r.error, s.error, 1e-14);
    /* if one side is a single sample, the error is the prediction error from the other n: s sqrt(1 + 1 / n) */
    s = stats_unpaired(one, 1, a, 3, 0);
    ck_assert_double_eq_tol(s.difference, log(2), 1e-14);
    ck_assert_double_eq_tol(s.error, 2 * log(2) * sqrt(1 + 1.0 / 3), 1e-14);
    ck_assert_double_eq(s.df, 2);
    /* one sample on each side gives a difference, but no error */
    ck_assert_double_eq_tol(stats_unpaired(one, 1, b, 1, 0).difference, 4 * log(2), 1e-14);
    /* the last argument, the least spread, replaces the measured spread only if the measured one is smaller */
    s = stats_unpaired(equal, 3, equal, 3, 0.001);
    ck_assert_double_eq(s.difference, 0);
    ck_assert_double_eq_tol(s.error, 0.001 * sqrt(2.0 / 3), 1e-16);
    ck_assert_double_eq(stats_unpaired(one, 1, a, 3, 0.001).error, stats_unpaired(one, 1, a, 3, 0).error);
    /* 7 and 6 samples, logarithms / log 2: 3 and 0 on average, sums of squares 6 and 4, variance 10 / 11 */
    const double c[] = {4, 4, 4, 8, 16, 16, 16}, d[] = {0.5, 0.5, 1, 1, 2, 2};
    struct estimate ratio = stats_unpaired_ratio(c, 7, d, 6);
    double half = log(2) * sqrt(10.0 / 11 * (1.0 / 7 + 1.0 / 6)) * stats_t_quantile(0.975, 11);
    ck_assert_double_eq_tol(ratio.median, 8, 1e-13);
    ck_assert_double_eq_tol(ratio.ci_low, 8 * exp(-half), 1e-13);
    ck_assert_double_eq_tol(ratio.ci_high, 8 * exp(half), 1e-12);
    ck_assert(ratio.n == 6 && isnan(stats_unpaired_ratio(c, 7, d, 5).median));
}

/* ---- coverage and error rates ---- */

/* The samples are lognormal with median 1: skewed to the right, as step times are. The binomial distribution gives the
 * coverage: at least 95 %, and not far above, which would mean that the interval is too wide. */
TEST(median_interval_covers)
{
    static const size_t sizes[] = {6, 10, 12, 30};
    int repetitions = noise_repetitions(20000);
    noise_start(1);
    double last_width = DBL_MAX;
    for (size_t s = 0; s < 4; s++) {
        size_t n = sizes[s];
        int covered = 0, whole = 0;
        double width = 0;
        for (int r = 0; r < repetitions; r++) {
            double sample[30], low = DBL_MAX, high = 0;
            for (size_t i = 0; i < n; i++) {
                sample[i] = exp(noise_normal());
                low = fmin(low, sample[i]);
                high = fmax(high, sample[i]);
            }
            struct estimate x = stats_estimate(sample, n);
            covered += x.ci_low <= 1 && x.ci_high >= 1;
            whole += x.ci_low == low || x.ci_high == high;
            width += log(x.ci_high / x.ci_low) / repetitions;
        }
        double coverage = (double)covered / repetitions;
        ck_assert_msg(coverage >= 0.95 - noise_three_errors(0.95, repetitions), "n %zu covers %g", n, coverage);
        ck_assert_msg(coverage <= 0.99, "n %zu covers %g: too wide", n, coverage);
        ck_assert_msg(width < last_width, "n %zu: width %g, with fewer samples %g", n, width, last_width);
        ck_assert_msg(n < 9 || whole == 0, "n %zu: the interval has the least or greatest sample", n);
        last_width = width;
    }
}

/* Fills two paired series: both share the drift of their round, a random walk far larger than the noise. */
static void drifting_pair(double *a, double *b, size_t n, double ratio, double drift)
{
    double level = 0;
    for (size_t i = 0; i < n; i++) {
        level += drift * noise_normal();
        a[i] = ratio * exp(level + 0.02 * noise_normal());
        b[i] = exp(level + 0.02 * noise_normal());
    }
}

TEST(paired_interval_covers)
{
    static const size_t sizes[] = {6, 12, 30};
    int repetitions = noise_repetitions(5000);
    noise_start(2);
    for (size_t s = 0; s < 3; s++) {
        int covered = 0, covered_99 = 0, rejected = 0;
        for (int r = 0; r < repetitions; r++) {
            double a[30], b[30];
            drifting_pair(a, b, sizes[s], 1.1, 0.5);
            struct estimate x = stats_paired(a, b, sizes[s], 0.95), y = stats_paired(a, b, sizes[s], 0.99);
            covered += x.ci_low <= 1.1 && x.ci_high >= 1.1;
            covered_99 += y.ci_low <= 1.1 && y.ci_high >= 1.1;
            drifting_pair(a, b, sizes[s], 1, 0.5);
            x = stats_paired(a, b, sizes[s], 0.95);
            rejected += x.ci_low > 1 || x.ci_high < 1;
        }
        ck_assert_double_eq_tol((double)covered / repetitions, 0.95, noise_three_errors(0.95, repetitions));
        ck_assert_double_eq_tol((double)covered_99 / repetitions, 0.99, noise_three_errors(0.99, repetitions));
        ck_assert_double_eq_tol((double)rejected / repetitions, 0.05, noise_three_errors(0.05, repetitions));
    }
}

/* In 90 % of growing series, every anytime interval holds the true ratio. Intervals for fixed n do in under 70 %. */
TEST(paired_anytime_covers_always)
{
    enum { MOST = 300 };
    int repetitions = noise_repetitions(5000), missed = 0, missed_fixed = 0;
    noise_start(6);
    for (int r = 0; r < repetitions; r++) {
        double a[MOST], b[MOST];
        int outside = 0, outside_fixed = 0;
        drifting_pair(a, b, MOST, 1.1, 0.5);
        for (size_t n = 2; n <= MOST; n += 1 + n / 20) {
            struct estimate x = stats_paired_anytime(a, b, n, 0.9), fixed = stats_paired(a, b, n, 0.9);
            outside |= x.ci_low > 1.1 || x.ci_high < 1.1;
            outside_fixed |= fixed.ci_low > 1.1 || fixed.ci_high < 1.1;
            size_t above = 0;
            for (size_t i = 0; i < n; i++)
                above += a[i] > b[i];
            x = stats_paired_anytime(a, b, n, 0.999); /* it agrees with the p-value of the signs */
            ck_assert_int_eq(stats_sign_p(n, above < n - above ? above : n - above) <= 0.001,
                             x.ci_low > 1 || x.ci_high < 1);
        }
        missed += outside;
        missed_fixed += outside_fixed;
    }
    ck_assert_double_le((double)missed / repetitions, 0.1 + noise_three_errors(0.1, repetitions));
    ck_assert_double_ge((double)missed / repetitions, 0.002); /* else the interval is far too wide */
    ck_assert_double_ge((double)missed_fixed / repetitions, 0.3);
}

/* The drift cancels out: 200 rounds detect a difference of 1 % although rounds differ by factors. */
TEST(paired_interval_is_narrow)
{
    double a[200], b[200];
    noise_start(3);
    drifting_pair(a, b, 200, 1.01, 0.5);
    struct estimate x = stats_paired(a, b, 200, 0.95);
    double expected = 2 * 1.972 * 0.02 * sqrt(2) / sqrt(200); /* 2 t s / sqrt n, with the standard deviation s */
    ck_assert_double_eq_tol(log(x.ci_high / x.ci_low) / expected, 1, 0.15);
    ck_assert_double_gt(x.ci_low, 1);
}

/* The t statistic of two equal groups exceeds its 5 % point in 5 % of cases, even if a group is a single sample. */
TEST(unpaired_error)
{
    int repetitions = noise_repetitions(20000);
    noise_start(5);
    for (size_t n_a = 1; n_a <= 5; n_a += 4) {
        int beyond = 0;
        double limit = stats_t_quantile(0.95, (double)n_a + 3);
        for (int r = 0; r < repetitions; r++) {
            double a[5], b[5];
            for (int i = 0; i < 5; i++) {
                a[i] = exp(0.3 * noise_normal());
                b[i] = exp(0.3 * noise_normal());
            }
            struct unpaired x = stats_unpaired(a, n_a, b, 5, 0.001);
            beyond += x.difference / x.error > limit;
        }
        ck_assert_double_eq_tol((double)beyond / repetitions, 0.05, noise_three_errors(0.05, repetitions));
    }
}

/* Intervals by hand from right triangles (3-4-5, 5-12-13): of a difference, and of a ratio from logarithms. */
TEST(recovered_intervals_known)
{
    struct measured x = {10, 7, 22}, y = {4, -1, 8};
    struct measured d = stats_difference(x, y);
    ck_assert_double_eq_tol(d.value, 6, 1e-12);
    ck_assert_double_eq_tol(d.low, 6 - 5, 1e-12);   /* x may be 3 lower, y 4 higher */
    ck_assert_double_eq_tol(d.high, 6 + 13, 1e-12); /* x may be 12 higher, y 5 lower */
    struct measured a = {exp(1.0), exp(0.7), exp(2.2)}, b = {exp(0.4), exp(-0.1), exp(0.8)};
    struct measured r = stats_ratio(a, b);
    ck_assert_double_eq_tol(log(r.value), 0.6, 1e-12);
    ck_assert_double_eq_tol(log(r.low), 0.1, 1e-12);
    ck_assert_double_eq_tol(log(r.high), 1.9, 1e-12);
    /* the interval of a ratio lies within the ratios of the ends of the two intervals */
    r = stats_ratio((struct measured){79.79, 78.81, 81.77}, (struct measured){89.85, 88.41, 97.95});
    ck_assert(r.high < 81.77 / 88.41 && r.low > 78.81 / 97.95);
    r = stats_ratio((struct measured){2, NAN, NAN}, b);
    ck_assert(isfinite(r.value) && isnan(r.low) && isnan(r.high));
    r = stats_ratio((struct measured){2, -1, 3}, b);
    ck_assert(isfinite(r.value) && isnan(r.low) && isnan(r.high));
    ck_assert(isnan(stats_difference((struct measured){2, NAN, NAN}, y).low));
}

/* At least 95 % of intervals hold the true ratio of the medians of two lognormal samples of unequal size and spread. */
TEST(recovered_interval_covers)
{
    enum { A = 12, B = 15 };
    int repetitions = noise_repetitions(20000), held = 0;
    double a[A], b[B];
    noise_start(11);
    for (int r = 0; r < repetitions; r++) {
        for (int i = 0; i < A; i++)
            a[i] = exp(0.3 * noise_normal());
        for (int i = 0; i < B; i++)
            b[i] = 2 * exp(0.1 * noise_normal());
        struct estimate x = stats_estimate(a, A), y = stats_estimate(b, B);
        struct measured m = stats_ratio((struct measured){x.median, x.ci_low, x.ci_high},
                                        (struct measured){y.median, y.ci_low, y.ci_high});
        held += m.low <= 0.5 && 0.5 <= m.high;
    }
    double share = (double)held / repetitions;
    ck_assert_msg(share > 0.95 - noise_three_errors(0.95, repetitions), "covers the true ratio in a share %.4f", share);
}

SUITE("stats", NULL, NULL)
