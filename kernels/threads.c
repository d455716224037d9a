/* threads.c - starts threads that serve the training thread, and tries whether threads can start. */
#include "kernels/threads.h"

#include "kernels/error.h"

#include <errno.h>
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

/* Waits until the caller of threads_try has unlocked the gate. */
static void *pass_gate(void *gate)
{
    pthread_mutex_lock(gate);
    pthread_mutex_unlock(gate);
    return NULL;
}

int threads_try(int n)
{
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    pthread_t *thread = allocate((size_t)n + 1, sizeof *thread); /* a zero size would be no memory */
    int started = 0, error = 0;
    pthread_mutex_lock(&gate);
    while (started < n && !error)
        if (!(error = pthread_create(&thread[started], NULL, pass_gate, &gate)))
            started++;
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    free(thread);
    return error ? error_report("a rank can start %d of the %d threads that it needs for computation: %s%s", started, n,
                                strerror(error), advice(error))
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
