/* test_alignment.c - clock readings converted to rank 0's time: offset, drift, and errors of at most a nanosecond. */
#include "ddp/alignment.h"
#include "tests/support/suite.h"

#include <math.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static const int64_t second = 1000000000, day = 86400000000000;

static struct alignment between(int64_t at, int64_t offset, int64_t apart, int64_t change)
{
    const struct clock_sample before = {at, offset, 30}, after = {at + apart, offset + change, 50};
    return alignment_between(&before, &after);
}

TEST(one_sample_is_an_offset)
{
    static const int64_t offsets[] = {0, 1, -1, 500, -123456789012345, 123456789012345};
    for (size_t i = 0; i < LENGTH(offsets); i++) {
        struct alignment a = alignment_from(&(struct clock_sample){1000, offsets[i], 30});
        ck_assert_double_eq(a.drift, 0);
        ck_assert_int_eq(alignment_apply(&a, 1000), 1000 + offsets[i]);
        ck_assert_int_eq(alignment_apply(&a, 0), offsets[i]);
        ck_assert_int_eq(alignment_apply(&a, 30 * day), 30 * day + offsets[i]);
        ck_assert_int_eq(a.residual_ns, 30);
    }
}

TEST(drift_is_per_second)
{
    struct alignment a = between(1000, 500, second, 2000);
    ck_assert_double_eq_tol(a.drift, 2000, 1e-9);
    ck_assert_double_eq_tol(a.drift_error, 80, 1e-9);
    ck_assert_int_eq(alignment_apply(&a, 1000), 1500);
    ck_assert_int_eq(alignment_apply(&a, 1000 + second / 2), 1000 + second / 2 + 1500);
    ck_assert_int_eq(alignment_apply(&a, 1000 + second), 1000 + second + 2500);
    ck_assert_int_eq(alignment_apply(&a, 1000 + 2 * second), 1000 + 2 * second + 4500); /* a time after both samples */
    ck_assert_int_eq(alignment_apply(&a, 1000 - second / 4), 1000 - second / 4);        /* a time before both samples */
    ck_assert_int_eq(a.residual_ns, 50);
    a = between(1000, 500, second / 10, -2000);
    ck_assert_double_eq_tol(a.drift, -20000, 1e-9);
    ck_assert_int_eq(alignment_apply(&a, 1000 + second / 20), 1000 + second / 20 - 500);
}

/* A drift within its error or above 200 us/s (quartz clocks drift less) is ignored; the more precise offset is used. */
static const struct {
    const char *what;
    struct clock_sample before, after;
    int64_t drift, offset, residual;
} samples[] = {
    {"the same clock", {0, 0, 0}, {1000000000, 0, 0}, 0, 0, 0},
    {"beyond its error", {0, 500, 30}, {1000000000, 581, 50}, 81, 500, 50},
    {"within its error", {0, 500, 30}, {1000000000, 580, 50}, 0, 500, 130},
    {"within its error, the second better", {0, 500, 50}, {1000000000, 420, 30}, 0, 420, 130},
    {"the same twice, once by long trips", {0, 500, 30}, {1000000000, 500, 2000000}, 0, 500, 200030},
    {"largest drift of a quartz clock", {0, 500, 30}, {1000000, 500 + 200, 50}, 200000, 500, 50},
    {"more drift than a quartz clock has", {0, 500, 30}, {1000000, 500 + 201, 50}, 0, 500, 251},
    {"more drift than a quartz clock has, the second better", {0, 500, 50}, {1000000, 500 - 201, 30}, 0, 299, 251},
};

TEST_EACH(drift_is_applied_where_it_is_known, LENGTH(samples))
{
    struct alignment a = alignment_between(&samples[_i].before, &samples[_i].after);
    ck_assert_msg(fabs(a.drift - (double)samples[_i].drift) < 1e-6, "%s: drift is %g", samples[_i].what, a.drift);
    ck_assert_msg(alignment_apply(&a, a.at_ns) == a.at_ns + samples[_i].offset, "%s: offset is %lld", samples[_i].what,
                  (long long)a.offset_ns);
    ck_assert_msg(a.residual_ns == samples[_i].residual, "%s: residual is %lld", samples[_i].what,
                  (long long)a.residual_ns);
}

/* The offset moves just far enough to meet the bounds, or, if bounds and samples contradict, to their middle. */
static const struct {
    const char *what;
    int64_t least, most, offset, residual; /* bounds of the change; result expected from offset 500, residual 100 */
} bounds[] = {
    {"wide ones", -1000, 1000, 500, 100},
    {"none", INT64_MIN, INT64_MAX, 500, 100},
    {"narrow ones around it", -20, 30, 500, 30},
    {"none below", INT64_MIN, 30, 500, 100},
    {"only later", 40, 1000, 540, 60},
    {"only earlier", -90, -20, 480, 70},
    {"all that the residual allows", 100, 1000, 600, 0},
    {"later than the residual allows", 160, 1000, 630, 160},
    {"earlier than the residual allows", -1000, -160, 370, 160},
    {"against each other", 50, 30, 540, 120},
};

TEST_EACH(bounds_move_and_narrow, LENGTH(bounds))
{
    struct alignment a = {.at_ns = 1000, .offset_ns = 500, .residual_ns = 100};
    alignment_bound(&a, bounds[_i].least, bounds[_i].most);
    ck_assert_msg(a.offset_ns == bounds[_i].offset, "%s: offset is %lld", bounds[_i].what, (long long)a.offset_ns);
    ck_assert_msg(a.residual_ns == bounds[_i].residual, "%s: residual is %lld", bounds[_i].what,
                  (long long)a.residual_ns);
}

/* Conversion rounds to the nearest nanosecond, also after weeks of uptime, when a double is less precise than that. */
TEST(times_are_the_nearest_nanosecond)
{
    static const int64_t at[] = {0, 1000, 40 * 86400000000000}, apart[] = {1000, 50000001, 3600000000000},
                         change[] = {0, 1, -1, 333, -777, 99991, -99991},
                         offset[] = {0, 86400000000123, -86399999999877};
    for (size_t i = 0; i < LENGTH(at) * LENGTH(apart) * LENGTH(change) * LENGTH(offset); i++) {
        int64_t length = apart[i / LENGTH(at) % LENGTH(apart)];
        int64_t by = change[i / LENGTH(at) / LENGTH(apart) % LENGTH(change)];
        int64_t base = offset[i / LENGTH(at) / LENGTH(apart) / LENGTH(change)], start = at[i % LENGTH(at)];
        struct alignment a = {.at_ns = start, .offset_ns = base, .drift = 1e9 * (double)by / (double)length};
        for (int64_t part = 0; part <= 7; part++) {
            int64_t since = length / 7 * part;
            long double exact = (long double)by * (long double)since / (long double)length;
            long double got = (long double)(alignment_apply(&a, start + since) - start - since - base);
            ck_assert_double_le((double)fabsl(got - exact), 0.5 + 1e-6);
        }
    }
}

/* Conversion never reverses the order of two times, since rows of a trace must keep their nesting. */
TEST(order_is_kept)
{
    static const int64_t change[] = {0, 17, 500000, 900000000, -17, -500000, -900000000}; /* ns of drift per second */
    for (size_t c = 0; c < LENGTH(change); c++) {
        struct alignment a = {.at_ns = 40 * day, .offset_ns = -3 * day, .drift = (double)change[c]};
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

SUITE("alignment", NULL, NULL)
