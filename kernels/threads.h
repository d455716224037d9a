/* threads.h - starts a thread that serves the training thread, and prepares the threads that compute. */
#ifndef KERNELS_THREADS_H
#define KERNELS_THREADS_H

#include <pthread.h>

/* Starts a thread with all signals blocked, so that they go to the calling thread. `what` names it, such as "the
 * communication thread". If it cannot start, ends the job with the reason and what to do. */
void threads_start(pthread_t *thread, void *(*run)(void *), void *argument, const char *what);

/* Prepares a team of n OpenMP threads, n >= 1, including the calling thread. OMP_DYNAMIC and OMP_MAX_ACTIVE_LEVELS=0
 * are undone, because OpenBLAS waits forever for the threads of a smaller team. As a test, starts n - 1 threads that
 * exist at the same time, and ends them: if OpenMP could not start its threads, it would end the process without
 * advice. Returns 0; or -1, reported, if they cannot start or OMP_THREAD_LIMIT is smaller. */
int threads_prepare(int n);

/* What to do if a limit on threads is reached. */
#define THREADS_LIMITS                                                                                                 \
    "raise ulimit -u or pids.max of the control group (of a container: --pids-limit; of a Slurm or systemd job: "      \
    "TasksMax), or use fewer ranks or --threads"

#endif
