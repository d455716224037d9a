/* timeline.h - spans of work by lane, recorded into memory that was allocated before the run.
 *
 * Every figure of time is computed from these spans; nothing is timed twice. A lane is written by one thread
 * at a time, so recording takes neither lock nor allocation. Readers wait until the writers rest: after a block, and
 * after the communication was joined. */
#ifndef KERNELS_TIMELINE_H
#define KERNELS_TIMELINE_H

#include "kernels/clock.h"

#include <stddef.h>
#include <stdint.h>

enum timeline_lane {
    LANE_HOST, /* the training thread: the phases of a step without gaps, `ready` marks, and the model's ranges */
    LANE_COMMUNICATION, /* whoever drives collectives: one span a collective; these may overlap */
    LANE_COMPUTE,       /* operations of the device, while they are traced; on the CPU the training thread runs them */
    LANE_MEMORY,        /* marks: what a traced device allocated, at set-up; kept when the others are cleared */
    TIMELINE_LANES
};

/* What a collective keeps in span.size. */
enum { SIZE_BYTES, SIZE_ELEMENTS, SIZE_TICKET, SPAN_SIZES = 4 };

struct span {
    const char *name;        /* a string that outlives the timeline */
    int64_t queued_ns;       /* when the training thread asked for it */
    int64_t start_ns;        /* when the device began it; collectives of a host library: when it was posted. This and
                                end_ns are tickets of the device's stamps until timeline_settle */
    int64_t end_ns;          /* when the device had done it; collectives of a host library: when it was found complete;
                                marks: start_ns */
    size_t size[SPAN_SIZES]; /* collectives: payload of one rank, elements, ticket; operations: their sizes; memory:
                                bytes, address */
    int index;               /* phases: which; collectives: place in the plan; marks: tensor; ranges: layer or -1;
                                operations: which */
    int step;                /* the step that it was recorded in */
    int64_t returned_ns;     /* phases, ranges, operations, collectives of the device itself: when the training thread
                                went on; where the device finishes before it returns, queued_ns and returned_ns are
                                start_ns and end_ns */
};

struct lane {
    struct span *span; /* [capacity], the first n recorded */
    size_t n, capacity;
    size_t dropped; /* spans that found the lane full */
};

struct timeline {
    struct lane lane[TIMELINE_LANES];
    int step; /* the step that spans are recorded in; changed only while nothing is in flight */
};

/* Reserves (and touches) memory for this many spans a lane; fatal when memory runs out. */
void timeline_create(struct timeline *timeline, const size_t capacity[TIMELINE_LANES]);
void timeline_destroy(struct timeline *timeline); /* a zeroed timeline is fine */

/* Forgets the spans of all steps, keeps the memory. Only while no writer is at work. */
void timeline_clear(struct timeline *timeline);

/* Records one span, in the current step; a full lane counts it as dropped instead. */
static inline void timeline_add(struct timeline *timeline, enum timeline_lane lane, struct span span)
{
    struct lane *l = &timeline->lane[lane];
    span.step = timeline->step;
    if (l->n < l->capacity)
        l->span[l->n++] = span;
    else
        l->dropped++;
}

/* Replaces tickets of a device's stamps (times below 0) by what time_of says of them, once that is known. */
void timeline_settle(struct timeline *timeline, int64_t (*time_of)(int64_t ticket));

/* How many spans each lane holds, and back to that many: forgets those that were added since. */
struct timeline_mark {
    size_t n[TIMELINE_LANES];
};
struct timeline_mark timeline_mark(const struct timeline *timeline);
void timeline_rewind(struct timeline *timeline, const struct timeline_mark *place);

#endif
