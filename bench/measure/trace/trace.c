/* trace.c - writes a timeline as a Chrome trace. */
#include "trace/trace.h"

#include "kernels/error.h"
#include "kernels/operations.h"
#include "trace/rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void put_lanes(struct trace_writer *w)
{
    const struct trace *t = w->trace;
    char labels[160];
    snprintf(labels, sizeof labels, "%.100s pid %ld (%.20s)", t->host, t->pid, t->device);
    trace_put_lane(w, "process", w->pid, 0, (int)w->source, labels, "%.80s rank %d", t->implementation, t->rank);
    trace_put_lane(w, "thread", w->pid, t->thread, 0, NULL, "training (thread %ld)", t->thread);
    if (!t->nccl_version)
        trace_put_slots(w);
}

/* ---- steps, phases, ranges, operations ---- */

/* Finds when the training thread began and ended each step, from the step's phases, which have no gaps between them. */
static void find_host_steps(struct trace_writer *w)
{
    const struct trace *t = w->trace;
    const struct lane *host = &t->timeline->lane[LANE_HOST];
    w->step = allocate((size_t)t->steps + 1, sizeof *w->step);
    for (size_t i = 0; i < host->n; i++) {
        const struct span *s = &host->span[i];
        if (step_phase_of(s) < 0)
            continue;
        if (!w->step[s->step].start)
            w->step[s->step].start = s->queued_ns;
        w->step[s->step].end = s->returned_ns;
    }
}

static void put_annotation(struct trace_writer *w, const char *name, int64_t start_ns, int64_t end_ns, long id,
                           size_t core_wait_ns)
{
    trace_span_begin(w, "user_annotation", w->pid, w->trace->thread, start_ns, end_ns, id);
    if (core_wait_ns)
        fprintf(w->out, ", \"core_wait_us\": %zu.%03zu", core_wait_ns / 1000, core_wait_ns % 1000);
    trace_span_end(w, name);
}

/* Writes the row of an epoch, around captured steps i to last. */
static void put_epoch(struct trace_writer *w, int i, int last)
{
    const struct captured_step *s = &w->trace->step[i];
    char name[96];
    trace_span_begin(w, "user_annotation", w->pid, w->trace->thread, w->step[i].start, w->step[last].end, ++w->id);
    fprintf(w->out, ", \"first_lr\": %.6g, \"last_lr\": %.6g", (double)s->learning_rate,
            (double)w->trace->step[last].learning_rate);
    snprintf(name, sizeof name, "%s_epoch_%ld (lr=%.6g)", s->warmup ? "warmup" : "active", s->epoch + 1,
             (double)s->learning_rate);
    trace_span_end(w, name);
}

static void put_step(struct trace_writer *w, int i)
{
    const struct trace *t = w->trace;
    const struct captured_step *s = &t->step[i];
    char name[96];
    if (!i || t->step[i - 1].epoch != s->epoch || t->step[i - 1].number + 1 != s->number) {
        int last = i; /* the last step of this epoch before a gap in the capture */
        while (last + 1 < t->steps && t->step[last + 1].epoch == s->epoch &&
               t->step[last + 1].number == t->step[last].number + 1)
            last++;
        put_epoch(w, i, last);
    }
    snprintf(name, sizeof name, "ProfilerStep#%ld", s->number + 1);
    put_annotation(w, name, w->step[i].start, w->step[i].end, ++w->id, 0);
}

/* Writes an extra empty step at the end, since Holistic Trace Analysis drops the rows that start in the last step. */
static void put_sentinel(struct trace_writer *w)
{
    const struct trace *t = w->trace;
    char name[96];
    if (!t->steps)
        return;
    snprintf(name, sizeof name, "ProfilerStep#%ld", t->step[t->steps - 1].number + 2);
    trace_ts_span_begin(w, "user_annotation", w->pid, t->thread, w->end + 1000, w->end + 2000, ++w->id);
    trace_span_end(w, name);
}

/* Writes "Input Dims" and "Input type" of an operation as Kineto does. */
static void put_shapes(struct trace_writer *w, const struct operation_facts *facts, const size_t *sizes)
{
    const char *before = "[";
    fputs(", \"Input Dims\": [", w->out);
    for (const char *c = facts->inputs; *c; c++)
        if (*c == ',')
            before = "], [";
        else {
            fprintf(w->out, "%s%zu", before, operation_size(facts->sizes, sizes, *c));
            before = ", ";
        }
    fputs(*facts->inputs ? "]], \"Input type\": [" : "], \"Input type\": [", w->out);
    for (const char *c = facts->types; *c; c++) {
        int bf16 = *c == 'h' || (*c == 'c' && w->trace->compute_bytes == 2);
        fprintf(w->out, "%s\"%s\"", c == facts->types ? "" : ", ",
                bf16        ? "c10::BFloat16"
                : *c == 'i' ? "int"
                            : "float");
    }
    fputs("]", w->out);
}

/* ---- counters and memory ---- */

static void put_counters(struct trace_writer *w, int i)
{
    const struct captured_step *s = &w->trace->step[i];
    const struct {
        const char *name, *series;
        double value;
        int64_t at_ns;
    } counter[] = {{"memory", "resident bytes", s->resident_bytes ? (double)s->resident_bytes : NAN, w->step[i].end},
                   {"learning_rate", "value", (double)s->learning_rate, w->step[i].start},
                   {"loss", "value", (double)s->loss, w->step[i].end},
                   {"grad_norm", "value", (double)s->grad_norm, w->step[i].end}};
    for (int c = 0; c < 4; c++) {
        if (!isfinite(counter[c].value))
            continue;
        trace_row_begin(w, "C", w->pid, w->trace->thread, trace_row_time(w->trace, counter[c].at_ns));
        fprintf(w->out, ", \"name\": \"%s\", \"args\": {\"%s\": %.9g}}", counter[c].name, counter[c].series,
                counter[c].value);
    }
}

/* Writes the allocations. Those of set-up are put at the start of the first step, a microsecond apart, since viewers
 * nest rows that begin in the same microsecond. */
static void put_memory(struct trace_writer *w)
{
    const struct trace *t = w->trace;
    const struct lane *lane = &t->timeline->lane[LANE_MEMORY];
    int64_t ts = t->steps ? trace_row_time(t, w->step[0].start) : 0;
    size_t total = 0;
    for (size_t i = 0; i < lane->n; i++) {
        const struct span *s = &lane->span[i];
        total += s->size[SIZE_BYTES];
        int64_t own = trace_row_time(t, s->start_ns);
        ts = own > ts + 1000 ? own : ts + 1000;
        trace_row_begin(w, "i", w->pid, t->thread, ts);
        fprintf(w->out,
                ", \"s\": \"t\", \"cat\": \"cpu_instant_event\", \"name\": \"[memory]\", \"args\": {\"Bytes\": %zu, "
                "\"Addr\": %zu, \"Total Allocated\": %zu, \"Device Type\": %d, \"Device Id\": %ld}}",
                s->size[SIZE_BYTES], s->size[1], total, t->gpu != NULL, t->gpu ? w->gpu_id : -1L);
    }
}

/* ---- the file ---- */

/* Writes when the gradients became final: what --model-from replays. */
static void put_ready(struct trace_writer *w)
{
    const struct trace *t = w->trace;
    const struct lane *host = &t->timeline->lane[LANE_HOST];
    for (const struct span *s = host->span; t->tensor && s < host->span + host->n; s++) {
        const struct tensor *tensor = &t->tensor[s->index < 0 ? 0 : s->index];
        if (s->name != ready_name)
            continue;
        trace_row_begin(w, "i", w->pid, t->thread, trace_row_time(t, s->start_ns));
        fprintf(w->out,
                ", \"s\": \"t\", \"cat\": \"cpu_instant_event\", \"name\": \"gradient ready\", \"args\": "
                "{\"tensor\": \"%s\", \"Input Dims\": [[%zu, %zu]], \"Input type\": [\"float\"]}}",
                tensor->name, tensor->rows, tensor->columns);
    }
}

/* Writes the rows of the training thread. If rows begin together, the outer one comes before the inner one. */
static void put_host(struct trace_writer *w)
{
    const struct trace *t = w->trace;
    const struct lane *host = &t->timeline->lane[LANE_HOST], *compute = &t->timeline->lane[LANE_COMPUTE];
    for (int i = 0; i < t->steps; i++)
        put_step(w, i);
    for (size_t i = 0; i < host->n; i++)
        if (step_phase_of(&host->span[i]) >= 0)
            put_annotation(w, host->span[i].name, host->span[i].queued_ns, host->span[i].returned_ns,
                           w->host_id + (long)i, host->span[i].size[SIZE_CORE_WAIT]);
    put_ready(w);
    if (t->nccl_version)
        trace_put_collectives(w);
    if (t->without_cpu)
        return;
    for (size_t i = 0; i < host->n; i++) {
        const struct span *s = &host->span[i];
        if (step_phase_of(s) >= 0 || s->name == ready_name)
            continue;
        trace_span_begin(w, "cpu_op", w->pid, t->thread, s->queued_ns, s->returned_ns, w->host_id + (long)i);
        if (s->index < 0)
            trace_span_end(w, s->name);
        else
            fprintf(w->out, "}, \"name\": \"layers.%d.%s\"}", s->index, s->name);
    }
    for (size_t i = 0; i < compute->n; i++) {
        const struct span *s = &compute->span[i];
        const struct operation_facts *facts = &operation_facts[s->index];
        trace_span_begin(w, "cpu_op", w->pid, t->thread, s->queued_ns, s->returned_ns, w->operation_id + (long)i);
        if (!t->gpu) /* the CPU's operations ran on the calling thread */
            fprintf(w->out, ", \"stream\": %d", STREAM_HOST);
        trace_put_stamped(w, w->operation_id + (long)i);
        put_shapes(w, facts, s->size);
        if (*facts->flops)
            fprintf(w->out, ", \"flops\": %.0f",
                    operation_amount(facts->flops, facts->sizes, s->size, t->compute_bytes));
        trace_span_end(w, s->name);
    }
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

static void put_gpu(struct trace_writer *w, const char *before, long id, const struct gpu_facts *g)
{
    fprintf(w->out, "%s{\"id\": %ld, \"name\": ", before, id);
    trace_put_string(w, g->name);
    fprintf(w->out,
            ", \"totalGlobalMem\": %zu, \"computeMajor\": %d, \"computeMinor\": %d, "
            "\"maxThreadsPerBlock\": %d, \"maxThreadsPerMultiprocessor\": %d, \"regsPerBlock\": %d, "
            "\"warpSize\": %d, \"sharedMemPerBlock\": %zu, \"numSms\": %d}",
            g->total_memory, g->compute_major, g->compute_minor, g->max_threads_per_block,
            g->max_threads_per_multiprocessor, g->registers_per_block, g->warp_size, g->shared_memory_per_block,
            g->multiprocessors);
}

/* Returns the number of a rank's GPU in a merged trace, unique over all hosts: its gpu_pid where trace->group is 0. */
static long merged_gpu(const struct trace *t, int rank)
{
    return t->ranks + 1 + rank;
}

/* Writes the head of a trace. whole 1: with the GPUs that this process sees; 0: merged, with the GPU of each rank. */
static void put_head(struct trace_writer *w, int whole)
{
    const struct trace *t = w->trace;
    fputs("{\n\"schemaVersion\": 1,\n\"deviceProperties\": [", w->out);
    for (int i = 0; whole && i < t->gpus; i++)
        put_gpu(w, i ? ", " : "", t->seen[i].index, &t->seen[i]);
    for (int r = 0; !whole && t->gpu && r < t->ranks; r++)
        put_gpu(w, r ? ", " : "", merged_gpu(t, r), &t->of_rank[r]);
    /* Holistic Trace Analysis needs the space in `"rank": ` */
    fprintf(w->out,
            "],\n\"distributedInfo\": {\"backend\": \"%s\", \"rank\": %d, \"world_size\": %d, \"pg_count\": 1, "
            "\"pg_config\": [{\"pg_name\": \"0\", \"pg_desc\": \"default_pg\", \"backend_config\": \"%s:%s\", "
            "\"pg_size\": %d, \"ranks\": [",
            t->comm, t->rank, t->ranks, t->device, t->comm, t->ranks);
    trace_put_group(w, 0);
    fputs("]}]", w->out);
    if (t->nccl_version)
        fprintf(w->out, ", \"nccl_version\": \"%.40s\"", t->nccl_version);
    fprintf(w->out, "},\n\"displayTimeUnit\": \"ms\",\n\"baseTimeNanoseconds\": %lld,\n\"traceEvents\": [",
            (long long)t->base_unix_ns);
}

void trace_write(const struct trace *trace, FILE *out, enum trace_part part)
{
    struct trace_writer writer = {.trace = trace, .out = out}, *w = &writer;
    int whole = part == TRACE_WHOLE;
    w->source = (long)trace->group * trace->ranks + trace->rank;
    w->pid = whole ? trace->pid : 1 + (long)trace->group * 2 * trace->ranks + trace->rank;
    w->gpu_pid = !whole ? w->pid + trace->ranks : trace->gpu ? trace->gpu->index : 0;
    w->gpu_id = whole ? w->gpu_pid : merged_gpu(trace, trace->rank);
    w->id = whole ? 0 : w->source << 32;
    w->first = part != TRACE_MERGED_ROWS;
    if (whole || part == TRACE_MERGED_HEAD)
        put_head(w, whole);
    if (whole || part == TRACE_MERGED_ROWS || part == TRACE_MERGED_FIRST_ROWS)
        put_rows(w);
    if (whole || part == TRACE_MERGED_TAIL) {
        char name[128];
        snprintf(name, sizeof name, whole ? "%.64s_rank_%d_trace.json" : "%.64s_all_ranks_trace.json", trace->name,
                 trace->rank);
        fputs("\n],\n\"traceName\": ", w->out);
        trace_put_string(w, name);
        fputs("\n}\n", w->out);
    }
}
