/* comm_thread.h - the queue of collectives and the one thread that drives them, for any transport.
 *
 * The transport (MPI, or a made-up one in tests) is called from that thread alone, and not at all while no
 * collective is in flight: then the thread sleeps and the training thread may use MPI itself. */
#ifndef COMM_THREAD_H
#define COMM_THREAD_H

#include "comm.h"

struct transport {
    /* Begins a collective in one of the slots [0, capacity); the slot is free. */
    void (*post)(void *state, size_t slot, const struct collective *collective);
    /* 1 if the collective in that slot is complete (asked again and again until it is), else 0. */
    int (*test)(void *state, size_t slot);
    void (*destroy)(void *state); /* called last, from the thread that destroys the comm */
    void *state;
};

/* A comm over a transport. progress is poll or sleep here; the name is a string that outlives the comm. */
struct comm *comm_thread_create(const char *name, struct transport transport, struct timeline *timeline,
                                size_t capacity, struct comm_progress progress);

#endif
