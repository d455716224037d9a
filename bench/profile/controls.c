/* controls.c - what a profile is compared with. */
#include "profile/controls.h"

#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>

static const struct estimate not_known = {NAN, NAN, NAN, NAN, NAN, 0};

void controls_create(struct controls *controls, const struct implementation *row, const struct reducer *reducer, int n,
                     int tensors, int ranks, size_t rounds)
{
    *controls = (struct controls){.untraced_row = -1, .after_backward_row = -1, .none_row = -1, .room = rounds};
    for (int i = 1; i < n; i++) {
        if (row[i].after_backward)
            controls->after_backward_row = i;
        else if (!row[i].traced)
            controls->untraced_row = i;
        else
            controls->none_row = i;
    }
    controls->communicates = ranks > 1 && row[0].strategy->reduces;
    controls->attainable_of = attainable_create(reducer, n, tensors, rounds);
    controls->compute = allocate((size_t)n * rounds + 1, sizeof *controls->compute);
    controls->alone = allocate(rounds + 1, sizeof *controls->alone);
    controls->slowdown = allocate(rounds + 1, sizeof *controls->slowdown);
}

void controls_destroy(struct controls *controls)
{
    attainable_destroy(controls->attainable_of);
    free(controls->compute);
    free(controls->alone);
    free(controls->slowdown);
    *controls = (struct controls){0};
}

static double mean_over_ranks(const struct job *job, double mine)
{
    double *all = allocate((size_t)job->size, sizeof *all), sum = 0;
    job_gather(job, &mine, sizeof mine, all);
    for (int r = 0; r < job->size; r++)
        sum += all[r];
    free(all);
    return sum / job->size;
}

int controls_measures(const struct controls *controls, int row)
{
    return controls->communicates && (row == 0 || row == controls->none_row);
}

void controls_add_block(struct controls *c, const struct job *job, const struct timeline *timeline,
                        const struct overlap *overlap, int steps, int row, size_t round)
{
    struct overlap sum = overlap_sum(overlap, DISCARDED_STEPS, steps);
    c->compute[(size_t)row * c->room + round] = mean_over_ranks(job, 1e-9 * (double)sum.compute_ns / steps);
    if (row || !c->communicates)
        return;
    double slowdown =
        attainable_slowdown(c->attainable_of, timeline, 0, round, DISCARDED_STEPS, DISCARDED_STEPS + steps);
    c->slowdown[round] = mean_over_ranks(job, slowdown);
    c->alone[round] = job_max(job, attainable_alone(c->attainable_of, 0, round));
}

struct estimate controls_efficiency(const double *step, const double *after_backward, const double *alone,
                                    const double *backward, size_t n)
{
    double *efficiency = allocate(n + 1, sizeof *efficiency);
    for (size_t r = 0; r < n; r++)
        efficiency[r] = (after_backward[r] - step[r]) / fmin(alone[r], backward[r]);
    struct estimate estimate = stats_estimate(efficiency, n);
    free(efficiency);
    return estimate;
}

/* The geometric mean of a[i] / b[i] with its interval. */
static struct estimate mean_ratio(const double *a, const double *b, size_t n)
{
    struct paired paired = stats_paired(a, b, n, 0.95);
    return (struct estimate){paired.ratio, paired.ci_low, paired.ci_high, NAN, NAN, paired.n};
}

static void compare_with_none(struct controls *c, const double *step, const struct measurements *m)
{
    size_t n = c->rounds;
    const double *none = measurements_of(m, c->none_row, FIGURE_STEP);
    c->step_to_none = mean_ratio(step, none, n);
    c->compute_slowdown = mean_ratio(c->compute, c->compute + (size_t)c->none_row * c->room, n);
    c->step_none = stats_estimate(none, n);
    c->backward_none = stats_estimate(measurements_of(m, c->none_row, PHASE_BACKWARD), n);
    double median = c->step_none.median;
    c->sync_cost = (struct estimate){median * (c->step_to_none.median - 1),
                                     median * (c->step_to_none.ci_low - 1),
                                     median * (c->step_to_none.ci_high - 1),
                                     NAN,
                                     NAN,
                                     n};
}

static void compare_communication(struct controls *c, const struct job *job, const double *step,
                                  const struct measurements *m)
{
    double attainable[MAX_IMPLEMENTATIONS];
    c->comm_alone = stats_estimate(c->alone, c->rounds);
    attainable_compute(c->attainable_of, job, c->rounds, attainable);
    c->attainable = attainable[0];
    if (c->after_backward_row < 0)
        return;
    const double *after_backward = measurements_of(m, c->after_backward_row, FIGURE_STEP);
    c->step_after_backward = stats_estimate(after_backward, c->rounds);
    c->comm_slowdown = stats_estimate(c->slowdown, c->rounds);
    c->overlap_efficiency =
        controls_efficiency(step, after_backward, c->alone, measurements_of(m, c->none_row, PHASE_BACKWARD), c->rounds);
}

void controls_compute(struct controls *c, const struct job *job, const struct measurements *m)
{
    c->rounds = m->rounds;
    c->step = c->step_untraced = c->step_after_backward = c->step_none = c->backward_none = not_known;
    c->comm_alone = c->comm_slowdown = c->overlap_efficiency = c->sync_cost = not_known;
    c->profiling_overhead = c->step_to_none = c->compute_slowdown = not_known;
    c->attainable = NAN;
    if (!c->rounds)
        return;
    const double *step = measurements_of(m, 0, FIGURE_STEP),
                 *untraced = measurements_of(m, c->untraced_row, FIGURE_STEP);
    c->step = stats_estimate(step, c->rounds);
    c->step_untraced = stats_estimate(untraced, c->rounds);
    c->profiling_overhead = mean_ratio(step, untraced, c->rounds);
    if (c->none_row >= 0)
        compare_with_none(c, step, m);
    if (c->communicates)
        compare_communication(c, job, step, m);
}
