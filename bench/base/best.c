/* best.c - compares several series with the least of them; critical values come from a simulation. */
#include "base/best.h"

#include "kernels/error.h"
#include "kernels/random.h"

#include <math.h>
#include <stdlib.h>

#define LEVEL 0.95
enum { DRAWS = 8000 };

/* ---- random numbers, equal in every run of the program ---- */

/* Returns a uniform random number in (0, 1). */
static double uniform(uint64_t *state)
{
    *state += RANDOM_STEP;
    return ((double)(random_bits(*state) >> 11) + 0.5) * 0x1p-53;
}

/* Returns a standard normal random number (Box-Muller method). */
static double normal(uint64_t *state)
{
    double radius = sqrt(-2 * log(uniform(state)));
    return radius * cos(2 * M_PI * uniform(state));
}

/* Returns a chi-squared random number: a sum of df squared normals; for df >= 30, the Wilson-Hilferty approximation. */
static double chi_squared(uint64_t *state, size_t df)
{
    double sum = 0, part = 2 / (9 * (double)df), root;
    if (df >= 30) {
        root = 1 - part + sqrt(part) * normal(state);
        return (double)df * root * root * root;
    }
    for (size_t i = 0; i < df; i++) {
        root = normal(state);
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

/* Draws k series of n standard normal samples. For each r from 2 to k, largest[(r - 1) * DRAWS] becomes the largest t
 * of the first r series, each compared with the one of least mean among these r; k has no effect on it. Only the inner
 * products of the residuals matter, and these are Wishart-distributed. Therefore the residuals are drawn as a
 * triangular matrix (Bartlett 1933) of at most n - 1 columns: square roots of chi-squared numbers on the diagonal,
 * normal numbers below it. mean[k] and residual[k, columns] are scratch. */
static void draw_series(uint64_t seed, size_t k, size_t n, double *mean, double *residual, double *largest)
{
    uint64_t *state = &seed;
    size_t columns = n - 1 < k ? n - 1 : k, least = 0;
    double most = 0;
    for (size_t i = 0; i < k; i++) {
        size_t from = i, to = i + 1;
        mean[i] = normal(state);
        for (size_t c = 0; c < columns; c++)
            residual[i * columns + c] = c < i ? normal(state) : c == i ? sqrt(chi_squared(state, n - 1 - i)) : 0;
        if (mean[i] < mean[least]) { /* a new least mean: compares all series so far with it */
            least = i;
            from = 0;
            most = 0;
        }
        for (size_t j = from; j < to; j++)
            if (j != least)
                most = fmax(most, studentised(mean, residual, columns, n, j, least));
        largest[i * DRAWS] = most;
    }
}

/* Returns a static table: element r, 2 to k, is c(r) of best_compare. Computes it anew if n changes or k grows. */
static const double *critical_values(size_t k, size_t n)
{
    static double *critical;
    static size_t of_k, of_n;
    if (n == of_n && k <= of_k)
        return critical;
    double *largest = allocate(k * DRAWS, sizeof *largest), *mean = allocate(k, sizeof *mean);
    double *residual = allocate(k * k, sizeof *residual);
    for (size_t d = 0; d < DRAWS && k > 2; d++)
        draw_series(d, k, n, mean, residual, largest + d);
    free(critical);
    critical = allocate(k + 1, sizeof *critical);
    critical[2] = stats_t_quantile(0.5 + LEVEL / 2, (double)(n - 1));
    for (size_t r = 3; r <= k; r++)
        critical[r] = fmax(critical[r - 1], stats_quantile(largest + (r - 1) * DRAWS, DRAWS, LEVEL));
    of_k = k;
    of_n = n;
    free(largest);
    free(mean);
    free(residual);
    return critical;
}

/* ---- the procedure ---- */

struct candidate {
    int series;
    double mean, error; /* mean of log(sample / sample of best), and its standard error */
    double evidence;    /* how clearly the series is greater than the best; the greatest evidence is tested first */
};

static int by_evidence(const void *a, const void *b)
{
    double x = ((const struct candidate *)a)->evidence, y = ((const struct candidate *)b)->evidence;
    return (x < y) - (x > y);
}

static struct candidate candidate_of(int series, const double *a, const double *best, size_t n)
{
    struct unpaired ratio = stats_log_ratio(a, best, n);
    double mean = ratio.difference, error = ratio.error;
    return (struct candidate){series, mean, error, error > 0 ? mean / error : mean != 0 ? copysign(INFINITY, mean) : 0};
}

void best_compare(const double *const *sample, int k, size_t n, int best, int anytime, struct against_best *out)
{
    int m = 0, r = k; /* r: number of series not found slower so far, including the best */
    struct candidate *candidate = allocate((size_t)k, sizeof *candidate);
    for (int i = 0; i < k; i++) {
        struct paired *paired = &out[i].paired;
        *paired = (anytime ? stats_paired_anytime : stats_paired)(sample[i], sample[best], n, LEVEL);
        paired->ci_low = paired->ci_high = NAN;
        out[i].slower = 0;
        if (i == best || n < STATS_LEAST)
            continue;
        candidate[m] = candidate_of(i, sample[i], sample[best], n);
        if (anytime)
            candidate[m].evidence = paired->ratio > 1 ? 1 - paired->p : paired->p - 1;
        m++;
    }
    qsort(candidate, (size_t)m, sizeof *candidate, by_evidence);
    const double *critical = m && !anytime ? critical_values((size_t)k, n) : NULL;
    for (const struct candidate *c = candidate; c < candidate + m; c++) {
        struct against_best *of = &out[c->series];
        struct paired *paired = &of->paired;
        if (!critical) {
            *paired = stats_paired_anytime(sample[c->series], sample[best], n, 1 - (1 - LEVEL) / (r * (r - 1) / 2.0));
        } else {
            paired->ci_low = exp(c->mean - critical[r] * c->error);
            paired->ci_high = exp(c->mean + critical[r] * c->error);
        }
        of->slower = paired->ci_low > 1; /* after the first 0, all later series get 0: evidence falls, r stays */
        r -= of->slower;
    }
    free(candidate);
}

int best_of(const double *const *sample, int k, size_t n, int anytime, struct against_best *out)
{
    int best = 0;
    double *typical = allocate((size_t)k, sizeof *typical);
    for (int i = 0; i < k; i++) {
        typical[i] = stats_typical(sample[i], n, anytime).median;
        best = typical[i] < typical[best] ? i : best;
    }
    best_compare(sample, k, n, best, anytime, out);
    for (int i = 0; i < k && anytime; i++) {
        struct paired *paired = &out[i].paired;
        paired->ratio = typical[i] / typical[best];
        stats_widen(&paired->ci_low, &paired->ci_high, paired->ratio);
    }
    free(typical);
    return best;
}

size_t best_least_rounds(int k)
{
    size_t n = STATS_LEAST;
    while (k > 1 && stats_sign_p(n, 0) > (1 - LEVEL) / (k * (k - 1) / 2.0))
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
