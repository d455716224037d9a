/* averages.c - where the training thread's time went, by name. */
#include "averages.h"

#include "error.h"
#include "operations.h"
#include "step.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is added up on each rank, to be summed over ranks; the rows are the same on all. */
struct sums {
    double calls, total_ns, self_ns, flops, bytes;
};

/* A span with the row that it counts for. */
struct item {
    int64_t start, end;
    int row, depth_order;
};

static int find_row(struct averages *a, const char *name, const char *kind)
{
    for (int i = 0; i < a->n; i++)
        if (!strcmp(a->row[i].name, name) && !strcmp(a->row[i].kind, kind))
            return i;
    if (a->n == AVERAGES_MOST)
        FATAL("more than %d names in a profile", AVERAGES_MOST);
    snprintf(a->row[a->n].name, sizeof a->row->name, "%s", name);
    a->row[a->n].kind = kind;
    return a->n++;
}

/* The same rows in the same order on every rank: what occurred on one occurred on all. */
static void add_span(struct averages *a, struct sums *sums, struct item *item, const struct span *span,
                     enum timeline_lane lane)
{
    int phase = lane == LANE_HOST ? step_phase_of(span) : -1;
    const char *kind = lane == LANE_COMPUTE         ? "operation"
                       : lane == LANE_COMMUNICATION ? "collective"
                       : phase >= 0                 ? "phase"
                                                    : "part";
    int row = find_row(a, span->name, kind);
    double length = (double)(span->end_ns - span->start_ns);
    sums[row].calls++;
    sums[row].total_ns += length;
    sums[row].self_ns += lane == LANE_COMMUNICATION ? NAN : length;
    if (lane == LANE_COMPUTE) {
        const struct operation_facts *facts = &operation_facts[span->index];
        sums[row].flops += operation_amount(facts->flops, facts->sizes, span->size);
        sums[row].bytes += operation_amount(facts->bytes, facts->sizes, span->size);
    } else if (lane == LANE_COMMUNICATION)
        sums[row].bytes += (double)span->size[SIZE_BYTES];
    if (phase >= 0)
        a->step_ns += length;
    *item = (struct item){span->start_ns, span->end_ns, row, lane == LANE_COMPUTE ? 2 : phase >= 0 ? 0 : 1};
}

/* Outer spans before the inner ones that begin with them. */
static int by_nesting(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    return x->depth_order - y->depth_order;
}

/* Takes each span's time off the self time of the one that it lies in. */
static void subtract_children(struct sums *sums, struct item *item, size_t n)
{
    enum { DEEPEST = 32 };
    const struct item *open[DEEPEST];
    int depth = 0;
    qsort(item, n, sizeof *item, by_nesting);
    for (size_t i = 0; i < n; i++) {
        while (depth && open[depth - 1]->end <= item[i].start)
            depth--;
        if (depth)
            sums[open[depth - 1]->row].self_ns -= (double)(item[i].end - item[i].start);
        if (depth == DEEPEST)
            FATAL("spans nest deeper than %d", DEEPEST);
        open[depth++] = &item[i];
    }
}

static void sum_ranks(struct averages *a, const struct job *job, const struct sums *mine)
{
    struct sums *all = allocate((size_t)job->size * AVERAGES_MOST, sizeof *all);
    double *steps = allocate((size_t)job->size, sizeof *steps);
    job_gather(job, mine, AVERAGES_MOST * sizeof *mine, all);
    job_gather(job, &a->step_ns, sizeof a->step_ns, steps);
    a->step_ns = 0;
    for (int r = 0; r < job->size; r++) {
        a->step_ns += steps[r];
        for (int i = 0; i < a->n; i++) {
            const struct sums *s = &all[r * AVERAGES_MOST + i];
            a->row[i].calls += s->calls;
            a->row[i].total_ns += s->total_ns;
            a->row[i].self_ns += s->self_ns;
            a->row[i].flops += s->flops;
            a->row[i].bytes += s->bytes;
        }
    }
    free(all);
    free(steps);
}

void averages_create(struct averages *averages, const struct job *job, const struct timeline *timeline, int first,
                     int count)
{
    static const enum timeline_lane order[] = {LANE_HOST, LANE_COMPUTE, LANE_COMMUNICATION};
    struct sums sums[AVERAGES_MOST] = {{0}};
    size_t n = 0;
    struct item *item = allocate(timeline->lane[LANE_HOST].n + timeline->lane[LANE_COMPUTE].n + 1, sizeof *item);
    struct item beside;
    *averages = (struct averages){0};
    for (size_t l = 0; l < sizeof order / sizeof *order; l++) {
        const struct lane *lane = &timeline->lane[order[l]];
        for (size_t i = 0; i < lane->n; i++) {
            const struct span *span = &lane->span[i];
            int counts = span->step >= first && span->step < first + count && span->name != ready_name;
            if (counts && order[l] == LANE_COMMUNICATION)
                add_span(averages, sums, &beside, span, order[l]);
            else if (counts)
                add_span(averages, sums, &item[n++], span, order[l]);
        }
    }
    subtract_children(sums, item, n);
    sum_ranks(averages, job, sums);
    free(item);
}

/* ---- order ---- */

static enum sort order_by; /* qsort hands nothing on */

static double key(const struct average *a)
{
    switch (order_by) {
    case SORT_TOTAL:
        return a->total_ns;
    case SORT_MEAN:
        return a->total_ns / a->calls;
    case SORT_CALLS:
        return a->calls;
    case SORT_GFLOPS:
        return a->total_ns > 0 ? a->flops / a->total_ns : 0;
    case SORT_GBS:
        return a->total_ns > 0 ? a->bytes / a->total_ns : 0;
    default:
        return isnan(a->self_ns) ? -1 : a->self_ns; /* last */
    }
}

static int compare(const void *a, const void *b)
{
    const struct average *x = a, *y = b;
    double p = key(x), q = key(y);
    if (order_by == SORT_NAME || p == q)
        return strcmp(x->name, y->name);
    return p > q ? -1 : 1;
}

void averages_sort(struct averages *averages, enum sort by)
{
    order_by = by;
    qsort(averages->row, (size_t)averages->n, sizeof *averages->row, compare);
}
