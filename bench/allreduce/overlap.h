/* overlap.h - how much of a collective computation hides, size by size, and what each costs the other. */
#ifndef BENCH_ALLREDUCE_OVERLAP_H
#define BENCH_ALLREDUCE_OVERLAP_H

#include "allreduce/measure.h"
#include "base/stats.h"

/* One collective beside computation. A sample is a round, the mean over ranks; medians with intervals. */
struct overlapped {
    size_t products;                     /* matrix products of the computation, about as long as the collective alone */
    struct estimate compute, comm, both; /* seconds: each alone, and both at once */
    struct estimate overlap;             /* percent: 100 - (both - compute) / comm x 100, not clamped: below 0 where
                                           together is slower than one after the other. Source: osu_iallreduce */
    struct estimate compute_slowdown;    /* time of the computation while the collective was in flight / alone */
    struct estimate comm_slowdown;       /* from post to completion beside the computation / alone */
};

/* The overlap of one round in percent, from the seconds of each alone and of both at once. */
double sweep_overlap_percent(double compute, double comm, double both);

/* Measures a row, in place: three kinds of runs in turn, round by round. All ranks call, all get the same. */
struct overlapped sweep_overlap(struct sweep *sweep, const struct measured *row);

/* The table of sizes. */
void sweep_overlap_head(FILE *out, const struct sweep *sweep);
void sweep_overlap_row(FILE *out, const struct measured *row, const struct overlapped *overlapped);
void sweep_overlap_foot(FILE *out, const struct sweep *sweep); /* sweep is not used: as sweep_report_foot */

#endif
