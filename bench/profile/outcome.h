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

/* Adds each table to a summary (results_summary_create); the capture, verdict and findings, as members and to the
 * notes; every figure to a list. */
void profile_add_tables(const struct profile *profile, cJSON *summary);
void profile_add_findings(const struct profile *profile, cJSON *summary);
void profile_add_figures(const struct profile *profile, struct figure_list *list);

/* What the controls tell: a figure, "" for one that is only shown, and a row of a table, without a meaning for one that
 * is not shown. */
struct control_row {
    const char *subject, *figure, *name, *meaning, *unit;
    struct estimate estimate;
    enum better better;
};
enum { CONTROLS_MOST = 16 };

/* Those that apply, ended by one without a name. */
void profile_controls(const struct profile *profile, struct control_row row[CONTROLS_MOST]);

#endif
