/* attainable.c - measures the step time that perfect overlap of computation and communication would reach. */
#include "training/training.h"

#include "base/stats.h"
#include "base/text.h"
#include "kernels/error.h"
#include "results/step_profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Times on this rank, in seconds; the last dimension of each array is the round. */
struct attainable {
    const struct reducer *reducer; /* [n] */
    int n, tensors, timed;         /* timed: number of timed steps in a block */
    size_t rounds, of_none;
    struct step_compute *none; /* [of_none] steps of `none`; rest: clipping and checkpoints together */
    double *alone;             /* [n, PARTS, tensors, rounds] of each bucket's collectives, run alone */
};
/* Parts of a bucket's collectives: reductions of all ranks or across hosts; stages within hosts; gathers of weights. */
enum part { REDUCE, WITHIN_HOST, GATHER, PARTS };
static const char *const part_name[PARTS] = {"alone_ms", "within_host_alone_ms", "gather_alone_ms"};

/* Returns the times [rounds] of a bucket's collectives, run alone. */
static double *alone_of(const struct attainable *a, int implementation, enum part part, int bucket)
{
    size_t row = (size_t)implementation * PARTS + (size_t)part;
    return a->alone + (row * (size_t)a->tensors + (size_t)bucket) * a->rounds;
}

double attainable_of_plan(int n, const double *ready, const double *alone, const double *within, double backward_end,
                          double rest)
{
    double end = backward_end, remaining = 0, remaining_within = 0;
    for (int i = n - 1; i >= 0; i--) {
        remaining += alone[i];
        remaining_within += within[i];
        end = fmax(end, ready[i] + fmax(alone[i] + within[i], fmax(remaining, remaining_within)));
    }
    return end + rest;
}

double attainable_gather(double gather, double first_gather, double forward, double update, double first)
{
    return fmax(0, fmax(first_gather, gather - forward) - (1 - first) * update);
}

struct attainable *attainable_create(const struct reducer *reducer, int n, int tensors, int timed, size_t rounds)
{
    struct attainable *a = allocate(1, sizeof *a);
    *a = (struct attainable){.reducer = reducer, .n = n, .tensors = tensors, .timed = timed, .rounds = rounds};
    a->alone = allocate((size_t)n * PARTS * (size_t)tensors * rounds, sizeof *a->alone);
    return a;
}

void attainable_destroy(struct attainable *attainable)
{
    if (!attainable)
        return;
    for (size_t i = 0; i < attainable->of_none; i++)
        free(attainable->none[i].ready);
    free(attainable->none);
    free(attainable->alone);
    free(attainable);
}

static void measure_none(struct attainable *attainable, const struct timeline *timeline, const struct block *b)
{
    int steps = DISCARDED_STEPS + attainable->timed;
    double n = attainable->timed;
    struct step_compute mean = step_compute_create(attainable->tensors);
    steps_add_ready(timeline, b->times, DISCARDED_STEPS, steps, n, mean.ready);
    for (const struct step_times *step = b->times + DISCARDED_STEPS; step < b->times + steps; step++) {
        mean.forward_end += 1e-9 * (double)(step->forward_end_ns - step->start_ns) / n;
        mean.backward_end += 1e-9 * (double)(step->backward_end_ns - step->start_ns) / n;
        mean.update += 1e-9 * (double)step->phase_ns[PHASE_OPTIMIZER] / n;
        mean.rest += 1e-9 * (double)(step->phase_ns[PHASE_CLIPPING] + step->phase_ns[PHASE_CHECKPOINT]) / n;
    }
    attainable->none = allocate_more(attainable->none, b->round, sizeof mean);
    attainable->none[b->round] = mean;
    attainable->of_none = b->round + 1;
}

/* Returns the seconds of a collective while the ranks do nothing else: the length of its span. In a step the device is
 * busy when a collective is issued, which hides the time to launch it. So if the device runs the collectives, another
 * collective, `lead`, runs first: it hides the launch of the measured one, and ends at the same time on all ranks. */
static double seconds_alone(const struct job *job, struct timeline *timeline, const struct reducer *reducer,
                            const struct collective *lead, struct collective collective)
{
    struct timeline_mark mark = timeline_mark(timeline);
    const struct span *span = &timeline->lane[LANE_COMMUNICATION].span[mark.n[LANE_COMMUNICATION]];
    const struct device *device = reducer->model->device;
    device->synchronize();
    job_barrier(job);
    if (reducer->comm->on_device) {
        reducer->comm->start(reducer->comm, lead);
        span++;
    }
    collective.after_earlier = 1;
    reducer->comm->run_blocking(reducer->comm, &collective);
    device->stamps_end();
    timeline_settle(timeline, device->stamp_ns);
    double seconds = 1e-9 * (double)(span->end_ns - span->start_ns);
    timeline_rewind(timeline, &mark);
    return seconds;
}

void attainable_measure(struct attainable *attainable, const struct job *job, struct timeline *timeline,
                        const struct block *b)
{
    const struct reducer *reducer = &attainable->reducer[b->implementation];
    if (b->round == attainable->rounds) {
        size_t rows = (size_t)attainable->n * PARTS * (size_t)attainable->tensors;
        series_grow(&attainable->alone, rows, &attainable->rounds);
    }
    if (!reducer->traits->reduces) {
        measure_none(attainable, timeline, b);
        return;
    }
    enum { LEAD = 1 << 20 }; /* floats in `lead`: 4 MiB, which on any link takes longer than a launch */
    size_t all;
    float *gradients = reducer_gradients(reducer, &all);
    const struct collective lead = {.buffer = gradients, .count = all < LEAD ? all : LEAD};
    reducer->model->device->zero(gradients, all); /* zeros do not overflow when summed many times */
    for (int bucket = 0; bucket < reducer->plan.n; bucket++) {
        for (int part = 0; part < PARTS; part++)
            alone_of(attainable, b->implementation, (enum part)part, bucket)[b->round] = 0;
        for (int i = 0; i < reducer->traits->messages; i++) {
            const struct collective collective = reducer_collective(reducer, bucket, i);
            int of_gradients = comm_of_gradients(collective.kind, reducer->traits->shards);
            enum part part = collective.group == COMM_HOST ? WITHIN_HOST : of_gradients ? REDUCE : GATHER;
            if (collective.count)
                alone_of(attainable, b->implementation, part, bucket)[b->round] +=
                    reducer_share(reducer) * seconds_alone(job, timeline, reducer, &lead, collective);
        }
    }
}

/* Adds to seconds[plan.n] the time of each bucket's collectives, mean over the timed steps. */
static void add_durations(const struct timeline *timeline, int timed, double *seconds)
{
    const struct lane *lane = &timeline->lane[LANE_COMMUNICATION];
    for (const struct span *span = lane->span; span < lane->span + lane->n; span++)
        if (span->step >= DISCARDED_STEPS && span->index >= 0)
            seconds[span->index] += 1e-9 * (double)(span->end_ns - span->start_ns) / timed;
}

static void print_list(FILE *out, const char *name, const double *seconds, int n, size_t stride)
{
    fprintf(out, ", \"%s\": [", name);
    for (int i = 0; i < n; i++)
        fprintf(out, "%s%.6f", i ? ", " : "", 1e3 * seconds[(size_t)i * stride]);
    fprintf(out, "]");
}

int attainable_write(const struct attainable *a, struct results *results, const char *label,
                     const struct timeline *timeline, const struct block *b)
{
    const struct reducer *reducer = &a->reducer[b->implementation];
    const struct traits *traits = reducer->traits;
    const int has_part[PARTS] = {1, traits->staged, traits->shards}, buckets = reducer->plan.n;
    size_t round = b->round;
    FILE *out = results_begin(results);
    fprintf(out, "{\"implementation\": \"%s\", \"round\": %zu", label, round);
    if (traits->reduces) {
        double *in_step = allocate((size_t)buckets + 1, sizeof *in_step);
        add_durations(timeline, a->timed, in_step);
        for (int part = 0; part < PARTS; part++)
            if (has_part[part])
                print_list(out, part_name[part], alone_of(a, b->implementation, (enum part)part, 0) + round, buckets,
                           a->rounds);
        print_list(out, "in_step_ms", in_step, buckets, 1);
        fprintf(out, ", \"reductions\": %d, \"last_tensor\": [", reducer_reductions(reducer));
        for (int i = 0; i < buckets; i++)
            fprintf(out, "%s%d", i ? ", " : "", reducer->plan.bucket[i].last_tensor);
        fprintf(out, "]}\n");
        free(in_step);
    } else {
        step_compute_print(out, &a->none[round]);
        fprintf(out, "}\n");
    }
    return results_end(results);
}

double attainable_slowdown(const struct attainable *attainable, const struct timeline *timeline, const struct block *b,
                           double *alone)
{
    const struct reducer *reducer = &attainable->reducer[b->implementation];
    int plan = reducer->plan.n, reductions = reducer_reductions(reducer);
    double *ratio = allocate((size_t)plan, sizeof *ratio), median;
    add_durations(timeline, attainable->timed, ratio);
    *alone = 0;
    for (int i = 0; i < plan; i++) {
        double seconds = 0;
        for (int part = 0; part < PARTS; part++)
            seconds += alone_of(attainable, b->implementation, (enum part)part, i)[b->round] *
                       (part == GATHER ? 1 : reductions);
        ratio[i] /= seconds;
        *alone += seconds - alone_of(attainable, b->implementation, GATHER, i)[b->round];
    }
    median = stats_median(ratio, (size_t)plan);
    free(ratio);
    return median;
}

void attainable_rounds(const struct attainable *a, const struct job *job, int implementation, size_t rounds,
                       double *seconds)
{
    const struct reducer *reducer = &a->reducer[implementation];
    const struct plan *plan = &reducer->plan;
    double owned = (double)reducer_owned(reducer), share = owned / (double)reducer->model->arena,
           first = (double)reducer->owned[0].count / owned,
           last = (double)reducer->owned[reducer->ranges - 1].count / owned;
    double *mine = allocate(rounds + 1, sizeof *mine), *all = allocate(rounds * (size_t)job->size + 1, sizeof *all);
    double *ready = allocate(3 * (size_t)plan->n + 1, sizeof *ready), *alone = ready + plan->n,
           *within = alone + plan->n;
    for (size_t r = 0; r < rounds; r++) {
        const struct step_compute *none = &a->none[r];
        double gather = 0, update = share * none->update;
        double early = reducer->traits->updates_early ? (1 - last) * update : 0; /* before the last bucket is summed */
        double rest = update - early + none->rest, before = 0;
        if (reducer->traits->averages) { /* weights are averaged after the update, when no computation hides it */
            before = none->backward_end + rest;
            rest = 0;
        }
        for (int b = 0; b < plan->n; b++) {
            ready[b] = fmax(before, none->ready[plan->bucket[b].last_tensor]);
            alone[b] = alone_of(a, implementation, REDUCE, b)[r];
            within[b] = alone_of(a, implementation, WITHIN_HOST, b)[r];
            gather += alone_of(a, implementation, GATHER, b)[r];
        }
        mine[r] = attainable_of_plan(plan->n, ready, alone, within, fmax(before, none->backward_end + early), rest) +
                  attainable_gather(gather, alone_of(a, implementation, GATHER, plan->n - 1)[r], none->forward_end,
                                    update, first);
    }
    if (rounds)
        job_gather(job, mine, rounds * sizeof *mine, all);
    for (size_t r = 0; r < rounds; r++) {
        seconds[r] = 0;
        for (size_t q = 0; q < (size_t)job->size; q++)
            seconds[r] = fmax(seconds[r], all[q * rounds + r]);
    }
    free(mine);
    free(all);
    free(ready);
}

const char *attainable_note(int ranks, int on_device, double ratio)
{
    if (!isnan(ratio) && !on_device && (ranks & (ranks - 1)))
        return "attainable is not a bound here: if the number of ranks is not a power of two, MPICH's reductions use "
               "each link in one direction only for part of their time, and the next reduction can use the other.";
    return ratio < 0.95 ? "step / attainable below 1: several collectives in flight hide each other's latency, or the "
                          "machine was less busy then."
                        : NULL;
}
