/* figures.h - phases, overlap, collectives and buckets of the captured steps of all ranks. */
#ifndef BENCH_MEASURE_PROFILE_FIGURES_H
#define BENCH_MEASURE_PROFILE_FIGURES_H

#include "profile/capture.h"

/* A phase of the step; times are seconds per step. */
struct phase_figure {
    const char *name;    /* name of the phase, or "step" */
    double mean, median; /* mean and median over the steps of all ranks */
    double least, most;  /* smallest and largest of the ranks' medians */
    double p95_steps;    /* 95th percentile over the steps of a rank, the largest of any rank */
    int least_rank, most_rank, p95_rank;
    double share; /* share of the step's time */
};

/* The collectives of one operation and message size, over all ranks and counted steps. Times are medians in seconds
 * over the calls for which they are known; NAN if there are no such calls. */
struct collective_figure {
    enum comm_kind kind; /* the operation */
    enum comm_group group;
    const char *kind_name;
    int ranks;                /* number of ranks that take part in a call */
    size_t bytes, parameters; /* bytes: size of the message; parameters: the most in any call */
    size_t calls, known;      /* calls of all ranks; known: those whose wait is known (collective_wait) */
    double queued, duration;  /* queued: from request to post; duration: from post to completion */
    double wait, transfer; /* wait: from a rank's post to the last rank's post, 0 if that is too short for the clocks;
                              transfer: duration - wait */
    double algbw, busbw;   /* bytes / second at the median duration */
};

struct rank_figure {
    int rank;
    struct overlap mean;                         /* means over the rank's counted steps */
    double copies;                               /* seconds of copies between host and GPU in a step; NAN: not traced */
    double offset, drift, drift_error, residual; /* s, of the rank's clock; drift, drift_error: s per s */

    /* Work: the time of a step without its waits (phase_is_wait) and checkpoint, in which ranks wait for each other.
     * Times are in seconds, medians over the steps of a rank. The time of the fast ranks is the lower quartile over
     * ranks; with four or fewer ranks, the fastest rank's time. */
    double step, backward;  /* median step; mean backward pass */
    double late;            /* work of this rank - work of the fast ranks; at least 0 */
    double core_wait;       /* time in the work that the training thread waited for a core; 0 on GPUs (not watched) */
    double late_in[PHASES]; /* lower quartile over steps of (phase - wait for a core), minus the fast ranks' value */
    double saves; /* how much shorter a step would be if this rank and all slower ones were as fast as the next faster
                     rank: work of the slowest rank - work of the next faster; 0 for a fast rank */
};

/* Returns the phase with the largest late_in. */
enum step_phase rank_latest_in(const struct rank_figure *rank);

/* When the last gradient of a bucket is final; when its collective is requested (NAN on GPUs), posted and complete:
 * seconds from the step's start. For how many seconds the collective is in flight without concurrent computation (NAN:
 * unknown). Whether the bucket completed last: 1 or 0. */
enum bucket_time { BUCKET_READY, BUCKET_QUEUED, BUCKET_POSTED, BUCKET_DONE, BUCKET_EXPOSED, BUCKET_LAST, BUCKET_TIMES };

/* A bucket of the plan. */
struct bucket_figure {
    int bucket, tensors;
    size_t parameters;
    double time[BUCKET_TIMES]; /* medians over the steps of all ranks; BUCKET_LAST: the share of steps */
};

struct profile_figures {
    int first, steps;   /* counted steps: `steps` captured steps from number `first` on (struct collectives) */
    const char *epochs; /* kind of the counted steps: "active" or "warm-up" */
    int ranks;
    struct phase_figure phase[PHASES + 1]; /* [PHASES] is the whole step */
    double communication_ratio;            /* (gradient_sync + parameter_gather) / step: waits for communication */
    struct rank_figure *rank;              /* [ranks] */
    struct overlap mean;                   /* mean overlap of the steps of all ranks */
    struct collective_figure *collective;  /* [collectives], largest message first */
    int collectives, several_kinds;        /* several_kinds 1: the collectives are of more than one kind */
    struct bucket_figure *bucket;          /* [buckets]; none if nothing is reduced, or the job has one rank */
    int buckets;
};

/* pool_steps returns the mean and median of seconds[steps] over all ranks; NAN if any value is NAN. All ranks call. */
struct pooled {
    double mean, median;
};
struct pooled pool_steps(const struct job *job, const double *seconds, size_t steps);

/* Computes all figures except the buckets. All ranks call and get equal figures. Release: profile_figures_destroy. */
void profile_figures_create(struct profile_figures *figures, const struct job *job, const struct capture *capture);
void profile_figures_destroy(struct profile_figures *figures); /* zeroed figures are fine */

/* Adds the buckets of the captured plan, in the order in which backward completes them, from the spans that are still
 * in its timeline. computing: the lane from recorder_computing. host_is_ahead 1: the host requests collectives long
 * before the device runs them, so `queued` is NAN. shards 1: all-gathers gather weights. All ranks call. */
void profile_figures_add_buckets(struct profile_figures *figures, const struct job *job, const struct capture *capture,
                                 const struct plan *plan, const struct lane *computing, int host_is_ahead, int shards);

#endif
