/* attainable.c - measures what perfect overlap of each plan of collectives would reach. */
#include "training/attainable.h"

#include "base/stats.h"
#include "kernels/error.h"
#include "training/training.h"

#include <math.h>
#include <stdlib.h>

/* One rank's view; each series has room for all rounds. */
struct attainable {
    const struct reducer *reducer; /* [n] */
    int n, tensors;
    size_t rounds;
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

struct attainable *attainable_create(const struct reducer *reducer, int n, int tensors, size_t rounds)
{
    struct attainable *a = allocate(1, sizeof *a);
    *a = (struct attainable){.reducer = reducer, .n = n, .tensors = tensors, .rounds = rounds};
    a->ready = allocate((size_t)tensors * rounds, sizeof(double));
    a->backward_end = allocate(rounds, sizeof(double));
    a->rest = allocate(rounds, sizeof(double));
    a->alone = allocate((size_t)n, sizeof *a->alone);
    for (int i = 0; i < n; i++)
        a->alone[i] = allocate((size_t)reducer[i].plan.n * rounds, sizeof(double));
    return a;
}

void attainable_destroy(struct attainable *attainable)
{
    if (!attainable)
        return;
    for (int i = 0; i < attainable->n; i++)
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
        attainable->ready[(size_t)t * attainable->rounds + round] = ready[t];
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
    struct timeline_mark mark = timeline_mark(&run->timeline);
    const struct span *span = &run->timeline.lane[LANE_COMMUNICATION].span[mark.n[LANE_COMMUNICATION]];
    device->synchronize();
    job_barrier(run->job);
    run->comm->run_blocking(run->comm, collective);
    device->stamps_end();
    timeline_settle(&run->timeline, device->stamp_ns);
    double seconds = 1e-9 * (double)(span->end_ns - span->start_ns);
    timeline_rewind(&run->timeline, &mark);
    return seconds;
}

static void measure_alone(struct attainable *attainable, struct run *run, int implementation, size_t round)
{
    const struct reducer *reducer = &run->reducer[implementation];
    run->model.device->zero(run->model.gradient, run->model.arena); /* sums of sums would soon be infinite */
    for (int i = 0; i < reducer->plan.n; i++) {
        struct collective collective = reducer_collective(reducer, i);
        attainable->alone[implementation][(size_t)i * attainable->rounds + round] = seconds_alone(run, &collective);
    }
}

double attainable_alone(const struct attainable *attainable, int implementation, size_t round)
{
    const struct reducer *reducer = &attainable->reducer[implementation];
    double sum = 0;
    for (int i = 0; reducer->strategy->reduces && i < reducer->plan.n; i++)
        sum += attainable->alone[implementation][(size_t)i * attainable->rounds + round];
    return sum;
}

double attainable_slowdown(const struct attainable *attainable, const struct timeline *timeline, int implementation,
                           size_t round, int first, int n)
{
    if (!attainable->reducer[implementation].strategy->reduces)
        return NAN;
    const struct lane *lane = &timeline->lane[LANE_COMMUNICATION];
    size_t plan = (size_t)attainable->reducer[implementation].plan.n;
    double *ratio = allocate(plan, sizeof *ratio), median;
    for (size_t i = 0; i < lane->n; i++)
        if (lane->span[i].step >= first)
            ratio[lane->span[i].index] += 1e-9 * (double)(lane->span[i].end_ns - lane->span[i].start_ns) / (n - first);
    for (size_t i = 0; i < plan; i++)
        ratio[i] /= attainable->alone[implementation][i * attainable->rounds + round];
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

/* The median over the first rounds of each of n series with room for `room`, of the slowest rank; value[n]. */
static void slowest_medians(const struct job *job, const double *series, int n, size_t rounds, size_t room,
                            double *value)
{
    double *all = allocate((size_t)n * (size_t)job->size, sizeof *all);
    for (int i = 0; i < n; i++)
        value[i] = stats_median(series + (size_t)i * room, rounds);
    job_gather(job, value, (size_t)n * sizeof *value, all);
    for (int i = 0; i < n; i++)
        for (int r = 0; r < job->size; r++)
            value[i] = fmax(value[i], all[r * n + i]);
    free(all);
}

void attainable_compute(const struct attainable *a, const struct job *job, size_t rounds, double *seconds)
{
    size_t tensors = (size_t)a->tensors;
    double *ready = allocate(tensors, sizeof *ready), backward_end, rest;
    double *alone = allocate(tensors, sizeof *alone), *bucket_ready = allocate(tensors, sizeof *bucket_ready);
    slowest_medians(job, a->ready, a->tensors, rounds, a->rounds, ready);
    slowest_medians(job, a->backward_end, 1, rounds, a->rounds, &backward_end);
    slowest_medians(job, a->rest, 1, rounds, a->rounds, &rest);
    for (int i = 0; i < a->n; i++) {
        const struct plan *plan = &a->reducer[i].plan;
        seconds[i] = NAN;
        if (!a->reducer[i].strategy->reduces)
            continue;
        slowest_medians(job, a->alone[i], plan->n, rounds, a->rounds, alone);
        for (int b = 0; b < plan->n; b++)
            bucket_ready[b] = ready[plan->bucket[b].last_tensor];
        seconds[i] = attainable_of_plan(plan->n, bucket_ready, alone, backward_end, rest);
    }
    free(ready);
    free(alone);
    free(bucket_ready);
}
