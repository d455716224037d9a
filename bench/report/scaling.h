/* scaling.h - how fast a step is on more ranks, and what keeps it from being as fast as it should be. */
#ifndef BENCH_REPORT_SCALING_H
#define BENCH_REPORT_SCALING_H

#include "report/runs.h"

struct scaling_row {
    const struct report_run *run;
    struct breakdown breakdown;
    double tokens_s;            /* tokens per second, of all ranks: tokens of a step / its time */
    double speedup, efficiency; /* tokens_s over that of the base; that over the ratio of ranks */
    double interval[2];         /* 95 %, of the efficiency; NAN: none. Of the logarithm, from the steps' intervals
                                   as those of independent runs, added in quadrature */
    double work;                /* tokens of a rank in a step, over those of the base */
    double lost_s;              /* step - work x step of the base: seconds a step, below 0 where it gained */
    double lost_part_s[PARTS];  /* the same of each part; they add up to it */
};

/* Runs of one kind and workload on at least two numbers of ranks; the base is the first, with the fewest. */
struct scaling {
    const char *mode, *workload;
    struct scaling_row *row; /* [n], by ranks; owned */
    size_t n;
};

/* One of each workload, from comparisons where there are any, otherwise from profiles, each run by its subject. Returns
 * how many there are, in *scaling, which the caller frees with scaling_destroy. */
size_t scaling_find(struct scaling **scaling, const struct report_runs *runs);
void scaling_destroy(struct scaling *scaling, size_t n);

#endif
