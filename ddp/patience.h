/* patience.h - how a thread that asks again and again leaves its core to others meanwhile. */
#ifndef DDP_PATIENCE_H
#define DDP_PATIENCE_H

#include <sched.h>
#include <time.h>

/* Between two questions. On a crowded machine, where threads share cores, the one that is waited for may need this
 * core, and Linux's scheduler soon comes back to a thread that only yields: so it sleeps, longer as the wait goes on.
 * Elsewhere it yields, which costs nothing on a core of its own. pauses: how many there have been in this wait, 0 at
 * first. */
static inline void patience_pause(int crowded, unsigned *pauses)
{
    const long shortest_ns = 20000, longest_ns = 500000;
    long ns = shortest_ns + shortest_ns / 8 * (long)*pauses;
    if (crowded && ns < longest_ns)
        ++*pauses;
    if (crowded)
        nanosleep(&(struct timespec){0, ns}, NULL);
    else
        sched_yield();
}

#endif
