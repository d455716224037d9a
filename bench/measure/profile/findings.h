/* findings.h - where the captured steps lose time: figures that are beyond a threshold. */
#ifndef BENCH_MEASURE_PROFILE_FINDINGS_H
#define BENCH_MEASURE_PROFILE_FINDINGS_H

#include "ddp/links.h"
#include "profile/controls.h"
#include "profile/figures.h"
#include "results/findings.h"
#include "results/results.h"

struct findings {
    int n;
    struct finding finding[9]; /* findings, at most one of each name, sorted by finding_compare */
};

/* Finds the figures beyond their thresholds. controls->rounds may be 0. links: [facts->hosts]; NULL: not measured. */
void findings_create(struct findings *findings, const struct profile_facts *facts, const struct thresholds *thresholds,
                     const struct profile_figures *figures, const struct collectives *collectives,
                     const struct link_rates *links, const struct controls *controls);

#endif
