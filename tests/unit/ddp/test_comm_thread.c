/* test_comm_thread.c - the queue of collectives and its thread, over a made-up transport; also run with
 * ThreadSanitizer.
 *
 * The made-up transport completes a collective after some calls of test(), in any order, and counts wrong calls: from
 * two threads at once, for a busy slot, or while no collective is in flight. */
#include "ddp/comm_thread.h"
#include "kernels/device.h"
#include "kernels/error.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <time.h>

enum { CAPACITY = 40 };

struct made_up {
    int left[CAPACITY]; /* calls of test() until the collective is complete; -1: the slot is free */
    float *buffer[CAPACITY];
    size_t count[CAPACITY];
    int posts, tests, wrong, destroyed, slow;
    int indices[4096];  /* indices of the collectives, in the order of their posts */
    int complete[4096]; /* [i] the number of collectives that were complete before post i */
    int completed;
    _Atomic int inside; /* number of threads that are in a call */
    _Atomic int closed; /* 1: no collective completes */
};

static void enter(struct made_up *m)
{
    m->wrong += m->inside++ != 0;
}

static void made_up_post(void *state, size_t slot, const struct collective *c)
{
    struct made_up *m = state;
    enter(m);
    m->wrong += m->left[slot] >= 0;
    m->left[slot] = m->slow + (m->posts * 7) % 5;
    m->buffer[slot] = c->buffer;
    m->count[slot] = c->count;
    m->complete[m->posts % 4096] = m->completed;
    m->indices[m->posts++ % 4096] = c->index;
    m->inside--;
}

static int made_up_test(void *state, size_t slot)
{
    struct made_up *m = state;
    enter(m);
    m->tests++;
    m->wrong += m->left[slot] < 0;
    int done = !m->closed && m->left[slot]-- <= 0;
    if (done) {
        for (size_t i = 0; i < m->count[slot]; i++)
            m->buffer[slot][i] *= 2; /* the sum over two ranks with equal elements */
        m->left[slot] = -1;
        m->completed++;
    }
    m->inside--;
    return done;
}

static void made_up_destroy(void *state)
{
    ((struct made_up *)state)->destroyed = 1;
}

static struct comm *make(struct made_up *m, struct timeline *timeline, struct comm_progress progress, int slow)
{
    size_t spans[TIMELINE_LANES] = {1, 100000};
    timeline_create(timeline, spans);
    *m = (struct made_up){.slow = slow};
    for (int i = 0; i < CAPACITY; i++)
        m->left[i] = -1;
    struct transport transport = {.post = made_up_post, .test = made_up_test, .destroy = made_up_destroy, .state = m};
    return comm_thread_create("made-up", transport, device_cpu(1), timeline, CAPACITY, progress);
}

/* Lets the communication thread become idle, so that only a signal makes it run again. */
static void rest(struct comm *comm)
{
    float x = 1;
    struct collective c = {.buffer = &x, .count = 1, .index = 0};
    struct timespec pause = {0, 50000000};
    comm->run_blocking(comm, &c);
    nanosleep(&pause, NULL);
}

static void finish(struct comm *comm, struct made_up *m, struct timeline *timeline)
{
    comm->destroy(comm);
    ck_assert_int_eq(m->wrong, 0);
    ck_assert_int_eq(m->destroyed, 1);
    timeline_destroy(timeline);
}

static const struct comm_progress progresses[] = {
    {PROGRESS_POLL, 0, 0}, {PROGRESS_SLEEP, 20, 0}, {PROGRESS_SLEEP, 500, 1}};

TEST_EACH(joined_collectives_are_complete, sizeof progresses / sizeof *progresses)
{
    struct made_up m;
    struct timeline timeline;
    struct comm *comm = make(&m, &timeline, progresses[_i], 3);
    float x[CAPACITY][8];
    long ticket = 0;
    int index = 0;
    for (int round = 0; round < 50; round++) {
        int n = 1 + round % CAPACITY;
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < 8; j++)
                x[i][j] = (float)(i + j);
            struct collective c = {.buffer = x[i], .count = 8, .index = index};
            index++;
            long next = comm->start(comm, &c);
            ck_assert_int_eq(next, ticket + 1);
            ticket = next;
        }
        long half = ticket - n / 2;
        comm->join(comm, half);
        for (int i = 0; i < n - n / 2; i++)
            for (int j = 0; j < 8; j++)
                ck_assert_float_eq(x[i][j], 2 * (float)(i + j));
        comm->join(comm, ticket);
        comm->join(comm, ticket); /* a second join of a ticket returns at once */
        for (int i = 0; i < n; i++)
            for (int j = 0; j < 8; j++)
                ck_assert_float_eq(x[i][j], 2 * (float)(i + j));
    }
    ck_assert_int_eq(m.posts, index);
    for (int i = 0; i < index; i++)
        ck_assert_int_eq(m.indices[i], i); /* collectives start in order */
    ck_assert_uint_eq(timeline.lane[LANE_COMMUNICATION].n, (size_t)index);
    for (size_t i = 0; i < (size_t)index; i++) {
        const struct span *s = &timeline.lane[LANE_COMMUNICATION].span[i];
        ck_assert(s->queued_ns <= s->start_ns && s->start_ns <= s->end_ns);
        ck_assert_uint_eq(s->size[SIZE_BYTES], 32);
    }
    finish(comm, &m, &timeline);
}

/* run_blocking keeps the order of collectives and returns when its collective is complete; later ones still work. */
TEST_EACH(a_run_is_complete_on_return, sizeof progresses / sizeof *progresses)
{
    struct made_up m;
    struct timeline timeline;
    struct comm *comm = make(&m, &timeline, progresses[_i], 2);
    float x[3];
    for (int round = 0; round < 300; round++) {
        for (int i = 0; i < 3; i++)
            x[i] = (float)i + 1;
        struct collective first = {.buffer = &x[0], .count = 1, .index = 3 * round},
                          second = {.buffer = &x[1], .count = 1, .index = 3 * round + 1},
                          third = {.buffer = &x[2], .count = 1, .index = 3 * round + 2};
        if (round % 2)
            comm->start(comm, &first);
        else
            comm->run_blocking(comm, &first);
        comm->run_blocking(comm, &second);
        ck_assert_float_eq(x[0], 2);
        ck_assert_float_eq(x[1], 4);
        comm->join(comm, comm->start(comm, &third));
        ck_assert_float_eq(x[2], 6);
    }
    for (int i = 0; i < 900; i++)
        ck_assert_int_eq(m.indices[i], i);
    finish(comm, &m, &timeline);
}

/* Collectives progress while the training thread does something else: after a start, and after a join of an earlier
 * ticket while a later collective is in flight. */
TEST_EACH(collectives_progress_without_join, 2 * sizeof progresses / sizeof *progresses)
{
    struct made_up m;
    struct timeline timeline;
    int after_join = _i % 2;
    struct comm *comm = make(&m, &timeline, progresses[_i / 2], after_join ? 40 : 100);
    float x[2] = {1, 1};
    rest(comm);
    struct collective first = {.buffer = &x[0], .count = 1, .index = 0},
                      second = {.buffer = &x[1], .count = 1, .index = 1};
    long ticket = comm->start(comm, &first);
    if (after_join) {
        comm->start(comm, &second);
        comm->join(comm, ticket++);
    }
    struct timespec pause = {0, 300000000};
    nanosleep(&pause, NULL);
    int64_t now = clock_now_ns();
    comm->join(comm, ticket);
    ck_assert_float_eq(x[after_join], 2);
    ck_assert_int_lt(timeline.lane[LANE_COMMUNICATION].span[1 + after_join].end_ns, now);
    finish(comm, &m, &timeline);
}

/* The training thread can ask without waiting whether collectives are complete. */
TEST_EACH(completion_is_known_without_join, sizeof progresses / sizeof *progresses)
{
    struct made_up m;
    struct timeline timeline;
    struct comm *comm = make(&m, &timeline, progresses[_i], 3);
    float x[2] = {1, 1};
    m.closed = 1;
    for (int i = 0; i < 2; i++)
        comm->start(comm, &(struct collective){.buffer = &x[i], .count = 1, .index = i});
    ck_assert(comm->complete(comm, 0) && !comm->complete(comm, 1) && !comm->complete(comm, 2));
    m.closed = 0;
    while (!comm->complete(comm, 2))
        nanosleep(&(struct timespec){0, 100000}, NULL);
    ck_assert(x[0] == 2 && x[1] == 2 && comm->complete(comm, 1));
    finish(comm, &m, &timeline);
}

/* Each stage of a bucket is posted when the stage before is complete. The first stages of later buckets do not wait for
 * the later stages of earlier buckets. Every queue keeps its order. */
TEST_EACH(stages_of_several_buckets_are_in_flight, sizeof progresses / sizeof *progresses)
{
    enum { BUCKETS = 6, STAGES = 3 };
    static const enum comm_kind kind[STAGES] = {COMM_REDUCE_SCATTER, COMM_ALL_REDUCE, COMM_ALL_GATHER};
    struct made_up m;
    struct timeline timeline;
    struct comm *comm = make(&m, &timeline, progresses[_i], 20);
    float x[BUCKETS];
    int at[BUCKETS * STAGES];
    long ticket = 0;
    for (int i = 0; i < BUCKETS; i++)
        x[i] = 1;
    comm->ranks = 4;
    comm->local_size = 2;
    m.closed = 1; /* until all are queued */
    for (int i = 0; i < BUCKETS * STAGES; i++) {
        struct collective c = {.kind = kind[i % STAGES],
                               .group = i % STAGES == 1 ? COMM_ACROSS : COMM_HOST,
                               .buffer = &x[i / STAGES],
                               .count = 1,
                               .index = i,
                               .after = i % STAGES ? ticket : 0};
        ticket = comm->start(comm, &c);
    }
    m.closed = 0;
    comm->join(comm, ticket);
    for (int i = 0; i < BUCKETS * STAGES; i++)
        at[m.indices[i]] = i;
    for (int i = 0; i < BUCKETS * STAGES; i++) {
        ck_assert_float_eq(x[i / STAGES], 8);
        ck_assert(i % STAGES == 0 || at[i] > at[i - 1]);
        ck_assert(i % STAGES == 0 || m.complete[at[i]] > 0);
        ck_assert(i < STAGES || at[i] > at[i - STAGES]);
    }
    ck_assert_int_lt(at[STAGES], at[STAGES - 1]); /* bucket 1 begins before the last stage of bucket 0 */
    finish(comm, &m, &timeline);
}

/* Between a join and the next start only the training thread may call the transport; the comm thread does not. */
TEST_EACH(transport_is_not_called_while_idle, sizeof progresses / sizeof *progresses)
{
    struct made_up m;
    struct timeline timeline;
    struct comm *comm = make(&m, &timeline, progresses[_i], 0);
    float x = 1;
    for (int round = 0; round < 20; round++) {
        struct collective c = {.buffer = &x, .count = 1, .index = 0};
        comm->join(comm, comm->start(comm, &c));
        int tests = m.tests; /* the join orders this read after the thread's writes */
        struct timespec pause = {0, 2000000};
        nanosleep(&pause, NULL);
        ck_assert_int_eq(m.tests, tests);
    }
    finish(comm, &m, &timeline);
}

SUITE("comm thread", NULL, NULL)
