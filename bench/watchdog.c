/* watchdog.c - ends the job when a collective does not return. */
#include "watchdog.h"

#include "clock.h"
#include "error.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct watchdog {
    double timeout_s;
    pthread_t thread;
    _Atomic int64_t mark_ns;
    _Atomic long iteration;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t wake;
    char words[160];
    int stop;
};

/* Sleeps for a time or until there is something to stop; the caller holds the lock. */
static void rest(struct watchdog *w, double seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + (int64_t)(1e9 * seconds);
    until.tv_sec += ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    pthread_cond_timedwait(&w->wake, &w->lock, &until);
}

static void *watch(void *argument)
{
    struct watchdog *w = argument;
    enum { LAST_WORDS_S = 2 };
    pthread_mutex_lock(&w->lock);
    while (!w->stop) {
        double silent = 1e-9 * (double)(clock_now_ns() - atomic_load(&w->mark_ns));
        if (silent >= w->timeout_s) {
            char host[64] = "";
            gethostname(host, sizeof host - 1);
            fprintf(stderr,
                    "ddpbench: on %s, process %d: no progress for %.0f s in iteration %ld of %s; ranks that do not say "
                    "where they are have not arrived\n",
                    host, (int)getpid(), silent, atomic_load(&w->iteration), w->words);
            int64_t end = clock_now_ns() + (int64_t)LAST_WORDS_S * 1000000000;
            while (!w->stop && clock_now_ns() < end)
                rest(w, 0.1);
            if (!w->stop)
                FATAL("--timeout: no progress for %.0f s", silent);
        } else
            rest(w, w->timeout_s - silent < 1 ? w->timeout_s - silent : 1);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

struct watchdog *watchdog_create(double timeout_s)
{
    struct watchdog *w = allocate(1, sizeof *w);
    w->timeout_s = timeout_s;
    atomic_store(&w->mark_ns, clock_now_ns());
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&w->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (timeout_s <= 0)
        return w;
    sigset_t all, before; /* signals are for the main thread */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int status = pthread_create(&w->thread, NULL, watch, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (status)
        FATAL("cannot start the watchdog: error %d", status);
    return w;
}

void watchdog_destroy(struct watchdog *w)
{
    if (!w)
        return;
    if (w->timeout_s > 0) {
        pthread_mutex_lock(&w->lock);
        w->stop = 1;
        pthread_cond_signal(&w->wake);
        pthread_mutex_unlock(&w->lock);
        pthread_join(w->thread, NULL);
    }
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

void watchdog_at(struct watchdog *w, const char *words)
{
    pthread_mutex_lock(&w->lock);
    snprintf(w->words, sizeof w->words, "%s", words);
    pthread_mutex_unlock(&w->lock);
    watchdog_mark(w, clock_now_ns(), 0);
}

void watchdog_mark(struct watchdog *w, int64_t now_ns, long i)
{
    atomic_store_explicit(&w->mark_ns, now_ns, memory_order_relaxed);
    atomic_store_explicit(&w->iteration, i, memory_order_relaxed);
}
