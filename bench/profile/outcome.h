/* outcome.h - all that a profile found, and its summary. */
#ifndef BENCH_PROFILE_OUTCOME_H
#define BENCH_PROFILE_OUTCOME_H

#include "base/figures.h"
#include "profile/capture.h"
#include "profile/findings.h"
#include "spans/spans.h"

struct profile {
    const struct profile_options *options;
    struct profile_facts facts;
    struct capture capture;
    struct profile_figures figures; /* of the captured steps */
    struct totals totals;
    struct controls controls;
    struct findings findings;
    double comm_thread_cores; /* used by rank 0's communication thread; NAN where there is none, or before a round */
};

/* Adds to a summary (results_summary_create): what was captured, to the heading; each table; verdict and findings, to
 * the notes; capture, clock, verdict and findings as members. */
void profile_add_capture(const struct profile *profile, cJSON *summary);
void profile_add_tables(const struct profile *profile, cJSON *summary);
void profile_add_findings(const struct profile *profile, cJSON *summary);

/* Adds every figure to a list. */
void profile_add_figures(const struct profile *profile, struct figure_list *list);

#endif
