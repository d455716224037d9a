/* steps.c - from the spans of a block to the times of its steps. */
#include "steps.h"

#include <string.h>

void steps_from_timeline(const struct timeline *timeline, struct step_times *steps, int n)
{
    const struct lane *lane = &timeline->lane[LANE_HOST];
    memset(steps, 0, (size_t)n * sizeof *steps);
    for (size_t i = 0; i < lane->n; i++) {
        const struct span *span = &lane->span[i];
        if (span->name == ready_name)
            continue;
        struct step_times *step = &steps[span->index];
        for (int p = 0; p < PHASES; p++)
            if (span->name == phase_name[p])
                step->phase_ns[p] += span->end_ns - span->start_ns;
        if (!step->start_ns)
            step->start_ns = span->start_ns;
        if (span->name == phase_name[PHASE_BACKWARD])
            step->backward_end_ns = span->end_ns;
        step->end_ns = span->end_ns;
    }
}

void steps_add_ready(const struct timeline *timeline, const struct step_times *steps, int first, int n, double over,
                     double *ready_seconds)
{
    const struct lane *lane = &timeline->lane[LANE_HOST];
    int slot = 0; /* marks carry the tensor, so the step is told by the spans before them */
    for (size_t i = 0; i < lane->n; i++) {
        const struct span *span = &lane->span[i];
        if (span->name != ready_name)
            continue;
        while (slot + 1 < n && span->start_ns >= steps[slot + 1].start_ns)
            slot++;
        if (slot >= first)
            ready_seconds[span->index] += 1e-9 * (double)(span->start_ns - steps[slot].start_ns) / over;
    }
}
