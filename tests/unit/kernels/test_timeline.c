/* test_timeline.c - spans go where they belong, a full lane counts what it drops, and what clearing and rewinding
 * forget. */
#include "tests/support/made_up.h"
#include "tests/support/suite.h"

static struct timeline timeline;

static void add(enum timeline_lane lane, int index)
{
    timeline_add(&timeline, lane, (struct span){.name = "span", .start_ns = 7 * index, .index = index, .step = -99});
}

static void teardown(void)
{
    timeline_destroy(&timeline);
}

START_TEST(a_new_timeline_is_empty)
{
    static const size_t capacity[TIMELINE_LANES] = {3, 1, 0, 7};
    timeline_create(&timeline, capacity);
    ck_assert_int_eq(timeline.step, 0);
    for (int l = 0; l < TIMELINE_LANES; l++) {
        ck_assert_uint_eq(timeline.lane[l].capacity, capacity[l]);
        ck_assert_uint_eq(timeline.lane[l].n, 0);
        ck_assert_uint_eq(timeline.lane[l].dropped, 0);
    }
    timeline_destroy(&timeline);
    ck_assert_ptr_null(timeline.lane[LANE_HOST].span);
    timeline_destroy(&timeline); /* a zeroed one is fine */
}
END_TEST

START_TEST(spans_know_their_step)
{
    static const int steps[] = {0, 3, 3, 5, 1000000};
    made_up_create(&timeline, 5);
    for (int i = 0; i < 5; i++) {
        timeline.step = steps[i];
        add(LANE_COMMUNICATION, i); /* what the caller says of the step does not count */
    }
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(timeline.lane[LANE_COMMUNICATION].span[i].step, steps[i]);
}
END_TEST

START_TEST(nothing_else_is_changed)
{
    struct span span = {.name = "name",
                        .queued_ns = 1,
                        .start_ns = 22,
                        .end_ns = 333,
                        .returned_ns = 444,
                        .size = {4, 55, 666, 7777},
                        .index = -8};
    made_up_create(&timeline, 1);
    timeline_add(&timeline, LANE_COMPUTE, span);
    const struct span *kept = timeline.lane[LANE_COMPUTE].span;
    ck_assert_ptr_eq(kept->name, span.name);
    ck_assert_int_eq(kept->queued_ns, 1);
    ck_assert_int_eq(kept->returned_ns, 444);
    ck_assert_int_eq(kept->start_ns, 22);
    ck_assert_int_eq(kept->end_ns, 333);
    ck_assert_mem_eq(kept->size, span.size, sizeof span.size);
    ck_assert_int_eq(kept->index, -8);
}
END_TEST

START_TEST(a_full_lane_drops)
{
    static const size_t capacity[TIMELINE_LANES] = {3, 0, 1, 2};
    timeline_create(&timeline, capacity);
    for (int l = 0; l < TIMELINE_LANES; l++)
        for (int i = 0; i < 5; i++)
            add((enum timeline_lane)l, 10 * l + i);
    for (int l = 0; l < TIMELINE_LANES; l++) {
        const struct lane *lane = &timeline.lane[l];
        ck_assert_uint_eq(lane->n, capacity[l]);
        ck_assert_uint_eq(lane->dropped, 5 - capacity[l]);
        for (size_t i = 0; i < lane->n; i++) /* the first ones are kept */
            ck_assert_int_eq(lane->span[i].index, 10 * l + (int)i);
    }
}
END_TEST

START_TEST(clearing_keeps_what_was_allocated)
{
    made_up_create(&timeline, 2);
    timeline.step = 4;
    for (int l = 0; l < TIMELINE_LANES; l++)
        for (int i = 0; i < 3; i++)
            add((enum timeline_lane)l, i);
    timeline_clear(&timeline);
    ck_assert_int_eq(timeline.step, 0);
    for (int l = 0; l < TIMELINE_LANES; l++) {
        int memory = l == LANE_MEMORY;
        ck_assert_uint_eq(timeline.lane[l].n, memory ? 2 : 0);
        ck_assert_uint_eq(timeline.lane[l].dropped, memory ? 1 : 0);
        ck_assert_uint_eq(timeline.lane[l].capacity, 2);
    }
    ck_assert_int_eq(timeline.lane[LANE_MEMORY].span[1].index, 1);
    ck_assert_int_eq(timeline.lane[LANE_MEMORY].span[1].step, 4);
    add(LANE_HOST, 9);
    ck_assert_int_eq(timeline.lane[LANE_HOST].span[0].index, 9);
    ck_assert_int_eq(timeline.lane[LANE_HOST].span[0].step, 0);
}
END_TEST

START_TEST(rewinding_forgets_what_came_since)
{
    made_up_create(&timeline, 6);
    for (int l = 0; l < TIMELINE_LANES; l++)
        for (int i = 0; i < l; i++) /* as many as the lane's number: the first is empty */
            add((enum timeline_lane)l, i);
    struct timeline_mark place = timeline_mark(&timeline);
    timeline_rewind(&timeline, &place); /* nothing came since */
    for (int l = 0; l < TIMELINE_LANES; l++)
        ck_assert_uint_eq(timeline.lane[l].n, (size_t)l);
    for (int l = 0; l < TIMELINE_LANES; l++)
        for (int i = 0; i < 2; i++)
            add((enum timeline_lane)l, 100 + i);
    timeline_rewind(&timeline, &place);
    for (int l = 0; l < TIMELINE_LANES; l++) {
        const struct lane *lane = &timeline.lane[l];
        ck_assert_uint_eq(lane->n, (size_t)l);
        for (int i = 0; i < l; i++)
            ck_assert_int_eq(lane->span[i].index, i);
        add((enum timeline_lane)l, 200);
        ck_assert_int_eq(lane->span[l].index, 200);
    }
}
END_TEST

START_TEST(the_clock_goes_on)
{
    int64_t before = clock_now_ns();
    clock_sleep_until(before - 1000000000); /* long past: returns at once */
    clock_sleep_until(before + 5000000);
    int64_t after = clock_now_ns();
    ck_assert_int_ge(after - before, 5000000);
    for (int i = 0; i < 1000; i++) {
        int64_t now = clock_now_ns();
        ck_assert_int_ge(now, after);
        after = now;
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("timeline");
    TCase *tests = tcase_create("timeline");
    tcase_add_checked_fixture(tests, NULL, teardown);
    tcase_add_test(tests, a_new_timeline_is_empty);
    tcase_add_test(tests, spans_know_their_step);
    tcase_add_test(tests, nothing_else_is_changed);
    tcase_add_test(tests, a_full_lane_drops);
    tcase_add_test(tests, clearing_keeps_what_was_allocated);
    tcase_add_test(tests, rewinding_forgets_what_came_since);
    tcase_add_test(tests, the_clock_goes_on);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
