/* intervals.h - lengths of unions and intersections of time intervals, in whole nanoseconds. Pure. */
#ifndef BENCH_SPANS_INTERVALS_H
#define BENCH_SPANS_INTERVALS_H

#include <stddef.h>
#include <stdint.h>

struct interval {
    int64_t start, end; /* [start, end) */
};

/* Replaces v[n] by its union: sorted, disjoint, touching ones joined, empty ones gone. Returns how many are left. */
size_t intervals_unite(struct interval *v, size_t n);

/* Total length of a union. */
int64_t intervals_length(const struct interval *v, size_t n);

/* Intersects two unions into `common` (room for na + nb), again a union; returns how many. */
size_t intervals_intersect(const struct interval *a, size_t na, const struct interval *b, size_t nb,
                           struct interval *common);

#endif
