/* comm_thread.h - the queue of collectives and the thread that drives them while the training thread computes, for any
 * transport.
 *
 * The transport (MPI, or a made-up one in tests) is called by one thread at a time: by the comm's own thread, or by the
 * training thread while it waits in join or run_blocking, where it drives itself; but for `queue`. It is not called at
 * all while no collective is in flight, so the training thread may use MPI then. */
#ifndef DDP_COMM_THREAD_H
#define DDP_COMM_THREAD_H

#include "ddp/comm.h"
#include "ddp/watchdog.h"
#include "kernels/device.h"

struct transport {
    /* Memory that collectives work in, zeroed, and its release, called by the training thread while no collective is in
     * flight; NULL: the device's. */
    void *(*allocate)(void *state, size_t bytes);
    void (*release)(void *state, void *memory);
    /* Prepares a collective before it is queued, called by the training thread at any time; the slot is free. NULL:
     * nothing to prepare. */
    void (*queue)(void *state, size_t slot, const struct collective *collective);
    /* 1 if the next collective that was queued, in that slot, may begin (asked again and again until it may), else 0.
     * NULL: it always may. */
    int (*ready)(void *state, size_t slot);
    /* Begins a collective in one of the slots [0, capacity), in the order in which they were queued. */
    void (*post)(void *state, size_t slot, const struct collective *collective);
    /* 1 if the collective in that slot is complete (asked again and again until it is), else 0. */
    int (*test)(void *state, size_t slot);
    /* A blocking collective, while no slot is in use. */
    void (*call)(void *state, const struct collective *collective);
    void (*destroy)(void *state); /* called last, from the thread that destroys the comm */
    void *state;
};

/* A comm over a transport, for memory of that device. progress is poll or sleep here; the name is a string that
 * outlives the comm. timeline NULL: no spans are recorded. It watches over itself once it is given a watchdog that
 * looks with comm_thread_look, which it destroys at its end. */
struct comm *comm_thread_create(const char *name, struct transport transport, const struct device *device,
                                struct timeline *timeline, size_t capacity, struct comm_progress progress);

/* What the comm is waiting for; state is the comm. For a watchdog. */
void comm_thread_look(void *state, struct watched *watched);

#endif
