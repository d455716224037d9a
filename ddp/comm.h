/* comm.h - collectives that run beside the device.
 *
 * Two rules are the whole contract. A collective starts after the device work that was issued before it; and `join`
 * makes device work that is issued later wait for it. Collectives start in the order of their tickets and several may
 * be in flight. Between the first start and the join of the last ticket nobody but the comm may use MPI. */
#ifndef COMM_H
#define COMM_H

#include "timeline.h"

#include <stddef.h>

enum comm_dtype { COMM_FLOAT32, COMM_BF16 };
static inline size_t comm_dtype_bytes(enum comm_dtype dtype)
{
    return dtype == COMM_BF16 ? 2 : 4;
}

/* One all-reduce: buffer[count], in place, becomes its sum over the ranks. */
struct collective {
    void *buffer;
    size_t count;
    enum comm_dtype dtype;
    int index; /* its place in the strategy's plan, for the timeline */
};

/* The span of an all-reduce, as every comm records it on the communication lane. */
static inline struct span collective_span(const struct collective *c, long ticket, int64_t queued_ns, int64_t posted_ns,
                                          int64_t completed_ns)
{
    return (struct span){.name = "all_reduce",
                         .queued_ns = queued_ns,
                         .start_ns = posted_ns,
                         .end_ns = completed_ns,
                         .size = {[SIZE_BYTES] = c->count * comm_dtype_bytes(c->dtype),
                                  [SIZE_ELEMENTS] = c->count,
                                  [SIZE_TICKET] = (size_t)ticket},
                         .index = c->index};
}

struct comm {
    const char *name;     /* "self" or "mpi" */
    const char *progress; /* how collectives advance while the device works, in words for the results */
    /* Queues a collective and returns its ticket, one more than the last. Does not wait for it. */
    long (*start)(struct comm *comm, const struct collective *collective);
    /* Waits until every collective up to that ticket is complete. */
    void (*join)(struct comm *comm, long ticket);
    /* A blocking collective: start and join in one, on the calling thread. */
    void (*run)(struct comm *comm, const struct collective *collective);
    /* The operating system's number of the comm's own thread; 0 if it has none. */
    long (*thread_id)(struct comm *comm);
    /* CPU seconds that the comm's own threads have used since it was created. */
    double (*cpu_seconds)(struct comm *comm);
    void (*destroy)(struct comm *comm); /* nothing may be in flight */
};

/* How the thread that drives MPI beside the training thread waits between tests of collectives in flight. In `join` and
 * `run` the training thread itself tests, without pause. */
struct comm_progress {
    enum { PROGRESS_AUTO, PROGRESS_POLL, PROGRESS_SLEEP } kind; /* auto: poll where each rank has a core to spare */
    unsigned sleep_us;                                          /* with PROGRESS_SLEEP */
};

/* For one rank: a sum over one rank is the buffer itself. */
struct comm *comm_self_create(struct timeline *timeline);

/* All ranks together, by MPI; every rank calls it. capacity is the most collectives that are ever in flight. Auto
 * progress polls where core_to_spare (each rank of this host has a core beside those of its compute threads), and
 * otherwise sleeps 500 us between tests. */
struct comm *comm_mpi_create(struct timeline *timeline, size_t capacity, struct comm_progress progress,
                             int core_to_spare);

/* The same, with at most `piece` elements in one MPI call instead of 2^30: MPI counts in int. */
struct comm *comm_mpi_create_pieces(struct timeline *timeline, size_t capacity, struct comm_progress progress,
                                    int core_to_spare, size_t piece);

#endif
