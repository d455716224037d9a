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
    int rank;
    pthread_t thread;
    _Atomic int64_t mark_ns; /* INT64_MAX while it rests */
    _Atomic long iteration;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t wake;
    char words[32], of_what[128];
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

/* Says where this rank stands, gives the others time to do so too, and ends the job unless it goes on after all; the
 * caller holds the lock. */
static void bark(struct watchdog *w, int64_t mark_ns)
{
    enum { LAST_WORDS_S = 2 };
    char host[64] = "";
    double silent = 1e-9 * (double)(clock_now_ns() - mark_ns);
    gethostname(host, sizeof host - 1);
    fprintf(stderr,
            "ddpbench: rank %d on %s has waited for %.0f s in %s %ld of %s; ranks that do not say where they are have "
            "not arrived there, or do something else\n",
            w->rank, host, silent, w->words, atomic_load(&w->iteration), w->of_what);
    int64_t end = clock_now_ns() + (int64_t)LAST_WORDS_S * 1000000000;
    while (!w->stop && clock_now_ns() < end)
        rest(w, 0.1);
    if (!w->stop && atomic_load(&w->mark_ns) == mark_ns)
        FATAL("--timeout: no progress for %.0f s", silent);
}

static void *watch(void *argument)
{
    struct watchdog *w = argument;
    pthread_mutex_lock(&w->lock);
    while (!w->stop) {
        int64_t mark_ns = atomic_load(&w->mark_ns);
        double silent = mark_ns == INT64_MAX ? 0 : 1e-9 * (double)(clock_now_ns() - mark_ns);
        if (silent >= w->timeout_s)
            bark(w, mark_ns);
        else
            rest(w, w->timeout_s - silent < 1 ? w->timeout_s - silent : 1);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

struct watchdog *watchdog_create(double timeout_s, int rank)
{
    struct watchdog *w = allocate(1, sizeof *w);
    w->timeout_s = timeout_s;
    w->rank = rank;
    watchdog_rest(w);
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

void watchdog_begin(struct watchdog *w, const char *words, const char *of_what)
{
    pthread_mutex_lock(&w->lock);
    snprintf(w->words, sizeof w->words, "%s", words);
    snprintf(w->of_what, sizeof w->of_what, "%s", of_what);
    pthread_mutex_unlock(&w->lock);
    watchdog_mark(w, clock_now_ns(), 0);
}

void watchdog_mark(struct watchdog *w, int64_t now_ns, long i)
{
    atomic_store_explicit(&w->mark_ns, now_ns, memory_order_relaxed);
    atomic_store_explicit(&w->iteration, i, memory_order_relaxed);
}

void watchdog_rest(struct watchdog *w)
{
    atomic_store_explicit(&w->mark_ns, INT64_MAX, memory_order_relaxed);
}
