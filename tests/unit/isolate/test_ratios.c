/* test_ratios.c - ratios to the median of a group, their decisions at an interval's limits, and rows that are joined.
 */
#include "isolate/ratios.h"

#include "kernels/error.h"
#include "tests/support/noise.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdlib.h>

static struct ratios ratios;

/* Makes ratios of a group of `columns`, all undecided, at a resolution of 10 %. */
static void create(size_t columns, size_t bytes)
{
    ratios_destroy(&ratios);
    ratios_create(&ratios, columns, 1, bytes);
    ratios.of[0] = (struct ratios_group){.resolve = 0.1, .healthy = 1};
    for (size_t c = 0; c < columns; c++)
        ratios.state[c] = SERIES_UNDECIDED;
}

static void tear_down(void)
{
    ratios_destroy(&ratios);
}

TEST(lower_median_is_the_reference)
{
    create(4, 0);
    ratios_add(&ratios, (float[]){8, 2, 4, 16});
    for (size_t c = 0; c < 4; c++)
        ck_assert_float_eq_tol(ratios.row[0][c], ((float[]){2, 0.5f, 1, 4})[c], 1e-6f);
    ck_assert_double_eq_tol(ratios_seconds(&ratios, (size_t[]){3}, 1).median, 16, 1e-5);
    ck_assert_double_eq_tol(ratios_seconds(&ratios, (size_t[]){0, 1}, 2).median, 4, 1e-5);
    create(1, 0); /* a column without peers */
    ratios_add(&ratios, (float[]){8});
    ck_assert_double_eq_tol(ratios_seconds(&ratios, (size_t[]){0}, 1).median, 8, 1e-5);
    create(3, 0);
    ratios.of[0].lowest = 1;
    ratios_add(&ratios, (float[]){8, 2, 4});
    ck_assert_float_eq_tol(ratios.row[0][0], 4, 1e-5f);
}

TEST(columns_not_measured_are_not_judged)
{
    create(4, 0);
    for (int i = 0; i < 20; i++)
        ratios_add(&ratios, (float[]){1, 1, NAN, 1});
    ck_assert_uint_eq(ratios_decide(&ratios, 0.01), 0);
    ck_assert_int_eq(ratios.state[2], SERIES_NONE);
    ck_assert_int_eq(ratios.state[3], SERIES_HEALTHY);
}

/* Returns the state of a column that is not healthy yet, according to the interval of stats_paired_anytime. Updates the
 * n from which on the column has been slow. */
static int expected_state(size_t column, const double *ratio, double alpha, size_t *slow_from)
{
    struct estimate p = stats_paired_anytime(ratio, NULL, ratios.n, 1 - alpha);
    double healthy = ratios.of[ratios.group[column]].healthy;
    int slow = p.ci_low > healthy * 1.05;
    *slow_from = !slow ? 0 : *slow_from ? *slow_from : ratios.n;
    if (slow)
        return ratios.n >= 2 * *slow_from ? SERIES_SLOW : SERIES_UNDECIDED;
    return p.ci_high < healthy * 1.1 ? SERIES_HEALTHY : SERIES_UNDECIDED;
}

/* Decisions follow the interval. The decision that a series is healthy is final. */
TEST(decisions_agree_with_the_interval)
{
    enum { COLUMNS = 9, N = 200 };
    double ratio[COLUMNS][N], alpha = 0.01;
    int decided[4] = {0};
    for (int run = 0; run < 10; run++) {
        size_t slow_from[COLUMNS] = {0};
        int state[COLUMNS];
        noise_start((uint64_t)run);
        create(COLUMNS, 0x100000);
        for (int c = 0; c < COLUMNS; c++)
            state[c] = SERIES_UNDECIDED;
        for (size_t n = 0; n < N; n++) {
            float seconds[COLUMNS];
            for (int c = 0; c < COLUMNS; c++)
                seconds[c] = (float)((1 + 0.03 * c) * exp(0.05 * noise_normal()));
            ratios_add(&ratios, seconds);
            ratios_decide(&ratios, alpha);
            for (size_t c = 0; c < COLUMNS; c++) {
                ratio[c][n] = ratios.row[n][c];
                if (state[c] != SERIES_HEALTHY)
                    decided[state[c] = expected_state(c, ratio[c], alpha, &slow_from[c])]++;
                ck_assert_int_eq(ratios.state[c], state[c]);
            }
        }
    }
    ck_assert_int_gt(decided[SERIES_SLOW], 10);
    ck_assert_int_gt(decided[SERIES_HEALTHY], 10);
}

/* One column is disturbed in the first 15 repetitions. Fewer than these make it look slow at first. */
TEST(disturbance_that_passes_is_no_fault)
{
    create(5, 0);
    for (int n = 0; n < 63; n++) {
        ratios_add(&ratios, (float[]){1, 1, n < 15 ? 2 : 1, 1, 1});
        ratios_decide(&ratios, 0.01);
        ck_assert_int_ne(ratios.state[2], SERIES_SLOW);
        if (n == 14)
            ck_assert_uint_gt(ratios.slow_from[2], 0);
    }
    ck_assert_uint_eq(ratios.slow_from[2], 0);
    ck_assert_int_eq(ratios.state[2], SERIES_HEALTHY);
}

/* A column that was slow at first is not reported as slow for ever. */
TEST(slow_column_may_recover)
{
    create(5, 0x100000);
    for (int n = 0; n < 200; n++) {
        ratios_add(&ratios, (float[]){1, 1, n < 40 ? 2 : 1, 1, 1});
        ratios_decide(&ratios, 0.01);
        if (n == 39)
            ck_assert_int_eq(ratios.state[2], SERIES_SLOW);
    }
    ck_assert_int_eq(ratios.state[2], SERIES_HEALTHY);
}

/* The lower median of 4 columns is low by chance, here by 3 % at 10 % noise. Healthy columns are not called slow. */
TEST(few_columns_are_compared_with_a_healthy_one)
{
    create(4, 0);
    ratios.of[0].resolve = 0.02;
    noise_start(1);
    for (int n = 0; n < 20000; n++) {
        float seconds[4];
        for (int c = 0; c < 4; c++)
            seconds[c] = (float)exp(0.1 * noise_normal());
        ratios_add(&ratios, seconds);
    }
    ratios_decide(&ratios, 0.01);
    ck_assert_double_gt(ratios.of[0].healthy, 1.02);
    for (int c = 0; c < 4; c++)
        ck_assert_int_eq(ratios.state[c], SERIES_HEALTHY);
}

TEST(rows_are_joined_when_memory_is_full)
{
    create(3, 0); /* 64 rows, the least */
    for (int n = 0; n < 1000; n++) {
        ratios_add(&ratios, (float[]){1, 1, n % 2 ? 2 : 8});
        ratios_decide(&ratios, 0.01);
        ck_assert_uint_lt(ratios.n, 64);
    }
    ck_assert_uint_eq(ratios.batch, 16);
    ck_assert_uint_eq(ratios.n, 1000 / 16);
    ck_assert_uint_eq(ratios.pending, 1000 % 16);
    for (size_t i = 0; i < ratios.n; i++)
        ck_assert_float_eq_tol(ratios.row[i][2], 4, 1e-4f); /* the geometric mean of 2 and 8 */
    ck_assert_int_eq(ratios.state[2], SERIES_SLOW);
    ck_assert_uint_ge(ratios.slow_from[2], 1); /* from about the first 10 repetitions on, now one row */
    ck_assert_uint_le(ratios.slow_from[2], 2);
    double pooled[64];
    ratios_pool(&ratios, (size_t[]){0, 2}, 2, pooled);
    ck_assert_double_eq_tol(pooled[5], 2, 1e-4);
}

SUITE("ratios", NULL, tear_down)
