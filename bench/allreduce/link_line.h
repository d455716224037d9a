/* link_line.h - the line latency + slope x bytes that fits times best, and how sure it is. Pure.
 *
 * Best: the least sum of squared relative residuals, (seconds - line) / seconds, that is weights 1 / seconds^2. */
#ifndef BENCH_ALLREDUCE_LINK_LINE_H
#define BENCH_ALLREDUCE_LINK_LINE_H

#include <stddef.h>

struct link_point {
    double bytes, seconds; /* both above 0 */
};

struct link_line {
    double latency, slope; /* seconds; seconds / byte */
};

/* All that the best line depends on, point by point (from zero); weights 1 / seconds^2. */
struct link_sums {
    double n, weight, mean_bytes, mean_seconds;
    double bytes_bytes, bytes_seconds, seconds_seconds; /* weighted products of the distances from the means */
    double most_bytes, least_seconds;
};
void link_sums_add(struct link_sums *sums, const struct link_point *p);

/* The best line with latency >= 0 and slope >= 0 of points of at least two different sizes, and the sum of squares that
 * it leaves, to 1e-14 of n. */
struct link_line link_line_of_sums(const struct link_sums *sums);
double link_line_left(const struct link_sums *sums);

/* The same line of p[n]. */
struct link_line link_line_fit(const struct link_point *p, size_t n);

/* The time of the line at a size; the relative residual of a point; the sum of squares of those of p[n]. */
static inline double link_line_seconds(const struct link_line *line, double bytes)
{
    return line->latency + line->slope * bytes;
}
static inline double link_line_residual(const struct link_line *line, const struct link_point *p)
{
    return (p->seconds - link_line_seconds(line, p->bytes)) / p->seconds;
}
double link_line_squares(const struct link_line *line, const struct link_point *p, size_t n);

/* Intervals of 95 % of both numbers, for n > 2: Student's t times the errors of the best line without bounds, cut at
 * 0. If that line breaks a bound by more than its error, the number is 0 and so is its interval, and the other's
 * interval is of a line with one number. */
void link_line_intervals(const struct link_point *p, size_t n, struct link_line *low, struct link_line *high);

#endif
