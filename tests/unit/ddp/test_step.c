/* test_step.c - steps record no more spans than have memory reserved, for every strategy, with and without tracing;
 * tracing does not change the training; and checkpoint files. */
#include "ddp/transformer.h"
#include "kernels/device_traced.h"
#include "kernels/error.h"
#include "tests/support/made_up.h"
#include "tests/support/restore.h"
#include "tests/support/suite.h"

#include "ddp/comm_self.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STEPS = 2 };

/* Settings of a training run; struct one_rank holds all objects of the run, on one rank. */
struct way {
    const struct strategy *strategy;
    enum variant variant;
    size_t layers, micro_batches;
    long warmup_steps; /* number of warm-up steps, which clip gradients */
    int traced, after_backward;
    int lag; /* a collective is complete when `lag` later ones have started, or when it is joined; -1: at once */
};

static const struct job alone = {.size = 1};

/* A comm of one rank on which a sum doubles the buffer when it becomes complete, not earlier. */
struct late {
    struct comm comm;
    struct collective started[200];
    long n, completed;
    int lag;
};

static void late_join(struct comm *comm, long ticket)
{
    struct late *late = (struct late *)comm;
    for (; late->completed < ticket; late->completed++) {
        const struct collective *c = &late->started[late->completed];
        for (size_t i = 0; i < c->count; i++)
            ((float *)c->buffer)[i] *= 2;
    }
}

static long late_start(struct comm *comm, const struct collective *collective)
{
    struct late *late = (struct late *)comm;
    late->started[late->n++] = *collective;
    return late->n;
}

static int late_complete(struct comm *comm, long ticket)
{
    struct late *late = (struct late *)comm;
    int complete = ticket <= late->n - late->lag;
    if (complete)
        late_join(comm, ticket);
    return complete;
}

static void late_release(struct comm *comm, void *memory)
{
    (void)comm;
    ck_assert_ptr_null(memory);
}

struct one_rank {
    struct timeline timeline;
    struct model model;
    struct data *data;
    struct comm *comm;
    struct late late;
    struct reducer reducer;
    struct trainer trainer;
    size_t spans[TIMELINE_LANES]; /* spans reserved on each lane for one step */
};

static void one_rank_create(struct one_rank *one, const struct way *way)
{
    struct model_sizes sizes = {2, 5, 19, 12, way->layers, 3, 10, 1};
    struct data_options options = {"synthetic", 19, 5, 2 * way->micro_batches, way->micro_batches, 1, 0, 1, 1, NULL};
    size_t capacity[TIMELINE_LANES];
    struct adamw adamw = {0.9f, 0.999f, 1e-8f, 0.01f};
    *one = (struct one_rank){.data = NULL};
    transformer_plan(&one->model, &sizes, sizeof(float));
    const struct traits *traits = way->strategy->traits[way->variant];
    size_t collectives = strategy_collectives(traits, way->micro_batches) * (size_t)one->model.tensors;
    step_spans(&one->model, way->micro_batches, collectives, way->traced, traits->releases, one->spans);
    for (int l = 0; l < TIMELINE_LANES; l++)
        capacity[l] = STEPS * one->spans[l];
    timeline_create(&one->timeline, capacity);
    const struct device *plain = device_cpu(1), *device = way->traced ? device_traced(plain, &one->timeline, 1) : plain;
    model_allocate(&one->model, plain, NULL, NULL);
    one->model.source->initialize(&one->model, 1);
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
                                    .checkpoint = {.every = 1000, .job = &alone, .seed = 7}};
    trainer_create(&one->trainer, &adamw, STEPS, one->model.arena);
    one->late = (struct late){
        {.ranks = 1, .start = late_start, .join = late_join, .complete = late_complete, .release = late_release},
        .lag = way->lag};
    reducer_create(&one->reducer, way->strategy, way->variant, &one->model, way->lag < 0 ? one->comm : &one->late.comm,
                   &(struct bucket_caps){.cap = {500}}, 1);
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

/* Counts the spans of the last step on each lane, and checks that both steps record equal numbers of spans. With
 * sharding, the host's lane may differ, since only the last step waits for weights. */
static void count_spans(const struct one_rank *one, size_t n[TIMELINE_LANES])
{
    for (int l = 0; l < TIMELINE_LANES; l++) {
        const struct lane *lane = &one->timeline.lane[l];
        n[l] = 0;
        for (size_t i = 0; i < lane->n; i++) {
            ck_assert(lane->span[i].step == 0 || lane->span[i].step == 1);
            n[l] += lane->span[i].step == STEPS - 1;
        }
        if (l != LANE_HOST || !one->reducer.traits->shards)
            ck_assert_uint_eq(lane->n, STEPS * n[l]);
        ck_assert_uint_eq(lane->dropped, 0);
    }
}

/* The reserved spans suffice for every strategy, and one strategy fills the compute and communication lanes. */
TEST_EACH(every_strategy_fits, 9)
{
    struct way way = {.layers = (size_t)_i % 3 * 2 + 1, .micro_batches = (size_t)_i / 3 + 1, .traced = 1, .lag = -1};
    size_t most[TIMELINE_LANES] = {0}, spans[TIMELINE_LANES] = {0}, n[TIMELINE_LANES];
    for (int s = 0; strategies[s]; s++)
        for (int setting = 0; setting < 3 * VARIANTS; setting++) {
            struct one_rank one;
            way.strategy = strategies[s];
            way.variant = (enum variant)(setting % VARIANTS);
            const struct traits *traits = way.strategy->traits[way.variant];
            if (!traits)
                continue;
            way.warmup_steps = setting / VARIANTS == 1 ? 10 : 0;
            way.after_backward = setting / VARIANTS == 2 && traits->overlaps;
            one_rank_create(&one, &way);
            count_spans(&one, n);
            for (int l = 0; l < TIMELINE_LANES; l++) {
                ck_assert_uint_le(n[l], one.spans[l]);
                if (traits->messages > 1)
                    continue; /* the strategy has fewer buckets than tensors */
                most[l] = n[l] > most[l] ? n[l] : most[l];
                spans[l] = one.spans[l] > spans[l] ? one.spans[l] : spans[l];
            }
            ck_assert_uint_ge(n[LANE_COMPUTE], way.micro_batches * one.model.source->operations(&one.model) + 2);
            one_rank_destroy(&one);
        }
    ck_assert_uint_eq(most[LANE_COMPUTE], spans[LANE_COMPUTE]);
    ck_assert_uint_eq(most[LANE_COMMUNICATION] + 1, spans[LANE_COMMUNICATION]); /* 1: gathers norms */
    ck_assert_uint_le(spans[LANE_HOST], 2 * most[LANE_HOST]);                   /* at most twice what is needed */
}

/* With tracing, weights and losses stay the same bit for bit, and only spans of operations and ranges are added. */
TEST(tracing_changes_nothing)
{
    struct way way = {
        .strategy = &strategy_ddp_individual_v2, .layers = 2, .micro_batches = 2, .warmup_steps = 1, .lag = -1};
    struct one_rank plain, traced;
    size_t without[TIMELINE_LANES], with[TIMELINE_LANES];
    one_rank_create(&plain, &way);
    way.traced = 1;
    one_rank_create(&traced, &way);
    ck_assert_mem_eq(traced.model.weight, plain.model.weight, plain.model.arena * sizeof(float));
    ck_assert_mem_eq(traced.trainer.record, plain.trainer.record, STEPS * RECORDS * sizeof(float));
    /* only the first step clips gradients, so the spans of both steps are counted together */
    for (int l = 0; l < TIMELINE_LANES; l++) {
        without[l] = plain.timeline.lane[l].n;
        with[l] = traced.timeline.lane[l].n;
        ck_assert_uint_eq(plain.timeline.lane[l].dropped + traced.timeline.lane[l].dropped, 0);
    }
    ck_assert_uint_eq(without[LANE_COMPUTE], 0);
    ck_assert_uint_eq(without[LANE_COMMUNICATION], STEPS * (size_t)plain.model.tensors);
    ck_assert_uint_eq(with[LANE_COMMUNICATION], without[LANE_COMMUNICATION]);
    ck_assert_uint_eq(with[LANE_HOST], without[LANE_HOST] + STEPS * 2 * plain.model.source->ranges(&plain.model));
    ck_assert_uint_eq(with[LANE_MEMORY], 0);
    one_rank_destroy(&plain);
    one_rank_destroy(&traced);
}

/* Returns the number of spans of optimizer_step that lie between two of `within`, in the last step. */
static int updates_within(const struct one_rank *one, enum step_phase within)
{
    const struct lane *lane = &one->timeline.lane[LANE_HOST];
    int n = 0, before = -1, optimizer = 0;
    for (const struct span *s = lane->span; s < lane->span + lane->n; s++) {
        int phase = step_phase_of(s);
        if (s->step != STEPS - 1 || phase < 0)
            continue;
        n += optimizer && phase == (int)within;
        optimizer = phase == PHASE_OPTIMIZER && before == (int)within;
        before = phase;
    }
    return n;
}

/* An early update waits for the sum of its bucket, and until backward no longer uses the weights. So weights and
 * moments equal those of updates after backward bit for bit, whenever sums become complete. */
TEST_EACH(early_updates_change_nothing_but_the_time, 12)
{
    struct way way = {.strategy = &strategy_ddp_bucketed, .layers = 2, .micro_batches = 2};
    way.lag = (int[]){0, 1, 3, 1000}[_i % 4];
    way.warmup_steps = _i / 4 == 1 ? STEPS : 0;
    way.after_backward = _i / 4 == 2;
    struct one_rank after, early;
    one_rank_create(&after, &way);
    way.variant = VARIANT_UPDATE;
    one_rank_create(&early, &way);
    size_t bytes = after.model.arena * sizeof(float);
    ck_assert_int_gt(early.reducer.ranges, 6);
    ck_assert_int_eq(early.reducer.updated, early.reducer.ranges);
    ck_assert_uint_eq(reducer_owned(&early.reducer), after.model.arena);
    ck_assert_mem_eq(early.model.weight, after.model.weight, bytes);
    ck_assert_mem_eq(early.trainer.optimizer.m, after.trainer.optimizer.m, bytes);
    ck_assert_mem_eq(early.trainer.optimizer.v, after.trainer.optimizer.v, bytes);
    int parts = 2 * (int)way.layers + 2, in_backward = updates_within(&early, PHASE_BACKWARD);
    int waiting = updates_within(&early, PHASE_GRADIENT_SYNC);
    if (_i / 4)
        ck_assert_int_eq(in_backward + waiting, 0); /* the step clips, or reduces after backward */
    else if (way.lag == 1000)
        ck_assert(in_backward == 0 && waiting == early.reducer.ranges - 1);
    else if (way.lag == 0)
        ck_assert(in_backward == parts && waiting == 0);
    else
        ck_assert(in_backward > 1 && in_backward <= parts && waiting == way.lag - 1);
    ck_assert_int_eq(updates_within(&after, PHASE_BACKWARD) + updates_within(&after, PHASE_GRADIENT_SYNC), 0);
    one_rank_destroy(&after);
    one_rank_destroy(&early);
}

/* ---- checkpoints ---- */

static char folder[64], moved[72], path[80];

static void set_up(void)
{
    strcpy(folder, "/tmp/test_step_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/checkpoint", folder);
    snprintf(moved, sizeof moved, "%s.moved", folder);
}

static void tear_down(void)
{
    unlink(path);
    ck_assert_int_eq(rmdir(folder), 0); /* fails unless the directory is empty */
}

/* Returns a copy of the weights, first and second moments of a trainer, [3, arena]. */
static float *state_of(const struct one_rank *one)
{
    size_t n = one->model.arena;
    float *state = kept(allocate(3 * n, sizeof *state));
    memcpy(state, one->model.weight, n * sizeof *state);
    memcpy(state + n, one->trainer.optimizer.m, n * sizeof *state);
    memcpy(state + 2 * n, one->trainer.optimizer.v, n * sizeof *state);
    return state;
}

/* Adds `by` to the byte at offset `at` of the file. */
static void change(size_t at, unsigned char by)
{
    FILE *file = fopen(path, "r+b");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fseek(file, (long)at, SEEK_SET), 0);
    int byte = fgetc(file) + by;
    ck_assert_int_eq(fseek(file, (long)at, SEEK_SET), 0);
    ck_assert_int_eq(fputc(byte & 255, file), byte & 255);
    ck_assert_int_eq(fclose(file), 0);
}

static void check_error(int status, const char *words)
{
    ck_assert_int_eq(status, -1);
    check_has(error_text(), words);
    error_clear();
}

/* A wrong checkpoint is refused before it changes anything; checkpoint_compare finds a wrong byte of an array. */
TEST(wrong_checkpoints_are_refused)
{
    struct way way = {.strategy = &strategy_ddp, .layers = 2, .micro_batches = 1, .lag = -1};
    struct one_rank one;
    one_rank_create(&one, &way);
    size_t n = one.model.parameters, bytes = checkpoint_bytes(n), header = bytes - 3 * n * sizeof(float);
    float *before = state_of(&one);
    static const char *const arrays[] = {"embedding in the weights", "embedding in the first moments",
                                         "embedding in the second moments"};
    const struct {
        size_t at;
        const char *words;
    } wrong[] = {{offsetof(struct checkpoint_header, magic[7]), "is not a checkpoint of ddpbench"},
                 {offsetof(struct checkpoint_header, version), "version 3; only version 2"},
                 {offsetof(struct checkpoint_header, heads), "another model or seed: vocabulary 19"},
                 {offsetof(struct checkpoint_header, floats), "another model"},
                 {offsetof(struct checkpoint_header, seed), "seed 8"}};
    check_error(restore_trainer(&one.trainer, path), "No such file");
    ck_assert_int_eq(mkfifo(path, 0600), 0); /* a pipe without a writer */
    check_error(restore_trainer(&one.trainer, path), "is not a regular file");
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_msg(!checkpoint_write(path, &one.trainer.checkpoint, trainer_state(&one.trainer)) &&
                      !checkpoint_compare(path, &one.trainer.checkpoint, trainer_state(&one.trainer)),
                  "%s", error_text());
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        change(wrong[i].at, 1);
        check_error(restore_trainer(&one.trainer, path), wrong[i].words);
        check_error(checkpoint_compare(path, &one.trainer.checkpoint, trainer_state(&one.trainer)), wrong[i].words);
        change(wrong[i].at, 255);
    }
    change(offsetof(struct checkpoint_header, step), 1);
    check_error(checkpoint_compare(path, &one.trainer.checkpoint, trainer_state(&one.trainer)),
                "has step 3, update 3, but the trainer is at step 2, update 3");
    change(offsetof(struct checkpoint_header, step), 255);
    for (size_t array = 0; array < 3; array++) {
        change(header + (array * n + n - 1) * sizeof(float), 1);
        check_error(checkpoint_compare(path, &one.trainer.checkpoint, trainer_state(&one.trainer)), arrays[array]);
        change(header + (array * n + n - 1) * sizeof(float), 255);
    }
    ck_assert_int_eq(checkpoint_compare(path, &one.trainer.checkpoint, trainer_state(&one.trainer)), 0);
    static const long lengths[] = {1, -1, -100000, 0};
    for (int i = 0; lengths[i]; i++) {
        ck_assert_int_eq(truncate(path, lengths[i] < -1 ? 10 : (long)bytes + lengths[i]), 0);
        check_error(restore_trainer(&one.trainer, path), lengths[i] < -1 ? "only 10 bytes" : "copied completely");
    }
    float *after = state_of(&one);
    ck_assert_mem_eq(after, before, 3 * one.model.arena * sizeof *before);
    ck_assert_int_eq(one.trainer.step, STEPS);
    one_rank_destroy(&one);
}

/* After any failed write of a checkpoint, the earlier file is still there and no other file is left. */
TEST(a_checkpoint_is_whole_or_not_there)
{
    struct way way = {.strategy = &strategy_ddp, .layers = 1, .micro_batches = 1, .lag = -1};
    struct one_rank one;
    one_rank_create(&one, &way);
    ck_assert_int_eq(checkpoint_write(path, &one.trainer.checkpoint, trainer_state(&one.trainer)), 0);
    float weight = one.model.weight[0]++;
    const struct rlimit small = {.rlim_cur = 4096, .rlim_max = RLIM_INFINITY}, none = {RLIM_INFINITY, RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    check_error(checkpoint_write(path, &one.trainer.checkpoint, trainer_state(&one.trainer)), "File too large");
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
    ck_assert_int_eq(rename(folder, moved), 0);
    check_error(checkpoint_write(path, &one.trainer.checkpoint, trainer_state(&one.trainer)), "No such file");
    struct checkpoint *saved = &one.trainer.checkpoint;
    snprintf(saved->path, sizeof saved->path, "%s", path);
    check_error(checkpoint_try(&one.trainer.checkpoint, trainer_state(&one.trainer)), "No such file");
    ck_assert_msg(saved->failed && !saved->saved && saved->seconds == 0, "%zu checkpoints saved, in %g s", saved->saved,
                  saved->seconds);
    ck_assert_int_eq(rename(moved, folder), 0);
    check_error(checkpoint_compare(path, &one.trainer.checkpoint, trainer_state(&one.trainer)),
                "in number 0 of output in the weights");
    one.model.weight[0] = weight;
    ck_assert_int_eq(checkpoint_compare(path, &one.trainer.checkpoint, trainer_state(&one.trainer)), 0);
    one_rank_destroy(&one);
}

SUITE("step", set_up, tear_down)
