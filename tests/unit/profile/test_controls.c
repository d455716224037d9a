/* test_controls.c - what a profile is compared with, without ranks: the rows, the efficiency of overlap from known
 * numbers, and that what does not apply says nothing. */
#include "tests/support/made_up_profile.h"
#include "tests/support/suite.h"

#include <math.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* ---- efficiency ---- */

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

TEST_EACH(efficiency_is, LENGTH(efficiencies))
{
    double on = efficiencies[_i].on, off = efficiencies[_i].off, alone = efficiencies[_i].alone;
    struct estimate s = controls_efficiency(&on, &off, &alone, &efficiencies[_i].backward, 1);
    ck_assert_uint_eq(s.n, 1);
    ck_assert_msg(fabs(s.median - efficiencies[_i].want) < 1e-12, "%s: %g", efficiencies[_i].what, s.median);
    ck_assert_double_nan(s.ci_low); /* of one round */
    ck_assert_double_nan(s.ci_high);
}

/* Each round is divided by itself: the ratio of the medians would be 1 / 10 here. */
TEST(efficiency_is_paired_by_round)
{
    static const double on[] = {100, 200, 300, 400, 500, 600, 700}, off[] = {101, 202, 303, 404, 505, 606, 707},
                        alone[] = {10, 4, 12, 40, 50, 60, 70}, backward[] = {5, 20, 6, 80, 90, 100, 110};
    struct estimate s = controls_efficiency(on, off, alone, backward, LENGTH(on));
    ck_assert_uint_eq(s.n, LENGTH(on));
    ck_assert_double_eq_tol(s.median, 0.1, 1e-12);
    ck_assert_double_eq_tol(s.ci_low, 0.1, 1e-12);
    ck_assert_double_eq_tol(s.ci_high, 0.5, 1e-12); /* 1 / 5, 2 / 4, 3 / 6 and four times 1 / 10 */
    s = controls_efficiency(on, off, alone, backward, 3);
    ck_assert_double_eq_tol(s.median, 0.5, 1e-12);
    ck_assert_double_nan(s.ci_low);
}

TEST(efficiency_of_no_rounds_is_nothing)
{
    struct estimate s = controls_efficiency(NULL, NULL, NULL, NULL, 0);
    check_no_estimate(&s, "overlap_efficiency");
}

/* ---- the rest ---- */

static struct made_up_profile p;

static void check_no_communication(const struct controls *c)
{
    check_no_estimate(&c->comm_slowdown, "comm_slowdown");
    check_no_estimate(&c->overlap_efficiency, "overlap_efficiency");
    check_no_estimate(&c->comm_alone, "comm_alone");
    check_no_estimate(&c->step_after_backward, "step_after_backward");
    check_no_estimate(&c->attainable, "attainable");
}

static void check_no_ratio_to_none(const struct controls *c)
{
    check_no_estimate(&c->step_to_none, "step_to_none");
    check_no_estimate(&c->compute_slowdown, "compute_slowdown");
    check_no_estimate(&c->step_none, "step_none");
    check_no_estimate(&c->backward_none, "backward_none");
    check_no_estimate(&c->sync_cost, "sync_cost");
}

TEST_EACH(one_rank_has_no_communication, 2)
{
    const struct job job = {.size = 1};
    made_up_profile_create(&p, job.size, _i ? &strategy_ddp_bucketed : &strategy_ddp);
    controls_compute(&p.controls, &job, &p.measurements);
    ck_assert_uint_eq(p.controls.rounds, PROFILE_ROUNDS);
    check_ratio(&p.controls.profiling_overhead, 1.25, "profiling_overhead");
    check_ratio(&p.controls.step_to_none, 2, "step_to_none");
    check_no_estimate(&p.controls.sync_cost, "sync_cost");
    check_ratio(&p.controls.compute_slowdown, 1.2, "compute_slowdown");
    check_estimate(&p.controls.step, made_up_median(0.1), "step");
    check_estimate(&p.controls.step_untraced, made_up_median(0.08), "step_untraced");
    check_estimate(&p.controls.step_none, made_up_median(0.05), "step_none");
    check_estimate(&p.controls.backward_none, made_up_median(0.04), "backward_none");
    check_no_communication(&p.controls);
    made_up_profile_destroy(&p);
}

TEST_RANGE(none_is_compared_with_itself_untraced, 0, 1, 3)
{
    const struct job job = {.size = _i};
    made_up_profile_create(&p, job.size, &strategy_none);
    controls_compute(&p.controls, &job, &p.measurements);
    ck_assert_uint_eq(p.controls.rounds, PROFILE_ROUNDS);
    check_ratio(&p.controls.profiling_overhead, 1.25, "profiling_overhead");
    check_estimate(&p.controls.step, made_up_median(0.1), "step");
    check_no_ratio_to_none(&p.controls);
    check_no_communication(&p.controls);
    made_up_profile_destroy(&p);
}

TEST_EACH(before_the_first_round_there_is_nothing, 2)
{
    const struct job job = {.size = 2};
    made_up_profile_create(&p, job.size, _i ? &strategy_ddp_bucketed : &strategy_none);
    p.measurements.rounds = 0;
    controls_compute(&p.controls, &job, &p.measurements);
    ck_assert_uint_eq(p.controls.rounds, 0);
    check_no_estimate(&p.controls.profiling_overhead, "profiling_overhead");
    check_no_estimate(&p.controls.step, "step");
    check_no_ratio_to_none(&p.controls);
    check_no_communication(&p.controls);
    made_up_profile_destroy(&p);
}

SUITE("controls", NULL, NULL)
