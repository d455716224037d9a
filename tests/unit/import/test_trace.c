/* test_trace.c - traces of PyTorch with known answers, and made-up ones for what these lack. */
#include "import/import.h"

#include "ddp/plan.h"
#include "kernels/error.h"
#include "tests/support/saved.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STORED "tests/support/torch_traces/"

static struct imported got;
static const char *scratch;

static void setup(void)
{
    scratch = scratch_make();
}

static void teardown(void)
{
    import_destroy(&got);
    scratch_remove_all();
    error_clear();
}

static void read_file(const char *files)
{
    ck_assert_msg(!import_read(&got, "model-from", files), "%s: %s", files, error_text());
}

static void time_is(double seconds, double ms)
{
    ck_assert_msg(fabs(1e3 * seconds - ms) < 0.001, "%.4f ms, expected %.3f", 1e3 * seconds, ms);
}

/* ---- PyTorch's own traces ---- */

/* caps: as --bucket-size-mb takes what DDP was given; the times of step 4, its first and its last gradient. */
static const struct stored {
    const char *file, *caps;
    int rank;
    double first, last;
    int buckets;
    size_t bucket[14];
} stored[] = {
    {"cap1.rank0",
     "1",
     0,
     277.944,
     711.363,
     14,
     {514000, 262400, 263168, 263680, 262912, 263168, 263680, 262912, 263168, 263680, 262912, 263168, 263680, 512512}},
    {"cap4.rank0", "4", 0, 254.114, 656.825, 4, {1105872, 1250048, 1052928, 776192}},
    {"cap4.rank1", "4", 1, 226.813, 550.490, 4, {1105872, 1250048, 1052928, 776192}},
    {"cap8.rank0", "8", 0, 76.092, 215.134, 2, {2355920, 1829120}},
    {"capdefault.rank0", "1+25", 0, 152.302, 422.124, 2, {514000, 3671040}}};
enum { STORED_TRACES = sizeof stored / sizeof *stored };

TEST_EACH(gradients_of_a_cpu_trace_are_final_when_accumulate_grad_ends, STORED_TRACES)
{
    const struct stored *s = &stored[_i];
    char path[200];
    snprintf(path, sizeof path, STORED "%s.json.gz", s->file);
    read_file(path);
    const struct step_profile *p = &got.profile;
    ck_assert_int_eq(p->tensors, 51);
    ck_assert_uint_eq(p->steps, 3);
    ck_assert_int_eq(got.rank, s->rank);
    ck_assert_int_eq(got.ranks, 2);
    ck_assert_int_eq(got.on_gpu, 0);
    time_is(p->step[0].ready[50], s->first);
    time_is(p->step[0].ready[0], s->last);
    check_has(got.words, "51 tensors, 4.185 M parameters, 15.96 MiB of gradients, ready times from 3 steps of rank");
    for (size_t i = 0; i < p->steps; i++)
        ck_assert_double_lt(p->step[i].forward_end, p->step[i].ready[50]);
}

/* The all-reduces of the trace are what the rule of the plan cuts. */
TEST_EACH(buckets_of_ddp_are_those_of_the_plan, STORED_TRACES)
{
    const struct stored *s = &stored[_i];
    struct bucket_caps caps;
    struct plan plan;
    char path[200];
    snprintf(path, sizeof path, STORED "%s.json.gz", s->file);
    read_file(path);
    ck_assert_int_eq(got.buckets, s->buckets);
    ck_assert_int_eq(bucket_caps_parse(&caps, s->caps), 0);
    plan_create(&plan, got.profile.tensor, got.profile.tensors, &caps);
    ck_assert_int_eq(plan.n, s->buckets);
    for (int b = 0; b < s->buckets; b++) {
        ck_assert_uint_eq(got.bucket[b], s->bucket[b]);
        ck_assert_uint_eq(bucket_parameters(got.profile.tensor, &plan.bucket[b]), s->bucket[b]);
    }
    plan_destroy(&plan);
}

/* The optimizer, and what is neither backward, nor it, nor a wait, are of the trace; together they are the step. */
TEST(the_parts_of_a_step_are_the_step)
{
    read_file(STORED "cap8.rank0.json.gz");
    for (size_t i = 0; i < 3; i++) {
        const struct step_compute *c = &got.profile.step[i];
        ck_assert_double_gt(c->rest, 0);
        ck_assert_double_le(c->backward_end + c->update + c->rest, got.seconds[i] + 1e-9);
        ck_assert_double_gt(got.alone[2 * i] + got.alone[2 * i + 1], 0);
    }
    time_is(got.seconds[0], 343.049);
    time_is(got.profile.step[0].update, 73.292);
}

TEST(a_trace_without_sizes_needs_a_list)
{
    ck_assert_int_eq(import_read(&got, "model-from", STORED "cap4-noshapes.rank0.json.gz"), -1);
    check_has(error_text(), "record_shapes=True");
    error_clear();
    import_destroy(&got);
    read_file(STORED "cap4-noshapes.rank0.json.gz," STORED "parameters.json");
    time_is(got.profile.step[0].ready[50], 196.168);
    time_is(got.profile.step[0].ready[0], 480.292);
    check_has(got.assumed, "reverse order");
    ck_assert_str_eq(got.profile.tensor[0].name, "embedding.weight");
}

/* With sizes, the list gives names, and blocks. */
TEST(a_list_names_the_gradients_of_a_trace)
{
    read_file(STORED "cap4.rank0.json.gz");
    ck_assert_int_eq(got.has_layers, 0);
    import_destroy(&got);
    read_file(STORED "cap4.rank0.json.gz," STORED "parameters.json");
    ck_assert_int_eq(got.has_layers, 1);
    ck_assert_str_eq(got.assumed, "");
    ck_assert_str_eq(got.profile.tensor[0].name, "embedding.weight");
    ck_assert_int_eq(got.profile.tensor[0].layer, 0);
    ck_assert_str_eq(got.profile.tensor[1].name, "blocks.0.norm1.weight");
    ck_assert_int_eq(got.profile.tensor[1].layer, 1);
    ck_assert_int_eq(got.profile.tensor[50].layer, 5);
    import_destroy(&got);
    ck_assert_int_eq(import_read(&got, "model-from", STORED "cap4.rank0.json.gz," STORED "resnet50.json"), -1);
    check_has(error_text(), "a step has 51 gradients, but the list has 161");
}

/* Kernels run long after the host has launched them: the host's times would be 92.434 and 32.176 ms. */
TEST(gradients_of_a_gpu_trace_are_final_when_their_kernel_ends)
{
    static const double last[5] = {99.345, 0, 183.381, 183.314, 0}, first[5] = {36.026, 0, 120.274, 0, 0};
    static const size_t bucket[5] = {2049000, 7875584, 6563840, 6637568, 2431040};
    read_file(STORED "resnet50-nccl.rank0.json.gz," STORED "resnet50.json");
    ck_assert_int_eq(got.on_gpu, 1);
    ck_assert_int_eq(got.profile.tensors, 161);
    ck_assert_uint_eq(got.profile.steps, 5);
    for (int i = 0; i < 5; i++) {
        const struct step_compute *c = &got.profile.step[i];
        if (last[i] > 0)
            time_is(got.start[i] + c->ready[0], last[i]);
        if (first[i] > 0)
            time_is(got.start[i] + c->ready[160], first[i]);
    }
    ck_assert_int_eq(got.buckets, 5);
    for (int b = 0; b < 5; b++)
        ck_assert_uint_eq(got.bucket[b], bucket[b]);
    ck_assert_ptr_null(got.alone); /* one rank: no kernels of NCCL, and the host's times are not the collectives' */
}

/* ---- made-up traces ---- */

static FILE *out;
static int events;

static void begin(void)
{
    out = printing();
    events = 0;
    fprintf(out, "{\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 1, \"world_size\": 2}, \"traceEvents\": [");
}

/* Writes an event with JSON arguments. */
static void event(const char *category, const char *name, int thread, double ts, double dur, const char *arguments)
{
    fprintf(
        out,
        "%s{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": 1, \"tid\": %d, \"ts\": %.3f, \"dur\": %.3f, "
        "\"args\": {%s}}",
        events++ ? ",\n" : "", category, name, thread, ts, dur, arguments);
}

static void gradient_of(int thread, double end, int elements, const char *type)
{
    char arguments[100];
    snprintf(arguments, sizeof arguments, "\"Input Dims\": [[%d]], \"Input type\": [\"%s\"]", elements, type);
    event("cpu_op", "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", thread, end - 5, 20,
          "\"External id\": 1");
    event("cpu_op", "torch::autograd::AccumulateGrad", thread, end - 4, 4, arguments);
}

static void gradient(double end, int elements)
{
    gradient_of(1, end, elements, "float");
}

static void step(int number, double ts)
{
    char name[40];
    snprintf(name, sizeof name, "ProfilerStep#%d", number);
    event("user_annotation", name, 1, ts, 1000, "");
}

/* Ends the file; reads it, or returns the error. */
static int finish(void)
{
    static char path[300];
    fprintf(out, "]}\n");
    saved_file(scratch, "trace.json", printed());
    snprintf(path, sizeof path, "%s/trace.json", scratch);
    return import_read(&got, "model-from", path);
}

static void finish_well(void)
{
    ck_assert_msg(!finish(), "%s", error_text());
}

static void refused(const char *words)
{
    ck_assert_int_eq(finish(), -1);
    check_has(error_text(), words);
    ck_assert_ptr_null(strchr(error_text(), '\n'));
    error_clear();
}

/* The function around AccumulateGrad is the same gradient, and events may be in any order. */
TEST(a_gradient_counts_once_and_files_need_no_order)
{
    begin();
    gradient(2300, 7);
    step(2, 2000);
    gradient(1400, 5);
    gradient(1200, 7);
    step(1, 1000);
    gradient(2350, 5);
    finish_well();
    ck_assert_int_eq(got.profile.tensors, 2);
    ck_assert_uint_eq(got.profile.steps, 2);
    ck_assert_uint_eq(got.profile.tensor[1].count, 7);
    ck_assert_uint_eq(got.profile.tensor[0].count, 5);
    time_is(got.profile.step[0].ready[1], 0.2);
    time_is(got.profile.step[1].ready[0], 0.35);
}

/* Equal sizes in another order are the same tensors. */
TEST(gradients_are_matched_by_size_if_steps_differ_in_order)
{
    begin();
    step(1, 1000);
    gradient(1200, 5);
    gradient(1400, 7);
    step(2, 2000);
    gradient(2300, 7);
    gradient(2350, 5);
    finish_well();
    ck_assert_uint_eq(got.profile.tensor[1].count, 7);
    time_is(got.profile.step[0].ready[1], 0.4);
    time_is(got.profile.step[0].ready[0], 0.2);
}

/* A frozen parameter never has a gradient: the list's other ones are those of the trace. */
TEST(frozen_parameters_have_no_gradient)
{
    char files[600];
    saved_file(scratch, "list.json", "[[\"a\", [5], true], [\"frozen\", [7], false], [\"b\", [7], true]]");
    begin();
    step(1, 1000);
    gradient(1200, 7);
    gradient(1400, 5);
    finish_well();
    import_destroy(&got);
    snprintf(files, sizeof files, "%s/trace.json,%s/list.json", scratch, scratch);
    read_file(files);
    ck_assert_int_eq(got.profile.tensors, 2);
    ck_assert_str_eq(got.profile.tensor[1].name, "b");
    ck_assert_str_eq(got.profile.tensor[0].name, "a");
}

/* With two micro-batches, those of the last backward count. */
TEST(the_last_micro_batch_counts)
{
    begin();
    step(1, 1000);
    event("user_annotation", "DistributedDataParallel.forward", 1, 1010, 90, "");
    gradient(1200, 7);
    gradient(1300, 5);
    event("user_annotation", "DistributedDataParallel.forward", 1, 1400, 90, "");
    gradient(1600, 7);
    gradient(1700, 5);
    finish_well();
    ck_assert_int_eq(got.profile.tensors, 2);
    time_is(got.profile.step[0].ready[1], 0.6);
    time_is(got.profile.step[0].ready[0], 0.7);
    time_is(got.profile.step[0].forward_end, 0.595);
}

/* A forward behind the last gradient, such as that of an evaluation, is no micro-batch. */
TEST(a_forward_without_a_backward_does_not_count)
{
    begin();
    step(1, 1000);
    event("user_annotation", "DistributedDataParallel.forward", 1, 1010, 90, "");
    gradient(1200, 7);
    event("user_annotation", "DistributedDataParallel.forward", 1, 1400, 90, "");
    finish_well();
    ck_assert_uint_eq(got.profile.steps, 1);
    time_is(got.profile.step[0].ready[0], 0.2);
    time_is(got.profile.step[0].forward_end, 0.195);
}

/* A step that is cut has fewer gradients, also if it is the last one. */
TEST(a_step_that_is_cut_does_not_count)
{
    begin();
    step(1, 1000);
    gradient(1200, 7);
    step(2, 2000);
    gradient(2200, 7);
    gradient(2300, 5);
    step(3, 3000);
    gradient(3200, 7);
    finish_well();
    ck_assert_int_eq(got.profile.tensors, 2);
    ck_assert_uint_eq(got.profile.steps, 1);
    time_is(got.profile.step[0].ready[0], 0.3);
}

static void launch(int thread, double ts, int correlation, double kernel_ts, const char *kernel)
{
    char arguments[60];
    snprintf(arguments, sizeof arguments, "\"correlation\": %d", correlation);
    event("cuda_runtime", "cudaLaunchKernel", thread, ts, 2, arguments);
    event("kernel", kernel, 7, kernel_ts, 10, arguments);
}

/* Launches of DDP's hook, between the end of AccumulateGrad and of the function around it, never count; nor does
 * another thread's launch. A gradient without a launch of its own has that before it. */
TEST(launches_of_the_hook_and_of_other_threads_do_not_count)
{
    begin();
    step(1, 1000);
    launch(1, 1100, 1, 5000, "forward");
    launch(2, 1190, 2, 5100, "backward");
    gradient_of(2, 1200, 7, "float");
    launch(2, 1210, 3, 5900, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage)");
    launch(1, 1300, 4, 5800, "of another thread");
    gradient_of(2, 1400, 5, "float");
    launch(2, 1490, 5, 5200, "backward");
    gradient_of(2, 1500, 3, "float");
    finish_well();
    ck_assert_int_eq(got.on_gpu, 1);
    time_is(got.start[0], 4);
    time_is(got.profile.step[0].ready[2], 0.11);
    time_is(got.profile.step[0].ready[1], 0.11);
    time_is(got.profile.step[0].ready[0], 0.21);
}

/* NCCL's all-reduces have the times of their kernels, and are those of the step in which they were called. */
TEST(all_reduces_of_nccl_take_as_long_as_their_kernels)
{
    begin();
    step(1, 1000);
    launch(1, 1190, 2, 5100, "backward");
    gradient_of(1, 1200, 7, "float");
    event("cpu_op", "record_param_comms", 1, 1205, 5, "\"Collective name\": \"allreduce\", \"In msg nelems\": 7");
    launch(1, 1210, 3, 5300, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage)");
    event("cpu_op", "record_param_comms", 1, 1100, 5, "\"Collective name\": \"broadcast\", \"In msg nelems\": 9");
    finish_well();
    ck_assert_int_eq(got.buckets, 1);
    ck_assert_uint_eq(got.bucket[0], 7);
    time_is(got.alone[0], 0.010);
}

static const char nccl[] = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage)";

/* All-reduces before the first gradient, such as those of normalisation, have kernels of NCCL, too. */
TEST(kernels_of_nccl_belong_to_the_all_reduce_that_launched_them)
{
    static const char seven[] = "\"Collective name\": \"allreduce\", \"In msg nelems\": 7";
    begin();
    for (int i = 0; i < 2; i++) {
        double ts = 1000 * (i + 1);
        step(i, ts);
        event("cpu_op", "record_param_comms", 1, ts + 10, 5, seven);
        launch(1, ts + 11, 10 * i + 1, ts + 4010, nccl);
        launch(1, ts + 190, 10 * i + 2, ts + 4100, "backward");
        gradient_of(1, ts + 200, 7, "float");
        event("cpu_op", "record_param_comms", 1, ts + 205, 5, seven);
        event("cuda_runtime", "cudaLaunchKernel", 1, ts + 206, 2, i ? "\"correlation\": 13" : "\"correlation\": 3");
        event("kernel", nccl, 7, ts + 4300, i ? 70 : 30, i ? "\"correlation\": 13" : "\"correlation\": 3");
    }
    finish_well();
    ck_assert_int_eq(got.buckets, 1);
    time_is(got.alone[0], 0.030);
    time_is(got.alone[1], 0.070);
}

/* A hook may launch others behind its all-reduce. */
TEST(launches_of_the_hook_do_not_count_behind_its_all_reduce)
{
    begin();
    step(1, 1000);
    launch(1, 1190, 1, 5100, "backward");
    gradient_of(1, 1200, 7, "float");
    event("cpu_op", "record_param_comms", 1, 1202, 3, "\"Collective name\": \"allreduce\", \"In msg nelems\": 7");
    launch(1, 1203, 2, 5300, nccl);
    launch(1, 1210, 3, 5900, "of the hook");
    gradient_of(1, 1300, 5, "float");
    finish_well();
    time_is(got.profile.step[0].ready[0], 0.01);
}

/* Outside of a hook, too, a kernel of NCCL never makes a gradient final. */
TEST(launches_of_nccl_do_not_count)
{
    begin();
    step(1, 1000);
    launch(1, 1190, 1, 5100, "backward");
    gradient_of(1, 1200, 7, "float");
    launch(1, 1290, 2, 5200, "backward");
    event("cpu_op", "record_param_comms", 1, 1292, 3, "\"Collective name\": \"allreduce\", \"In msg nelems\": 9");
    launch(1, 1293, 3, 5900, nccl);
    gradient_of(1, 1300, 5, "float");
    finish_well();
    time_is(got.profile.step[0].ready[0], 0.11);
}

TEST(launches_of_hip_count)
{
    begin();
    step(1, 1000);
    event("cuda_runtime", "hipExtModuleLaunchKernel", 1, 1190, 2, "\"correlation\": 1");
    event("kernel", "backward", 7, 5100, 10, "\"correlation\": 1");
    gradient_of(1, 1200, 7, "float");
    finish_well();
    ck_assert_int_eq(got.on_gpu, 1);
    time_is(got.start[0], 4.1);
}

/* The last step of a GPU has no next one: it lasts as long as on the host, from its first kernel. */
TEST(the_last_step_of_a_gpu_lasts_as_long_as_on_the_host)
{
    begin();
    step(1, 1000);
    launch(1, 1190, 1, 5100, "backward");
    gradient_of(1, 1200, 7, "float");
    finish_well();
    time_is(got.seconds[0], 1);
}

/* Waits for all-reduces cannot be left out of a step if it is not known when these ended. */
TEST(waits_that_are_not_known_are_said)
{
    begin();
    step(1, 1000);
    launch(1, 1190, 1, 5100, "backward");
    gradient_of(1, 1200, 7, "float");
    event("cpu_op", "record_param_comms", 1, 1205, 3, "\"Collective name\": \"allreduce\", \"In msg nelems\": 7");
    finish_well();
    ck_assert_ptr_null(got.alone);
    check_has(got.assumed, "waits for all-reduces");
}

/* All gradients of a long file may stand before its steps. */
TEST(a_long_file_needs_no_order)
{
    enum { STEPS = 30000, GRADIENTS = 5 };
    begin();
    for (int i = 0; i < STEPS; i++)
        for (int g = 0; g < GRADIENTS; g++)
            gradient(1000 * (i + 1) + 100 * (g + 1), 7 + g);
    for (int i = STEPS; i-- > 0;)
        step(i, 1000 * (i + 1));
    finish_well();
    ck_assert_int_eq(got.profile.tensors, GRADIENTS);
    ck_assert_uint_eq(got.profile.steps, IMPORT_STEPS);
    time_is(got.profile.step[0].ready[0], 0.5);
}

/* Steps that begin together are as many as others. */
TEST(many_steps_at_once_are_still_the_last_ones)
{
    begin();
    for (int i = 0; i < 3000; i++) {
        step(i, 1000);
        gradient(1200, 7);
    }
    finish_well();
    ck_assert_uint_le(got.profile.steps, IMPORT_STEPS);
}

/* A step that lasts into the next one ends where that begins. */
TEST(a_gradient_is_of_one_step)
{
    begin();
    step(1, 1000);
    gradient(1200, 7);
    step(2, 1500);
    gradient(1700, 7);
    finish_well();
    ck_assert_uint_eq(got.profile.steps, 2);
    ck_assert_int_eq(got.profile.tensors, 1);
}

/* Numbers that no clock, thread or device has. */
TEST(impossible_numbers_are_harmless)
{
    begin();
    step(1, 1000);
    gradient(1200, 7);
    fprintf(out, ",{\"name\": \"torch::autograd::AccumulateGrad\", \"ts\": 1250, \"dur\": 1e999, \"tid\": 1}");
    fprintf(out, ",{\"name\": \"cudaLaunchKernel\", \"ts\": 1190, \"dur\": 1, \"tid\": 1e300, \"args\": "
                 "{\"correlation\": 1e300}}");
    fprintf(
        out,
        ",{\"name\": \"cudaLaunchKernel\", \"ts\": 1190, \"dur\": 1, \"tid\": 1, \"args\": {\"correlation\": 1e300}}");
    fprintf(out,
            ",{\"name\": \"k\", \"cat\": \"kernel\", \"ts\": 1190, \"dur\": 1, \"tid\": \"%s\", \"args\": "
            "{\"correlation\": 1e300}}",
            scratch);
    fprintf(out, ",{\"name\": \"cudaLaunchKernel\", \"ts\": 1190, \"dur\": 1, \"tid\": \"%s\", \"args\": {}}", scratch);
    finish_well();
    ck_assert_int_eq(got.profile.tensors, 1);
    ck_assert_int_ge(got.ranks, 1);
}

/* The tree of such an event would need far more memory than the whole file does. */
TEST(an_event_of_megabytes_does_not_count)
{
    enum { BYTES = 2 << 20 };
    char *arguments = kept(malloc(BYTES + 1));
    memset(arguments, ' ', BYTES);
    arguments[BYTES] = 0;
    begin();
    step(1, 1000);
    gradient(1200, 7);
    event("cpu_op", "torch::autograd::AccumulateGrad", 1, 1250, 4, arguments);
    finish_well();
    ck_assert_int_eq(got.profile.tensors, 1);
}

/* An all-reduce of a loss, or of a bitmap of unused parameters, is no bucket; those that do not have all gradients are
 * none at all, which is said. */
TEST(other_all_reduces_are_no_buckets)
{
    for (int lacking = 0; lacking < 2; lacking++) {
        begin();
        step(1, 1000);
        gradient(1200, 7);
        event("user_annotation", "gloo:all_reduce", 2, 1210, 20, "\"Input Dims\": [[7]]");
        gradient(1300, 5);
        if (!lacking)
            event("user_annotation", "gloo:all_reduce", 2, 1310, 30, "\"Input Dims\": [[5]]");
        event("user_annotation", "gloo:all_reduce", 2, 1350, 40, "\"Input Dims\": [[1]]");
        finish_well();
        ck_assert_int_eq(got.buckets, lacking ? 0 : 2);
        if (lacking)
            check_has(got.assumed, "do not divide these gradients");
        else
            time_is(got.alone[1], 0.03);
        import_destroy(&got);
    }
}

/* The GPU's copy of an annotation is no step. */
TEST(annotations_of_the_gpu_do_not_count)
{
    begin();
    step(1, 1000);
    gradient(1200, 7);
    event("gpu_user_annotation", "ProfilerStep#1", 7, 1150, 900, "");
    finish_well();
    ck_assert_uint_eq(got.profile.steps, 1);
    time_is(got.profile.step[0].ready[0], 0.2);
}

/* Only the last steps count, however long the file is. */
TEST(the_last_steps_count)
{
    begin();
    for (int i = 0; i < 100; i++) {
        step(i, 1000 * (i + 1));
        gradient(1000 * (i + 1) + 100 + i, 7);
    }
    finish_well();
    ck_assert_uint_eq(got.profile.steps, IMPORT_STEPS);
    time_is(got.profile.step[0].ready[0], 0.18);
    struct step_compute typical = step_compute_create(1);
    import_typical(&got, &typical);
    time_is(typical.ready[0], 0.1895);
    free(typical.ready);
}

TEST(what_cannot_be_replayed_is_refused)
{
    begin();
    gradient(1200, 7);
    refused("no steps");
    begin();
    step(1, 1000);
    refused("a trace of inference");
    begin();
    step(1, 1000);
    event("user_annotation", "FSDP::all_gather (layer)", 1, 1100, 10, "");
    refused("FSDP");
    begin();
    step(1, 1000);
    gradient_of(1, 1200, 7, "float");
    gradient_of(1, 1300, 7, "c10::BFloat16");
    refused("several types, float and c10::BFloat16");
    begin();
    step(1, 1000);
    event("cuda_runtime", "cudaGraphLaunch", 1, 1100, 10, "");
    gradient(1200, 7);
    refused("CUDA graphs");
    begin();
    step(1, 1000);
    event("cuda_runtime", "cudaLaunchKernel", 1, 1100, 10, "\"correlation\": 5");
    gradient(1200, 7);
    refused("lacks the kernel");
    begin();
    gradient(900, 7); /* before all steps */
    step(1, 1000);
    refused("no step has a gradient");
    begin();
    step(1, 1000);
    launch(1, 1190, 1, 5100, "backward");
    event("cuda_runtime", "cudaGraphLaunch", 1, 1195, 3, "\"correlation\": 2");
    gradient(1200, 7);
    refused("CUDA graphs");
    begin(); /* the step's only launch is before it */
    launch(1, 900, 1, 5100, "backward");
    gradient(950, 7);
    step(0, 0);
    step(1, 1000);
    gradient(1200, 7);
    refused("lacks the kernel");
}

TEST(what_is_assumed_is_said)
{
    begin();
    step(1, 1000);
    gradient_of(1, 1200, 7, "c10::BFloat16");
    finish_well();
    check_has(got.assumed, "type c10::BFloat16, and are fp32 here");
    import_destroy(&got);
    begin();
    step(1, 1000);
    event("cpu_op", "autograd::engine::evaluate_function: CompiledFunctionBackward", 1, 1100, 10, "");
    gradient(1200, 7);
    finish_well();
    check_has(got.assumed, "compiled");
}

SUITE("trace", setup, teardown)
