/* attainable.c - measures what perfect overlap of each plan of collectives would reach. */
#include "training/attainable.h"

#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>

/* One rank's view; each series has room for all rounds. */
struct bound {
    double *ready;        /* [tensors, rounds] of `none`: when each gradient is final, from the step's start */
    double *backward_end; /* [rounds] of `none` */
    double *rest;         /* [rounds] of `none`: clipping and optimizer */
    double **alone;       /* [implementations] of [collectives, rounds]: each collective by itself */
};

double bound_of_plan(int n, const double *ready, const double *alone, double backward_end, double rest)
{
    double end = backward_end, remaining = 0;
    for (int i = n - 1; i >= 0; i--) {
        remaining += alone[i];
        end = fmax(end, ready[i] + remaining);
    }
    return end + rest;
}

struct bound *bound_create(const struct run *run)
{
    size_t rounds = run->options->rounds;
    struct bound *bound = allocate(1, sizeof *bound);
    bound->ready = allocate((size_t)run->model.tensors * rounds, sizeof(double));
    bound->backward_end = allocate(rounds, sizeof(double));
    bound->rest = allocate(rounds, sizeof(double));
    bound->alone = allocate((size_t)run->options->n, sizeof *bound->alone);
    for (int i = 0; i < run->options->n; i++)
        bound->alone[i] = allocate((size_t)run->sync[i].plan.n * rounds, sizeof(double));
    return bound;
}

void bound_destroy(struct bound *bound, const struct run *run)
{
    if (!bound)
        return;
    for (int i = 0; i < run->options->n; i++)
        free(bound->alone[i]);
    free(bound->alone);
    free(bound->ready);
    free(bound->backward_end);
    free(bound->rest);
    free(bound);
}

static void measure_none(struct bound *bound, const struct run *run, const struct step_times *times, size_t round)
{
    int steps = DISCARDED_STEPS + (int)run->options->block_steps, tensors = run->model.tensors;
    double n = (double)run->options->block_steps, *ready = allocate((size_t)tensors, sizeof *ready);
    steps_add_ready(&run->timeline, times, DISCARDED_STEPS, steps, n, ready);
    for (int t = 0; t < tensors; t++)
        bound->ready[(size_t)t * run->options->rounds + round] = ready[t];
    free(ready);
    bound->backward_end[round] = bound->rest[round] = 0;
    for (int i = DISCARDED_STEPS; i < steps; i++) {
        const struct step_times *step = &times[i];
        bound->backward_end[round] += 1e-9 * (double)(step->backward_end_ns - step->start_ns) / n;
        bound->rest[round] += 1e-9 * (double)(step->phase_ns[PHASE_CLIPPING] + step->phase_ns[PHASE_OPTIMIZER]) / n;
    }
}

/* How long a collective takes with the ranks otherwise idle: its span, as in a step. */
static double seconds_alone(struct run *run, const struct collective *collective)
{
    const struct device *device = run->model.device;
    struct timeline_place place = timeline_place(&run->timeline);
    const struct span *span = &run->timeline.lane[LANE_COMMUNICATION].span[place.n[LANE_COMMUNICATION]];
    device->synchronize();
    job_barrier(run->job);
    run->comm->run(run->comm, collective);
    device->stamps_end();
    timeline_settle(&run->timeline, device->stamp_ns);
    double seconds = 1e-9 * (double)(span->end_ns - span->start_ns);
    timeline_rewind(&run->timeline, &place);
    return seconds;
}

static void measure_alone(struct bound *bound, struct run *run, int implementation, size_t round)
{
    const struct sync *sync = &run->sync[implementation];
    run->model.device->zero(run->model.gradient, run->model.arena); /* sums of sums would soon be infinite */
    for (int i = 0; i < sync->plan.n; i++) {
        struct collective collective = sync_collective(sync, i);
        bound->alone[implementation][(size_t)i * run->options->rounds + round] = seconds_alone(run, &collective);
    }
}

double bound_alone(const struct bound *bound, const struct run *run, int implementation, size_t round)
{
    double sum = 0;
    for (int i = 0; run->sync[implementation].strategy->reduces && i < run->sync[implementation].plan.n; i++)
        sum += bound->alone[implementation][(size_t)i * run->options->rounds + round];
    return sum;
}

double bound_slowdown(const struct bound *bound, const struct run *run, int implementation, size_t round, int first,
                      int n)
{
    if (!run->sync[implementation].strategy->reduces)
        return NAN;
    const struct lane *lane = &run->timeline.lane[LANE_COMMUNICATION];
    size_t plan = (size_t)run->sync[implementation].plan.n;
    double *ratio = allocate(plan, sizeof *ratio), median;
    for (size_t i = 0; i < lane->n; i++)
        if (lane->span[i].step >= first)
            ratio[lane->span[i].index] += 1e-9 * (double)(lane->span[i].end_ns - lane->span[i].start_ns) / (n - first);
    for (size_t i = 0; i < plan; i++)
        ratio[i] /= bound->alone[implementation][i * run->options->rounds + round];
    median = stats_median(ratio, plan);
    free(ratio);
    return median;
}

void bound_measure(struct bound *bound, struct run *run, const struct step_times *times, int implementation,
                   size_t round)
{
    if (run->sync[implementation].strategy->reduces)
        measure_alone(bound, run, implementation, round);
    else
        measure_none(bound, run, times, round);
}

/* The median over rounds of each of n series, of the slowest rank; value[n]. */
static void slowest_medians(const struct run *run, const double *series, int n, double *value)
{
    size_t rounds = run->measurements.rounds;
    double *all = allocate((size_t)n * (size_t)run->job->size, sizeof *all);
    for (int i = 0; i < n; i++)
        value[i] = stats_median(series + (size_t)i * run->options->rounds, rounds);
    job_gather(run->job, value, (size_t)n * sizeof *value, all);
    for (int i = 0; i < n; i++)
        for (int r = 0; r < run->job->size; r++)
            value[i] = fmax(value[i], all[r * n + i]);
    free(all);
}

void bound_compute(const struct bound *bound, const struct run *run, double *seconds)
{
    int tensors = run->model.tensors;
    double *ready = allocate((size_t)tensors, sizeof *ready), backward_end, rest;
    double *alone = allocate((size_t)tensors, sizeof *alone), *slice = allocate((size_t)tensors, sizeof *slice);
    slowest_medians(run, bound->ready, tensors, ready);
    slowest_medians(run, bound->backward_end, 1, &backward_end);
    slowest_medians(run, bound->rest, 1, &rest);
    for (int i = 0; i < run->options->n; i++) {
        const struct plan *plan = &run->sync[i].plan;
        seconds[i] = NAN;
        if (!run->sync[i].strategy->reduces)
            continue;
        slowest_medians(run, bound->alone[i], plan->n, alone);
        for (int s = 0; s < plan->n; s++)
            slice[s] = ready[plan->slice[s].last_tensor];
        seconds[i] = bound_of_plan(plan->n, slice, alone, backward_end, rest);
    }
    free(ready);
    free(alone);
    free(slice);
}
