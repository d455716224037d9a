/* gpu.c - the rows of a GPU: the records of its tracer, written as PyTorch's Kineto does; or, without a tracer, the
 * times that the device stamped.
 *
 * Writes the calls to CUDA in the captured steps, and the GPU's work that they led to. Calls are on the threads that
 * made them, work is on lanes of the GPU's streams. Waits and phases have other lanes, since rows of a lane nest. */
#include "trace/rows.h"

#include "ddp/comm.h"
#include "kernels/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- choosing the records ---- */

/* A call to the CUDA runtime or driver in a captured step. */
struct gpu_call {
    const struct activity *activity;
    long id; /* external id of the operation or collective that made the call; 0: neither */
};

/* Work of the GPU that a call led to, or a wait of a stream. */
struct gpu_row {
    const struct activity *activity;
    struct gpu_call *call;
    int collective; /* the collective whose only kernel this is; or -1 */
    struct gpu_lane *lane;
};

static int by_correlation(const void *a, const void *b)
{
    const struct gpu_call *x = a, *y = b;
    uint32_t p = x->activity->correlation, q = y->activity->correlation;
    return (p > q) - (p < q);
}

/* Returns the call with this correlation, or NULL. call[] is sorted by correlation. */
static struct gpu_call *find_call(struct gpu_call *call, size_t ncalls, uint32_t correlation)
{
    const struct activity made_by = {.correlation = correlation};
    const struct gpu_call key = {&made_by, 0};
    return bsearch(&key, call, ncalls, sizeof *call, by_correlation);
}

/* Chooses the calls of the captured steps, sorted by correlation; calls has room for all records. Returns how many. */
static size_t choose_calls(const struct trace_writer *w, struct gpu_call *calls)
{
    const struct activities *all = w->trace->activities;
    size_t n = 0;
    int step = 0;
    for (const struct activity *a = all->of; a < all->of + all->n; a++) {
        while (step < w->trace->steps && a->start_ns >= w->step[step].end)
            step++;
        if (a->kind != ACTIVITY_CALL || step == w->trace->steps || a->start_ns < w->step[step].start)
            continue;
        long id = a->collective >= 0                            ? w->collective_id + a->collective
                  : a->operation >= 0 && !w->trace->without_cpu ? w->operation_id + a->operation
                                                                : 0;
        calls[n++] = (struct gpu_call){a, id};
    }
    qsort(calls, n, sizeof *calls, by_correlation);
    return n;
}

/* Chooses the rows that calls led to, and returns their number; rows has room for all records and is filled in order of
 * start. If a collective has a single NCCL kernel, the row of that kernel also describes the collective. Leaves out a
 * wait for an event that no chosen call recorded: nothing waited, since the event was recorded earlier or never. */
static size_t choose_rows(const struct trace_writer *w, struct gpu_call *calls, size_t ncalls, struct gpu_row *rows)
{
    const struct activities *all = w->trace->activities;
    size_t *kernels = allocate(w->trace->collectives->n + 1, sizeof *kernels), n = 0;
    for (size_t i = 0; i < all->n; i++) {
        const struct activity *a = &all->of[i];
        struct gpu_call *made = a->kind == ACTIVITY_CALL ? NULL : find_call(calls, ncalls, a->correlation);
        if (!made || (a->kind == ACTIVITY_WAIT && a->wait.event != ACTIVITY_NONE &&
                      !find_call(calls, ncalls, a->wait.correlation)))
            continue;
        if (a->collective >= 0)
            kernels[a->collective]++;
        rows[n++] = (struct gpu_row){a, made, a->collective, NULL};
    }
    for (size_t i = 0; i < n; i++)
        if (rows[i].collective >= 0 && kernels[rows[i].collective] > 1)
            rows[i].collective = -1;
    free(kernels);
    return n;
}

/* ---- lanes ---- */

/* Thread numbers of lanes, above all numbers of streams; LANE_APART: distance between the lanes of one stream. */
enum { LANE_OF_PHASES = 2 * MADE_UP_THREAD, LANE_OF_WAITS = 3 * MADE_UP_THREAD, LANE_APART = 1000 };

/* A lane; overlapping rows of one stream are put on different lanes. */
struct gpu_lane {
    uint32_t stream; /* ACTIVITY_NONE: the lane is for waits */
    int place;       /* number among the lanes of the stream, from 0 */
    int nccl;        /* 1: the lane has kernels of NCCL */
    int64_t busy_ns; /* end of the last row on the lane so far */
};

static long lane_thread(const struct gpu_lane *lane)
{
    return lane->stream == ACTIVITY_NONE
               ? LANE_OF_WAITS + lane->place
               : (long)lane->stream + (lane->place ? MADE_UP_THREAD : 0) + (long)lane->place * LANE_APART;
}

/* Gives each row, in order of start, the first lane of its stream free at that time. Returns the number of lanes. */
static size_t choose_lanes(struct gpu_lane *lane, struct gpu_row *row, size_t n)
{
    size_t lanes = 0, i;
    for (; n--; row++) {
        uint32_t stream = row->activity->kind == ACTIVITY_WAIT ? ACTIVITY_NONE : row->activity->stream;
        int place = 0;
        for (i = 0; i < lanes && (lane[i].stream != stream || lane[i].busy_ns > row->activity->start_ns); i++)
            place += lane[i].stream == stream;
        if (i == lanes)
            lane[lanes++] = (struct gpu_lane){.stream = stream, .place = place};
        lane[i].busy_ns = row->activity->end_ns;
        lane[i].nccl |= row->activity->collective >= 0;
        row->lane = &lane[i];
    }
    return lanes;
}

static void put_gpu_lanes(struct trace_writer *w, const struct gpu_lane *lane, size_t n)
{
    const struct trace *t = w->trace;
    char labels[600];
    snprintf(labels, sizeof labels, "GPU %d %.60s%s%.400s", t->gpu->index, t->gpu->name,
             t->activities ? "" : "; without a tracer, times are of CUDA events: ", t->activities ? "" : t->untraced);
    trace_put_lane(w, "process", w->gpu_pid, 0, MADE_UP_THREAD + (int)w->source, labels, "%.80s rank %d GPU",
                   t->implementation, t->rank);
    trace_put_lane(w, "thread", w->gpu_pid, LANE_OF_PHASES, 0, NULL, "phases");
    for (size_t i = 0; i < n; i++, lane++) {
        char name[64] = "waits", place[32] = "";
        if (lane->stream != ACTIVITY_NONE)
            snprintf(name, sizeof name, "stream %" PRIu32 "%s", lane->stream, lane->nccl ? " (nccl)" : "");
        if (lane->place)
            snprintf(place, sizeof place, ", %d at once", lane->place + 1);
        trace_put_lane(w, "thread", w->gpu_pid, lane_thread(lane), 1 + (int)i, NULL, "%s%s", name, place);
    }
}

/* ---- rows from the records of the tracer ---- */

/* Writes a member with a number; -1 for ACTIVITY_NONE (unknown). */
static void put_number(struct trace_writer *w, const char *name, uint32_t value)
{
    fprintf(w->out, ", \"%s\": %lld", name, value == ACTIVITY_NONE ? -1 : (long long)value);
}

/* Writes an arrow from a call to its work on the GPU, with an id unique over ranks: w->source, then correlation. */
static void put_flow(struct trace_writer *w, const struct gpu_row *row)
{
    const struct trace *t = w->trace;
    const struct activity *call = row->call->activity;
    uint64_t id = (uint64_t)w->source << 32 | row->activity->correlation;
    for (int i = 0; i < 2; i++) {
        trace_row_begin(w, i ? "f" : "s", i ? w->gpu_pid : w->pid, i ? lane_thread(row->lane) : (long)call->thread,
                        trace_row_time(t, i ? row->activity->start_ns : call->start_ns));
        fprintf(w->out, ", \"id\": %" PRIu64 ", \"cat\": \"ac2g\", \"name\": \"ac2g\"%s}", id,
                i ? ", \"bp\": \"e\"" : "");
    }
}

static void put_device_row(struct trace_writer *w, const struct gpu_row *row)
{
    static const char *const category[] = {[ACTIVITY_KERNEL] = "kernel",
                                           [ACTIVITY_COPY] = "gpu_memcpy",
                                           [ACTIVITY_FILL] = "gpu_memset",
                                           [ACTIVITY_WAIT] = "cuda_sync"};
    const struct trace *t = w->trace;
    const struct activity *a = row->activity;
    trace_span_begin(w, category[a->kind], w->gpu_pid, lane_thread(row->lane), a->start_ns, a->end_ns, row->call->id);
    fprintf(w->out, ", \"device\": %ld, \"context\": %" PRIu32, w->gpu_id, a->context);
    put_number(w, "stream", a->stream);
    fprintf(w->out, ", \"correlation\": %" PRIu32, a->correlation);
    if (a->kind == ACTIVITY_KERNEL) {
        const uint32_t *grid = a->kernel.grid, *block = a->kernel.block;
        double blocks =
            (double)grid[0] * grid[1] * grid[2] / (t->gpu->multiprocessors > 0 ? t->gpu->multiprocessors : 1);
        double warps = blocks * block[0] * block[1] * block[2] / 32;
        fprintf(w->out, ", \"registers per thread\": %" PRIu32 ", \"shared memory\": %" PRIu32, a->kernel.registers,
                a->kernel.shared_bytes);
        fprintf(w->out, ", \"blocks per SM\": %.6g, \"warps per SM\": %.6g", blocks, warps);
        fprintf(w->out, ", \"grid\": [%" PRIu32 ", %" PRIu32 ", %" PRIu32 "]", grid[0], grid[1], grid[2]);
        fprintf(w->out, ", \"block\": [%" PRIu32 ", %" PRIu32 ", %" PRIu32 "]", block[0], block[1], block[2]);
    } else if (a->kind != ACTIVITY_WAIT)
        fprintf(w->out, ", \"bytes\": %zu, \"memory bandwidth (GB/s)\": %.6g", a->bytes,
                a->end_ns > a->start_ns ? (double)a->bytes / (double)(a->end_ns - a->start_ns) : 0);
    else {
        fprintf(w->out, ", \"cuda_sync_kind\": \"%s\"", a->name);
        if (a->wait.event != ACTIVITY_NONE) {
            put_number(w, "wait_on_stream", a->wait.stream);
            put_number(w, "wait_on_cuda_event_record_corr_id", a->wait.correlation);
            put_number(w, "wait_on_cuda_event_id", a->wait.event);
        }
    }
    if (row->collective >= 0)
        trace_put_collective(w, (size_t)row->collective);
    trace_span_end(w, a->name);
    if (a->kind != ACTIVITY_WAIT)
        put_flow(w, row);
}

static void put_activities(struct trace_writer *w)
{
    size_t room = w->trace->activities->n + 1;
    struct gpu_call *call = allocate(room, sizeof *call);
    struct gpu_row *row = allocate(room, sizeof *row);
    size_t calls = choose_calls(w, call), n = choose_rows(w, call, calls, row);
    struct gpu_lane *lane = allocate(n + 1, sizeof *lane);
    put_gpu_lanes(w, lane, choose_lanes(lane, row, n));
    for (size_t i = 0; i < calls; i++) {
        const struct activity *a = call[i].activity;
        if (a->call.marks && !a->call.waited)
            continue; /* the call records an event for timing only, not for a wait */
        trace_span_begin(w, a->call.driver ? "cuda_driver" : "cuda_runtime", w->pid, (long)a->thread, a->start_ns,
                         a->end_ns, call[i].id);
        fprintf(w->out, ", \"cbid\": %" PRIu32 ", \"correlation\": %" PRIu32, a->call.number, a->correlation);
        trace_span_end(w, a->name);
    }
    for (size_t i = 0; i < n; i++)
        put_device_row(w, &row[i]);
    free(lane);
    free(row);
    free(call);
}

/* ---- rows from times that the device stamped ---- */

/* Stream numbers without a tracer; these are common in PyTorch's traces. */
enum { STREAM_COMPUTE = 7, STREAM_COMMUNICATION = 20 };

static void put_stamped(struct trace_writer *w)
{
    const struct trace *t = w->trace;
    const struct lane *compute = &t->timeline->lane[LANE_COMPUTE];
    int slots = !t->nccl_version ? 0 : w->slots > 1 ? w->slots : 1; /* groups of ranks communicate at the same time */
    struct gpu_lane *lane = allocate(1 + (size_t)slots, sizeof *lane);
    lane[0].stream = STREAM_COMPUTE;
    for (int s = 0; s < slots; s++)
        lane[1 + s] = (struct gpu_lane){.stream = STREAM_COMMUNICATION, .nccl = 1, .place = s};
    put_gpu_lanes(w, lane, 1 + (size_t)slots);
    for (size_t i = 0; i < compute->n; i++) {
        const struct span *s = &compute->span[i];
        trace_span_begin(w, "gpu_user_annotation", w->gpu_pid, lane_thread(&lane[0]), s->start_ns, s->end_ns,
                         w->operation_id + (long)i);
        fprintf(w->out, ", \"stream\": %d", STREAM_COMPUTE);
        trace_put_stamped(w, w->operation_id + (long)i);
        trace_span_end(w, s->name);
    }
    for (size_t i = 0; t->nccl_version && i < t->collectives->n; i++) {
        const struct timed_collective *c = &t->collectives->item[i];
        trace_ts_span_begin(w, "gpu_user_annotation", w->gpu_pid, lane_thread(&lane[1 + w->slot[i]]),
                            c->posted_ns - t->base_ns, c->completed_ns - t->base_ns, w->collective_id + (long)i);
        fprintf(w->out, ", \"stream\": %d", STREAM_COMMUNICATION);
        trace_put_stamped(w, w->collective_id + (long)i);
        trace_put_collective(w, i);
        char name[40];
        snprintf(name, sizeof name, "nccl:%s", comm_kind_name[c->kind]);
        trace_span_end(w, name);
    }
    free(lane);
}

void trace_put_device(struct trace_writer *w)
{
    const struct lane *host = &w->trace->timeline->lane[LANE_HOST];
    if (w->trace->activities)
        put_activities(w);
    else
        put_stamped(w);
    /* phases as the GPU ran them: their rows have no stream, since analysers count rows with a stream as work */
    for (size_t i = 0; i < host->n; i++) {
        const struct span *s = &host->span[i];
        if (step_phase_of(s) < 0)
            continue;
        trace_span_begin(w, "gpu_user_annotation", w->gpu_pid, LANE_OF_PHASES, s->start_ns, s->end_ns,
                         w->host_id + (long)i);
        trace_span_end(w, s->name);
    }
}
