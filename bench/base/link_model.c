/* link_model.c - fits latency and bandwidth by weighted least squares, over one or two ranges of sizes. */
#include "base/link_model.h"

#include "base/stats.h"

#include <math.h>

/* A fitted line. latency_error and slope_error are the standard errors for residuals of standard deviation 1; df: the
 * degrees of freedom; residuals: the sum of squared relative residuals. */
struct line {
    double latency, slope, latency_error, slope_error, df, residuals;
};

/* Sets *unbounded to the least-squares line with weights 1 / seconds^2; returns the best line whose latency and slope
 * are at least 0. The least-squares line goes through the means, which are positive, so at most one of its latency and
 * slope is negative; the best line has 0 in its place. A latency below 1e-9 of the shortest time counts as 0. */
static struct line fit_line(const double *bytes, const double *seconds, size_t n, struct line *unbounded)
{
    double weight = 0, x_mean = 0, t_mean = 0, xx = 0, xt = 0, shortest = INFINITY;
    for (size_t i = 0; i < n; i++) {
        double w = 1 / (seconds[i] * seconds[i]);
        weight += w;
        x_mean += w * bytes[i];
        t_mean += w * seconds[i];
        shortest = fmin(shortest, seconds[i]);
    }
    x_mean /= weight;
    t_mean /= weight;
    for (size_t i = 0; i < n; i++) { /* a second pass, about the means, avoids cancellation */
        double w = 1 / (seconds[i] * seconds[i]), x = bytes[i] - x_mean;
        xx += w * x * x;
        xt += w * x * (seconds[i] - t_mean);
    }
    double slope = xt / xx, squares = xx + weight * x_mean * x_mean, df = (double)n - 2;
    *unbounded =
        (struct line){t_mean - slope * x_mean, slope, sqrt(1 / weight + x_mean * x_mean / xx), 1 / sqrt(xx), df, 0};
    struct line line = *unbounded;
    if (line.latency < 1e-9 * shortest) /* line through the origin: slope = sum w x t / sum w x^2 */
        line = (struct line){0, (xt + weight * x_mean * t_mean) / squares, 0, 1 / sqrt(squares), df + 1, 0};
    else if (slope * bytes[n - 1] < 1e-9 * shortest)
        line = (struct line){t_mean, 0, 1 / sqrt(weight), 0, df + 1, 0};
    for (size_t i = 0; i < n; i++) {
        double of_line = (seconds[i] - line.latency - line.slope * bytes[i]) / seconds[i];
        double of_any = (seconds[i] - unbounded->latency - unbounded->slope * bytes[i]) / seconds[i];
        line.residuals += of_line * of_line;
        unbounded->residuals += of_any * of_any;
    }
    return line;
}

/* Fits one range. If latency or slope is 0 (negative in `unbounded`), `unbounded` gives its interval's upper end. */
static struct link_regime regime_of(const double *bytes, const double *seconds, size_t n)
{
    struct line unbounded, line = fit_line(bytes, seconds, n, &unbounded);
    double reach = stats_t_quantile(0.975, line.df) * sqrt(line.residuals / line.df);
    double reach_any = stats_t_quantile(0.975, unbounded.df) * sqrt(unbounded.residuals / unbounded.df);
    double latency_high = line.latency == 0 ? fmax(0, unbounded.latency + reach_any * unbounded.latency_error)
                                            : line.latency + reach * line.latency_error;
    double slope_high = line.slope == 0 ? fmax(0, unbounded.slope + reach_any * unbounded.slope_error)
                                        : line.slope + reach * line.slope_error;
    return (struct link_regime){
        .from_bytes = bytes[0],
        .to_bytes = bytes[n - 1],
        .sizes = n,
        .latency = line.latency,
        .latency_interval = {fmax(0, line.latency - reach * line.latency_error), latency_high},
        .bandwidth = 1 / line.slope, /* INFINITY if the slope is 0 */
        .bandwidth_interval = {1 / slope_high, 1 / fmax(0, line.slope - reach * line.slope_error)},
        .residual = sqrt(line.residuals / (double)n),
    };
}

/* Returns the number of sizes in the first of two regimes, or n if one line is enough. */
static size_t find_cut(const double *bytes, const double *seconds, size_t n)
{
    const double good_enough = 0.02, level = 0.001;
    struct line unbounded;
    double one = fit_line(bytes, seconds, n, &unbounded).residuals, two = INFINITY;
    size_t cut = n;
    if (one <= good_enough * good_enough * (double)n)
        return n;
    for (size_t i = LINK_SIZES; i + LINK_SIZES <= n; i++) {
        double residuals = fit_line(bytes, seconds, i, &unbounded).residuals +
                           fit_line(bytes + i, seconds + i, n - i, &unbounded).residuals;
        if (residuals < two) {
            two = residuals;
            cut = i;
        }
    }
    /* F = ((one - two) / 2) / (two / d), d = n - 4, has 2 and d degrees of freedom; P-value: (two / one)^(d / 2) */
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
