/* attainable.c - measures what perfect overlap of each plan of collectives would reach. */
#include "training/attainable.h"

#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>

/* One rank's view; each series has room for all rounds. */
struct attainable {
    double *ready;        /* [tensors, rounds] of `none`: when each gradient is final, from the step's start */
    double *backward_end; /* [rounds] of `none` */
    double *rest;         /* [rounds] of `none`: clipping and optimizer */
    double **alone;       /* [implementations] of [collectives, rounds]: each collective by itself */
};

double attainable_of_plan(int n, const double *ready, const double *alone, double backward_end, double rest)
{
    double end = backward_end, remaining = 0;
    for (int i = n - 1; i >= 0; i--) {
        remaining += alone[i];
        end = fmax(end, ready[i] + remaining);
    }
    return end + rest;
}

struct attainable *attainable_create(const struct run *run)
{
    size_t rounds = run->options->rounds;
    struct attainable *attainable = allocate(1, sizeof *attainable);
    attainable->ready = allocate((size_t)run->model.tensors * rounds, sizeof(double));
    attainable->backward_end = allocate(rounds, sizeof(double));
    attainable->rest = allocate(rounds, sizeof(double));
    attainable->alone = allocate((size_t)run->options->n, sizeof *attainable->alone);
    for (int i = 0; i < run->options->n; i++)
        attainable->alone[i] = allocate((size_t)run->reducer[i].plan.n * rounds, sizeof(double));
    return attainable;
}

void attainable_destroy(struct attainable *attainable, const struct run *run)
{
    if (!attainable)
        return;
    for (int i = 0; i < run->options->n; i++)
        free(attainable->alone[i]);
    free(attainable->alone);
    free(attainable->ready);
    free(attainable->backward_end);
    free(attainable->rest);
    free(attainable);
}

static void measure_none(struct attainable *attainable, const struct run *run, const struct step_times *times,
                         size_t round)
{
    int steps = DISCARDED_STEPS + (int)run->options->block_steps, tensors = run->model.tensors;
    double n = (double)run->options->block_steps, *ready = allocate((size_t)tensors, sizeof *ready);
    steps_add_ready(&run->timeline, times, DISCARDED_STEPS, steps, n, ready);
    for (int t = 0; t < tensors; t++)
        attainable->ready[(size_t)t * run->options->rounds + round] = ready[t];
    free(ready);
    attainable->backward_end[round] = attainable->rest[round] = 0;
    for (int i = DISCARDED_STEPS; i < steps; i++) {
        const struct step_times *step = &times[i];
        attainable->backward_end[round] += 1e-9 * (double)(step->backward_end_ns - step->start_ns) / n;
        attainable->rest[round] +=
            1e-9 * (double)(step->phase_ns[PHASE_CLIPPING] + step->phase_ns[PHASE_OPTIMIZER]) / n;
    }
}

/* How long a collective takes with the ranks otherwise idle: its span, as in a step. */
static double seconds_alone(struct run *run, const struct collective *collective)
{
    const struct device *device = run->model.device;
    struct timeline_mark place = timeline_mark(&run->timeline);
    const struct span *span = &run->timeline.lane[LANE_COMMUNICATION].span[place.n[LANE_COMMUNICATION]];
    device->synchronize();
    job_barrier(run->job);
    run->comm->run_blocking(run->comm, collective);
    device->stamps_end();
    timeline_settle(&run->timeline, device->stamp_ns);
    double seconds = 1e-9 * (double)(span->end_ns - span->start_ns);
    timeline_rewind(&run->timeline, &place);
    return seconds;
}

static void measure_alone(struct attainable *attainable, struct run *run, int implementation, size_t round)
{
    const struct reducer *reducer = &run->reducer[implementation];
    run->model.device->zero(run->model.gradient, run->model.arena); /* sums of sums would soon be infinite */
    for (int i = 0; i < reducer->plan.n; i++) {
        struct collective collective = reducer_collective(reducer, i);
        attainable->alone[implementation][(size_t)i * run->options->rounds + round] = seconds_alone(run, &collective);
    }
}

double attainable_alone(const struct attainable *attainable, const struct run *run, int implementation, size_t round)
{
    double sum = 0;
    for (int i = 0; run->reducer[implementation].strategy->reduces && i < run->reducer[implementation].plan.n; i++)
        sum += attainable->alone[implementation][(size_t)i * run->options->rounds + round];
    return sum;
}

double attainable_slowdown(const struct attainable *attainable, const struct run *run, int implementation, size_t round,
                           int first, int n)
{
    if (!run->reducer[implementation].strategy->reduces)
        return NAN;
    const struct lane *lane = &run->timeline.lane[LANE_COMMUNICATION];
    size_t plan = (size_t)run->reducer[implementation].plan.n;
    double *ratio = allocate(plan, sizeof *ratio), median;
    for (size_t i = 0; i < lane->n; i++)
        if (lane->span[i].step >= first)
            ratio[lane->span[i].index] += 1e-9 * (double)(lane->span[i].end_ns - lane->span[i].start_ns) / (n - first);
    for (size_t i = 0; i < plan; i++)
        ratio[i] /= attainable->alone[implementation][i * run->options->rounds + round];
    median = stats_median(ratio, plan);
    free(ratio);
    return median;
}

void attainable_measure(struct attainable *attainable, struct run *run, const struct step_times *times,
                        int implementation, size_t round)
{
    if (run->reducer[implementation].strategy->reduces)
        measure_alone(attainable, run, implementation, round);
    else
        measure_none(attainable, run, times, round);
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

void attainable_compute(const struct attainable *attainable, const struct run *run, double *seconds)
{
    int tensors = run->model.tensors;
    double *ready = allocate((size_t)tensors, sizeof *ready), backward_end, rest;
    double *alone = allocate((size_t)tensors, sizeof *alone), *bucket = allocate((size_t)tensors, sizeof *bucket);
    slowest_medians(run, attainable->ready, tensors, ready);
    slowest_medians(run, attainable->backward_end, 1, &backward_end);
    slowest_medians(run, attainable->rest, 1, &rest);
    for (int i = 0; i < run->options->n; i++) {
        const struct plan *plan = &run->reducer[i].plan;
        seconds[i] = NAN;
        if (!run->reducer[i].strategy->reduces)
            continue;
        slowest_medians(run, attainable->alone[i], plan->n, alone);
        for (int s = 0; s < plan->n; s++)
            bucket[s] = ready[plan->bucket[s].last_tensor];
        seconds[i] = attainable_of_plan(plan->n, bucket, alone, backward_end, rest);
    }
    free(ready);
    free(alone);
    free(bucket);
}
