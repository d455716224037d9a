/* parity.c - compares every strategy on several ranks with one process on the global batch: gradients, and weights
 * after some steps. The comparison must fail if gradients are summed and not averaged, if a bucket misses its last
 * element, and if a reduction runs twice. Run this program under mpirun with 1 to 4 ranks. */
#include "ddp/comm_create.h"
#include "ddp/comm_self.h"
#include "ddp/job.h"
#include "ddp/low_rank.h"
#include "ddp/ring.h"
#include "ddp/step.h"
#include "ddp/transformer.h"
#include "kernels/error.h"
#include "tests/support/on_device.h"
#include "tests/support/on_hosts.h"
#include "tests/support/own_strategy.h"
#include "tests/support/reference.h"
#include "tests/support/restore.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 5 };

static size_t batch = 24; /* sequences of a step, all ranks together; TEST_BATCH changes it */

static struct job job, placed;    /* placed: the job, or the same on made-up hosts */
static enum comm_library library; /* mpi or nccl, from TEST_COMM; by default, the device decides */

/* A model and its trainer, on one of several ranks. */
struct one_rank {
    struct model model;
    struct data *data;
    struct timeline timeline;
    struct comm *comm;
    struct reducer reducer;
    struct trainer trainer;
};

static struct one_rank single, many; /* one process on the global batch; this rank of the job */

static void one_rank_create(struct one_rank *one, int rank, int ranks, size_t micro_batches, long warmup_steps)
{
    *one = (struct one_rank){0};
    /* these widths leave k and q unaligned to vectors of bfloat16, and w1 unaligned to vectors of fp32 */
    struct model_sizes sizes = {batch / (size_t)ranks / micro_batches, 9, 61, 18, 2, 3, 41, (size_t)job.size};
    struct data_options data = {"synthetic", 61, 9, batch, micro_batches, 11, rank, ranks, 1, NULL};
    const struct device *device = on_device(job.rank);
    transformer_plan(&one->model, &sizes, device->compute_bytes);
    ck_assert_int_eq(data_create(&one->data, &data), 0);
    size_t spans[TIMELINE_LANES];
    size_t collectives =
        (size_t)strategy_ddp_hierarchical.traits[VARIANT_PLAIN]->messages * (size_t)one->model.tensors + 1;
    step_spans(&one->model, micro_batches, collectives, 0, 1, spans);
    for (int i = 0; i < TIMELINE_LANES; i++)
        spans[i] *= STEPS;
    timeline_create(&one->timeline, spans);
    struct comm_options how = {.library = library,
                               .shares_gpu = library != COMM_NCCL,
                               .groups = placed.local_size > 1 && placed.local_size < job.size};
    int alone = ranks < job.size || (ranks == 1 && library != COMM_NCCL);
    one->comm = alone ? comm_self_create(device, &one->timeline)
                      : comm_create(&placed, device, &one->timeline, collectives, &how);
    ck_assert_ptr_nonnull(one->comm);
    model_allocate(&one->model, device, one->comm->allocate(one->comm, one->model.arena * sizeof(float)),
                   one->comm->allocate(one->comm, one->model.arena * device->compute_bytes));
    one->model.source->initialize(&one->model, 3);
    one->trainer = (struct trainer){.device = one->model.device,
                                    .model = &one->model,
                                    .data = one->data,
                                    .reducer = &one->reducer,
                                    .schedule = {0.01f, warmup_steps},
                                    .timeline = &one->timeline,
                                    .ranks = ranks,
                                    .micro_batches = micro_batches,
                                    .max_norm = 0.1f};
    struct adamw adamw = {0.9f, 0.999f, 1e-8f, 0.01f};
    trainer_create(&one->trainer, &adamw, STEPS, one->model.arena);
}

static void one_rank_destroy(struct one_rank *one)
{
    if (!one->comm)
        return;
    reducer_destroy(&one->reducer);
    trainer_destroy(&one->trainer);
    one->comm->release(one->comm, one->model.gradient);
    one->comm->release(one->comm, model_read_weight(&one->model));
    one->comm->destroy(one->comm);
    timeline_destroy(&one->timeline);
    data_destroy(one->data);
    model_destroy(&one->model);
    *one = (struct one_rank){0};
}

static void destroy_both(void)
{
    one_rank_destroy(&many);
    one_rank_destroy(&single);
}

static void create_many(size_t micro_batches, long warmup_steps)
{
    one_rank_create(&many, job.rank, job.size, micro_batches, warmup_steps);
}

static void create_both(size_t micro_batches, long warmup_steps)
{
    one_rank_create(&single, 0, 1, 1, warmup_steps);
    create_many(micro_batches, warmup_steps);
}

/* Trains from the initial weights with a variant of a strategy; number: see reducer_create. */
static void train_with(struct one_rank *one, const struct strategy *strategy, enum variant variant,
                       const struct bucket_caps *caps, size_t number, int steps)
{
    reducer_destroy(&one->reducer);
    reducer_create(&one->reducer, strategy, variant, &one->model, one->comm, caps, number);
    trainer_reset(&one->trainer, one->trainer.schedule.warmup_steps ? 0 : 1);
    timeline_clear(&one->timeline);
    one->model.device->stamps_begin();
    for (int i = 0; i < steps; i++)
        step_run(&one->trainer, i);
    reducer_settle(&one->reducer);
    one->model.device->stamps_end();
    timeline_settle(&one->timeline, one->model.device->stamp_ns);
}

static void train(struct one_rank *one, const struct strategy *strategy, const struct bucket_caps *caps, int steps)
{
    train_with(one, strategy, VARIANT_PLAIN, caps, 0, steps);
}

static float recorded(const struct one_rank *one, int step, enum step_record what)
{
    return float_of(one->model.device, one->trainer.record + step * RECORDS + what);
}

/* Lets the reducer reduce the gradient x[arena]; stores the result in x. */
static void reduce(float *x)
{
    const struct model *model = &many.model;
    model->device->upload(model->gradient, x, model->arena * sizeof *x);
    reducer_begin(&many.reducer, 0);
    for (int t = model->tensors - 1; t >= 0; t--)
        reducer_gradient_ready(&many.reducer, t);
    reducer_finish(&many.reducer);
    model->device->download(x, model->gradient, model->arena * sizeof *x);
}

/* Checks that all ranks have equal arrays of n floats; or, with `equal` 0, that no array equals the one of rank 0. */
static void check_ranks(const float *mine, size_t n, int equal)
{
    float *all = kept(allocate((size_t)job.size * n, sizeof *all));
    job_gather(&job, mine, n * sizeof *mine, all);
    for (int r = 1; r < job.size; r++)
        ck_assert_int_eq(!memcmp(all, all + (size_t)r * n, n * sizeof *all), equal);
}

/* Returns the reduced gradient [arena] in host memory, with NAN where this rank owns no range. */
static float *reduced_gradient(const struct one_rank *one)
{
    const struct model *model = &one->model;
    float *whole = kept(allocate(model->arena, sizeof *whole));
    for (size_t i = 0; i < model->arena; i++)
        whole[i] = NAN;
    for (const struct owned_range *own = one->reducer.owned; own < one->reducer.owned + one->reducer.ranges; own++) {
        float *part = on_host(model->device, own->gradient, own->count);
        for (size_t i = 0; i < own->count; i++)
            ck_assert_msg(isfinite(part[i]), "number %zu of the reduced gradient is %g", i, (double)part[i]);
        memcpy(whole + own->offset, part, own->count * sizeof *part);
    }
    return whole;
}

/* Returns the largest difference, on any rank and in any tensor, between the reduced gradients of a and b, relative to
 * the tensor's largest element in b. b has the whole gradient. */
static double gradient_error(const struct one_rank *a, const struct one_rank *b)
{
    double worst = 0;
    float *of_a = reduced_gradient(a), *of_b = reduced_gradient(b);
    for (const struct tensor *t = a->model.tensor; t < a->model.tensor + a->model.tensors; t++) {
        double difference = 0, largest = 0;
        for (size_t i = t->offset; i < t->offset + t->count; i++) {
            difference = fmax(difference, fabs((double)of_a[i] - (double)of_b[i])); /* fmax ignores NAN */
            largest = fmax(largest, fabs((double)of_b[i]));
        }
        worst = fmax(worst, difference / largest);
    }
    return job_max(&job, worst);
}

/* Returns the largest Euclidean distance on any rank between a and b, divided by the distance between b and start. */
static double distance(const float *a, const float *b, const float *start, size_t n)
{
    double apart = 0, way = 0;
    for (size_t i = 0; i < n; i++) {
        apart += pow((double)a[i] - (double)b[i], 2);
        way += pow((double)b[i] - (double)start[i], 2);
    }
    return job_max(&job, sqrt(apart / way));
}

/* Returns the distance of a's weights from b's, divided by the distance of b's from the initial weights. */
static double weight_error(const struct one_rank *a, const struct one_rank *b)
{
    size_t n = a->model.arena;
    return distance(on_host(a->model.device, a->model.weight, n), on_host(b->model.device, b->model.weight, n),
                    on_host(b->model.device, b->trainer.start, n), n);
}

struct tried {
    const struct strategy *strategy;
    enum variant variant;
    struct bucket_caps caps; /* of strategies with buckets */
};
static struct tried tried[64];
static int n_tried;

/* Lists every strategy of the program that reduces the sum of all gradients, with four plans of buckets if it has
 * buckets; and own_strategy, which the program does not have. */
static void list_tried(void)
{
    static const struct bucket_caps caps[] = {
        {.cap = {2000}}, {.cap = {500, 9000}, .last = 3000}, {.cap = {1 << 30}}, {.cap = {SIZE_MAX}, .blocks = 1}};
    for (int i = 0; strategies[i]; i++)
        for (size_t s = 0;
             strategy_is_compared(strategies[i]) && s < (strategies[i]->traits[VARIANT_PLAIN]->buckets ? 4 : 1); s++) {
            tried[n_tried++] = (struct tried){strategies[i], VARIANT_PLAIN, caps[s]};
            if (strategies[i]->traits[VARIANT_GRADIENTS])
                tried[n_tried++] = (struct tried){strategies[i], VARIANT_GRADIENTS, caps[s]};
        }
    for (size_t s = 0; s < sizeof caps / sizeof *caps; s += 3)
        tried[n_tried++] = (struct tried){&own_strategy, VARIANT_PLAIN, caps[s]};
}

static const struct bucket_caps small = {.cap = {2000}};
static const double gradient_tolerance = 1e-5; /* fp32 sums of the same numbers, added in another order */
static const double weight_tolerance = 1e-3;   /* AdamW magnifies differences of gradients near zero */

enum { RESUMED = 3 };
static const struct tried resumed[RESUMED] = {{&strategy_ddp_bucketed, VARIANT_PLAIN, {.cap = {2000}}},
                                              {&strategy_ddp_sharded, VARIANT_PLAIN, {.cap = {2000}}},
                                              {&strategy_ddp_sharded, VARIANT_GRADIENTS, {.cap = {2000}}}};

static void train_resumed(struct one_rank *one, int i, int steps)
{
    train_with(one, resumed[i].strategy, resumed[i].variant, &resumed[i].caps, 0, steps);
}

/* Trains `single` with ddp, and this rank with each strategy of a list. Checks that gradients after one step, or
 * weights after several, differ by at most `most` and, if least is above 0, more than `least`. */
static void check_errors(const struct tried *list, size_t n, int steps, double least, double most)
{
    train(&single, &strategy_ddp, NULL, steps);
    for (const struct tried *v = list; v < list + n; v++) {
        train_with(&many, v->strategy, v->variant, &v->caps, 0, steps);
        double error = steps == 1 ? gradient_error(&many, &single) : weight_error(&many, &single);
        ck_assert_msg(error <= most && error >= least, "%s, %zu bytes: after %d steps the error is %g, not %g to %g",
                      v->strategy->name, v->caps.cap[0], steps, error, least, most);
    }
}
#define LIST(array) (array), sizeof(array) / sizeof *(array)

CASE(core) /* also on an emulated GPU, for which other cases are too slow */

/* Gradients of some strategies after one step of two micro-batches equal those of one process. */
TEST(gradients_equal_one_process)
{
    static const struct tried few[] = {{&strategy_ddp, VARIANT_PLAIN, {.cap = {0}}},
                                       {&strategy_ddp_individual_v2, VARIANT_PLAIN, {.cap = {0}}},
                                       {&strategy_ddp_bucketed, VARIANT_PLAIN, {.cap = {2000}}},
                                       {&strategy_ddp_sharded, VARIANT_PLAIN, {.cap = {2000}}},
                                       {&strategy_ddp_sharded, VARIANT_GRADIENTS, {.cap = {2000}}}};
    create_both(batch / (size_t)job.size > 1 ? 2 : 1, 0);
    check_errors(LIST(few), 1, 0, gradient_tolerance);
}

/* With gradients sent as bfloat16, the mean is right to the precision of bfloat16, and equal on all ranks. */
TEST(bf16_is_close_and_the_same_everywhere)
{
    static const struct tried narrow[] = {{&strategy_ddp_individual_v2, VARIANT_BF16, {.cap = {0}}},
                                          {&strategy_ddp_flat, VARIANT_BF16, {.cap = {0}}},
                                          {&strategy_ddp_bucketed, VARIANT_BF16, {.cap = {2000}}},
                                          {&strategy_ddp_bucketed, VARIANT_BF16, {.cap = {0}}},
                                          {&strategy_ddp_sharded, VARIANT_BF16, {.cap = {2000}}}};
    create_both(1, 0);
    check_errors(LIST(narrow), 1, 1e-5,
                 4 * 0x1p-8); /* each sum is rounded to 8 bits; with fp32, errors are below 1e-5 */
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++) {
        train_with(&many, narrow[i].strategy, narrow[i].variant, &narrow[i].caps, 0, 1);
        if (!narrow[i].strategy->traits[narrow[i].variant]->shards)
            check_ranks(on_host(many.model.device, many.model.gradient, many.model.arena), many.model.arena, 1);
    }
    check_errors(LIST(narrow), STEPS, 0, 0.2);
}

/* A step records its phases in order without gaps, and one collective per bucket inside the step. */
TEST(a_step_records_its_phases)
{
    create_many(2, 0);
    train(&many, &strategy_ddp_bucketed, &small, 1);
    static const int expected[] = {PHASE_ZERO_GRAD,    PHASE_DATA_LOADING, PHASE_FORWARD,  PHASE_BACKWARD,
                                   PHASE_DATA_LOADING, PHASE_FORWARD,      PHASE_BACKWARD, PHASE_GRADIENT_SYNC,
                                   PHASE_OPTIMIZER,    PHASE_LR_SCHEDULING};
    const struct lane *lane = &many.timeline.lane[LANE_HOST];
    int64_t at = 0, begin = lane->span[0].start_ns;
    size_t phase = 0;
    int marks = 0;
    for (size_t i = 0; i < lane->n; i++) {
        const struct span *s = &lane->span[i];
        if (s->name == ready_name) {
            marks++;
            continue;
        }
        ck_assert_str_eq(s->name, phase_name[expected[phase++]]);
        ck_assert(at == 0 || s->start_ns == at);
        at = s->end_ns;
    }
    ck_assert_uint_eq(phase, sizeof expected / sizeof *expected);
    ck_assert_int_eq(marks, many.model.tensors);
    const struct lane *comm = &many.timeline.lane[LANE_COMMUNICATION];
    ck_assert_uint_eq(comm->n, (size_t)many.reducer.plan.n);
    for (size_t i = 0; i < comm->n; i++)
        ck_assert(comm->span[i].start_ns >= begin && comm->span[i].end_ns <= at);
    ck_assert_uint_eq(lane->dropped + comm->dropped, 0);
}

/* Before each step, device memory has the optimizer's scalars: step number from 1, learning rate, clip factor 1. */
TEST(the_optimizer_gets_its_scalars_each_step)
{
    create_many(1, STEPS - 2);
    train(&many, &strategy_ddp, NULL, 0);
    for (int i = 0; i < STEPS; i++) {
        float *scalars = on_host(many.model.device, many.trainer.optimizer.scalars, SCALARS);
        ck_assert_float_eq(scalars[SCALAR_STEP], (float)(i + 1));
        ck_assert_float_eq(scalars[SCALAR_LEARNING_RATE], schedule_learning_rate(&many.trainer.schedule, i));
        ck_assert_float_eq(scalars[SCALAR_CLIP], 1);
        step_run(&many.trainer, i);
        /* warm-up steps compute the norm, which is far above the limit for this model */
        float norm = recorded(&many, i, RECORD_GRAD_NORM);
        if (i < STEPS - 2)
            ck_assert_float_gt(norm, many.trainer.max_norm);
        else
            ck_assert_float_eq(norm, 0);
    }
    ck_assert_int_eq(many.trainer.step, STEPS);
}

/* ---- early updates ---- */

/* Returns the moments, and the weights that layers read, in host memory. */
static char *state_of(const struct one_rank *one, size_t *bytes)
{
    const struct model *model = &one->model;
    size_t whole = model->arena * sizeof(float), narrow = model->arena * model->compute_bytes;
    char *state = kept(allocate(*bytes = 2 * whole + narrow, 1));
    model->device->download(state, one->trainer.optimizer.m, whole);
    model->device->download(state + whole, one->trainer.optimizer.v, whole);
    model->device->download(state + 2 * whole, model_read_weight(model), narrow);
    return state;
}

/* Updates during backward leave the same weights and moments as updates after it, bit for bit. */
static void check_early_updates(size_t bucket_bytes)
{
    struct bucket_caps caps = {.cap = {bucket_bytes}};
    size_t bytes;
    create_many(2, 0);
    train(&many, &strategy_ddp_bucketed, &caps, STEPS);
    char *expected = state_of(&many, &bytes);
    train_with(&many, &strategy_ddp_bucketed, VARIANT_UPDATE, &caps, 0, STEPS);
    ck_assert_mem_eq(state_of(&many, &bytes), expected, bytes);
    ck_assert_uint_eq(many.timeline.lane[LANE_HOST].dropped, 0);
}

CASE(checkpoint) /* on an emulated GPU also in bf16, where layers read a copy of the weights */

TEST(early_updates_equal_later_ones)
{
    check_early_updates(2000);
}

/* Returns a checkpoint in a file of this job, without memory for pieces. */
static struct checkpoint new_checkpoint(size_t every)
{
    int pid = getpid(), *all = kept(allocate((size_t)job.size, sizeof *all));
    struct checkpoint checkpoint = {.every = every, .job = &job, .seed = 3};
    job_gather(&job, &pid, sizeof pid, all);
    snprintf(checkpoint.path, sizeof checkpoint.path, "/tmp/test_parity_%d.bin", all[0]);
    return checkpoint;
}

/* Training that is saved after the third step and restored by another trainer continues bit for bit, with and without
 * clipping. All ranks stay in the checkpoint phase until the file is written. */
TEST_EACH(training_resumes_from_a_checkpoint, RESUMED)
{
    enum { EVERY = 3, DELAY_NS = 50000000 };
    float record[STEPS][RECORDS];
    int64_t phase[2] = {0}, *all = kept(allocate(2 * (size_t)job.size, sizeof *all)); /* start and end */
    struct checkpoint checkpoint = new_checkpoint(EVERY);
    create_many(2, EVERY + 1);
    many.trainer.checkpoint = checkpoint;
    many.trainer.checkpoint.piece = job.rank ? NULL : many.model.device->allocate_host(checkpoint_piece_bytes());
    many.trainer.delay_ns[PHASE_CHECKPOINT] = job.rank ? 0 : DELAY_NS;
    train_resumed(&many, _i, STEPS);
    ck_assert_uint_eq(many.trainer.checkpoint.saved, 1);
    const struct lane *host = &many.timeline.lane[LANE_HOST];
    int phases = 0;
    for (const struct span *s = host->span; s < host->span + host->n; s++)
        if (step_phase_of(s) == PHASE_CHECKPOINT) {
            phases++;
            ck_assert_int_eq(s->step, EVERY - 1);
            phase[0] = s->queued_ns;
            phase[1] = s->returned_ns;
        }
    ck_assert_int_eq(phases, 1);
    job_gather(&job, phase, sizeof phase, all);
    ck_assert_int_ge(phase[1], all[0] + DELAY_NS);
    many.model.device->download(record, many.trainer.record, sizeof record);
    size_t floats = many.model.arena * many.model.compute_bytes / sizeof(float);
    float *weights = on_host(many.model.device, model_read_weight(&many.model), floats);
    one_rank_destroy(&many);

    create_many(2, EVERY + 1);
    train_resumed(&many, _i, 1);
    ck_assert_int_eq(restore_trainer(&many.trainer, checkpoint.path), -1); /* refused: another seed */
    error_clear();
    many.trainer.checkpoint.seed = 3;
    ck_assert_msg(!restore_trainer(&many.trainer, checkpoint.path), "%s", error_text());
    ck_assert_int_eq(many.trainer.step, EVERY);
    for (int i = EVERY; i < STEPS; i++) {
        step_run(&many.trainer, i);
        ck_assert_float_eq(recorded(&many, i, RECORD_LOSS), record[i][RECORD_LOSS]);
        ck_assert_float_eq(recorded(&many, i, RECORD_GRAD_NORM), record[i][RECORD_GRAD_NORM]);
    }
    reducer_settle(&many.reducer);
    float *restored = on_host(many.model.device, model_read_weight(&many.model), floats);
    ck_assert_mem_eq(restored, weights, floats * sizeof *weights);
    job_barrier(&job);
    unlink(checkpoint.path);
}

CASE(more)

TEST_EACH(early_updates_of_other_buckets, 2)
{
    check_early_updates(_i ? 1 << 30 : 1);
}

/* Every strategy agrees with one process; with two micro-batches; and in warm-up steps, with the learning rate's ramp
 * and clipping by the reduced gradient's norm. */
TEST_EACH(ranks_equal_one_process, 3)
{
    create_both(_i == 1 ? 2 : 1, _i == 2 ? STEPS + 3 : 0);
    check_errors(tried, (size_t)n_tried, 1, 0, gradient_tolerance);
    check_errors(tried, (size_t)n_tried, STEPS, 0, weight_tolerance);
}

/* Every reducer takes the memory that is estimated for it. */
TEST(memory_is_estimated)
{
    create_many(1, 0);
    for (int i = 0; i == 0 || strategies[i - 1]; i++)
        for (int v = 0; v < VARIANTS; v++) {
            const struct strategy *strategy = strategies[i] ? strategies[i] : &own_strategy;
            size_t gradients;
            if (!strategy->traits[v])
                continue;
            train_with(&many, strategy, (enum variant)v, &small, 3, 0);
            size_t bytes = reducer_memory(strategy, (enum variant)v, &many.model, job.size, many.comm->local_size,
                                          &small, 3, &gradients);
            ck_assert_uint_eq(bytes, many.reducer.bytes);
            ck_assert_uint_eq(gradients, many.reducer.released_floats * sizeof(float));
        }
}

/* ---- hosts ---- */

static void create_on_hosts(int placing)
{
    placed = on_hosts(&job, placing);
    create_many(1, 0);
    placed = job;
}

static const struct bucket_caps of_hosts[] = {{.cap = {1}}, {.cap = {2000}}, {.cap = {1 << 30}}};

/* On one host, or with one rank on each host, ddp_hierarchical does the same as ddp_bucketed. */
TEST_EACH(hosts_equal_one_process, PLACINGS)
{
    one_rank_create(&single, 0, 1, 1, 0);
    create_on_hosts(_i);
    const struct bucket_caps *end = of_hosts + sizeof of_hosts / sizeof *of_hosts;
    train(&single, &strategy_ddp, NULL, 1);
    for (const struct bucket_caps *caps = of_hosts; caps < end; caps++) {
        train(&many, &strategy_ddp_hierarchical, caps, 1);
        int levels = many.comm->local_size > 1 && many.comm->local_size < job.size;
        ck_assert_ptr_eq(many.reducer.strategy, levels ? &strategy_ddp_hierarchical : &strategy_ddp_bucketed);
        ck_assert_uint_eq(many.timeline.lane[LANE_COMMUNICATION].n, (size_t)many.reducer.plan.n * (levels ? 4 : 1));
        ck_assert_double_le(gradient_error(&many, &single), gradient_tolerance);
    }
    train(&single, &strategy_ddp, NULL, STEPS);
    for (const struct bucket_caps *caps = of_hosts; caps < end; caps++) {
        train(&many, &strategy_ddp_hierarchical, caps, STEPS);
        ck_assert_double_le(weight_error(&many, &single), weight_tolerance);
    }
}

/* ---- the comparison fails if there are mistakes ---- */

enum mistake {
    NO_MISTAKE,
    FORGETS_MEAN, /* gradients are summed, not averaged */
    MISSES_LAST,  /* a collective's last element is left out */
    RUNS_TWICE,
    SHIFTS_SHARD,   /* a reduce-scatter takes its input one element too late, and one element less */
    FORGETS_GATHER, /* the weights of the first bucket, which has the output, are never gathered */
    SENDS_STALE,    /* rank 1 sends the weights with which training started */
    FORGETS_STAGE,  /* stage 0 of the first bucket in ddp_hierarchical; with + 1 to + 3, stages 1 to 3 */
    FORGETS_LAST_STAGE = FORGETS_STAGE + 3,
    MISTAKES
};

/* A comm that passes its calls on to `real`, and makes one mistake. */
struct faulty {
    struct comm comm, *real;
    enum mistake mistake;
};

static void *faulty_allocate(struct comm *comm, size_t bytes)
{
    struct faulty *f = (struct faulty *)comm;
    return f->real->allocate(f->real, bytes);
}

static void faulty_release(struct comm *comm, void *memory)
{
    struct faulty *f = (struct faulty *)comm;
    f->real->release(f->real, memory);
}

/* Overwrites this rank's part of the weights that are about to be gathered. */
static void make_stale(const struct collective *c)
{
    size_t own = (size_t)job.rank * c->count, offset = (size_t)((float *)c->buffer - many.model.weight) + own;
    many.model.device->copy((float *)c->buffer + own, many.trainer.start + offset, c->count);
}

static long faulty_start(struct comm *comm, const struct collective *collective)
{
    struct faulty *f = (struct faulty *)comm;
    struct collective c = *collective;
    int gathers = c.kind == COMM_ALL_GATHER && c.index >= 0; /* weights, not norms */
    c.count -= f->mistake == MISSES_LAST && c.index >= 0;
    if (f->mistake == SHIFTS_SHARD && c.kind == COMM_REDUCE_SCATTER)
        c.in = (const float *)c.in + 1, c.count--;
    if (f->mistake == SENDS_STALE && gathers && job.rank == 1)
        make_stale(&c);
    if (f->mistake == FORGETS_GATHER && gathers && c.index == 0) { /* starts another collective, to have a ticket */
        c = (struct collective){.kind = COMM_ALL_GATHER, .buffer = many.reducer.norm, .count = 1, .index = 0};
    }
    int gathers_sums = c.kind == COMM_ALL_GATHER, stage = c.group == COMM_HOST ? 3 * gathers_sums : 1 + gathers_sums;
    if (c.group != COMM_ALL && c.index == 0 && (int)f->mistake == FORGETS_STAGE + stage)
        c.count = 0;
    long ticket = f->real->start(f->real, &c);
    if (f->mistake == RUNS_TWICE) {
        f->real->join(f->real, ticket);
        ticket = f->real->start(f->real, &c);
    }
    return ticket;
}

static void faulty_join(struct comm *comm, long ticket)
{
    struct faulty *f = (struct faulty *)comm;
    f->real->join(f->real, ticket);
}

static void faulty_run(struct comm *comm, const struct collective *collective)
{
    faulty_join(comm, faulty_start(comm, collective));
}

/* Trains with a mistake. Returns the error of the gradient after one step, or of the weights after several steps. */
static double error_with(const struct tried *v, enum mistake mistake, int steps)
{
    struct faulty faulty = {{.rank = job.rank,
                             .ranks = job.size,
                             .local_size = many.comm->local_size,
                             .allocate = faulty_allocate,
                             .release = faulty_release,
                             .start = faulty_start,
                             .join = faulty_join,
                             .run_blocking = faulty_run},
                            many.comm,
                            mistake};
    reducer_destroy(&many.reducer);
    reducer_create(&many.reducer, v->strategy, v->variant, &many.model, &faulty.comm, &v->caps, 0);
    many.trainer.ranks = mistake == FORGETS_MEAN ? 1 : job.size;
    trainer_reset(&many.trainer, 1);
    timeline_clear(&many.timeline);
    for (int i = 0; i < steps; i++)
        step_run(&many.trainer, i);
    reducer_settle(&many.reducer);
    double error = steps == 1 ? gradient_error(&many, &single) : weight_error(&many, &single);
    reducer_destroy(&many.reducer);
    return error;
}

/* Mistakes in the reduction show in the gradient. A reduce-scatter may run twice, since its result is the same. */
TEST(the_check_fails_on_mistakes)
{
    if (job.size == 1)
        return; /* these mistakes have no effect on one rank */
    create_both(1, 0);
    train(&single, &strategy_ddp, NULL, 1);
    for (int v = 0; v < n_tried; v++) {
        int shards = tried[v].strategy->traits[tried[v].variant]->shards;
        ck_assert_double_le(error_with(&tried[v], NO_MISTAKE, 1), gradient_tolerance);
        for (int mistake = FORGETS_MEAN; mistake <= (shards ? SHIFTS_SHARD : RUNS_TWICE); mistake++)
            if (!shards || mistake != RUNS_TWICE)
                ck_assert_msg(error_with(&tried[v], (enum mistake)mistake, 1) > 100 * gradient_tolerance,
                              "%s: mistake %d is not detected", tried[v].strategy->name, mistake);
    }
}

TEST_EACH(the_check_fails_on_forgotten_stages, PLACINGS)
{
    static const struct tried few[] = {{&strategy_ddp_hierarchical, VARIANT_PLAIN, {.cap = {1}}},
                                       {&strategy_ddp_hierarchical, VARIANT_PLAIN, {.cap = {1 << 30}}}};
    if (job.size < 4)
        return;
    one_rank_create(&single, 0, 1, 1, 0);
    create_on_hosts(_i);
    train(&single, &strategy_ddp, NULL, 1);
    for (size_t v = 0; v < sizeof few / sizeof *few; v++) {
        ck_assert_double_le(error_with(&few[v], NO_MISTAKE, 1), gradient_tolerance);
        for (int mistake = FORGETS_STAGE; mistake < MISTAKES; mistake++)
            ck_assert_msg(error_with(&few[v], (enum mistake)mistake, 1) > 100 * gradient_tolerance,
                          "mistake %d is not detected", mistake);
    }
}

CASE(hosts) /* also on an emulated GPU */

/* If a comm runs the collectives of a group in order, the first stage of a bucket comes before the last stage of the
 * bucket before, so that it need not wait for all stages of that bucket; otherwise after it. */
static void check_order(const struct lane *lane)
{
    size_t n = (size_t)many.reducer.plan.n, *first = kept(allocate(2 * n, sizeof *first)), *last = first + n;
    if (many.comm->local_size == 1 || many.comm->local_size == job.size)
        return;
    for (const struct span *s = lane->span; s < lane->span + lane->n; s++)
        if (s->size[SIZE_GROUP] == COMM_HOST)
            (s->size[SIZE_KIND] == COMM_ALL_GATHER ? last : first)[s->index] = s->size[SIZE_TICKET];
    for (size_t b = 0; b + 1 < n; b++)
        ck_assert_int_eq(first[b + 1] < last[b], many.comm->groups_in_order);
}

/* Sums of whole numbers are exact in every element, and the gaps between matrices stay zero. */
TEST_EACH(hosts_sum_exactly, PLACINGS)
{
    create_on_hosts(_i);
    const struct model *model = &many.model;
    float *x = kept(allocate(model->arena, sizeof *x));
    for (size_t b = 0; b < sizeof of_hosts / sizeof *of_hosts; b++) {
        train(&many, &strategy_ddp_hierarchical, &of_hosts[b], 1);
        check_order(&many.timeline.lane[LANE_COMMUNICATION]);
        memset(x, 0, model->arena * sizeof *x);
        for (const struct tensor *t = model->tensor; t < model->tensor + model->tensors; t++)
            for (size_t i = t->offset; i < t->offset + t->count; i++)
                x[i] = (float)((i + 1) * (size_t)(job.rank + 1) % 1009);
        reduce(x);
        size_t wrong = 0, sums = 0;
        for (const struct tensor *t = model->tensor; t < model->tensor + model->tensors; t++)
            for (size_t i = t->offset; i < t->offset + t->count; i++) {
                float sum = 0;
                for (int r = 0; r < job.size; r++)
                    sum += (float)((i + 1) * (size_t)(r + 1) % 1009);
                wrong += x[i] != sum;
                sums++;
                x[i] = 0;
            }
        for (size_t i = 0; i < model->arena; i++)
            wrong += x[i] != 0;
        ck_assert_uint_eq(sums, model->parameters);
        ck_assert_uint_eq(wrong, 0);
    }
}

/* ---- shards ---- */

CASE(shards)

/* Mistakes in gathering weights show in the weights. */
TEST(the_check_fails_on_mistakes_in_gathers)
{
    if (job.size == 1)
        return;
    static const struct tried few[] = {{&strategy_ddp_sharded, VARIANT_PLAIN, {.cap = {0}}},
                                       {&strategy_ddp_sharded, VARIANT_PLAIN, {.cap = {1 << 30}}}};
    create_both(1, 0);
    train(&single, &strategy_ddp, NULL, STEPS);
    for (size_t v = 0; v < sizeof few / sizeof *few; v++) {
        ck_assert_double_le(error_with(&few[v], NO_MISTAKE, STEPS), weight_tolerance);
        for (int mistake = FORGETS_GATHER; mistake <= SENDS_STALE; mistake++) {
            double error = error_with(&few[v], (enum mistake)mistake, STEPS);
            ck_assert_msg(error > 2 * weight_tolerance, "mistake %d is not detected: weights differ by %g", mistake,
                          error);
        }
    }
}

/* On two ranks, sums do not depend on the order, so weights after some steps equal those of one all-reduce bit for bit.
 * With released gradients, this holds for one micro-batch only, since the ranks sum each micro-batch. */
TEST_EACH(shards_equal_one_all_reduce, 2)
{
    if (job.size > 2)
        return;
    create_many(_i ? 1 : 2, 0);
    train(&many, &strategy_ddp_flat, NULL, STEPS);
    float *whole = on_host(many.model.device, many.model.weight, many.model.arena);
    train_with(&many, &strategy_ddp_sharded, _i ? VARIANT_GRADIENTS : VARIANT_PLAIN, &small, 0, STEPS);
    float *sharded = on_host(many.model.device, many.model.weight, many.model.arena);
    ck_assert_mem_eq(sharded, whole, many.model.arena * sizeof *whole);
}

/* A step with gradient_only has the gradient of a whole step, and does not change weights and moments. */
TEST_EACH(a_step_can_end_with_the_gradient, RESUMED)
{
    create_many(2, STEPS);
    train_resumed(&many, _i, 1);
    float *whole_step = reduced_gradient(&many);
    many.trainer.gradient_only = 1;
    train_resumed(&many, _i, 1);
    float *only = reduced_gradient(&many), zero = 0;
    ck_assert_mem_eq(only, whole_step, many.model.arena * sizeof *only);
    float *weight = on_host(many.model.device, many.model.weight, many.model.arena);
    float *start = on_host(many.model.device, many.trainer.start, many.model.arena);
    float *m = on_host(many.model.device, many.trainer.optimizer.m, many.model.arena);
    ck_assert_mem_eq(weight, start, many.model.arena * sizeof *weight);
    for (size_t i = 0; i < many.model.arena; i++)
        ck_assert_mem_eq(&m[i], &zero, sizeof zero);
    ck_assert_int_eq(many.trainer.step, 0);
}

/* The ranks' owned ranges have equal lengths, and cover each bucket without overlap. So each rank has 1 / ranks of the
 * moments. */
TEST(shards_cover_the_arena)
{
    create_many(1, 0);
    train(&many, &strategy_ddp_sharded, &small, 1);
    const struct reducer *r = &many.reducer;
    ck_assert_int_gt(r->ranges, 2);
    ck_assert_uint_eq(reducer_owned(r) * (size_t)job.size, many.model.arena);
    for (int i = 0; i < r->ranges; i++) {
        const struct bucket *b = &r->plan.bucket[r->ranges - 1 - i];
        ck_assert_uint_eq(r->owned[i].count * (size_t)job.size, b->count);
        ck_assert_uint_eq(r->owned[i].offset, b->offset + (size_t)job.rank * r->owned[i].count);
        ck_assert_uint_eq(b->offset + b->count, i ? b[1].offset : many.model.arena);
    }
}

/* A checkpoint that one strategy wrote can be read under another strategy, and equals the other's checkpoint. */
TEST_EACH(checkpoints_do_not_depend_on_the_strategy, RESUMED)
{
    create_many(1, 0);
    struct checkpoint *c = &many.trainer.checkpoint;
    *c = new_checkpoint(0);
    c->piece = many.model.device->allocate_host(checkpoint_piece_bytes());
    train_resumed(&many, _i, 3);
    checkpoint_save(c, trainer_state(&many.trainer));
    ck_assert_uint_eq(c->saved, 1);
    train_resumed(&many, (_i + 1) % RESUMED, 1);
    ck_assert_msg(!restore_trainer(&many.trainer, c->path), "%s", error_text());
    if (job.rank)
        checkpoint_take_part(trainer_state(&many.trainer));
    else
        ck_assert_msg(!checkpoint_compare(c->path, c, trainer_state(&many.trainer)), "%s", error_text());
    job_barrier(&job);
    unlink(c->path);
    many.model.device->release_host(c->piece);
    c->piece = NULL;
}

/* Each step has a span for every collective of every bucket, named after the kind of collective. If gradients are
 * released, it has a reduction for every micro-batch, and a wait for each buffer that is reused. */
TEST_EACH(spans_distinguish_collectives_of_a_bucket, 2)
{
    enum { MICRO_BATCHES = 2 };
    create_many(MICRO_BATCHES, 0);
    train_with(&many, &strategy_ddp_sharded, _i ? VARIANT_GRADIENTS : VARIANT_PLAIN, &small, 0, STEPS);
    int reductions = many.reducer.plan.n * (_i ? MICRO_BATCHES : 1), waits[STEPS] = {0};
    const struct lane *host = &many.timeline.lane[LANE_HOST];
    for (const struct span *s = host->span; s < host->span + host->n; s++)
        waits[s->step] += step_phase_of(s) == PHASE_GRADIENT_SYNC;
    const struct lane *lane = &many.timeline.lane[LANE_COMMUNICATION];
    int seen[STEPS][COMM_KINDS] = {{0}};
    for (const struct span *s = lane->span; s < lane->span + lane->n; s++) {
        ck_assert(s->index >= 0 && s->index < many.reducer.plan.n);
        ck_assert_str_eq(s->name, comm_kind_name[s->size[SIZE_KIND]]);
        seen[s->step][s->size[SIZE_KIND]]++;
    }
    for (int step = 0; step < STEPS; step++) {
        ck_assert_int_eq(seen[step][COMM_REDUCE_SCATTER], reductions);
        ck_assert_int_eq(waits[step], _i ? reductions - RING_BUFFERS + 1 : 1);
        ck_assert_int_eq(seen[step][COMM_ALL_GATHER], many.reducer.plan.n);
        ck_assert_int_eq(seen[step][COMM_ALL_REDUCE], 0);
    }
    ck_assert_uint_eq(lane->dropped, 0);
}

/* ---- other arithmetic ---- */

CASE(other) /* also on an emulated GPU */

enum { RANK = 2, OF_LOW_RANK = 3 }; /* the rank of approximations; the number of steps with them */

/* Returns number i of the gradient of a rank in a step: irregular, within 1. */
static float made_up(int rank, int step, size_t i)
{
    return (float)sin(1.0 + (double)(i * i % 7919) * (3 + 5 * rank + 7 * step));
}

/* Does a step of PowerSGD in double, as simple as possible, on a matrix of each rank, g[ranks, O, I], with error memory
 * e[ranks, O, I], and q[RANK, I]. Stores the sum in sum[O, I]. */
static void reference_low_rank(double *sum, double *e, double *q, const double *g, size_t I, size_t O)
{
    size_t ranks = (size_t)job.size, n = O * I;
    double *p = kept(allocate(RANK * O, sizeof *p)), *part = kept(allocate(RANK * (O > I ? O : I), sizeof *part));
    for (size_t i = 0; i < ranks * n; i++)
        e[i] += g[i];
    for (size_t r = 0; r < ranks; r++) {
        reference_linear_forward(part, q, e + r * n, RANK, I, O);
        for (size_t i = 0; i < RANK * O; i++)
            p[i] += part[i];
    }
    reference_orthonormalise(p, RANK, O);
    memset(q, 0, RANK * I * sizeof *q);
    for (size_t r = 0; r < ranks; r++)
        reference_linear_backward_input(q, p, e + r * n, RANK, I, O, 1);
    memset(sum, 0, n * sizeof *sum);
    reference_linear_backward_weight(sum, p, q, RANK, I, O);
    for (size_t i = 0; i < ranks * n; i++)
        e[i] -= sum[i % n] / (double)job.size;
}

/* Returns the largest difference, on any rank, between numbers of `got` and `want`, relative to the largest of `want`.
 */
static double largest_error(const float *got, const double *want, size_t n)
{
    double apart = 0, largest = 0;
    for (size_t i = 0; i < n; i++) {
        apart = fmax(apart, fabs((double)got[i] - want[i]));
        largest = fmax(largest, fabs(want[i]));
    }
    return job_max(&job, apart / largest);
}

/* Three steps of PowerSGD, each of which adds earlier errors, equal the reference for every tensor, with any buckets.
 * Vectors are summed exactly. */
TEST(low_rank_steps_equal_the_reference)
{
    create_many(1, 0);
    const struct model *model = &many.model;
    size_t arena = model->arena, ranks = (size_t)job.size;
    for (size_t b = 0; b < sizeof of_hosts / sizeof *of_hosts; b++) {
        train_with(&many, &strategy_ddp_powersgd, VARIANT_PLAIN, &of_hosts[b], RANK, 0);
        const struct low_rank *low = many.reducer.state;
        float *q = on_host(model->device, low->message + low->end[0].p, low->end[0].q), *x[OF_LOW_RANK];
        check_ranks(q, low->end[0].q, 1);
        for (int step = 0; step < OF_LOW_RANK; step++) {
            x[step] = kept(allocate(arena, sizeof **x));
            for (const struct tensor *t = model->tensor; t < model->tensor + model->tensors; t++)
                for (size_t i = t->offset; i < t->offset + t->count; i++)
                    x[step][i] = made_up(job.rank, step, i);
            reduce(x[step]);
            check_ranks(x[step], arena, 1);
        }
        for (int tensor = 0; tensor < model->tensors; tensor++) {
            const struct tensor *t = &model->tensor[tensor];
            double *e = kept(allocate(ranks * t->count, sizeof *e)), *g = kept(allocate(ranks * t->count, sizeof *g));
            double *of_q = kept(allocate(RANK * t->columns, sizeof *of_q)),
                   *sum = kept(allocate(t->count, sizeof *sum));
            for (size_t i = 0; i < RANK * t->columns && t->rows > 1; i++)
                of_q[i] = (double)q[low->end[tensor + 1].q + i];
            for (int step = 0; step < OF_LOW_RANK; step++) {
                for (size_t i = 0; i < ranks * t->count; i++)
                    g[i] = (double)made_up((int)(i / t->count), step, t->offset + i % t->count);
                memset(sum, 0, t->count * sizeof *sum);
                if (t->rows > 1)
                    reference_low_rank(sum, e, of_q, g, t->columns, t->rows);
                else
                    for (size_t i = 0; i < ranks * t->count; i++)
                        sum[i % t->count] += g[i];
                double error = largest_error(x[step] + t->offset, sum, t->count);
                ck_assert_msg(error < (t->rows > 1 ? 1e-4 : 1e-6), "%s differs by %g in step %d", t->name, error, step);
            }
        }
    }
}

/* PowerSGD of rank R is exact if the sum of the gradients has at most rank R. Here its rank is the number of ranks. If
 * its rank is below R, some rows of the factors depend on other rows. */
TEST(matrices_of_low_rank_are_exact)
{
    enum { MORE = 4 };
    create_many(1, 0);
    const struct model *model = &many.model;
    float *x = kept(allocate(model->arena, sizeof *x));
    double *sum = kept(allocate(model->arena, sizeof *sum));
    for (const struct tensor *t = model->tensor; t < model->tensor + model->tensors; t++)
        for (size_t i = 0; i < t->count; i++)
            for (int r = 0; r < job.size; r++) {
                float product = made_up(r, 1, i / t->columns) * made_up(r, 2, 100 + i % t->columns);
                sum[t->offset + i] += (double)product;
                x[t->offset + i] = r == job.rank ? product : x[t->offset + i];
            }
    train_with(&many, &strategy_ddp_powersgd, VARIANT_PLAIN, &small, MORE, 0);
    reduce(x);
    for (const struct tensor *t = model->tensor; t < model->tensor + model->tensors; t++) {
        double error = largest_error(x + t->offset, sum + t->offset, t->count);
        ck_assert_msg(error < 1e-5, "%s differs by %g", t->name, error);
    }
}

/* Moves the anchor by the mean of the ranks' changes with Nesterov's momentum, in double. All arrays are [arena]. */
static void reference_average(double *anchor, double *momentum, const float *weight, size_t arena)
{
    float *all = kept(allocate((size_t)job.size * arena, sizeof *all));
    job_gather(&job, weight, arena * sizeof *weight, all);
    for (size_t i = 0; i < arena; i++) {
        double d = 0;
        for (int r = 0; r < job.size; r++)
            d += (anchor[i] - (double)all[(size_t)r * arena + i]) / job.size;
        momentum[i] = 0.9 * momentum[i] + d;
        anchor[i] -= 0.7 * (d + 0.9 * momentum[i]);
    }
}

/* Returns the norm of AdamW's first moment. If all gradients are multiplied by a factor, so is this norm. */
static double moment_norm(const struct one_rank *one)
{
    double sum = 0;
    float *moment = on_host(one->model.device, one->trainer.optimizer.m, one->model.arena);
    for (size_t i = 0; i < one->model.arena; i++)
        sum += (double)moment[i] * (double)moment[i];
    return sqrt(sum);
}

/* Local training gives the weights of ranks that train alone, each on its part of the batch, and whose weights the test
 * averages every _i steps. */
TEST_RANGE(local_training_equals_the_reference, 0, 1, 3)
{
    create_many(1, 0);
    size_t arena = many.model.arena;
    const struct device *device = many.model.device;
    double *anchor = kept(allocate(arena, sizeof *anchor)), *momentum = kept(allocate(arena, sizeof *momentum)),
           norm[STEPS];
    float *start = on_host(device, many.model.weight, arena), *want[STEPS];
    for (size_t i = 0; i < arena; i++)
        anchor[i] = (double)start[i];
    train(&many, &strategy_none, NULL, 0);
    many.trainer.ranks = 1; /* gradients are of the rank's own part only */
    for (int step = 0; step < STEPS; step++) {
        step_run(&many.trainer, step);
        norm[step] = moment_norm(&many);
        want[step] = on_host(device, many.model.weight, arena);
        if ((step + 1) % _i)
            continue;
        reference_average(anchor, momentum, want[step], arena);
        for (size_t i = 0; i < arena; i++)
            want[step][i] = (float)anchor[i];
        device->upload(many.model.weight, want[step], arena * sizeof **want);
        model_weights_changed(&many.model);
    }
    many.trainer.ranks = job.size;
    for (int step = 0; step < STEPS; step++) {
        train_with(&many, &strategy_ddp_local, VARIANT_PLAIN, NULL, (size_t)_i, step + 1);
        ck_assert_uint_eq(many.timeline.lane[LANE_COMMUNICATION].n, (size_t)((step + 1) / _i));
        float *weight = on_host(device, many.model.weight, arena);
        ck_assert_double_le(distance(weight, want[step], start, arena), weight_tolerance);
        /* AdamW's update hides a factor of all gradients, but its first moment shows it */
        double ratio = moment_norm(&many) / norm[step];
        ck_assert_double_le(job_max(&job, fabs(ratio - 1)), weight_tolerance);
        check_ranks(weight, arena, (step + 1) % _i == 0);
    }
}

/* When training starts again, a strategy forgets what it keeps from step to step. */
TEST_EACH(training_can_start_again, 2)
{
    static const struct strategy *const keeping[] = {&strategy_ddp_powersgd, &strategy_ddp_local};
    create_many(1, 0);
    train_with(&many, keeping[_i], VARIANT_PLAIN, &small, 2, STEPS);
    float *first = on_host(many.model.device, many.model.weight, many.model.arena);
    trainer_reset(&many.trainer, 1);
    for (int i = 0; i < STEPS; i++)
        step_run(&many.trainer, 0);
    float *again = on_host(many.model.device, many.model.weight, many.model.arena);
    ck_assert_mem_eq(again, first, many.model.arena * sizeof *again);
}

int main(void)
{
    if (job_begin(&job, 0, NULL, NULL))
        return 1;
    if (!on_device_is_there()) /* after MPI_Init: if ranks ended before it, SIGPIPE could end mpiexec */
        return job_end(&job, EXIT_SUCCESS);
    const char *name = getenv("TEST_COMM"), *samples = getenv("TEST_BATCH");
    batch = samples ? strtoul(samples, NULL, 10) : batch;
    char host[32];
    snprintf(host, sizeof host, "host-of-rank-%d", job.rank);
    setenv("NCCL_HOSTID", host, 0); /* NCCL refuses two ranks on one GPU of one host */
    for (int i = 0; name && i < COMM_LIBRARIES; i++)
        library = strcmp(name, comm_library_name[i]) ? library : (enum comm_library)i;
    placed = job;
    list_tried();
    return suite_run_ranks(suite_of_tests("parity", NULL, destroy_both), &job);
}
