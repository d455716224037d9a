/* link_line.c - weighted least squares with two numbers that are not negative. */
#include "allreduce/link_line.h"

#include "base/stats.h"

#include <math.h>

/* Means and products move on as Welford's (Note on a method for calculating corrected sums of squares and products,
 * Technometrics 4 (1962) 419-420), which cancels no digits. */
void link_sums_add(struct link_sums *s, const struct link_point *p)
{
    double weight = 1 / (p->seconds * p->seconds), bytes = p->bytes - s->mean_bytes;
    double seconds = p->seconds - s->mean_seconds;
    s->weight += weight;
    s->mean_bytes += weight / s->weight * bytes;
    s->mean_seconds += weight / s->weight * seconds;
    s->bytes_bytes += weight * bytes * (p->bytes - s->mean_bytes);
    s->bytes_seconds += weight * bytes * (p->seconds - s->mean_seconds);
    s->seconds_seconds += weight * seconds * (p->seconds - s->mean_seconds);
    s->most_bytes = fmax(s->most_bytes, p->bytes);
    s->least_seconds = s->n > 0 ? fmin(s->least_seconds, p->seconds) : p->seconds;
    s->n++;
}

static struct link_sums sums_of(const struct link_point *p, size_t n)
{
    struct link_sums s = {0};
    for (size_t i = 0; i < n; i++)
        link_sums_add(&s, &p[i]);
    return s;
}

/* The weighted sum of squared bytes about 0. */
static double squares_about_zero(const struct link_sums *s)
{
    return s->bytes_bytes + s->weight * s->mean_bytes * s->mean_bytes;
}

double link_line_squares(const struct link_line *line, const struct link_point *p, size_t n)
{
    double squares = 0;
    for (size_t i = 0; i < n; i++) {
        double residual = link_line_residual(line, &p[i]);
        squares += residual * residual;
    }
    return squares;
}

/* The best line without bounds. */
static struct link_line free_line(const struct link_sums *s)
{
    double slope = s->bytes_seconds / s->bytes_bytes;
    return (struct link_line){s->mean_seconds - slope * s->mean_bytes, slope};
}

/* Less than this is 0: 1e-9 of the shortest time, which no clock shows, but rounding makes it out of nothing. */
static struct link_line least_seen(const struct link_sums *s)
{
    return (struct link_line){1e-9 * s->least_seconds, 1e-9 * s->least_seconds / s->most_bytes};
}

/* If the free line breaks a bound, the best one lies on it. It cannot break both: it goes through the means, and they
 * are above 0. */
struct link_line link_line_of_sums(const struct link_sums *s)
{
    struct link_line line = free_line(s), least = least_seen(s);
    if (line.latency < least.latency) /* through 0: sum w x t / sum w x^2 */
        return (struct link_line){0, (s->bytes_seconds + s->weight * s->mean_bytes * s->mean_seconds) /
                                         squares_about_zero(s)};
    if (line.slope < least.slope)
        return (struct link_line){s->mean_seconds, 0};
    return line;
}

double link_line_left(const struct link_sums *s)
{
    struct link_line line = link_line_of_sums(s);
    double at_means = s->mean_seconds - link_line_seconds(&line, s->mean_bytes);
    return fmax(0, s->seconds_seconds - 2 * line.slope * s->bytes_seconds + line.slope * line.slope * s->bytes_bytes +
                       s->weight * at_means * at_means);
}

struct link_line link_line_fit(const struct link_point *p, size_t n)
{
    struct link_sums sums = sums_of(p, n);
    return link_line_of_sums(&sums);
}

/* line +- reach, cut at 0. */
static void spread(const struct link_line *line, struct link_line reach, struct link_line *low, struct link_line *high)
{
    *low = (struct link_line){fmax(0, line->latency - reach.latency), fmax(0, line->slope - reach.slope)};
    *high = (struct link_line){line->latency + reach.latency, line->slope + reach.slope};
}

/* The interval of the free line holds the bounded one as long as it reaches into the bounds: a bound moves each number
 * by at most its error. */
void link_line_intervals(const struct link_point *p, size_t n, struct link_line *low, struct link_line *high)
{
    struct link_sums s = sums_of(p, n);
    struct link_line any = free_line(&s), least = least_seen(&s), bounded = link_line_of_sums(&s);
    double df = (double)n - 2, deviation = sqrt(link_line_squares(&any, p, n) / df);
    double reach = stats_t_quantile(0.975, df) * deviation;
    double latency_error = sqrt(1 / s.weight + s.mean_bytes * s.mean_bytes / s.bytes_bytes);
    spread(&any, (struct link_line){reach * latency_error, reach / sqrt(s.bytes_bytes)}, low, high);
    if (high->latency >= least.latency && high->slope >= least.slope)
        return;

    reach = stats_t_quantile(0.975, df + 1) * sqrt(link_line_squares(&bounded, p, n) / (df + 1));
    if (high->latency < least.latency)
        spread(&bounded, (struct link_line){0, reach / sqrt(squares_about_zero(&s))}, low, high);
    else
        spread(&bounded, (struct link_line){reach / sqrt(s.weight), 0}, low, high);
}
