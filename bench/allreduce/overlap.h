/* overlap.h - how much of a collective computation hides, size by size, and what each costs the other. */
#ifndef BENCH_ALLREDUCE_OVERLAP_H
#define BENCH_ALLREDUCE_OVERLAP_H

#include "allreduce/timing.h"
#include "base/stats.h"

/* One collective beside computation. A sample is a round, the mean over ranks. */
struct overlap_timing {
    struct collective_timing of;         /* which collective, in place; never timed */
    size_t products;                     /* matrix products of the computation, about as long as the collective alone */
    struct estimate compute, comm, both; /* seconds: each alone, and both at once */
    struct estimate overlap;             /* 1 - (both - compute) / comm, not clamped: below 0 where both at once take
                                            longer than one after the other. Source: osu_iallreduce */
    struct estimate compute_slowdown;    /* time of the computation while the collective was in flight / alone */
    struct estimate comm_slowdown;       /* from post to completion beside the computation / alone */
};

/* The overlap of one round, from the seconds of each alone and of both at once. */
double overlap_timing_ratio(double compute, double comm, double both);

/* Measures the collective of a timing in place, in `rounds` rounds of three runs, in turn: each alone, and both at once
 * (0: as many rounds as fit into 1 s, 10 to 200). The endpoint records spans. All ranks call, all get the same. */
struct overlap_timing overlap_timing_measure(struct endpoint *endpoint, const struct collective_timing *timing,
                                             size_t rounds);

/* Edge of the square matrices of the computation. */
size_t overlap_timing_edge(const struct device *device);

#endif
