/* bottlenecks.h - where runs lose time, the costliest first. */
#ifndef BENCH_READ_REPORT_BOTTLENECKS_H
#define BENCH_READ_REPORT_BOTTLENECKS_H

#include "report/scaling.h"

struct bottleneck {
    const struct report_run *run; /* that the figure is from */
    char name[32];                /* as a profile's findings */
    const char *words;            /* the name in plain language */
    char level[12];               /* high: above 20 % of the step, warning: above 5 %, note: below or not significant;
                                     of a loss that is not known, as the profile says */
    double lost_s;                /* by how much a step is longer because of it; NAN: not known */
    double interval[2];           /* its 95 %; NAN: none */
    double share;                 /* lost_s / the step */
    char text[900];               /* the figure in words: of what, which ranks */
    char advice[320];
};

struct bottlenecks {
    struct bottleneck *item; /* [n], owned; by lost_s, then those that may be nothing, and the unknown ones by level */
    size_t n;
};

/* Of all runs, one for each loss, named by its cause:
 * - what each profile found, with the gain that it gives; of communication what its rounds without any say instead,
 * where there are such, and what its collectives take by themselves;
 * - of comparisons the communication of the best implementation (sync_cost), and its data loading from 10 % of the step
 *   on, each unless a profile of that label and as many ranks has found it;
 * - where runs on several numbers of ranks were compared, computation that takes significantly longer than there, and
 * at least 5 % of the base's step; where a profile of that label found that ranks had no core, this is part of that.
 * Release with bottlenecks_destroy. */
void bottlenecks_find(struct bottlenecks *found, const struct report_runs *runs, const struct scaling *scaling,
                      size_t scalings);
void bottlenecks_destroy(struct bottlenecks *found);

/* Its interval does not reach 0, if it has one. */
int bottleneck_is_significant(const struct bottleneck *bottleneck);

#endif
