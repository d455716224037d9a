/* collectives.c - the arguments of a collective in a trace. */
#include "trace/rows.h"

#include "ddp/comm.h"

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
    trace_print(
        w,
        ", \"Collective name\": \"allreduce\", \"In msg nelems\": %zu, \"Out msg nelems\": %zu, \"Group size\": "
        "%d, \"dtype\": \"%s\", \"Process Group Name\": \"0\", \"Process Group Description\": \"default_pg\", "
        "\"Process Group Ranks\": \"[",
        c->elements, c->elements, t->ranks, c->bytes == 2 * c->elements ? "BFloat16" : "Float");
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
