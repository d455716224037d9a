/* backoff.h - how a polling thread yields its core between two polls. */
#ifndef DDP_BACKOFF_H
#define DDP_BACKOFF_H

#include <sched.h>
#include <time.h>

/* Waits between two polls. If `crowded` is 1 (the machine is oversubscribed), the thread sleeps, for 20 us at first and
 * for up to 500 us as the wait continues: the awaited thread may need this core, and Linux soon returns to a thread
 * that only yields. Otherwise the thread yields its core. pauses: the number of earlier pauses in this wait, 0 at
 * first. */
static inline void backoff_pause(int crowded, unsigned *pauses)
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
