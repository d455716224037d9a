/* scaling.h - how fast a step is on more ranks, and what keeps it from being as fast as it should be. */
#ifndef BENCH_READ_REPORT_SCALING_H
#define BENCH_READ_REPORT_SCALING_H

#include "report/runs.h"

struct scaling_row {
    const struct report_run *run;
    const char *subject; /* the implementation */
    struct breakdown breakdown;
    double tokens_s;            /* tokens per second, of all ranks: tokens of a step / its time */
    double speedup, efficiency; /* tokens_s over that of the base; that over the ratio of ranks */
    double interval[2];      /* 95 %, of the efficiency; NAN: none. Of the steps of independent runs, by stats_ratio */
    double work;             /* tokens of a rank in a step, over those of the base */
    double lost_s;           /* step - work x step of the base: seconds a step, below 0 where it gained */
    double lost_interval[2]; /* 95 %, of that, by stats_difference; NAN: none */
    double lost_part_s[PARTS]; /* the same of each part; they add up to it */
};

/* Runs of one kind and workload on at least two numbers of ranks; the base is the first, with the fewest. All are of
 * the implementation that is the best on the most ranks, since the best of each, where several are as good, is the one
 * that was lucky there; only where a run lacks it each is of its own subject. */
struct scaling {
    const char *mode, *workload, *subject; /* "": of each run its own */
    struct scaling_row *row;               /* [n], by ranks; owned */
    size_t n;
};

/* One of each workload, from comparisons where there are any, otherwise from profiles, each run by its subject. Returns
 * how many there are, in *scaling, which the caller frees with scaling_destroy. */
size_t scaling_find(struct scaling **scaling, const struct report_runs *runs);

/* The row with the most tokens per second; of equal ones the last. */
const struct scaling_row *scaling_fastest(const struct scaling *scaling);

/* How many times the throughput of `other` that of `row` is, with its interval. */
struct measured scaling_throughput(const struct scaling_row *row, const struct scaling_row *other);

void scaling_destroy(struct scaling *scaling, size_t n);

#endif
