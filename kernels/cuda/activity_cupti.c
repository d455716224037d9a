/* activity_cupti.c - the tracer of NVIDIA GPUs: converts CUPTI's activity records to activities.
 *
 * CUPTI requests buffers, fills them with records, and returns them when they are full or flushed, from its own thread
 * or from the thread that flushes. Records are not in order. Times are those of clock.h: CUPTI reads this clock for
 * calls, and converts the GPU's times to it. Source: NVIDIA, CUPTI documentation, section on the activity API. */
#include "kernels/activity.h"

#include "kernels/clock.h"
#include "kernels/cuda/cupti_buffers.h"
#include "kernels/cuda/cupti_names.h"
#include "kernels/error.h"

#include <pthread.h>
#include <unistd.h>

_Static_assert(CUPTI_SYNCHRONIZATION_INVALID_VALUE == ACTIVITY_NONE, "ACTIVITY_NONE is CUPTI's invalid value");

static const CUpti_ActivityKind kinds[] = {
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,     CUPTI_ACTIVITY_KIND_MEMSET,
    CUPTI_ACTIVITY_KIND_RUNTIME,           CUPTI_ACTIVITY_KIND_DRIVER, /* NCCL and cuBLAS launch through the driver */
    CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,   CUPTI_ACTIVITY_KIND_CUDA_EVENT, /* part of SYNCHRONIZATION until CUDA 12.8 */
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static struct {
    struct cupti cupti;
    struct activities *into; /* destination of records; NULL: not tracing */
    CUpti_SubscriberHandle subscriber;
    /* the thread that started the tracer: its number in CUPTI, and its id in the system */
    uint32_t starter, starter_thread;
    pthread_mutex_t lock; /* guards the members below and the activities; held while records are converted */
    int paused;
    struct cupti_buffer *kept; /* buffers that CUPTI returned while paused */
    size_t dropped;            /* records dropped by CUPTI, not yet counted in `into` */
} tracer = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- records ---- */

static void take_kernel(const cupti_kernel *k)
{
    struct activity a = {.kind = ACTIVITY_KERNEL,
                         .correlation = k->correlationId,
                         .name = cupti_kernel_name(k->name),
                         .start_ns = (int64_t)k->start,
                         .end_ns = (int64_t)k->end,
                         .device = k->deviceId,
                         .context = k->contextId,
                         .stream = k->streamId};
    a.kernel.grid[0] = (uint32_t)k->gridX;
    a.kernel.grid[1] = (uint32_t)k->gridY;
    a.kernel.grid[2] = (uint32_t)k->gridZ;
    a.kernel.block[0] = (uint32_t)k->blockX;
    a.kernel.block[1] = (uint32_t)k->blockY;
    a.kernel.block[2] = (uint32_t)k->blockZ;
    a.kernel.registers = k->registersPerThread;
    a.kernel.shared_bytes = (uint32_t)k->staticSharedMemory + (uint32_t)k->dynamicSharedMemory;
    activities_add(tracer.into, &a);
}

static void take_copy(const cupti_copy *c)
{
    activities_add(tracer.into, &(struct activity){.kind = ACTIVITY_COPY,
                                                   .correlation = c->correlationId,
                                                   .name = cupti_copy_name(c->copyKind, c->srcKind, c->dstKind),
                                                   .start_ns = (int64_t)c->start,
                                                   .end_ns = (int64_t)c->end,
                                                   .device = c->deviceId,
                                                   .context = c->contextId,
                                                   .stream = c->streamId,
                                                   .bytes = c->bytes});
}

static void take_fill(const cupti_fill *f)
{
    activities_add(tracer.into, &(struct activity){.kind = ACTIVITY_FILL,
                                                   .correlation = f->correlationId,
                                                   .name = cupti_fill_name(f->memoryKind),
                                                   .start_ns = (int64_t)f->start,
                                                   .end_ns = (int64_t)f->end,
                                                   .device = f->deviceId,
                                                   .context = f->contextId,
                                                   .stream = f->streamId,
                                                   .bytes = f->bytes});
}

static void take_call(const cupti_call *c)
{
    int marks, driver = c->kind == CUPTI_ACTIVITY_KIND_DRIVER;
    const char *name = cupti_call_name(&tracer.cupti, driver, c->cbid, &marks);
    if (!name)
        return;
    activities_add(tracer.into,
                   &(struct activity){.kind = ACTIVITY_CALL,
                                      .correlation = c->correlationId,
                                      .name = name,
                                      .start_ns = (int64_t)c->start,
                                      .end_ns = (int64_t)c->end,
                                      .thread = c->threadId == tracer.starter ? tracer.starter_thread : c->threadId,
                                      .call = {.number = c->cbid, .driver = driver, .marks = marks}});
}

static void take_wait(const cupti_wait *w)
{
    activities_add(tracer.into, &(struct activity){.kind = ACTIVITY_WAIT,
                                                   .correlation = w->correlationId,
                                                   .name = cupti_wait_name(w->type),
                                                   .start_ns = (int64_t)w->start,
                                                   .end_ns = (int64_t)w->end,
                                                   .context = w->contextId,
                                                   .stream = w->streamId,
                                                   .wait = {.event = w->cudaEventId, ACTIVITY_NONE, ACTIVITY_NONE}});
}

static void take_mark(const cupti_mark *m)
{
    activities_add_mark(tracer.into, &(struct activity_mark){.correlation = m->correlationId,
                                                             .context = m->contextId,
                                                             .stream = m->streamId,
                                                             .event = m->eventId});
}

/* Converts one record. Every record begins with its kind, which determines its layout (CUPTI documentation). */
static void convert_record(const CUpti_Activity *record)
{
    const void *r = record;
    switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        take_kernel(r);
        break;
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        take_copy(r);
        break;
    case CUPTI_ACTIVITY_KIND_MEMSET:
        take_fill(r);
        break;
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
        take_call(r);
        break;
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
        take_wait(r);
        break;
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
        take_mark(r);
        break;
    default:
        break;
    }
}

/* ---- callbacks of CUPTI ---- */

static void CUPTIAPI give_buffer(uint8_t **bytes, size_t *size, size_t *records)
{
    struct cupti_buffer *buffer = cupti_buffer_take();
    *bytes = buffer->bytes;
    *size = sizeof buffer->bytes;
    *records = 0; /* no limit on the number of records */
}

/* Converts the records in a buffer, and returns the buffer to the pool; the caller holds the lock. */
static void read_buffer(struct cupti_buffer *buffer)
{
    CUpti_Activity *record = NULL;
    while (tracer.into && buffer->valid &&
           tracer.cupti.next_record(buffer->bytes, buffer->valid, &record) == CUPTI_SUCCESS)
        convert_record(record);
    cupti_buffer_put(buffer);
}

static void CUPTIAPI take_buffer(CUcontext context, uint32_t stream, uint8_t *bytes, size_t size, size_t valid)
{
    size_t dropped = 0;
    (void)size;
    if (!bytes)
        return;
    struct cupti_buffer *buffer = cupti_buffer_of(bytes);
    buffer->valid = valid;
    if (tracer.cupti.dropped(context, stream, &dropped) != CUPTI_SUCCESS)
        dropped = 0;
    pthread_mutex_lock(&tracer.lock);
    tracer.dropped += dropped;
    if (tracer.paused) {
        buffer->next = tracer.kept;
        tracer.kept = buffer;
    } else {
        read_buffer(buffer);
    }
    pthread_mutex_unlock(&tracer.lock);
}

static uint64_t CUPTIAPI time_now(void)
{
    return (uint64_t)clock_now_ns();
}

/* The callback that a subscription must have; it is never called. CUPTI allows one subscriber, so a successful
 * subscription shows that no other tool traces. */
static void CUPTIAPI subscribed(void *context, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
    (void)context, (void)domain, (void)id, (void)data;
}

/* ---- start, pause and stop ---- */

static int report_failure(const char *call, CUptiResult result)
{
    const char *words = "unknown error";
    tracer.cupti.result_string(result, &words);
    switch (result) {
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
    case CUPTI_ERROR_NOT_COMPATIBLE:
        return error_report("another tool is tracing this process (nsys, ncu, a debugger): %s: %s", call, words);
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
        return error_report("the driver lets only administrators trace; its module's option "
                            "NVreg_RestrictProfilingToAdminUsers=0 changes that: %s: %s",
                            call, words);
    default:
        return error_report("CUPTI cannot trace this GPU: %s: %s", call, words);
    }
}

static void hold_records(void)
{
    pthread_mutex_lock(&tracer.lock);
    tracer.paused = 1;
    if (tracer.into)
        tracer.into->dropped += tracer.dropped;
    tracer.dropped = 0;
    pthread_mutex_unlock(&tracer.lock);
}

static void resume_tracing(void)
{
    pthread_mutex_lock(&tracer.lock);
    tracer.paused = 0;
    while (tracer.kept) {
        struct cupti_buffer *buffer = tracer.kept;
        tracer.kept = buffer->next;
        read_buffer(buffer);
    }
    pthread_mutex_unlock(&tracer.lock);
}

static void pause_tracing(void)
{
    if (!tracer.into)
        return;
    resume_tracing();
    (void)tracer.cupti.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED); /* without force, CUPTI may keep some records */
    hold_records();
}

static void end_tracing(int enabled)
{
    resume_tracing();
    for (int i = 0; i < enabled; i++)
        (void)tracer.cupti.disable(kinds[i]);
    if (enabled)
        (void)tracer.cupti.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    (void)tracer.cupti.unsubscribe(tracer.subscriber);
    hold_records();
    pthread_mutex_lock(&tracer.lock);
    tracer.into = NULL;
    tracer.paused = 0;
    pthread_mutex_unlock(&tracer.lock);
}

static void set_up(struct activities *activities)
{
    cupti_buffers_make();
    tracer.starter_thread = (uint32_t)gettid();
    tracer.starter = (uint32_t)(uintptr_t)pthread_self();
    if (tracer.cupti.set_thread_id_type &&
        tracer.cupti.set_thread_id_type(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM) == CUPTI_SUCCESS)
        tracer.starter = tracer.starter_thread;
    pthread_mutex_lock(&tracer.lock);
    activities->thread = tracer.starter_thread;
    tracer.into = activities;
    tracer.dropped = 0;
    pthread_mutex_unlock(&tracer.lock);
}

/* Requests one buffer for all threads, because otherwise even a short-lived thread takes a buffer for a few records;
 * and promises zeroed buffers, so that CUPTI does not zero them in a timed region. Old versions of CUPTI lack both. */
static void set_attributes(void)
{
    uint8_t off = 0, on = 1;
    size_t size = sizeof off;
    if (!tracer.cupti.set_attribute)
        return;
    (void)tracer.cupti.set_attribute(CUPTI_PER_THREAD_BUFFER, &size, &off);
    size = sizeof on;
    (void)tracer.cupti.set_attribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &size, &on);
}

/* Excludes event queries from the trace: the host polls copies for MPI by queries, whose records would fill the memory.
 * Newer versions of CUPTI can also exclude the wait records of queries that returned "not ready". */
static void leave_out_queries(void)
{
    if (tracer.cupti.enable_runtime_call)
        (void)tracer.cupti.enable_runtime_call(CUPTI_RUNTIME_TRACE_CBID_cudaEventQuery_v3020, 0);
    if (tracer.cupti.enable_all_waits)
        (void)tracer.cupti.enable_all_waits(0);
}

static int start_tracing(struct activities *activities)
{
    const char *call = "cuptiSubscribe";
    CUptiResult result;
    int enabled = 0;
    if (cupti_open(&tracer.cupti))
        return -1;
    result = tracer.cupti.subscribe(&tracer.subscriber, subscribed, NULL);
    if (result != CUPTI_SUCCESS)
        return report_failure(call, result);
    set_up(activities);
    set_attributes();
    call = "cuptiActivityRegisterTimestampCallback"; /* must precede cuptiActivityEnable */
    result = tracer.cupti.register_timestamp(time_now);
    if (result == CUPTI_SUCCESS) {
        call = "cuptiActivityRegisterCallbacks";
        result = tracer.cupti.register_callbacks(give_buffer, take_buffer);
    }
    for (; result == CUPTI_SUCCESS && enabled < KINDS; enabled += result == CUPTI_SUCCESS) {
        call = "cuptiActivityEnable";
        result = tracer.cupti.enable(kinds[enabled]);
    }
    if (result == CUPTI_SUCCESS) {
        leave_out_queries();
        return 0;
    }
    end_tracing(enabled);
    return report_failure(call, result);
}

static void stop_tracing(void)
{
    if (tracer.into)
        end_tracing(KINDS);
}

const struct tracer ddpbench_tracer = {start_tracing, pause_tracing, resume_tracing, stop_tracing};
