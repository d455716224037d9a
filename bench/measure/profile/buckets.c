/* buckets.c - when a bucket is ready, when its collective is requested, posted, complete; how long it is exposed. */
#include "profile/figures.h"

#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>

/* Seconds from the start of a step; but EXPOSED is a duration, and LAST is 1 if the bucket completed last, else 0. */
enum bucket_time { READY, QUEUED, POSTED, DONE, EXPOSED, LAST, TIMES };

static double *time_of(double *seconds, int bucket, enum bucket_time time, int steps)
{
    return seconds + ((size_t)bucket * TIMES + time) * (size_t)steps;
}

/* Sets READY: when the last gradient of each bucket was final. */
static void add_ready(const struct profile_figures *f, const struct capture *capture, const struct timeline *timeline,
                      const struct plan *plan, double *seconds)
{
    const struct lane *host = &timeline->lane[LANE_HOST];
    for (const struct span *s = host->span; s < host->span + host->n; s++)
        for (int b = 0; b < plan->n && s->name == ready_name && s->step >= f->first; b++)
            if (plan->bucket[b].last_tensor == s->index)
                time_of(seconds, b, READY, f->steps)[s->step - f->first] =
                    1e-9 * (double)(s->start_ns - capture->times[s->step].start_ns);
}

/* Sets all times but READY from this rank's collectives. computing: spans in which the rank computed; NULL: unknown. */
static void add_collectives(const struct profile_figures *f, const struct capture *capture,
                            const struct timeline *timeline, const struct lane *computing, int host_is_ahead,
                            int shards, double *seconds)
{
    static const struct lane nothing;
    const struct lane *communication = &timeline->lane[LANE_COMMUNICATION], *compute = computing ? computing : &nothing;
    const struct span *span = communication->span, *end = span + communication->n;
    struct interval *busy = allocate(compute->n + 1, sizeof *busy);
    size_t at = 0;
    for (int step = 0; step < capture->n; step++) {
        size_t n = intervals_of_lane(compute, step, &at, busy);
        int64_t start = capture->times[step].start_ns;
        const struct span *last = NULL;
        for (; span < end && span->step == step; span++) {
            const struct interval whole = {span->start_ns, span->end_ns};
            if (step < f->first || span->index < 0 || !comm_of_gradients((enum comm_kind)span->size[SIZE_KIND], shards))
                continue;
            int slot = step - f->first;
            double *done = time_of(seconds, span->index, DONE, f->steps) + slot;
            double *posted = time_of(seconds, span->index, POSTED, f->steps) + slot;
            double ready = time_of(seconds, span->index, READY, f->steps)[slot];
            if (*done == 0 || *posted < ready) { /* the bucket's first collective in the last micro-batch */
                time_of(seconds, span->index, QUEUED, f->steps)[slot] =
                    host_is_ahead ? NAN : 1e-9 * (double)(span->queued_ns - start);
                *posted = 1e-9 * (double)(span->start_ns - start);
            }
            *done = fmax(*done, 1e-9 * (double)(span->end_ns - start));
            time_of(seconds, span->index, EXPOSED, f->steps)[slot] +=
                computing ? 1e-9 * (double)(whole.end - whole.start - intervals_common(&whole, 1, busy, n)) : NAN;
            last = !last || span->end_ns > last->end_ns ? span : last;
        }
        if (last)
            time_of(seconds, last->index, LAST, f->steps)[step - f->first] = 1;
    }
    free(busy);
}

void profile_figures_add_buckets(struct profile_figures *f, const struct job *job, const struct capture *capture,
                                 const struct timeline *timeline, const struct plan *plan, const struct lane *computing,
                                 int host_is_ahead, int shards)
{
    size_t steps = (size_t)f->steps;
    double *seconds = allocate((size_t)plan->n * TIMES * steps + 1, sizeof *seconds);
    add_ready(f, capture, timeline, plan, seconds);
    add_collectives(f, capture, timeline, computing, host_is_ahead, shards, seconds);
    f->bucket = allocate((size_t)plan->n + 1, sizeof *f->bucket);
    f->buckets = plan->n;
    for (int b = 0; b < plan->n; b++) {
        struct pooled of[TIMES];
        for (int time = 0; time < TIMES; time++)
            of[time] = pool_steps(job, time_of(seconds, b, (enum bucket_time)time, f->steps), steps);
        f->bucket[b] = (struct bucket_figure){b,
                                              plan->bucket[b].tensors,
                                              capture->parameters[b],
                                              of[READY].median,
                                              of[QUEUED].median,
                                              of[POSTED].median,
                                              of[DONE].median,
                                              of[EXPOSED].median,
                                              of[LAST].mean};
    }
    free(seconds);
}
