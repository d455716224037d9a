/* best.c - compares several series with the shortest of them. */
#include "base/best.h"

#include <math.h>

#define LEVEL  0.95
#define CHANCE 0.01 /* probability of calling independent rounds dependent, in any pair */

double best_alpha(int family)
{
    return (1 - LEVEL) / (family * (family - 1) / 2.0);
}

static int best_by_medians(const double *const *sample, int k, size_t n)
{
    int best = 0;
    double most = 0;
    for (int i = 0; i < k && n; i++) {
        double least = INFINITY;
        for (int j = 0; j < k && least > most; j++)
            least = i == j ? least : fmin(least, stats_ratios(sample[j], sample[i], n, 1).median);
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
        (anytime ? stats_paired_anytime : stats_paired)(sample, best, n, 1 - best_alpha(family)), 0,
        stats_neighbours(sample, best, n, CHANCE / (family - 1))};
    against.slower = against.ratio.ci_low > 1;
    return against;
}

int best_of(const double *const *sample, int k, size_t n, int anytime, struct against_best *out)
{
    int best = (anytime ? best_by_medians : best_by_means)(sample, k, n);
    for (int i = 0; i < k; i++)
        if (i == best)
            out[i] = (struct against_best){.ratio = {n ? 1 : NAN, NAN, NAN, NAN, NAN, n}};
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

int best_within(const struct estimate *to_best, double share)
{
    return to_best->ci_high <= 1 + share && to_best->ci_low >= 1 / (1 + share);
}

double best_rounds_needed(const struct against_best *against, double share)
{
    const struct estimate *ratio = &against->ratio;
    double distance = fabs(log(ratio->median)), made = (double)ratio->n;
    double reach = fmax(log(ratio->ci_high / ratio->median), log(ratio->median / ratio->ci_low));
    double part = fmax(distance, log1p(share) - distance) / reach; /* the interval may have this part of its reach */
    if (against->slower || best_within(ratio, share))
        return made;
    return part > 0 ? fmax(made + 1, ceil(made / (part * part))) : INFINITY;
}
