/* test_controls.c - efficiency of overlap from known numbers (tests/consumers/recompute_trace.py: other figures). */
#include "profile/controls.h"
#include "tests/support/suite.h"

#include <math.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static const struct {
    const char *what;
    double on, off, alone, backward, want;
} efficiencies[] = {
    {"all of it", 100, 130, 30, 60, 1},
    {"half of it", 100, 115, 30, 60, 0.5},
    {"nothing", 100, 100, 30, 60, 0},
    {"half of the backward that there is", 100, 110, 60, 20, 0.5},
    {"as long as backward", 100, 105, 20, 20, 0.25},
    {"slower with overlap", 110, 100, 40, 60, -0.25},
    {"much slower", 400, 100, 40, 60, -7.5},
    {"more than all of it", 100, 160, 30, 60, 2},
    {"tiny numbers", 1e-9, 3e-9, 8e-9, 9e-9, 0.25},
};

TEST_EACH(efficiency_has_known_values, LENGTH(efficiencies))
{
    double on = efficiencies[_i].on, off = efficiencies[_i].off, alone = efficiencies[_i].alone;
    struct estimate s = controls_efficiency(&on, &off, &alone, &efficiencies[_i].backward, 1);
    ck_assert_uint_eq(s.n, 1);
    ck_assert_msg(fabs(s.median - efficiencies[_i].want) < 1e-12, "%s: efficiency %g", efficiencies[_i].what, s.median);
    ck_assert_double_nan(s.ci_low); /* a single round has no interval */
    ck_assert_double_nan(s.ci_high);
}

/* Efficiency is the median over rounds of (step without overlap - step with it) / min(alone, backward). */
TEST(efficiency_is_paired_by_round)
{
    static const double on[] = {100, 200, 300, 400, 500, 600, 700}, off[] = {101, 202, 303, 404, 505, 606, 707},
                        alone[] = {10, 4, 12, 40, 50, 60, 70}, backward[] = {5, 20, 6, 80, 90, 100, 110};
    struct estimate s = controls_efficiency(on, off, alone, backward, LENGTH(on));
    ck_assert_uint_eq(s.n, LENGTH(on));
    ck_assert_double_eq_tol(s.median, 0.1, 1e-12);
    ck_assert_double_eq_tol(s.ci_low, 0.1, 1e-12);
    ck_assert_double_eq_tol(s.ci_high, 0.5, 1e-12); /* ratios: 1 / 5, 2 / 4, 3 / 6, four times 1 / 10 */
    s = controls_efficiency(on, off, alone, backward, 3);
    ck_assert_double_eq_tol(s.median, 0.5, 1e-12);
    ck_assert_double_nan(s.ci_low);
}

TEST(efficiency_of_no_rounds_is_unknown)
{
    struct estimate s = controls_efficiency(NULL, NULL, NULL, NULL, 0);
    ck_assert(s.n == 0 && isnan(s.median) && isnan(s.ci_low) && isnan(s.ci_high));
}

SUITE("controls", NULL, NULL)
