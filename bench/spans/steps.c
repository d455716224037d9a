/* steps.c - from the spans of a block to the times of its steps. */
#include "spans/spans.h"

#include <string.h>

void steps_from_timeline(const struct timeline *timeline, struct step_times *steps, int n)
{
    const struct lane *lane = &timeline->lane[LANE_HOST];
    memset(steps, 0, (size_t)n * sizeof *steps);
    for (size_t i = 0; i < lane->n; i++) {
        const struct span *span = &lane->span[i];
        int phase = step_phase_of(span);
        if (phase < 0 || span->step >= n)
            continue;
        struct step_times *step = &steps[span->step];
        step->phase_ns[phase] += span->end_ns - span->start_ns;
        if (!step->start_ns)
            step->start_ns = span->start_ns;
        if (phase == PHASE_BACKWARD)
            step->backward_end_ns = span->end_ns;
        step->end_ns = span->end_ns;
    }
}

void steps_add_ready(const struct timeline *timeline, const struct step_times *steps, int first, int n, double divisor,
                     double *ready_seconds)
{
    const struct lane *lane = &timeline->lane[LANE_HOST];
    for (size_t i = 0; i < lane->n; i++) {
        const struct span *span = &lane->span[i];
        if (span->name == ready_name && span->step >= first && span->step < n)
            ready_seconds[span->index] += 1e-9 * (double)(span->start_ns - steps[span->step].start_ns) / divisor;
    }
}
