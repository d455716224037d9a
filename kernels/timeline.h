/* timeline.h - spans of work by lane, recorded into memory that was allocated before the run.
 *
 * Every figure of time is computed from these spans; nothing is timed twice. A lane is written by one thread
 * at a time, so recording takes neither lock nor allocation. Readers wait until the writers rest: after a block, and
 * after the communication was joined. */
#ifndef TIMELINE_H
#define TIMELINE_H

#include "clock.h"

#include <stddef.h>
#include <stdint.h>

enum timeline_lane {
    LANE_HOST,          /* the training thread: the phases of a step, one after the other, and `ready` marks */
    LANE_COMMUNICATION, /* whoever drives collectives: one span a collective; these may overlap */
    TIMELINE_LANES
};

struct span {
    const char *name;  /* a string that outlives the timeline */
    int64_t queued_ns; /* collectives: when the training thread asked for it; otherwise start_ns */
    int64_t start_ns;  /* collectives: when it was posted */
    int64_t end_ns;    /* collectives: when it was found complete; marks: start_ns */
    size_t bytes;      /* collectives: payload of one rank; otherwise 0 */
    int index;         /* phases: step; collectives: place in the plan; `ready` marks: tensor */
};

struct lane {
    struct span *span; /* [capacity], the first n recorded */
    size_t n, capacity;
    size_t dropped; /* spans that found the lane full */
};

struct timeline {
    struct lane lane[TIMELINE_LANES];
};

/* Reserves (and touches) memory for this many spans a lane; fatal when memory runs out. */
void timeline_create(struct timeline *timeline, const size_t capacity[TIMELINE_LANES]);
void timeline_destroy(struct timeline *timeline); /* a zeroed timeline is fine */

/* Forgets all spans, keeps the memory. Only while no writer is at work. */
void timeline_clear(struct timeline *timeline);

/* Records one span; a full lane counts it as dropped instead. */
static inline void timeline_add(struct timeline *timeline, enum timeline_lane lane, struct span span)
{
    struct lane *l = &timeline->lane[lane];
    if (l->n < l->capacity)
        l->span[l->n++] = span;
    else
        l->dropped++;
}

/* Records a span of the host lane that began at start_ns and ends now; returns now, where the next one begins, so
 * that consecutive phases leave no gap and cost one reading of the clock each. */
static inline int64_t timeline_phase(struct timeline *timeline, const char *name, int64_t start_ns, int step)
{
    int64_t now = clock_now_ns();
    timeline_add(timeline, LANE_HOST, (struct span){name, start_ns, start_ns, now, 0, step});
    return now;
}

#endif
