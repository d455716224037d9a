/* collectives.c - collectives in a trace: their lanes, rows and arguments, and how many are in flight. */
#include "trace/collectives.h"

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
            trace_put(w, ", ...");
            r = ranks - 2;
        } else
            trace_print(w, "%s%d", r ? ", " : "", r);
}

/* PyTorch's names of collectives on one buffer. */
static const char *const collective_name[COMM_KINDS] = {"allreduce", "_reduce_scatter_base", "_allgather_base",
                                                        "broadcast"};

/* Writes a member in microseconds; nothing for a negative time, which means unknown. */
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
    int bf16 = c->bytes == 2 * c->elements;
    size_t part = c->elements / comm_parts(c->kind, t->ranks); /* the smaller buffer */
    size_t in = c->kind == COMM_ALL_GATHER ? part : c->elements,
           out = c->kind == COMM_REDUCE_SCATTER ? part : c->elements;
    trace_print(w,
                ", \"Collective name\": \"%s\", \"In msg nelems\": %zu, \"Out msg nelems\": %zu, \"Group size\": %d, "
                "\"dtype\": \"%s\", \"Process Group Name\": \"0\", \"Process Group Description\": \"default_pg\", "
                "\"Process Group Ranks\": \"[",
                collective_name[c->kind], in, out, t->ranks, bf16 ? "BFloat16" : "Float");
    trace_put_group(w, 1);
    trace_print(w,
                "]\", \"Input Dims\": [[%zu]], \"Input type\": [\"%s\"], \"Seq\": %zu, \"bucket\": %d, \"bytes\": %zu, "
                "\"parameters\": %zu",
                in, bf16 ? "c10::BFloat16" : "float", c->ticket, c->index, c->bytes,
                c->index < 0 ? 0 : t->parameters[c->index]);
    put_us_if_known(w, "queued_us", c->posted_ns - c->queued_ns);
    put_us_if_known(w, "wait_us", collective_wait(c, t->rank, all->residual_ns));
    put_us_if_known(w, "transfer_us", collective_transfer(c, t->rank, all->residual_ns));
    if (c->last_rank >= 0)
        trace_print(w, ", \"last_rank\": %d", c->last_rank);
    trace_print(w, ", \"algbw\": %.6g, \"busbw\": %.6g", algbw, algbw * comm_bus_factor(c->kind, t->ranks));
}

/* ---- lanes and rows ---- */

void trace_choose_slots(struct trace_writer *w)
{
    const struct collectives *all = w->trace->collectives;
    int64_t busy_until[TRACE_SLOTS] = {0};
    w->slot = allocate(all->n + 1, sizeof *w->slot);
    for (size_t i = 0; i < all->n; i++) {
        int s = 0;
        if (!trace_has(w->trace, all->item[i].step))
            continue;
        while (s < TRACE_SLOTS && busy_until[s] > all->item[i].posted_ns)
            s++;
        if (s < TRACE_SLOTS)
            busy_until[s] = all->item[i].completed_ns;
        w->slots = s < w->slots ? w->slots : s + 1;
        w->slot[i] = s;
    }
}

/* The thread number of a lane. The first is the comm's own thread, if it has one. */
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
        else if (s < TRACE_SLOTS)
            trace_put_lane(w, "thread", w->pid, slot_thread(t, s), 1 + s, NULL, "%.20s, %d in flight", t->comm, s + 1);
        else
            trace_put_lane(w, "thread", w->pid, slot_thread(t, s), 1 + s, NULL, "%.20s, more in flight", t->comm);
}

long trace_collective_row(const struct trace_writer *w, size_t i, struct interval *ts)
{
    const struct trace *t = w->trace;
    const struct timed_collective *c = &t->collectives->item[i];
    int call = t->nccl_version != NULL;
    ts->start = (call ? c->queued_ns : c->posted_ns) - t->base_ns;
    ts->end = (call ? c->returned_ns : c->completed_ns) - t->base_ns;
    return call ? t->thread : slot_thread(t, w->slot[i]);
}

/* Writes the calls by the training thread of collectives that run on the GPU. */
static void put_calls(struct trace_writer *w)
{
    const struct trace *t = w->trace;
    for (size_t i = 0; i < t->collectives->n; i++) {
        struct interval ts;
        long thread = trace_collective_row(w, i, &ts);
        if (ts.end <= ts.start || !trace_has(t, t->collectives->item[i].step))
            continue;
        trace_ts_span_begin(w, "user_annotation", w->pid, thread, ts.start, ts.end, w->collective_id + (long)i);
        trace_put_stamped(w, w->collective_id + (long)i);
        trace_print(w, ", \"bucket\": %d}, \"name\": \"%s:%s\"}", t->collectives->item[i].index, t->comm,
                    comm_kind_name[t->collectives->item[i].kind]);
    }
}

/* Writes a collective as two asynchronous events, which viewers pair by process, category and id. */
static void put_event(struct trace_writer *w, size_t i, long thread, const struct interval *ts)
{
    for (int end = 0; end < 2; end++) {
        trace_row_begin(w, end ? "e" : "b", w->pid, thread, end ? ts->end : ts->start);
        trace_print(w, ", \"id2\": {\"local\": \"%ld\"}, \"cat\": \"cpu_op\", \"args\": {", w->collective_id + (long)i);
        if (!end) {
            trace_print(w, "\"External id\": %ld, \"stream\": %d", w->collective_id + (long)i, STREAM_HOST);
            trace_put_collective(w, i);
        }
        trace_print(w, "}, \"name\": \"%s:%s\"}", w->trace->comm, comm_kind_name[w->trace->collectives->item[i].kind]);
    }
}

void trace_put_collectives(struct trace_writer *w)
{
    const struct trace *t = w->trace;
    struct interval ts, *more = allocate(t->collectives->n + 1, sizeof *more);
    size_t n = 0;
    if (t->nccl_version)
        put_calls(w);
    for (size_t i = 0; !t->nccl_version && i < t->collectives->n; i++) {
        long thread = trace_collective_row(w, i, &ts), id = w->collective_id + (long)i;
        if (!trace_has(t, t->collectives->item[i].step))
            continue;
        if (w->slot[i] == TRACE_SLOTS) {
            more[n++] = ts;
            put_event(w, i, thread, &ts);
            continue;
        }
        trace_ts_span_begin(w, "cpu_op", w->pid, thread, ts.start, ts.end, id);
        trace_print(w, ", \"stream\": %d", STREAM_HOST);
        trace_put_collective(w, i);
        trace_print(w, "}, \"name\": \"%s:%s\"}", t->comm, comm_kind_name[t->collectives->item[i].kind]);
        if (t->collectives->item[i].index < 0)
            continue;
        trace_ts_span_begin(w, "user_annotation", w->pid, thread, ts.start, ts.end, ++w->id);
        trace_print(w, "}, \"name\": \"bucket %d\"}", t->collectives->item[i].index);
    }
    n = intervals_unite(more, n);
    for (size_t i = 0; i < n; i++) {
        trace_ts_span_begin(w, "cpu_op", w->pid, slot_thread(t, TRACE_SLOTS), more[i].start, more[i].end, ++w->id);
        trace_print(w, ", \"stream\": %d}, \"name\": \"%s:more_in_flight\"}", STREAM_HOST, t->comm);
    }
    free(more);
}

/* ---- in flight ---- */

struct change {
    int64_t at_ns;
    int by; /* 1 or -1 */
};

/* Orders changes by time, ends before starts. */
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
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++) {
        if (!trace_has(t, all->item[i].step))
            continue;
        change[n++] = (struct change){all->item[i].posted_ns, 1};
        change[n++] = (struct change){all->item[i].completed_ns, -1};
    }
    qsort(change, n, sizeof *change, by_time);
    for (size_t i = 0; i < n; i++) {
        in_flight += change[i].by;
        if (i + 1 < n && change[i + 1].at_ns == change[i].at_ns)
            continue;
        trace_row_begin(w, "C", w->pid, t->thread, change[i].at_ns - t->base_ns);
        trace_print(w, ", \"name\": \"collectives in flight\", \"args\": {\"number\": %d}}", in_flight);
    }
    free(change);
}
