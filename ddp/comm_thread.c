/* comm_thread.c - the queue of collectives, and the threads that drive them. */
#include "ddp/comm_thread.h"

#include "ddp/backoff.h"
#include "kernels/error.h"
#include "kernels/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { TESTS_PER_WAKE = 16 }; /* each test advances a collective by one piece; a wake-up should advance many pieces */

struct entry {
    struct collective collective;
    long number; /* the collective's number, from watchdog_started */
    int64_t queued_ns, posted_ns;
    int step; /* the step in which the collective was queued */
    int posted, done;
};

struct comm_thread {
    struct comm comm;
    const struct device *device;
    struct timeline *timeline; /* NULL: spans are not recorded */
    struct comm_progress progress;
    char progress_text[64];
    pthread_t thread;
    long thread_id; /* the operating system's id of the thread */

    long seen_complete; /* the training thread's last known value of `completed` */

    pthread_mutex_t driving; /* held by the thread that calls the transport; guards the two members below */
    struct transport transport;
    long posted; /* every ticket up to this one is posted; later tickets may be, too */

    pthread_mutex_t lock; /* guards the members below; never held during calls of the transport */
    pthread_cond_t work;  /* wakes the comm's thread if there is work or `stop` is set */
    /* [capacity]; ticket t is at index t % capacity. While a collective is in flight, its entry belongs to the thread
     * that holds `driving`. */
    struct entry *ring;
    long capacity;
    long queued; /* the newest ticket; changed only by the training thread */
    /* every ticket up to this one is complete; a thread that changes it holds `driving`, too */
    long completed;
    int64_t completed_ns;     /* when `completed` last increased */
    const struct entry *call; /* the blocking call in progress; NULL: none */
    int joining;              /* 1: the training thread drives the transport or will soon; the comm's thread must not */
    int stop;
};

static struct entry *entry_of(struct comm_thread *c, long ticket)
{
    return &c->ring[ticket % c->capacity];
}

static void post_collective(struct comm_thread *c, long ticket)
{
    struct entry *e = entry_of(c, ticket);
    e->posted_ns = clock_now_ns();
    e->posted = 1;
    c->transport.post(c->transport.state, (size_t)(ticket % c->capacity), &e->collective);
}

/* Tests the posted collectives with tickets in (first, last]. Returns the ticket up to which all are complete. */
static long test_all(struct comm_thread *c, long first, long last)
{
    long completed = first;
    for (long t = first + 1; t <= last; t++) {
        struct entry *e = entry_of(c, t);
        if (e->posted && !e->done && c->transport.test(c->transport.state, (size_t)(t % c->capacity))) {
            e->done = 1;
            struct span span = collective_span(&e->collective, c->comm.ranks, c->comm.local_size, t, e->queued_ns,
                                               e->posted_ns, clock_now_ns());
            span.step = e->step;
            if (c->timeline)
                timeline_add_in_step(c->timeline, LANE_COMMUNICATION, span);
        }
        if (e->done && completed == t - 1)
            completed = t;
    }
    return completed;
}

/* Tests whether a collective may begin, as far as its input and earlier collectives allow; every ticket up to
 * `completed` is complete. */
static int may_begin(struct comm_thread *c, long ticket, long completed)
{
    const struct collective *l = &entry_of(c, ticket)->collective;
    if (l->after_earlier && completed < ticket - 1)
        return 0;
    if (l->after > completed && !entry_of(c, l->after)->done)
        return 0;
    return !c->transport.ready || c->transport.ready(c->transport.state, (size_t)(ticket % c->capacity));
}

/* Posts, up to the ticket `queued`, the collectives that may begin and come next in their queues. */
static void post_next(struct comm_thread *c, long queued, long completed)
{
    int blocked[COMM_QUEUES] = {0};
    for (long t = c->posted + 1; t <= queued; t++) {
        const struct entry *e = entry_of(c, t);
        int *blocks = &blocked[comm_queue(&e->collective)];
        if (!e->posted && !*blocks && may_begin(c, t, completed))
            post_collective(c, t);
        *blocks |= !e->posted;
        c->posted += e->posted && c->posted == t - 1;
    }
}

/* Posts ready collectives up to the ticket `queued`, and tests those in flight, at most `tests` times; the caller holds
 * `driving`. Returns the ticket up to which all are complete. */
static long drive(struct comm_thread *c, long queued, int tests)
{
    long before = c->completed, completed = before;
    for (int i = 0; i < tests && completed < queued; i++) {
        post_next(c, queued, completed);
        completed = test_all(c, completed, queued);
    }
    if (completed != before) {
        pthread_mutex_lock(&c->lock);
        c->completed = completed;
        c->completed_ns = clock_now_ns();
        pthread_mutex_unlock(&c->lock);
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

/* The comm's thread: drives collectives while the training thread computes. */
static void *run_thread(void *argument)
{
    struct comm_thread *c = argument;
    prctl(PR_SET_TIMERSLACK, 1UL); /* sleep precisely: by default, short sleeps take up to 50 us longer */
    __atomic_store_n(&c->thread_id, (long)gettid(), __ATOMIC_RELEASE);
    pthread_mutex_lock(&c->lock);
    for (;;) {
        while (!c->stop && (c->joining || c->queued == c->completed))
            pthread_cond_wait(&c->work, &c->lock);
        if (c->stop)
            break;
        long queued = c->queued;
        pthread_mutex_unlock(&c->lock);
        pthread_mutex_lock(&c->driving);
        long completed = drive(c, queued, TESTS_PER_WAKE);
        pthread_mutex_unlock(&c->driving);
        if (c->progress.kind == PROGRESS_POLL && completed < queued)
            sched_yield(); /* lets the training thread run if it shares this core; otherwise returns at once */
        pthread_mutex_lock(&c->lock);
        if (c->progress.kind == PROGRESS_SLEEP && c->queued == queued && c->completed < queued && !c->joining &&
            !c->stop)
            wait_work(c, c->progress.sleep_us);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

static long enqueue(struct comm_thread *c, const struct collective *collective, int joining)
{
    int64_t now = clock_now_ns();
    long ticket = c->queued + 1;
    if (ticket - c->seen_complete > c->capacity) { /* seen_complete may be out of date: reads the current value */
        pthread_mutex_lock(&c->lock);
        c->seen_complete = c->completed;
        pthread_mutex_unlock(&c->lock);
    }
    if (ticket - c->seen_complete > c->capacity)
        FATAL("%ld collectives in flight, but the queue holds at most %ld", ticket - c->seen_complete, c->capacity);
    if (c->transport.queue)
        c->transport.queue(c->transport.state, (size_t)(ticket % c->capacity), collective);
    long number = watchdog_started(c->comm.watchdog);
    pthread_mutex_lock(&c->lock);
    *entry_of(c, ticket) = (struct entry){
        .collective = *collective, .number = number, .step = c->timeline ? c->timeline->step : 0, .queued_ns = now};
    c->queued = ticket;
    c->joining = joining;
    pthread_mutex_unlock(&c->lock);
    return ticket;
}

static long thread_start(struct comm *comm, const struct collective *collective)
{
    struct comm_thread *c = (struct comm_thread *)comm;
    long ticket = enqueue(c, collective, 0);
    pthread_cond_signal(&c->work);
    return ticket;
}

/* Waits for collectives by driving them on the training thread, which is idle now: handing them to the comm's thread
 * would cost two wake-ups. */
static void thread_join(struct comm *comm, long ticket)
{
    struct comm_thread *c = (struct comm_thread *)comm;
    pthread_mutex_lock(&c->lock);
    c->seen_complete = c->completed;
    int complete = c->completed >= ticket;
    c->joining = !complete;
    pthread_mutex_unlock(&c->lock);
    if (complete)
        return;
    pthread_mutex_lock(&c->driving);
    int crowded = c->progress.crowded;
    unsigned pauses = 0;
    while (drive(c, c->queued, crowded ? TESTS_PER_WAKE : 1) < ticket)
        backoff_pause(crowded, &pauses);
    pthread_mutex_unlock(&c->driving);
    pthread_mutex_lock(&c->lock);
    c->joining = 0;
    int rest = c->completed < c->queued;
    pthread_mutex_unlock(&c->lock);
    if (rest)
        pthread_cond_signal(&c->work);
}

static int thread_complete(struct comm *comm, long ticket)
{
    struct comm_thread *c = (struct comm_thread *)comm;
    pthread_mutex_lock(&c->lock);
    c->seen_complete = c->completed;
    pthread_mutex_unlock(&c->lock);
    return c->seen_complete >= ticket;
}

static void thread_run(struct comm *comm, const struct collective *collective)
{
    thread_join(comm, enqueue((struct comm_thread *)comm, collective, 1));
}

static void thread_call(struct comm *comm, const struct collective *collective, size_t n)
{
    struct comm_thread *c = (struct comm_thread *)comm;
    struct entry e = {
        .collective = *collective, .number = watchdog_started(comm->watchdog), .queued_ns = clock_now_ns()};
    pthread_mutex_lock(&c->lock);
    c->call = &e;
    pthread_mutex_unlock(&c->lock);
    for (size_t i = 0; i < n; i++)
        c->transport.call(c->transport.state, collective);
    pthread_mutex_lock(&c->lock);
    c->call = NULL;
    pthread_mutex_unlock(&c->lock);
}

static void thread_transfer(struct comm *comm, void *buffer, size_t bytes, int peer, int receive)
{
    const struct comm_thread *c = (struct comm_thread *)comm;
    c->transport.transfer(c->transport.state, buffer, bytes, peer, receive);
}

static void thread_regroup(struct comm *comm, int colour, int size)
{
    const struct comm_thread *c = (struct comm_thread *)comm;
    c->transport.regroup(c->transport.state, colour, size);
    comm->local_size = size;
}

void comm_thread_look(void *state, struct watched *watched)
{
    struct comm_thread *c = state;
    pthread_mutex_lock(&c->lock);
    const struct entry *e = c->call ? c->call : c->completed < c->queued ? entry_of(c, c->completed + 1) : NULL;
    if (e) {
        comm_words(&e->collective, e == c->call ? 0 : c->completed + 1, watched->words);
        watched->number = e->number;
        watched->since_ns = e != c->call && c->completed_ns > e->queued_ns ? c->completed_ns : e->queued_ns;
    }
    pthread_mutex_unlock(&c->lock);
}

static void *thread_allocate(struct comm *comm, size_t bytes)
{
    const struct comm_thread *c = (struct comm_thread *)comm;
    return c->transport.allocate ? c->transport.allocate(c->transport.state, bytes) : c->device->allocate(bytes);
}

static void thread_release(struct comm *comm, void *memory)
{
    const struct comm_thread *c = (struct comm_thread *)comm;
    if (c->transport.release)
        c->transport.release(c->transport.state, memory);
    else
        c->device->release(memory);
}

static long thread_id(struct comm *comm)
{
    struct comm_thread *c = (struct comm_thread *)comm;
    return __atomic_load_n(&c->thread_id, __ATOMIC_ACQUIRE);
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
    watchdog_look(comm->watchdog, NULL, NULL);
    pthread_mutex_lock(&c->lock);
    c->stop = 1;
    pthread_cond_signal(&c->work);
    pthread_mutex_unlock(&c->lock);
    pthread_join(c->thread, NULL);
    c->transport.destroy(c->transport.state);
    pthread_cond_destroy(&c->work);
    pthread_mutex_destroy(&c->driving);
    pthread_mutex_destroy(&c->lock);
    free(c->ring);
    free(c);
}

struct comm *comm_thread_create(const char *name, struct transport transport, const struct device *device,
                                struct timeline *timeline, size_t capacity, struct comm_progress progress)
{
    struct comm_thread *c = allocate(1, sizeof *c);
    c->comm = (struct comm){.name = name,
                            .progress = c->progress_text,
                            .allocate = thread_allocate,
                            .release = thread_release,
                            .start = thread_start,
                            .join = thread_join,
                            .complete = thread_complete,
                            .run_blocking = thread_run,
                            .call = thread_call,
                            .transfer = thread_transfer,
                            .regroup = thread_regroup,
                            .thread_id = thread_id,
                            .cpu_seconds = thread_cpu_seconds,
                            .destroy = thread_destroy};
    if (progress.kind == PROGRESS_POLL)
        snprintf(c->progress_text, sizeof c->progress_text, "poll");
    else
        snprintf(c->progress_text, sizeof c->progress_text, "sleep:%u", progress.sleep_us);
    if (transport.queue)
        strcat(c->progress_text, ", staged through host memory");
    c->transport = transport;
    c->device = device;
    c->timeline = timeline;
    c->progress = progress;
    c->capacity = (long)capacity;
    c->ring = allocate(capacity, sizeof *c->ring);
    pthread_mutexattr_t brief; /* waiting threads spin before they sleep, because locks are held only briefly */
    pthread_mutexattr_init(&brief);
    pthread_mutexattr_settype(&brief, PTHREAD_MUTEX_ADAPTIVE_NP);
    pthread_mutex_init(&c->driving, &brief);
    pthread_mutex_init(&c->lock, &brief);
    pthread_mutexattr_destroy(&brief);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&c->work, &monotonic);
    pthread_condattr_destroy(&monotonic);
    threads_start(&c->thread, run_thread, c, "the communication thread");
    while (!thread_id(&c->comm)) /* waits until the thread has set its id */
        sched_yield();
    return &c->comm;
}
