/* buckets.h - the buckets of a plan one by one. */
#ifndef BENCH_MEASURE_PROFILE_BUCKETS_H
#define BENCH_MEASURE_PROFILE_BUCKETS_H

#include "profile/capture.h"

struct profile_figures;

/* A bucket of the plan, in the order in which backward completes them. Seconds from the step's start, medians over the
 * steps of all ranks. */
struct bucket_figure {
    int bucket, tensors;
    size_t parameters;
    double ready, queued, posted,
        done; /* its last gradient is final; its collective is asked for, posted, complete; queued is NAN on GPUs */
    double exposed; /* of the collective's time: without computation beside it; NAN if unknown */
    double last;    /* share of the steps in which no collective was done later */
};

/* Adds the buckets of the plan that was captured, whose spans are still in the timeline; computing is as of
 * run_computing; host_is_ahead of the device, so that when it asked for a collective says nothing. All ranks call. */
void profile_figures_add_buckets(struct profile_figures *figures, const struct job *job, const struct capture *capture,
                                 const struct timeline *timeline, const struct plan *plan, const struct lane *computing,
                                 int host_is_ahead);

#endif
