/* evidence.c - evidence that a figure got worse in a series of nights that is looked at every night. */
#include "compare/evidence.h"

#include "kernels/error.h"
#include "kernels/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double evidence_uniform(const char *figure, const char *night)
{
    const char *text[] = {figure, night};
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a of both texts, with the 0 at their ends */
    for (int i = 0; i < 2; i++)
        for (size_t k = 0; k <= strlen(text[i]); k++)
            hash = (hash ^ (unsigned char)text[i][k]) * 0x100000001b3u;
    return random_uniform(&hash);
}

/* ---- a bet on small ranks ---- */

double evidence_rank(const double *y, size_t n, double u)
{
    size_t greater = 0, equal = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        greater += y[i] > y[n - 1];
        equal += y[i] == y[n - 1];
    }
    return ((double)greater + u * (double)(1 + equal)) / (double)n;
}

void evidence_add(struct evidence *evidence, double p)
{
    static const double bet[EVIDENCE_BETS] = {0.1, 0.2, 0.3, 0.5};
    double s = (double)++evidence->n + 3, weight = 1 / (0.793 * s * log(s) * log(s));
    for (int i = 0; i < EVIDENCE_BETS; i++)
        evidence->bet[i] = (evidence->bet[i] + weight) * bet[i] * pow(p, bet[i] - 1);
    evidence->begun += weight;
}

double evidence_value(const struct evidence *evidence)
{
    double sum = 0;
    for (int i = 0; i < EVIDENCE_BETS; i++)
        sum += evidence->bet[i];
    return sum / EVIDENCE_BETS + 1 - evidence->begun;
}

int evidence_names(const double *value, const double *weight, size_t n, size_t j)
{
    double lacking = 0;
    for (size_t i = 0; i < n; i++)
        lacking += i != j && value[i] < EVIDENCE_ALARM ? weight[i] * (EVIDENCE_ALARM - value[i]) : 0;
    return weight[j] > 0 && weight[j] * (value[j] - EVIDENCE_ALARM) >= lacking;
}

double evidence_power(size_t nights, size_t within, double weight)
{
    enum { SERIES = 1000 };
    uint64_t state = 1;
    size_t found = 0;
    for (int i = 0; i < SERIES; i++) {
        struct evidence evidence = {0};
        int is_found = 0;
        for (size_t t = 1; t <= nights + within && !is_found; t++) {
            size_t slow = t > nights ? t - nights : t; /* the new night is equally likely each of the slowest */
            evidence_add(&evidence, random_uniform(&state) * (double)slow / (double)t);
            is_found = t > nights && 1 - weight + weight * evidence_value(&evidence) >= EVIDENCE_ALARM;
        }
        found += (size_t)is_found;
    }
    return (double)found / SERIES;
}

/* ---- since when, and by how much ---- */

/* Returns the k from 1 to n - 1 with the greatest difference of means, in units of its standard error if the standard
 * deviation is 1, and this difference in *greatest. */
static size_t best_split(const double *value, size_t n, double *greatest)
{
    double before = 0, after = 0;
    size_t best = 1;
    *greatest = -INFINITY;
    for (size_t i = 0; i < n; i++)
        after += value[i];
    for (size_t k = 1; k < n; k++) {
        const double m = (double)k, rest = (double)(n - k);
        before += value[k - 1];
        after -= value[k - 1];
        double difference = (after / rest - before / m) * sqrt(m * rest / (m + rest));
        if (difference > *greatest) {
            *greatest = difference;
            best = k;
        }
    }
    return best;
}

static void shuffle(double *value, size_t n, uint64_t *state)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)(random_uniform(state) * (double)i);
        double kept = value[i - 1];
        value[i - 1] = value[j];
        value[j] = kept;
    }
}

/* Whether the permutation test at 10 % rejects that the change in value[n] begins at k; shuffles permuted[n]. */
static int is_rejected(const double *value, double *permuted, size_t n, size_t k, double greatest, uint64_t *state)
{
    int as_great = 0;
    memcpy(permuted, value, n * sizeof *value);
    for (int i = 0; i < EVIDENCE_PERMUTATIONS; i++) { /* the difference at k stays the same */
        double by_chance;
        shuffle(permuted, k, state);
        shuffle(permuted + k, n - k, state);
        best_split(permuted, n, &by_chance);
        as_great += by_chance > greatest - 1e-9;
    }
    return 10 * (as_great + 1) <= EVIDENCE_PERMUTATIONS + 1;
}

/* Fills clipped[n] with y[n], clipped at 3 robust standard deviations from the median (1.4826 x the median deviation),
 * so that a single odd night is not taken for a change. */
static void clip(double *clipped, const double *y, size_t n)
{
    double median = stats_median(y, n);
    for (size_t i = 0; i < n; i++)
        clipped[i] = fabs(y[i] - median);
    double reach = 3 * 1.4826 * stats_median(clipped, n);
    for (size_t i = 0; i < n; i++)
        clipped[i] = reach > 0 ? fmin(fmax(y[i], median - reach), median + reach) : y[i];
}

struct first_night evidence_first_night(const double *y, size_t n, double seed)
{
    double *value = allocate(2 * n, sizeof *value), greatest;
    uint64_t state = (uint64_t)(seed * 0x1p53);
    clip(value, y, n);
    size_t best = best_split(value, n, &greatest);
    struct first_night night = {best, best, best};
    for (size_t k = 1; k < n; k++)
        if ((k < night.low || k > night.high) && !is_rejected(value, value + n, n, k, greatest, &state)) {
            night.low = k < night.low ? k : night.low;
            night.high = k > night.high ? k : night.high;
        }
    free(value);
    return night;
}

/* Returns how many of the smallest, and of the greatest, differences of n and m values lie outside a 95 % interval. */
static size_t outside(size_t n, size_t m)
{
    const double tail = 0.025, pairs = (double)(n * m);
    if (n + m > 40)
        return (size_t)fmax(0, floor(pairs / 2 - 1.959964 * sqrt(pairs * (double)(n + m + 1) / 12)));
    double *ways = allocate(n * m + 1, sizeof *ways), all = 0, below = 0; /* ways[u]: orders with u inversions */
    ways[0] = 1;
    for (size_t i = 1; i <= m; i++) { /* multiplies by (1 - q^(n + i)) / (1 - q^i) */
        for (size_t u = n * m + 1; u-- > n + i;)
            ways[u] -= ways[u - n - i];
        for (size_t u = i; u <= n * m; u++)
            ways[u] += ways[u - i];
    }
    for (size_t u = 0; u <= n * m; u++)
        all += ways[u];
    size_t out = 0;
    while (below + ways[out] <= tail * all)
        below += ways[out++];
    free(ways);
    return out;
}

struct measured evidence_shift(const double *before, size_t n, const double *after, size_t m)
{
    double *difference = allocate(n * m, sizeof *difference);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++)
            difference[i * m + j] = after[j] - before[i];
    qsort(difference, n * m, sizeof *difference, stats_ascending);
    size_t out = outside(n, m);
    struct measured shift = {stats_median(difference, n * m), NAN, NAN};
    if (out) {
        shift.low = difference[out - 1];
        shift.high = difference[n * m - out];
    }
    free(difference);
    return shift;
}

double evidence_dependence(const double *y, size_t n, double chance)
{
    if (n < 2)
        return 0;
    double *level = allocate(2 * n, sizeof *level), *one = level + n, up, down;
    clip(level, y, n);
    for (size_t i = 0; i < n; i++)
        one[i] = -level[i];
    size_t k = best_split(level, n, &up), k_down = best_split(one, n, &down);
    k = down > up ? k_down : k;
    double shift = evidence_shift(y, k, y + k, n - k).value;
    for (size_t i = 0; i < n; i++) {
        level[i] = y[i] - (i >= k ? shift : 0);
        one[i] = 1;
    }
    double correlation = stats_neighbours(level, one, n, chance);
    free(level);
    return correlation;
}
