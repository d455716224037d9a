/* buckets.c - when a bucket is ready, when its collective is requested, posted, complete; how long it is exposed. */
#include "profile/figures.h"

#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>

static double *time_of(double *seconds, int bucket, enum bucket_time time, int steps)
{
    return seconds + ((size_t)bucket * BUCKET_TIMES + time) * (size_t)steps;
}

/* Sets all times but BUCKET_READY from this rank's collectives. computing: spans of computation; NULL: unknown. */
static void add_collectives(const struct profile_figures *f, const struct capture *capture,
                            const struct lane *computing, int host_is_ahead, int shards, double *seconds)
{
    static const struct lane nothing;
    const struct lane *communication = &capture->trace.timeline->lane[LANE_COMMUNICATION],
                      *compute = computing ? computing : &nothing;
    const struct span *span = communication->span, *end = span + communication->n;
    struct interval *busy = allocate(compute->n + 1, sizeof *busy);
    size_t at = 0;
    for (int step = 0; step < capture->trace.steps; step++) {
        size_t n = intervals_of_lane(compute, step, &at, busy);
        int64_t start = capture->trace.times[step].start_ns;
        const struct span *last = NULL;
        for (; span < end && span->step == step; span++) {
            const struct interval whole = {span->start_ns, span->end_ns};
            if (step < f->first || span->index < 0 || !comm_of_gradients((enum comm_kind)span->size[SIZE_KIND], shards))
                continue;
            double *time[BUCKET_TIMES]; /* of the bucket, in this step */
            for (int i = 0; i < BUCKET_TIMES; i++)
                time[i] = time_of(seconds, span->index, (enum bucket_time)i, f->steps) + step - f->first;
            /* the bucket's first collective in the last micro-batch */
            if (*time[BUCKET_DONE] == 0 || *time[BUCKET_POSTED] < *time[BUCKET_READY]) {
                *time[BUCKET_QUEUED] = host_is_ahead ? NAN : 1e-9 * (double)(span->queued_ns - start);
                *time[BUCKET_POSTED] = 1e-9 * (double)(span->start_ns - start);
            }
            *time[BUCKET_DONE] = fmax(*time[BUCKET_DONE], 1e-9 * (double)(span->end_ns - start));
            *time[BUCKET_EXPOSED] +=
                computing ? 1e-9 * (double)(whole.end - whole.start - intervals_common(&whole, 1, busy, n)) : NAN;
            last = !last || span->end_ns > last->end_ns ? span : last;
        }
        if (last)
            time_of(seconds, last->index, BUCKET_LAST, f->steps)[step - f->first] = 1;
    }
    free(busy);
}

void profile_figures_add_buckets(struct profile_figures *f, const struct job *job, const struct capture *capture,
                                 const struct plan *plan, const struct lane *computing, int host_is_ahead, int shards)
{
    size_t steps = (size_t)f->steps;
    double *seconds = allocate((size_t)plan->n * BUCKET_TIMES * steps + 1, sizeof *seconds);
    const struct lane *host = &capture->trace.timeline->lane[LANE_HOST];
    for (const struct span *s = host->span; s < host->span + host->n; s++)
        for (int b = 0; b < plan->n && s->name == ready_name && s->step >= f->first; b++)
            if (plan->bucket[b].last_tensor == s->index)
                time_of(seconds, b, BUCKET_READY, f->steps)[s->step - f->first] =
                    1e-9 * (double)(s->start_ns - capture->trace.times[s->step].start_ns);
    add_collectives(f, capture, computing, host_is_ahead, shards, seconds);
    f->bucket = allocate((size_t)plan->n + 1, sizeof *f->bucket);
    f->buckets = plan->n;
    for (int b = 0; b < plan->n; b++) {
        f->bucket[b] = (struct bucket_figure){b, plan->bucket[b].tensors, capture->trace.parameters[b], {0}};
        for (int time = 0; time < BUCKET_TIMES; time++) {
            struct pooled of = pool_steps(job, time_of(seconds, b, (enum bucket_time)time, f->steps), steps);
            f->bucket[b].time[time] = time == BUCKET_LAST ? of.mean : of.median;
        }
    }
    free(seconds);
}
