/* test_comm_staged.c - collectives on memory that the host cannot read, over a made-up library of three ranks that work
 * alike and a device that does everything late. */
#include "ddp/comm_staged.h"

#include "kernels/error.h"
#include "tests/support/delayed_device.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

enum { CAPACITY = 12, RANK = 1, RANKS = 3, COUNT = 50 };

/* ---- the library ---- */

struct library {
    int left[CAPACITY]; /* tests until complete */
    struct collective collective[CAPACITY];
    int posts, calls, wrong, destroyed;
};

/* In place, in host memory: what the ranks would make of it if each held what this one does. */
static void carry_out(struct library *l, const struct collective *c)
{
    float *x = c->buffer;
    l->wrong += c->in != NULL;
    for (size_t i = 0; i < c->count; i++)
        switch (c->kind) {
        case COMM_ALL_REDUCE:
            x[i] *= RANKS;
            break;
        case COMM_REDUCE_SCATTER:
            x[i] = RANKS * x[RANK * c->count + i];
            break;
        case COMM_ALL_GATHER:
            for (size_t r = 0; r < RANKS; r++)
                x[r * c->count + i] = x[RANK * c->count + i] + (float)r - RANK;
            break;
        default:
            x[i] = c->root == RANK ? x[i] : (float)i;
        }
}

static void library_post(void *state, size_t slot, const struct collective *c)
{
    struct library *l = state;
    l->wrong += c->index != l->posts++; /* in the order of tickets */
    l->left[slot] = l->posts * 7 % 5;
    l->collective[slot] = *c;
}

static int library_test(void *state, size_t slot)
{
    struct library *l = state;
    if (l->left[slot]-- > 0)
        return 0;
    carry_out(l, &l->collective[slot]);
    return 1;
}

static void library_call(void *state, const struct collective *c)
{
    struct library *l = state;
    l->calls++;
    carry_out(l, c);
}

static void library_destroy(void *state)
{
    ((struct library *)state)->destroyed++;
}

/* ---- a comm over it ---- */

static const struct comm_progress progresses[] = {{PROGRESS_POLL, 0}, {PROGRESS_SLEEP, 50}};

static struct comm *make(struct library *l, int progress)
{
    *l = (struct library){.posts = 0};
    struct transport inner = {
        .post = library_post, .test = library_test, .call = library_call, .destroy = library_destroy, .state = l};
    struct transport transport = comm_staged(inner, delayed_device(), RANK, RANKS, CAPACITY);
    return comm_thread_create("made-up", transport, delayed_device(), NULL, CAPACITY, progresses[progress]);
}

static void finish(struct comm *comm, const struct library *l)
{
    comm->destroy(comm);
    ck_assert_int_eq(l->wrong, 0);
    ck_assert_int_eq(l->destroyed, 1);
    ck_assert_int_eq(delayed_device_wrong(), 0);
}

/* ---- one collective, and what must come of it ---- */

struct trial {
    struct collective c;
    float *in, *buffer; /* on the device */
};

static size_t whole(const struct collective *c)
{
    return c->kind == COMM_REDUCE_SCATTER || c->kind == COMM_ALL_GATHER ? RANKS * c->count : c->count;
}

static float input(int index, size_t i)
{
    return (float)(index * 100) + (float)i;
}

static struct trial trial_create(struct comm *comm, enum comm_kind kind, int in_place, int root, int index)
{
    const struct device *device = delayed_device();
    struct trial t = {.c = {.kind = kind, .count = (size_t)(COUNT + index % 7), .root = root, .index = index}};
    size_t n = whole(&t.c);
    float x[RANKS * (COUNT + 7)];
    for (size_t i = 0; i < n; i++)
        x[i] = input(index, i);
    t.in = comm->allocate(comm, n * sizeof *x);
    t.buffer = comm->allocate(comm, n * sizeof *x);
    t.c.buffer = t.buffer;
    t.c.in = in_place ? NULL : t.in;
    size_t own = in_place && kind == COMM_ALL_GATHER ? RANK * t.c.count : 0;
    device->upload(in_place ? t.buffer + own : t.in, x, (n - own) * sizeof *x);
    return t;
}

static void trial_check(struct comm *comm, struct trial *t)
{
    const struct device *device = delayed_device();
    const struct collective *c = &t->c;
    float x[RANKS * (COUNT + 7)];
    size_t wrong = 0, n = c->kind == COMM_ALL_GATHER ? RANKS * c->count : c->count;
    device->download(x, comm_result(comm, c), n * sizeof *x);
    for (size_t i = 0; i < n; i++) {
        size_t from = i / c->count; /* the rank that gave it, where ranks' parts are gathered */
        float gathered = input(c->index, i % c->count) + (float)from - RANK;
        float sent = c->root == RANK ? input(c->index, i) : (float)i;
        float want = c->kind == COMM_ALL_REDUCE       ? RANKS * input(c->index, i)
                     : c->kind == COMM_REDUCE_SCATTER ? RANKS * input(c->index, RANK * c->count + i)
                     : c->kind == COMM_ALL_GATHER     ? gathered
                                                      : sent;
        wrong += x[i] != want;
    }
    ck_assert_uint_eq(wrong, 0);
    comm->release(comm, t->in);
    comm->release(comm, t->buffer);
}

/* The kinds in turn, in place and not, broadcasts from this rank and from another. */
static struct trial trial_of(struct comm *comm, int index)
{
    enum comm_kind kind = (enum comm_kind)(index % COMM_KINDS);
    return trial_create(comm, kind, kind == COMM_BROADCAST || index / 4 % 2, index / 8 % 2 ? RANK : 0, index);
}

START_TEST(joined_results_are_on_the_device)
{
    struct library l;
    struct comm *comm = make(&l, _i);
    int index = 0;
    for (int round = 0; round < 60; round++) {
        struct trial t[CAPACITY];
        int n = 1 + round % CAPACITY;
        long ticket = 0;
        for (int i = 0; i < n; i++) {
            t[i] = trial_of(comm, index++);
            ticket = comm->start(comm, &t[i].c);
        }
        comm->join(comm, ticket);
        for (int i = 0; i < n; i++)
            trial_check(comm, &t[i]);
    }
    ck_assert_int_eq(l.posts, index);
    finish(comm, &l);
}
END_TEST

START_TEST(a_call_is_complete_on_return)
{
    struct library l;
    struct comm *comm = make(&l, _i);
    for (int index = 0; index < 32; index++) {
        struct trial t = trial_of(comm, index);
        comm->call(comm, &t.c);
        trial_check(comm, &t);
    }
    ck_assert_int_eq(l.calls, 32);
    ck_assert_int_eq(l.posts, 0);
    finish(comm, &l);
}
END_TEST

/* What the device was told to do before the start is in it, though it was put off. */
START_TEST(the_input_is_that_of_the_start)
{
    struct library l;
    struct comm *comm = make(&l, _i);
    const struct device *device = delayed_device();
    float one[COUNT], x[COUNT];
    for (int i = 0; i < COUNT; i++)
        one[i] = 1;
    float *in = comm->allocate(comm, sizeof one), *buffer = comm->allocate(comm, sizeof one);
    for (int index = 0; index < 50; index++) {
        struct collective c = {.in = in, .buffer = buffer, .count = COUNT, .index = index};
        device->zero(in, COUNT);
        device->upload(in, one, sizeof one);
        comm->join(comm, comm->start(comm, &c));
        device->download(x, buffer, sizeof x);
        for (int i = 0; i < COUNT; i++)
            ck_assert_float_eq(x[i], RANKS);
    }
    comm->release(comm, in);
    comm->release(comm, buffer);
    finish(comm, &l);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("comm staged");
    TCase *tests = tcase_create("comm staged");
    int n = sizeof progresses / sizeof *progresses;
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, joined_results_are_on_the_device, 0, n);
    tcase_add_loop_test(tests, a_call_is_complete_on_return, 0, n);
    tcase_add_loop_test(tests, the_input_is_that_of_the_start, 0, n);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
