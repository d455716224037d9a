/* test_collectives.c - which rank posted a collective last, and which ranks waited, on 1 to 3 made-up ranks. */
#include "spans/spans.h"
#include "tests/support/made_up.h"
#include "tests/support/suite.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static struct timeline timeline;
static struct collectives collectives;

static void setup(void)
{
    made_up_create(&timeline, 50);
}

static void teardown(void)
{
    collectives_destroy(&collectives);
    timeline_destroy(&timeline);
}

static void create(int ranks, int64_t residual_ns)
{
    struct alignment alignment = {.residual_ns = residual_ns};
    collectives_create(&collectives, &timeline, &alignment, ranks);
}

/* ---- collectives read from a timeline ---- */

TEST(collectives_are_taken_in_the_order_of_tickets)
{
    static const size_t tickets[] = {3, 1, 5, 2, 4};
    struct alignment alignment = {0, 10000, 1000, 110, 70}; /* the clock drifts 1000 ns per second */
    for (size_t i = 0; i < LENGTH(tickets); i++) {
        timeline.step = (int)tickets[i] / 2;
        made_up_collective(&timeline, tickets[i], (int)tickets[i] + 6, tickets[i] * 11, (int64_t)tickets[i] * 100000000,
                           (int64_t)tickets[i] * 100000000 + 777);
    }
    collectives_create(&collectives, &timeline, &alignment, 3);
    ck_assert_uint_eq(collectives.n, LENGTH(tickets));
    ck_assert_int_eq(collectives.ranks, 3);
    ck_assert_int_eq(collectives.residual_ns, 70);
    ck_assert_uint_eq(collectives.attributed, 0);
    for (size_t i = 0; i < collectives.n; i++) {
        const struct timed_collective *r = &collectives.item[i];
        int64_t t = (int64_t)i + 1, posted = t * 100000000 + 10000 + t * 100; /* includes the drift up to that post */
        ck_assert_uint_eq(r->ticket, i + 1);
        ck_assert_int_eq(r->posted_ns, posted);
        ck_assert_int_eq(r->queued_ns, posted - 3 * US);
        ck_assert_int_eq(r->completed_ns, posted + 777);
        ck_assert_uint_eq(r->elements, (i + 1) * 11);
        ck_assert_uint_eq(r->bytes, (i + 1) * 44);
        ck_assert_int_eq(r->index, (int)i + 7);
        ck_assert_int_eq(r->step, ((int)i + 1) / 2);
        ck_assert_int_eq(r->last_rank, -1);
        for (int q = 0; q < 3; q++) /* times of other ranks are unknown */
            ck_assert_int_eq(collective_wait(r, q, 0), -1);
    }
}

TEST(an_empty_timeline_has_no_collectives)
{
    create(2, 10);
    ck_assert_uint_eq(collectives.n, 0);
    collectives_find_last(&collectives, 0, 0, NULL);
    ck_assert_uint_eq(collectives.attributed, 0);
    collectives_destroy(&collectives);
    ck_assert_ptr_null(collectives.item);
}

/* ---- which rank posted last ---- */

static const struct {
    const char *what;
    int ranks;
    int64_t residual, posted[3]; /* ns; posted: time on each rank */
    int last;                    /* -1: unknown, as the clocks are too imprecise */
    int64_t late, wait[3];       /* late: last post minus the post before; wait[q]: of rank q; -1: unknown */
} cases[] = {
    {"one rank waits for nobody", 1, 0, {500}, -1, 0, {-1}},
    {"the second of two", 2, 10, {1000, 1500}, 1, 500, {500, 0}},
    {"the first of two", 2, 10, {1500, 1000}, 0, 500, {0, 500}},
    {"just twice the residual", 2, 10, {1000, 1020}, 1, 20, {20, 0}},
    {"less than that", 2, 10, {1000, 1019}, -1, 19, {-1, -1}},
    {"less than that the other way round", 2, 10, {1019, 1000}, -1, 19, {-1, -1}},
    {"a tie", 2, 10, {1000, 1000}, -1, 0, {-1, -1}},
    {"exact clocks, one nanosecond", 2, 0, {1000, 1001}, 1, 1, {1, 0}},
    {"exact clocks, a tie", 2, 0, {1000, 1000}, -1, 0, {-1, -1}},
    {"the last of three", 3, 10, {1000, 1100, 1300}, 2, 200, {300, 200, 0}},
    {"the middle one of three", 3, 10, {1000, 1300, 1100}, 1, 200, {300, 0, 200}},
    {"the first of three", 3, 10, {1300, 1000, 1100}, 0, 200, {0, 300, 200}},
    {"two late ones together", 3, 10, {1000, 1300, 1300}, -1, 0, {300, -1, -1}},
    {"two late ones apart by little", 3, 10, {1310, 1000, 1300}, -1, 10, {-1, 310, -1}},
    {"all together", 3, 10, {1000, 1005, 1010}, -1, 5, {-1, -1, -1}},
    {"before zero", 2, 10, {-5000, -4000}, 1, 1000, {1000, 0}},
};

TEST_EACH(the_last_rank_is_found, LENGTH(cases))
{
    enum { LENGTH_NS = 4000 };
    struct moments moments[3];
    for (int q = 0; q < cases[_i].ranks; q++)
        moments[q] = (struct moments){cases[_i].posted[q], cases[_i].posted[q] + LENGTH_NS};
    made_up_collective(&timeline, 1, 0, 1, cases[_i].posted[0], cases[_i].posted[0] + LENGTH_NS);
    create(cases[_i].ranks, cases[_i].residual);
    collectives_find_last(&collectives, 0, collectives.n, moments);
    struct timed_collective r = collectives.item[0];
    ck_assert_msg(r.last_rank == cases[_i].last, "%s: last is %d", cases[_i].what, r.last_rank);
    ck_assert_int_eq(r.late_ns, cases[_i].late);
    ck_assert_uint_eq(collectives.attributed, cases[_i].last >= 0);
    for (int q = 0; q < cases[_i].ranks; q++) {
        r.posted_ns = cases[_i].posted[q]; /* as if this were rank q */
        int64_t wait = collective_wait(&r, q, cases[_i].residual);
        ck_assert_msg(wait == cases[_i].wait[q], "%s: rank %d waits %lld ns", cases[_i].what, q, (long long)wait);
    }
}

/* A collective that ends on rank 1 before rank 0 posts it is impossible: the clocks must be wrong. */
TEST(a_collective_cannot_end_before_its_last_post)
{
    static const struct moments moments[2][3] = {{{100, 900}, {1000, 1900}, {2000, 2900}},
                                                 {{200, 200}, {700, 940}, {2100, 2100}}};
    for (size_t i = 0; i < 3; i++)
        made_up_collective(&timeline, i + 1, 0, 1, moments[0][i].posted_ns, moments[0][i].completed_ns);
    create(2, 10);
    collectives_find_last(&collectives, 0, 3, *moments);
    ck_assert_uint_eq(collectives.impossible, 1);
    ck_assert_int_eq(collectives.impossible_ns, 60);
    ck_assert_uint_eq(collectives.attributed, 2);
    for (size_t i = 0; i < 3; i++) {
        const struct timed_collective *c = &collectives.item[i];
        ck_assert_int_eq(c->impossible, i == 1);
        ck_assert_int_eq(c->last_rank, i == 1 ? -1 : 1);
        ck_assert_int_eq(collective_wait(c, 0, 10), i == 1 ? -1 : 100);
        ck_assert_int_eq(c->last_posted_ns, moments[i != 1][i].posted_ns);
    }
}

SUITE("collectives", setup, teardown)
