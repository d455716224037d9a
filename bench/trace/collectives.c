/* collectives.c - collectives in a trace: what tools look for on them, and the lanes of a library on the host. */
#include "trace/rows.h"

#include "kernels/error.h"

#include <stdlib.h>

double trace_bus_factor(int ranks)
{
    return ranks > 0 ? 2.0 * (ranks - 1) / ranks : 0;
}

/* Collectives in flight at once overlap, and rows of a thread may not: each goes to the first lane that is free. */
void trace_choose_slots(struct trace_writer *w)
{
    const struct collectives *r = w->trace->collectives;
    int64_t *busy = allocate(r->n + 1, sizeof *busy);
    w->slot = allocate(r->n + 1, sizeof *w->slot);
    for (size_t i = 0; i < r->n; i++) {
        int s = 0;
        while (s < w->slots && busy[s] > r->of[i].posted_ns)
            s++;
        if (s == w->slots)
            w->slots++;
        busy[s] = r->of[i].completed_ns;
        w->slot[i] = s;
    }
    free(busy);
}

long trace_slot_thread(const struct trace *t, int slot)
{
    return slot == 0 && t->comm_thread ? t->comm_thread : MADE_UP_THREAD + slot;
}

void trace_put_group(struct trace_writer *w, int shortly)
{
    enum { SHOWN = 29 };
    int ranks = w->trace->ranks;
    for (int r = 0; r < ranks; r++)
        if (shortly && ranks > SHOWN + 1 && r == SHOWN) {
            trace_text_put(&w->out, ", ...");
            r = ranks - 2;
        } else
            trace_text_print(&w->out, "%s%d", r ? ", " : "", r);
}

/* Microseconds; nothing where the clocks cannot tell. */
static void put_us_if_known(struct trace_writer *w, const char *name, int64_t ns)
{
    if (ns < 0)
        return;
    trace_text_print(&w->out, ", \"%s\": ", name);
    trace_text_us(&w->out, ns);
}

void trace_put_collective(struct trace_writer *w, size_t i)
{
    const struct trace *t = w->trace;
    const struct collectives *all = t->collectives;
    const struct timed_collective *r = &all->of[i];
    int64_t busy = r->completed_ns - r->posted_ns;
    double algbw = busy > 0 ? (double)r->bytes / (double)busy : 0; /* bytes per nanosecond are GB/s */
    trace_text_print(&w->out, ", \"Collective name\": \"allreduce\", \"In msg nelems\": %zu, \"Out msg nelems\": %zu",
                     r->elements, r->elements);
    trace_text_print(&w->out, ", \"Group size\": %d, \"dtype\": \"%s\"", t->ranks,
                     r->bytes == 2 * r->elements ? "BFloat16" : "Float");
    trace_text_put(
        &w->out,
        ", \"Process Group Name\": \"0\", \"Process Group Description\": \"default_pg\", \"Process Group Ranks\": \"[");
    trace_put_group(w, 1);
    trace_text_print(&w->out, "]\", \"Seq\": %zu, \"bucket\": %d, \"bytes\": %zu, \"parameters\": %zu", r->ticket,
                     r->index, r->bytes, t->parameters[r->index]);
    put_us_if_known(w, "queued_us", r->posted_ns - r->queued_ns);
    put_us_if_known(w, "wait_us", collective_wait(r, t->rank, all->residual_ns));
    put_us_if_known(w, "transfer_us", collective_transfer(r, t->rank, all->residual_ns));
    if (r->last_rank >= 0)
        trace_text_print(&w->out, ", \"last_rank\": %d", r->last_rank);
    trace_text_print(&w->out, ", \"algbw\": %.6g, \"busbw\": %.6g", algbw, algbw * trace_bus_factor(t->ranks));
}

void trace_put_collectives(struct trace_writer *w)
{
    const struct trace *t = w->trace;
    for (size_t i = 0; i < t->collectives->n; i++) {
        const struct timed_collective *r = &t->collectives->of[i];
        trace_span_begin(w, "cpu_op", w->pid, trace_slot_thread(t, w->slot[i]), r->posted_ns - t->base_ns,
                         r->completed_ns - t->base_ns, w->collective_id + (long)i);
        trace_text_print(&w->out, ", \"stream\": %d", stream_communication(t) + w->slot[i]);
        trace_put_collective(w, i);
        trace_text_print(&w->out, "}, \"name\": \"%s:all_reduce\"}", t->comm);
    }
}

void trace_put_calls_of_collectives(struct trace_writer *w)
{
    const struct trace *t = w->trace;
    for (size_t i = 0; i < t->collectives->n; i++) {
        const struct timed_collective *r = &t->collectives->of[i];
        if (r->returned_ns <= r->queued_ns)
            continue;
        trace_span_begin(w, "user_annotation", w->pid, t->thread, r->queued_ns - t->base_ns,
                         r->returned_ns - t->base_ns, w->collective_id + (long)i);
        trace_text_print(&w->out, "}, \"name\": \"%s:all_reduce\"}", t->comm);
    }
}
