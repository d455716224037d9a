/* gpu.c - a GPU in a trace: the records of its tracer, as the rows that PyTorch's Kineto writes; or, without a
 * tracer, the times that the device stamped.
 *
 * Of the tracer's records those are written that a call in one of the captured steps led to. Calls lie on the threads
 * that made them, the GPU's work on the lanes of its streams, and waits and the phases' times on the GPU on lanes of
 * their own, since rows of a lane may not partly overlap. */
#include "trace/gpu_rows.h"

#include "kernels/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows of the GPU's lanes that are no stream; as threads they are far from streams' numbers. */
enum { LANE_OF_PHASES = 2 * MADE_UP_THREAD, LANE_OF_WAITS = 3 * MADE_UP_THREAD, LANE_BESIDE = 1000 };

/* Rows of one stream that overlap get a lane each. */
struct trace_gpu_lane {
    uint32_t stream; /* ACTIVITY_NONE: waits */
    int beside;      /* 0 for the first of the stream */
    int nccl;        /* has kernels of NCCL */
    int64_t busy_ns; /* until then */
};

struct trace_gpu_lanes {
    size_t n;
    struct trace_gpu_lane *lane;
};

static long lane_thread(const struct trace_gpu_lane *lane)
{
    return lane->stream == ACTIVITY_NONE
               ? LANE_OF_WAITS + lane->beside
               : (long)lane->stream + (lane->beside ? MADE_UP_THREAD : 0) + (long)lane->beside * LANE_BESIDE;
}

/* The first lane of that stream which is free from then on; rows come in order of start. */
static struct trace_gpu_lane *choose_lane(struct trace_gpu_lanes *lanes, uint32_t stream, int64_t start_ns,
                                          int64_t end_ns)
{
    int beside = 0;
    size_t i;
    for (i = 0; i < lanes->n; i++)
        if (lanes->lane[i].stream == stream) {
            if (lanes->lane[i].busy_ns <= start_ns)
                break;
            beside++;
        }
    if (i == lanes->n)
        lanes->lane[lanes->n++] = (struct trace_gpu_lane){.stream = stream, .beside = beside};
    lanes->lane[i].busy_ns = end_ns;
    return &lanes->lane[i];
}

static void put_gpu_lanes(struct trace_writer *w, const struct trace_gpu_lanes *lanes)
{
    const struct trace *t = w->trace;
    char labels[600];
    snprintf(labels, sizeof labels, "GPU %d %.60s%s%.400s", t->gpu_index, t->gpu->name,
             t->activities ? "" : "; without a tracer, times are of CUDA events: ", t->activities ? "" : t->untraced);
    trace_put_lane(w, "process", w->gpu_pid, 0, MADE_UP_THREAD + t->rank, labels, "ddpbench rank %d GPU", t->rank);
    trace_put_lane(w, "thread", w->gpu_pid, LANE_OF_PHASES, 0, NULL, "phases");
    for (size_t i = 0; i < lanes->n; i++) {
        const struct trace_gpu_lane *lane = &lanes->lane[i];
        char name[64] = "waits", beside[32] = "";
        if (lane->stream != ACTIVITY_NONE)
            snprintf(name, sizeof name, "stream %" PRIu32 "%s", lane->stream, lane->nccl ? " (nccl)" : "");
        if (lane->beside)
            snprintf(beside, sizeof beside, ", %d at once", lane->beside + 1);
        trace_put_lane(w, "thread", w->gpu_pid, lane_thread(lane), 1 + (int)i, NULL, "%s%s", name, beside);
    }
}

/* The phases when the GPU was in them; without a stream, so that analysers do not take them for work. */
static void put_phases(struct trace_writer *w)
{
    const struct trace *t = w->trace;
    const struct lane *host = &t->timeline->lane[LANE_HOST];
    for (size_t i = 0; i < host->n; i++) {
        const struct span *s = &host->span[i];
        if (step_phase_of(s) < 0)
            continue;
        trace_span_begin(w, "gpu_user_annotation", w->gpu_pid, LANE_OF_PHASES, s->start_ns, s->end_ns,
                         w->host_id + (long)i);
        trace_span_end(w, s->name);
    }
}

/* ---- records of the tracer ---- */

static void put_kernel(struct trace_writer *w, const struct activity *a)
{
    const uint32_t *grid = a->kernel.grid, *block = a->kernel.block;
    int multiprocessors = w->trace->gpu->multiprocessors;
    double blocks = (double)grid[0] * grid[1] * grid[2] / (multiprocessors > 0 ? multiprocessors : 1);
    double threads = (double)block[0] * block[1] * block[2];
    trace_print(w, ", \"registers per thread\": %" PRIu32 ", \"shared memory\": %" PRIu32, a->kernel.registers,
                a->kernel.shared_bytes);
    trace_print(w, ", \"blocks per SM\": %.6g, \"warps per SM\": %.6g", blocks, blocks * threads / 32);
    trace_print(w, ", \"grid\": [%" PRIu32 ", %" PRIu32 ", %" PRIu32 "]", grid[0], grid[1], grid[2]);
    trace_print(w, ", \"block\": [%" PRIu32 ", %" PRIu32 ", %" PRIu32 "]", block[0], block[1], block[2]);
}

static void put_bytes(struct trace_writer *w, const struct activity *a)
{
    int64_t ns = a->end_ns - a->start_ns;
    trace_print(w, ", \"bytes\": %zu, \"memory bandwidth (GB/s)\": %.6g", a->bytes,
                ns > 0 ? (double)a->bytes / (double)ns : 0);
}

/* A number, -1 where it is unknown. */
static void put_number(struct trace_writer *w, const char *name, uint32_t value)
{
    trace_print(w, ", \"%s\": %lld", name, value == ACTIVITY_NONE ? -1 : (long long)value);
}

static void put_wait(struct trace_writer *w, const struct activity *a)
{
    trace_print(w, ", \"cuda_sync_kind\": \"%s\"", a->name);
    if (a->wait.event == ACTIVITY_NONE)
        return;
    put_number(w, "wait_on_stream", a->wait.stream);
    put_number(w, "wait_on_cuda_event_record_corr_id", a->wait.correlation);
    put_number(w, "wait_on_cuda_event_id", a->wait.event);
}

/* From the call to what it led to. Ids are unique over ranks: correlations have 32 bits. */
static void put_flow(struct trace_writer *w, const struct trace_gpu_row *row, long thread)
{
    const struct trace *t = w->trace;
    const struct activity *call = row->call->activity;
    uint64_t id = (uint64_t)t->rank << 32 | row->activity->correlation;
    for (int i = 0; i < 2; i++) {
        trace_row_begin(w, i ? "f" : "s", i ? w->gpu_pid : w->pid, i ? thread : (long)call->thread,
                        trace_row_time(t, i ? row->activity->start_ns : call->start_ns));
        trace_put(w, ", \"id\": ");
        trace_put_count(w, id);
        trace_put(w, ", \"cat\": \"ac2g\", \"name\": \"ac2g\"");
        trace_put(w, i ? ", \"bp\": \"e\"}" : "}");
    }
}

static void put_device_row(struct trace_writer *w, const struct trace_gpu_row *row, const struct trace_gpu_lane *lane)
{
    static const char *const category[] = {[ACTIVITY_KERNEL] = "kernel",
                                           [ACTIVITY_COPY] = "gpu_memcpy",
                                           [ACTIVITY_FILL] = "gpu_memset",
                                           [ACTIVITY_WAIT] = "cuda_sync"};
    const struct trace *t = w->trace;
    const struct activity *a = row->activity;
    trace_span_begin(w, category[a->kind], w->gpu_pid, lane_thread(lane), a->start_ns, a->end_ns, row->call->id);
    trace_print(w, ", \"device\": %d, \"context\": %" PRIu32, t->gpu_index, a->context);
    put_number(w, "stream", a->stream);
    trace_print(w, ", \"correlation\": %" PRIu32, a->correlation);
    if (a->kind == ACTIVITY_KERNEL)
        put_kernel(w, a);
    else if (a->kind == ACTIVITY_WAIT)
        put_wait(w, a);
    else
        put_bytes(w, a);
    if (row->collective != NO_COLLECTIVE)
        trace_put_collective(w, row->collective);
    trace_span_end(w, a->name);
    if (a->kind != ACTIVITY_WAIT)
        put_flow(w, row, lane_thread(lane));
}

/* A call is written unless nothing follows from it: most events only take a time. */
static void put_call(struct trace_writer *w, const struct trace_gpu_call *call)
{
    const struct activity *a = call->activity;
    if (a->call.marks && !a->call.waited)
        return;
    trace_span_begin(w, a->call.driver ? "cuda_driver" : "cuda_runtime", w->pid, (long)a->thread, a->start_ns,
                     a->end_ns, call->id);
    trace_print(w, ", \"cbid\": %" PRIu32 ", \"correlation\": %" PRIu32, a->call.number, a->correlation);
    trace_span_end(w, a->name);
}

static void put_activities(struct trace_writer *w)
{
    struct trace_gpu_rows rows;
    trace_gpu_rows_create(&rows, w);
    struct trace_gpu_lanes lanes = {.lane = allocate(rows.n + 1, sizeof *lanes.lane)};
    for (size_t i = 0; i < rows.n; i++) {
        const struct activity *a = rows.row[i].activity;
        uint32_t stream = a->kind == ACTIVITY_WAIT ? ACTIVITY_NONE : a->stream;
        struct trace_gpu_lane *chosen = choose_lane(&lanes, stream, a->start_ns, a->end_ns);
        chosen->nccl |= rows.row[i].nccl;
        rows.row[i].lane = (size_t)(chosen - lanes.lane);
    }
    put_gpu_lanes(w, &lanes);
    for (size_t i = 0; i < rows.calls; i++)
        put_call(w, &rows.call[i]);
    for (size_t i = 0; i < rows.n; i++)
        put_device_row(w, &rows.row[i], &lanes.lane[rows.row[i].lane]);
    free(lanes.lane);
    trace_gpu_rows_destroy(&rows);
}

/* ---- times that the device stamped ---- */

static void put_stamped(struct trace_writer *w)
{
    const struct trace *t = w->trace;
    const struct lane *compute = &t->timeline->lane[LANE_COMPUTE];
    struct trace_gpu_lane lane[] = {{.stream = STREAM_COMPUTE}, {.stream = STREAM_COMMUNICATION, .nccl = 1}};
    struct trace_gpu_lanes lanes = {t->nccl_version ? 2 : 1, lane};
    put_gpu_lanes(w, &lanes);
    for (size_t i = 0; i < compute->n; i++) {
        const struct span *s = &compute->span[i];
        trace_span_begin(w, "gpu_user_annotation", w->gpu_pid, lane_thread(&lane[0]), s->start_ns, s->end_ns,
                         w->operation_id + (long)i);
        trace_print(w, ", \"stream\": %d", STREAM_COMPUTE);
        trace_span_end(w, s->name);
    }
    for (size_t i = 0; t->nccl_version && i < t->collectives->n; i++) {
        const struct timed_collective *c = &t->collectives->item[i];
        trace_ts_span_begin(w, "gpu_user_annotation", w->gpu_pid, lane_thread(&lane[1]), c->posted_ns - t->base_ns,
                            c->completed_ns - t->base_ns, w->collective_id + (long)i);
        trace_print(w, ", \"stream\": %d", STREAM_COMMUNICATION);
        trace_put_collective(w, i);
        trace_span_end(w, "nccl:all_reduce");
    }
}

/* ---- the whole ---- */

void trace_put_device(struct trace_writer *w)
{
    if (w->trace->activities)
        put_activities(w);
    else
        put_stamped(w);
    put_phases(w);
}

void trace_put_device_properties(struct trace_writer *w)
{
    const struct gpu_facts *g = w->trace->gpu;
    if (!g)
        return;
    trace_print(w, "{\"id\": %d, \"name\": ", w->trace->gpu_index);
    trace_put_string(w, g->name);
    trace_print(w,
                ", \"totalGlobalMem\": %zu, \"computeMajor\": %d, \"computeMinor\": %d, \"maxThreadsPerBlock\": %d, "
                "\"maxThreadsPerMultiprocessor\": %d, \"regsPerBlock\": %d, \"warpSize\": %d, \"sharedMemPerBlock\": "
                "%zu, \"numSms\": %d}",
                g->total_memory, g->compute_major, g->compute_minor, g->max_threads_per_block,
                g->max_threads_per_multiprocessor, g->registers_per_block, g->warp_size, g->shared_memory_per_block,
                g->multiprocessors);
}

int64_t trace_gpu_end(const struct trace *t)
{
    int64_t end = t->steps ? t->times[t->steps - 1].end_ns : 0;
    for (size_t i = 0; t->activities && !t->without_cuda && i < t->activities->n; i++)
        if (t->activities->of[i].end_ns > end)
            end = t->activities->of[i].end_ns;
    return end;
}
