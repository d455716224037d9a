/* healthy.h - a profile of two ranks without problems: the input of findings, which tests change. */
#ifndef TESTS_SUPPORT_HEALTHY_H
#define TESTS_SUPPORT_HEALTHY_H

#include "profile/findings.h"

enum { HEALTHY_RANKS = 12 }; /* the most ranks of a profile */

/* A profile and its parts. Must not be copied: members point to each other. */
struct healthy {
    struct profile_facts facts;
    struct thresholds thresholds;
    struct straggler straggler[HEALTHY_RANKS];
    double stall[HEALTHY_RANKS * HEALTHY_RANKS];
    struct collectives collectives;
    struct rank_figure rank[HEALTHY_RANKS];
    struct profile_figures figures;
    struct link_rates *links; /* always NULL */
    struct controls controls;
};

/* Fills a profile. Default thresholds: busy 70, data loading 30, exposed 20, memory 90. The step takes 100 ms, backward
 * half of it; on each rank 80 % of the step is computation, 2 % exposed communication, 5 % data loading. The machine
 * has 1 MB of memory. The strategy is ddp_bucketed; 5 buckets, 12 rounds, overlap efficiency 50 %, from 40 to 60 %. */
void healthy_create(struct healthy *healthy);

/* Computes the findings of a profile, in memory that held other values before. */
void healthy_find(const struct healthy *healthy, struct findings *findings);

#endif
