/* buckets.h - the buckets of a plan one by one. */
#ifndef BENCH_MEASURE_PROFILE_BUCKETS_H
#define BENCH_MEASURE_PROFILE_BUCKETS_H

#include "profile/capture.h"

struct profile_figures;

/* A bucket of the plan. Seconds from the step's start, medians over the steps of all ranks. */
struct bucket_figure {
    int bucket, tensors;
    size_t parameters;
    double ready;                /* its last gradient is final */
    double queued, posted, done; /* its collective is requested, posted, complete; queued is NAN on GPUs */
    double exposed;              /* duration of the part without concurrent computation; NAN if unknown */
    double last;                 /* share of the steps in which it was the last to complete */
};

/* Adds the buckets of the captured plan in the order in which backward completes them. Their spans are still in the
 * timeline; computing is as from run_computing. host_is_ahead: the host requests collectives long before the device
 * comes to them, so that `queued` is NAN. All ranks call. */
void profile_figures_add_buckets(struct profile_figures *figures, const struct job *job, const struct capture *capture,
                                 const struct timeline *timeline, const struct plan *plan, const struct lane *computing,
                                 int host_is_ahead);

#endif
