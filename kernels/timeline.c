/* timeline.c - allocates, clears and truncates the lanes of spans, and replaces tickets by times. */
#include "kernels/timeline.h"

#include "kernels/error.h"

#include <stdlib.h>
#include <string.h>

void timeline_create(struct timeline *timeline, const size_t capacity[TIMELINE_LANES])
{
    for (int i = 0; i < TIMELINE_LANES; i++) {
        struct lane *lane = &timeline->lane[i];
        lane->span = allocate(capacity[i], sizeof *lane->span);
        memset(lane->span, 1, capacity[i] * sizeof *lane->span); /* page faults happen now, not in a step */
        lane->capacity = capacity[i];
        lane->n = lane->dropped = 0;
    }
    timeline->step = 0;
}

void timeline_destroy(struct timeline *timeline)
{
    for (int i = 0; i < TIMELINE_LANES; i++)
        free(timeline->lane[i].span);
    memset(timeline, 0, sizeof *timeline);
}

void timeline_clear(struct timeline *timeline)
{
    for (int i = 0; i < TIMELINE_LANES; i++)
        if (i != LANE_MEMORY)
            timeline->lane[i].n = timeline->lane[i].dropped = 0;
    timeline->step = 0;
}

void timeline_add_memory(struct timeline *timeline, size_t bytes, const void *memory)
{
    int64_t now = clock_now_ns();
    timeline_add(timeline, LANE_MEMORY,
                 (struct span){.name = "allocate",
                               .queued_ns = now,
                               .returned_ns = now,
                               .start_ns = now,
                               .end_ns = now,
                               .size = {[SIZE_BYTES] = bytes, (size_t)(uintptr_t)memory}});
}

void timeline_settle(struct timeline *timeline, int64_t (*time_of)(int64_t ticket))
{
    for (int i = 0; i < TIMELINE_LANES; i++)
        for (size_t j = 0; j < timeline->lane[i].n; j++) {
            struct span *span = &timeline->lane[i].span[j];
            if (span->start_ns < 0)
                span->start_ns = time_of(span->start_ns);
            if (span->end_ns < 0)
                span->end_ns = time_of(span->end_ns);
        }
}

struct timeline_mark timeline_mark(const struct timeline *timeline)
{
    struct timeline_mark mark;
    for (int i = 0; i < TIMELINE_LANES; i++)
        mark.n[i] = timeline->lane[i].n;
    return mark;
}

void timeline_rewind(struct timeline *timeline, const struct timeline_mark *mark)
{
    for (int i = 0; i < TIMELINE_LANES; i++)
        timeline->lane[i].n = mark->n[i];
}
