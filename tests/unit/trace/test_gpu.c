/* test_gpu.c - traces of GPUs: rows of streams, CUDA calls, waits and flows, from a tracer's made-up records with known
 * answers, or, without a tracer, from time stamps.
 *
 * Called with a directory as argument, this program writes traces of two made-up ranks there, for other programs to
 * read. With the second argument "stamped" they are traces without a tracer; with "mpi", their collectives run on the
 * host. */
#include "ddp/comm.h"
#include "kernels/activity.h"
#include "tests/support/made_up.h"
#include "tests/support/suite.h"
#include "tests/support/traces.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* ---- made-up records of a GPU's tracer ---- */

/* Two GPUs of the same model; each rank sees both GPUs. */
#define MADE_UP_GPU(number)                                                                                            \
    {                                                                                                                  \
        .name = "NVIDIA H200", .id = "GPU-01234567-89ab-cdef-0123-456789abcdef", .index = (number),                    \
        .total_memory = 150110011392, .compute_major = 9, .max_threads_per_block = 1024,                               \
        .max_threads_per_multiprocessor = 2048, .registers_per_block = 65536, .warp_size = 32, .multiprocessors = 132, \
        .shared_memory_per_block = 49152                                                                               \
    }
static struct gpu_facts made_up_gpus[] = {MADE_UP_GPU(0), MADE_UP_GPU(1)};

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

/* Adds a kernel, and the call of 5 us by which the training thread launched it. */
static void made_up_kernel(struct activities *activities, int rank, uint32_t correlation, const char *name,
                           uint32_t stream, int64_t call_us, int64_t start_us, int64_t end_us)
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

/* Adds records of two calls: one records event 5 on stream 7, the other makes stream 20 wait for that event. */
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

/* Adds an operation as device_traced records it; the call takes 10 us on the host. */
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
    struct span span = collective_span(&c, 1, 1, ticket, queued * US, start * US, end * US);
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

struct gpu_trace {
    struct rank_trace rank;
    struct activities activities;
};

static void attribute(struct gpu_trace *t)
{
    struct lane work = {0};
    activities_settle(&t->activities);
    activities_attribute(&t->activities, &t->rank.timeline, &work);
    free(work.span);
}

/* Makes the trace of one of two ranks in a made-up step: the host queues work from 1000 us to 1300 us, and the GPU does
 * it from 1040 us to 2690 us on streams 7 and 20: a copy, four kernels, and two kernels of NCCL that take 600 us on
 * rank 0 (300 us exposed) and 550 us on rank 1 (250 us exposed). Correlations are 100 to 110. */
static void gpu_trace_two_ranks(struct gpu_trace *t, int rank)
{
    struct activities *a = &t->activities;
    int64_t second = rank == 0 ? 2230 : 2280, end = 2900 * US;
    const struct moments moments[] = {{1830 * US, end}, {2230 * US, end}, {1830 * US, end}, {2280 * US, end}};
    rank_trace_begin(&t->rank, rank, 2);
    record_timeline(&t->rank.timeline, second);
    activities_create(a, 100, 100);
    a->thread = (uint32_t)(4000 + rank);
    made_up_kernel(a, rank, 110, "adamw_kernel", 7, 1252, 2540, 2690);
    made_up_kernel(a, rank, 109, nccl_name, 20, 1210, second, 2530);
    wait(a, rank, 107, 1192);
    made_up_kernel(a, rank, 106, "gemm_b", 7, 1180, 1820, 2220);
    made_up_kernel(a, rank, 105, nccl_name, 20, 1150, 1830, 2130);
    wait(a, rank, 103, 1132);
    made_up_kernel(a, rank, 102, "gemm_b", 7, 1120, 1410, 1810);
    made_up_kernel(a, rank, 101, "void gemm_f<float>(float*, \"a\\b\")", 7, 1060, 1100, 1400);
    copy(a, rank);
    attribute(t); /* gives collectives the times of their kernels */
    rank_trace_finish(&t->rank, 1);
    collectives_find_last(&t->rank.collectives, 0, t->rank.collectives.n, moments);
    t->rank.trace.device = "cuda";
    t->rank.trace.comm = "nccl";
    t->rank.trace.comm_thread = 0;
    t->rank.trace.gpu = &made_up_gpus[rank];
    t->rank.trace.seen = t->rank.trace.of_rank = made_up_gpus;
    t->rank.trace.gpus = 2;
    t->rank.trace.nccl_version = "2.28.9";
    t->rank.trace.activities = a;
}

static void gpu_trace_destroy(struct gpu_trace *t)
{
    rank_trace_destroy(&t->rank);
    activities_destroy(&t->activities);
}

static struct gpu_trace gpu; /* the trace under test, of the made-up step */
static cJSON *json;

static void write_and_parse(void)
{
    json = trace_parse(trace_text(&gpu.rank.trace));
}

/* Writes the trace again after a test has added activities to those of gpu_trace_two_ranks. */
static void settle_and_write(void)
{
    attribute(&gpu);
    write_and_parse();
}

static void teardown(void)
{
    json = NULL;
    gpu_trace_destroy(&gpu);
    gpu = (struct gpu_trace){0};
}

/* Returns the i-th row of a category; NULL if there are fewer rows. */
static const cJSON *in_category(const char *category, int i)
{
    const cJSON *row;
    cJSON_ArrayForEach(row, row_member(json, "traceEvents"))
    {
        const cJSON *cat = cJSON_GetObjectItemCaseSensitive(row, "cat");
        if (cat && !strcmp(cat->valuestring, category) && i-- == 0)
            return row;
    }
    return NULL;
}

static int count_category(const char *category)
{
    int n = 0;
    while (in_category(category, n))
        n++;
    return n;
}

static const cJSON *with_correlation(const char *category, int correlation)
{
    const cJSON *row;
    for (int i = 0; (row = in_category(category, i)); i++)
        if (row_number(row, "correlation") == correlation)
            return row;
    ck_abort_msg("no %s with correlation %d", category, correlation);
}

static void check_span(const cJSON *row, const char *name, double ts, double dur)
{
    ck_assert_str_eq(row_text(row, "name"), name);
    ck_assert_double_eq_tol(row_number(row, "ts"), ts, 1e-9);
    ck_assert_double_eq_tol(row_number(row, "dur"), dur, 1e-9);
}

/* ---- traces with a tracer's records ---- */

/* The trace has the GPU's properties at the top; kernels and copies on their streams, with their calls, operations and
 * flows; kernels of NCCL as collectives; waits and the events they wait for; each phase at its time on the host and at
 * its time on the GPU; and an empty last step. */
TEST_EACH(two_ranks_with_known_answers, 2)
{
    static const char *const name[] = {"gpu_rank_0_trace.json", "gpu_rank_1_trace.json"};
    gpu_trace_two_ranks(&gpu, _i);
    trace_is(trace_text(&gpu.rank.trace), name[_i]);
}

/* In a merged trace, the processes, flows and ids of two ranks differ, even if each rank calls its GPU number 0. */
TEST(two_ranks_in_one)
{
    struct gpu_trace both[2];
    for (int r = 0; r < 2; r++) {
        gpu_trace_two_ranks(&both[r], r);
        both[r].rank.trace.gpu = &made_up_gpus[0];
    }
    struct rank_trace ranks[] = {both[0].rank, both[1].rank};
    trace_is(trace_text_merged(ranks, 0, 2), "gpu_all_ranks_trace.json");
    gpu_trace_destroy(&both[0]);
    gpu_trace_destroy(&both[1]);
}

/* If a collective has several kernels, their rows lack the collective's size, which would give a wrong rate. */
TEST(several_kernels_of_a_collective_only_belong_to_it)
{
    static const char *const name = "ncclDevKernel_AllReduce_Sum_f32_TREE_LL(ncclDevKernelArgsStorage<4096ul>)";
    gpu_trace_two_ranks(&gpu, 0);
    made_up_kernel(&gpu.activities, 0, 111, name, 20, 1214, 2531, 2540); /* launched by the second collective */
    made_up_kernel(&gpu.activities, 0, 112, name, 20, 1222, 2541, 2545); /* launched by no collective */
    settle_and_write();
    ck_assert_ptr_nonnull(row_argument(with_correlation("kernel", 105), "Collective name"));
    for (int correlation = 109; correlation <= 112; correlation++)
        ck_assert_ptr_null(row_argument(with_correlation("kernel", correlation), "Collective name"));
    double id = row_number(trace_row(json, "X", "nccl:all_reduce", 1), "External id");
    ck_assert_double_eq(row_number(with_correlation("kernel", 109), "External id"), id);
    ck_assert_double_eq(row_number(with_correlation("kernel", 111), "External id"), id);
    ck_assert_double_eq(row_number(with_correlation("cuda_runtime", 111), "External id"), id);
    ck_assert_double_eq(row_number(with_correlation("kernel", 112), "External id"), 0);
}

/* If the record of one collective's kernel is lost, the other collective is still recognised. */
TEST(collectives_are_recognised_without_the_others)
{
    gpu_trace_two_ranks(&gpu, 1);
    gpu.rank.alignment.offset_ns = 300 * US; /* applied to collectives below, but not to records of kernels */
    collectives_destroy(&gpu.rank.collectives);
    rank_trace_finish(&gpu.rank, 1);
    for (size_t i = 0; i < gpu.activities.n; i++)
        if (gpu.activities.of[i].correlation == 105 && gpu.activities.of[i].kind == ACTIVITY_KERNEL)
            gpu.activities.of[i].name = "something_else";
    settle_and_write();
    ck_assert_double_eq(row_number(with_correlation("kernel", 109), "Seq"), 2);
    ck_assert_ptr_null(row_argument(with_correlation("kernel", 105), "Collective name"));
}

/* A call that records an event is left out if no stream waits for the event, which is often used only for timing. */
TEST(events_that_nobody_waits_for_are_left_out)
{
    gpu_trace_two_ranks(&gpu, 0);
    activities_add(&gpu.activities, &(struct activity){.kind = ACTIVITY_CALL,
                                                       .correlation = 120,
                                                       .name = "cudaEventRecord",
                                                       .start_ns = 1065 * US,
                                                       .end_ns = 1066 * US,
                                                       .thread = 4000,
                                                       .call = {.marks = 1}});
    activities_add_mark(&gpu.activities, &(struct activity_mark){120, 1, 7, 9});
    settle_and_write();
    ck_assert_int_eq(trace_rows(json, "X", "cudaEventRecord"), 2);
}

/* A wait for an event that was recorded before the capture is shown as a call only, since its event has no row. */
TEST(waits_for_what_was_recorded_before_are_calls_only)
{
    gpu_trace_two_ranks(&gpu, 0);
    call(&gpu.activities, 0, 121, "cudaStreamWaitEvent", 1066, 0);
    activities_add(&gpu.activities, &(struct activity){.kind = ACTIVITY_WAIT,
                                                       .correlation = 121,
                                                       .name = "Stream Wait Event",
                                                       .start_ns = 1067 * US,
                                                       .end_ns = 1068 * US,
                                                       .context = 1,
                                                       .stream = 20,
                                                       .wait = {9, ACTIVITY_NONE, ACTIVITY_NONE}});
    settle_and_write();
    ck_assert_int_eq(trace_rows(json, "X", "cudaStreamWaitEvent"), 3);
    ck_assert_int_eq(trace_rows(json, "X", "Stream Wait Event"), 2);
}

/* A kernel belongs to the captured steps if the host launched it in one of them, even if the GPU ran it later. */
TEST(only_work_of_captured_steps_is_shown)
{
    gpu_trace_two_ranks(&gpu, 0);
    made_up_kernel(&gpu.activities, 0, 90, "before", 7, 990, 1050, 1060);
    made_up_kernel(&gpu.activities, 0, 130, "behind", 7, 1300, 2700, 2710);
    made_up_kernel(&gpu.activities, 0, 131, "last", 7, 1290, 2800, 2810);
    activities_add(&gpu.activities, &(struct activity){.kind = ACTIVITY_KERNEL,
                                                       .correlation = 999,
                                                       .name = "nobody's",
                                                       .start_ns = 1500 * US,
                                                       .end_ns = 1600 * US,
                                                       .stream = 7});
    settle_and_write();
    ck_assert_int_eq(trace_rows(json, "X", "before"), 0);
    ck_assert_int_eq(trace_rows(json, "X", "behind"), 0);
    ck_assert_int_eq(trace_rows(json, "X", "nobody's"), 0);
    ck_assert_int_eq(trace_rows(json, "X", "last"), 1);
    check_span(trace_row(json, "X", "ProfilerStep#2", 0), "ProfilerStep#2", 2811, 1);
}

/* Work on a stream runs in sequence, but if recorded times overlap, a second lane is used. */
TEST(rows_that_overlap_get_lanes)
{
    gpu_trace_two_ranks(&gpu, 0);
    made_up_kernel(&gpu.activities, 0, 140, "early", 7, 1230, 2219, 2545);
    settle_and_write();
    trace_check_lanes(json);
    const cJSON *early = trace_row(json, "X", "early", 0);
    ck_assert_double_eq(row_number(early, "stream"), 7);
    ck_assert(row_number(early, "tid") != 7);
    int named = 0;
    for (int i = 0; i < trace_rows(json, "M", "thread_name"); i++)
        named += row_number(trace_row(json, "M", "thread_name", i), "tid") == row_number(early, "tid");
    ck_assert_int_eq(named, 1);
}

/* ---- traces without some activities, without a tracer, with collectives on the host ---- */

TEST(activities_that_were_not_requested_are_left_out)
{
    gpu_trace_two_ranks(&gpu, 0);
    gpu.rank.trace.without_cuda = 1;
    write_and_parse();
    ck_assert_int_eq(count_category("kernel") + count_category("cuda_runtime") + count_category("cuda_sync") +
                         count_category("gpu_user_annotation") + count_category("ac2g"),
                     0);
    ck_assert_int_eq(count_category("cpu_op"), 4);
    gpu.rank.trace.without_cuda = 0;
    gpu.rank.trace.without_cpu = 1;
    write_and_parse();
    ck_assert_int_eq(count_category("cpu_op"), 0);
    ck_assert_int_eq(count_category("kernel"), 6);
    ck_assert_double_eq(row_number(with_correlation("kernel", 101), "External id"), 0);
    ck_assert_int_eq(trace_rows(json, "X", "ProfilerStep#1"), 1);
}

static int count_labels_with(const char *words)
{
    int said = 0;
    for (int i = 0; i < trace_rows(json, "M", "process_labels"); i++)
        said += strstr(row_text(trace_row(json, "M", "process_labels", i), "labels"), words) != NULL;
    return said;
}

/* Without a tracer, operations and collectives have the times of the device's stamps, and no row is a kernel. */
TEST(stamps_time_what_no_tracer_records)
{
    gpu_trace_two_ranks(&gpu, 0);
    write_and_parse();
    ck_assert_int_eq(count_labels_with("without a tracer"), 0);
    gpu.rank.trace.activities = NULL;
    gpu.rank.trace.untraced = "another tool traces";
    write_and_parse();
    ck_assert_int_eq(count_labels_with("NVIDIA H200; without a tracer, times are of CUDA events: another tool traces"),
                     1);
    ck_assert_int_eq(count_category("kernel") + count_category("cuda_runtime") + count_category("ac2g"), 0);
    const cJSON *host = trace_row(json, "X", "adamw", 0), *device = trace_row(json, "X", "adamw", 1);
    check_span(host, "adamw", 1250, 10);
    check_span(device, "adamw", 2540, 150);
    ck_assert_str_eq(row_text(device, "cat"), "gpu_user_annotation");
    ck_assert_double_eq(row_number(device, "pid"), 0);
    ck_assert_double_eq(row_number(device, "stream"), 7);
    ck_assert_double_eq(row_number(host, "External id"), row_number(device, "External id"));
    ck_assert_double_eq(row_number(host, "correlation"), row_number(device, "correlation"));
    const cJSON *reduction = trace_row(json, "X", "nccl:all_reduce", 3);
    check_span(reduction, "nccl:all_reduce", 2230, 300);
    ck_assert_double_eq(row_number(reduction, "stream"), 20);
    ck_assert_double_eq(row_number(reduction, "correlation"),
                        row_number(trace_row(json, "X", "nccl:all_reduce", 1), "correlation"));
    ck_assert_double_eq(row_number(reduction, "In msg nelems"), 35);
    trace_check_lanes(json);
}

/* Collectives of MPI run on the host, even of data on a GPU: their lane is a thread, not a stream of the GPU. */
TEST(collectives_of_the_host_stay_there)
{
    gpu_trace_two_ranks(&gpu, 0);
    gpu.rank.trace.nccl_version = NULL;
    gpu.rank.trace.comm = "mpi";
    gpu.rank.trace.comm_thread = 4100;
    write_and_parse();
    ck_assert_int_eq(trace_rows(json, "X", "mpi:all_reduce"), 2);
    const cJSON *row = trace_row(json, "X", "mpi:all_reduce", 0);
    ck_assert_str_eq(row_text(row, "cat"), "cpu_op");
    ck_assert_double_eq(row_number(row, "tid"), 4100);
    ck_assert_double_eq(row_number(row, "stream"), 0); /* not one of the GPU's streams, 7 and 20 */
    ck_assert_ptr_null(cJSON_GetObjectItemCaseSensitive(row_member(json, "distributedInfo"), "nccl_version"));
}

static int write_traces(const char *directory, const char *kind)
{
    int status = 0;
    for (int rank = 0; rank < 2; rank++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/ddp_rank_%d_trace.json", directory, rank);
        FILE *out = fopen(path, "w");
        if (!out) {
            perror(path);
            return 1;
        }
        gpu_trace_two_ranks(&gpu, rank);
        if (!strcmp(kind, "stamped")) {
            gpu.rank.trace.activities = NULL;
            gpu.rank.trace.untraced = "another tool traces";
        } else if (!strcmp(kind, "mpi")) {
            gpu.rank.trace.nccl_version = NULL;
            gpu.rank.trace.comm = "mpi";
            gpu.rank.trace.comm_thread = 4100;
            for (size_t i = 0; i < 2; i++) { /* the collectives complete within gradient_sync */
                gpu.rank.collectives.item[i].posted_ns = gpu.rank.collectives.item[i].queued_ns + 1 * US;
                gpu.rank.collectives.item[i].completed_ns = (1224 + (int64_t)i) * US;
            }
        }
        trace_write(&gpu.rank.trace, out, TRACE_WHOLE);
        status |= ferror(out) | fclose(out);
        gpu_trace_destroy(&gpu);
    }
    return status;
}

int main(int argc, char *argv[])
{
    return argc > 1 ? write_traces(argv[1], argc > 2 ? argv[2] : "")
                    : suite_run(suite_of_tests("trace gpu", NULL, teardown));
}
