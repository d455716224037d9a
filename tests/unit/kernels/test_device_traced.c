/* test_device_traced.c - the traced device computes the same as the device it wraps, and records every operation,
 * range and allocation of a model once; tests/unit/ddp/test_step.c tests whole steps. */
#include "ddp/strategy.h"
#include "ddp/transformer.h"
#include "kernels/device_traced.h"
#include "kernels/error.h"
#include "tests/support/made_up.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static struct timeline timeline;

static void setup(void)
{
    made_up_create(&timeline, 20000);
}

static void teardown(void)
{
    timeline_destroy(&timeline);
}

/* ---- memory and ranges ---- */

TEST(allocations_leave_marks)
{
    static const size_t sizes[] = {1, 4097, 3UL << 20};
    const struct device *plain = device_cpu(1), *traced = device_traced(plain, &timeline, 1);
    ck_assert_str_eq(traced->name, plain->name);
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        unsigned char *memory = traced->allocate(sizes[i]), byte = 1;
        const struct span *mark = &timeline.lane[LANE_MEMORY].span[i];
        ck_assert_uint_eq(timeline.lane[LANE_MEMORY].n, i + 1);
        ck_assert_str_eq(mark->name, "allocate");
        ck_assert_uint_eq(mark->size[SIZE_BYTES], sizes[i]);
        ck_assert_uint_eq(mark->size[1], (uintptr_t)memory);
        ck_assert_int_eq(mark->start_ns, mark->end_ns);
        ck_assert_int_eq(memory[0] | memory[sizes[i] - 1], 0);
        traced->upload(memory, &byte, 1);
        byte = 0;
        traced->download(&byte, memory, 1);
        ck_assert_int_eq(byte, 1);
        traced->synchronize();
        traced->release(memory);
    }
    traced->release(NULL);
    for (int l = 0; l < LANE_MEMORY; l++)
        ck_assert_uint_eq(timeline.lane[l].n, 0);
}

TEST(ranges_nest)
{
    static const struct {
        const char *name;
        int number;
    } ended[] = {{"attention", 3}, {"feed_forward", 3}, {"block", 3}, {"output", -1}}; /* in the order of their ends */
    const struct device *traced = device_traced(device_cpu(1), &timeline, 1);
    float x[3];
    timeline.step = 2;
    traced->annotation_begin("ProfilerStep#%d", 1); /* an annotation adds no span */
    traced->range_begin("block", 3);
    traced->range_begin("attention", 3);
    traced->zero(x, 3);
    traced->range_end();
    traced->range_begin("feed_forward", 3);
    traced->range_end();
    traced->range_end();
    traced->range_begin("output", -1);
    traced->range_end();
    traced->annotation_end();
    const struct lane *host = &timeline.lane[LANE_HOST];
    const struct span *span = host->span, *zero = timeline.lane[LANE_COMPUTE].span;
    ck_assert_uint_eq(host->n, LENGTH(ended));
    for (size_t i = 0; i < host->n; i++) {
        ck_assert_str_eq(span[i].name, ended[i].name);
        ck_assert_int_eq(span[i].index, ended[i].number);
        ck_assert_int_eq(span[i].step, 2);
        ck_assert_int_le(span[i].start_ns, span[i].end_ns);
        ck_assert_int_eq(step_phase_of(&span[i]), -1);
    }
    ck_assert(span[2].start_ns <= span[0].start_ns && span[0].start_ns <= zero->start_ns);
    ck_assert(zero->end_ns <= span[0].end_ns && span[0].end_ns <= span[1].start_ns);
    ck_assert(span[1].end_ns <= span[2].end_ns && span[2].end_ns <= span[3].start_ns);
}

/* Ranges nested too deeply for the memory are left out; outer ranges are still recorded. */
TEST(too_deep_ranges_are_left_out)
{
    const struct device *traced = device_traced(device_cpu(1), &timeline, 1);
    const struct lane *host = &timeline.lane[LANE_HOST];
    for (int i = 0; i < 40; i++)
        traced->range_begin("deep", i);
    for (int i = 0; i < 40; i++)
        traced->range_end();
    ck_assert_uint_ge(host->n, 8);
    for (size_t i = 0; i < host->n; i++)
        ck_assert_int_eq(host->span[i].index, (int)(host->n - 1 - i));
    size_t n = host->n;
    traced->range_begin("again", 0);
    traced->range_end();
    ck_assert_uint_eq(host->n, n + 1);
    ck_assert_str_eq(host->span[n].name, "again");
}

/* ---- an asynchronous device ---- */

static int64_t stamps; /* number of recorded stamps; recording the n-th returns -n */

static int64_t count_stamp(void)
{
    return -++stamps;
}

static void nothing(void) {}

static const struct device *behind(int with_stamps)
{
    static struct device device;
    device = *device_cpu(1);
    device.asynchronous = 1;
    device.stamp = count_stamp;
    device.stamps_begin = nothing;
    stamps = 0;
    return device_traced(&device, &timeline, with_stamps);
}

/* An operation records one stamp, at its end; the previous stamp counts as its start. Ranges record no stamps. */
TEST(operations_share_stamps)
{
    const struct device *traced = behind(1);
    const struct span *operation = timeline.lane[LANE_COMPUTE].span, *range = timeline.lane[LANE_HOST].span;
    float x[3];
    traced->stamp(); /* stamp 1: a phase begins */
    traced->range_begin("block", 0);
    traced->zero(x, 3); /* stamp 2 */
    traced->zero(x, 3); /* stamp 3 */
    traced->stamp();    /* stamp 4 */
    traced->zero(x, 3); /* stamp 5 */
    traced->range_end();
    ck_assert_int_eq(stamps, 5);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(operation[i].start_ns, i < 2 ? -1 - i : -4);
        ck_assert_int_eq(operation[i].end_ns, i < 2 ? -2 - i : -5);
        ck_assert(operation[i].queued_ns > 0 && operation[i].queued_ns <= operation[i].returned_ns);
    }
    ck_assert(range->start_ns == -1 && range->end_ns == -5);
    traced->stamps_begin(); /* forgets all stamps */
    stamps = 0;
    traced->zero(x, 3);
    ck_assert(operation[3].start_ns == -1 && operation[3].end_ns == -2);
}

static void nothing_to_join(struct comm *comm, long ticket)
{
    (void)comm, (void)ticket;
}

/* A copy that follows a wait for communication starts at a stamp after the wait. */
TEST(waiting_is_not_part_of_an_operation)
{
    float x[3] = {0}, staged[3] = {0};
    struct bucket bucket = {.count = 3};
    struct comm comm = {.join = nothing_to_join};
    struct model model = {.device = behind(1), .gradient = x};
    struct reducer reducer = {.strategy = &strategy_ddp_individual_v2,
                              .traits = strategy_ddp_individual_v2.traits[VARIANT_PLAIN],
                              .model = &model,
                              .comm = &comm,
                              .plan = {.n = 1, .bucket = &bucket},
                              .state = staged};
    model.device->stamp(); /* stamp 1: the phase begins */
    strategy_ddp_individual_v2.finish(&reducer);
    ck_assert_int_eq(timeline.lane[LANE_COMPUTE].span->start_ns, -2);
}

TEST(a_tracer_replaces_stamps)
{
    const struct device *traced = behind(0);
    const struct span *operation = timeline.lane[LANE_COMPUTE].span, *range = timeline.lane[LANE_HOST].span;
    float x[3];
    traced->range_begin("block", 0);
    traced->zero(x, 3);
    traced->range_end();
    ck_assert_int_eq(stamps, 0);
    ck_assert(operation->start_ns == 0 && operation->end_ns == 0 && range->start_ns == 0 && range->end_ns == 0);
    ck_assert(range->queued_ns <= operation->queued_ns && operation->returned_ns <= range->returned_ns);
    ck_assert_int_eq(traced->stamp(), -1); /* a phase still records a stamp */
}

/* ---- a model ---- */

static const size_t layer_counts[] = {0, 1, 2, 5};

static float train_once(struct model *model, const struct device *device, size_t layers)
{
    static const int32_t token[12] = {0, 3, 6, 9, 12, 15, 18, 1, 4, 7, 10, 13},
                         order[] = {0, 7, 1, 8, 2, 9, 3, 4, 5, 6};
    struct model_sizes sizes = {2, 5, 19, 12, layers, 3, 10, 1};
    float loss = 0;
    transformer_plan(model, &sizes, sizeof(float));
    model_allocate(model, device, NULL, NULL);
    model->source->initialize(model, 3);
    model->source->forward(model, token, token + 2, &loss, 0.1f, 0.1f, NULL);
    model->source->backward(model, token, order, 0, NULL);
    return loss;
}

TEST_EACH(a_model_is_recorded, LENGTH(layer_counts))
{
    struct model plain, traced;
    float want = train_once(&plain, device_cpu(1), layer_counts[_i]);
    float got = train_once(&traced, device_traced(device_cpu(1), &timeline, 1), layer_counts[_i]);
    ck_assert_float_eq(got, want);
    ck_assert_mem_eq(traced.gradient, plain.gradient, plain.arena * sizeof *plain.gradient);
    ck_assert_uint_eq(timeline.lane[LANE_COMPUTE].n, traced.source->operations(&traced));
    for (size_t i = 0; i < timeline.lane[LANE_COMPUTE].n; i++) {
        const struct span *s = &timeline.lane[LANE_COMPUTE].span[i];
        size_t used = 0;
        while (used < SPAN_SIZES && s->size[used])
            used++;
        ck_assert_str_eq(s->name, operation_facts[s->index].name);
        ck_assert_uint_eq(used, strlen(operation_facts[s->index].sizes));
        ck_assert(s->queued_ns == s->start_ns && s->start_ns <= s->end_ns && s->returned_ns == s->end_ns);
    }
    ck_assert_uint_eq(timeline.lane[LANE_HOST].n, traced.source->ranges(&traced));
    ck_assert_uint_eq(timeline.lane[LANE_MEMORY].n, 3); /* weights, gradients, activations */
    ck_assert_uint_eq(timeline.lane[LANE_MEMORY].span[0].size[SIZE_BYTES], traced.arena * sizeof(float));
    ck_assert_uint_eq(timeline.lane[LANE_MEMORY].span[2].size[SIZE_BYTES], traced.activation_bytes);
    model_destroy(&plain);
    model_destroy(&traced);
}

/* The first record of each operation has the model's sizes: 2 x 5 tokens, vocabulary 19 (with padding 64), width 12, 3
 * heads, hidden width 10. */
TEST(recorded_sizes_are_those_of_the_model)
{
    static const struct {
        enum operation operation;
        size_t size[SPAN_SIZES];
    } known[] = {
        {OPERATION_EMBEDDING_FORWARD, {10, 12}},
        {OPERATION_EMBEDDING_BACKWARD, {10, 12, 19}},
        {OPERATION_LINEAR_FORWARD, {10, 12, 36}},
        {OPERATION_LINEAR_BACKWARD_INPUT, {10, 12, 64}},
        {OPERATION_LINEAR_BACKWARD_WEIGHT, {10, 12, 64}},
        {OPERATION_LINEAR_RESIDUAL_FORWARD, {10, 12, 12}},
        {OPERATION_RMSNORM_FORWARD, {10, 12}},
        {OPERATION_RMSNORM_BACKWARD, {10, 12}},
        {OPERATION_ROPE_FORWARD, {2, 5, 3, 4}},
        {OPERATION_ATTENTION_FORWARD, {2, 5, 3, 4}},
        {OPERATION_ATTENTION_BACKWARD, {2, 5, 3, 4}},
        {OPERATION_SWIGLU_FORWARD, {10, 10}},
        {OPERATION_SWIGLU_BACKWARD, {10, 10}},
        {OPERATION_CROSS_ENTROPY, {10, 19}},
    };
    struct model model;
    train_once(&model, device_traced(device_cpu(1), &timeline, 1), 1);
    const struct span *span = timeline.lane[LANE_COMPUTE].span, *end = span + timeline.lane[LANE_COMPUTE].n;
    for (size_t i = 0; i < LENGTH(known); i++) {
        const struct span *s = span;
        while (s < end && s->index != (int)known[i].operation)
            s++;
        ck_assert_msg(s < end && !memcmp(s->size, known[i].size, sizeof s->size), "wrong sizes of %s",
                      operation_facts[known[i].operation].name);
    }
    model_destroy(&model);
}

/* Matrix products take 6 FLOPs per token and parameter, as in model_flops, and per number of the padding. Causal
 * attention takes 2 T C FLOPs per token and layer forward, and 5 T C backward, which computes the scores again. */
TEST(recorded_work_is_that_of_the_model)
{
    struct model model;
    double products = 0, attention = 0;
    train_once(&model, device_traced(device_cpu(1), &timeline, 1), 2);
    for (size_t i = 0; i < timeline.lane[LANE_COMPUTE].n; i++) {
        const struct span *s = &timeline.lane[LANE_COMPUTE].span[i];
        const struct operation_facts *f = &operation_facts[s->index];
        double flops = operation_amount(f->flops, f->sizes, s->size, sizeof(float));
        products += strncmp(f->name, "linear", 6) ? 0 : flops;
        attention += strncmp(f->name, "attention", 9) ? 0 : flops;
    }
    ck_assert_double_eq(products, 6.0 * ((double)model.matmul_parameters + (64 - 19) * 12) * 10);
    ck_assert_double_eq(attention, 7.0 * 2 * 12 * 5 * 10);
    model_destroy(&model);
}

SUITE("traced", setup, teardown)
