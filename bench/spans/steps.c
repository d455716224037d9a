/* steps.c - from the spans of a block to the times of its steps, and how computation and communication share them. */
#include "kernels/error.h"
#include "spans/intervals.h"

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
        if (!step->start_ns)
            step->start_ns = span->start_ns;
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

/* ---- overlap ---- */

size_t intervals_of_lane(const struct lane *lane, int step, size_t *at, struct interval *v)
{
    size_t n = 0;
    while (*at < lane->n && lane->span[*at].step < step)
        ++*at;
    for (; *at < lane->n && lane->span[*at].step == step; ++*at)
        v[n++] = (struct interval){lane->span[*at].start_ns, lane->span[*at].end_ns};
    return intervals_unite(v, n);
}

static size_t most_spans(const struct lane *lane)
{
    size_t most = 0, n = 0;
    for (size_t i = 0; i < lane->n; i++) {
        n = i && lane->span[i].step == lane->span[i - 1].step ? n + 1 : 1;
        most = n > most ? n : most;
    }
    return most;
}

static void count_collectives(const struct lane *lane, const struct step_times *steps, int n, struct overlap *overlap)
{
    for (size_t i = 0; i < lane->n; i++) {
        const struct span *span = &lane->span[i];
        if (span->step >= n)
            continue;
        struct overlap *o = &overlap[span->step];
        int64_t tail = span->end_ns - steps[span->step].backward_end_ns;
        o->collectives++;
        if (tail > o->exposed_tail_ns)
            o->exposed_tail_ns = tail;
    }
}

void overlap_of_steps(const struct timeline *timeline, const struct step_times *steps, int n, struct overlap *overlap)
{
    const struct lane *communication = &timeline->lane[LANE_COMMUNICATION], *compute = &timeline->lane[LANE_COMPUTE];
    size_t a = most_spans(communication), b = most_spans(compute), i = 0, j = 0;
    struct interval *x = allocate(a + 1, sizeof *x), *y = allocate(b + 1, sizeof *y);
    struct interval *common = allocate(a + b + 1, sizeof *common);
    for (int s = 0; s < n; s++) {
        size_t nx = intervals_of_lane(communication, s, &i, x), ny = intervals_of_lane(compute, s, &j, y);
        overlap[s] = (struct overlap){.step_ns = steps[s].end_ns - steps[s].start_ns,
                                      .communication_ns = intervals_length(x, nx),
                                      .compute_ns = intervals_length(y, ny)};
        overlap[s].overlap_ns = intervals_length(common, intervals_intersect(x, nx, y, ny, common));
    }
    count_collectives(communication, steps, n, overlap);
    free(x);
    free(y);
    free(common);
}

struct overlap overlap_sum(const struct overlap *overlap, int first, int count)
{
    struct overlap sum = {0};
    for (int i = first; i < first + count; i++) {
        sum.step_ns += overlap[i].step_ns;
        sum.communication_ns += overlap[i].communication_ns;
        sum.compute_ns += overlap[i].compute_ns;
        sum.overlap_ns += overlap[i].overlap_ns;
        sum.exposed_tail_ns += overlap[i].exposed_tail_ns;
        sum.collectives += overlap[i].collectives;
    }
    return sum;
}

int64_t overlap_exposed(const struct overlap *o)
{
    return o->communication_ns - o->overlap_ns;
}

double overlap_span(const struct overlap *o)
{
    return o->communication_ns ? (double)o->overlap_ns / (double)o->communication_ns : NAN;
}

double overlap_coverage(const struct overlap *o)
{
    return o->communication_ns && o->compute_ns ? (double)o->overlap_ns / (double)o->compute_ns : NAN;
}

double overlap_utilisation(const struct overlap *o)
{
    return o->step_ns ? (double)o->compute_ns / (double)o->step_ns : NAN;
}

const char *overlap_span_name(int on_device)
{
    return on_device ? "hidden_ratio" : "span_overlap";
}
