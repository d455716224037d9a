/* test_gpu.c - traces of GPUs: rows of streams, calls, waits and flows from made-up records of a tracer, with
 * known answers, and what remains without one.
 *
 * With a directory as its argument it writes the traces of the two made-up ranks there, for other programs to read. */
#include "kernels/error.h"
#include "tests/support/made_up.h"
#include "tests/support/made_up_gpu.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static struct gpu_trace gpu;
static cJSON *json;

static void write_and_parse(void)
{
    char *text = trace_text(&gpu.rank.trace);
    cJSON_Delete(json);
    json = trace_parse(text);
    free(text);
}

/* After more activities were added to those of gpu_trace_two_ranks. */
static void settle_and_write(void)
{
    activities_settle(&gpu.activities);
    write_and_parse();
}

static void teardown(void)
{
    cJSON_Delete(json);
    json = NULL;
    gpu_trace_destroy(&gpu);
    gpu = (struct gpu_trace){0};
}

/* The i-th row of a category; NULL if there are no more. */
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

static void check_text(const cJSON *row, const char *argument, const char *want)
{
    char *text = cJSON_PrintUnformatted(row_argument(row, argument));
    ck_assert_msg(text && !strcmp(text, want), "%s is %s, not %s", argument, text ? text : "none", want);
    free(text);
}

/* ---- with a tracer ---- */

START_TEST(the_top_names_the_gpu)
{
    gpu_trace_two_ranks(&gpu, 1);
    write_and_parse();
    const cJSON *info = row_member(json, "distributedInfo");
    char *properties = cJSON_PrintUnformatted(row_member(json, "deviceProperties"));
    ck_assert_str_eq(properties,
                     "[{\"id\":1,\"name\":\"NVIDIA H200\",\"totalGlobalMem\":150110011392,\"computeMajor\":9,"
                     "\"computeMinor\":0,\"maxThreadsPerBlock\":1024,\"maxThreadsPerMultiprocessor\":2048,"
                     "\"regsPerBlock\":65536,\"warpSize\":32,\"sharedMemPerBlock\":49152,\"numSms\":132}]");
    free(properties);
    ck_assert_str_eq(row_text(info, "backend"), "nccl");
    ck_assert_str_eq(row_text(info, "nccl_version"), "2.28.9");
    ck_assert_str_eq(row_text(row_member(info, "pg_config")->child, "backend_config"), "cuda:nccl");
}
END_TEST

START_TEST(kernels_are_rows_of_their_stream)
{
    gpu_trace_two_ranks(&gpu, _i);
    write_and_parse();
    ck_assert_int_eq(count_category("kernel"), 6);
    const cJSON *kernel = with_correlation("kernel", 101);
    check_span(kernel, "void gemm_f<float>(float*, \"a\\b\")", 1100, 300);
    ck_assert_double_eq(row_number(kernel, "pid"), _i);
    ck_assert_double_eq(row_number(kernel, "tid"), 7);
    ck_assert_double_eq(row_number(kernel, "device"), _i);
    ck_assert_double_eq(row_number(kernel, "context"), 1);
    ck_assert_double_eq(row_number(kernel, "stream"), 7);
    ck_assert_double_eq(row_number(kernel, "registers per thread"), 40);
    ck_assert_double_eq(row_number(kernel, "shared memory"), 1024);
    ck_assert_double_eq(row_number(kernel, "blocks per SM"), 2);
    ck_assert_double_eq(row_number(kernel, "warps per SM"), 16);
    check_text(kernel, "grid", "[264,1,1]");
    check_text(kernel, "block", "[128,2,1]");
    const cJSON *copy = in_category("gpu_memcpy", 0);
    check_span(copy, "Memcpy HtoD (Pinned -> Device)", 1040, 50);
    ck_assert_double_eq(row_number(copy, "bytes"), 65536);
    ck_assert_double_eq_tol(row_number(copy, "memory bandwidth (GB/s)"), 65536.0 / 50000, 1e-5);
    ck_assert_int_eq(count_category("gpu_memcpy"), 1);
    trace_check_lanes(json);
}
END_TEST

/* Host rows are when the host asked for it. */
START_TEST(the_host_is_ahead_of_the_gpu)
{
    gpu_trace_two_ranks(&gpu, 0);
    write_and_parse();
    check_span(trace_row(json, "X", "ProfilerStep#1", 0), "ProfilerStep#1", 1000, 300);
    check_span(trace_row(json, "X", "warmup_epoch_1 (lr=0.25)", 0), "warmup_epoch_1 (lr=0.25)", 1000, 300);
    check_span(trace_row(json, "X", "linear_forward", 0), "linear_forward", 1058, 10);
    ck_assert_ptr_null(row_argument(trace_row(json, "X", "linear_forward", 0), "stream"));
    ck_assert_int_eq(trace_rows(json, "X", "backward_pass"), 2);
    const cJSON *host = trace_row(json, "X", "backward_pass", 0), *device = trace_row(json, "X", "backward_pass", 1);
    check_span(host, "backward_pass", 1100, 120);
    ck_assert_str_eq(row_text(host, "cat"), "user_annotation");
    check_span(device, "backward_pass", 1405, 817);
    ck_assert_str_eq(row_text(device, "cat"), "gpu_user_annotation");
    ck_assert_ptr_null(row_argument(device, "stream")); /* or analysers would take it for work */
    ck_assert_double_eq(row_number(host, "External id"), row_number(device, "External id"));
    check_span(trace_row(json, "X", "ProfilerStep#2", 0), "ProfilerStep#2", 2751, 1); /* behind the GPU's last phase */
}
END_TEST

START_TEST(calls_belong_to_operations)
{
    static const struct {
        int correlation;
        const char *operation;
    } calls[] = {
        {101, "linear_forward"}, {102, "linear_backward_weight"}, {106, "linear_backward_input"}, {110, "adamw"}};
    gpu_trace_two_ranks(&gpu, 1);
    write_and_parse();
    for (size_t i = 0; i < LENGTH(calls); i++) {
        double id = row_number(trace_row(json, "X", calls[i].operation, 0), "External id");
        ck_assert_double_eq(row_number(with_correlation("kernel", calls[i].correlation), "External id"), id);
        ck_assert_double_eq(row_number(with_correlation("cuda_runtime", calls[i].correlation), "External id"), id);
    }
    const cJSON *launch = with_correlation("cuda_runtime", 101);
    check_span(launch, "cudaLaunchKernelExC", 1060, 5);
    ck_assert_double_eq(row_number(launch, "cbid"), 211);
    ck_assert_double_eq(row_number(launch, "tid"), 4001);
    ck_assert_double_eq(row_number(with_correlation("cuda_runtime", 100), "External id"), 0); /* an upload */
}
END_TEST

START_TEST(calls_of_another_thread_belong_to_none)
{
    gpu_trace_two_ranks(&gpu, 0);
    for (size_t i = 0; i < gpu.activities.n; i++)
        if (gpu.activities.of[i].correlation == 101 && gpu.activities.of[i].kind == ACTIVITY_CALL) {
            gpu.activities.of[i].thread = 4711;
            gpu.activities.of[i].call.driver = 1;
        }
    write_and_parse();
    const cJSON *call = with_correlation("cuda_driver", 101);
    ck_assert_double_eq(row_number(call, "tid"), 4711);
    ck_assert_double_eq(row_number(call, "External id"), 0);
    ck_assert_double_eq(row_number(with_correlation("kernel", 101), "External id"), 0);
}
END_TEST

START_TEST(nccl_kernels_are_collectives)
{
    static const struct {
        int correlation;
        double elements, ts[2], dur[2];
    } want[] = {{105, 105, {1830, 1830}, {300, 300}}, {109, 35, {2230, 2280}, {300, 250}}};
    gpu_trace_two_ranks(&gpu, _i);
    write_and_parse();
    for (int i = 0; i < 2; i++) {
        const cJSON *kernel = with_correlation("kernel", want[i].correlation);
        check_span(kernel, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", want[i].ts[_i],
                   want[i].dur[_i]);
        ck_assert_double_eq(row_number(kernel, "tid"), 20);
        ck_assert_double_eq(row_number(kernel, "stream"), 20);
        ck_assert_str_eq(row_text(kernel, "Collective name"), "allreduce");
        ck_assert_double_eq(row_number(kernel, "In msg nelems"), want[i].elements);
        ck_assert_double_eq(row_number(kernel, "Out msg nelems"), want[i].elements);
        ck_assert_double_eq(row_number(kernel, "Group size"), 2);
        ck_assert_str_eq(row_text(kernel, "dtype"), "Float");
        ck_assert_str_eq(row_text(kernel, "Process Group Name"), "0");
        ck_assert_str_eq(row_text(kernel, "Process Group Ranks"), "[0, 1]");
        ck_assert_double_eq(row_number(kernel, "Seq"), i + 1);
        ck_assert_double_eq(row_number(kernel, "bucket"), i);
        ck_assert_double_eq(row_number(kernel, "bytes"), 4 * want[i].elements);
        const cJSON *host = trace_row(json, "X", "nccl:all_reduce", i);
        check_span(host, "nccl:all_reduce", 1147 + 60 * i, 10);
        ck_assert_str_eq(row_text(host, "cat"), "user_annotation");
        ck_assert_double_eq(row_number(host, "External id"), row_number(kernel, "External id"));
        ck_assert_double_eq(row_number(with_correlation("cuda_runtime", want[i].correlation), "External id"),
                            row_number(kernel, "External id"));
    }
    ck_assert_int_eq(trace_rows(json, "X", "nccl:all_reduce"), 2); /* no lane of the host for them */
    ck_assert_ptr_null(row_argument(with_correlation("kernel", 101), "Collective name"));
    ck_assert_double_eq_tol(row_number(with_correlation("kernel", 109), "wait_us"), _i ? 0 : 50, 1e-9);
}
END_TEST

/* What analysers compute from a collective's size and a kernel's time would be wrong for a part of it. */
START_TEST(several_kernels_of_a_collective_only_belong_to_it)
{
    static const char *const name = "ncclDevKernel_AllReduce_Sum_f32_TREE_LL(ncclDevKernelArgsStorage<4096ul>)";
    gpu_trace_two_ranks(&gpu, 0);
    made_up_kernel(&gpu.activities, 0, 111, name, 20, 1214, 2531, 2540); /* in the call of the second collective */
    made_up_kernel(&gpu.activities, 0, 112, name, 20, 1222, 2541, 2545); /* in none */
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
END_TEST

/* Records get lost; what is left still is what it is. */
START_TEST(collectives_are_told_apart_without_the_others)
{
    gpu_trace_two_ranks(&gpu, 1);
    gpu.rank.alignment.before.offset_ns = 300 * US; /* which times of collectives have in them already */
    collectives_destroy(&gpu.rank.collectives);
    rank_trace_finish(&gpu.rank, 1);
    for (size_t i = 0; i < gpu.activities.n; i++)
        if (gpu.activities.of[i].correlation == 105 && gpu.activities.of[i].kind == ACTIVITY_KERNEL)
            gpu.activities.of[i].name = "something_else";
    write_and_parse();
    ck_assert_double_eq(row_number(with_correlation("kernel", 109), "Seq"), 2);
    ck_assert_ptr_null(row_argument(with_correlation("kernel", 105), "Collective name"));
}
END_TEST

START_TEST(flows_lead_from_calls_to_what_they_led_to)
{
    gpu_trace_two_ranks(&gpu, _i);
    write_and_parse();
    ck_assert_int_eq(trace_rows(json, "s", "ac2g"), 7); /* kernels and the copy */
    ck_assert_int_eq(trace_rows(json, "f", "ac2g"), 7);
    for (int i = 0; i < 7; i++) {
        const cJSON *from = trace_row(json, "s", "ac2g", i), *to = trace_row(json, "f", "ac2g", i);
        double id = row_number(from, "id"), correlation = id - _i * 4294967296.0;
        ck_assert_double_eq(row_number(to, "id"), id);
        ck_assert_str_eq(row_text(to, "bp"), "e");
        const cJSON *call = with_correlation("cuda_runtime", (int)correlation);
        const cJSON *row = with_correlation(correlation == 100 ? "gpu_memcpy" : "kernel", (int)correlation);
        const char *const same[] = {"pid", "tid", "ts"};
        for (size_t k = 0; k < LENGTH(same); k++) {
            ck_assert_double_eq(row_number(from, same[k]), row_number(call, same[k]));
            ck_assert_double_eq(row_number(to, same[k]), row_number(row, same[k]));
        }
    }
}
END_TEST

START_TEST(waits_name_what_they_wait_for)
{
    gpu_trace_two_ranks(&gpu, 0);
    write_and_parse();
    ck_assert_int_eq(count_category("cuda_sync"), 2);
    for (int i = 0; i < 2; i++) {
        const cJSON *wait = with_correlation("cuda_sync", 104 + 4 * i);
        check_span(wait, "Stream Wait Event", 1139 + 60 * i, 2);
        ck_assert_str_eq(row_text(wait, "cuda_sync_kind"), "Stream Wait Event");
        ck_assert_double_eq(row_number(wait, "stream"), 20);
        ck_assert_double_eq(row_number(wait, "wait_on_stream"), 7);
        ck_assert_double_eq(row_number(wait, "wait_on_cuda_event_record_corr_id"), 103 + 4 * i);
        ck_assert_double_eq(row_number(wait, "wait_on_cuda_event_id"), 5);
        check_span(with_correlation("cuda_runtime", 103 + 4 * i), "cudaEventRecord", 1132 + 60 * i, 5);
    }
    trace_check_lanes(json);
}
END_TEST

/* Events that only take a time are many; nobody waits for them. */
START_TEST(events_that_nobody_waits_for_are_left_out)
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
END_TEST

START_TEST(a_wait_for_what_is_not_known_says_so)
{
    gpu_trace_two_ranks(&gpu, 0);
    gpu.activities.marks = 0;
    for (size_t i = 0; i < gpu.activities.n; i++)
        if (gpu.activities.of[i].kind == ACTIVITY_WAIT) {
            gpu.activities.of[i].wait.stream = gpu.activities.of[i].wait.correlation = ACTIVITY_NONE;
            gpu.activities.of[i].wait.event = gpu.activities.of[i].correlation == 104 ? 5 : ACTIVITY_NONE;
        }
    settle_and_write();
    const cJSON *event = with_correlation("cuda_sync", 104), *stream = with_correlation("cuda_sync", 108);
    ck_assert_double_eq(row_number(event, "wait_on_stream"), -1);
    ck_assert_double_eq(row_number(event, "wait_on_cuda_event_record_corr_id"), -1);
    ck_assert_ptr_null(row_argument(stream, "wait_on_stream"));
}
END_TEST

/* What the host asked for before, between or behind the captured steps does not belong to them, whenever the GPU did
 * it; what it asked for in them belongs to them. */
START_TEST(only_captured_steps_are_told_of)
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
END_TEST

/* Streams run one piece of work after the other, but not always by their times. */
START_TEST(rows_that_overlap_get_lanes)
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
END_TEST

START_TEST(ranks_differ_in_the_merged_trace)
{
    struct gpu_trace other;
    gpu_trace_two_ranks(&gpu, 0);
    gpu_trace_two_ranks(&other, 1);
    gpu.rank.trace.gpu_index = other.rank.trace.gpu_index = 0; /* each sees its own only */
    struct rank_trace both[] = {gpu.rank, other.rank};
    char *text = trace_text_merged(both, 0, 2);
    json = trace_parse(text);
    free(text);
    gpu_trace_destroy(&other);
    trace_check_lanes(json);
    int processes = trace_rows(json, "M", "process_name");
    ck_assert_int_eq(processes, 4);
    for (int i = 0; i < processes; i++)
        for (int j = 0; j < i; j++)
            ck_assert(row_number(trace_row(json, "M", "process_name", i), "pid") !=
                      row_number(trace_row(json, "M", "process_name", j), "pid"));
    for (int i = 0; i < 14; i++)
        for (int j = 0; j < i; j++)
            ck_assert(row_number(trace_row(json, "s", "ac2g", i), "id") !=
                      row_number(trace_row(json, "s", "ac2g", j), "id"));
}
END_TEST

/* ---- choices ---- */

START_TEST(activities_that_were_not_asked_for_are_not_there)
{
    gpu_trace_two_ranks(&gpu, 0);
    gpu.rank.trace.without_cuda = 1;
    write_and_parse();
    ck_assert_int_eq(count_category("kernel") + count_category("cuda_runtime") + count_category("cuda_sync") +
                         count_category("gpu_user_annotation") + trace_rows(json, "s", NULL),
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
END_TEST

static int labels_say(const char *words)
{
    int said = 0;
    for (int i = 0; i < trace_rows(json, "M", "process_labels"); i++)
        said += strstr(row_text(trace_row(json, "M", "process_labels", i), "labels"), words) != NULL;
    return said;
}

/* Without a tracer the device's stamps tell of operations and collectives; nothing is called a kernel. */
START_TEST(stamps_tell_where_there_is_no_tracer)
{
    gpu_trace_two_ranks(&gpu, 0);
    write_and_parse();
    ck_assert_int_eq(labels_say("without a tracer"), 0);
    gpu.rank.trace.activities = NULL;
    gpu.rank.trace.untraced = "another tool traces";
    write_and_parse();
    ck_assert_int_eq(labels_say("NVIDIA H200; without a tracer, times are of CUDA events: another tool traces"), 1);
    ck_assert_int_eq(count_category("kernel") + count_category("cuda_runtime") + trace_rows(json, "s", NULL), 0);
    const cJSON *host = trace_row(json, "X", "adamw", 0), *device = trace_row(json, "X", "adamw", 1);
    check_span(host, "adamw", 1250, 10);
    check_span(device, "adamw", 2540, 150);
    ck_assert_str_eq(row_text(device, "cat"), "gpu_user_annotation");
    ck_assert_double_eq(row_number(device, "pid"), 0);
    ck_assert_double_eq(row_number(device, "stream"), 7);
    ck_assert_double_eq(row_number(host, "External id"), row_number(device, "External id"));
    const cJSON *reduction = trace_row(json, "X", "nccl:all_reduce", 3);
    check_span(reduction, "nccl:all_reduce", 2229, 302);
    ck_assert_double_eq(row_number(reduction, "stream"), 20);
    ck_assert_double_eq(row_number(reduction, "In msg nelems"), 35);
    trace_check_lanes(json);
}
END_TEST

/* MPI works on the host, whatever computes: its lane is a thread, and no stream of the GPU has its number. */
START_TEST(collectives_of_the_host_stay_there)
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
    ck_assert_double_eq(row_number(row, "stream"), 100020);
    ck_assert_ptr_null(cJSON_GetObjectItemCaseSensitive(row_member(json, "distributedInfo"), "nccl_version"));
}
END_TEST

START_TEST(memory_is_the_gpus)
{
    gpu_trace_two_ranks(&gpu, 1);
    timeline_add(&gpu.rank.timeline, LANE_MEMORY, (struct span){.name = "allocate", .size = {16, 64}});
    gpu.rank.trace.memory = 1;
    write_and_parse();
    const cJSON *row = trace_row(json, "i", "[memory]", 0);
    ck_assert_double_eq(row_number(row, "Device Type"), 1);
    ck_assert_double_eq(row_number(row, "Device Id"), 1);
}
END_TEST

static int write_to(void *file, const char *text, size_t n)
{
    return fwrite(text, 1, n, file) == n ? 0 : error_report("cannot write");
}

static int write_traces(const char *directory)
{
    int status = 0;
    for (int rank = 0; rank < 2; rank++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/ddp_rank_%d_trace.json", directory, rank);
        struct trace_sink sink = {write_to, fopen(path, "w")};
        if (!sink.context) {
            perror(path);
            return 1;
        }
        gpu_trace_two_ranks(&gpu, rank);
        gpu.rank.trace.activities = getenv("WITHOUT_TRACER") ? NULL : &gpu.activities;
        status |= trace_write(&gpu.rank.trace, &sink) != 0;
        status |= fclose(sink.context) != 0;
        gpu_trace_destroy(&gpu);
    }
    return status;
}

int main(int argc, char *argv[])
{
    if (argc > 1)
        return write_traces(argv[1]);
    Suite *suite = suite_create("trace gpu");
    TCase *tests = tcase_create("trace device");
    tcase_add_checked_fixture(tests, NULL, teardown);
    tcase_add_test(tests, the_top_names_the_gpu);
    tcase_add_loop_test(tests, kernels_are_rows_of_their_stream, 0, 2);
    tcase_add_test(tests, the_host_is_ahead_of_the_gpu);
    tcase_add_test(tests, calls_belong_to_operations);
    tcase_add_test(tests, calls_of_another_thread_belong_to_none);
    tcase_add_loop_test(tests, nccl_kernels_are_collectives, 0, 2);
    tcase_add_test(tests, several_kernels_of_a_collective_only_belong_to_it);
    tcase_add_test(tests, collectives_are_told_apart_without_the_others);
    tcase_add_loop_test(tests, flows_lead_from_calls_to_what_they_led_to, 0, 2);
    tcase_add_test(tests, waits_name_what_they_wait_for);
    tcase_add_test(tests, events_that_nobody_waits_for_are_left_out);
    tcase_add_test(tests, a_wait_for_what_is_not_known_says_so);
    tcase_add_test(tests, only_captured_steps_are_told_of);
    tcase_add_test(tests, rows_that_overlap_get_lanes);
    tcase_add_test(tests, ranks_differ_in_the_merged_trace);
    tcase_add_test(tests, activities_that_were_not_asked_for_are_not_there);
    tcase_add_test(tests, stamps_tell_where_there_is_no_tracer);
    tcase_add_test(tests, collectives_of_the_host_stay_there);
    tcase_add_test(tests, memory_is_the_gpus);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
