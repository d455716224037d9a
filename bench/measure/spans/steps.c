/* steps.c - the times of steps, and how much computation and communication overlap in them. */
#include "kernels/error.h"
#include "spans/spans.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void steps_from_timeline(const struct timeline *timeline, struct step_times *steps, int n)
{
    const struct lane *lane = &timeline->lane[LANE_HOST];
    memset(steps, 0, (size_t)n * sizeof *steps);
    for (size_t i = 0; i < lane->n; i++) {
        const struct span *span = &lane->span[i];
        int phase = step_phase_of(span);
        if (phase < 0 || span->step >= n)
            continue;
        struct step_times *step = &steps[span->step];
        step->phase_ns[phase] += span->end_ns - span->start_ns;
        step->core_wait_ns[phase] += (int64_t)span->size[SIZE_CORE_WAIT];
        if (!step->start_ns)
            step->start_ns = span->start_ns;
        if (phase == PHASE_FORWARD && !step->forward_end_ns)
            step->forward_end_ns = span->end_ns;
        if (phase == PHASE_BACKWARD)
            step->backward_end_ns = span->end_ns;
        step->end_ns = span->end_ns;
    }
}

void steps_add_ready(const struct timeline *timeline, const struct step_times *steps, int first, int n, double divisor,
                     double *ready_seconds)
{
    const struct lane *lane = &timeline->lane[LANE_HOST];
    for (size_t i = 0; i < lane->n; i++) {
        const struct span *span = &lane->span[i];
        if (span->name == ready_name && span->step >= first && span->step < n)
            ready_seconds[span->index] += 1e-9 * (double)(span->start_ns - steps[span->step].start_ns) / divisor;
    }
}

/* ---- intervals ---- */

static int by_start(const void *a, const void *b)
{
    const struct interval *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

size_t intervals_unite(struct interval *v, size_t n)
{
    size_t out = 0;
    qsort(v, n, sizeof *v, by_start);
    for (size_t i = 0; i < n; i++) {
        if (v[i].end <= v[i].start)
            continue;
        if (out && v[i].start <= v[out - 1].end) {
            if (v[i].end > v[out - 1].end)
                v[out - 1].end = v[i].end;
        } else
            v[out++] = v[i];
    }
    return out;
}

int64_t intervals_common(const struct interval *a, size_t na, const struct interval *b, size_t nb)
{
    int64_t length = 0;
    for (size_t i = 0, j = 0; i < na && j < nb;) {
        int64_t start = a[i].start > b[j].start ? a[i].start : b[j].start;
        int64_t end = a[i].end < b[j].end ? a[i].end : b[j].end;
        length += start < end ? end - start : 0;
        if (a[i].end < b[j].end)
            i++;
        else
            j++;
    }
    return length;
}

size_t intervals_of_lane(const struct lane *lane, int step, size_t *at, struct interval *v)
{
    size_t n = 0;
    while (*at < lane->n && lane->span[*at].step < step)
        ++*at;
    for (; *at < lane->n && lane->span[*at].step == step; ++*at)
        v[n++] = (struct interval){lane->span[*at].start_ns, lane->span[*at].end_ns};
    return intervals_unite(v, n);
}

size_t intervals_in_flight(const struct lane *communication, int kind, const struct step_times *times, int step,
                           size_t *at, struct interval *v)
{
    const struct span *end = communication->span + communication->n;
    size_t n = 0;
    while (*at < communication->n && communication->span[*at].step < step - 1)
        ++*at;
    for (const struct span *s = communication->span + *at; s < end && s->step <= step; s++) {
        v[n].start = s->start_ns > times[step].start_ns ? s->start_ns : times[step].start_ns;
        v[n].end = s->end_ns < times[step].end_ns ? s->end_ns : times[step].end_ns;
        n += v[n].start < v[n].end && (kind == COMM_KINDS || s->size[SIZE_KIND] == (size_t)kind);
    }
    return intervals_unite(v, n);
}

/* ---- overlap ---- */

static struct overlap with_ratios(struct overlap o)
{
    o.span = o.overlap / o.communication;
    o.coverage = o.communication > 0 ? o.overlap / o.compute : NAN;
    o.utilisation = o.compute / o.step;
    o.alone = o.compute - o.overlap;
    o.idle = o.step - o.compute - o.exposed;
    return o;
}

void overlap_of_steps(const struct timeline *timeline, const struct step_times *steps, int n,
                      const struct lane *computing, int shards, struct overlap *overlap)
{
    static const struct lane nothing;
    const struct lane *communication = &timeline->lane[LANE_COMMUNICATION], *compute = computing ? computing : &nothing;
    struct interval *x = allocate(communication->n + 1, sizeof *x), *y = allocate(compute->n + 1, sizeof *y);
    size_t i = 0, j = 0;
    double unit = computing ? 1e-9 : NAN; /* s per ns; NAN: figures that need `computing` become NAN */
    for (int s = 0; s < n; s++) {
        size_t nx = intervals_in_flight(communication, COMM_KINDS, steps, s, &i, x);
        size_t ny = intervals_of_lane(compute, s, &j, y);
        int64_t busy = intervals_common(x, nx, x, nx), both = intervals_common(x, nx, y, ny);
        overlap[s] = with_ratios((struct overlap){.step = 1e-9 * (double)(steps[s].end_ns - steps[s].start_ns),
                                                  .communication = 1e-9 * (double)busy,
                                                  .compute = unit * (double)intervals_common(y, ny, y, ny),
                                                  .overlap = unit * (double)both,
                                                  .exposed = unit * (double)(busy - both)});
        for (int kind = 0; kind < COMM_KINDS; kind++) {
            nx = intervals_in_flight(communication, kind, steps, s, &i, x);
            overlap[s].kind[kind].communication = 1e-9 * (double)intervals_common(x, nx, x, nx);
            overlap[s].kind[kind].overlap = unit * (double)intervals_common(x, nx, y, ny);
        }
    }
    for (const struct span *span = communication->span; span < communication->span + communication->n; span++)
        if (span->step < n) {
            struct overlap *o = &overlap[span->step];
            o->collectives++;
            if (comm_of_gradients((enum comm_kind)span->size[SIZE_KIND], shards))
                o->exposed_tail =
                    fmax(o->exposed_tail, 1e-9 * (double)(span->end_ns - steps[span->step].backward_end_ns));
        }
    free(x);
    free(y);
}

struct overlap overlap_mean(const struct overlap *overlap, int first, int count)
{
    struct overlap mean = {0};
    double *sum = (double *)&mean; /* all members are doubles */
    for (const struct overlap *o = overlap + first; o < overlap + first + count; o++)
        for (size_t i = 0; i < sizeof mean / sizeof *sum; i++)
            sum[i] += ((const double *)o)[i] / count;
    return with_ratios(mean);
}

const char *overlap_span_name(int on_device)
{
    return on_device ? "hidden_ratio" : "span_overlap";
}
