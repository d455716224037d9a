/* comm_thread.c - the queue of collectives and the one thread that drives them. */
#include "comm_thread.h"

#include "error.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

struct entry {
    struct collective collective;
    int64_t queued_ns, posted_ns;
    int done;
};

struct comm_thread {
    struct comm comm;
    struct transport transport;
    struct timeline *timeline;
    struct comm_progress progress;
    char progress_text[64];
    struct entry *ring; /* [capacity], ticket t at t % capacity */
    long capacity;
    pthread_t thread;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t work;  /* to the thread: something was queued, somebody waits in join, or stop */
    pthread_cond_t done;  /* to join: completed has risen */
    long queued;          /* last ticket handed out; the thread has posted up to `posted` of them */
    long completed;       /* every ticket up to this one is complete */
    long joining;         /* the ticket that join waits for, 0 if none */
    int stop;
};

static struct entry *entry_of(struct comm_thread *c, long ticket)
{
    return &c->ring[ticket % c->capacity];
}

static void post(struct comm_thread *c, long ticket)
{
    struct entry *e = entry_of(c, ticket);
    e->posted_ns = clock_now_ns();
    e->done = 0;
    c->transport.post(c->transport.state, (size_t)(ticket % c->capacity), &e->collective);
}

/* Asks after every collective in (first, last]; returns the ticket up to which all are complete. */
static long test_all(struct comm_thread *c, long first, long last)
{
    long completed = first;
    for (long t = first + 1; t <= last; t++) {
        struct entry *e = entry_of(c, t);
        if (!e->done && c->transport.test(c->transport.state, (size_t)(t % c->capacity))) {
            e->done = 1;
            timeline_add(c->timeline, LANE_COMMUNICATION,
                         (struct span){"all_reduce", e->queued_ns, e->posted_ns, clock_now_ns(),
                                       e->collective.count * comm_dtype_bytes(e->collective.dtype),
                                       e->collective.index});
        }
        if (e->done && completed == t - 1)
            completed = t;
    }
    return completed;
}

static void wait_work(struct comm_thread *c, unsigned us)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)us * 1000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&c->work, &c->lock, &until);
}

static void *drive(void *argument)
{
    struct comm_thread *c = argument;
    prctl(PR_SET_TIMERSLACK, 1UL); /* the default lets short sleeps run 50 us over */
    long posted = 0, completed = 0;
    enum { TESTS_PER_WAKE = 16 }; /* one test moves one piece of a collective along; a wake should move them all */
    pthread_mutex_lock(&c->lock);
    for (;;) {
        while (c->queued == completed && !c->stop)
            pthread_cond_wait(&c->work, &c->lock);
        if (c->queued == completed)
            break;
        int tight = c->joining > completed || c->progress.kind == PROGRESS_POLL;
        long queued = c->queued;
        pthread_mutex_unlock(&c->lock);
        while (posted < queued)
            post(c, ++posted);
        long before = completed;
        for (int i = 0; i < TESTS_PER_WAKE && completed < posted; i++)
            completed = test_all(c, completed, posted);
        if (tight && completed == before)
            sched_yield(); /* with fewer cores than threads the others must get their turn */
        pthread_mutex_lock(&c->lock);
        if (completed != before) {
            c->completed = completed;
            if (c->joining && completed >= c->joining)
                pthread_cond_signal(&c->done);
        }
        if (!tight && completed < posted && c->queued == posted && !c->joining)
            wait_work(c, c->progress.sleep_us);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

static long thread_start(struct comm *comm, const struct collective *collective)
{
    struct comm_thread *c = (struct comm_thread *)comm;
    int64_t now = clock_now_ns();
    pthread_mutex_lock(&c->lock);
    long ticket = c->queued + 1;
    if (ticket - c->completed > c->capacity)
        FATAL("%ld collectives in flight, and the queue holds %ld", ticket - c->completed, c->capacity);
    struct entry *e = entry_of(c, ticket);
    e->collective = *collective;
    e->queued_ns = now;
    c->queued = ticket;
    pthread_cond_signal(&c->work);
    pthread_mutex_unlock(&c->lock);
    return ticket;
}

static void thread_join(struct comm *comm, long ticket)
{
    struct comm_thread *c = (struct comm_thread *)comm;
    pthread_mutex_lock(&c->lock);
    if (c->completed < ticket) {
        c->joining = ticket;
        pthread_cond_signal(&c->work);
        while (c->completed < ticket)
            pthread_cond_wait(&c->done, &c->lock);
        c->joining = 0;
    }
    pthread_mutex_unlock(&c->lock);
}

static double thread_cpu_seconds(struct comm *comm)
{
    struct comm_thread *c = (struct comm_thread *)comm;
    clockid_t clock;
    struct timespec t = {0};
    if (!pthread_getcpuclockid(c->thread, &clock))
        clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void thread_destroy(struct comm *comm)
{
    struct comm_thread *c = (struct comm_thread *)comm;
    pthread_mutex_lock(&c->lock);
    c->stop = 1;
    pthread_cond_signal(&c->work);
    pthread_mutex_unlock(&c->lock);
    pthread_join(c->thread, NULL);
    c->transport.destroy(c->transport.state);
    pthread_cond_destroy(&c->work);
    pthread_cond_destroy(&c->done);
    pthread_mutex_destroy(&c->lock);
    free(c->ring);
    free(c);
}

struct comm *comm_thread_create(const char *name, struct transport transport, struct timeline *timeline,
                                size_t capacity, struct comm_progress progress)
{
    struct comm_thread *c = allocate(1, sizeof *c);
    c->comm = (struct comm){name, c->progress_text, thread_start, thread_join, thread_cpu_seconds, thread_destroy};
    if (progress.kind == PROGRESS_POLL)
        snprintf(c->progress_text, sizeof c->progress_text, "poll");
    else
        snprintf(c->progress_text, sizeof c->progress_text, "sleep:%u", progress.sleep_us);
    c->transport = transport;
    c->timeline = timeline;
    c->progress = progress;
    c->capacity = (long)capacity;
    c->ring = allocate(capacity, sizeof *c->ring);
    pthread_mutex_init(&c->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&c->work, &monotonic);
    pthread_cond_init(&c->done, &monotonic);
    pthread_condattr_destroy(&monotonic);
    sigset_t all, before; /* signals are for the training thread */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int status = pthread_create(&c->thread, NULL, drive, c);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (status)
        FATAL("cannot start the communication thread: error %d", status);
    return &c->comm;
}
