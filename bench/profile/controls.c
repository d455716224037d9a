/* controls.c - what a profile is compared with. */
#include "profile/controls.h"

#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct estimate no_summary = {NAN, NAN, NAN, NAN, NAN, 0};
static const struct paired no_pair = {NAN, NAN, NAN, NAN, 0};

void controls_create(struct controls *controls, const struct run *run)
{
    const struct options *o = run->options;
    *controls = (struct controls){.untraced_row = -1, .off_row = -1, .none_row = -1};
    for (int i = 1; i < o->n; i++) {
        const struct implementation *row = &o->implementation[i];
        if (row->after_backward)
            controls->off_row = i;
        else if (!row->traced)
            controls->untraced_row = i;
        else
            controls->none_row = i;
    }
    controls->plan_times = attainable_create(run);
    controls->compute = allocate((size_t)o->n * o->rounds + 1, sizeof *controls->compute);
    controls->alone = allocate(o->rounds + 1, sizeof *controls->alone);
    controls->slower = allocate(o->rounds + 1, sizeof *controls->slower);
}

void controls_destroy(struct controls *controls, const struct run *run)
{
    attainable_destroy(controls->plan_times, run);
    free(controls->compute);
    free(controls->alone);
    free(controls->slower);
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

/* Whether there is communication to speak of. */
static int communicates(const struct run *run)
{
    return run->job->size > 1 && run->reducer[0].strategy->reduces;
}

void controls_block(struct controls *c, struct run *run, const struct step_times *times, const struct overlap *overlap,
                    int implementation, size_t round)
{
    int steps = DISCARDED_STEPS + (int)run->options->block_steps;
    struct overlap sum = overlap_sum(overlap, DISCARDED_STEPS, steps - DISCARDED_STEPS);
    c->compute[(size_t)implementation * run->options->rounds + round] =
        mean_over_ranks(run->job, 1e-9 * (double)sum.compute_ns / (steps - DISCARDED_STEPS));
    if (!communicates(run) || (implementation != 0 && implementation != c->none_row))
        return;
    attainable_measure(c->plan_times, run, times, implementation, round);
    if (implementation == 0) {
        double slower = attainable_slowdown(c->plan_times, run, 0, round, DISCARDED_STEPS, steps);
        c->slower[round] = mean_over_ranks(run->job, slower);
        c->alone[round] = job_max(run->job, attainable_alone(c->plan_times, run, 0, round));
    }
}

struct estimate controls_efficiency(const double *on, const double *off, const double *alone, const double *backward,
                                    size_t n)
{
    double *efficiency = allocate(n + 1, sizeof *efficiency);
    for (size_t r = 0; r < n; r++)
        efficiency[r] = (off[r] - on[r]) / fmin(alone[r], backward[r]);
    struct estimate summary = stats_estimate(efficiency, n);
    free(efficiency);
    return summary;
}

static const double *step_of(const struct run *run, int row)
{
    return measurements_of(&run->measurements, row, FIGURE_STEP);
}

/* What needs `none` beside the profiled strategy. */
static void compare_with_none(struct controls *c, const struct run *run)
{
    size_t n = c->rounds;
    const double *on = step_of(run, 0), *none = step_of(run, c->none_row);
    c->step_to_none = stats_paired(on, none, n, 0.95);
    c->compute_slowdown = stats_paired(c->compute, c->compute + (size_t)c->none_row * run->options->rounds, n, 0.95);
    c->step_none = stats_estimate(none, n);
    c->backward_none = stats_estimate(measurements_of(&run->measurements, c->none_row, PHASE_BACKWARD), n);
}

/* What needs communication. */
static void compare_communication(struct controls *c, const struct run *run)
{
    double attainable[MAX_IMPLEMENTATIONS];
    c->comm_alone = stats_estimate(c->alone, c->rounds);
    attainable_compute(c->plan_times, run, attainable);
    c->attainable = attainable[0];
    if (c->off_row < 0)
        return;
    const double *off = step_of(run, c->off_row);
    c->step_off = stats_estimate(off, c->rounds);
    c->comm_slowdown = stats_estimate(c->slower, c->rounds);
    c->efficiency = controls_efficiency(step_of(run, 0), off, c->alone,
                                        measurements_of(&run->measurements, c->none_row, PHASE_BACKWARD), c->rounds);
}

void controls_compute(struct controls *c, const struct run *run)
{
    c->rounds = run->measurements.rounds;
    c->overhead = c->step_to_none = c->compute_slowdown = no_pair;
    c->comm_slowdown = c->efficiency = c->comm_alone = no_summary;
    c->step_on = c->step_off = c->step_none = c->backward_none = no_summary;
    c->attainable = NAN;
    if (!c->rounds)
        return;
    c->overhead = stats_paired(step_of(run, 0), step_of(run, c->untraced_row), c->rounds, 0.95);
    c->step_on = stats_estimate(step_of(run, 0), c->rounds);
    if (c->none_row >= 0)
        compare_with_none(c, run);
    if (communicates(run))
        compare_communication(c, run);
}
