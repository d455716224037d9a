/* activity.h - the records of the GPU vendor's tracer: kernels, copies, calls of the runtime, waits.
 *
 * The tracer writes records, in any order, into memory that was allocated beforehand; activities_settle sorts them and
 * finds the event that each wait refers to. CUDA's tracer is CUPTI, in the CUDA parts of the program (cuda_parts.h). */
#ifndef KERNELS_ACTIVITY_H
#define KERNELS_ACTIVITY_H

#include "kernels/timeline.h"

#include <stddef.h>
#include <stdint.h>

enum activity_kind {
    ACTIVITY_KERNEL,
    ACTIVITY_COPY,
    ACTIVITY_FILL, /* memset */
    ACTIVITY_CALL, /* the host calls the runtime or the driver */
    ACTIVITY_WAIT  /* the host or a stream waits for a stream, an event, or all work */
};

/* Returns 1 for work of the GPU: a kernel, copy or fill. */
static inline int activity_on_gpu(enum activity_kind kind)
{
    return kind == ACTIVITY_KERNEL || kind == ACTIVITY_COPY || kind == ACTIVITY_FILL;
}

#define ACTIVITY_NONE UINT32_MAX /* stands for a number that is unknown or does not apply */

struct activity {
    enum activity_kind kind;
    uint32_t correlation; /* links a call to the GPU's work that it started; increases with every call */
    const char *name;     /* name of a kernel (demangled) or a call, or text like "Memcpy HtoD (Pinned -> Device)" */
    int64_t start_ns, end_ns; /* in clock.h's time; calls and waits: times on the host */
    /* device, context and stream of GPU work, or the ones that a wait names (ACTIVITY_NONE: none); unused for calls */
    uint32_t device, context, stream;
    uint32_t thread; /* calls: the operating system's id of the calling thread */
    /* Indices of spans in their timeline lanes, set by activities_attribute; -1: none. operation: the operation that
     * made this call, or whose call started this work. collective: the collective of an NCCL kernel, or of the call
     * that launched it. */
    int operation, collective;
    union {
        struct {
            uint32_t grid[3], block[3];
            uint32_t registers, shared_bytes; /* registers: per thread; shared_bytes: per block */
        } kernel;
        size_t bytes; /* size of copies and fills */
        struct {
            uint32_t number; /* the call's number in the tracer's library */
            /* driver: 1 if the call goes to the driver, 0 if to the runtime; marks: 1 if it records an event; waited: 1
             * if it records an event that a wait refers to */
            int driver, marks, waited;
        } call;
        struct {
            uint32_t event;       /* the event that is waited for; ACTIVITY_NONE: the wait is not for an event */
            uint32_t stream;      /* the stream that is waited for, on which the event was recorded */
            uint32_t correlation; /* correlation of the call that recorded the event; ACTIVITY_NONE until known */
        } wait;
    };
};

/* An event that was recorded on a stream, for waits to refer to. */
struct activity_mark {
    uint32_t correlation, context, stream, event;
};

/* Lists of fixed capacity: records beyond it are dropped. Names belong to the tracer and outlive the lists. */
struct activities {
    struct activity *of; /* [n], in order of start after activities_settle */
    size_t n, capacity;
    struct activity_mark *mark;
    size_t marks, mark_capacity;
    uint32_t thread; /* the thread that started the tracer and issues operations */
    size_t dropped;  /* records for which these lists or the tracer had no space */
    size_t untimed;  /* records of the GPU's work without times, because the GPU had no memory left for times */
};

/* Allocates (and touches) memory for the given numbers of activities and marks; fatal when memory runs out. */
void activities_create(struct activities *activities, size_t capacity, size_t mark_capacity);
void activities_destroy(struct activities *activities); /* a zeroed struct is fine */

/* Add a record or a mark. A record or mark that does not fit is only counted, as dropped; a kernel, copy or fill
 * without times is only counted, as untimed. A call or wait without times is dropped without being counted, because no
 * figure uses it. */
void activities_add(struct activities *activities, const struct activity *activity);
void activities_add_mark(struct activities *activities, const struct activity_mark *mark);

/* activities_mark returns the lengths of both lists; activities_rewind truncates the lists to these lengths and keeps
 * the memory. */
struct activities_mark {
    size_t n, marks;
};
struct activities_mark activities_mark(const struct activities *activities);
void activities_rewind(struct activities *activities, const struct activities_mark *mark);

/* Sorts the records, and finds for each wait for an event the last call that recorded the event before the wait. May be
 * called again after more records were added. */
void activities_settle(struct activities *activities);

/* Finds the operation and collective of a timeline to which each settled record belongs: a call belongs to the
 * operation or collective that the host was issuing at that time; work of the GPU belongs to the same operation and
 * collective as the call with the same correlation. Fills `operation` and `collective` of the records, and from them
 *   - times of operations that have none: from the start of the operation's first record to the end of its last; an
 *     operation without records gets length 0 at the end of the previous operation. Ranges get the times of the
 *     operations in them;
 *   - times of collectives with NCCL kernels, in the same way. These times replace the times of stamps, between which
 *     the GPU may wait for the host's launch;
 *   - *work: a span for each record of an operation's work, with the operation's step and number, in order of start;
 *     memory is allocated as needed, free(work->span) at the end.
 * The spans of the compute and communication lanes must be in order of queued_ns. May be called again after more
 * records were settled: operations and ranges that have times keep them, even if more of their records have arrived;
 * everything else is found anew from all records. */
void activities_attribute(struct activities *activities, struct timeline *timeline, struct lane *work);

/* ---- the tracer: at most one runs in a process ---- */

struct tracer {
    /* Begins to record into `activities`, which must live until `stop`. Returns 0; or -1, reported, if the tracer's
     * library is missing, or another tool is tracing the GPU. */
    int (*start)(struct activities *activities);
    /* Delivers all complete records; if the device has been synchronized, these are all records so far. Later records
     * are held back until `resume`, so that the activities may be settled and read meanwhile. */
    void (*pause)(void);
    void (*resume)(void);
    void (*stop)(void); /* delivers the remaining records and ends tracing, if tracing was started */
};
extern const struct tracer ddpbench_tracer; /* of the CUDA parts, in activity_cupti.c */

/* Returns that tracer; or NULL, reported, if the program was built without it. */
const struct tracer *tracer_find(void);

#endif
