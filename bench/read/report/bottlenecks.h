/* bottlenecks.h - finds where runs lose time: the findings of profiles, and losses computed from other runs. */
#ifndef BENCH_READ_REPORT_BOTTLENECKS_H
#define BENCH_READ_REPORT_BOTTLENECKS_H

#include "report/scaling.h"
#include "results/findings.h"

struct bottleneck {
    struct finding finding;      /* the first member, where finding_compare reads it */
    char label[RUN_LABEL + 130]; /* the run that loses the time, and in a profile its implementation (run_words) */
    const char *mode;
    size_t ranks;
    const char *level; /* level of the finding, as text */
};

struct bottlenecks {
    struct bottleneck *item; /* [n], sorted by finding_compare */
    size_t n;
};

/* Finds one bottleneck for each loss of time:
 * - every finding of every profile, unchanged;
 * - "communication": sync_cost of the best implementation of a comparison, from 6 rounds on, a note if not significant;
 *   if the run lacks `none`, which sync_cost needs, gradient_sync and parameter_gather, if above 20 % of the step;
 * - "data loading" of that implementation (or of the first, if there is no best), if above 10 % of the step;
 * - "checkpoints" of that implementation, if above 10 % of the step;
 * - "slower computation" on more ranks than the base of the scaling, if significant and above 5 % of the base's step.
 * "communication", "data loading" and "slower computation" are left out if a profile with the same label and number of
 * ranks found their cause: "exposed communication", "data loading" or "CPU contention". Their level is high above 20 %
 * of the step, warning above 5 %, otherwise note; on a busy machine all are notes (busy_is). The caller frees item. */
struct bottlenecks bottlenecks_find(const struct report_runs *runs, const struct scaling *scaling);

#endif
