/* test_timeline.c - spans get the current step, a full lane counts dropped spans, clear and rewind remove spans. */
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

TEST(spans_know_their_step)
{
    static const int steps[] = {0, 3, 3, 5, 1000000};
    made_up_create(&timeline, 5);
    for (int i = 0; i < 5; i++) {
        timeline.step = steps[i];
        add(LANE_COMMUNICATION, i); /* the step in the caller's span is ignored */
    }
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(timeline.lane[LANE_COMMUNICATION].span[i].step, steps[i]);
}

TEST(a_full_lane_drops)
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
        for (size_t i = 0; i < lane->n; i++) /* the first spans are kept */
            ck_assert_int_eq(lane->span[i].index, 10 * l + (int)i);
    }
}

TEST(clearing_keeps_what_was_allocated)
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

TEST(rewinding_forgets_what_came_since)
{
    made_up_create(&timeline, 6);
    for (int l = 0; l < TIMELINE_LANES; l++)
        for (int i = 0; i < l; i++) /* lane l gets l spans */
            add((enum timeline_lane)l, i);
    struct timeline_mark place = timeline_mark(&timeline);
    timeline_rewind(&timeline, &place); /* no span was added since the mark */
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

SUITE("timeline", NULL, teardown)
