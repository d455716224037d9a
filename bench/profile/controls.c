/* controls.c - what a profile is compared with. */
#include "profile/outcome.h"

#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>

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

int controls_measures_alone(const struct controls *c, int row)
{
    return c->communicates && (row == 0 || row == c->none_row);
}

void controls_add_block(struct controls *c, struct run *run, const struct step_times *times,
                        const struct overlap *overlap, int row, size_t round)
{
    const struct job *job = run->job;
    int steps = (int)run->options->block_steps;
    if (controls_measures_alone(c, row))
        attainable_measure(c->attainable_of, job, &run->timeline, times, steps, row, round);
    double compute = overlap_mean(overlap, DISCARDED_STEPS, steps).compute;
    c->compute[(size_t)row * c->room + round] = mean_over_ranks(job, compute);
    if (row || !c->communicates)
        return;
    double alone, slowdown = attainable_slowdown(c->attainable_of, &run->timeline, steps, round, &alone);
    c->slowdown[round] = mean_over_ranks(job, slowdown);
    c->alone[round] = job_max(job, alone);
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

/* The median of a[i] - b[i] with its interval. */
static struct estimate difference(const double *a, const double *b, size_t n)
{
    double *d = allocate(n + 1, sizeof *d);
    for (size_t r = 0; r < n; r++)
        d[r] = a[r] - b[r];
    struct estimate estimate = stats_estimate(d, n);
    free(d);
    return estimate;
}

/* The geometric mean of a[i] / b[i] with its interval. */
static struct estimate mean_ratio(const double *a, const double *b, size_t n)
{
    struct paired paired = stats_paired(a, b, n, 0.95);
    return (struct estimate){paired.ratio, paired.ci_low, paired.ci_high, NAN, NAN, paired.n};
}

void controls_compute(struct controls *c, const struct job *job, const struct measurements *m)
{
    /* what does not apply is an estimate of no rounds; the row that it would be made from is not read */
    size_t n = c->rounds = m->rounds, of_none = c->none_row < 0 ? 0 : n, of_communication = c->communicates ? n : 0;
    size_t of_overlap = c->after_backward_row < 0 ? 0 : of_communication;
    int none_row = of_none ? c->none_row : 0, after_backward_row = of_overlap ? c->after_backward_row : 0;
    const double *step = measurements_of(m, 0, FIGURE_STEP), *none = measurements_of(m, none_row, FIGURE_STEP);
    const double *untraced = measurements_of(m, c->untraced_row, FIGURE_STEP);
    const double *after_backward = measurements_of(m, after_backward_row, FIGURE_STEP);
    const double *backward = measurements_of(m, none_row, PHASE_BACKWARD);
    double *attainable = allocate(n + 1, sizeof *attainable);
    c->step = stats_estimate(step, n);
    c->step_untraced = stats_estimate(untraced, n);
    c->step_after_backward = stats_estimate(after_backward, of_overlap);
    c->step_none = stats_estimate(none, of_none);
    c->backward_none = stats_estimate(backward, of_none);
    c->comm_alone = stats_estimate(c->alone, of_communication);
    c->comm_slowdown = stats_estimate(c->slowdown, of_overlap);
    c->saved = difference(after_backward, step, of_overlap);
    c->overlap_efficiency = controls_efficiency(step, after_backward, c->alone, backward, of_overlap);
    c->profiling_overhead = mean_ratio(step, untraced, n);
    c->step_to_none = mean_ratio(step, none, of_none);
    c->compute_slowdown = mean_ratio(c->compute, c->compute + (size_t)none_row * c->room, of_none);
    double median = c->step_none.median;
    const struct estimate *r = &c->step_to_none;
    c->sync_cost = (struct estimate){
        median * (r->median - 1), median * (r->ci_low - 1), median * (r->ci_high - 1), NAN, NAN, of_none};
    attainable_rounds(c->attainable_of, job, 0, of_communication, attainable);
    c->attainable = stats_estimate(attainable, of_communication);
    c->step_to_attainable = mean_ratio(step, attainable, of_communication);
    free(attainable);
}
