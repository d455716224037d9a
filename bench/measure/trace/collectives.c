/* collectives.c - writes the lanes, rows and arguments of collectives in a trace. */
#include "trace/rows.h"

#include "ddp/comm.h"
#include "kernels/error.h"

#include <stdlib.h>

/* ---- arguments ---- */

void trace_put_group(struct trace_writer *w, int abbreviated)
{
    enum { SHOWN = 29 };
    int ranks = w->trace->ranks;
    for (int r = 0; r < ranks; r++)
        if (abbreviated && ranks > SHOWN + 1 && r == SHOWN) {
            fputs(", ...", w->out);
            r = ranks - 2;
        } else
            fprintf(w->out, "%s%d", r ? ", " : "", r);
}

/* The names that PyTorch gives collectives on one tensor, by enum comm_kind. */
static const char *const collective_name[COMM_KINDS] = {"allreduce", "_reduce_scatter_base", "_allgather_base",
                                                        "broadcast", "all_to_all"};

/* Writes a member with a time in microseconds, unless the time is unknown (negative). */
static void put_us_if_known(struct trace_writer *w, const char *name, int64_t ns)
{
    if (ns < 0)
        return;
    fprintf(w->out, ", \"%s\": ", name);
    trace_put_us(w, ns);
}

void trace_put_collective(struct trace_writer *w, size_t i)
{
    const struct trace *t = w->trace;
    const struct collectives *all = t->collectives;
    const struct timed_collective *c = &all->item[i];
    int64_t busy = c->completed_ns - c->posted_ns, wait = collective_wait(c, t->rank, all->residual_ns);
    double algbw = busy > 0 ? (double)c->bytes / (double)busy : 0; /* bytes per nanosecond are GB/s */
    int bf16 = c->bytes == 2 * c->elements;
    size_t part = c->elements / comm_parts(c->kind, c->ranks); /* elements of the smaller buffer */
    size_t in = c->kind == COMM_ALL_GATHER ? part : c->elements,
           out = c->kind == COMM_REDUCE_SCATTER ? part : c->elements;
    fprintf(w->out,
            ", \"Collective name\": \"%s\", \"In msg nelems\": %zu, \"Out msg nelems\": %zu, \"Group size\": %d, "
            "\"dtype\": \"%s\", \"Process Group Name\": \"%d\", \"Process Group Description\": \"%s\"",
            collective_name[c->kind], in, out, c->ranks, bf16 ? "BFloat16" : "Float", (int)c->group,
            comm_group_name[c->group]);
    if (c->group == COMM_ALL) {
        fputs(", \"Process Group Ranks\": \"[", w->out);
        trace_put_group(w, 1);
        fputs("]\"", w->out);
    }
    fprintf(w->out,
            ", \"Input Dims\": [[%zu]], \"Input type\": [\"%s\"], \"Seq\": %zu, \"bucket\": %d, \"bytes\": %zu, "
            "\"parameters\": %zu",
            in, bf16 ? "c10::BFloat16" : "float", c->ticket, c->index, c->bytes,
            c->index < 0 ? 0 : t->parameters[c->index]);
    put_us_if_known(w, "queued_us", c->posted_ns - c->queued_ns);
    put_us_if_known(w, "wait_us", wait);
    put_us_if_known(w, "transfer_us", wait < 0 ? -1 : c->completed_ns - c->last_posted_ns);
    if (c->last_rank >= 0)
        fprintf(w->out, ", \"last_rank\": %d", c->last_rank);
    fprintf(w->out, ", \"algbw\": %.6g, \"busbw\": %.6g", algbw, algbw * comm_bus_factor(c->kind, c->ranks));
}

/* ---- lanes and rows ---- */

void trace_choose_slots(struct trace_writer *w)
{
    const struct collectives *all = w->trace->collectives;
    int64_t *busy_until = allocate(all->n + 1, sizeof *busy_until);
    w->slot = allocate(all->n + 1, sizeof *w->slot);
    for (size_t i = 0; i < all->n; i++) {
        int s = 0;
        while (s < w->slots && busy_until[s] > all->item[i].posted_ns)
            s++;
        busy_until[s] = all->item[i].completed_ns;
        w->slots = s < w->slots ? w->slots : s + 1;
        w->slot[i] = s;
    }
    free(busy_until);
}

/* Returns the thread number of a lane of collectives. If the comm has a thread of its own, lane 0 is that thread. */
static long slot_thread(const struct trace *t, int slot)
{
    return slot == 0 && t->comm_thread ? t->comm_thread : MADE_UP_THREAD + slot;
}

void trace_put_slots(struct trace_writer *w)
{
    const struct trace *t = w->trace;
    for (int s = 0; s < w->slots; s++)
        if (s == 0 && t->comm_thread)
            trace_put_lane(w, "thread", w->pid, t->comm_thread, 1, NULL, "%.20s (thread %ld)", t->comm, t->comm_thread);
        else
            trace_put_lane(w, "thread", w->pid, slot_thread(t, s), 1 + s, NULL, "%.20s, %d in flight", t->comm, s + 1);
}

/* Writes the call by which the training thread launched collective i, unless its duration is 0. */
static void put_call(struct trace_writer *w, size_t i)
{
    const struct trace *t = w->trace;
    const struct timed_collective *c = &t->collectives->item[i];
    if (c->returned_ns <= c->queued_ns)
        return;
    trace_ts_span_begin(w, "user_annotation", w->pid, t->thread, c->queued_ns - t->base_ns, c->returned_ns - t->base_ns,
                        w->collective_id + (long)i);
    trace_put_stamped(w, w->collective_id + (long)i);
    fprintf(w->out, ", \"bucket\": %d}, \"name\": \"%s:%s\"}", c->index, t->comm, comm_kind_name[c->kind]);
}

void trace_put_collectives(struct trace_writer *w)
{
    const struct trace *t = w->trace;
    for (size_t i = 0; i < t->collectives->n; i++) {
        const struct timed_collective *c = &t->collectives->item[i];
        int64_t start = c->posted_ns - t->base_ns, end = c->completed_ns - t->base_ns;
        if (t->nccl_version) {
            put_call(w, i);
            continue;
        }
        trace_ts_span_begin(w, "cpu_op", w->pid, slot_thread(t, w->slot[i]), start, end, w->collective_id + (long)i);
        fprintf(w->out, ", \"stream\": %d", STREAM_HOST);
        trace_put_collective(w, i);
        fprintf(w->out, "}, \"name\": \"%s:%s\"}", t->comm, comm_kind_name[c->kind]);
        if (c->index < 0)
            continue;
        trace_ts_span_begin(w, "user_annotation", w->pid, slot_thread(t, w->slot[i]), start, end, ++w->id);
        fprintf(w->out, "}, \"name\": \"bucket %d\"}", c->index);
    }
}
