/* comm_thread.h - the queue of collectives and the thread that drives them while the training thread computes, for any
 * transport.
 *
 * Only one thread at a time calls the transport (MPI, or a fake transport in tests): the comm's own thread, or the
 * training thread while it waits in join or run_blocking. Exception: the training thread may call `queue` at any time.
 * While no collective is in flight, the comm's thread calls nothing, and the training thread may use MPI. */
#ifndef DDP_COMM_THREAD_H
#define DDP_COMM_THREAD_H

#include "ddp/comm.h"
#include "ddp/watchdog.h"
#include "kernels/device.h"

struct transport {
    /* Allocate zeroed memory for collectives, and release it; called by the training thread while no collective is in
     * flight. NULL: the device's functions are used. */
    void *(*allocate)(void *state, size_t bytes);
    void (*release)(void *state, void *memory);
    /* Prepares a collective, in a free slot, before it is queued; called by the training thread at any time. NULL:
     * nothing to prepare. */
    void (*queue)(void *state, size_t slot, const struct collective *collective);
    /* Returns 1 if the input of the queued collective in that slot has arrived, else 0; called repeatedly until it has.
     * NULL: inputs are always there. */
    int (*ready)(void *state, size_t slot);
    /* Begins a collective in one of the slots [0, capacity), in the order in which the collectives of its queue
     * (comm_queue) were queued. */
    void (*post)(void *state, size_t slot, const struct collective *collective);
    /* Returns 1 if the collective in that slot is complete, else 0; called repeatedly until it is. */
    int (*test)(void *state, size_t slot);
    /* Runs a blocking collective, while no slot is in use. */
    void (*call)(void *state, const struct collective *collective);
    /* Sends or receives a message (struct comm), while no slot is in use. NULL: `transfer` of the comm must not be
     * called. */
    void (*transfer)(void *state, void *buffer, size_t bytes, int peer, int receive);
    /* Regroups the ranks (struct comm), while no slot is in use. Returns this rank's number in its group. NULL:
     * `regroup` of the comm must not be called. */
    int (*regroup)(void *state, int colour, int size);
    void (*destroy)(void *state); /* called last, from the thread that destroys the comm */
    void *state;
};

/* Creates a comm over a transport, which it owns, for memory of `device`. progress must be poll or sleep; the name must
 * outlive the comm. timeline NULL: records no spans. The caller may set comm->watchdog to a watchdog that calls
 * comm_thread_look. */
struct comm *comm_thread_create(const char *name, struct transport transport, const struct device *device,
                                struct timeline *timeline, size_t capacity, struct comm_progress progress);

/* Tells a watchdog what the comm, `state`, is waiting for. */
void comm_thread_look(void *state, struct watched *watched);

#endif
