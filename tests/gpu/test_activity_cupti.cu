/* test_activity_cupti.cu - tests kernels/cuda/activity_cupti with an emulated CUPTI: records of calls and work, pauses,
 * errors at the start; and kernels/cuda/ranges with an emulated NVTX. */
#include "kernels/cuda/kernel.cuh"

extern "C" {
#include "kernels/activity.h"
#include "kernels/cuda/ranges.h"
#include "tests/support/suite.h"
}
#include "cupti.h"
#include "nvtx3/nvToolsExt.h"

#include <cstdlib>
#include <cstring>
#include <thread>
#include <unistd.h>

cudaStream_t cuda_stream;
static struct activities all;

__global__ void add_kernel(float *x, float by)
{
    x[threadIdx.x] += by;
}

static void create_activities(size_t room)
{
    activities_create(&all, room, room);
    CUDA_CHECK(cudaStreamCreateWithFlags(&cuda_stream, cudaStreamNonBlocking));
    ck_assert_msg(ddpbench_tracer.start(&all) == 0, "%s", error_text());
}

static void setup()
{
    create_activities(1000);
}

static void teardown()
{
    ddpbench_tracer.stop();
    activities_destroy(&all);
}

/* Returns record number i, from 0, among those of a kind and name; NULL if there are fewer. */
static const struct activity *find_record(enum activity_kind kind, const char *name, int i = 0)
{
    for (size_t k = 0; k < all.n; k++)
        if (all.of[k].kind == kind && !strcmp(all.of[k].name, name) && i-- == 0)
            return &all.of[k];
    return nullptr;
}

/* Queues a copy, kernels and a fill on two streams; each stream waits for the other, through the same event. */
static void queue_work(float *x)
{
    static float host[32];
    cudaStream_t second;
    cudaEvent_t event;
    CUDA_CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    CUDA_CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    CUDA_CHECK(cudaMemcpyAsync(x, host, sizeof host, cudaMemcpyHostToDevice, cuda_stream));
    launch(add_kernel, dim3(1), dim3(32), 0, x, 1.0f);
    CUDA_CHECK(cudaEventRecord(event, cuda_stream));
    CUDA_CHECK(cudaStreamWaitEvent(second, event, 0));
    CUDA_CHECK(cudaMemsetAsync(x, 0, 16, second));
    CUDA_CHECK(cudaEventRecord(event, second));
    CUDA_CHECK(cudaStreamWaitEvent(cuda_stream, event, 0));
    launch(add_kernel, dim3(1), dim3(16), 0, x, 1.0f);
    cudaEventQuery(event);
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaEventDestroy(event));
    CUDA_CHECK(cudaStreamDestroy(second));
}

static float *memory()
{
    float *x;
    CUDA_CHECK(cudaMalloc(&x, 32 * sizeof *x));
    return x;
}

TEST(calls_and_work_are_recorded)
{
    queue_work(memory());
    ddpbench_tracer.pause();
    activities_settle(&all);
    const struct activity *kernel = find_record(ACTIVITY_KERNEL, "emulated_kernel()"); /* demangled */
    const struct activity *call = find_record(ACTIVITY_CALL, "cudaLaunchKernelExC");   /* without a version suffix */
    ck_assert(kernel && call && find_record(ACTIVITY_KERNEL, "emulated_kernel()", 1));
    ck_assert(!find_record(ACTIVITY_KERNEL, "emulated_kernel()", 2));
    ck_assert_uint_eq(kernel->correlation, call->correlation);
    ck_assert_uint_eq(kernel->kernel.block[0], 32);
    ck_assert_uint_eq(find_record(ACTIVITY_KERNEL, "emulated_kernel()", 1)->kernel.block[0], 16);
    ck_assert(kernel->start_ns >= call->start_ns && kernel->end_ns >= kernel->start_ns);
    ck_assert_uint_eq(call->thread, static_cast<uint32_t>(gettid()));
    const struct activity *copy = find_record(ACTIVITY_COPY, "Memcpy HtoD (Pageable -> Device)");
    const struct activity *fill = find_record(ACTIVITY_FILL, "Memset (Device)");
    ck_assert(copy && fill);
    ck_assert_uint_eq(copy->bytes, 128);
    ck_assert_uint_eq(fill->bytes, 16);
    ck_assert_uint_eq(copy->stream, kernel->stream);
    ck_assert_uint_ne(fill->stream, kernel->stream);
    ck_assert(find_record(ACTIVITY_CALL, "cudaMemcpyAsync") && find_record(ACTIVITY_CALL, "cudaMalloc"));
    ck_assert(!find_record(ACTIVITY_CALL, "cudaEventQuery")); /* left out: a query starts no work */
    ck_assert_uint_eq(all.dropped + all.untimed, 0);
}

TEST(waits_find_their_events)
{
    queue_work(memory());
    ddpbench_tracer.pause();
    activities_settle(&all);
    uint32_t streams[] = {find_record(ACTIVITY_KERNEL, "emulated_kernel()")->stream,
                          find_record(ACTIVITY_FILL, "Memset (Device)")->stream};
    for (int i = 0; i < 2; i++) {
        const struct activity *wait = find_record(ACTIVITY_WAIT, "Stream Wait Event", i);
        const struct activity *record = find_record(ACTIVITY_CALL, "cudaEventRecord", i);
        ck_assert(wait && record);
        ck_assert_uint_eq(wait->stream, streams[!i]);
        ck_assert_uint_eq(wait->wait.stream, streams[i]);
        ck_assert_uint_eq(wait->wait.correlation, record->correlation);
        ck_assert_int_eq(record->call.waited, 1);
    }
    const struct activity *end = find_record(ACTIVITY_WAIT, "Context Sync");
    ck_assert(end);
    ck_assert_uint_eq(end->wait.event, ACTIVITY_NONE);
    ck_assert_uint_eq(end->stream, ACTIVITY_NONE);
}

/* Polling an event leaves at most one record. */
TEST(queries_of_events_are_left_out)
{
    float *x = memory();
    cudaEvent_t event;
    int asked = 0;
    CUDA_CHECK(cudaEventCreate(&event));
    for (int i = 0; i < 100; i++)
        launch(add_kernel, dim3(1), dim3(32), 0, x, 1.0f);
    CUDA_CHECK(cudaEventRecord(event, cuda_stream));
    while (cudaEventQuery(event) == cudaErrorNotReady)
        asked++;
    CUDA_CHECK(cudaDeviceSynchronize());
    ddpbench_tracer.pause();
    ck_assert_int_gt(asked, 20);
    ck_assert(!find_record(ACTIVITY_WAIT, "Event Sync", 1));
    ck_assert(!find_record(ACTIVITY_CALL, "cudaEventQuery"));
    CUDA_CHECK(cudaEventDestroy(event));
}

/* Records of work in a pause are held back until the pause ends, so that `all` may be read while the device works. */
TEST(records_of_a_pause_are_kept_back)
{
    float *x = memory();
    queue_work(x);
    ddpbench_tracer.pause();
    size_t before = all.n;
    ck_assert_uint_gt(before, 5);
    queue_work(x);
    cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED); /* as CUPTI's own thread may do */
    ck_assert_uint_eq(all.n, before);
    ddpbench_tracer.resume();
    ck_assert_uint_gt(all.n, before + 5);
    ddpbench_tracer.pause();
    activities_settle(&all);
    ck_assert(find_record(ACTIVITY_KERNEL, "emulated_kernel()", 3));
}

TEST(the_tracer_stops_and_starts_again)
{
    float *x = memory();
    ddpbench_tracer.stop();
    size_t before = all.n;
    queue_work(x);
    cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    ck_assert_uint_eq(all.n, before);
    ck_assert_int_eq(ddpbench_tracer.start(&all), 0);
    queue_work(x);
    ddpbench_tracer.stop();
    ddpbench_tracer.stop();
    activities_settle(&all);
    ck_assert(find_record(ACTIVITY_KERNEL, "emulated_kernel()", 1) &&
              !find_record(ACTIVITY_KERNEL, "emulated_kernel()", 2));
}

TEST(records_without_room_are_counted)
{
    teardown();
    create_activities(4);
    queue_work(memory());
    ddpbench_tracer.stop();
    ck_assert_uint_eq(all.n, 4);
    ck_assert_uint_gt(all.dropped, 5);
}

/* A long pause, whose records fill more than the initial buffers, loses nothing. */
TEST(buffers_never_run_out)
{
    constexpr size_t EVENTS = 600000; /* recording an event makes two records, together 64 bytes */
    cudaEvent_t event;
    teardown();
    create_activities(2 * EVENTS + 100);
    CUDA_CHECK(cudaEventCreate(&event));
    ddpbench_tracer.pause();
    for (size_t i = 0; i < EVENTS; i++)
        CUDA_CHECK(cudaEventRecord(event, cuda_stream));
    CUDA_CHECK(cudaDeviceSynchronize());
    ddpbench_tracer.resume();
    ddpbench_tracer.pause();
    ck_assert_uint_eq(all.marks, EVENTS);
    ck_assert_uint_ge(all.n, EVENTS);
    ck_assert_uint_eq(all.dropped, 0);
    CUDA_CHECK(cudaEventDestroy(event));
}

/* All threads share one buffer, including threads that have ended. */
TEST(threads_share_a_buffer)
{
    constexpr size_t THREADS = 40;
    float *x = memory();
    size_t before = emulated_cupti_buffers();
    for (size_t i = 0; i < THREADS; i++)
        std::thread([x] { launch(add_kernel, dim3(1), dim3(32), 0, x, 1.0f); }).join();
    CUDA_CHECK(cudaDeviceSynchronize());
    ddpbench_tracer.pause();
    activities_settle(&all);
    ck_assert(find_record(ACTIVITY_KERNEL, "emulated_kernel()", THREADS - 1));
    ck_assert_uint_le(emulated_cupti_buffers() - before, 1);
}

/* A call or a wait without times is left out, and no figure becomes N/A. */
TEST(kernels_without_times_are_counted)
{
    setenv("EMULATED_CUPTI_LOSE", "2", 1);
    queue_work(memory());
    ddpbench_tracer.stop();
    struct activity without_times = {};
    for (enum activity_kind kind : {ACTIVITY_CALL, ACTIVITY_WAIT}) {
        without_times.kind = kind;
        activities_add(&all, &without_times);
    }
    activities_settle(&all);
    ck_assert_uint_eq(all.untimed, 1);
    ck_assert(find_record(ACTIVITY_KERNEL, "emulated_kernel()") &&
              !find_record(ACTIVITY_KERNEL, "emulated_kernel()", 1));
}

/* Two passes make equal numbers of records, but for one record of a query. In the second, CUPTI drops every fourth. */
TEST(records_that_cupti_drops_are_counted)
{
    float *x = memory();
    ddpbench_tracer.pause(); /* delivers the record of the allocation first */
    size_t before = all.n + all.marks;
    ddpbench_tracer.resume();
    queue_work(x);
    ddpbench_tracer.pause();
    size_t first = all.n + all.marks - before;
    ck_assert_uint_eq(all.dropped, 0);
    setenv("EMULATED_CUPTI_DROP", "4", 1);
    ddpbench_tracer.resume();
    queue_work(x);
    ddpbench_tracer.stop();
    size_t second = all.n + all.marks - before - first;
    ck_assert_uint_ge(all.dropped, first / 4);
    ck_assert_uint_ge(second + all.dropped + 1, first);
    ck_assert_uint_le(second + all.dropped, first + 1);
}

static const struct {
    const char *state, *words;
} refusals[] = {{"taken", "another tool is tracing this process"},
                {"restricted", "NVreg_RestrictProfilingToAdminUsers=0"},
                {"absent", "CUPTI cannot trace this GPU: cuptiSubscribe: CUPTI_ERROR_NOT_INITIALIZED"}};

TEST_EACH(a_tracer_that_cannot_start_reports_why, 3)
{
    ddpbench_tracer.stop();
    setenv("EMULATED_CUPTI", refusals[_i].state, 1);
    ck_assert_int_eq(ddpbench_tracer.start(&all), -1);
    ck_assert_msg(strstr(error_text(), refusals[_i].words), "%s", error_text());
    error_clear();
    ddpbench_tracer.pause(); /* has no effect */
    ddpbench_tracer.resume();
    ddpbench_tracer.stop();
    unsetenv("EMULATED_CUPTI");
    ck_assert_int_eq(ddpbench_tracer.start(&all), 0); /* the failed start has left nothing behind */
}

TEST(profilers_get_ranges)
{
    setenv("EMULATED_NVTX", "1", 1);
    cuda_annotation_begin("warmup_epoch_%d", 2);
    cuda_annotation_begin("ProfilerStep#%d", 3);
    cuda_phase("zero_grad");
    cuda_phase("forward_pass");
    cuda_range_begin("block", 0);
    cuda_range_begin("attention", 0);
    cuda_range_end();
    cuda_range_end();
    cuda_range_begin("output", -1);
    cuda_range_end();
    cuda_annotation_begin("%s bucket %d", "reduce_scatter", 4);
    cuda_range_end();
    cuda_phase(nullptr);
    cuda_phase(nullptr);
    cuda_range_end();
    cuda_range_end();
    ck_assert_str_eq(emulated_nvtx_heard(),
                     "ddpbench( warmup_epoch_2( ProfilerStep#3( zero_grad( ) forward_pass( layers.0.block( "
                     "layers.0.attention( ) ) output( ) reduce_scatter bucket 4( ) ) ) ) ");
}

TEST(without_a_profiler_ranges_do_nothing)
{
    cuda_annotation_begin("ProfilerStep#%d", 3);
    cuda_phase("zero_grad");
    cuda_phase(nullptr);
    cuda_range_end();
    ck_assert_str_eq(emulated_nvtx_heard(), "");
}

SUITE("activity_cupti", setup, teardown)
