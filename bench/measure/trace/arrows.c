/* arrows.c - arrows between rows of the host: from a layer's forward to its backward, from the operation before a
 * collective to the collective, and from a collective to the gradient_sync that waited for it. */
#include "trace/arrows.h"

#include "kernels/error.h"
#include "trace/collectives.h"

#include <stdlib.h>
#include <string.h>

/* Ids of arrows are unique over ranks, and differ from those of the tracer's records. */
static const uint64_t first_arrow = (uint64_t)1 << 52;

struct arrow_end {
    long thread;
    int64_t ts; /* within the row */
};

static void put_arrow(struct trace_writer *w, const char *category, struct arrow_end from, struct arrow_end to)
{
    uint64_t id = first_arrow | (uint64_t)w->source << 32 | (uint32_t)++w->id;
    for (int i = 0; i < 2; i++) {
        trace_row_begin(w, i ? "f" : "s", w->pid, i ? to.thread : from.thread, i ? to.ts : from.ts);
        trace_put(w, ", \"id\": ");
        trace_put_count(w, id);
        trace_print(w, ", \"cat\": \"%s\", \"name\": \"%s\"%s}", category, category, i ? ", \"bp\": \"e\"" : "");
    }
}

/* ---- layers ---- */

/* Writes an arrow for each pair of ranges of a layer, forward and backward of a micro-batch. */
static void put_layers(struct trace_writer *w)
{
    const struct trace *t = w->trace;
    const struct lane *host = &t->timeline->lane[LANE_HOST];
    int layers = 0;
    for (size_t i = 0; i < host->n; i++)
        layers =
            host->span[i].index >= layers && !strcmp(host->span[i].name, "layer") ? host->span[i].index + 1 : layers;
    const struct span **forward = allocate((size_t)layers + 1, sizeof(const struct span *));
    for (size_t i = 0; i < host->n; i++) {
        const struct span *s = &host->span[i];
        if (strcmp(s->name, "layer") != 0 || !trace_has(t, s->step))
            continue;
        const struct span **before = &forward[s->index];
        if (!*before || (*before)->step != s->step) {
            *before = s;
            continue;
        }
        put_arrow(w, "fwdbwd", (struct arrow_end){t->thread, trace_row_time(t, (*before)->queued_ns)},
                  (struct arrow_end){t->thread, trace_row_time(t, s->queued_ns)});
        *before = NULL;
    }
    free(forward);
}

/* ---- collectives ---- */

/* Returns the last operation of a step that the training thread had finished at ts, or NULL. */
static const struct span *find_operation_before(const struct trace *t, int step, int64_t ts)
{
    const struct lane *compute = &t->timeline->lane[LANE_COMPUTE];
    size_t low = 0, high = compute->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (trace_row_time(t, compute->span[middle].returned_ns) <= ts)
            low = middle + 1;
        else
            high = middle;
    }
    return low && compute->span[low - 1].step == step ? &compute->span[low - 1] : NULL;
}

static void put_collectives(struct trace_writer *w)
{
    const struct trace *t = w->trace;
    const struct lane *host = &t->timeline->lane[LANE_HOST];
    const struct span **sync = allocate((size_t)t->steps + 1, sizeof(const struct span *));
    for (size_t i = 0; i < host->n; i++)
        if (step_phase_of(&host->span[i]) == PHASE_GRADIENT_SYNC && host->span[i].step < t->steps)
            sync[host->span[i].step] = &host->span[i];
    for (size_t i = 0; i < t->collectives->n; i++) {
        const struct timed_collective *c = &t->collectives->item[i];
        struct interval row;
        if (!trace_has(t, c->step))
            continue;
        struct arrow_end at = {trace_collective_row(w, i, &row), 0};
        const struct span *operation = find_operation_before(t, c->step, c->queued_ns - t->base_ns);
        at.ts = row.start;
        if (t->nccl_version && row.end <= row.start) /* the call has no row */
            continue;
        if (operation && !t->without_cpu)
            put_arrow(w, "collective", (struct arrow_end){t->thread, trace_row_time(t, operation->queued_ns)}, at);
        if (sync[c->step] && comm_reduces(c->kind)) {
            /* soon after the start: Perfetto attaches a later arrow to the row that the thread began last, even if that
             * has ended; but not at the edges: there Catapult attaches it to the neighbouring phase */
            int64_t begin = trace_row_time(t, sync[c->step]->queued_ns) + 1;
            int64_t end = trace_row_time(t, sync[c->step]->returned_ns) - 1;
            int64_t waits = row.start < begin ? begin : row.start > end ? end : row.start;
            put_arrow(w, "gradient_sync", at, (struct arrow_end){t->thread, waits});
        }
    }
    free(sync);
}

void trace_put_arrows(struct trace_writer *w)
{
    if (!w->trace->without_cpu)
        put_layers(w);
    put_collectives(w);
}
