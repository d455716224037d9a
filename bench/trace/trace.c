/* trace.c - writes a timeline as a Chrome trace. */
#include "kernels/error.h"
#include "kernels/operations.h"
#include "trace/rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lanes ---- */

static void put_lanes(struct trace_writer *w)
{
    const struct trace *t = w->trace;
    char labels[160];
    snprintf(labels, sizeof labels, "%.100s pid %ld (%.20s)", t->host, t->pid, t->device);
    trace_put_lane(w, "process", w->pid, 0, t->rank, labels, "ddpbench rank %d", t->rank);
    trace_put_lane(w, "thread", w->pid, t->thread, 0, NULL, "training (thread %ld)", t->thread);
    for (int s = 0; s < w->slots && !t->nccl_version; s++) /* of collectives that run on the host */
        if (s == 0 && t->comm_thread)
            trace_put_lane(w, "thread", w->pid, t->comm_thread, 1, NULL, "%.20s (thread %ld)", t->comm, t->comm_thread);
        else
            trace_put_lane(w, "thread", w->pid, trace_slot_thread(t, s), 1 + s, NULL, "%.20s, %d in flight", t->comm,
                           s + 1);
}

/* ---- steps, phases, ranges, operations ---- */

/* When the training thread was in each step: its phases follow one another without gaps. */
static void find_host_steps(struct trace_writer *w)
{
    const struct trace *t = w->trace;
    const struct lane *host = &t->timeline->lane[LANE_HOST];
    w->step = allocate((size_t)t->steps + 1, sizeof *w->step);
    for (size_t i = 0; i < host->n; i++) {
        const struct span *s = &host->span[i];
        if (step_phase_of(s) < 0 || s->step >= t->steps)
            continue;
        if (!w->step[s->step].start_ns)
            w->step[s->step].start_ns = s->queued_ns;
        w->step[s->step].end_ns = s->returned_ns;
    }
}

static void put_step(struct trace_writer *w, int i)
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
        trace_put_annotation(w, name, w->step[i].start_ns, w->step[last].end_ns, ++w->id);
    }
    snprintf(name, sizeof name, "ProfilerStep#%ld", s->number + 1);
    trace_put_annotation(w, name, w->step[i].start_ns, w->step[i].end_ns, ++w->id);
}

/* Holistic Trace Analysis drops what starts in the last step, so that has to be one in which nothing starts. */
static void put_sentinel(struct trace_writer *w)
{
    const struct trace *t = w->trace;
    char name[96];
    if (!t->steps)
        return;
    int64_t end = trace_row_time(t, w->step[t->steps - 1].end_ns), device = trace_row_time(t, trace_gpu_end(t));
    if (device > end)
        end = device;
    for (size_t i = 0; i < t->collectives->n; i++)
        if (t->collectives->item[i].completed_ns - t->base_ns > end)
            end = t->collectives->item[i].completed_ns - t->base_ns;
    snprintf(name, sizeof name, "ProfilerStep#%ld", t->step[t->steps - 1].number + 2);
    trace_ts_span_begin(w, "user_annotation", w->pid, t->thread, end + 1000, end + 2000, ++w->id);
    trace_span_end(w, name);
}

static void put_range(struct trace_writer *w, const struct span *s, long id)
{
    int layer = !strcmp(s->name, "layer");
    trace_span_begin(w, "cpu_op", w->pid, w->trace->thread, s->queued_ns, s->returned_ns, id);
    if (s->index < 0)
        trace_span_end(w, s->name);
    else
        trace_print(w, "}, \"name\": \"layers.%d%s%s\"}", s->index, layer ? "" : ".", layer ? "" : s->name);
}

/* "Input Dims" and "Input type", as Kineto writes them. */
static void put_shapes(struct trace_writer *w, const struct operation_facts *facts, const size_t *sizes)
{
    const char *before = "[";
    trace_put(w, ", \"Input Dims\": [");
    for (const char *c = facts->inputs; *c; c++)
        if (*c == ',')
            before = "], [";
        else {
            trace_put(w, before);
            trace_put_count(w, operation_size(facts->sizes, sizes, *c));
            before = ", ";
        }
    trace_put(w, *facts->inputs ? "]], \"Input type\": [" : "], \"Input type\": [");
    for (const char *c = facts->types; *c; c++) {
        trace_put(w, c == facts->types ? "\"" : ", \"");
        int bf16 = *c == 'h' || (*c == 'c' && w->trace->compute_bytes == 2);
        trace_put(w, bf16 ? "c10::BFloat16\"" : *c == 'i' ? "int\"" : "float\"");
    }
    trace_put(w, "]");
}

static void put_operation(struct trace_writer *w, const struct span *s, long id)
{
    const struct trace *t = w->trace;
    const struct operation_facts *facts = &operation_facts[s->index];
    trace_span_begin(w, "cpu_op", w->pid, t->thread, s->queued_ns, s->returned_ns, id);
    if (!t->gpu) /* the thread that asks for it computes it */
        trace_print(w, ", \"stream\": %d", STREAM_COMPUTE);
    if (t->shapes)
        put_shapes(w, facts, s->size);
    if (t->flops && *facts->flops) {
        trace_put(w, ", \"flops\": ");
        trace_put_count(w, (uint64_t)operation_amount(facts->flops, facts->sizes, s->size, t->compute_bytes));
    }
    trace_span_end(w, s->name);
}

/* ---- counters and memory ---- */

static void put_counter(struct trace_writer *w, int step, const char *name, const char *series, double value)
{
    if (!isfinite(value))
        return;
    trace_row_begin(w, "C", w->pid, w->trace->thread, trace_row_time(w->trace, w->step[step].end_ns));
    trace_print(w, ", \"name\": \"%s\", \"args\": {\"%s\": %.9g}}", name, series, value);
}

static void put_counters(struct trace_writer *w, int i)
{
    const struct captured_step *s = &w->trace->step[i];
    if (w->trace->memory)
        put_counter(w, i, "memory", "resident bytes", (double)s->resident_bytes);
    if (w->trace->counters) {
        put_counter(w, i, "learning_rate", "value", (double)s->learning_rate);
        put_counter(w, i, "loss", "value", (double)s->loss);
        put_counter(w, i, "grad_norm", "value", (double)s->grad_norm);
    }
}

static void put_memory(struct trace_writer *w)
{
    const struct trace *t = w->trace;
    const struct lane *lane = &t->timeline->lane[LANE_MEMORY];
    size_t total = 0;
    for (size_t i = 0; i < lane->n; i++) {
        const struct span *s = &lane->span[i];
        total += s->size[SIZE_BYTES];
        trace_row_begin(w, "i", w->pid, t->thread, trace_row_time(t, s->start_ns));
        trace_print(
            w,
            ", \"s\": \"t\", \"cat\": \"cpu_instant_event\", \"name\": \"[memory]\", \"args\": {\"Bytes\": %zu, "
            "\"Addr\": %zu, \"Total Allocated\": %zu, \"Device Type\": %d, \"Device Id\": %d}}",
            s->size[SIZE_BYTES], s->size[1], total, t->gpu != NULL, t->gpu ? t->gpu_index : -1);
    }
}

/* ---- the whole ---- */

/* What the training thread did. Of rows that begin together the outer ones come first. */
static void put_host(struct trace_writer *w)
{
    const struct trace *t = w->trace;
    const struct lane *host = &t->timeline->lane[LANE_HOST], *compute = &t->timeline->lane[LANE_COMPUTE];
    for (int i = 0; i < t->steps; i++)
        put_step(w, i);
    for (size_t i = 0; i < host->n; i++)
        if (step_phase_of(&host->span[i]) >= 0)
            trace_put_annotation(w, host->span[i].name, host->span[i].queued_ns, host->span[i].returned_ns,
                                 w->host_id + (long)i);
    if (t->nccl_version)
        trace_put_collectives(w);
    if (t->without_cpu)
        return;
    for (size_t i = 0; i < host->n; i++)
        if (step_phase_of(&host->span[i]) < 0 && host->span[i].name != ready_name)
            put_range(w, &host->span[i], w->host_id + (long)i);
    for (size_t i = 0; i < compute->n; i++)
        put_operation(w, &compute->span[i], w->operation_id + (long)i);
}

static void put_rows(struct trace_writer *w)
{
    const struct trace *t = w->trace;
    trace_choose_slots(w);
    find_host_steps(w);
    w->host_id = w->id + 1;
    w->operation_id = w->host_id + (long)t->timeline->lane[LANE_HOST].n;
    w->collective_id = w->operation_id + (long)t->timeline->lane[LANE_COMPUTE].n;
    w->id = w->collective_id + (long)t->collectives->n;
    put_lanes(w);
    if (t->memory)
        put_memory(w);
    put_host(w);
    if (!t->nccl_version)
        trace_put_collectives(w);
    if (t->gpu && !t->without_cuda)
        trace_put_device(w);
    for (int i = 0; i < t->steps; i++)
        put_counters(w, i);
    put_sentinel(w);
    free(w->slot);
    free(w->step);
}

static void put_head(struct trace_writer *w)
{
    const struct trace *t = w->trace;
    trace_put(w, "{\n\"schemaVersion\": 1,\n\"deviceProperties\": [");
    trace_put_device_properties(w);
    /* Holistic Trace Analysis finds the rank by `"rank": ` with the space */
    trace_print(w,
                "],\n\"distributedInfo\": {\"backend\": \"%s\", \"rank\": %d, \"world_size\": %d, \"pg_count\": 1, "
                "\"pg_config\": [{\"pg_name\": \"0\", \"pg_desc\": \"default_pg\", \"backend_config\": \"%s:%s\", "
                "\"pg_size\": %d, \"ranks\": [",
                t->comm, t->rank, t->ranks, t->device, t->comm, t->ranks);
    trace_put_group(w, 0);
    trace_put(w, "]}]");
    if (t->nccl_version)
        trace_print(w, ", \"nccl_version\": \"%.40s\"", t->nccl_version);
    trace_print(w, "},\n\"displayTimeUnit\": \"ms\",\n\"baseTimeNanoseconds\": %lld,\n\"traceEvents\": [",
                (long long)t->base_unix_ns);
}

static void put_tail(struct trace_writer *w, const char *ranks)
{
    char name[128];
    snprintf(name, sizeof name, "%.64s_%s_trace.json", w->trace->implementation, ranks);
    trace_put(w, "\n],\n\"traceName\": ");
    trace_put_string(w, name);
    trace_put(w, "\n}\n");
}

static struct trace_writer *start_writing(const struct trace *trace, const struct trace_sink *sink)
{
    struct trace_writer *w = allocate(1, sizeof *w);
    w->trace = trace;
    w->sink = sink;
    w->pid = trace->pid;
    w->gpu_pid = trace->gpu_index;
    w->first = 1;
    return w;
}

static int finish_writing(struct trace_writer *w)
{
    int status = trace_flush(w);
    free(w);
    return status;
}

int trace_write(const struct trace *trace, const struct trace_sink *sink)
{
    struct trace_writer *w = start_writing(trace, sink);
    char ranks[32];
    snprintf(ranks, sizeof ranks, "rank_%d", trace->rank);
    put_head(w);
    put_rows(w);
    put_tail(w, ranks);
    return finish_writing(w);
}

int trace_write_merged_head(const struct trace *trace, const struct trace_sink *sink)
{
    struct trace_writer *w = start_writing(trace, sink);
    put_head(w);
    return finish_writing(w);
}

int trace_write_merged_rows(const struct trace *trace, const struct trace_sink *sink, int first)
{
    struct trace_writer *w = start_writing(trace, sink);
    w->pid = trace->rank + 1;
    w->gpu_pid = trace->ranks + 1 + trace->rank;
    w->id = (long)trace->rank << 32;
    w->first = first;
    put_rows(w);
    return finish_writing(w);
}

int trace_write_merged_tail(const struct trace *trace, const struct trace_sink *sink)
{
    struct trace_writer *w = start_writing(trace, sink);
    put_tail(w, "all_ranks");
    return finish_writing(w);
}
