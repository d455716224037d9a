/* test_activity.c - records of a tracer: their order, what waits refer to, and what finds no room. */
#include "kernels/activity.h"
#include "tests/support/suite.h"

static struct activities all;

static void setup(void)
{
    activities_create(&all, 8, 8);
}

static void teardown(void)
{
    activities_destroy(&all);
}

static void add(enum activity_kind kind, uint32_t correlation, int64_t start_ns, int64_t end_ns)
{
    activities_add(&all, &(struct activity){.kind = kind,
                                            .correlation = correlation,
                                            .start_ns = start_ns,
                                            .end_ns = end_ns,
                                            .context = 1,
                                            .call = {.marks = kind == ACTIVITY_CALL}});
}

static void add_wait(uint32_t correlation, uint32_t context, uint32_t event)
{
    activities_add(&all, &(struct activity){.kind = ACTIVITY_WAIT,
                                            .correlation = correlation,
                                            .start_ns = 1000 + correlation,
                                            .end_ns = 1000 + correlation,
                                            .context = context,
                                            .wait = {event, ACTIVITY_NONE, ACTIVITY_NONE}});
}

static const struct activity *with(uint32_t correlation)
{
    for (size_t i = 0; i < all.n; i++)
        if (all.of[i].correlation == correlation)
            return &all.of[i];
    ck_abort_msg("no %u", correlation);
}

START_TEST(order_is_by_time)
{
    static const uint32_t want[] = {3, 2, 4, 1};
    add(ACTIVITY_KERNEL, 1, 300, 310);
    add(ACTIVITY_KERNEL, 2, 200, 300);
    add(ACTIVITY_KERNEL, 3, 100, 110);
    add(ACTIVITY_KERNEL, 4, 200, 250); /* within what began with it */
    activities_settle(&all);
    for (size_t i = 0; i < 4; i++)
        ck_assert_uint_eq(all.of[i].correlation, want[i]);
}
END_TEST

START_TEST(what_finds_no_room_is_counted)
{
    for (uint32_t i = 0; i < 11; i++)
        add(ACTIVITY_KERNEL, i, 10 + i, 20 + i);
    for (uint32_t i = 0; i < 10; i++)
        activities_add_mark(&all, &(struct activity_mark){i, 1, 7, 5});
    ck_assert_uint_eq(all.n, 8);
    ck_assert_uint_eq(all.marks, 8);
    ck_assert_uint_eq(all.dropped, 5);
    struct activities_mark place = {3, 2};
    activities_rewind(&all, &place);
    place = activities_mark(&all);
    ck_assert_uint_eq(place.n, 3);
    ck_assert_uint_eq(place.marks, 2);
    add(ACTIVITY_KERNEL, 99, 10, 20);
    ck_assert_uint_eq(all.n, 4);
    ck_assert_uint_eq(all.of[3].correlation, 99);
}
END_TEST

/* An event is recorded again and again, and records come in any order. */
START_TEST(a_wait_is_for_the_last_record_before_it)
{
    static const uint32_t recorded[] = {50, 10, 30}, waits[] = {9, 11, 29, 31, 60},
                          want[] = {ACTIVITY_NONE, 10, 10, 30, 50};
    for (size_t i = 0; i < 5; i++)
        add_wait(waits[i], 1, 5);
    for (size_t i = 0; i < 3; i++)
        activities_add_mark(&all, &(struct activity_mark){recorded[i], 1, 7 + recorded[i], 5});
    activities_add_mark(&all, &(struct activity_mark){28, 1, 99, 6}); /* another event */
    activities_add_mark(&all, &(struct activity_mark){28, 2, 99, 5}); /* of another context */
    activities_settle(&all);
    for (size_t i = 0; i < 5; i++) {
        ck_assert_uint_eq(with(waits[i])->wait.correlation, want[i]);
        ck_assert_uint_eq(with(waits[i])->wait.stream, want[i] == ACTIVITY_NONE ? ACTIVITY_NONE : 7 + want[i]);
    }
}
END_TEST

START_TEST(calls_know_that_they_are_waited_for)
{
    add(ACTIVITY_CALL, 10, 10, 20);
    add(ACTIVITY_CALL, 20, 30, 40);
    activities_add_mark(&all, &(struct activity_mark){10, 1, 7, 5});
    activities_add_mark(&all, &(struct activity_mark){20, 1, 7, 6});
    activities_settle(&all);
    ck_assert_int_eq(with(10)->call.waited + with(20)->call.waited, 0);
    add_wait(30, 1, 6); /* more came */
    activities_settle(&all);
    ck_assert_int_eq(with(10)->call.waited, 0);
    ck_assert_int_eq(with(20)->call.waited, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("activity");
    TCase *tests = tcase_create("activity");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, order_is_by_time);
    tcase_add_test(tests, what_finds_no_room_is_counted);
    tcase_add_test(tests, a_wait_is_for_the_last_record_before_it);
    tcase_add_test(tests, calls_know_that_they_are_waited_for);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
