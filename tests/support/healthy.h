/* healthy.h - a profile of two ranks in which all is well: what findings are made from, for tests to spoil. */
#ifndef TESTS_SUPPORT_HEALTHY_H
#define TESTS_SUPPORT_HEALTHY_H

#include "profile/findings.h"

enum { HEALTHY_RANKS = 12 }; /* there is room for */

/* The parts point at each other: not to be copied. */
struct healthy {
    struct profile_facts facts;
    struct thresholds thresholds;
    struct straggler straggler[HEALTHY_RANKS];
    double stall[HEALTHY_RANKS * HEALTHY_RANKS];
    struct collectives collectives;
    struct rank_figure rank[HEALTHY_RANKS];
    struct profile_figures figures;
    struct link_rates *links; /* NULL */
    struct controls controls;
};

/* Thresholds as by default: busy 70, data loading 30, exposed 20, memory 90. The step takes 100 ms, backward half of
 * it; on each rank 80 % of the step are computation, 2 % exposed communication; 5 % are data loading. The machine has
 * 1 MB. ddp_bucketed in 5 buckets; 12 rounds; overlap hides half of what it could, 40 to 60 %. */
void healthy_create(struct healthy *healthy);

/* Findings of all that; every byte of them was something else before. */
void healthy_find(const struct healthy *healthy, struct findings *findings);

#endif
