/* findings.h - where the captured steps lose time, by figures that are beyond a threshold. */
#ifndef BENCH_MEASURE_PROFILE_FINDINGS_H
#define BENCH_MEASURE_PROFILE_FINDINGS_H

#include "ddp/links.h"
#include "profile/controls.h"
#include "profile/figures.h"
#include "results/results.h"

struct findings {
    int n;
    struct finding finding[9]; /* each name at most once; sorted by finding_compare */
};

/* Compares the figures with the thresholds. controls may have no round yet; links[facts->hosts] or NULL. */
void findings_create(struct findings *findings, const struct profile_facts *facts, const struct thresholds *thresholds,
                     const struct profile_figures *figures, const struct collectives *collectives,
                     const struct link_rates *links, const struct controls *controls);

#endif
