/* collectives.c - the arguments of a collective in a trace, and how many are in flight. */
#include "trace/rows.h"

#include "ddp/comm.h"
#include "kernels/error.h"

#include <stdlib.h>

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
    trace_print(w,
                "]\", \"Input Dims\": [[%zu]], \"Input type\": [\"%s\"], \"Seq\": %zu, \"bucket\": %d, \"bytes\": %zu, "
                "\"parameters\": %zu",
                c->elements, c->bytes == 2 * c->elements ? "c10::BFloat16" : "float", c->ticket, c->index, c->bytes,
                t->parameters[c->index]);
    put_us_if_known(w, "queued_us", c->posted_ns - c->queued_ns);
    put_us_if_known(w, "wait_us", collective_wait(c, t->rank, all->residual_ns));
    put_us_if_known(w, "transfer_us", collective_transfer(c, t->rank, all->residual_ns));
    if (c->last_rank >= 0)
        trace_print(w, ", \"last_rank\": %d", c->last_rank);
    trace_print(w, ", \"algbw\": %.6g, \"busbw\": %.6g", algbw, algbw * comm_bus_factor(COMM_ALL_REDUCE, t->ranks));
}

struct change {
    int64_t at_ns;
    int by; /* 1 or -1 */
};

/* Of the same time, ends come first. */
static int by_time(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    return x->at_ns == y->at_ns ? x->by - y->by : x->at_ns < y->at_ns ? -1 : 1;
}

void trace_put_in_flight(struct trace_writer *w)
{
    const struct trace *t = w->trace;
    const struct collectives *all = t->collectives;
    struct change *change = allocate(2 * all->n + 1, sizeof *change);
    int in_flight = 0;
    for (size_t i = 0; i < all->n; i++) {
        change[2 * i] = (struct change){all->item[i].posted_ns, 1};
        change[2 * i + 1] = (struct change){all->item[i].completed_ns, -1};
    }
    qsort(change, 2 * all->n, sizeof *change, by_time);
    for (size_t i = 0; i < 2 * all->n; i++) {
        in_flight += change[i].by;
        if (i + 1 < 2 * all->n && change[i + 1].at_ns == change[i].at_ns)
            continue;
        trace_row_begin(w, "C", w->pid, t->thread, change[i].at_ns - t->base_ns);
        trace_print(w, ", \"name\": \"collectives in flight\", \"args\": {\"number\": %d}}", in_flight);
    }
    free(change);
}
