/* scaling.h - speed-up and efficiency on more ranks, and the parts of a step that lose time there. */
#ifndef BENCH_READ_REPORT_SCALING_H
#define BENCH_READ_REPORT_SCALING_H

#include "report/runs.h"

/* Intervals are at 95 %; NAN in the base. */
struct scaling_row {
    const struct report_run *run;
    const char *label, *subject; /* of the run; the implementation */
    size_t ranks, hosts;
    struct breakdown breakdown;
    double tokens_s;            /* tokens per second of all ranks: tokens of a step / its time */
    double speedup;             /* tokens_s / that of the base */
    struct measured efficiency; /* speedup / ratio of ranks; the runs count as independent (stats_ratio) */
    double work;                /* tokens of a rank in a step / those of the base */
    struct measured lost_s;     /* step - work x step of the base: seconds a step; below 0: a gain (stats_difference) */
    double lost_part_s[PARTS];  /* lost_s part by part */
};

/* Runs of one mode and workload on at least two numbers of ranks. The base is the first row, with the fewest ranks. All
 * rows are of the implementation that is best on the most ranks, since the best of each run, of several that tie, is
 * the best by chance; only where a run lacks that implementation, each row is of the subject of the run. */
struct scaling {
    const char *mode, *workload, *subject; /* subject "": each row has its own */
    struct scaling_row *row;               /* [n], sorted by ranks; owned */
    size_t n;
};

/* Finds one scaling for each workload, from comparisons if there are any, otherwise from profiles. Returns how many are
 * in *scaling, which the caller frees with scaling_destroy. */
size_t scaling_find(struct scaling **scaling, const struct report_runs *runs);

void scaling_destroy(struct scaling *scaling, size_t n);

#endif
