/* made_up_gpu.c - what the tracer of a GPU would have recorded of a step with known answers. */
#include "tests/support/made_up_gpu.h"

#include "ddp/comm.h"
#include "tests/support/made_up.h"

#include <string.h>

const struct gpu_facts made_up_gpu = {.name = "NVIDIA H200",
                                      .id = "GPU-01234567-89ab-cdef-0123-456789abcdef",
                                      .total_memory = 150110011392,
                                      .compute_major = 9,
                                      .max_threads_per_block = 1024,
                                      .max_threads_per_multiprocessor = 2048,
                                      .registers_per_block = 65536,
                                      .warp_size = 32,
                                      .multiprocessors = 132,
                                      .shared_memory_per_block = 49152};

static const char *const nccl_name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";

static void call(struct activities *activities, int rank, uint32_t correlation, const char *name, int64_t us, int marks)
{
    activities_add(activities, &(struct activity){.kind = ACTIVITY_CALL,
                                                  .correlation = correlation,
                                                  .name = name,
                                                  .start_ns = us * US,
                                                  .end_ns = (us + 5) * US,
                                                  .thread = (uint32_t)(4000 + rank),
                                                  .call = {.number = 211, .marks = marks}});
}

void made_up_kernel(struct activities *activities, int rank, uint32_t correlation, const char *name, uint32_t stream,
                    int64_t call_us, int64_t start_us, int64_t end_us)
{
    activities_add(activities, &(struct activity){.kind = ACTIVITY_KERNEL,
                                                  .correlation = correlation,
                                                  .name = name,
                                                  .start_ns = start_us * US,
                                                  .end_ns = end_us * US,
                                                  .context = 1,
                                                  .stream = stream,
                                                  .kernel = {{264, 1, 1}, {128, 2, 1}, 40, 1024}});
    call(activities, rank, correlation, "cudaLaunchKernelExC", call_us, 0);
}

static void copy(struct activities *activities, int rank)
{
    call(activities, rank, 100, "cudaMemcpyAsync", 1020, 0);
    activities_add(activities, &(struct activity){.kind = ACTIVITY_COPY,
                                                  .correlation = 100,
                                                  .name = "Memcpy HtoD (Pinned -> Device)",
                                                  .start_ns = 1040 * US,
                                                  .end_ns = 1090 * US,
                                                  .context = 1,
                                                  .stream = 7,
                                                  .bytes = 65536});
}

/* Stream 20 waits for stream 7: an event that was recorded before is recorded anew. */
static void wait(struct activities *activities, int rank, uint32_t record, int64_t us)
{
    call(activities, rank, record, "cudaEventRecord", us, 1);
    activities_add_mark(activities,
                        &(struct activity_mark){.correlation = record, .context = 1, .stream = 7, .event = 5});
    call(activities, rank, record + 1, "cudaStreamWaitEvent", us + 6, 0);
    activities_add(activities, &(struct activity){.kind = ACTIVITY_WAIT,
                                                  .correlation = record + 1,
                                                  .name = "Stream Wait Event",
                                                  .start_ns = (us + 7) * US,
                                                  .end_ns = (us + 9) * US,
                                                  .context = 1,
                                                  .stream = 20,
                                                  .wait = {5, ACTIVITY_NONE, ACTIVITY_NONE}});
}

static void phase(struct timeline *timeline, enum step_phase phase, int64_t queued, int64_t returned, int64_t start,
                  int64_t end)
{
    timeline_add(timeline, LANE_HOST,
                 (struct span){.name = phase_name[phase],
                               .queued_ns = queued * US,
                               .start_ns = start * US,
                               .end_ns = end * US,
                               .returned_ns = returned * US,
                               .index = (int)phase});
}

/* As device_traced records it: 10 us on the host. */
static void operation(struct timeline *timeline, enum operation operation, int64_t queued, int64_t start, int64_t end)
{
    timeline_add(timeline, LANE_COMPUTE,
                 (struct span){.name = operation_facts[operation].name,
                               .queued_ns = queued * US,
                               .start_ns = start * US,
                               .end_ns = end * US,
                               .returned_ns = (queued + 10) * US,
                               .size = {3, 5, 7},
                               .index = (int)operation});
}

static void collective(struct timeline *timeline, long ticket, size_t elements, int64_t queued, int64_t start,
                       int64_t end)
{
    struct collective c = {.count = elements, .index = (int)ticket - 1};
    struct span span = collective_span(&c, ticket, queued * US, start * US, end * US);
    span.returned_ns = (queued + 10) * US;
    timeline_add(timeline, LANE_COMMUNICATION, span);
}

static void record_timeline(struct timeline *timeline, int64_t second)
{
    phase(timeline, PHASE_ZERO_GRAD, 1000, 1010, 1000, 1010);
    phase(timeline, PHASE_DATA_LOADING, 1010, 1050, 1010, 1095);
    phase(timeline, PHASE_FORWARD, 1050, 1100, 1095, 1405);
    phase(timeline, PHASE_BACKWARD, 1100, 1220, 1405, 2222);
    phase(timeline, PHASE_GRADIENT_SYNC, 1220, 1230, 2222, 2535);
    phase(timeline, PHASE_OPTIMIZER, 1230, 1280, 2535, 2700);
    phase(timeline, PHASE_LR_SCHEDULING, 1280, 1300, 2700, 2750);
    operation(timeline, OPERATION_LINEAR_FORWARD, 1058, 1100, 1400);
    operation(timeline, OPERATION_LINEAR_BACKWARD_WEIGHT, 1118, 1410, 1810);
    operation(timeline, OPERATION_LINEAR_BACKWARD_INPUT, 1178, 1820, 2220);
    operation(timeline, OPERATION_ADAMW, 1250, 2540, 2690);
    collective(timeline, 1, 105, 1147, 1829, 2131);
    collective(timeline, 2, 35, 1207, second - 1, 2531);
}

void gpu_trace_two_ranks(struct gpu_trace *t, int rank)
{
    struct activities *a = &t->activities;
    int64_t second = rank == 0 ? 2230 : 2280, posted[] = {1829 * US, 2229 * US, 1829 * US, 2279 * US};
    rank_trace_begin(&t->rank, rank, 2);
    record_timeline(&t->rank.timeline, second);
    activities_create(a, 100, 100);
    made_up_kernel(a, rank, 110, "adamw_kernel", 7, 1252, 2540, 2690);
    made_up_kernel(a, rank, 109, nccl_name, 20, 1210, second, 2530);
    wait(a, rank, 107, 1192);
    made_up_kernel(a, rank, 106, "gemm_b", 7, 1180, 1820, 2220);
    made_up_kernel(a, rank, 105, nccl_name, 20, 1150, 1830, 2130);
    wait(a, rank, 103, 1132);
    made_up_kernel(a, rank, 102, "gemm_b", 7, 1120, 1410, 1810);
    made_up_kernel(a, rank, 101, "void gemm_f<float>(float*, \"a\\b\")", 7, 1060, 1100, 1400);
    copy(a, rank);
    activities_settle(a);
    rank_trace_finish(&t->rank, 1);
    collectives_find_last(&t->rank.collectives, posted);
    t->rank.trace.device = "cuda";
    t->rank.trace.comm = "nccl";
    t->rank.trace.comm_thread = 0;
    t->rank.trace.gpu = &made_up_gpu;
    t->rank.trace.gpu_index = rank;
    t->rank.trace.nccl_version = "2.28.9";
    t->rank.trace.activities = a;
}

void gpu_trace_destroy(struct gpu_trace *t)
{
    rank_trace_destroy(&t->rank);
    activities_destroy(&t->activities);
}
