/* test_memory.c - what a profile says of memory is what was allocated: by part of the model, for
 * models with and without layers, a copy of the weights in another type, and staged gradients. */
#include "profile/figures.h"

#include "ddp/comm_self.h"
#include "kernels/device_traced.h"
#include "kernels/error.h"
#include "tests/support/made_up.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    size_t layers, compute_bytes;
} models[] = {{0, 4}, {2, 4}, {0, 2}, {12, 2}};

static struct timeline timeline;
static struct model model;
static struct trainer trainer;
static struct profile_figures figures;
static size_t allocated;
enum { REDUCERS = 3 };
static struct reducer reducer[REDUCERS];
static struct device device;
static struct comm *comm;

/* Everything that a run sets up on a device, with three implementations; and its figures. */
static void find_memory(size_t layers, size_t compute_bytes)
{
    static const struct strategy *const strategies_of[REDUCERS] = {&strategy_ddp_individual_v2, &strategy_ddp_bucketed,
                                                                   &strategy_ddp_individual_v2};
    const struct data_options options = {"synthetic", 19, 5, 2, 1, 1, 0, 1, 1, 1, NULL};
    const struct model_sizes sizes = {2, 5, 19, 12, layers, 3, 10, 10000};
    const struct adamw adamw = {0};
    device = *device_cpu(1);
    device.compute_bytes = compute_bytes;
    made_up_create(&timeline, 100);
    const struct device *traced = device_traced(&device, &timeline, 1);
    comm = comm_self_create(traced, &timeline);
    model_plan(&model, &sizes, compute_bytes);
    model_allocate(&model, traced, comm->allocate(comm, model.arena * sizeof(float)));
    trainer = (struct trainer){.device = traced, .model = &model, .timeline = &timeline};
    ck_assert_int_eq(data_create(&trainer.data, &options), 0);
    trainer_create(&trainer, &adamw, 7);
    for (int i = 0; i < REDUCERS; i++)
        reducer_create(&reducer[i], strategies_of[i], &model, comm, 1000, i ? COMM_FLOAT32 : COMM_BF16);
    for (size_t i = 0; i < timeline.lane[LANE_MEMORY].n; i++)
        allocated += timeline.lane[LANE_MEMORY].span[i].size[SIZE_BYTES];

    figures = (struct profile_figures){.ranks = 2, .steps = 3, .layers = (int)layers + 2};
    figures.layer = allocate(layers + 2, sizeof *figures.layer);
    for (int i = 0; i < figures.layers; i++)
        snprintf(figures.layer[i].name, sizeof figures.layer[i].name, "part %d", i % 1000);
    profile_figures_add_memory(&figures, &trainer, reducer, REDUCERS);
}

static void release(void)
{
    profile_figures_destroy(&figures);
    trainer_destroy(&trainer);
    for (int i = 0; i < REDUCERS; i++)
        reducer_destroy(&reducer[i]);
    comm->release(comm, model.gradient);
    comm->destroy(comm);
    timeline_destroy(&timeline);
    data_destroy(trainer.data);
    model_destroy(&model);
}

static const struct memory_figure *find(const char *name)
{
    for (int i = 0; i <= figures.layers; i++)
        if (!strcmp(figures.memory[i].name, name))
            return &figures.memory[i];
    ck_abort_msg("no %s", name);
}

TEST_EACH(the_parts_add_up_to_what_was_allocated, sizeof models / sizeof *models)
{
    find_memory(models[_i].layers, models[_i].compute_bytes);
    size_t floats = model.arena, batch = 2 * 10 * 4 + 7 * 8 + 4 * SCALARS,
           narrow = models[_i].compute_bytes == 2 ? 2 : 0;
    const size_t expected[HOLDS] = {[HOLDS_WEIGHTS] = (4 + narrow) * floats,
                                    [HOLDS_GRADIENTS] = 4 * floats,
                                    [HOLDS_OPTIMIZER] = 8 * floats,
                                    [HOLDS_OTHER] = (4 + 2 + 4) * floats + batch};
    const struct memory_figure *row = figures.memory;
    size_t total = 0, sums[HOLDS] = {0};
    for (int i = 0; i <= figures.layers; i++) {
        for (int kind = 0; kind < HOLDS; kind++)
            sums[kind] += row[i].holds[kind];
        total += row[i].total;
        ck_assert(!i || row[i - 1].total >= row[i].total);
    }
    ck_assert_uint_eq(total, allocated);
    for (int kind = 0; kind < HOLDS; kind++) {
        total -= sums[kind];
        if (kind != HOLDS_ACTIVATIONS && kind != HOLDS_WORKSPACE)
            ck_assert_uint_eq(sums[kind], expected[kind]);
    }
    ck_assert_uint_eq(total, 0);
}

static void check_row(const char *name, size_t gradients, size_t activations, size_t workspace)
{
    const struct memory_figure *row = find(name);
    ck_assert_uint_eq(row->holds[HOLDS_GRADIENTS], gradients);
    ck_assert_uint_eq(row->holds[HOLDS_ACTIVATIONS], activations);
    ck_assert_uint_eq(row->holds[HOLDS_WORKSPACE], workspace);
}

/* By hand, of 10 tokens, 12 wide, 19 words, 3 heads, 10 inside, in fp32; weights fill up 64 bytes, activations 256. */
TEST(the_parts_hold_known_bytes)
{
    find_memory(2, 4);
    size_t layer = 64 + 1728 + 576 + 64 + 960 + 512; /* norm; q, k, v; o; norm; w1, w3; w2 */
    size_t kept = 768 + 1536 + 768 + 512 + 768 + 1024 + 512 + 512;
    check_row("part 0", 960, 512, 0);
    check_row("part 1", layer, kept, 0);
    check_row("part 2", layer, kept, 0);
    check_row("part 3", 64 + 960, 768 + 768, 0);
    check_row("shared", 0, 0, 256 + 512 + 512 + 512 + 1536 + 512);
}

SUITE("memory", NULL, release)
