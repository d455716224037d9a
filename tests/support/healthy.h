/* healthy.h - a profile of two ranks without problems. Tests change the profile, and check which findings result. */
#ifndef TESTS_SUPPORT_HEALTHY_H
#define TESTS_SUPPORT_HEALTHY_H

#include "profile/summary.h"

enum { HEALTHY_RANKS = 12 }; /* the most ranks that a test may give the profile */

/* A profile and its parts. Must not be copied: members point to each other. */
struct healthy {
    struct profile_options options;
    struct profile profile;
    struct straggler straggler[HEALTHY_RANKS];
    double stall[HEALTHY_RANKS * HEALTHY_RANKS];
    struct rank_figure rank[HEALTHY_RANKS];
};

/* Fills a profile. Thresholds in %: busy 70, data loading 30, exposed 20, memory 90. The step takes 100 ms, backward
 * half of it; on each rank 80 % of the step is computation, 2 % exposed communication, 5 % data loading. The machine
 * has 1 MB of memory. ddp_bucketed has 5 buckets; 12 rounds give an overlap efficiency of 50 %, interval 40 to 60 %. */
void healthy_create(struct healthy *healthy);

/* Computes the findings of the profile, in whose place are other bytes at first. */
void healthy_find(struct healthy *healthy);

#endif
