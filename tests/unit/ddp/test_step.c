/* test_step.c - the memory that is reserved for spans holds what steps record, for every strategy, with and
 * without tracing, and tracing changes nothing that is trained. */
#include "kernels/device_traced.h"
#include "kernels/error.h"
#include "tests/support/made_up.h"
#include "tests/support/suite.h"

#include "ddp/comm_self.h"
#include <stdlib.h>
#include <string.h>

enum { STEPS = 2 };

/* One way of training; struct one_rank holds everything that it takes, on one rank. */
struct way {
    const struct strategy *strategy;
    size_t layers, micro_batches;
    long warmup_steps; /* up to that step gradients are clipped */
    int log_grad_norm, traced, after_backward;
};

struct one_rank {
    struct timeline timeline;
    struct model model;
    struct data *data;
    struct comm *comm;
    struct reducer reducer;
    struct trainer trainer;
    size_t spans[TIMELINE_LANES]; /* of one step */
};

static void one_rank_create(struct one_rank *one, const struct way *way)
{
    struct model_sizes sizes = {2, 5, 19, 12, way->layers, 3, 10, 10000};
    struct data_options options = {"synthetic", 19, 5, 2 * way->micro_batches, way->micro_batches, 1, 0, 1, 1, 1};
    size_t capacity[TIMELINE_LANES];
    struct adamw adamw = {0.9f, 0.999f, 1e-8f, 0.01f};
    *one = (struct one_rank){.data = NULL};
    model_plan(&one->model, &sizes, sizeof(float));
    step_spans(&one->model, way->micro_batches, way->traced, one->spans);
    for (int l = 0; l < TIMELINE_LANES; l++)
        capacity[l] = STEPS * one->spans[l];
    timeline_create(&one->timeline, capacity);
    const struct device *plain = device_cpu(1), *device = way->traced ? device_traced(plain, &one->timeline, 1) : plain;
    model_allocate(&one->model, plain, NULL);
    model_initialize(&one->model, 1);
    ck_assert_int_eq(data_create(&one->data, &options), 0);
    one->comm = comm_self_create(one->model.device, &one->timeline);
    one->trainer = (struct trainer){.device = plain,
                                    .model = &one->model,
                                    .data = one->data,
                                    .schedule = {0.01f, way->warmup_steps},
                                    .timeline = &one->timeline,
                                    .ranks = 1,
                                    .micro_batches = way->micro_batches,
                                    .max_norm = 0.1f,
                                    .log_grad_norm = way->log_grad_norm};
    trainer_create(&one->trainer, &adamw, STEPS);
    reducer_create(&one->reducer, way->strategy, &one->model, one->comm, 1000, COMM_BF16);
    one->reducer.after_backward = way->after_backward;
    trainer_use(&one->trainer, device, &one->reducer);
    timeline_clear(&one->timeline);
    for (int s = 0; s < STEPS; s++)
        step_run(&one->trainer, s);
}

static void one_rank_destroy(struct one_rank *one)
{
    reducer_destroy(&one->reducer);
    trainer_destroy(&one->trainer);
    one->comm->destroy(one->comm);
    data_destroy(one->data);
    model_destroy(&one->model);
    timeline_destroy(&one->timeline);
}

/* Spans of one step on each lane; each step records as many. */
static void count_spans(const struct one_rank *one, size_t n[TIMELINE_LANES])
{
    for (int l = 0; l < TIMELINE_LANES; l++) {
        const struct lane *lane = &one->timeline.lane[l];
        n[l] = 0;
        for (size_t i = 0; i < lane->n; i++) {
            ck_assert(lane->span[i].step == 0 || lane->span[i].step == 1);
            n[l] += lane->span[i].step == 0;
        }
        ck_assert_uint_eq(lane->n, STEPS * n[l]);
        ck_assert_uint_eq(lane->dropped, 0);
    }
}

/* What is reserved suffices for all, and the largest needs all of the compute and the communication lane. */
START_TEST(every_strategy_fits)
{
    struct way way = {.layers = (size_t)_i % 3 * 2 + 1, .micro_batches = (size_t)_i / 3 + 1, .traced = 1};
    size_t most[TIMELINE_LANES] = {0}, spans[TIMELINE_LANES] = {0}, n[TIMELINE_LANES];
    for (int s = 0; strategies[s]; s++)
        for (int variant = 0; variant < 4; variant++) {
            struct one_rank one;
            way.strategy = strategies[s];
            way.warmup_steps = variant == 1 ? 10 : 0;
            way.log_grad_norm = variant == 2;
            way.after_backward = variant == 3 && strategies[s]->overlaps;
            one_rank_create(&one, &way);
            count_spans(&one, n);
            for (int l = 0; l < TIMELINE_LANES; l++) {
                ck_assert_uint_le(n[l], one.spans[l]);
                most[l] = n[l] > most[l] ? n[l] : most[l];
                spans[l] = one.spans[l];
            }
            ck_assert_uint_ge(n[LANE_COMPUTE], way.micro_batches * model_operations(&one.model) + 2);
            one_rank_destroy(&one);
        }
    ck_assert_uint_eq(most[LANE_COMPUTE], spans[LANE_COMPUTE]);
    ck_assert_uint_eq(most[LANE_COMMUNICATION], spans[LANE_COMMUNICATION]);
    ck_assert_uint_le(spans[LANE_HOST], 2 * most[LANE_HOST]); /* no waste */
}
END_TEST

/* The weights after the steps and the losses are the same, bit for bit, and only the operations and ranges are added.
 */
START_TEST(tracing_changes_nothing)
{
    struct way way = {.strategy = &strategy_ddp_individual_v2, .layers = 2, .micro_batches = 2, .warmup_steps = 1};
    struct one_rank plain, traced;
    size_t without[TIMELINE_LANES], with[TIMELINE_LANES];
    one_rank_create(&plain, &way);
    way.traced = 1;
    one_rank_create(&traced, &way);
    ck_assert_mem_eq(traced.model.weight, plain.model.weight, plain.model.arena * sizeof(float));
    ck_assert_mem_eq(traced.trainer.record, plain.trainer.record, STEPS * RECORDS * sizeof(float));
    /* the second step has no clipping, so spans are counted by lane, not by step */
    for (int l = 0; l < TIMELINE_LANES; l++) {
        without[l] = plain.timeline.lane[l].n;
        with[l] = traced.timeline.lane[l].n;
        ck_assert_uint_eq(plain.timeline.lane[l].dropped + traced.timeline.lane[l].dropped, 0);
    }
    ck_assert_uint_eq(without[LANE_COMPUTE], 0);
    ck_assert_uint_eq(without[LANE_COMMUNICATION], STEPS * (size_t)plain.model.tensors);
    ck_assert_uint_eq(with[LANE_COMMUNICATION], without[LANE_COMMUNICATION]);
    ck_assert_uint_eq(with[LANE_HOST], without[LANE_HOST] + STEPS * 2 * model_ranges(&plain.model));
    ck_assert_uint_eq(with[LANE_MEMORY], 0);
    one_rank_destroy(&plain);
    one_rank_destroy(&traced);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("step");
    TCase *tests = tcase_create("step");
    tcase_set_timeout(tests, 60); /* sanitizers are slow */
    tcase_add_loop_test(tests, every_strategy_fits, 0, 9);
    tcase_add_test(tests, tracing_changes_nothing);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
