/* test_frame.c - axes of charts: known ticks, and a place on the axis for any value. */
#include "chart/frame.h"

#include "tests/support/suite.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns the numbers at an axis's ticks as text, such as "0 5 10". */
static const char *ticks(const struct axis *axis, size_t most)
{
    static char words[400];
    double tick[AXIS_TICKS];
    char number[CELL];
    size_t n = axis_ticks(axis, most, tick);
    *words = 0;
    for (size_t i = 0; i < n; i++) {
        if (i)
            strcat(words, " ");
        strcat(words, axis_number(axis, tick[i], number));
    }
    return words;
}

TEST(ticks_are_round)
{
    static const struct {
        struct axis axis;
        size_t most;
        const char *words;
    } known[] = {
        {{.high = 10}, 6, "0 2 4 6 8 10"},
        {{.high = 10}, 5, "0 5 10"},
        {{.high = 0.97}, 8, "0 0.2 0.4 0.6 0.8"},
        {{.high = 0.3}, 4, "0 0.1 0.2 0.3"},
        {{.low = -7, .high = 8}, 4, "-5 0 5"},
        {{.low = 955, .high = 1042}, 5, "960 980 1000 1020 1040"},
        {{.high = 4}, 12, "0 0.5 1 1.5 2 2.5 3 3.5 4"},
        {{.low = 0.1, .high = 5, .is_log = 1}, 8, "0.1 0.2 0.5 1 2 5"},
        {{.low = 0.1, .high = 5, .is_log = 1}, 3, "0.1 1"},
        {{.low = 0.015, .high = 1500, .is_log = 1}, 8, "0.1 1 10 100 1000"},
        {{.low = 0.015, .high = 1.5e6, .is_log = 1}, 5, "1 100 10000 1000000"},
        {{.low = 2.1, .high = 4.4, .is_log = 1}, 6, "2.5 3 3.5 4"},
        {{.low = 0.7, .high = 20, .is_log = AXIS_BINARY}, 8, "1 2 4 8 16"},
        {{.low = 0.7, .high = 20, .is_log = AXIS_BINARY}, 3, "1 4 16"},
        {{.low = 2.3, .high = 3.9, .is_log = AXIS_BINARY}, 4, "2.5 3 3.5"},
        {{.low = 2.5, .high = 3.4, .is_log = 1}, 5, "2.6 2.8 3 3.2 3.4"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        ck_assert_str_eq(ticks(&known[i].axis, known[i].most), known[i].words);
}

static struct axis from_to(struct axis axis)
{
    axis.from = 100;
    axis.to = 200;
    return axis;
}

TEST(a_linear_axis_begins_at_zero_or_is_cut)
{
    const struct chart_axis linear = {.title = ""};
    struct axis axis = from_to(axis_for(&linear, 40, 100));
    ck_assert_double_eq(axis.low, 0);
    ck_assert_int_eq(axis.is_cut, 0);
    ck_assert_double_eq_tol(axis_place(&axis, 100), 100 + 100 / 1.06, 1e-9);
    axis = axis_for(&linear, 90, 100);
    ck_assert_int_eq(axis.is_cut, 1);
    ck_assert_double_eq_tol(axis.low, 87.5, 1e-9);
    axis = axis_for(&linear, 100, 100); /* equal values have no spread to show */
    ck_assert_int_eq(axis.is_cut, 0);
    ck_assert_double_eq(axis.low, 0);
    axis = axis_for(&linear, -10, 100);
    ck_assert_double_eq_tol(axis.low, -15.5, 1e-9);
    axis = axis_for(&linear, -10, -5);
    ck_assert_double_eq(axis.high, 0);
    axis = from_to(axis_for(&linear, 40, 100));
    ck_assert_double_eq(axis_place(&axis, 250), 200);
    ck_assert_double_eq(axis_place(&axis, -1), 100);
}

/* Every value on an axis has a place, even if the range is invalid, a single value, or as wide as possible. */
TEST(every_value_has_a_place)
{
    static const double value[] = {0,        1,      -1,   5e-324,   DBL_MIN,   DBL_MAX,
                                   -DBL_MAX, 1e-300, 1e15, INFINITY, -INFINITY, NAN};
    enum { N = sizeof value / sizeof *value };
    for (int is_log = 0; is_log < 3; is_log++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                const struct chart_axis of = {.is_log = is_log};
                struct axis axis = from_to(axis_for(&of, value[i], value[j]));
                double tick[AXIS_TICKS];
                size_t n = axis_ticks(&axis, 8, tick);
                ck_assert_msg(axis.high > axis.low, "empty axis: %g to %g", value[i], value[j]);
                ck_assert_uint_le(n, 8);
                for (size_t k = 0; k < n; k++)
                    ck_assert_msg(axis_place(&axis, tick[k]) >= 100, "axis (log %d) from %g to %g, tick %g", is_log,
                                  value[i], value[j], tick[k]);
                for (int k = 0; k < N; k++) {
                    double place = axis_place(&axis, value[k]);
                    ck_assert_msg(axis_takes(is_log, value[k]) ? place >= 100 && place <= 200 : isnan(place),
                                  "%g (log %d, from %g to %g) is at %g", value[k], is_log, value[i], value[j], place);
                }
            }
}

TEST(a_logarithmic_axis_takes_what_is_above_zero)
{
    const struct chart_axis of = {.is_log = 1};
    struct axis axis = from_to(axis_for(&of, 1, 4));
    ck_assert_double_eq_tol(axis_place(&axis, 2), 150, 1e-9);
    ck_assert_double_eq_tol(axis_place(&axis, 4) - 150, 150 - axis_place(&axis, 1), 1e-9);
    ck_assert_double_nan(axis_place(&axis, 0));
    ck_assert_double_nan(axis_place(&axis, -2));
}

SUITE("chart_frame", NULL, NULL)
