/* comm_thread.h - the queue of collectives and the thread that drives them while the training thread computes, for any
 * transport.
 *
 * The transport (MPI, or a made-up one in tests) is called by one thread at a time: by the comm's own thread, or by the
 * training thread while it waits in join or run, where it drives itself. It is not called at all while no collective is
 * in flight, so the training thread may use MPI then. */
#ifndef COMM_THREAD_H
#define COMM_THREAD_H

#include "comm.h"

struct transport {
    /* Begins a collective in one of the slots [0, capacity); the slot is free. */
    void (*post)(void *state, size_t slot, const struct collective *collective);
    /* 1 if the collective in that slot is complete (asked again and again until it is), else 0. */
    int (*test)(void *state, size_t slot);
    /* A blocking collective, while no slot is in use. */
    void (*call)(void *state, const struct collective *collective);
    void (*destroy)(void *state); /* called last, from the thread that destroys the comm */
    void *state;
};

/* A comm over a transport. progress is poll or sleep here; the name is a string that outlives the comm. */
struct comm *comm_thread_create(const char *name, struct transport transport, struct timeline *timeline,
                                size_t capacity, struct comm_progress progress);

#endif
