/* controls.h - what a profile is compared with in interleaved rounds: the same without tracing, the same with its
 * collectives after backward, and `none`. */
#ifndef BENCH_PROFILE_CONTROLS_H
#define BENCH_PROFILE_CONTROLS_H

#include "base/stats.h"
#include "spans/spans.h"
#include "training/attainable.h"

struct controls {
    int untraced_row, off_row, none_row; /* of the run, beside row 0, the profiled one; -1 if there is none */
    struct attainable *plan_times;
    double *compute; /* [rows, rounds] seconds of a step in which operations ran, mean over ranks */
    double *alone;   /* [rounds] seconds of row 0's collectives alone, slowest rank */
    double *slower;  /* [rounds] how much longer row 0's collectives took beside its steps, mean over ranks */

    /* What controls_compute finds, over `rounds` rounds. What does not apply (one rank, nothing to reduce, nothing that
     * overlaps) has n = 0 and NAN. */
    size_t rounds;
    struct paired overhead;         /* step traced / untraced */
    struct paired step_to_none;     /* step / step of none */
    struct paired compute_slowdown; /* compute / compute of none */
    struct estimate comm_slowdown;  /* duration of a collective / alone; waiting for a late rank is in it */
    struct estimate efficiency;     /* (step(off) - step(on)) / min(alone, backward of none), not clamped */
    struct estimate step_on, step_off, step_none, backward_none, comm_alone; /* seconds */
    double attainable;                                                       /* seconds */
};

/* Room for all rounds of a run. Release with controls_destroy, with the same run. */
void controls_create(struct controls *controls, const struct run *run);
void controls_destroy(struct controls *controls, const struct run *run);

/* Takes a block that is over, its spans still in the timeline; times and overlap of all its steps. All ranks call. */
void controls_block(struct controls *controls, struct run *run, const struct step_times *times,
                    const struct overlap *overlap, int implementation, size_t round);

/* From the rounds that are complete. All ranks call. */
void controls_compute(struct controls *controls, const struct run *run);

/* The part of it without ranks: efficiency over n rounds, of seconds on[n], off[n], alone[n] and backward of none[n].
 */
struct estimate controls_efficiency(const double *on, const double *off, const double *alone, const double *backward,
                                    size_t n);

#endif
