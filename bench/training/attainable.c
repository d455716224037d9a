/* attainable.c - measures what perfect overlap of each plan of collectives would reach. */
#include "training/attainable.h"

#include "base/stats.h"
#include "kernels/error.h"
#include "training/parts.h"

#include <math.h>
#include <stdlib.h>

/* One rank's view in series of [rounds] numbers, in seconds. */
struct attainable {
    const struct reducer *reducer; /* [n] */
    int n, tensors;
    size_t rounds;
    double *none;  /* [tensors + 2, rounds] of `none`: when each gradient is final, from the step's start; the end of
                      backward; clipping and optimizer */
    double *alone; /* [n, tensors, rounds]: each collective of an implementation by itself, of at most so many */
};

/* The series of a collective by itself. */
static double *alone_of(const struct attainable *a, int implementation, int collective)
{
    return a->alone + ((size_t)implementation * (size_t)a->tensors + (size_t)collective) * a->rounds;
}

double attainable_of_plan(int n, const double *ready, const double *alone, double backward_end, double rest)
{
    double end = backward_end, remaining = 0;
    for (int i = n - 1; i >= 0; i--) {
        remaining += alone[i];
        end = fmax(end, ready[i] + remaining);
    }
    return end + rest;
}

struct attainable *attainable_create(const struct reducer *reducer, int n, int tensors, size_t rounds)
{
    struct attainable *a = allocate(1, sizeof *a);
    *a = (struct attainable){.reducer = reducer, .n = n, .tensors = tensors, .rounds = rounds};
    a->none = allocate(((size_t)tensors + 2) * rounds, sizeof *a->none);
    a->alone = allocate((size_t)n * (size_t)tensors * rounds, sizeof *a->alone);
    return a;
}

void attainable_destroy(struct attainable *attainable)
{
    if (!attainable)
        return;
    free(attainable->alone);
    free(attainable->none);
    free(attainable);
}

static void measure_none(struct attainable *attainable, const struct timeline *timeline, const struct step_times *times,
                         int timed, size_t round)
{
    int steps = DISCARDED_STEPS + timed, tensors = attainable->tensors;
    double n = timed, *mine = allocate((size_t)tensors + 2, sizeof *mine);
    steps_add_ready(timeline, times, DISCARDED_STEPS, steps, n, mine);
    for (const struct step_times *step = times + DISCARDED_STEPS; step < times + steps; step++) {
        mine[tensors] += 1e-9 * (double)(step->backward_end_ns - step->start_ns) / n;
        mine[tensors + 1] += 1e-9 * (double)(step->phase_ns[PHASE_CLIPPING] + step->phase_ns[PHASE_OPTIMIZER]) / n;
    }
    for (int i = 0; i < tensors + 2; i++)
        attainable->none[(size_t)i * attainable->rounds + round] = mine[i];
    free(mine);
}

/* How long collective i takes with the ranks otherwise idle: its span, as in a step. There the device is busy when a
 * collective is issued, so that its launch takes no time of it. Here another one, `lead`, keeps it busy meanwhile, and
 * all ranks leave that together. */
static double seconds_alone(const struct job *job, struct timeline *timeline, const struct reducer *reducer,
                            const struct collective *lead, int i)
{
    struct timeline_mark mark = timeline_mark(timeline);
    const struct span *span = &timeline->lane[LANE_COMMUNICATION].span[mark.n[LANE_COMMUNICATION]];
    struct collective collective = reducer_collective(reducer, i);
    reducer->device->synchronize();
    job_barrier(job);
    if (reducer->comm->on_device) {
        reducer->comm->start(reducer->comm, lead);
        span++;
    }
    reducer->comm->run_blocking(reducer->comm, &collective);
    reducer->device->stamps_end();
    timeline_settle(timeline, reducer->device->stamp_ns);
    double seconds = 1e-9 * (double)(span->end_ns - span->start_ns);
    timeline_rewind(timeline, &mark);
    return seconds;
}

void attainable_measure(struct attainable *attainable, const struct job *job, struct timeline *timeline,
                        const struct step_times *times, int timed, int implementation, size_t round)
{
    const struct reducer *reducer = &attainable->reducer[implementation];
    if (round == attainable->rounds) {
        size_t tensors = (size_t)attainable->tensors, same = round;
        series_grow(&attainable->none, tensors + 2, &same);
        series_grow(&attainable->alone, (size_t)attainable->n * tensors, &attainable->rounds);
    }
    if (!reducer->strategy->reduces) {
        measure_none(attainable, timeline, times, timed, round);
        return;
    }
    enum { LEAD = 1 << 20 }; /* 4 MiB take longer than a launch on any link */
    const struct bucket *last = &reducer->plan.bucket[reducer->plan.n - 1];
    size_t all = last->offset + last->count;
    const struct collective lead = {.buffer = reducer->gradient, .count = all < LEAD ? all : LEAD};
    reducer->device->zero(reducer->gradient, all); /* sums of sums would soon be infinite */
    for (int i = 0; i < reducer->plan.n; i++)
        alone_of(attainable, implementation, i)[round] = seconds_alone(job, timeline, reducer, &lead, i);
}

double attainable_slowdown(const struct attainable *attainable, const struct timeline *timeline, int timed,
                           size_t round, double *alone)
{
    const struct lane *lane = &timeline->lane[LANE_COMMUNICATION];
    int plan = attainable->reducer->plan.n;
    double *ratio = allocate((size_t)plan, sizeof *ratio), median;
    for (const struct span *span = lane->span; span < lane->span + lane->n; span++)
        if (span->step >= DISCARDED_STEPS)
            ratio[span->index] += 1e-9 * (double)(span->end_ns - span->start_ns) / timed;
    *alone = 0;
    for (int i = 0; i < plan; i++) {
        double seconds = alone_of(attainable, 0, i)[round];
        ratio[i] /= seconds;
        *alone += seconds;
    }
    median = stats_median(ratio, (size_t)plan);
    free(ratio);
    return median;
}

/* The median over the first rounds of each of n series, of the slowest rank; value[n]. */
static void slowest_medians(const struct attainable *a, const struct job *job, const double *series, int n,
                            size_t rounds, double *value)
{
    double *all = allocate((size_t)n * (size_t)job->size, sizeof *all);
    for (int i = 0; i < n; i++)
        value[i] = stats_median(series + (size_t)i * a->rounds, rounds);
    job_gather(job, value, (size_t)n * sizeof *value, all);
    for (int i = 0; i < n; i++)
        for (int r = 0; r < job->size; r++)
            value[i] = fmax(value[i], all[r * n + i]);
    free(all);
}

void attainable_compute(const struct attainable *a, const struct job *job, size_t rounds, double *seconds)
{
    int tensors = a->tensors;
    double *none = allocate((size_t)tensors + 2, sizeof *none);
    double *alone = allocate((size_t)tensors, sizeof *alone), *ready = allocate((size_t)tensors, sizeof *ready);
    slowest_medians(a, job, a->none, tensors + 2, rounds, none);
    for (int i = 0; i < a->n; i++) {
        const struct plan *plan = &a->reducer[i].plan;
        seconds[i] = NAN;
        if (!a->reducer[i].strategy->reduces)
            continue;
        slowest_medians(a, job, alone_of(a, i, 0), plan->n, rounds, alone);
        for (int b = 0; b < plan->n; b++)
            ready[b] = none[plan->bucket[b].last_tensor];
        seconds[i] = attainable_of_plan(plan->n, ready, alone, none[tensors], none[tensors + 1]);
    }
    free(none);
    free(alone);
    free(ready);
}
