/* controls.h - what a profile is compared with in interleaved rounds: the same without tracing, the same with its
 * collectives after backward, and `none`; and whether overlap happened. */
#ifndef CONTROLS_H
#define CONTROLS_H

#include "bound.h"
#include "stats.h"

struct controls {
    int untraced, off, none; /* rows of the run beside row 0; -1 if there is none */
    struct bound *bound;
    double *compute;  /* [rows, rounds] seconds of a step in which operations ran, mean over ranks */
    double *alone;    /* [rounds] seconds of row 0's collectives alone, slowest rank */
    double *slowdown; /* [rounds] of row 0's collectives, mean over ranks */

    /* what controls_compute finds, over `rounds` rounds */
    size_t rounds;
    struct paired overhead;         /* step traced / untraced */
    struct paired cost;             /* step / step of none */
    struct paired compute_slowdown; /* compute / compute of none */
    struct summary comm_slowdown;   /* duration of a collective / alone */
    struct summary efficiency;      /* (step(off) - step(on)) / min(alone, backward of none), not clamped */
    struct summary step_on, step_off, step_none, backward_none, comm_alone; /* seconds */
    double attainable;                                                      /* seconds; NAN if unknown */
};

void controls_create(struct controls *controls, const struct run *run);
void controls_destroy(struct controls *controls, const struct run *run);

/* A hook of run_rounds; context is the controls. */
void controls_block(void *context, struct run *run, const struct step_times *times, int implementation, size_t round);

/* From the rounds that are complete. All ranks call. */
void controls_compute(struct controls *controls, const struct run *run);

#endif
