/* controls.c - what a profile is compared with. */
#include "controls.h"

#include "error.h"
#include "overlap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void controls_create(struct controls *controls, const struct run *run)
{
    const struct options *o = run->options;
    *controls = (struct controls){.untraced = -1, .off = -1, .none = -1, .attainable = NAN};
    for (int i = 0; i < o->n; i++) {
        const struct implementation *row = &o->implementation[i];
        if (row->deferred)
            controls->off = i;
        else if (!row->traced)
            controls->untraced = i;
        else if (!row->strategy->reduces)
            controls->none = i;
    }
    controls->bound = bound_create(run);
    controls->compute = allocate((size_t)o->n * o->rounds + 1, sizeof *controls->compute);
    controls->alone = allocate(o->rounds + 1, sizeof *controls->alone);
    controls->slowdown = allocate(o->rounds + 1, sizeof *controls->slowdown);
}

void controls_destroy(struct controls *controls, const struct run *run)
{
    bound_destroy(controls->bound, run);
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

void controls_block(void *context, struct run *run, const struct step_times *times, int implementation, size_t round)
{
    struct controls *c = context;
    int steps = DISCARDED_STEPS + (int)run->options->block_steps;
    struct overlap *overlap = allocate((size_t)steps, sizeof *overlap);
    overlap_of_steps(&run->timeline, times, steps, overlap);
    struct overlap sum = overlap_sum(overlap, DISCARDED_STEPS, steps - DISCARDED_STEPS);
    free(overlap);
    c->compute[(size_t)implementation * run->options->rounds + round] =
        mean_over_ranks(run->job, 1e-9 * (double)sum.compute / (steps - DISCARDED_STEPS));
    if (implementation != 0 && implementation != c->none)
        return;
    bound_measure(c->bound, run, times, implementation, round);
    if (implementation == 0 && run->sync[0].strategy->reduces) {
        double slowdown = bound_slowdown(c->bound, run, 0, round, DISCARDED_STEPS, steps);
        c->slowdown[round] = mean_over_ranks(run->job, slowdown);
        c->alone[round] = job_max(run->job, bound_alone(c->bound, run, 0, round));
    }
}

static const double *step_of(const struct run *run, int row)
{
    return measurements_of(&run->measurements, row, METRIC_STEP);
}

static void find_efficiency(struct controls *c, const struct run *run)
{
    const double *on = step_of(run, 0), *off = step_of(run, c->off);
    const double *backward = measurements_of(&run->measurements, c->none, PHASE_BACKWARD);
    double *efficiency = allocate(c->rounds, sizeof *efficiency);
    for (size_t r = 0; r < c->rounds; r++)
        efficiency[r] = (off[r] - on[r]) / fmin(c->alone[r], backward[r]);
    c->efficiency = stats_summary(efficiency, c->rounds);
    c->step_off = stats_summary(off, c->rounds);
    free(efficiency);
}

void controls_compute(struct controls *c, const struct run *run)
{
    size_t n = c->rounds = run->measurements.rounds, room = run->options->rounds;
    double attainable[MAX_IMPLEMENTATIONS];
    if (!n)
        return;
    c->overhead = stats_paired(step_of(run, 0), step_of(run, c->untraced), n, 0.95);
    c->step_on = stats_summary(step_of(run, 0), n);
    if (c->none < 0)
        return;
    const double *compute_none = c->compute + (size_t)c->none * room;
    c->cost = stats_paired(step_of(run, 0), step_of(run, c->none), n, 0.95);
    c->compute_slowdown = stats_paired(c->compute, compute_none, n, 0.95);
    c->comm_slowdown = stats_summary(c->slowdown, n);
    c->step_none = stats_summary(step_of(run, c->none), n);
    c->backward_none = stats_summary(measurements_of(&run->measurements, c->none, PHASE_BACKWARD), n);
    c->comm_alone = stats_summary(c->alone, n);
    if (c->off >= 0)
        find_efficiency(c, run);
    bound_compute(c->bound, run, attainable);
    c->attainable = attainable[0];
}
