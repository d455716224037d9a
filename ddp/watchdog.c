/* watchdog.c - ends the job when a collective does not return. */
#include "ddp/watchdog.h"

#include "kernels/clock.h"
#include "kernels/error.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What each rank shows the others of its host. */
struct rank_progress {
    _Atomic long started; /* collectives */
    _Atomic long broken;  /* 1: its library is, and it ends the job */
};

struct watchdog {
    double timeout_s;
    const struct job *job;
    struct job_board board;
    struct rank_progress *mine;
    void (*look)(void *state, struct watched *watched);
    void *state;
    pthread_t thread;
    _Atomic int64_t mark_ns; /* INT64_MAX while it rests */
    _Atomic long iteration;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t wake;
    char words[32], of_what[128];
    int stop;
};

enum { LAST_WORDS_S = 2 };

/* Sleeps for a time, or until the thread is to stop; the caller holds the lock. */
static void sleep_until_stopped(struct watchdog *w, double seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + (int64_t)(1e9 * seconds);
    until.tv_sec += ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    pthread_cond_timedwait(&w->wake, &w->lock, &until);
}

/* What the comm is waiting for; or the caller, if it has waited for longer. */
static struct watched look(struct watchdog *w)
{
    struct watched now = {.since_ns = INT64_MAX};
    w->look(w->state, &now);
    int64_t mark_ns = atomic_load(&w->mark_ns);
    if (mark_ns < now.since_ns)
        now.since_ns = mark_ns;
    return now;
}

/* ---- words ---- */

/* Which ranks have not started the collective. */
static void list_missing_ranks(const struct watchdog *w, long number, char *text, size_t size)
{
    char ranks[256] = "";
    int missing = 0, elsewhere = 0;
    size_t at = 0;
    for (int r = 0; r < w->job->size; r++) {
        const struct rank_progress *progress = w->board.part[r];
        elsewhere += !progress;
        if (progress && atomic_load(&progress->started) < number && at < sizeof ranks)
            at += (size_t)snprintf(ranks + at, sizeof ranks - at, "%s%d", missing++ ? ", " : "", r);
    }
    if (missing)
        snprintf(text, size, "rank%s %s %s not started it", missing > 1 ? "s" : "", ranks,
                 missing > 1 ? "have" : "has");
    else
        snprintf(text, size, "all ranks%s have started it", elsewhere ? " of this host" : "");
    if (elsewhere)
        snprintf(text + strlen(text), size - strlen(text),
                 "; of other hosts' ranks, those that print no position have not");
}

/* Prints where this rank waits; the caller holds the lock. */
static void print_position(const struct watchdog *w, const struct watched *now)
{
    char host[64] = "", iteration[192] = "", who[512] = "";
    double silent = 1e-9 * (double)(clock_now_ns() - now->since_ns);
    gethostname(host, sizeof host - 1);
    if (atomic_load(&w->mark_ns) != INT64_MAX)
        snprintf(iteration, sizeof iteration, "%s %ld of %s", w->words, atomic_load(&w->iteration), w->of_what);
    if (now->number)
        list_missing_ranks(w, now->number, who, sizeof who);
    else
        snprintf(who, sizeof who, "ranks that print no position have not arrived there, or do something else");
    fprintf(stderr, "ddpbench: rank %d on %s has waited for %.0f s in %s%s%s; %s\n", w->job->rank, host, silent,
            iteration, *iteration && now->number ? ": " : "", now->words, who);
}

/* ---- the thread ---- */

/* Prints where this rank waits, gives the others time to do so too, and ends the job unless there was progress
 * meanwhile; the caller holds the lock. */
static void report_and_end(struct watchdog *w, const struct watched *stuck)
{
    print_position(w, stuck);
    if (*stuck->broken)
        atomic_store(&w->mine->broken, 1);
    int64_t end = clock_now_ns() + (int64_t)LAST_WORDS_S * 1000000000;
    while (!w->stop && clock_now_ns() < end)
        sleep_until_stopped(w, 0.1);
    if (*stuck->broken)
        FATAL("%s, in %s", stuck->broken, stuck->words);
    struct watched now = look(w);
    if (!w->stop && now.since_ns == stuck->since_ns)
        FATAL("--timeout: no progress for %.0f s", 1e-9 * (double)(clock_now_ns() - now.since_ns));
}

/* Whether a rank of this host is about to end the job. */
static int is_ending(const struct watchdog *w)
{
    int broken = 0;
    for (int r = 0; r < w->job->size; r++) {
        const struct rank_progress *progress = w->board.part[r];
        broken |= progress && atomic_load(&progress->broken);
    }
    return broken;
}

static void *watch_progress(void *argument)
{
    struct watchdog *w = argument;
    const double often = 1;
    int printed = 0;
    pthread_mutex_lock(&w->lock);
    while (!w->stop) {
        struct watched now = look(w);
        double left = often;
        if (now.since_ns != INT64_MAX && w->timeout_s > 0)
            left = w->timeout_s - 1e-9 * (double)(clock_now_ns() - now.since_ns);
        if (*now.broken || left <= 0) {
            report_and_end(w, &now);
            continue;
        }
        if (!printed && now.since_ns != INT64_MAX && is_ending(w)) {
            print_position(w, &now);
            printed = 1;
        }
        sleep_until_stopped(w, left < often ? left : often);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

struct watchdog *watchdog_create(double timeout_s, const struct job *job,
                                 void (*look_at)(void *state, struct watched *watched), void *state)
{
    struct watchdog *w = allocate(1, sizeof *w);
    w->timeout_s = timeout_s;
    w->job = job;
    w->look = look_at;
    w->state = state;
    job_board_create(&w->board, job, sizeof *w->mine);
    w->mine = w->board.part[job->rank];
    watchdog_rest(w);
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&w->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    sigset_t all, before; /* signals are for the main thread */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int status = pthread_create(&w->thread, NULL, watch_progress, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (status)
        FATAL("cannot start the watchdog: error %d", status);
    return w;
}

void watchdog_destroy(struct watchdog *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->stop = 1;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->lock);
    job_board_destroy(&w->board);
    free(w);
}

/* ---- the threads that are watched ---- */

long watchdog_started(struct watchdog *w)
{
    return w ? atomic_fetch_add_explicit(&w->mine->started, 1, memory_order_relaxed) + 1 : 0;
}

void watchdog_begin(struct watchdog *w, const char *words, const char *of_what)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    snprintf(w->words, sizeof w->words, "%s", words);
    snprintf(w->of_what, sizeof w->of_what, "%s", of_what);
    pthread_mutex_unlock(&w->lock);
    watchdog_mark(w, clock_now_ns(), 0);
}

void watchdog_mark(struct watchdog *w, int64_t now_ns, long i)
{
    if (!w)
        return;
    atomic_store_explicit(&w->mark_ns, now_ns, memory_order_relaxed);
    atomic_store_explicit(&w->iteration, i, memory_order_relaxed);
}

void watchdog_rest(struct watchdog *w)
{
    if (w)
        atomic_store_explicit(&w->mark_ns, INT64_MAX, memory_order_relaxed);
}
