/* controls.h - compares a captured implementation, in interleaved rounds, with three controls: itself without tracing,
 * itself with its collectives after backward, and `none`. */
#ifndef BENCH_MEASURE_PROFILE_CONTROLS_H
#define BENCH_MEASURE_PROFILE_CONTROLS_H

#include "base/figures.h"
#include "ddp/device_limits.h"
#include "profile/profile.h"
#include "results/saved_run.h"

/* What was profiled, and on which machine. */
struct profile_facts {
    const struct implementation *row; /* the implementation, and its label */
    const char *label;
    const struct traits *traits;     /* of the strategy that is used (strategy_used) */
    int buckets;                     /* number of buckets in the plan */
    int ranks, hosts, machine_ranks; /* machine_ranks: number of ranks on rank 0's machine */
    int on_gpu, comm_on_device;      /* comm_on_device 1: the device itself communicates (struct comm) */
    int has_synthetic_data;
    int busy;                         /* 1: other processes used the machine (busy_is) */
    struct control_group_stops stops; /* by CPU quotas since the run's first measurement */
    struct delays delays;             /* --inject-delay */
    char tune[TUNE_COMMAND];          /* the command that tunes this model (saved_run_tune) */
    int threads;                      /* threads of a rank */
    double cores_per_rank;
    double tokens, flops;        /* tokens of all ranks per step; FLOP of the model per step */
    struct device_limits limits; /* of a rank's products and memory, before the run */
    size_t block_steps;          /* timed steps in a block */
    size_t memory_bytes;         /* memory of rank 0's GPU or machine; 0: unknown */
    size_t peak_bytes;           /* most bytes in use so far (open_device_memory), on the rank with the most */
};

/* Indices of a captured row and of its controls among the rows of a run; -1: that control is not needed. */
struct profile_rows {
    int captured, untraced, after_backward, none;
};

/* Finds a captured row's controls in row[n] (profile_rows_make). `none` is found only if the captured row reduces. */
struct profile_rows profile_rows_find(const struct implementation *row, int n, int captured);

/* Untraced blocks before the first start of CUPTI, whose hooks may stay in the process; at least STATS_LEAST. */
enum { BLOCKS_BEFORE_TRACER = 7 };

struct controls {
    struct profile_rows rows;
    int communicates;                       /* 1: more than one rank, and the captured row reduces */
    const struct attainable *attainable_of; /* attainable step times of all rows of the run */
    size_t others_bytes; /* bytes that other rows' reducers have from the comm: a rank's, or of all ranks on this GPU */

    /* Series [rounds]: seconds in a step of the captured row, means over ranks (unless stated otherwise). */
    double *all_series;             /* owns the memory of the series below */
    double *compute, *compute_none; /* time in which operations ran; compute_none: in a step of `none` */
    double *exposed, *overlap;      /* `exposed` and `overlap` of struct overlap */
    double *alone;                  /* sum of the times of the row's reductions, each run alone, on the slowest rank */
    double *slowdown;               /* time of a collective in the step / its time alone */
    double *peak;                   /* bytes in use minus others_bytes, on the rank with the most */
    double before[BLOCKS_BEFORE_TRACER]; /* [n_before] seconds of an untraced step before the tracer's first start */
    size_t n_before;                     /* 0 or BLOCKS_BEFORE_TRACER */

    /* Results over `rounds` rounds, in seconds or as ratios. They are geometric means, except exposed, overlap and
     * peak, which may be 0 and are medians. control_results explains each. A result that does not apply (one rank,
     * nothing to reduce, nothing that overlaps) has n = 0 and NAN. */
    size_t rounds;
    struct estimate step, step_before_tracer, step_untraced, step_after_backward, step_none, backward_none;
    struct estimate forward, backward, exposed_of_rounds, overlap_of_rounds, peak_bytes;
    struct estimate comm_alone, saved, sync_cost, attainable;
    struct estimate overlap_efficiency; /* saved / min(comm_alone, backward_none), not clamped */
    struct estimate comm_slowdown;      /* includes waiting for stragglers */
    struct estimate profiling_overhead, tracer_residue, step_to_none, compute_slowdown, step_to_attainable;
};

/* Makes room for `room` rounds in controls whose first four members are set and whose others are 0. What attainable_of
 * points to must outlive the controls. Release with controls_destroy. */
void controls_create(struct controls *controls, size_t room);
void controls_destroy(struct controls *controls); /* zeroed controls are fine */

/* Returns whether a row is the captured row or one of its controls. */
int controls_include(const struct controls *controls, int row);

/* Returns whether a row's blocks need attainable_measure: if ranks communicate, the captured row and `none` do. */
int controls_measure_alone(const struct controls *controls, int row);

/* Adds a block, with `timed` timed steps, of a row for which controls_include returns 1. The spans of the block must
 * still be in the timeline, and its collectives must have been measured alone (attainable_measure). All ranks call. */
void controls_add_block(struct controls *controls, const struct job *job, const struct timeline *timeline,
                        const struct block *block, int timed);

/* Computes the results (struct controls) from the complete rounds. All ranks call. */
void controls_compute(struct controls *controls, const struct job *job, const struct measurements *measurements);

/* How a result is shown as a figure and as a row of a table. control_estimate returns its estimate. */
struct control_result {
    const char *subject, *figure; /* subject NULL: the label of the implementation */
    const char *name, *meaning;   /* texts of the row in a table; name NULL: the label; meaning NULL: no row */
    const char *unit;
    size_t offset; /* offset of the estimate in struct controls */
    enum better better;
};
enum { CONTROL_RESULTS = 17 };
extern const struct control_result control_results[CONTROL_RESULTS];
static inline const struct estimate *control_estimate(const struct controls *controls, const struct control_result *r)
{
    return (const struct estimate *)((const char *)controls + r->offset);
}

#endif
