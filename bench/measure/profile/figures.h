/* figures.h - phases, overlap, collectives and buckets of the captured steps of all ranks. */
#ifndef BENCH_MEASURE_PROFILE_FIGURES_H
#define BENCH_MEASURE_PROFILE_FIGURES_H

#include "profile/capture.h"

/* In seconds a step. */
struct phase_figure {
    const char *name;    /* of the phase, or "step" */
    char usual[32];      /* its usual share of a well-tuned step, and whether this one is outside; "": unknown */
    double mean, median; /* over the steps of all ranks (n = ranks x steps) */
    double least, most;  /* the least and the largest median of a rank */
    double p95_steps;    /* 95th percentile of a rank's steps, on the rank where it is largest */
    int least_rank, most_rank, p95_rank;
    double share; /* of the steps' time */
};

/* Collectives of one payload, over all ranks and steps. Times are medians in seconds over the calls for which they are
 * known; NAN if there is none. */
struct collective_figure {
    enum comm_kind kind;      /* the operation */
    size_t bytes, parameters; /* of one call; parameters: the most of any */
    size_t calls, waited;     /* of all ranks; waited: those that are known to have waited */
    double queued, duration;  /* from the request to the post; from the post to completion */
    double wait, transfer;    /* until the last rank posts, on the other ranks; from then to completion */
    double algbw, busbw;      /* bytes/s of the median duration */
};

struct rank_figure {
    int rank;
    struct overlap mean;                         /* of its steps */
    double offset, drift, drift_error, residual; /* of its clock: seconds; drifts in seconds a second */

    /* Work consists of all phases of a step but gradient_sync and checkpoint, in which ranks wait for each other;
     * seconds, medians over the steps of a rank. The fast ranks are those up to the lower quartile; of four or fewer
     * the fastest. */
    double late;            /* work beyond that of the fast ranks */
    double core_wait;       /* work during which the training thread had no core; 0 on GPUs, where it is not watched */
    double late_in[PHASES]; /* lower quartile of a phase without core_wait, beyond that of the ranks fast in it */
    double saves; /* what a step gains if this rank and all later ones are as fast as the next one: work of the latest
                     rank - work of the next; 0 for a fast rank */
};

/* The phase that a rank is latest in. */
enum step_phase rank_latest_in(const struct rank_figure *rank);

/* A bucket of the plan. Seconds from the step's start, medians over the steps of all ranks. */
struct bucket_figure {
    int bucket, tensors;
    size_t parameters;
    double ready;                /* its last gradient is final */
    double queued, posted, done; /* its collective is requested, posted, complete; queued is NAN on GPUs */
    double exposed;              /* duration of the part without concurrent computation; NAN if unknown */
    double last;                 /* share of the steps in which it was the last to complete */
};

struct profile_figures {
    int first, steps;   /* captured steps that are counted, as in capture.collectives */
    const char *epochs; /* the kind of these steps: "active" or "warm-up" */
    int ranks;
    struct phase_figure phase[PHASES + 1]; /* the last: the step */
    struct rank_figure *rank;              /* [ranks] */
    struct overlap mean;                   /* of the steps of all ranks */
    struct collective_figure *collective;  /* [collectives], the largest payload first */
    int collectives;
    struct bucket_figure *bucket; /* [buckets]; none if nothing is reduced, as on one rank */
    int buckets;
};

/* The mean and the median of seconds[steps] of every rank; NAN if any of them is. All ranks call. */
struct pooled {
    double mean, median;
};
struct pooled pool_steps(const struct job *job, const double *seconds, size_t steps);

/* All ranks call and know the same afterwards. Release with profile_figures_destroy. */
void profile_figures_create(struct profile_figures *figures, const struct job *job, const struct capture *capture);
void profile_figures_destroy(struct profile_figures *figures); /* zeroed ones are fine */

/* Adds the buckets of the captured plan in the order in which backward completes them. Their spans are still in the
 * timeline; computing is as from run_computing. host_is_ahead: the host requests collectives long before the device
 * comes to them, so that `queued` is NAN. All ranks call. */
void profile_figures_add_buckets(struct profile_figures *figures, const struct job *job, const struct capture *capture,
                                 const struct timeline *timeline, const struct plan *plan, const struct lane *computing,
                                 int host_is_ahead);

#endif
