/* made_up_profile.c - a profile run with known ratios. */
#include "tests/support/made_up_profile.h"

#include "training/training.h"

#include <check.h>
#include <math.h>

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

static void measure(struct made_up_profile *p)
{
    struct controls *c = &p->controls;
    const struct measurements *m = &p->run.measurements;
    for (size_t i = 0; i < (size_t)p->options.n * FIGURES * PROFILE_ROOM; i++)
        m->seconds[i] = NAN; /* what is not looked at */
    fill(measurements_of(m, 0, FIGURE_STEP), 0.1);
    fill(measurements_of(m, c->untraced_row, FIGURE_STEP), 0.08);
    if (c->off_row >= 0)
        fill(measurements_of(m, c->off_row, FIGURE_STEP), 0.12);
    fill(c->compute, 0.06);
    if (c->none_row >= 0) {
        fill(measurements_of(m, c->none_row, FIGURE_STEP), 0.05);
        fill(measurements_of(m, c->none_row, PHASE_BACKWARD), 0.04);
        fill(c->compute + (size_t)c->none_row * PROFILE_ROOM, 0.05);
    }
    fill(c->alone, 0.03);
    for (int r = 0; r < PROFILE_ROOM; r++)
        c->slower[r] = r < PROFILE_ROUNDS ? 1.5 : NAN;
}

void made_up_profile_create(struct made_up_profile *p, const struct job *job, const struct strategy *strategy)
{
    *p = (struct made_up_profile){.options = {.profile = 1,
                                              .profile_implementation = strategy->name,
                                              .bucket_size_mb = "1",
                                              .rounds = PROFILE_ROOM,
                                              .block_steps = 2},
                                  .bucket = {{0, 10, 3, 2}, {10, 20, 1, 2}, {30, 5, 0, 1}}};
    ck_assert_int_eq(option_implementations(&p->options), 0);
    ck_assert_int_le(p->options.n, PROFILE_ROWS);
    for (int i = 0; i < p->options.n; i++) {
        const struct strategy *row = p->options.implementation[i].strategy;
        p->reducer[i] =
            (struct reducer){.strategy = row, .plan = {row->plan == plan_whole ? 1 : PROFILE_SLICES, p->bucket}};
    }
    p->run = (struct run){.job = job, .options = &p->options, .model.tensors = PROFILE_TENSORS, .reducer = p->reducer};
    measurements_create(&p->run.measurements, p->options.n, PROFILE_ROOM);
    p->run.measurements.rounds = PROFILE_ROUNDS;
    controls_create(&p->controls, &p->run);
    measure(p);
}

void made_up_profile_destroy(struct made_up_profile *p)
{
    controls_destroy(&p->controls, &p->run);
    measurements_destroy(&p->run.measurements);
}

/* ---- checks ---- */

void check_no_summary(const struct estimate *s, const char *what)
{
    ck_assert_msg(s->n == 0 && isnan(s->median) && isnan(s->ci_low) && isnan(s->ci_high) && isnan(s->p5) &&
                      isnan(s->p95),
                  "%s is %g of %zu rounds", what, s->median, s->n);
}

void check_no_pair(const struct paired *p, const char *what)
{
    ck_assert_msg(p->n == 0 && isnan(p->ratio) && isnan(p->ci_low) && isnan(p->ci_high) && isnan(p->p),
                  "%s is %g of %zu rounds", what, p->ratio, p->n);
}

/* Some roundings of a double. */
static int same(double x, double y)
{
    return fabs(x - y) <= 1e-12 * fabs(y);
}

void check_summary(const struct estimate *s, double median, const char *what)
{
    ck_assert_msg(s->n == PROFILE_ROUNDS && same(s->median, median), "%s is %g of %zu rounds, not %g", what, s->median,
                  s->n, median);
    ck_assert_msg(s->ci_low <= s->median * (1 + 1e-12) && s->ci_high >= s->median * (1 - 1e-12), "%s: %g to %g", what,
                  s->ci_low, s->ci_high);
}

void check_pair(const struct paired *p, double ratio, const char *what)
{
    ck_assert_msg(p->n == PROFILE_ROUNDS && same(p->ratio, ratio), "%s is %g of %zu rounds, not %g", what, p->ratio,
                  p->n, ratio);
    ck_assert_msg(same(p->ci_low, ratio) && same(p->ci_high, ratio), "%s: %g to %g", what, p->ci_low, p->ci_high);
}
