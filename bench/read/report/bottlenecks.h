/* bottlenecks.h - finds where runs lose time: findings of profiles, and further ones from comparing several runs. */
#ifndef BENCH_READ_REPORT_BOTTLENECKS_H
#define BENCH_READ_REPORT_BOTTLENECKS_H

#include "report/scaling.h"

struct bottleneck {
    struct finding finding;       /* the first member, where finding_compare reads it */
    const struct report_run *run; /* run that has the finding */
    const char *label, *mode;     /* label and mode of the run */
    size_t ranks;
    const char *level; /* level of the finding, as text */
};

struct bottlenecks {
    struct bottleneck *item; /* [n], owned; sorted by finding_compare */
    size_t n;
};

/* Finds one bottleneck for each loss of time:
 * - every finding of every profile, unchanged;
 * - "communication": the cost of the best implementation of a comparison (sync_cost), if significant;
 * - "data loading": the time that the same implementation waits for data, if more than 10 % of the step;
 * - "slower computation" on more ranks than the base, if significant and more than 5 % of the base's step.
 * If a profile with the same label and number of ranks found "exposed communication" or "data loading", the finding
 * replaces the comparison's; "CPU contention", the cause, replaces "slower computation". Bottlenecks without a profile
 * are high above 20 % of the step, warnings above 5 %. Release with bottlenecks_destroy. */
void bottlenecks_find(struct bottlenecks *found, const struct report_runs *runs, const struct scaling *scaling,
                      size_t scalings);
void bottlenecks_destroy(struct bottlenecks *found);

#endif
