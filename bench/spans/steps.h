/* steps.h - from the spans of a block to the times of its steps. Pure. */
#ifndef BENCH_SPANS_STEPS_H
#define BENCH_SPANS_STEPS_H

#include "ddp/step.h"

struct step_times {
    int64_t start_ns, end_ns; /* of the step; phases cover it without gaps */
    int64_t phase_ns[PHASES]; /* summed over micro-batches; 0 for a phase that did not occur */
    int64_t backward_end_ns;  /* of the last micro-batch */
};

/* Fills steps[n] from the phases of the host lane that were recorded in steps [0, n). */
void steps_from_timeline(const struct timeline *timeline, struct step_times *steps, int n);

/* Adds to ready_seconds[tensors] how long after its step's start each tensor's gradient was final, divided by `over`,
 * for the steps in slots [first, n). */
void steps_add_ready(const struct timeline *timeline, const struct step_times *steps, int first, int n, double over,
                     double *ready_seconds);

#endif
