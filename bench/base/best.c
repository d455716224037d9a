/* best.c - compares several series with the shortest of them; critical values come from a simulation. */
#include "base/best.h"

#include "kernels/error.h"
#include "kernels/random.h"

#include <math.h>
#include <stdlib.h>

#define LEVEL  0.95
#define CHANCE 0.01 /* of calling rounds dependent that are not, in any pair */
enum { DRAWS = 8000 };

/* ---- random numbers, equal in every run of the program ---- */

/* Returns a chi-squared random number: a sum of df squared normals; for df >= 30, the Wilson-Hilferty approximation. */
static double chi_squared(uint64_t *state, size_t df)
{
    double sum = 0, part = 2 / (9 * (double)df), root;
    if (df >= 30) {
        root = 1 - part + sqrt(part) * random_normal(state);
        return (double)df * root * root * root;
    }
    for (size_t i = 0; i < df; i++) {
        root = random_normal(state);
        sum += root * root;
    }
    return sum;
}

/* ---- critical values ---- */

/* Returns t = (mean of series i - mean of series j) / its standard error. mean[] holds sqrt(n) x each mean. A row of
 * residual[k, columns] replaces n residuals: the squared differences of two rows have the same sum. */
static double studentised(const double *mean, const double *residual, size_t columns, size_t n, size_t i, size_t j)
{
    double squares = 0;
    for (size_t c = 0; c < columns; c++) {
        double difference = residual[i * columns + c] - residual[j * columns + c];
        squares += difference * difference;
    }
    return squares > 0 ? (mean[i] - mean[j]) / sqrt(squares / (double)(n - 1)) : 0;
}

/* Returns the largest t of k series of n standard normal samples, each compared with the one of least mean. Only the
 * inner products of the residuals matter, and these are Wishart-distributed. Therefore the residuals are drawn as a
 * triangular matrix (Bartlett 1933) of at most n - 1 columns: square roots of chi-squared numbers on the diagonal,
 * normal numbers below it. mean[k] and residual[k, columns] are scratch. */
static double draw_largest(uint64_t seed, size_t k, size_t n, double *mean, double *residual)
{
    uint64_t *state = &seed;
    size_t columns = n - 1 < k ? n - 1 : k, least = 0;
    double largest = 0;
    for (size_t i = 0; i < k; i++) {
        mean[i] = random_normal(state);
        for (size_t c = 0; c < columns; c++)
            residual[i * columns + c] = c < i ? random_normal(state) : c == i ? sqrt(chi_squared(state, n - 1 - i)) : 0;
        least = mean[i] < mean[least] ? i : least;
    }
    for (size_t i = 0; i < k; i++)
        if (i != least)
            largest = fmax(largest, studentised(mean, residual, columns, n, i, least));
    return largest;
}

double best_critical_value(int family, size_t n)
{
    static double critical;
    static size_t of_k, of_n;
    size_t k = (size_t)family;
    if (k == 2)
        return stats_t_quantile(0.5 + LEVEL / 2, (double)(n - 1));
    if (n == of_n && k == of_k)
        return critical;
    double *largest = allocate(DRAWS, sizeof *largest), *mean = allocate(k, sizeof *mean);
    double *residual = allocate(k * k, sizeof *residual);
    for (size_t d = 0; d < DRAWS; d++)
        largest[d] = draw_largest(d, k, n, mean, residual);
    critical = stats_quantile(largest, DRAWS, LEVEL + 2 * sqrt(LEVEL * (1 - LEVEL) / DRAWS));
    of_k = k;
    of_n = n;
    free(largest);
    free(mean);
    free(residual);
    return critical;
}

/* ---- the comparison ---- */

double best_alpha(int family)
{
    return (1 - LEVEL) / (family * (family - 1) / 2.0);
}

static double median_ratio(const double *a, const double *b, size_t n)
{
    double *ratio = allocate(n + 1, sizeof *ratio);
    for (size_t i = 0; i < n; i++)
        ratio[i] = a[i] / b[i];
    double median = stats_median(ratio, n);
    free(ratio);
    return median;
}

static int best_by_medians(const double *const *sample, int k, size_t n)
{
    int best = 0;
    double most = 0;
    for (int i = 0; i < k && n; i++) {
        double least = INFINITY;
        for (int j = 0; j < k && least > most; j++)
            least = i == j ? least : fmin(least, median_ratio(sample[j], sample[i], n));
        best = least > most ? i : best;
        most = fmax(most, least);
    }
    return best;
}

static int best_by_means(const double *const *sample, int k, size_t n)
{
    int best = 0;
    for (int i = 1; i < k && n; i++)
        best = stats_log_ratio(sample[i], sample[best], n).difference < 0 ? i : best;
    return best;
}

struct against_best best_compare(const double *sample, const double *best, size_t n, int family, int anytime)
{
    struct against_best against = {
        .paired = anytime ? stats_paired_anytime(sample, best, n, 1 - best_alpha(family))
                          : stats_paired(sample, best, n, LEVEL),
        .dependent = stats_neighbours(sample, best, n, CHANCE / (family - 1)),
    };
    struct paired *paired = &against.paired;
    if (!anytime && n >= STATS_LEAST) {
        struct unpaired of = stats_log_ratio(sample, best, n);
        double reach = best_critical_value(family, n) * of.error;
        paired->ci_low = exp(of.difference - reach);
        paired->ci_high = exp(of.difference + reach);
    }
    against.slower = paired->ci_low > 1;
    return against;
}

int best_of(const double *const *sample, int k, size_t n, int anytime, struct against_best *out)
{
    int best = (anytime ? best_by_medians : best_by_means)(sample, k, n);
    for (int i = 0; i < k; i++)
        if (i == best)
            out[i] = (struct against_best){.paired = {n ? 1 : NAN, NAN, NAN, 1, n}};
        else
            out[i] = best_compare(sample[i], sample[best], n, k, anytime);
    return best;
}

size_t best_least_rounds(int k, int anytime)
{
    size_t n = STATS_LEAST;
    while (anytime && k > 1 && stats_sign_p(n, 0) > best_alpha(k))
        n++;
    return n;
}

int best_within(const struct paired *to_best, double share)
{
    return to_best->ci_high <= 1 + share && to_best->ci_low >= 1 / (1 + share);
}

double best_rounds_needed(const struct against_best *against, double share)
{
    const struct paired *paired = &against->paired;
    double distance = fabs(log(paired->ratio)), made = (double)paired->n;
    double reach = fmax(log(paired->ci_high / paired->ratio), log(paired->ratio / paired->ci_low));
    double part = fmax(distance, log1p(share) - distance) / reach; /* of the reach, that the interval may have */
    if (against->slower || best_within(paired, share))
        return made;
    return part > 0 ? fmax(made + 1, ceil(made / (part * part))) : INFINITY;
}
