/* test_replayed.c - a replayed model: what it announces when, for how long it computes, and its known gradients. */
#include "ddp/replayed.h"

#include "kernels/clock.h"
#include "tests/support/on_device.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

enum { TENSORS = 3, LARGE = 300001 }; /* above the length of the pattern of gradients */
static struct tensor tensor[TENSORS];
static const double backward_ms[TENSORS] = {4, 2, 3};
static struct model model;

/* The second tensor has count elements, the others 50. */
static void plan(enum replayed_compute compute, double ms, int rank, size_t count)
{
    double backward[TENSORS];
    for (int i = 0; i < TENSORS; i++) {
        backward[i] = 1e-3 * ms * backward_ms[i];
        tensor_set(&tensor[i], 0, 1, i == 1 ? count : 50, 1, "t%d", i);
    }
    const struct replayed r = {.tensor = tensor,
                               .tensors = TENSORS,
                               .forward = 1e-3 * ms,
                               .backward = backward,
                               .update = 1e-3 * ms,
                               .compute = compute,
                               .batch = 1,
                               .context = 1,
                               .shards = 1,
                               .rank = rank};
    const struct device *device = on_device(0);
    replayed_plan(&model, &r, device->compute_bytes);
    model_allocate(&model, device, NULL, NULL);
    model.source->initialize(&model, 0);
}

static void teardown(void)
{
    model_destroy(&model);
}

/* What the hooks have seen: the order of the calls, and when gradients were final. */
static char order[100];
static int64_t ready_at[TENSORS];

static void before(void *context, int t)
{
    (void)context;
    snprintf(order + strlen(order), 20, "f%d ", t);
}

static float *place(void *context, int t)
{
    (void)context;
    snprintf(order + strlen(order), 20, "p%d ", t);
    return model.gradient + model.tensor[t].offset;
}

static void ready(void *context, int t)
{
    (void)context;
    snprintf(order + strlen(order), 20, "r%d ", t);
    ready_at[t] = clock_now_ns();
}

static void after(void *context)
{
    (void)context;
    strcat(order, "| ");
}

static void run(int accumulate)
{
    const struct forward_hook forward = {before, NULL};
    const struct gradient_hook backward = {place, ready, after, NULL};
    *order = 0;
    model.source->forward(&model, NULL, NULL, model.weight, 1, 0.5f, &forward);
    model.source->backward(&model, NULL, NULL, accumulate, &backward);
    model.device->synchronize();
}

TEST(gradients_are_announced_in_order)
{
    plan(REPLAYED_BUSY, 0.01, 0, LARGE);
    run(0);
    ck_assert_str_eq(order, "f0 f1 f2 p2 r2 | p1 r1 | p0 r0 | ");
}

/* A sleep is never shorter than it was asked for, and one that lasted too long shortens the next, so the test checks
 * times since the start. Tensors are small, since the time to copy a gradient and to update a weight is measured at
 * set-up, on a machine that may be busy then, and deducted; SLACK is for that. */
TEST(it_computes_at_least_as_long_as_it_should)
{
    enum { SLACK = 4 };
    plan(REPLAYED_SLEEP, 10, 0, 50);
    int64_t start = clock_now_ns();
    run(0);
    ck_assert_double_ge(1e-6 * (double)(ready_at[2] - start), 10 + 30 - SLACK);
    ck_assert_double_ge(1e-6 * (double)(ready_at[1] - start), 10 + 30 + 20 - SLACK);
    ck_assert_double_ge(1e-6 * (double)(ready_at[0] - start), 10 + 30 + 20 + 40 - SLACK);
    model.source->updated(&model, model.arena);
    ck_assert_double_ge(1e-6 * (double)(clock_now_ns() - start), 10 + 30 + 20 + 40 + 10 - SLACK);
}

/* Returns the gradient; the caller frees it. */
static float *gradient(void)
{
    float *g = malloc(model.arena * sizeof *g);
    model.device->download(g, model.gradient, model.arena * sizeof *g);
    return g;
}

/* Gradients have the scale that forward got, lie between -1 and 1, differ by place and by rank, and add up. */
TEST(gradients_are_known)
{
    float *g[2];
    for (int rank = 0; rank < 2; rank++) {
        plan(REPLAYED_BUSY, 0.01, rank, LARGE);
        run(0);
        g[rank] = kept(gradient());
        run(1);
        float *sum = kept(gradient());
        for (size_t i = 0; i < model.arena; i++) {
            ck_assert_float_eq(sum[i], 2 * g[rank][i]);
            ck_assert_float_le(g[rank][i] < 0 ? -g[rank][i] : g[rank][i], 0.5f);
        }
        const struct tensor *large = &model.tensor[1], *last = &model.tensor[2], *first = &model.tensor[0];
        ck_assert_float_ne(g[rank][first->offset], g[rank][last->offset]);
        ck_assert_float_ne(g[rank][large->offset], g[rank][large->offset + LARGE - 1]);
        ck_assert_float_eq(g[rank][large->offset + large->count], 0); /* the gap behind a tensor */
        if (!rank)
            teardown();
    }
    ck_assert_float_ne(g[0][0], g[1][0]);
}

SUITE("replayed", NULL, teardown)
