/* controls.h - what a profile is compared with in interleaved rounds: the same without tracing, the same with its
 * collectives after backward, and `none`. */
#ifndef BENCH_PROFILE_CONTROLS_H
#define BENCH_PROFILE_CONTROLS_H

#include "base/stats.h"
#include "training/training.h"

struct controls {
    int untraced_row, after_backward_row, none_row; /* beside row 0, the profiled one; -1 if there is none */
    int communicates;                               /* more than one rank, and row 0 reduces */
    struct attainable *attainable_of;               /* the times of row 0's collectives alone, and of gradients */
    size_t room;                                    /* rounds that there is room for */
    double *compute;  /* [rows, room] seconds of a step in which operations ran, mean over ranks */
    double *alone;    /* [room] seconds of row 0's collectives alone, slowest rank */
    double *slowdown; /* [room] how much longer row 0's collectives took beside its steps, mean over ranks */

    /* What controls_compute finds, over `rounds` rounds, in seconds and ratios. What does not apply (one rank, nothing
     * to reduce, nothing that overlaps) has n = 0 and NAN. */
    size_t rounds;
    struct estimate step, step_untraced, step_after_backward, step_none, backward_none;
    struct estimate comm_alone;
    struct estimate comm_slowdown;      /* duration of a collective / alone; waiting for a late rank is included */
    struct estimate overlap_efficiency; /* (step_after_backward - step) / min(comm_alone, backward_none), not clamped */
    struct estimate sync_cost;          /* (step_to_none - 1) x median step of none */
    struct estimate profiling_overhead; /* step traced / untraced; this and what follows are geometric means */
    struct estimate step_to_none;       /* step / step of none */
    struct estimate compute_slowdown;   /* compute / compute of none */
    double attainable;
};

/* Room for so many rounds of the rows [n], whose reducers [n] must outlive it, on a model of that many tensors. Release
 * with controls_destroy. */
void controls_create(struct controls *controls, const struct implementation *row, const struct reducer *reducer, int n,
                     int tensors, int ranks, size_t rounds);
void controls_destroy(struct controls *controls);

/* Whether attainable_measure(attainable_of) is to be called after a block of a row, before controls_add_block. */
int controls_measures(const struct controls *controls, int row);

/* Takes a block of `steps` timed steps that is over, its spans still in the timeline; overlap is of all its steps. All
 * ranks call. */
void controls_add_block(struct controls *controls, const struct job *job, const struct timeline *timeline,
                        const struct overlap *overlap, int steps, int row, size_t round);

/* From the rounds that are complete. All ranks call. */
void controls_compute(struct controls *controls, const struct job *job, const struct measurements *measurements);

/* The part of it without ranks: efficiency over n rounds, of seconds step[n], after_backward[n], alone[n] and backward
 * of none[n]. */
struct estimate controls_efficiency(const double *step, const double *after_backward, const double *alone,
                                    const double *backward, size_t n);

#endif
