/* gpu_rows.c - which records of a GPU's tracer a trace is made of, and what they belong to. */
#include "trace/gpu_rows.h"

#include "kernels/error.h"

#include <stdlib.h>
#include <string.h>

/* The step in which the training thread was at that time, or -1. */
static int step_at(const struct trace_writer *w, int64_t ns)
{
    int low = 0, high = w->trace->steps; /* steps before `low` began at that time or earlier */
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (w->step[middle].start_ns <= ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && ns < w->step[low - 1].end_ns ? low - 1 : -1;
}

/* The operation that the training thread was asking for at that time: its external id, or 0. They are recorded one
 * after the other. */
static long operation_at(const struct trace_writer *w, int64_t ns)
{
    const struct lane *lane = &w->trace->timeline->lane[LANE_COMPUTE];
    size_t low = 0, high = lane->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (lane->span[middle].queued_ns <= ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && ns < lane->span[low - 1].returned_ns ? w->operation_id + (long)(low - 1) : 0;
}

static void choose_calls(struct trace_gpu_rows *rows, const struct trace_writer *w)
{
    const struct activities *all = w->trace->activities;
    rows->call = allocate(all->n + 1, sizeof *rows->call);
    for (size_t i = 0; i < all->n; i++) {
        const struct activity *a = &all->of[i];
        int step = a->kind == ACTIVITY_CALL ? step_at(w, a->start_ns) : -1;
        if (step < 0)
            continue;
        long id = (long)a->thread == w->trace->thread && !w->trace->without_cpu ? operation_at(w, a->start_ns) : 0;
        rows->call[rows->calls++] = (struct trace_gpu_call){a, id};
    }
}

/* A call by its correlation. */
struct maker {
    uint32_t correlation;
    const struct trace_gpu_call *call;
};

static int by_correlation(const void *a, const void *b)
{
    const struct maker *x = a, *y = b;
    return (x->correlation > y->correlation) - (x->correlation < y->correlation);
}

static void choose_rows(struct trace_gpu_rows *rows, const struct activities *all)
{
    struct maker *maker = allocate(rows->calls + 1, sizeof *maker);
    for (size_t i = 0; i < rows->calls; i++)
        maker[i] = (struct maker){rows->call[i].activity->correlation, &rows->call[i]};
    qsort(maker, rows->calls, sizeof *maker, by_correlation);
    rows->row = allocate(all->n + 1, sizeof *rows->row);
    for (size_t i = 0; i < all->n; i++) {
        const struct activity *a = &all->of[i];
        struct maker key = {a->correlation, NULL}, *made;
        if (a->kind == ACTIVITY_CALL || !(made = bsearch(&key, maker, rows->calls, sizeof *maker, by_correlation)))
            continue;
        rows->row[rows->n++] =
            (struct trace_gpu_row){.activity = a,
                                   .call = made->call->activity,
                                   .nccl = a->kind == ACTIVITY_KERNEL && (!strncmp(a->name, "ncclDevKernel", 13) ||
                                                                          !strncmp(a->name, "ncclKernel", 10)),
                                   .id = made->call->id,
                                   .collective = NO_COLLECTIVE};
    }
    free(maker);
}

/* ---- collectives ---- */

/* The collective that the training thread was asking for at that time, or NO_COLLECTIVE; they are in that order. */
static size_t collective_at(const struct trace *t, int64_t ns)
{
    const struct collectives *r = t->collectives;
    size_t low = 0, high = r->n;
    ns = alignment_apply(t->alignment, ns);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->item[middle].queued_ns <= ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && ns < r->item[low - 1].returned_ns ? low - 1 : NO_COLLECTIVE;
}

/* A kernel of NCCL belongs to the collective in whose call it was launched; it is that collective unless that has
 * several. */
static void match_collectives(struct trace_gpu_rows *rows, const struct trace_writer *w)
{
    const struct trace *t = w->trace;
    size_t *kernels = allocate(t->collectives->n + 1, sizeof *kernels);
    for (size_t i = 0; i < rows->n; i++) {
        struct trace_gpu_row *row = &rows->row[i];
        size_t collective = row->nccl ? collective_at(t, row->call->start_ns) : NO_COLLECTIVE;
        if (collective == NO_COLLECTIVE)
            continue;
        row->collective = collective;
        row->id = w->collective_id + (long)collective;
        kernels[collective]++;
    }
    for (size_t i = 0; i < rows->n; i++)
        rows->row[i].only_kernel = rows->row[i].collective != NO_COLLECTIVE && kernels[rows->row[i].collective] == 1;
    free(kernels);
}

/* The calls of such kernels belong to the collective, too. */
static void name_calls(struct trace_gpu_rows *rows)
{
    for (size_t i = 0; i < rows->n; i++)
        if (rows->row[i].collective != NO_COLLECTIVE)
            for (size_t low = 0, high = rows->calls; low < high;) {
                size_t middle = low + (high - low) / 2;
                const struct activity *a = rows->call[middle].activity;
                if (a == rows->row[i].call)
                    rows->call[middle].id = rows->row[i].id;
                if (a < rows->row[i].call) /* both are in the order of the activities */
                    low = middle + 1;
                else
                    high = middle;
            }
}

void trace_gpu_rows_create(struct trace_gpu_rows *rows, const struct trace_writer *w)
{
    *rows = (struct trace_gpu_rows){0};
    choose_calls(rows, w);
    choose_rows(rows, w->trace->activities);
    match_collectives(rows, w);
    name_calls(rows);
}

void trace_gpu_rows_destroy(struct trace_gpu_rows *rows)
{
    free(rows->call);
    free(rows->row);
}
