/* threads.c - starts threads that serve the training thread, and prepares the threads that compute. */
#include "kernels/threads.h"

#include "kernels/error.h"

#include <errno.h>
#include <omp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Returns what to do about an error of pthread_create (an errno), as words that follow its text; or "". */
static const char *advice(int error)
{
    switch (error) {
    case EAGAIN:
        return "; a limit on threads or memory is reached: " THREADS_LIMITS;
    case EPERM:
    case ENOSYS:
        return "; the system forbids new threads: allow clone and clone3 in the container's seccomp profile";
    default:
        return "";
    }
}

/* Waits until the caller of threads_prepare has unlocked the gate. */
static void *pass_gate(void *gate)
{
    pthread_mutex_lock(gate);
    pthread_mutex_unlock(gate);
    return NULL;
}

int threads_prepare(int n)
{
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    int limit = omp_get_thread_limit(), started = 0, error = 0;
    omp_set_dynamic(0);
    if (omp_get_max_active_levels() < 1)
        omp_set_max_active_levels(1);
    if (limit < n)
        return error_report("OMP_THREAD_LIMIT allows a rank %d thread%s, and it needs %d for computation; unset it, or "
                            "use fewer --threads",
                            limit, limit == 1 ? "" : "s", n);
    pthread_t *thread = allocate((size_t)n, sizeof *thread);
    pthread_mutex_lock(&gate);
    while (started < n - 1 && !error)
        if (!(error = pthread_create(&thread[started], NULL, pass_gate, &gate)))
            started++;
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    free(thread);
    return error ? error_report("a rank can start %d of the %d threads that it needs for computation: %s%s", started,
                                n - 1, strerror(error), advice(error))
                 : 0;
}

void threads_start(pthread_t *thread, void *(*run)(void *), void *argument, const char *what)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        fatal(NULL, 0, "cannot start %s: %s%s", what, strerror(error), advice(error));
}
