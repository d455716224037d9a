/* core_wait.h - the time that a thread was ready to run but had no core. */
#ifndef KERNELS_CORE_WAIT_H
#define KERNELS_CORE_WAIT_H

#include <stdint.h>

/* Returns the nanoseconds that the calling thread has waited for a core since it began: the second number of
 * /proc/thread-self/schedstat. Reading the file takes 10 us with cold caches, so it is read only if the thread has left
 * its core since the last call. Returns 0 if the kernel does not count this time. Time that a hypervisor takes from a
 * virtual core (steal time) is not included. */
int64_t core_wait_ns(void);

#endif
