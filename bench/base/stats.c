/* stats.c - medians with order-statistic intervals, Student's t, paired ratios. */
#include "base/stats.h"

#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int stats_ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns a sorted copy of sample[n], which the caller frees. */
static double *sorted_copy(const double *sample, size_t n)
{
    double *sorted = allocate(n, sizeof *sorted);
    memcpy(sorted, sample, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, stats_ascending);
    return sorted;
}

/* Hyndman and Fan's type 7: interpolates at position (n - 1) q of the order statistics, counted from 0. */
static double sorted_quantile(const double *sorted, size_t n, double q)
{
    double position = (double)(n - 1) * q;
    size_t below = (size_t)position;
    double part = position - (double)below;
    if (part <= 0 || below + 1 >= n)
        return sorted[below];
    return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

double stats_quantile(const double *sample, size_t n, double q)
{
    if (n == 0)
        return NAN;
    double *sorted = sorted_copy(sample, n);
    double quantile = sorted_quantile(sorted, n, q);
    free(sorted);
    return quantile;
}

/* Returns the largest k for which the median is between the k-th smallest and the k-th largest of n samples with a
 * probability of at least 95 %, that is P(at most k - 1 of n coins are heads) <= 2.5 %; 0 if there is no such k.
 * Binomial terms are kept as logarithms, since 2^-n underflows from n = 1075 on. */
static size_t median_rank(size_t n)
{
    double log_term = -(double)n * log(2), sum = exp(log_term);
    size_t k = 0;
    while (sum <= 0.025 && k < n / 2) {
        log_term += log((double)(n - k) / (double)(k + 1));
        k++;
        sum += exp(log_term);
    }
    return k;
}

struct estimate stats_estimate(const double *sample, size_t n)
{
    struct estimate summary = {NAN, NAN, NAN, NAN, NAN, n};
    if (n == 0)
        return summary;
    double *sorted = sorted_copy(sample, n);
    summary.median = sorted_quantile(sorted, n, 0.5);
    summary.p5 = sorted_quantile(sorted, n, 0.05);
    summary.p95 = sorted_quantile(sorted, n, 0.95);
    size_t k = median_rank(n);
    if (k > 0) {
        summary.ci_low = sorted[k - 1];
        summary.ci_high = sorted[n - k];
    }
    free(sorted);
    return summary;
}

struct estimate stats_geometric(const double *sample, size_t n)
{
    struct estimate estimate = stats_estimate(sample, n);
    double least = INFINITY;
    for (size_t i = 0; i < n; i++)
        least = fmin(least, sample[i]);
    struct estimate mean = stats_paired(sample, NULL, least > 0 ? n : 0, 0.95);
    estimate.median = least > 0 ? mean.median : n ? 0 : NAN;
    estimate.ci_low = mean.ci_low;
    estimate.ci_high = mean.ci_high;
    return estimate;
}

/* Returns gamma(a + 1/2) / gamma(a). Above a = 100 it uses the asymptotic series of the logarithm, because gamma
 * overflows at 171 and the difference of two log-gammas loses all digits. */
static double gamma_ratio(double a)
{
    if (a < 100)
        return tgamma(a + 0.5) / tgamma(a);
    return sqrt(a) * exp(-1 / (8 * a) + 1 / (192 * a * a * a) - 1 / (640 * pow(a, 5)));
}

/* Computes the continued fraction of I_x(a, b), NIST DLMF 8.17.22, by Lentz's method, modified by Thompson and Barnett
 * (J. Comput. Phys. 64 (1986) 490-509). Takes about sqrt(max(a, b)) iterations if x < (a + 1) / (a + b + 2). */
static double beta_fraction(double x, double a, double b)
{
    const double tiny = 1e-300;
    double value = 1, c = 1 / tiny, d = 1;
    for (int turn = 1; turn < 2000000; turn++) {
        int m = turn / 2;
        double term = turn % 2 ? -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
                               : m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 + term * d;
        c = 1 + term / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        value *= c * d;
        if (!(fabs(c * d - 1) >= 1e-15)) /* written as a negation, this also stops at NaN */
            break;
    }
    return value;
}

/* Returns P(T > t) for t >= 0, which is I_x(df / 2, 1 / 2) / 2 at x = df / (df + t^2). The relative error is small even
 * for large t, where 1 - stats_t_cdf would be 0. */
static double t_tail(double t, double df)
{
    double a = df / 2, b = 0.5;
    double ratio = t / sqrt(df) * (t / sqrt(df)); /* t^2 / df */
    if (ratio == 0)
        return 0.5;
    if (isinf(ratio))
        return 0;
    double x = 1 / (1 + ratio), y = ratio / (1 + ratio);
    /* x^a y^b / beta(a, b); log1p keeps the digits of x^a when df is large and x almost 1 */
    double front = exp(-a * log1p(ratio)) * sqrt(y) * gamma_ratio(a) / sqrt(M_PI);
    if (x < (a + 1) / (a + b + 2))
        return front / a * beta_fraction(x, a, b) / 2;
    return (1 - front / b * beta_fraction(y, b, a)) / 2;
}

double stats_t_cdf(double t, double df)
{
    return t > 0 ? 1 - t_tail(t, df) : t_tail(-t, df);
}

/* Bisects an interval of t, in one tail, until its ends are neighbouring doubles, after 60 to 100 iterations. */
double stats_t_quantile(double p, double df)
{
    double tail = p < 0.5 ? p : 1 - p;
    double low = 0, high = 1;
    if (tail >= 0.5)
        return 0;
    while (t_tail(high, df) > tail) {
        low = high;
        high *= 2;
    }
    for (double middle = low + (high - low) / 2; middle > low && middle < high; middle = low + (high - low) / 2)
        if (t_tail(middle, df) > tail)
            low = middle;
        else
            high = middle;
    return p < 0.5 ? -high : high;
}

struct unpaired stats_mean(const double *x, size_t n)
{
    double sum = 0, squares = 0, count = (double)n, df = count - 1;
    for (size_t i = 0; i < n; i++)
        sum += x[i] - x[0]; /* subtracting x[0] makes the sum exactly 0 if all values are equal */
    double mean = x[0] + sum / count;
    for (size_t i = 0; i < n; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    return (struct unpaired){mean, sqrt(squares / fmax(df, 1) / count), df};
}

double stats_p_above(const struct unpaired *of)
{
    return of->error > 0 ? stats_t_cdf(-of->difference / of->error, of->df) : of->difference <= 0;
}

struct unpaired stats_log_ratio(const double *a, const double *b, size_t n)
{
    double *x = allocate(n, sizeof *x);
    for (size_t i = 0; i < n; i++)
        x[i] = log(b ? a[i] / b[i] : a[i]);
    struct unpaired mean = stats_mean(x, n);
    free(x);
    return mean;
}

struct estimate stats_paired(const double *a, const double *b, size_t n, double level)
{
    struct estimate ratio = {NAN, NAN, NAN, NAN, NAN, n};
    if (n == 0)
        return ratio;
    struct unpaired log_ratio = stats_log_ratio(a, b, n);
    ratio.median = exp(log_ratio.difference);
    if (n < STATS_LEAST)
        return ratio;
    double t = stats_t_quantile(0.5 + level / 2, log_ratio.df);
    ratio.ci_low = exp(log_ratio.difference - t * log_ratio.error);
    ratio.ci_high = exp(log_ratio.difference + t * log_ratio.error);
    return ratio;
}

struct estimate stats_typical(const double *sample, size_t n, int anytime)
{
    if (!anytime)
        return stats_geometric(sample, n);
    struct estimate estimate = stats_estimate(sample, n), valid = stats_paired_anytime(sample, NULL, n, 0.95);
    estimate.ci_low = valid.ci_low;
    estimate.ci_high = valid.ci_high;
    return estimate;
}

struct estimate stats_ratios(const double *a, const double *b, size_t n, int anytime)
{
    return (anytime ? stats_paired_anytime : stats_paired)(a, b, n, 0.95);
}

struct estimate stats_excess(const double *a, const double *b, size_t n, int anytime)
{
    struct estimate r = stats_ratios(a, b, n, anytime);
    double of = stats_typical(b, n, anytime).median;
    return (struct estimate){of * (r.median - 1), of * (r.ci_low - 1), of * (r.ci_high - 1), NAN, NAN, n};
}

double stats_neighbours(const double *a, const double *b, size_t n, double chance)
{
    enum { FEWEST = 10 };
    if (n < FEWEST)
        return 0;
    double *ratio = allocate(n, sizeof *ratio), count = (double)n, last = 0, products = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        ratio[i] = a[i] / b[i];
    double *sorted = sorted_copy(ratio, n);
    for (size_t i = 0; i < n && sorted[0] < sorted[n - 1]; i++) {
        const double *low = bsearch(&ratio[i], sorted, n, sizeof *sorted, stats_ascending), *high = low;
        while (low > sorted && low[-1] == ratio[i])
            low--;
        while (high + 1 < sorted + n && high[1] == ratio[i])
            high++;
        double rank = (double)(low - sorted + (high - sorted) - (ptrdiff_t)(n - 1)) / 2; /* from the mean rank */
        products += rank * last;
        squares += rank * rank;
        last = rank;
    }
    free(ratio);
    free(sorted);
    double correlation = squares > 0 ? products / squares : 0;
    return correlation > stats_t_quantile(1 - chance, 1e6) / sqrt(count) - 1 / count ? correlation : 0;
}

double stats_sign_p(size_t n, size_t k)
{
    double count = (double)n, smaller = (double)k, log_ways = lgamma(count + 1) - lgamma(smaller + 1);
    log_ways -= lgamma(count - smaller + 1);
    return fmin(1, exp(log(count + 1) + log_ways - count * log(2)));
}

size_t stats_sign_outside(size_t n, double alpha)
{
    size_t outside = 0;
    while (2 * outside < n && stats_sign_p(n, outside) <= alpha)
        outside++;
    return outside;
}

struct estimate stats_paired_anytime(const double *a, const double *b, size_t n, double level)
{
    struct estimate estimate = {NAN, NAN, NAN, NAN, NAN, n};
    if (n == 0)
        return estimate;
    double *ratio = allocate(n, sizeof *ratio);
    size_t outside = stats_sign_outside(n, 1 - level);
    for (size_t i = 0; i < n; i++)
        ratio[i] = b ? a[i] / b[i] : a[i];
    qsort(ratio, n, sizeof *ratio, stats_ascending);
    estimate.median = sorted_quantile(ratio, n, 0.5);
    if (outside) {
        estimate.ci_low = ratio[outside - 1];
        estimate.ci_high = ratio[n - outside];
    }
    free(ratio);
    return estimate;
}

struct unpaired stats_unpaired(const double *a, size_t n_a, const double *b, size_t n_b, double least_sd)
{
    struct unpaired of_a = stats_log_ratio(a, NULL, n_a), of_b = stats_log_ratio(b, NULL, n_b);
    double count_a = (double)n_a, count_b = (double)n_b, df = count_a + count_b - 2;
    double squares = of_a.error * of_a.error * count_a * of_a.df + of_b.error * of_b.error * count_b * of_b.df;
    double error = fmax(sqrt(squares / df), least_sd) * sqrt(1 / count_a + 1 / count_b);
    return (struct unpaired){of_a.difference - of_b.difference, error, df};
}

struct estimate stats_unpaired_ratio(const double *a, size_t n_a, const double *b, size_t n_b)
{
    if (n_a < STATS_LEAST || n_b < STATS_LEAST)
        return (struct estimate){NAN, NAN, NAN, NAN, NAN, 0};
    struct unpaired ratio = stats_unpaired(a, n_a, b, n_b, 0);
    double d = ratio.difference, half = stats_t_quantile(0.975, ratio.df) * ratio.error;
    return (struct estimate){exp(d), exp(d - half), exp(d + half), NAN, NAN, n_a < n_b ? n_a : n_b};
}

struct measured stats_difference(struct measured x, struct measured y)
{
    double d = x.value - y.value;
    return (struct measured){d, d - hypot(x.value - x.low, y.high - y.value),
                             d + hypot(x.high - x.value, y.value - y.low)};
}

struct measured stats_ratio(struct measured x, struct measured y)
{
    int known = x.low > 0 && y.low > 0;
    struct measured log_ratio = stats_difference((struct measured){log(x.value), log(x.low), log(x.high)},
                                                 (struct measured){log(y.value), log(y.low), log(y.high)});
    return (struct measured){x.value / y.value, known ? exp(log_ratio.low) : NAN, known ? exp(log_ratio.high) : NAN};
}
