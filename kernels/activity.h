/* activity.h - the records of the vendor's tracer of a GPU and of the host: kernels, copies, calls of the runtime,
 * waits.
 *
 * The tracer writes records into memory that was allocated before, in whatever order it gets them; activities_settle
 * sorts them and finds what each wait waited for. CUDA's tracer is CUPTI; where the program was built without
 * it, activity_absent.c takes its place and reports that. */
#ifndef KERNELS_ACTIVITY_H
#define KERNELS_ACTIVITY_H

#include "kernels/timeline.h"

#include <stddef.h>
#include <stdint.h>

enum activity_kind {
    ACTIVITY_KERNEL,
    ACTIVITY_COPY,
    ACTIVITY_FILL, /* memory set to a value */
    ACTIVITY_CALL, /* of the runtime or the driver, by the host */
    ACTIVITY_WAIT  /* of the host or of a stream, for a stream, an event, or everything */
};

#define ACTIVITY_NONE UINT32_MAX /* a number that the tracer does not know, or that means nothing here */

struct activity {
    enum activity_kind kind;
    uint32_t correlation;     /* the same for a call and what it made the GPU do; rises with every call */
    const char *name;         /* of a kernel, demangled; of a call; in words such as "Memcpy HtoD (Pinned -> Device)" */
    int64_t start_ns, end_ns; /* clock.h's time; of a call and of a wait, the host's */
    uint32_t device, context, stream; /* all but calls; ACTIVITY_NONE where a wait has none */
    uint32_t thread;                  /* calls: the operating system's number */
    /* Places in lanes of a timeline, -1: none, known after activities_attribute: of the operation that made the call or
     * whose call led to this; and of the collective, for kernels of NCCL and the calls that launched them. */
    int operation, collective;
    union {
        struct {
            uint32_t grid[3], block[3];
            uint32_t registers, shared_bytes; /* of a thread; of a block */
        } kernel;
        size_t bytes; /* copies and fills */
        struct {
            uint32_t number;
            int driver, marks, waited; /* of the driver, not the runtime; records an event; which a wait refers to */
        } call;
        struct {
            uint32_t event;       /* which; ACTIVITY_NONE: none */
            uint32_t stream;      /* whose work it waits for: where the event was recorded, */
            uint32_t correlation; /* and by which call; ACTIVITY_NONE until they are known */
        } wait;
    };
};

/* An event that a stream recorded: what a wait for it refers to. */
struct activity_mark {
    uint32_t correlation, context, stream, event;
};

/* Of fixed size: what finds no room is dropped. Names belong to the tracer and outlive the activities. */
struct activities {
    struct activity *of; /* [n], in order of start after activities_settle */
    size_t n, capacity;
    struct activity_mark *mark;
    size_t marks, mark_capacity;
    uint32_t thread; /* that started the tracer: the one that asks for operations */
    size_t dropped;  /* records that found no room, here or in the tracer's memory */
    size_t untimed;  /* records without times: the GPU had no memory left for them */
};

/* Reserves (and touches) memory for that many activities and marks; fatal when memory runs out. */
void activities_create(struct activities *activities, size_t capacity, size_t mark_capacity);
void activities_destroy(struct activities *activities); /* a zeroed one is fine */

/* Adds one; what has no times is counted instead, and so is what finds no room. */
void activities_add(struct activities *activities, const struct activity *activity);
void activities_add_mark(struct activities *activities, const struct activity_mark *mark);

/* The numbers of both; and back to them: forgets those that were added since, keeps the memory. */
struct activities_mark {
    size_t n, marks;
};
struct activities_mark activities_mark(const struct activities *activities);
void activities_rewind(struct activities *activities, const struct activities_mark *mark);

/* Sorts, and finds for each wait for an event the call that recorded it: the last one before the wait. May be called
 * again after more were added. */
void activities_settle(struct activities *activities);

/* Finds the operations and collectives of a timeline that settled records belong to: a call belongs to what the host
 * was asking for when it made it, and the GPU's work to that of its call (by correlation). Fills `operation` and
 * `collective`, and from them
 *   - times of operations that have none: from the start of the first record of their work to the end of the last; of
 *     one without records the end of the one before, without length. Those of ranges: of the operations within;
 *   - times of collectives with kernels of NCCL: the same, in place of stamps, between which the GPU may wait for the
 *     host's launch;
 *   - *work: a span for each record of an operation's work, with the operation's step and number, in order of start;
 *     memory is allocated as needed, free(work->span) at the end.
 * Spans of the lanes of operations and of collectives are in order of queued_ns. May be called again after more were
 * recorded and settled: operations and ranges that have times keep them, also where more records of theirs have come;
 * everything else is found anew from all records. */
void activities_attribute(struct activities *activities, struct timeline *timeline, struct lane *work);

/* ---- the tracer: one at a time in a process ---- */

/* Begins to record into these, which outlive the tracing. Returns 0; or -1, reported: the program was built without a
 * tracer, its library is not there, or another tool has taken the GPU's tracing. */
int tracer_start(struct activities *activities);

/* Hands over what is complete: all, once the device is at rest (synchronize). What comes later is kept back until
 * tracer_resume, so that the activities may be settled and read meanwhile. */
void tracer_pause(void);
void tracer_resume(void);

/* Hands over the rest and ends it. Does nothing if it did not start. */
void tracer_stop(void);

#endif
