/* bottlenecks.h - where runs lose time: the findings of profiles, and those that follow from several runs. */
#ifndef BENCH_READ_REPORT_BOTTLENECKS_H
#define BENCH_READ_REPORT_BOTTLENECKS_H

#include "report/scaling.h"

struct bottleneck {
    struct finding finding;       /* first, for finding_compare */
    const struct report_run *run; /* where it was found */
    const char *label, *mode;     /* of the run */
    size_t ranks;
    const char *level; /* of the finding, as text */
};

struct bottlenecks {
    struct bottleneck *item; /* [n], owned; sorted by finding_compare */
    size_t n;
};

/* Finds one bottleneck for each loss:
 * - every finding of every profile, unchanged;
 * - "communication" of the best implementation of a comparison (sync_cost), where it is significant, and its "data
 *   loading" from 10 % of the step on; each unless a profile of that label on as many ranks found the same;
 * - "slower computation" on more ranks, where runs on several numbers of ranks were compared, it is significant and at
 *   least 5 % of the base's step; unless a profile of that label on as many ranks found CPU contention, which is the
 * cause. Bottlenecks that are not a profile's are high above 20 % of the step, a warning above 5 %. Release with
 * bottlenecks_destroy. */
void bottlenecks_find(struct bottlenecks *found, const struct report_runs *runs, const struct scaling *scaling,
                      size_t scalings);
void bottlenecks_destroy(struct bottlenecks *found);

#endif
