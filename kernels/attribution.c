/* attribution.c - finds the operation or collective of each record of a GPU's tracer, and computes the times of
 * operations and collectives from their records. */
#include "kernels/activity.h"
#include "kernels/error.h"

#include <stdlib.h>
#include <string.h>

/* Returns the number of spans of a lane that the host issued before time ns; the spans are in order of issue. */
static size_t count_issued_before(const struct lane *lane, int64_t ns)
{
    size_t low = 0, high = lane->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (lane->span[middle].queued_ns < ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the index of the span that the host was issuing at time ns, or -1; the host issues spans one after
 * another. */
static int find_span_at(const struct lane *lane, int64_t ns)
{
    size_t n = count_issued_before(lane, ns + 1);
    return n && ns < lane->span[n - 1].returned_ns ? (int)n - 1 : -1;
}

/* ---- records ---- */

static int by_correlation(const void *a, const void *b)
{
    const struct activity *const *x = a, *const *y = b;
    return ((*x)->correlation > (*y)->correlation) - ((*x)->correlation < (*y)->correlation);
}

/* Stores pointers to all calls in `calls`, sorted by correlation, and finds the operation of each. Returns the number
 * of calls. */
static size_t find_calls(struct activities *a, const struct timeline *timeline, struct activity **calls)
{
    size_t n = 0;
    for (struct activity *call = a->of; call < a->of + a->n; call++) {
        if (call->kind != ACTIVITY_CALL)
            continue;
        call->collective = -1;
        call->operation = call->thread == a->thread ? find_span_at(&timeline->lane[LANE_COMPUTE], call->start_ns) : -1;
        calls[n++] = call;
    }
    qsort(calls, n, sizeof(struct activity *), by_correlation);
    return n;
}

static int is_nccl_kernel(const struct activity *kernel)
{
    return kernel->kind == ACTIVITY_KERNEL &&
           (!strncmp(kernel->name, "ncclDevKernel", 13) || !strncmp(kernel->name, "ncclKernel", 10));
}

static void find_work(struct activities *a, const struct timeline *timeline)
{
    struct activity **calls = allocate(a->n + 1, sizeof(struct activity *));
    size_t n = find_calls(a, timeline, calls);
    for (struct activity *work = a->of; work < a->of + a->n; work++) {
        const struct activity *key = work;
        struct activity **made = bsearch(&key, calls, n, sizeof(struct activity *), by_correlation);
        if (work->kind == ACTIVITY_CALL)
            continue;
        work->operation = made ? (*made)->operation : -1;
        work->collective =
            made && is_nccl_kernel(work) ? find_span_at(&timeline->lane[LANE_COMMUNICATION], (*made)->start_ns) : -1;
        if (work->collective >= 0)
            (*made)->collective = work->collective;
    }
    free(calls);
}

/* ---- times ---- */

/* The time from the start of a span's first record to the end of its last one; start_ns 0: no record yet. */
struct extent {
    int64_t start_ns, end_ns;
};

static void extend(struct extent *extent, const struct activity *work)
{
    if (!extent->start_ns || work->start_ns < extent->start_ns)
        extent->start_ns = work->start_ns;
    if (work->end_ns > extent->end_ns)
        extent->end_ns = work->end_ns;
}

static void add_work(struct lane *work, const struct activity *a, const struct span *operation)
{
    if (work->n == work->capacity) {
        work->capacity = 2 * work->capacity + 1024;
        work->span = realloc(work->span, work->capacity * sizeof *work->span);
        if (!work->span)
            fatal_no_memory(work->capacity, sizeof *work->span);
    }
    work->span[work->n++] = (struct span){.name = a->name,
                                          .start_ns = a->start_ns,
                                          .end_ns = a->end_ns,
                                          .index = operation->index,
                                          .step = operation->step};
}

/* Sets the times of operations from their records; without records: length 0, at the end of the previous operation. */
static void time_operations(struct lane *lane, const struct extent *extent)
{
    int64_t last = 0; /* when the previous operation ended */
    for (size_t i = 0; i < lane->n; i++) {
        struct span *s = &lane->span[i];
        if (!s->start_ns) {
            s->start_ns = extent[i].start_ns ? extent[i].start_ns : last ? last : s->queued_ns;
            s->end_ns = extent[i].start_ns ? extent[i].end_ns : s->start_ns;
        }
        last = s->end_ns;
    }
}

static void time_ranges(struct lane *host, const struct lane *operations)
{
    for (struct span *s = host->span; s < host->span + host->n; s++) {
        if (s->start_ns)
            continue;
        size_t first = count_issued_before(operations, s->queued_ns),
               last = count_issued_before(operations, s->returned_ns);
        s->start_ns = first < last ? operations->span[first].start_ns : s->queued_ns;
        s->end_ns = first < last ? operations->span[last - 1].end_ns : s->start_ns;
    }
}

void activities_attribute(struct activities *a, struct timeline *timeline, struct lane *work)
{
    struct lane *operations = &timeline->lane[LANE_COMPUTE], *collectives = &timeline->lane[LANE_COMMUNICATION];
    struct extent *of_operation = allocate(operations->n + 1, sizeof *of_operation);
    struct extent *of_collective = allocate(collectives->n + 1, sizeof *of_collective);
    find_work(a, timeline);
    work->n = 0;
    for (const struct activity *one = a->of; one < a->of + a->n; one++) {
        if (one->kind == ACTIVITY_CALL || one->kind == ACTIVITY_WAIT)
            continue;
        if (one->collective >= 0)
            extend(&of_collective[one->collective], one);
        if (one->operation < 0)
            continue;
        extend(&of_operation[one->operation], one);
        add_work(work, one, &operations->span[one->operation]);
    }
    time_operations(operations, of_operation);
    time_ranges(&timeline->lane[LANE_HOST], operations);
    for (size_t i = 0; i < collectives->n; i++)
        if (of_collective[i].start_ns) {
            collectives->span[i].start_ns = of_collective[i].start_ns;
            collectives->span[i].end_ns = of_collective[i].end_ns;
        }
    free(of_operation);
    free(of_collective);
}
