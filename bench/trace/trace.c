/* trace.c - writes a timeline as a Chrome trace. */
#include "trace/rows.h"

#include "kernels/error.h"
#include "kernels/operations.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lanes ---- */

/* Collectives in flight at once overlap, and rows of a thread may not: each goes to the first lane that is free. */
static void choose_slots(struct trace_writer *w)
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

/* The thread number of a lane: the comm's own thread for the first, if it has one. */
static long slot_thread(const struct trace *t, int slot)
{
    return slot == 0 && t->comm_thread ? t->comm_thread : MADE_UP_THREAD + slot;
}

static void put_lanes(struct trace_writer *w)
{
    const struct trace *t = w->trace;
    char labels[160];
    snprintf(labels, sizeof labels, "%.100s pid %ld (%.20s)", t->host, t->pid, t->device);
    trace_put_lane(w, "process", w->pid, 0, (int)w->source, labels, "%.80s rank %d", t->implementation, t->rank);
    trace_put_lane(w, "thread", w->pid, t->thread, 0, NULL, "training (thread %ld)", t->thread);
    for (int s = 0; s < w->slots && !t->nccl_version; s++) /* of collectives that run on the host */
        if (s == 0 && t->comm_thread)
            trace_put_lane(w, "thread", w->pid, t->comm_thread, 1, NULL, "%.20s (thread %ld)", t->comm, t->comm_thread);
        else
            trace_put_lane(w, "thread", w->pid, slot_thread(t, s), 1 + s, NULL, "%.20s, %d in flight", t->comm, s + 1);
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
        if (!w->step[s->step].start)
            w->step[s->step].start = s->queued_ns;
        w->step[s->step].end = s->returned_ns;
    }
}

/* A phase, or a step. */
static void put_annotation(struct trace_writer *w, const char *name, int64_t start_ns, int64_t end_ns, long id,
                           size_t core_wait_ns)
{
    trace_span_begin(w, "user_annotation", w->pid, w->trace->thread, start_ns, end_ns, id);
    if (core_wait_ns)
        trace_print(w, ", \"core_wait_us\": %zu.%03zu", core_wait_ns / 1000, core_wait_ns % 1000);
    trace_span_end(w, name);
}

/* The captured steps from i to last, which are of one epoch. */
static void put_epoch(struct trace_writer *w, int i, int last)
{
    const struct captured_step *s = &w->trace->step[i];
    char name[96];
    trace_span_begin(w, "user_annotation", w->pid, w->trace->thread, w->step[i].start, w->step[last].end, ++w->id);
    trace_print(w, ", \"first_lr\": %.6g, \"last_lr\": %.6g", (double)s->learning_rate,
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
    if (i == 0 || t->step[i - 1].epoch != s->epoch || t->step[i - 1].number + 1 != s->number) {
        int last = i; /* of the captured steps that follow without a gap in this epoch */
        while (last + 1 < t->steps && t->step[last + 1].epoch == s->epoch &&
               t->step[last + 1].number == t->step[last].number + 1)
            last++;
        put_epoch(w, i, last);
    }
    snprintf(name, sizeof name, "ProfilerStep#%ld", s->number + 1);
    put_annotation(w, name, w->step[i].start, w->step[i].end, ++w->id, 0);
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Holistic Trace Analysis drops what starts in the last step, so that has to be one in which nothing starts. */
static void put_sentinel(struct trace_writer *w)
{
    const struct trace *t = w->trace;
    char name[96];
    if (!t->steps)
        return;
    int64_t end = later(w->step[t->steps - 1].end, t->times[t->steps - 1].end_ns);
    for (size_t i = 0; t->activities && !t->without_cuda && i < t->activities->n; i++)
        end = later(end, t->activities->of[i].end_ns);
    end = trace_row_time(t, end);
    for (size_t i = 0; i < t->collectives->n; i++)
        end = later(end, t->collectives->item[i].completed_ns - t->base_ns);
    snprintf(name, sizeof name, "ProfilerStep#%ld", t->step[t->steps - 1].number + 2);
    trace_ts_span_begin(w, "user_annotation", w->pid, t->thread, end + 1000, end + 2000, ++w->id);
    trace_span_end(w, name);
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

/* ---- collectives ---- */

long trace_collective_row(const struct trace_writer *w, size_t i, struct interval *ts)
{
    const struct trace *t = w->trace;
    const struct timed_collective *c = &t->collectives->item[i];
    int call = t->nccl_version != NULL;
    ts->start = (call ? c->queued_ns : c->posted_ns) - t->base_ns;
    ts->end = (call ? c->returned_ns : c->completed_ns) - t->base_ns;
    return call ? t->thread : slot_thread(t, w->slot[i]);
}

/* The collectives of a library that runs on the host, on lanes of their own; or the training thread's calls of those
 * that run on the GPU. */
static void put_collectives(struct trace_writer *w)
{
    const struct trace *t = w->trace;
    int call = t->nccl_version != NULL;
    /* where the numbers of streams are a GPU's own, those of the host's lanes are out of their way */
    int stream = STREAM_COMMUNICATION + (t->gpu ? 100000 : 0);
    for (size_t i = 0; i < t->collectives->n; i++) {
        struct interval ts;
        long thread = trace_collective_row(w, i, &ts);
        if (call && ts.end <= ts.start)
            continue;
        trace_ts_span_begin(w, call ? "user_annotation" : "cpu_op", w->pid, thread, ts.start, ts.end,
                            w->collective_id + (long)i);
        if (!call) {
            trace_print(w, ", \"stream\": %d", stream + w->slot[i]);
            trace_put_collective(w, i);
        }
        trace_print(w, "}, \"name\": \"%s:all_reduce\"}", t->comm);
    }
}

/* ---- counters and memory ---- */

static void put_counters(struct trace_writer *w, int i)
{
    const struct captured_step *s = &w->trace->step[i];
    const struct {
        const char *name, *series;
        double value;
        int wanted;
        int64_t at_ns;
    } counter[] = {{"memory", "resident bytes", (double)s->resident_bytes, s->resident_bytes > 0, w->step[i].end},
                   {"learning_rate", "value", (double)s->learning_rate, w->trace->counters, w->step[i].start},
                   {"loss", "value", (double)s->loss, w->trace->counters, w->step[i].end},
                   {"grad_norm", "value", (double)s->grad_norm, w->trace->counters, w->step[i].end}};
    for (int c = 0; c < 4; c++) {
        if (!counter[c].wanted || !isfinite(counter[c].value))
            continue;
        trace_row_begin(w, "C", w->pid, w->trace->thread, trace_row_time(w->trace, counter[c].at_ns));
        trace_print(w, ", \"name\": \"%s\", \"args\": {\"%s\": %.9g}}", counter[c].name, counter[c].series,
                    counter[c].value);
    }
}

/* What was allocated at set-up, long before the first step, is there when it begins. */
static void put_memory(struct trace_writer *w)
{
    const struct trace *t = w->trace;
    const struct lane *lane = &t->timeline->lane[LANE_MEMORY];
    int64_t first = t->steps ? w->step[0].start : 0;
    size_t total = 0;
    for (size_t i = 0; i < lane->n; i++) {
        const struct span *s = &lane->span[i];
        total += s->size[SIZE_BYTES];
        trace_row_begin(w, "i", w->pid, t->thread, trace_row_time(t, later(s->start_ns, first)));
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
            put_annotation(w, host->span[i].name, host->span[i].queued_ns, host->span[i].returned_ns,
                           w->host_id + (long)i, host->span[i].size[SIZE_CORE_WAIT]);
    if (t->nccl_version)
        put_collectives(w);
    if (t->without_cpu)
        return;
    for (size_t i = 0; i < host->n; i++) {
        const struct span *s = &host->span[i];
        int layer = !strcmp(s->name, "layer");
        if (step_phase_of(s) >= 0 || s->name == ready_name)
            continue;
        trace_span_begin(w, "cpu_op", w->pid, t->thread, s->queued_ns, s->returned_ns, w->host_id + (long)i);
        if (s->index < 0)
            trace_span_end(w, s->name);
        else
            trace_print(w, "}, \"name\": \"layers.%d%s%s\"}", s->index, layer ? "" : ".", layer ? "" : s->name);
    }
    for (size_t i = 0; i < compute->n; i++) {
        const struct span *s = &compute->span[i];
        const struct operation_facts *facts = &operation_facts[s->index];
        trace_span_begin(w, "cpu_op", w->pid, t->thread, s->queued_ns, s->returned_ns, w->operation_id + (long)i);
        if (!t->gpu) /* computed on the calling thread */
            trace_print(w, ", \"stream\": %d", STREAM_COMPUTE);
        if (t->shapes)
            put_shapes(w, facts, s->size);
        if (t->flops && *facts->flops) {
            trace_put(w, ", \"flops\": ");
            trace_put_count(w, (uint64_t)operation_amount(facts->flops, facts->sizes, s->size, t->compute_bytes));
        }
        trace_span_end(w, s->name);
    }
}

static void put_rows(struct trace_writer *w)
{
    const struct trace *t = w->trace;
    choose_slots(w);
    find_host_steps(w);
    w->host_id = w->id + 1;
    w->operation_id = w->host_id + (long)t->timeline->lane[LANE_HOST].n;
    w->collective_id = w->operation_id + (long)t->timeline->lane[LANE_COMPUTE].n;
    w->id = w->collective_id + (long)t->collectives->n;
    put_lanes(w);
    put_memory(w);
    put_host(w);
    if (!t->nccl_version)
        put_collectives(w);
    trace_put_arrows(w);
    if (t->gpu && !t->without_cuda)
        trace_put_device(w);
    for (int i = 0; i < t->steps; i++)
        put_counters(w, i);
    trace_put_in_flight(w);
    put_sentinel(w);
    free(w->slot);
    free(w->step);
}

static void put_head(struct trace_writer *w)
{
    const struct trace *t = w->trace;
    trace_put(w, "{\n\"schemaVersion\": 1,\n\"deviceProperties\": [");
    const struct gpu_facts *g = t->gpu;
    if (g) {
        trace_print(w, "{\"id\": %d, \"name\": ", t->gpu_index);
        trace_put_string(w, g->name);
        trace_print(w,
                    ", \"totalGlobalMem\": %zu, \"computeMajor\": %d, \"computeMinor\": %d, "
                    "\"maxThreadsPerBlock\": %d, \"maxThreadsPerMultiprocessor\": %d, \"regsPerBlock\": %d, "
                    "\"warpSize\": %d, \"sharedMemPerBlock\": %zu, \"numSms\": %d}",
                    g->total_memory, g->compute_major, g->compute_minor, g->max_threads_per_block,
                    g->max_threads_per_multiprocessor, g->registers_per_block, g->warp_size, g->shared_memory_per_block,
                    g->multiprocessors);
    }
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

int trace_write(const struct trace *trace, const struct trace_sink *sink, enum trace_part part)
{
    struct trace_writer *w = allocate(1, sizeof *w);
    int whole = part == TRACE_WHOLE; /* else processes are numbered by rank */
    w->trace = trace;
    w->sink = sink;
    w->source = (long)trace->group * trace->ranks + trace->rank;
    w->pid = whole ? trace->pid : 1 + (long)trace->group * 2 * trace->ranks + trace->rank;
    w->gpu_pid = whole ? trace->gpu_index : w->pid + trace->ranks;
    w->id = whole ? 0 : w->source << 32;
    w->first = part != TRACE_MERGED_ROWS;
    if (whole || part == TRACE_MERGED_HEAD)
        put_head(w);
    if (whole || part == TRACE_MERGED_ROWS || part == TRACE_MERGED_FIRST_ROWS)
        put_rows(w);
    if (whole || part == TRACE_MERGED_TAIL) {
        char name[128];
        snprintf(name, sizeof name, whole ? "%.64s_rank_%d_trace.json" : "%.64s_all_ranks_trace.json", trace->name,
                 trace->rank);
        trace_put(w, "\n],\n\"traceName\": ");
        trace_put_string(w, name);
        trace_put(w, "\n}\n");
    }
    int status = trace_flush(w);
    free(w);
    return status;
}
