/* bottlenecks.h - where runs lose time, the costliest first. */
#ifndef BENCH_REPORT_BOTTLENECKS_H
#define BENCH_REPORT_BOTTLENECKS_H

#include "report/scaling.h"

struct bottleneck {
    const struct report_run *run;
    char name[32], level[12]; /* as a profile's findings: high, warning, note */
    double lost_s;            /* what a step would be shorter without it, at most; NAN: unknown */
    double interval[2];       /* its 95 %; NAN: none */
    double share;             /* lost_s / the step */
    char text[700];           /* the figure in words: of what, which ranks */
    char advice[320];
};

struct bottlenecks {
    struct bottleneck *item; /* [n], owned; by lost_s, the unknown ones last, by level */
    size_t n;
};

/* Of all runs:
 * - what each profile found, with the gain that it gives;
 * - of comparisons the communication of the best implementation (sync_cost), unless a profile of that label and as many
 *   ranks says what is exposed, and its data loading from 10 % of the step on;
 * - where runs on several numbers of ranks were compared, computation that takes at least 5 % of the base's step longer
 *   than there.
 * Release with bottlenecks_destroy. */
void bottlenecks_find(struct bottlenecks *found, const struct report_runs *runs, const struct scaling *scaling,
                      size_t scalings);
void bottlenecks_destroy(struct bottlenecks *found);

#endif
