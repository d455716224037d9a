/* made_up_profile.c - controls of a profile with known ratios. */
#include "tests/support/made_up_profile.h"

#include "profile/profile.h"

#include <check.h>
#include <math.h>
#include <stdio.h>

static double growing(double first, int round)
{
    return round < PROFILE_ROUNDS ? first * (1 + 0.01 * round) : NAN;
}

double made_up_median(double first)
{
    return growing(first, PROFILE_ROUNDS / 2);
}

static void fill(double *series, double first)
{
    for (int r = 0; r < PROFILE_ROOM; r++)
        series[r] = growing(first, r);
}

static void measure(struct made_up_profile *p, int rows)
{
    struct controls *c = &p->controls;
    const struct measurements *m = &p->measurements;
    for (size_t i = 0; i < (size_t)rows * FIGURES * PROFILE_ROOM; i++)
        m->seconds[i] = NAN; /* what is not looked at */
    fill(measurements_of(m, 0, FIGURE_STEP), 0.1);
    fill(measurements_of(m, c->rows.untraced, FIGURE_STEP), 0.08);
    if (c->rows.after_backward >= 0)
        fill(measurements_of(m, c->rows.after_backward, FIGURE_STEP), 0.12);
    fill(c->compute, 0.06);
    fill(c->compute_none, 0.05);
    if (c->rows.none >= 0) {
        fill(measurements_of(m, c->rows.none, FIGURE_STEP), 0.05);
        fill(measurements_of(m, c->rows.none, PHASE_BACKWARD), 0.04);
    }
    fill(c->alone, 0.03);
    for (int r = 0; r < PROFILE_ROOM; r++)
        c->slowdown[r] = r < PROFILE_ROUNDS ? 1.5 : NAN;
}

void made_up_profile_create(struct made_up_profile *p, int ranks, const struct strategy *strategy)
{
    *p = (struct made_up_profile){.bucket = {{0, 10, 3, 2}, {10, 20, 1, 2}, {30, 5, 0, 1}}};
    struct training_options training = {0};
    struct strategy_list list = {.n = 1, .item = {{.strategy = strategy}}};
    snprintf(list.item->label, sizeof list.item->label, "%s", strategy->name);
    training.workload.bucket_sizes = (struct bucket_sizes){.n = 1, .item = {{.words = "auto"}}};
    ck_assert_int_eq(profile_rows_make(&training, &list), 0);
    ck_assert_int_le(training.n, PROFILE_ROWS);
    for (int i = 0; i < training.n; i++) {
        const struct strategy *row = training.implementation[i].strategy;
        p->row[i] = training.implementation[i];
        p->reducer[i] =
            (struct reducer){.strategy = row, .plan = {row->plan == plan_whole ? 1 : PROFILE_BUCKETS, p->bucket}};
    }
    measurements_create(&p->measurements, training.n, PROFILE_ROOM);
    p->measurements.rounds = PROFILE_ROUNDS;
    p->attainable = attainable_create(p->reducer, training.n, PROFILE_TENSORS, PROFILE_TIMED, PROFILE_ROOM);
    const struct profile_rows rows = profile_rows_find(p->row, training.n, 0);
    controls_create(&p->controls, &rows, ranks > 1 && strategy->reduces, p->attainable, 0, PROFILE_ROOM);
    measure(p, training.n);
}

void made_up_profile_destroy(struct made_up_profile *p)
{
    controls_destroy(&p->controls);
    attainable_destroy(p->attainable);
    measurements_destroy(&p->measurements);
}

/* ---- checks ---- */

void check_no_estimate(const struct estimate *e, const char *what)
{
    ck_assert_msg(e->n == 0 && isnan(e->median) && isnan(e->ci_low) && isnan(e->ci_high) && isnan(e->p5) &&
                      isnan(e->p95),
                  "%s is %g of %zu rounds", what, e->median, e->n);
}

/* Some roundings of a double. */
static int same(double x, double y)
{
    return fabs(x - y) <= 1e-12 * fabs(y);
}

void check_estimate(const struct estimate *e, double median, const char *what)
{
    ck_assert_msg(e->n == PROFILE_ROUNDS && same(e->median, median), "%s is %g of %zu rounds, not %g", what, e->median,
                  e->n, median);
    ck_assert_msg(e->ci_low <= e->median * (1 + 1e-12) && e->ci_high >= e->median * (1 - 1e-12), "%s: %g to %g", what,
                  e->ci_low, e->ci_high);
}

void check_ratio(const struct estimate *e, double ratio, const char *what)
{
    check_estimate(e, ratio, what);
    ck_assert_msg(same(e->ci_low, ratio) && same(e->ci_high, ratio), "%s: %g to %g", what, e->ci_low, e->ci_high);
}
