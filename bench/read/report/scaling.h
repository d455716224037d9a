/* scaling.h - computes speed-up and efficiency on more ranks, and which parts of a step lose time. */
#ifndef BENCH_READ_REPORT_SCALING_H
#define BENCH_READ_REPORT_SCALING_H

#include "report/runs.h"

/* A run compared with the base, the run on the fewest ranks. Intervals are at 95 %. */
struct scaling_row {
    const struct report_run *run;
    const char *label, *subject; /* label: of the run; subject: the implementation */
    size_t ranks, hosts;
    struct breakdown breakdown;
    double sequences;           /* of a rank in a step */
    double tokens_s;            /* tokens per second of all ranks */
    double speedup;             /* tokens_s / tokens_s of the base */
    struct measured efficiency; /* speedup / (ranks / ranks of the base); assumes independent runs (stats_ratio) */
    double work;                /* tokens of a rank in a step / tokens of a rank of the base in a step */
    struct measured lost_s;     /* step - work x the base's step, seconds; below 0: a gain (stats_difference) */
    double lost_part_s[PARTS];  /* part - work x the base's part, seconds, for each part of the step */
};

/* Runs of one mode and workload on at least two numbers of ranks. Row 0 is the base, with the fewest ranks. All rows
 * show the implementation that is best on the most ranks: if each row showed the best of its run, chance would choose
 * among implementations that tie. If a run lacks it, each row shows its own run's subject. */
struct scaling {
    const char *subject;     /* implementation of all rows; "": each row has its own */
    struct scaling_row *row; /* [n], sorted by ranks */
    size_t n;                /* 0: there are no such runs */
};

/* Compares the runs with the workload of the first of them: runs of the benchmark or, if these are on one number of
 * ranks only, profiles. The caller frees the rows. */
struct scaling scaling_find(const struct report_runs *runs);

#endif
