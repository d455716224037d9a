/* test_attainable.c - the attainable step time of a bucket plan, compared with values by hand; and arrays that grow. */
#include "tests/support/suite.h"
#include "training/training.h"

#include <stdlib.h>

TEST(attainable_by_hand)
{
    const struct {
        int n;
        double ready[3], alone[3], backward_end, rest, expected;
    } rows[] = {
        {0, {0}, {0}, 10, 1, 11},                     /* no buckets */
        {1, {10}, {3}, 10, 1, 14},                    /* the bucket is sent after backward */
        {1, {4}, {3}, 10, 1, 11},                     /* the bucket is hidden by backward */
        {1, {4}, {8}, 10, 0, 12},                     /* 2 s of communication are exposed */
        {3, {2, 6, 10}, {1, 1, 1}, 10, 2, 13},        /* the last bucket decides: 10 + 1 + 2 */
        {3, {2, 6, 10}, {5, 5, 1}, 10, 0, 13},        /* the first bucket decides: 2 + 5 + 5 + 1 */
        {3, {2, 8, 10}, {1, 6, 1}, 10, 0.5, 15.5},    /* the second bucket decides: 8 + 6 + 1 */
        {3, {2, 6, 10}, {0, 0, 0}, 10, 3, 13},        /* communication takes no time */
        {2, {9, 10}, {0.25, 0.25}, 10.75, 0, 10.75},  /* backward continues after the last gradient */
        {2, {0.5, 0.75}, {1e-3, 4}, 1, 0.125, 4.875}, /* a large last bucket */
    };
    const double within[3] = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_double_eq_tol(
            attainable_of_plan(rows[i].n, rows[i].ready, rows[i].alone, within, rows[i].backward_end, rows[i].rest),
            rows[i].expected, 1e-12);
}

/* Stages of one bucket within hosts run at the same time as stages of another bucket across hosts. */
TEST(stages_by_hand)
{
    const struct {
        double ready[2], alone[2], within[2], expected;
    } rows[] = {
        {{2, 10}, {4, 1}, {4, 2}, 13}, /* the last bucket decides: 10 + 1 + 2 */
        {{2, 4}, {4, 5}, {1, 1}, 11},  /* stages across hosts decide: 2 + 4 + 5 */
        {{2, 4}, {1, 1}, {5, 6}, 13},  /* stages within hosts decide: 2 + 5 + 6 */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_double_eq(attainable_of_plan(2, rows[i].ready, rows[i].alone, rows[i].within, 10, 0),
                            rows[i].expected);
}

TEST(gathers_by_hand)
{
    ck_assert_double_eq(attainable_gather(0, 0, 3, 1, 1), 0); /* nothing to gather */
    ck_assert_double_eq(attainable_gather(4, 4, 3, 1, 1), 4); /* one bucket: gathered between update and forward */
    ck_assert_double_eq(attainable_gather(4, 0.5, 3, 1, 0.25), 0.25); /* the rest of the update hides some of it */
    ck_assert_double_eq(attainable_gather(4, 1.5, 3, 1, 0.25), 0.75); /* the first bucket decides */
    ck_assert_double_eq(attainable_gather(3.5, 0.5, 3, 1, 0.25), 0);  /* all hidden */
}

TEST(series_stay_when_they_get_room)
{
    double *series = malloc(6 * sizeof *series);
    for (int i = 0; i < 3; i++) {
        series[i] = i;
        series[3 + i] = 10 + i; /* 2 series of 3 values */
    }
    size_t room = 3;
    series_grow(&series, 2, &room);
    ck_assert_uint_eq(room, 6);
    for (int i = 0; i < 12; i++)
        ck_assert_double_eq(series[i], i % 6 < 3 ? 10 * (i / 6) + i % 6 : 0);
    free(series);
}

SUITE("attainable", NULL, NULL)
