/* overlap.h - how computation and communication share the time of a step, by unions of intervals. Pure. */
#ifndef BENCH_SPANS_OVERLAP_H
#define BENCH_SPANS_OVERLAP_H

#include "spans/intervals.h"
#include "spans/steps.h"

#include <math.h>

/* Of one step of one rank, in nanoseconds. communication is the union of its collectives: on the device, from when it
 * came to one until it was done; by a host library, each from post to completion, so that one that waits, or that
 * nobody drives, is in it too. compute is the union of the operations of a traced step. */
struct overlap {
    int64_t step, communication, compute, overlap;
    int64_t exposed_tail; /* max(0, end of the last collective - end of backward) */
    size_t collectives;
};
static inline int64_t overlap_exposed(const struct overlap *o)
{
    return o->communication - o->overlap;
}

/* overlap / communication, overlap / compute, compute / step; NAN where there was no communication, or nothing to
 * divide by. */
static inline double overlap_span(const struct overlap *o)
{
    return o->communication ? (double)o->overlap / (double)o->communication : NAN;
}
/* Its name: what was hidden, where communication is the device's own work, and else an upper bound of it. */
static inline const char *overlap_span_name(int on_device)
{
    return on_device ? "hidden_ratio" : "span_overlap";
}
static inline double overlap_coverage(const struct overlap *o)
{
    return o->communication && o->compute ? (double)o->overlap / (double)o->compute : NAN;
}
static inline double overlap_utilisation(const struct overlap *o)
{
    return o->step ? (double)o->compute / (double)o->step : NAN;
}

/* Fills overlap[n] for the steps in slots [0, n) of a timeline. */
void overlap_of_steps(const struct timeline *timeline, const struct step_times *steps, int n, struct overlap *overlap);

/* overlap[0] + ... of `count` steps from `first` on. */
struct overlap overlap_sum(const struct overlap *overlap, int first, int count);

/* The busy intervals of one lane in one step, united; *at moves on through the lane, from 0, as steps go up. v has room
 * for all spans of the step. Returns how many. */
size_t overlap_lane(const struct lane *lane, int step, size_t *at, struct interval *v);

#endif
