/* clock.h - the clock that measures every interval. */
#ifndef KERNELS_CLOCK_H
#define KERNELS_CLOCK_H

#include <errno.h>
#include <stdint.h>
#include <time.h>

/* Returns CLOCK_MONOTONIC in nanoseconds: this clock is never set back, and starts at an arbitrary time that differs by
 * machine. */
static inline int64_t clock_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline double clock_seconds_since(int64_t ns)
{
    return 1e-9 * (double)(clock_now_ns() - ns);
}

/* Sleeps until clock_now_ns returns at least `ns`. */
static inline void clock_sleep_until(int64_t ns)
{
    struct timespec t = {ns / 1000000000, ns % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}

#endif
