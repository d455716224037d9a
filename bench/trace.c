/* trace.c - writes a timeline as a Chrome trace. */
#include "trace.h"

#include "error.h"
#include "operations.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lane numbers that analysers know as streams. */
enum { STREAM_COMPUTE = 7, STREAM_COMMUNICATION = 20 };

/* Threads that exist in the picture only (a second collective in flight) have numbers that no real one can have. */
enum { MADE_UP_THREAD = 5000000 };

struct writer {
    struct trace_text out;
    const struct trace *trace;
    long pid, id; /* process number of the rows; last external id */
    int first;    /* no row was written yet */
    int *slot;    /* [reductions] of the communication lane */
    int slots;
};

double trace_bus_factor(int ranks)
{
    return ranks > 0 ? 2.0 * (ranks - 1) / ranks : 0;
}

/* ---- rows ---- */

static int64_t aligned(const struct trace *t, int64_t ns)
{
    return alignment_apply(t->alignment, ns) - t->base_ns;
}

/* Begins a row, up to where `"args"` may follow. */
static void begin_row(struct writer *w, const char *phase, long thread)
{
    text_put(&w->out, w->first ? "\n{\"ph\": \"" : ",\n{\"ph\": \"");
    w->first = 0;
    text_put(&w->out, phase);
    text_put(&w->out, "\", \"pid\": ");
    text_count(&w->out, (uint64_t)w->pid);
    text_put(&w->out, ", \"tid\": ");
    text_count(&w->out, (uint64_t)thread);
}

static void begin_span(struct writer *w, const char *category, long thread, int64_t start, int64_t end)
{
    begin_row(w, "X", thread);
    text_put(&w->out, ", \"ts\": ");
    text_us(&w->out, start);
    text_put(&w->out, ", \"dur\": ");
    text_us(&w->out, end - (start > 0 ? start : 0));
    text_put(&w->out, ", \"cat\": \"");
    text_put(&w->out, category);
    text_put(&w->out, "\", \"args\": {\"External id\": ");
    text_count(&w->out, (uint64_t)++w->id);
}

static void end_row(struct writer *w)
{
    text_put(&w->out, "}}");
}

static void put_name(struct writer *w, const char *name)
{
    text_put(&w->out, ", \"name\": \"");
    text_put(&w->out, name);
    text_put(&w->out, "\"");
}

/* A row of no more than a name. */
static void put_annotation(struct writer *w, const char *name, int64_t start, int64_t end)
{
    begin_span(w, "user_annotation", w->trace->thread, start, end);
    text_put(&w->out, "}");
    put_name(w, name);
    text_put(&w->out, "}");
}

static void put_metadata(struct writer *w, const char *kind, long thread, const char *key, const char *value)
{
    begin_row(w, "M", thread);
    text_put(&w->out, ", \"ts\": 0.000");
    put_name(w, kind);
    text_print(&w->out, ", \"args\": {\"%s\": ", key);
    text_string(&w->out, value);
    end_row(w);
}

static void put_sort_index(struct writer *w, const char *kind, long thread, int index)
{
    begin_row(w, "M", thread);
    text_put(&w->out, ", \"ts\": 0.000");
    put_name(w, kind);
    text_print(&w->out, ", \"args\": {\"sort_index\": %d", index);
    end_row(w);
}

/* ---- lanes ---- */

/* Collectives in flight at once overlap, and rows of a thread may not: each goes to the first lane that is free. */
static void choose_slots(struct writer *w)
{
    const struct reductions *r = w->trace->reductions;
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

static long slot_thread(const struct trace *t, int slot)
{
    return slot == 0 && t->comm_thread ? t->comm_thread : MADE_UP_THREAD + slot;
}

static void put_lanes(struct writer *w)
{
    const struct trace *t = w->trace;
    char name[160];
    snprintf(name, sizeof name, "ddpbench rank %d", t->rank);
    put_metadata(w, "process_name", 0, "name", name);
    snprintf(name, sizeof name, "%.100s pid %ld (%.20s)", t->host, t->pid, t->device);
    put_metadata(w, "process_labels", 0, "labels", name);
    put_sort_index(w, "process_sort_index", 0, t->rank);
    snprintf(name, sizeof name, "training (thread %ld)", t->thread);
    put_metadata(w, "thread_name", t->thread, "name", name);
    put_sort_index(w, "thread_sort_index", t->thread, 0);
    for (int s = 0; s < w->slots; s++) {
        if (s == 0 && t->comm_thread)
            snprintf(name, sizeof name, "%.20s (thread %ld)", t->comm, t->comm_thread);
        else
            snprintf(name, sizeof name, "%.20s, %d in flight", t->comm, s + 1);
        put_metadata(w, "thread_name", slot_thread(t, s), "name", name);
        put_sort_index(w, "thread_sort_index", slot_thread(t, s), 1 + s);
    }
}

/* ---- steps, phases, ranges, operations ---- */

static void put_step(struct writer *w, int i)
{
    const struct trace *t = w->trace;
    const struct captured_step *s = &t->step[i];
    char name[96];
    if (i == 0 || t->step[i - 1].epoch != s->epoch || t->step[i - 1].number + 1 != s->number) {
        int last = i; /* of the captured steps that follow without a gap in this epoch */
        while (last + 1 < t->steps && t->step[last + 1].epoch == s->epoch &&
               t->step[last + 1].number == t->step[last].number + 1)
            last++;
        snprintf(name, sizeof name, "%s_epoch_%ld (lr=%.6g)", s->warmup ? "warmup" : "active", s->epoch + 1,
                 (double)s->learning_rate);
        put_annotation(w, name, aligned(t, t->times[i].start_ns), aligned(t, t->times[last].end_ns));
    }
    snprintf(name, sizeof name, "ProfilerStep#%ld", s->number + 1);
    put_annotation(w, name, aligned(t, t->times[i].start_ns), aligned(t, t->times[i].end_ns));
}

/* Holistic Trace Analysis drops what starts in the last step, so that has to be one in which nothing starts. */
static void put_sentinel(struct writer *w)
{
    const struct trace *t = w->trace;
    char name[96];
    if (!t->steps)
        return;
    int64_t end = aligned(t, t->times[t->steps - 1].end_ns);
    for (size_t i = 0; i < t->reductions->n; i++)
        if (t->reductions->of[i].completed_ns - t->base_ns > end)
            end = t->reductions->of[i].completed_ns - t->base_ns;
    snprintf(name, sizeof name, "ProfilerStep#%ld", t->step[t->steps - 1].number + 2);
    put_annotation(w, name, end + 1000, end + 2000);
}

static void put_range(struct writer *w, const struct span *s)
{
    const struct trace *t = w->trace;
    begin_span(w, "cpu_op", t->thread, aligned(t, s->start_ns), aligned(t, s->end_ns));
    text_put(&w->out, "}");
    if (s->index < 0)
        put_name(w, s->name);
    else if (!strcmp(s->name, "layer"))
        text_print(&w->out, ", \"name\": \"layers.%d\"", s->index);
    else
        text_print(&w->out, ", \"name\": \"layers.%d.%s\"", s->index, s->name);
    text_put(&w->out, "}");
}

/* "Input Dims" and "Input type", as Kineto writes them. */
static void put_shapes(struct writer *w, const struct operation_facts *facts, const size_t *sizes)
{
    text_put(&w->out, ", \"Input Dims\": [");
    for (const char *c = facts->inputs; *c; c++) {
        if (c == facts->inputs || c[-1] == ',')
            text_put(&w->out, c == facts->inputs ? "[" : ", [");
        else
            text_put(&w->out, ", ");
        text_count(&w->out, operation_size(facts->sizes, sizes, *c));
        if (!c[1] || c[1] == ',') {
            text_put(&w->out, "]");
            c += c[1] == ',';
        }
    }
    text_put(&w->out, "], \"Input type\": [");
    for (const char *c = facts->types; *c; c++) {
        text_put(&w->out, c == facts->types ? "\"" : ", \"");
        int bf16 = *c == 'h' || (*c == 'c' && w->trace->compute_bytes == 2);
        text_put(&w->out, bf16 ? "c10::BFloat16\"" : *c == 'i' ? "int\"" : "float\"");
    }
    text_put(&w->out, "]");
}

static void put_operation(struct writer *w, const struct span *s)
{
    const struct trace *t = w->trace;
    const struct operation_facts *facts = &operation_facts[s->index];
    begin_span(w, "cpu_op", t->thread, aligned(t, s->start_ns), aligned(t, s->end_ns));
    text_print(&w->out, ", \"stream\": %d", STREAM_COMPUTE);
    if (t->shapes)
        put_shapes(w, facts, s->size);
    if (t->flops && *facts->flops) {
        text_put(&w->out, ", \"flops\": ");
        text_count(&w->out, (uint64_t)operation_amount(facts->flops, facts->sizes, s->size, t->compute_bytes));
    }
    text_put(&w->out, "}");
    put_name(w, s->name);
    text_put(&w->out, "}");
}

/* ---- collectives ---- */

/* All ranks; `shortly`, the first of many and the last, as Kineto does. */
static void put_group(struct writer *w, int shortly)
{
    enum { SHOWN = 29 };
    int ranks = w->trace->ranks;
    for (int r = 0; r < ranks; r++)
        if (shortly && ranks > SHOWN + 1 && r == SHOWN) {
            text_put(&w->out, ", ...");
            r = ranks - 2;
        } else
            text_print(&w->out, "%s%d", r ? ", " : "", r);
}

/* Microseconds; nothing where the clocks cannot tell. */
static void put_us_if_known(struct writer *w, const char *name, int64_t ns)
{
    if (ns < 0)
        return;
    text_print(&w->out, ", \"%s\": ", name);
    text_us(&w->out, ns);
}

static void put_reduction(struct writer *w, size_t i)
{
    const struct trace *t = w->trace;
    const struct reductions *all = t->reductions;
    const struct reduction *r = &all->of[i];
    int64_t busy = r->completed_ns - r->posted_ns;
    double algbw = busy > 0 ? (double)r->bytes / (double)busy : 0; /* bytes per nanosecond are GB/s */
    begin_span(w, "cpu_op", slot_thread(t, w->slot[i]), r->posted_ns - t->base_ns, r->completed_ns - t->base_ns);
    text_print(&w->out,
               ", \"stream\": %d, \"Collective name\": \"allreduce\", \"In msg nelems\": %zu, \"Out msg nelems\": %zu",
               STREAM_COMMUNICATION + w->slot[i], r->elements, r->elements);
    text_print(&w->out, ", \"Group size\": %d, \"dtype\": \"%s\"", t->ranks,
               r->bytes == 2 * r->elements ? "BFloat16" : "Float");
    text_put(
        &w->out,
        ", \"Process Group Name\": \"0\", \"Process Group Description\": \"default_pg\", \"Process Group Ranks\": \"[");
    put_group(w, 1);
    text_print(&w->out, "]\", \"Seq\": %zu, \"bucket\": %d, \"bytes\": %zu, \"parameters\": %zu", r->ticket, r->index,
               r->bytes, t->parameters[r->index]);
    put_us_if_known(w, "queued_us", r->posted_ns - r->queued_ns);
    put_us_if_known(w, "wait_us", reduction_wait(r, t->rank, all->residual_ns));
    put_us_if_known(w, "transfer_us", reduction_transfer(r, t->rank, all->residual_ns));
    if (r->last_rank >= 0)
        text_print(&w->out, ", \"last_rank\": %d", r->last_rank);
    text_print(&w->out, ", \"algbw\": %.6g, \"busbw\": %.6g}, \"name\": \"%s:all_reduce\"}", algbw,
               algbw * trace_bus_factor(t->ranks), t->comm);
}

/* ---- counters and memory ---- */

static void put_counter(struct writer *w, const char *name, int64_t ts, const char *series, double value)
{
    if (!isfinite(value))
        return;
    begin_row(w, "C", w->trace->thread);
    text_put(&w->out, ", \"ts\": ");
    text_us(&w->out, ts);
    put_name(w, name);
    text_print(&w->out, ", \"args\": {\"%s\": %.9g", series, value);
    end_row(w);
}

static void put_counters(struct writer *w, int i)
{
    const struct trace *t = w->trace;
    const struct captured_step *s = &t->step[i];
    int64_t ts = aligned(t, t->times[i].end_ns);
    if (t->memory)
        put_counter(w, "memory", ts, "resident bytes", (double)s->resident_bytes);
    if (t->counters) {
        put_counter(w, "learning_rate", ts, "value", (double)s->learning_rate);
        put_counter(w, "loss", ts, "value", (double)s->loss);
        put_counter(w, "grad_norm", ts, "value", (double)s->grad_norm);
    }
}

static void put_memory(struct writer *w)
{
    const struct trace *t = w->trace;
    const struct lane *lane = &t->timeline->lane[LANE_MEMORY];
    size_t total = 0;
    for (size_t i = 0; i < lane->n; i++) {
        const struct span *s = &lane->span[i];
        total += s->size[SIZE_BYTES];
        begin_row(w, "i", t->thread);
        text_put(&w->out, ", \"s\": \"t\", \"ts\": ");
        text_us(&w->out, aligned(t, s->start_ns));
        text_put(&w->out, ", \"cat\": \"cpu_instant_event\"");
        put_name(w, "[memory]");
        text_print(&w->out,
                   ", \"args\": {\"Bytes\": %zu, \"Addr\": %zu, \"Total Allocated\": %zu, \"Device Type\": 0, \"Device "
                   "Id\": -1",
                   s->size[SIZE_BYTES], s->size[1], total);
        end_row(w);
    }
}

/* ---- the whole ---- */

static void put_rows(struct writer *w)
{
    const struct trace *t = w->trace;
    const struct lane *host = &t->timeline->lane[LANE_HOST], *compute = &t->timeline->lane[LANE_COMPUTE];
    choose_slots(w);
    put_lanes(w);
    if (t->memory)
        put_memory(w);
    for (int i = 0; i < t->steps; i++) /* rows that begin together: the outer ones come first */
        put_step(w, i);
    for (size_t i = 0; i < host->n; i++)
        if (step_phase_of(&host->span[i]) >= 0)
            put_annotation(w, host->span[i].name, aligned(t, host->span[i].start_ns), aligned(t, host->span[i].end_ns));
    for (size_t i = 0; i < host->n; i++)
        if (step_phase_of(&host->span[i]) < 0 && host->span[i].name != ready_name)
            put_range(w, &host->span[i]);
    for (size_t i = 0; i < compute->n; i++)
        put_operation(w, &compute->span[i]);
    for (size_t i = 0; i < t->reductions->n; i++)
        put_reduction(w, i);
    for (int i = 0; i < t->steps; i++)
        put_counters(w, i);
    put_sentinel(w);
    free(w->slot);
}

static void put_head(struct writer *w)
{
    const struct trace *t = w->trace;
    text_put(&w->out, "{\n\"schemaVersion\": 1,\n\"deviceProperties\": [],\n");
    /* Holistic Trace Analysis finds the rank by `"rank": ` with the space */
    text_print(&w->out,
               "\"distributedInfo\": {\"backend\": \"%s\", \"rank\": %d, \"world_size\": %d, \"pg_count\": 1, ",
               t->comm, t->rank, t->ranks);
    text_print(&w->out,
               "\"pg_config\": [{\"pg_name\": \"0\", \"pg_desc\": \"default_pg\", \"backend_config\": \"%s:%s\", ",
               t->device, t->comm);
    text_print(&w->out, "\"pg_size\": %d, \"ranks\": [", t->ranks);
    put_group(w, 0);
    text_print(&w->out, "]}]},\n\"displayTimeUnit\": \"ms\",\n\"baseTimeNanoseconds\": %lld,\n\"traceEvents\": [",
               (long long)t->base_unix_ns);
}

static void put_tail(struct writer *w, const char *name)
{
    text_put(&w->out, "\n],\n\"traceName\": ");
    text_string(&w->out, name);
    text_put(&w->out, "\n}\n");
}

static struct writer *start(const struct trace *trace, const struct trace_sink *sink)
{
    struct writer *w = allocate(1, sizeof *w);
    w->trace = trace;
    w->out.sink = sink;
    w->pid = trace->pid;
    w->first = 1;
    return w;
}

static int finish(struct writer *w)
{
    int status = text_flush(&w->out);
    free(w);
    return status;
}

int trace_write(const struct trace *trace, const struct trace_sink *sink)
{
    struct writer *w = start(trace, sink);
    char name[128];
    snprintf(name, sizeof name, "%.64s_rank_%d_trace.json", trace->implementation, trace->rank);
    put_head(w);
    put_rows(w);
    put_tail(w, name);
    return finish(w);
}

int trace_write_merged_head(const struct trace *trace, const struct trace_sink *sink)
{
    struct writer *w = start(trace, sink);
    put_head(w);
    return finish(w);
}

int trace_write_merged_rows(const struct trace *trace, const struct trace_sink *sink, int first)
{
    struct writer *w = start(trace, sink);
    w->pid = trace->rank + 1;
    w->id = (long)trace->rank << 32;
    w->first = first;
    put_rows(w);
    return finish(w);
}

int trace_write_merged_tail(const struct trace *trace, const struct trace_sink *sink)
{
    struct writer *w = start(trace, sink);
    char name[128];
    snprintf(name, sizeof name, "%.64s_all_ranks_trace.json", trace->implementation);
    put_tail(w, name);
    return finish(w);
}
