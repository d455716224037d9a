/* core_wait.h - how long a thread could have run and had no core, because others were on those that it may use. */
#ifndef KERNELS_CORE_WAIT_H
#define KERNELS_CORE_WAIT_H

#include <stdint.h>

/* Nanoseconds that the calling thread has waited for a core since it began: the second number of
 * /proc/thread-self/schedstat, which takes 10 us to read where other work has emptied the caches, and is read only if
 * the thread has left its core since the last call. 0 where the kernel does not count them. What a hypervisor takes
 * from a virtual core is not in it. */
int64_t core_wait_ns(void);

#endif
