/* comm.h - collectives that run concurrently with the device.
 *
 * The contract: a collective starts after the device work issued before it, and `join` makes device work issued later
 * wait for the collective. The collectives of a queue (comm_queue) start in the order of their tickets, and several may
 * be in flight. Between the first start and the join of the last ticket only the comm may use MPI. */
#ifndef DDP_COMM_H
#define DDP_COMM_H

#include "ddp/collective.h"
#include "kernels/timeline.h"

#include <stddef.h>

/* One collective of the n ranks of a group. What `in` and `buffer` hold, in elements:
 *                   in           buffer       result
 * all_reduce        [count]      [count]      buffer[i] = op over the ranks of in[i]
 * reduce_scatter    [n, count]   [count]      buffer[i] = op over the ranks of in[rank, i]
 * all_gather        [count]      [n, count]   buffer[r, i] = in[i] of rank r
 * broadcast         -            [count]      buffer[i] = buffer[i] of the root; in place only
 * all_to_all        [n, count]   [n, count]   buffer[r, i] = in[rank, i] of rank r; never in place
 * In place, `in` is NULL and the input lies in the buffer: all_gather reads this rank's part at buffer[rank];
 * reduce_scatter takes buffer[n, count] and leaves its result at comm_result, which depends on the library. Use these
 * two in place only among all ranks (COMM_ALL). A zeroed kind, op, dtype, group and `in` describe the all-reduce of a
 * gradient: a sum in fp32 over all ranks, in place. */
struct collective {
    void *buffer;
    size_t count;
    enum comm_dtype dtype;
    int index; /* index of the collective's bucket in the strategy's plan; -1: none */
    enum comm_kind kind;
    enum comm_op op;
    const void *in;
    int root;
    int after_earlier; /* 1: begins when all earlier collectives are complete, so that it does not share the link with
                          them */
    enum comm_group group;
    long after; /* ticket of the collective whose result is this one's input: this one begins when that one is complete;
                   0: the input comes from the device */
};

/* Returns the number of a collective's queue. All ranks of a group must start the collectives of a queue in the same
 * order. One queue holds all collectives among all ranks. In the other groups each kind of collective has its own
 * queue, so that stages of several buckets can be in flight. If the device runs collectives (on_device), all ranks
 * start those of all groups in one order. */
enum { COMM_QUEUES = 1 + (COMM_GROUPS - 1) * COMM_KINDS };
static inline int comm_queue(const struct collective *c)
{
    return c->group == COMM_ALL ? 0 : 1 + ((int)c->group - 1) * COMM_KINDS + (int)c->kind;
}

/* Returns the span that every comm records for a collective on the communication lane. ranks, and local_size, the
 * number of ranks on each host, are used only for collectives of a group. */
static inline struct span collective_span(const struct collective *c, int ranks, int local_size, long ticket,
                                          int64_t queued_ns, int64_t posted_ns, int64_t completed_ns)
{
    int in_group = c->group == COMM_ALL ? 0 : comm_group_ranks(c->group, ranks, local_size);
    return (struct span){.name = comm_kind_name[c->kind],
                         .queued_ns = queued_ns,
                         .start_ns = posted_ns,
                         .end_ns = completed_ns,
                         .size = {[SIZE_BYTES] = c->count * comm_dtype_bytes(c->dtype),
                                  [SIZE_ELEMENTS] = c->count,
                                  [SIZE_TICKET] = (size_t)ticket,
                                  [SIZE_KIND] = (size_t)c->kind,
                                  [SIZE_GROUP] = (size_t)c->group,
                                  [SIZE_RANKS] = (size_t)in_group},
                         .index = c->index};
}

/* Returns the number of ranks in a span's collective. ranks: the number of ranks in the job. */
static inline int span_ranks(const struct span *span, int ranks)
{
    return span->size[SIZE_RANKS] ? (int)span->size[SIZE_RANKS] : ranks;
}

struct watchdog;

struct comm {
    const char *name;     /* "self", "mpi" or "nccl" */
    int rank, ranks;      /* rank of this process, and number of ranks */
    int local_size;       /* number of ranks on this host, or of the group that regroup made in its place */
    const char *progress; /* a text for the results: how collectives make progress, or NCCL's version and settings */
    size_t scattered;     /* reduce_scatter in place leaves its result at buffer[scattered]: 0 with MPI, the rank with
                             NCCL */
    /* 1: the device runs collectives and times their spans; 0: the host runs and times them, so that each span lasts
     * from post to completion */
    int on_device;
    /* 1: all collectives of a group run one after another in the order of their tickets; 0: those of a queue do */
    int groups_in_order;
    int rounds_average;        /* 1: avg multiplies each input by a rounded 1 / n before it adds, as NCCL does */
    struct watchdog *watchdog; /* ends the job if a collective does not return; may be NULL */
    /* Allocates zeroed device memory in which collectives are fast. If the host cannot read the device's memory,
     * collectives may use only this memory. Release it before the comm is destroyed; `release` ignores NULL. No
     * collective may be in flight during either call. */
    void *(*allocate)(struct comm *comm, size_t bytes);
    void (*release)(struct comm *comm, void *memory);
    /* Queues a collective and returns its ticket, one more than the previous ticket. Returns before the collective is
     * complete. */
    long (*start)(struct comm *comm, const struct collective *collective);
    /* Makes device work issued later wait until every collective up to that ticket is complete. The host waits, too, if
     * the library is MPI or the device is not asynchronous. */
    void (*join)(struct comm *comm, long ticket);
    /* Returns 1 if every collective up to that ticket is complete, so that later device work need not wait; otherwise
     * 0. Does not wait. */
    int (*complete)(struct comm *comm, long ticket);
    /* Runs a collective to completion on the calling thread, as start and join together do. */
    void (*run_blocking)(struct comm *comm, const struct collective *collective);
    /* Calls the library n times without recording spans, and returns when all calls are complete; for measuring the
     * library. If the device runs collectives, all n are queued before the host waits. No collective may be in flight,
     * and the device must be idle (synchronize). If ranks share cores, a call may keep a core for a whole time slice of
     * the scheduler; `run_blocking` does not. */
    void (*call)(struct comm *comm, const struct collective *collective, size_t n);
    /* Sends `bytes` bytes from the buffer to rank `peer` or, if receive is 1, receives them from that rank into the
     * buffer. Returns when the buffer may be used again; for measuring links. This comm must have allocated the buffer.
     * The peer makes the opposite call. bytes is at most INT_MAX. No collective may be in flight. NULL: there is a
     * single rank. */
    void (*transfer)(struct comm *comm, void *buffer, size_t bytes, int peer, int receive);
    /* Makes COMM_HOST the group of the `size` ranks that pass this colour, at least 0, in their order among all ranks.
     * COMM_ACROSS must not be used afterwards. All ranks call it. No collective may be in flight. NULL: there is a
     * single rank. */
    void (*regroup)(struct comm *comm, int colour, int size);
    /* Returns the thread id of the comm's own thread; 0: the comm has none. */
    long (*thread_id)(struct comm *comm);
    /* Returns the CPU seconds used by the comm's own threads. */
    double (*cpu_seconds)(struct comm *comm);
    void (*destroy)(struct comm *comm); /* no collective may be in flight */
};

/* How the thread that drives MPI waits between tests of collectives in flight. In `join` and `run_blocking` the
 * training thread tests without pause, unless `crowded`. */
struct comm_progress {
    enum { PROGRESS_AUTO, PROGRESS_POLL, PROGRESS_SLEEP } kind; /* auto: poll if each rank has a core to spare */
    unsigned sleep_us;                                          /* time between two tests, for PROGRESS_SLEEP */
    int crowded; /* 1: some ranks have more threads than cores, so the training thread pauses between tests, too */
};

/* The communication library; auto: NCCL if each rank has its own GPU, otherwise MPI. */
enum comm_library { COMM_AUTO, COMM_MPI, COMM_NCCL, COMM_LIBRARIES };
extern const char *const comm_library_name[COMM_LIBRARIES + 1]; /* auto, mpi, nccl, NULL */

struct comm_options {
    enum comm_library library;
    struct comm_progress progress;
    int core_to_spare;    /* 1: this rank has more cores than compute threads */
    int shares_gpu;       /* 1: ranks may share a GPU */
    int groups;           /* 1: some collectives use a group; every host then has the same number of ranks */
    size_t nccl_max_ctas; /* the most thread blocks of an NCCL collective; 0: as NCCL chooses */
    double timeout_s;     /* --timeout, for the job's watchdog; NCCL has half of it to disconnect; 0: no limit */
};

/* Returns the address of a collective's result in its buffer. */
static inline void *comm_result(const struct comm *comm, const struct collective *c)
{
    size_t skip = c->kind == COMM_REDUCE_SCATTER && !c->in ? comm->scattered * c->count : 0;
    return (char *)c->buffer + skip * comm_dtype_bytes(c->dtype);
}

/* Describes a collective, and its ticket unless that is 0, in words[COMM_WORDS], for messages. */
enum { COMM_WORDS = 160 };
void comm_words(const struct collective *collective, long ticket, char words[COMM_WORDS]);

#endif
