/* link_model.c - fits latency and bandwidth by weighted least squares, in one range of sizes or in two. */
#include "allreduce/link_model.h"

#include "base/stats.h"

#include <math.h>

/* Weighted means and products of n points about them; weights are 1 / seconds^2. */
struct moments {
    double n, weight, bytes, seconds; /* number of points, sum of weights, means */
    double bytes_bytes, bytes_seconds;
    double least_seconds;
};

static struct moments moments_of(const double *bytes, const double *seconds, size_t n)
{
    struct moments m = {.n = (double)n, .least_seconds = INFINITY};
    for (size_t i = 0; i < n; i++) {
        double w = 1 / (seconds[i] * seconds[i]);
        m.weight += w;
        m.bytes += w * bytes[i];
        m.seconds += w * seconds[i];
        m.least_seconds = fmin(m.least_seconds, seconds[i]);
    }
    m.bytes /= m.weight;
    m.seconds /= m.weight;
    for (size_t i = 0; i < n; i++) { /* in a second pass, which cancels no digits */
        double w = 1 / (seconds[i] * seconds[i]), x = bytes[i] - m.bytes;
        m.bytes_bytes += w * x * x;
        m.bytes_seconds += w * x * (seconds[i] - m.seconds);
    }
    return m;
}

/* A line with the standard errors of its numbers, for residuals of standard deviation 1, and its degrees of freedom. */
struct line {
    double latency, slope, latency_error, slope_error, df;
};

static struct line free_line(const struct moments *m)
{
    double slope = m->bytes_seconds / m->bytes_bytes;
    return (struct line){.latency = m->seconds - slope * m->bytes,
                         .slope = slope,
                         .latency_error = sqrt(1 / m->weight + m->bytes * m->bytes / m->bytes_bytes),
                         .slope_error = 1 / sqrt(m->bytes_bytes),
                         .df = m->n - 2};
}

/* The best line with both numbers at least 0. Of the free line at most one is below 0, since it goes through the means,
 * which are above 0; the best line then has 0 there. What no clock shows, 1e-9 of the shortest time, is 0 as well. */
static struct line best_line(const struct moments *m, double most_bytes)
{
    struct line line = free_line(m);
    double least = 1e-9 * m->least_seconds;
    if (line.latency < least) { /* through 0: sum w x t / sum w x^2 */
        double squares = m->bytes_bytes + m->weight * m->bytes * m->bytes;
        double product = m->bytes_seconds + m->weight * m->bytes * m->seconds;
        return (struct line){0, product / squares, 0, 1 / sqrt(squares), m->n - 1};
    }
    if (line.slope * most_bytes < least)
        return (struct line){m->seconds, 0, 1 / sqrt(m->weight), 0, m->n - 1};
    return line;
}

static double squares_left(const struct line *line, const double *bytes, const double *seconds, size_t n)
{
    double squares = 0;
    for (size_t i = 0; i < n; i++) {
        double residual = (seconds[i] - line->latency - line->slope * bytes[i]) / seconds[i];
        squares += residual * residual;
    }
    return squares;
}

/* Where a number is 0 because the free line has it below, its interval reaches as high as the free line's. */
static struct link_regime regime_of(const double *bytes, const double *seconds, size_t n)
{
    struct moments m = moments_of(bytes, seconds, n);
    struct line line = best_line(&m, bytes[n - 1]), any = free_line(&m);
    double left = squares_left(&line, bytes, seconds, n);
    double reach = stats_t_quantile(0.975, line.df) * sqrt(left / line.df);
    double reach_of_any = stats_t_quantile(0.975, any.df) * sqrt(squares_left(&any, bytes, seconds, n) / any.df);
    double latency_high = line.latency + reach * line.latency_error, slope_high = line.slope + reach * line.slope_error;
    if (line.latency == 0)
        latency_high = fmax(0, any.latency + reach_of_any * any.latency_error);
    if (line.slope == 0)
        slope_high = fmax(0, any.slope + reach_of_any * any.slope_error);
    return (struct link_regime){
        .from_bytes = bytes[0],
        .to_bytes = bytes[n - 1],
        .sizes = n,
        .latency = line.latency,
        .latency_interval = {fmax(0, line.latency - reach * line.latency_error), latency_high},
        .bandwidth = 1 / line.slope, /* of 0: INFINITY */
        .bandwidth_interval = {1 / slope_high, 1 / fmax(0, line.slope - reach * line.slope_error)},
        .residual = sqrt(left / (double)n),
    };
}

static double squares_of(const double *bytes, const double *seconds, size_t n)
{
    struct moments m = moments_of(bytes, seconds, n);
    struct line line = best_line(&m, bytes[n - 1]);
    return squares_left(&line, bytes, seconds, n);
}

/* How many sizes the first of two regimes has; n: one line will do. */
static size_t find_cut(const double *bytes, const double *seconds, size_t n)
{
    const double good_enough = 0.02, level = 0.001;
    double one = squares_of(bytes, seconds, n), two = INFINITY;
    size_t cut = n;
    if (one <= good_enough * good_enough * (double)n)
        return n;
    for (size_t i = LINK_SIZES; i + LINK_SIZES <= n; i++) {
        double left = squares_of(bytes, seconds, i) + squares_of(bytes + i, seconds + i, n - i);
        if (left < two) {
            two = left;
            cut = i;
        }
    }
    /* P-value of F = ((one - two) / 2) / (two / d), d = n - 4, with 2 and d degrees of freedom: (two / one)^(d / 2) */
    return cut < n && two <= one / 4 && pow(two / one, ((double)n - 4) / 2) <= level ? cut : n;
}

int link_model_fit(struct link_regime regime[LINK_REGIMES], const double *bus_bytes, const double *seconds, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(bus_bytes[i] > 0 && seconds[i] > 0 && isfinite(bus_bytes[i]) && isfinite(seconds[i])))
            return 0;
    if (n < LINK_SIZES || n > LINK_MOST_SIZES)
        return 0;
    size_t cut = find_cut(bus_bytes, seconds, n);
    regime[0] = regime_of(bus_bytes, seconds, cut);
    if (cut == n)
        return 1;
    regime[1] = regime_of(bus_bytes + cut, seconds + cut, n - cut);
    return 2;
}
