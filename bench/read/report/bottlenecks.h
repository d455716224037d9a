/* bottlenecks.h - finds where runs lose time: the findings of profiles, and losses computed from other runs. */
#ifndef BENCH_READ_REPORT_BOTTLENECKS_H
#define BENCH_READ_REPORT_BOTTLENECKS_H

#include "report/scaling.h"
#include "results/criteria.h"

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

/* Finds one bottleneck for each loss of time, by the rules on the page of report (README.md, Top bottlenecks): every
 * finding of every profile, unchanged; "communication", "data loading" and "checkpoints" of the best implementation of
 * a comparison (of the first, if there is no best; communication only of the best); and "slower computation" on more
 * ranks than the base of the scaling. The caller frees item. */
struct bottlenecks bottlenecks_find(const struct report_runs *runs, const struct scaling *scaling);

#endif
