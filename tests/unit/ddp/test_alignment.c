/* test_alignment.c - readings of a clock in rank 0's time: offset, drift, and no more than a nanosecond from exact. */
#include "ddp/alignment.h"
#include "tests/support/suite.h"

#include <math.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static const int64_t second = 1000000000, day = 86400000000000;

static struct alignment between(int64_t at, int64_t offset, int64_t apart, int64_t change)
{
    return (struct alignment){{at, offset, 30}, {at + apart, offset + change, 50}};
}

START_TEST(one_sample_is_an_offset)
{
    static const int64_t offsets[] = {0, 1, -1, 500, -123456789012345, 123456789012345};
    for (size_t i = 0; i < LENGTH(offsets); i++) {
        struct alignment a = {.before = {1000, offsets[i], 30}};
        ck_assert_double_eq(alignment_drift(&a), 0);
        ck_assert_int_eq(alignment_apply(&a, 1000), 1000 + offsets[i]);
        ck_assert_int_eq(alignment_apply(&a, 0), offsets[i]);
        ck_assert_int_eq(alignment_apply(&a, 30 * day), 30 * day + offsets[i]);
        ck_assert_int_eq(alignment_residual_ns(&a), 30);
    }
}
END_TEST

/* A second sample that was not taken yet, or none later than the first, says nothing of drift. */
START_TEST(a_sample_no_later_does_not_count)
{
    static const int64_t at[] = {0, 999, 1000};
    for (size_t i = 0; i < LENGTH(at); i++) {
        struct alignment a = {{1000, 500, 30}, {at[i], 99999, 70}};
        ck_assert_double_eq(alignment_drift(&a), 0);
        ck_assert_int_eq(alignment_apply(&a, 5000), 5500);
        ck_assert_int_eq(alignment_residual_ns(&a), 30);
    }
}
END_TEST

START_TEST(drift_is_per_second)
{
    struct alignment a = between(1000, 500, second, 2000);
    ck_assert_double_eq_tol(alignment_drift(&a), 2000, 1e-9);
    ck_assert_int_eq(alignment_apply(&a, 1000), 1500);
    ck_assert_int_eq(alignment_apply(&a, 1000 + second / 2), 1000 + second / 2 + 1500);
    ck_assert_int_eq(alignment_apply(&a, 1000 + second), 1000 + second + 2500);
    ck_assert_int_eq(alignment_apply(&a, 1000 + 2 * second), 1000 + 2 * second + 4500); /* goes on behind it */
    ck_assert_int_eq(alignment_apply(&a, 1000 - second / 4), 1000 - second / 4);        /* and before */
    ck_assert_int_eq(alignment_residual_ns(&a), 50);
    a = between(1000, 500, second / 10, -2000);
    ck_assert_double_eq_tol(alignment_drift(&a), -20000, 1e-9);
    ck_assert_int_eq(alignment_apply(&a, 1000 + second / 20), 1000 + second / 20 - 500);
}
END_TEST

START_TEST(the_larger_residual_counts)
{
    struct alignment a = {{1000, 0, 80}, {2000, 0, 50}};
    ck_assert_int_eq(alignment_residual_ns(&a), 80);
    a.after.residual_ns = 81;
    ck_assert_int_eq(alignment_residual_ns(&a), 81);
    a = (struct alignment){{5, 0, 0}, {6, 0, 0}}; /* rank 0 */
    ck_assert_int_eq(alignment_residual_ns(&a), 0);
}
END_TEST

/* Halves are rounded, and the last bits of a double lost, also after weeks of uptime. */
START_TEST(times_are_the_nearest_nanosecond)
{
    static const int64_t at[] = {0, 1000, 40 * 86400000000000}, apart[] = {1000, 50000001, 3600000000000},
                         change[] = {0, 1, -1, 333, -777, 99991, -99991},
                         offset[] = {0, 86400000000123, -86399999999877};
    for (size_t i = 0; i < LENGTH(at) * LENGTH(apart) * LENGTH(change) * LENGTH(offset); i++) {
        int64_t length = apart[i / LENGTH(at) % LENGTH(apart)];
        int64_t by = change[i / LENGTH(at) / LENGTH(apart) % LENGTH(change)];
        int64_t base = offset[i / LENGTH(at) / LENGTH(apart) / LENGTH(change)], start = at[i % LENGTH(at)];
        struct alignment a = between(start, base, length, by);
        for (int64_t part = 0; part <= 7; part++) {
            int64_t since = length / 7 * part;
            long double exact = (long double)by * (long double)since / (long double)length;
            long double got = (long double)(alignment_apply(&a, start + since) - start - since - base);
            ck_assert_double_le((double)fabsl(got - exact), 0.5 + 1e-6);
        }
    }
}
END_TEST

/* Later stays later, or the same nanosecond: rows of a trace must keep their nesting. */
START_TEST(order_is_kept)
{
    static const int64_t change[] = {0, 17, 500000, 900000000, -17, -500000, -900000000}; /* in a second */
    for (size_t c = 0; c < LENGTH(change); c++) {
        struct alignment a = between(40 * day, -3 * day, second, change[c]);
        for (int64_t start = 0; start <= second; start += second / 5) {
            int64_t before = alignment_apply(&a, 40 * day + start - 1);
            for (int64_t i = 0; i < 5000; i++) {
                int64_t now = alignment_apply(&a, 40 * day + start + i);
                ck_assert_int_ge(now, before);
                before = now;
            }
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("alignment");
    TCase *tests = tcase_create("alignment");
    tcase_add_test(tests, one_sample_is_an_offset);
    tcase_add_test(tests, a_sample_no_later_does_not_count);
    tcase_add_test(tests, drift_is_per_second);
    tcase_add_test(tests, the_larger_residual_counts);
    tcase_add_test(tests, times_are_the_nearest_nanosecond);
    tcase_add_test(tests, order_is_kept);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
