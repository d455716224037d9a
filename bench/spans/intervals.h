/* intervals.h - lengths of unions and intersections of time intervals, in whole nanoseconds. Pure. */
#ifndef BENCH_SPANS_INTERVALS_H
#define BENCH_SPANS_INTERVALS_H

#include "spans/spans.h"

/* Replaces v[n] by its union: sorted and disjoint, with touching intervals joined and empty ones removed. Returns how
 * many are left. */
size_t intervals_unite(struct interval *v, size_t n);

/* Total length of a union. */
int64_t intervals_length(const struct interval *v, size_t n);

/* Intersects two unions into `common` (room for na + nb), again a union; returns how many. */
size_t intervals_intersect(const struct interval *a, size_t na, const struct interval *b, size_t nb,
                           struct interval *common);

#endif
