/* gpu_rows.c - which records of a GPU's tracer a trace is made of, and what they belong to. */
#include "trace/gpu_rows.h"

#include "kernels/error.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* How many of n items of `size` bytes have, at that offset, a time of at most ns; they are in the order of these times.
 */
static size_t begun_by(const void *item, size_t n, size_t size, size_t offset, int64_t ns)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int64_t time;
        memcpy(&time, (const char *)item + middle * size + offset, sizeof time);
        if (time <= ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The operation that the training thread was asking for at that time: its external id, or 0. They are recorded one
 * after the other. */
static long operation_at(const struct trace_writer *w, int64_t ns)
{
    const struct lane *lane = &w->trace->timeline->lane[LANE_COMPUTE];
    size_t n = begun_by(lane->span, lane->n, sizeof *lane->span, offsetof(struct span, queued_ns), ns);
    return n && ns < lane->span[n - 1].returned_ns ? w->operation_id + (long)(n - 1) : 0;
}

/* The collective that the training thread was asking for at that time, or NO_COLLECTIVE; they are in that order. */
static size_t collective_at(const struct trace *t, int64_t ns)
{
    const struct collectives *r = t->collectives;
    ns = alignment_apply(t->alignment, ns);
    size_t n = begun_by(r->item, r->n, sizeof *r->item, offsetof(struct timed_collective, queued_ns), ns);
    return n && ns < r->item[n - 1].returned_ns ? n - 1 : NO_COLLECTIVE;
}

static void choose_calls(struct trace_gpu_rows *rows, const struct trace_writer *w)
{
    const struct activities *all = w->trace->activities;
    size_t steps = (size_t)w->trace->steps;
    rows->call = allocate(all->n + 1, sizeof *rows->call);
    for (size_t i = 0; i < all->n; i++) {
        const struct activity *a = &all->of[i];
        size_t n = begun_by(w->step, steps, sizeof *w->step, offsetof(struct host_step, start_ns), a->start_ns);
        if (a->kind != ACTIVITY_CALL || !n || a->start_ns >= w->step[n - 1].end_ns)
            continue;
        long id = (long)a->thread == w->trace->thread && !w->trace->without_cpu ? operation_at(w, a->start_ns) : 0;
        rows->call[rows->calls++] = (struct trace_gpu_call){a, id};
    }
}

static int by_correlation(const void *a, const void *b)
{
    struct trace_gpu_call *const *x = a, *const *y = b;
    uint32_t p = (*x)->activity->correlation, q = (*y)->activity->correlation;
    return (p > q) - (p < q);
}

/* A kernel of NCCL belongs to the collective in whose call it was launched, and so does that call; it is that
 * collective unless that has several. */
static void choose_rows(struct trace_gpu_rows *rows, const struct trace_writer *w)
{
    const struct activities *all = w->trace->activities;
    struct trace_gpu_call **call = allocate(rows->calls + 1, sizeof *call); /* by correlation */
    size_t *kernels = allocate(w->trace->collectives->n + 1, sizeof *kernels);
    for (size_t i = 0; i < rows->calls; i++)
        call[i] = &rows->call[i];
    qsort(call, rows->calls, sizeof *call, by_correlation);
    rows->row = allocate(all->n + 1, sizeof *rows->row);
    for (size_t i = 0; i < all->n; i++) {
        const struct activity *a = &all->of[i];
        struct trace_gpu_call like = {a, 0}, *key = &like, **made;
        if (a->kind == ACTIVITY_CALL || !(made = bsearch(&key, call, rows->calls, sizeof *call, by_correlation)))
            continue;
        int nccl = a->kind == ACTIVITY_KERNEL &&
                   (!strncmp(a->name, "ncclDevKernel", 13) || !strncmp(a->name, "ncclKernel", 10));
        size_t collective = nccl ? collective_at(w->trace, (*made)->activity->start_ns) : NO_COLLECTIVE;
        if (collective != NO_COLLECTIVE) {
            (*made)->id = w->collective_id + (long)collective;
            kernels[collective]++;
        }
        rows->row[rows->n++] = (struct trace_gpu_row){a, *made, nccl, 0, collective};
    }
    for (size_t i = 0; i < rows->n; i++)
        if (rows->row[i].collective != NO_COLLECTIVE && kernels[rows->row[i].collective] > 1)
            rows->row[i].collective = NO_COLLECTIVE;
    free(call);
    free(kernels);
}

void trace_gpu_rows_create(struct trace_gpu_rows *rows, const struct trace_writer *w)
{
    *rows = (struct trace_gpu_rows){0};
    choose_calls(rows, w);
    choose_rows(rows, w);
}

void trace_gpu_rows_destroy(struct trace_gpu_rows *rows)
{
    free(rows->call);
    free(rows->row);
}
