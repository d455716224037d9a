/* timeline.h - records spans of work, by lane, into memory that is allocated before the run.
 *
 * Every time that is reported is computed from these spans; nothing is timed twice. Only one thread at a time writes a
 * lane, so recording needs no lock. Read spans only while no thread records: after a block, when communication is
 * complete. */
#ifndef KERNELS_TIMELINE_H
#define KERNELS_TIMELINE_H

#include "kernels/clock.h"

#include <stddef.h>
#include <stdint.h>

enum timeline_lane {
    LANE_HOST, /* the training thread: phases of a step, without gaps; marks of final gradients; ranges of the model */
    LANE_COMMUNICATION, /* one span per collective; spans may overlap */
    LANE_COMPUTE,       /* operations of a traced device; on the CPU the training thread runs them */
    LANE_MEMORY,        /* marks: allocations of a traced device at set-up; timeline_clear keeps them */
    TIMELINE_LANES
};

/* Indices of span.size for a collective: bytes and elements of its smaller buffer (struct collective's count), its
 * ticket, its kind and group (enum comm_kind and comm_group), and the number of ranks in the group (0: all ranks). */
enum { SIZE_BYTES, SIZE_ELEMENTS, SIZE_TICKET, SIZE_KIND, SIZE_GROUP, SIZE_RANKS, SPAN_SIZES };

/* Index in span.size of a phase: the ns that the training thread waited for a core, if measured (core_wait.h). */
enum { SIZE_CORE_WAIT };

/* A span of work; or a mark, without length: a gradient is final (ready), or memory is allocated. Times are ns of
 * clock.h; the times of a device may be tickets of its stamps before timeline_settle, or 0 before activities_attribute.
 *
 *              phase, range, operation,      collective of a           ready mark, memory mark
 *              collective of the device      host library
 * queued_ns    when the training thread asked for it                   the host reached it
 * start_ns     the device began it           posted to the library     the device reached it
 * end_ns       the device finished it        found complete            start_ns
 * returned_ns  the training thread continued 0: unknown                the host reached it
 * size         operation: its sizes; collective: SIZE_BYTES and so on; phase: SIZE_CORE_WAIT; memory mark: bytes,
 *              address
 * index        the phase; the operation; the layer of a range, or -1; a collective's bucket, or -1; the tensor of a
 *              ready mark
 *
 * If an operation is complete when its call returns (on the CPU), queued_ns is start_ns and returned_ns is end_ns. */
struct span {
    const char *name; /* a string that outlives the timeline */
    int64_t queued_ns, start_ns, end_ns, returned_ns;
    size_t size[SPAN_SIZES];
    int index;
    int step; /* the step in which the span was recorded, or in which its collective was queued */
};

struct lane {
    struct span *span; /* [capacity]; the first n are recorded */
    size_t n, capacity;
    size_t dropped; /* spans not recorded because the lane was full */
};

struct timeline {
    struct lane lane[TIMELINE_LANES];
    int step; /* the current step; only the training thread uses it */
};

/* Allocates (and touches) memory for this many spans per lane; fatal when memory runs out. */
void timeline_create(struct timeline *timeline, const size_t capacity[TIMELINE_LANES]);
void timeline_destroy(struct timeline *timeline); /* a zeroed timeline is fine */

/* Discards the spans of all steps but keeps the memory. Call it only while no thread records. */
void timeline_clear(struct timeline *timeline);

/* Records one span, in the step span.step; if the lane is full, only counts the span as dropped. */
static inline void timeline_add_in_step(struct timeline *timeline, enum timeline_lane lane, struct span span)
{
    struct lane *l = &timeline->lane[lane];
    if (l->n < l->capacity)
        l->span[l->n++] = span;
    else
        l->dropped++;
}

/* Records one span in the current step. */
static inline void timeline_add(struct timeline *timeline, enum timeline_lane lane, struct span span)
{
    span.step = timeline->step;
    timeline_add_in_step(timeline, lane, span);
}

/* Records a mark on the memory lane for an allocation of `bytes` bytes at the address `memory`. */
void timeline_add_memory(struct timeline *timeline, size_t bytes, const void *memory);

/* Replaces the tickets of a device's stamps (below 0) by their times, which time_of must know. */
void timeline_settle(struct timeline *timeline, int64_t (*time_of)(int64_t ticket));

/* timeline_mark returns the number of spans in each lane; timeline_rewind truncates the lanes to these numbers. */
struct timeline_mark {
    size_t n[TIMELINE_LANES];
};
struct timeline_mark timeline_mark(const struct timeline *timeline);
void timeline_rewind(struct timeline *timeline, const struct timeline_mark *mark);

#endif
