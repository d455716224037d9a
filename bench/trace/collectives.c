/* collectives.c - collectives in a trace. */
#include "trace/rows.h"

#include "ddp/comm.h"
#include "kernels/error.h"

#include <stdlib.h>

/* Collectives in flight at once overlap, and rows of a thread may not: each goes to the first lane that is free. */
void trace_choose_slots(struct trace_writer *w)
{
    const struct collectives *collectives = w->trace->collectives;
    int64_t *busy_until = allocate(collectives->n + 1, sizeof *busy_until);
    w->slot = allocate(collectives->n + 1, sizeof *w->slot);
    for (size_t i = 0; i < collectives->n; i++) {
        int s = 0;
        while (s < w->slots && busy_until[s] > collectives->item[i].posted_ns)
            s++;
        w->slots += s == w->slots;
        busy_until[s] = collectives->item[i].completed_ns;
        w->slot[i] = s;
    }
    free(busy_until);
}

long trace_slot_thread(const struct trace *t, int slot)
{
    return slot == 0 && t->comm_thread ? t->comm_thread : MADE_UP_THREAD + slot;
}

void trace_put_group(struct trace_writer *w, int abbreviated)
{
    enum { SHOWN = 29 };
    int ranks = w->trace->ranks;
    for (int r = 0; r < ranks; r++)
        if (abbreviated && ranks > SHOWN + 1 && r == SHOWN) {
            trace_put(w, ", ...");
            r = ranks - 2;
        } else
            trace_print(w, "%s%d", r ? ", " : "", r);
}

/* Microseconds; nothing below 0, which means unknown. */
static void put_us_if_known(struct trace_writer *w, const char *name, int64_t ns)
{
    if (ns < 0)
        return;
    trace_print(w, ", \"%s\": ", name);
    trace_put_us(w, ns);
}

void trace_put_collective(struct trace_writer *w, size_t i)
{
    const struct trace *t = w->trace;
    const struct collectives *all = t->collectives;
    const struct timed_collective *c = &all->item[i];
    int64_t busy = c->completed_ns - c->posted_ns;
    double algbw = busy > 0 ? (double)c->bytes / (double)busy : 0; /* bytes per nanosecond are GB/s */
    trace_print(w, ", \"Collective name\": \"allreduce\", \"In msg nelems\": %zu, \"Out msg nelems\": %zu", c->elements,
                c->elements);
    trace_print(w, ", \"Group size\": %d, \"dtype\": \"%s\"", t->ranks,
                c->bytes == 2 * c->elements ? "BFloat16" : "Float");
    trace_put(
        w,
        ", \"Process Group Name\": \"0\", \"Process Group Description\": \"default_pg\", \"Process Group Ranks\": \"[");
    trace_put_group(w, 1);
    trace_print(w, "]\", \"Seq\": %zu, \"bucket\": %d, \"bytes\": %zu, \"parameters\": %zu", c->ticket, c->index,
                c->bytes, t->parameters[c->index]);
    put_us_if_known(w, "queued_us", c->posted_ns - c->queued_ns);
    put_us_if_known(w, "wait_us", collective_wait(c, t->rank, all->residual_ns));
    put_us_if_known(w, "transfer_us", collective_transfer(c, t->rank, all->residual_ns));
    if (c->last_rank >= 0)
        trace_print(w, ", \"last_rank\": %d", c->last_rank);
    trace_print(w, ", \"algbw\": %.6g, \"busbw\": %.6g", algbw, algbw * comm_bus_factor(COMM_ALL_REDUCE, t->ranks));
}

void trace_put_collectives(struct trace_writer *w)
{
    const struct trace *t = w->trace;
    int call = t->nccl_version != NULL;
    /* where the numbers of streams are a GPU's own, those of the host's lanes are out of their way */
    int stream = STREAM_COMMUNICATION + (t->gpu ? 100000 : 0);
    for (size_t i = 0; i < t->collectives->n; i++) {
        const struct timed_collective *c = &t->collectives->item[i];
        int64_t start = call ? c->queued_ns : c->posted_ns, end = call ? c->returned_ns : c->completed_ns;
        if (call && end <= start)
            continue;
        trace_ts_span_begin(w, call ? "user_annotation" : "cpu_op", w->pid,
                            call ? t->thread : trace_slot_thread(t, w->slot[i]), start - t->base_ns, end - t->base_ns,
                            w->collective_id + (long)i);
        if (!call) {
            trace_print(w, ", \"stream\": %d", stream + w->slot[i]);
            trace_put_collective(w, i);
        }
        trace_print(w, "}, \"name\": \"%s:all_reduce\"}", t->comm);
    }
}
