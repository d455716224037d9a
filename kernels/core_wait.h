/* core_wait.h - the time that a thread was ready to run but had no core. */
#ifndef KERNELS_CORE_WAIT_H
#define KERNELS_CORE_WAIT_H

#include <stdint.h>

/* Nanoseconds that the calling thread has waited for a core since it began: the second number of
 * /proc/thread-self/schedstat. Reading it takes 10 us with cold caches, so it is read only if the thread has left its
 * core since the last call. 0 if the kernel does not count them. Does not include time that a hypervisor takes from a
 * virtual core (steal time). */
int64_t core_wait_ns(void);

#endif
