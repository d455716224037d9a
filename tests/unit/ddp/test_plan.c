/* test_plan.c - buckets tile the gradient, and strategies send each element exactly once, at the right time. */
#include "ddp/exchange.h"
#include "ddp/low_rank.h"
#include "ddp/ring.h"
#include "ddp/step.h"
#include "ddp/transformer.h"
#include "kernels/error.h"
#include "tests/support/own_strategy.h"
#include "tests/support/suite.h"

#include <string.h>

static struct model model;

static void setup(void)
{
    struct model_sizes sizes = {1, 4, 37, 12, 3, 2, 20, 1};
    transformer_plan(&model, &sizes, sizeof(float));
    model_allocate(&model, device_cpu(1), NULL, NULL);
}

static void teardown(void)
{
    model_destroy(&model);
}

/* ---- a comm that records its calls ---- */

struct call {
    struct collective collective;
    int announced; /* index of the tensor announced last before the call; -1: backward has ended */
};

struct recorder {
    struct comm comm;
    struct call call[256];
    int n, announced;
    long joined;   /* highest ticket that was waited for */
    long blocking; /* number of starts made while nothing else was in flight */
};

static long recorder_start(struct comm *comm, const struct collective *collective)
{
    struct recorder *r = (struct recorder *)comm;
    r->blocking += r->joined == r->n;
    r->call[r->n++] = (struct call){*collective, r->announced};
    return r->n;
}

static void recorder_join(struct comm *comm, long ticket)
{
    struct recorder *r = (struct recorder *)comm;
    ck_assert_int_le(ticket, r->n);
    r->joined = ticket > r->joined ? ticket : r->joined;
}

static void recorder_run(struct comm *comm, const struct collective *collective)
{
    recorder_join(comm, recorder_start(comm, collective));
}

static void *recorder_allocate(struct comm *comm, size_t bytes)
{
    (void)comm;
    return model.device->allocate(bytes);
}

static void recorder_release(struct comm *comm, void *memory)
{
    (void)comm;
    model.device->release(memory);
}

static struct recorder recorder_make(void)
{
    return (struct recorder){.comm = {.name = "recorder",
                                      .ranks = 1,
                                      .allocate = recorder_allocate,
                                      .release = recorder_release,
                                      .start = recorder_start,
                                      .join = recorder_join,
                                      .run_blocking = recorder_run}};
}

/* Announces all gradients and the end of backward, as a backward pass would, without computing anything. */
static void drive(struct recorder *r, struct reducer *reducer)
{
    reducer_begin(reducer, 0);
    for (int t = model.tensors - 1; t >= 0; t--) {
        r->announced = t;
        reducer_gradient_ready(reducer, t);
    }
    r->announced = -1;
    reducer->strategy->finish(reducer);
}

/* Checks that each element of each tensor was sent `times` times; alignment gaps may be sent or not. */
static void check_tiles(const struct recorder *r, const char *base, size_t element, int times)
{
    unsigned char *sent = kept(allocate(model.arena, 1));
    for (int i = 0; i < r->n; i++) {
        const struct collective *c = &r->call[i].collective;
        size_t offset = (size_t)((const char *)(c->in ? c->in : c->buffer) - base) / element;
        ck_assert_uint_le(offset + c->count, model.arena);
        for (size_t j = 0; j < c->count; j++)
            sent[offset + j]++;
    }
    for (int t = 0; t < model.tensors; t++)
        for (size_t j = 0; j < model.tensor[t].count; j++)
            ck_assert_int_eq(sent[model.tensor[t].offset + j], times);
}

/* Checks that a strategy that sends from its own buffer sends all buckets in turn, and no number twice. */
static void check_own_buffer(const struct recorder *r, const struct reducer *reducer)
{
    size_t sent = 0, elements = 0, sent_to = 0;
    for (int i = 0; i < r->n; i++) {
        const struct collective *c = &r->call[i].collective;
        const struct collective *last = i ? &r->call[i - 1].collective : NULL;
        size_t at = (size_t)((const char *)c->buffer - (const char *)reducer->state) / comm_dtype_bytes(c->dtype);
        int begins = !last || c->index == last->index + 1;
        ck_assert(begins || c->index == last->index);
        ck_assert_uint_eq(at, begins ? reducer->plan.bucket[c->index].offset : sent_to);
        sent_to = at + c->count;
        sent += c->count;
    }
    for (int b = 0; b < reducer->plan.n; b++)
        elements += reducer->plan.bucket[b].count;
    ck_assert_uint_eq(sent, elements);
}

/* Checks that all buckets are exchanged in turn, each whole, and that each sum is gathered a bucket later. A strategy
 * that shards gathers no sums. */
static void check_exchange(const struct recorder *r, const struct reducer *reducer)
{
    int n = reducer->plan.n, gathered = 0, exchanged = 0;
    for (int i = 0; i < r->n; i++) {
        const struct collective *c = &r->call[i].collective;
        ck_assert_int_eq(c->dtype, COMM_BF16);
        ck_assert_uint_ge(c->count, reducer->plan.bucket[c->index].count);
        ck_assert_int_eq(c->index, c->kind == COMM_ALL_TO_ALL ? exchanged++ : gathered++);
        ck_assert(reducer->traits->shards || gathered >= exchanged - 2);
    }
    ck_assert_int_eq(exchanged, n);
    ck_assert_int_eq(gathered, reducer->traits->shards ? 0 : n);
}

/* Checks that each element of the messages of ddp_powersgd was sent once: the P of the buckets in turn, and the Q of a
 * bucket, if it is not empty, a bucket later. */
static void check_low_rank(const struct recorder *r, const struct reducer *reducer)
{
    const struct low_rank *low = reducer->state;
    const struct place *end = &low->end[0];
    unsigned char *sent = kept(allocate(end->p + end->q, 1));
    int of_p = 0, of_q = -1;
    for (int i = 0; i < r->n; i++) {
        const struct collective *c = &r->call[i].collective;
        size_t offset = (size_t)((const float *)c->buffer - low->message);
        for (size_t j = 0; j < c->count; j++)
            ck_assert_int_eq(sent[offset + j]++, 0);
        if (offset < end->p)
            ck_assert_int_eq(c->index, of_p++);
        else
            ck_assert(c->index > of_q && c->index >= of_p - 2);
        of_q = offset < end->p ? of_q : c->index;
    }
    for (size_t j = 0; j < end->p + end->q; j++)
        ck_assert_int_eq(sent[j], 1);
    ck_assert_int_eq(of_p, reducer->plan.n);
}

TEST(every_strategy_sends_each_element_once)
{
    static const struct bucket_caps caps[] = {
        {.cap = {1}},     {.cap = {1000}},      {.cap = {4096}, .last = 2000},   {.cap = {1000, 4096}},
        {.cap = {10000}}, {.cap = {1UL << 30}}, {.cap = {SIZE_MAX}, .blocks = 1}};
    static const enum variant tried[] = {VARIANT_PLAIN, VARIANT_BF16};
    for (int i = 0; i == 0 || strategies[i - 1]; i++) { /* and own_strategy, which the program does not have */
        const struct strategy *strategy = strategies[i] ? strategies[i] : &own_strategy;
        for (size_t b = 0; b < sizeof caps / sizeof *caps; b++)
            for (int d = 0; d < 2; d++) {
                struct recorder r = recorder_make();
                struct reducer reducer;
                const struct traits *traits = strategy->traits[tried[d]];
                if (!traits)
                    continue;
                reducer_create(&reducer, strategy, tried[d], &model, &r.comm, &caps[b], 1);
                for (int step = 0; step < 2; step++) {
                    r = recorder_make();
                    drive(&r, &reducer);
                    const float *data = r.call[0].collective.in ? r.call[0].collective.in : r.call[0].collective.buffer;
                    int in_arena = !r.n || (data >= model.gradient && data < model.gradient + model.arena);
                    if (strategy == &strategy_ddp_powersgd)
                        check_low_rank(&r, &reducer);
                    else if (traits->message[0].kind == COMM_ALL_TO_ALL)
                        check_exchange(&r, &reducer);
                    else if (!in_arena)
                        check_own_buffer(&r, &reducer);
                    else
                        check_tiles(&r, (char *)model.gradient, sizeof(float), strategy_is_compared(strategy));
                    ck_assert_int_eq(r.joined, r.n); /* nothing is left in flight */
                }
                reducer_destroy(&reducer);
            }
    }
}

/* Checks that no collective in flight reads [from, from + floats). */
static void check_free(const struct recorder *r, const float *from, size_t floats)
{
    for (int i = (int)r->joined; i < r->n; i++) {
        const float *in = r->call[i].collective.in;
        ck_assert(from + floats <= in || in + r->call[i].collective.count <= from);
    }
}

/* Places a matrix. Checks that the place lies in the ring, that no collective reads it, and that all its floats equal
 * `number`. */
static float *placed(const struct recorder *r, struct reducer *reducer, int t, float number)
{
    size_t floats = tensor_matrix_rows(&model.tensor[t]) * model.tensor[t].columns;
    reducer_join_ticket(reducer, reducer_needed(reducer, t, PASS_BACKWARD)); /* ticket 0: nothing to wait for */
    float *place = reducer_place(reducer, t);
    ck_assert(place >= reducer->released && place + floats <= reducer->released + reducer->released_floats);
    check_free(r, place, floats);
    for (size_t i = 0; i < floats; i++)
        ck_assert_mem_eq(&place[i], &number, sizeof number);
    return place;
}

/* Backward gets places for the matrices of every micro-batch, a few at a time, in buffers that no collective reads. A
 * buffer has zeros, but the sum so far in this rank's part. All is sent. */
TEST(buffers_of_released_gradients_are_free_when_they_are_written)
{
    static const struct bucket_caps caps[] = {
        {.cap = {1}}, {.cap = {4096}}, {.cap = {1000, 20000}, .last = 5000}, {.cap = {1UL << 30}}};
    for (int m = 0; m < 12; m++) {
        struct recorder r = recorder_make();
        struct reducer reducer;
        reducer_create(&reducer, &strategy_ddp_sharded, VARIANT_GRADIENTS, &model, &r.comm, &caps[m % 4], 1);
        size_t micro_batches = (size_t)m / 4 + 1, sent = 0;
        memset(reducer.released, 1, reducer.released_floats * sizeof(float)); /* stale numbers */
        memset(reducer.owned[0].gradient, 2, model.arena * sizeof(float));
        for (size_t batch = 0; batch < micro_batches; batch++) {
            reducer_begin(&reducer, batch);
            for (int t = model.tensors - 1, end; t >= 0; t = end) {
                float *place[BACKWARD_PLACES], number = 0;
                int begin[BACKWARD_PLACES], n = 0;
                memset(&number, batch ? 2 : 0, sizeof number);
                for (end = t; end >= 0 && (n < BACKWARD_PLACES || !model.tensor[end].joined); end--)
                    if (model.tensor[end].joined) {
                        begin[n] = end;
                        place[n++] = placed(&r, &reducer, end, number);
                    }
                for (int i = 0; i < n; i++)
                    *place[i] = (float)begin[i];
                for (int i = 0; i < n; i++)
                    ck_assert_float_eq(*place[i], (float)begin[i]);
                for (; t > end; t--)
                    reducer_gradient_ready(&reducer, t);
            }
        }
        reducer_finish(&reducer);
        for (int i = 0; i < r.n; i++)
            sent += r.call[i].collective.count;
        ck_assert_uint_eq(sent, micro_batches * model.arena);
        ck_assert_int_eq(r.n, (int)micro_batches * reducer.plan.n);
        ck_assert_int_eq(r.joined, r.n);
        reducer_destroy(&reducer);
    }
}

TEST(synchronous_strategies_wait_for_each)
{
    struct recorder r = recorder_make();
    struct reducer reducer;
    reducer_create(&reducer, &strategy_ddp, VARIANT_PLAIN, &model, &r.comm, NULL, 0);
    drive(&r, &reducer);
    ck_assert_int_eq(r.n, model.tensors);
    ck_assert_int_eq(r.blocking, r.n);
    for (int i = 0; i < r.n; i++) { /* calls come in the order of the tensors, after backward */
        ck_assert_int_eq(r.call[i].announced, -1);
        ck_assert_ptr_eq(r.call[i].collective.buffer, model.gradient + model.tensor[i].offset);
    }
    reducer_destroy(&reducer);
    r = recorder_make();
    reducer_create(&reducer, &strategy_ddp_flat, VARIANT_PLAIN, &model, &r.comm, NULL, 0);
    drive(&r, &reducer);
    ck_assert_int_eq(r.n, 1);
    ck_assert_int_eq(r.call[0].announced, -1);
    reducer_destroy(&reducer);
}

TEST(overlapping_strategies_start_with_the_last_gradient)
{
    const struct strategy *const overlapping[] = {&strategy_ddp_individual, &strategy_ddp_individual_v2,
                                                  &strategy_ddp_bucketed};
    for (int i = 0; i < 3; i++) {
        struct recorder r = recorder_make();
        struct reducer reducer;
        reducer_create(&reducer, overlapping[i], VARIANT_PLAIN, &model, &r.comm, &(struct bucket_caps){.cap = {3000}},
                       0);
        drive(&r, &reducer);
        ck_assert_int_eq(r.n, reducer.plan.n);
        ck_assert_int_gt(r.n, 3);
        for (int s = 0; s < r.n; s++)
            ck_assert_int_eq(r.call[s].announced, reducer.plan.bucket[s].last_tensor);
        reducer_destroy(&reducer);
    }
}

/* Returns the bytes of a bucket's tensors, without gaps. */
static size_t bucket_bytes(const struct tensor *tensor, const struct bucket *b)
{
    return bucket_parameters(tensor, b) * sizeof(float);
}

TEST(a_bucket_is_closed_by_the_tensor_that_reaches_the_cap)
{
    for (size_t cap = 1; cap < 40000; cap += 517) {
        struct plan plan;
        plan_create(&plan, model.tensor, model.tensors, &(struct bucket_caps){.cap = {cap}});
        int tensor = model.tensors;
        for (int i = 0; i < plan.n; i++) {
            const struct bucket *b = &plan.bucket[i];
            tensor -= b->tensors;
            ck_assert_int_eq(b->last_tensor, tensor);
            ck_assert(bucket_bytes(model.tensor, b) >= cap || i == plan.n - 1);
            ck_assert_uint_lt(bucket_bytes(model.tensor, b) - model.tensor[tensor].count * sizeof(float), cap);
        }
        ck_assert_int_eq(tensor, 0);
        plan_destroy(&plan);
    }
}

/* A bucket whose bytes are exactly the cap is closed; gaps do not count. */
TEST(a_bucket_may_have_exactly_the_cap)
{
    int n = model.tensors;
    size_t both = (model.tensor[n - 1].count + model.tensor[n - 2].count) * sizeof(float);
    ck_assert_uint_lt(both, (model.tensor[n - 2].offset + model.tensor[n - 2].count) * sizeof(float));
    for (size_t more = 0; more < 2; more++) {
        struct plan plan;
        plan_create(&plan, model.tensor, n, &(struct bucket_caps){.cap = {both + more}});
        ck_assert_int_eq(plan.bucket[0].tensors, 2 + (int)more);
        plan_destroy(&plan);
    }
}

/* Places tensors of these sizes in floats, in the order in which backward completes them, without gaps. */
static void place_tensors(struct tensor *tensor, const size_t *floats, int tensors)
{
    size_t offset = 0;
    for (int i = 0; i < tensors; i++) {
        tensor[tensors - 1 - i] = (struct tensor){.offset = offset, .count = floats[i], .joined = 1};
        offset += floats[i];
    }
}

/* What PyTorch's DDP 2.15 logged for a transformer on 2 ranks (gloo): the sizes of the tensors, in elements, in the
 * order in which their gradients were ready, and the bytes of the buckets for each bucket_cap_mb. 1+25: bucket_cap_mb
 * was not given. */
static const size_t logged[] = {
    2000, 512000, 256, 262144, 1024, 262144, 256, 256, 256, 65536,  768,  196608, 256, 256, 256,   262144, 1024, 262144,
    256,  256,    256, 65536,  768,  196608, 256, 256, 256, 262144, 1024, 262144, 256, 256, 256,   65536,  768,  196608,
    256,  256,    256, 262144, 1024, 262144, 256, 256, 256, 65536,  768,  196608, 256, 256, 512000};
static const struct {
    const char *words;
    size_t bytes[15];
} of_pytorch[] = {
    {"1",
     {2056000, 1049600, 1052672, 1054720, 1051648, 1052672, 1054720, 1051648, 1052672, 1054720, 1051648, 1052672,
      1054720, 2050048}},
    {"4", {4423488, 5000192, 4211712, 3104768}},
    {"8", {9423680, 7316480}},
    {"1+25", {2056000, 14684160}},
};

TEST_EACH(buckets_are_those_of_pytorch, (int)(sizeof of_pytorch / sizeof *of_pytorch))
{
    enum { TENSORS = sizeof logged / sizeof *logged };
    struct tensor tensor[TENSORS];
    struct bucket_caps caps;
    struct plan plan;
    place_tensors(tensor, logged, TENSORS);
    ck_assert_int_eq(bucket_caps_parse(&caps, of_pytorch[_i].words), 0);
    plan_create(&plan, tensor, TENSORS, &caps);
    for (int i = 0; i < plan.n; i++)
        ck_assert_uint_eq(bucket_bytes(tensor, &plan.bucket[i]), of_pytorch[_i].bytes[i]);
    ck_assert_uint_eq(of_pytorch[_i].bytes[plan.n], 0);
    plan_destroy(&plan);
}

/* A transformer block is a bucket. The tensors before the blocks are a bucket, and the tensors after them. */
TEST(a_block_is_a_bucket)
{
    void (*const plans[])(struct plan *, const struct tensor *, int, const struct bucket_caps *) = {plan_create,
                                                                                                    plan_matrices};
    struct bucket_caps caps;
    struct plan plan;
    ck_assert_int_eq(bucket_caps_parse(&caps, "block"), 0);
    for (size_t p = 0; p < sizeof plans / sizeof *plans; p++) {
        plans[p](&plan, model.tensor, model.tensors, &caps);
        ck_assert_int_eq(plan.n, (int)model.sizes.layers + 2);
        for (int i = 0; i < plan.n; i++) {
            const struct bucket *b = &plan.bucket[i];
            int layer = plan.n - 1 - i;
            ck_assert_int_eq(b->tensors, i == 0 ? 2 : layer ? LAYER_TENSORS : 1);
            for (int t = b->last_tensor; t < b->last_tensor + b->tensors; t++)
                ck_assert_int_eq(model.tensor[t].layer, layer);
        }
        plan_destroy(&plan);
    }
}

/* ---- caps that differ between buckets; numbers of tensors in each bucket ---- */

TEST(other_words_of_caps_are_refused)
{
    char words[] = "| 1|1 ||-1|+1|1+|1++2|1+ 2|1+-2|x|1x|0x10|nan|inf|1e+2|1e|1e400|0|9e-6|1000001|1,2|last1|1+last|"
                   "1+last1+2|1+last1+|1+last1+last2|1+lastlast1|1+last+1|1+2+3+4+5+6+7+8+9";
    for (char *next = words, *word; (word = strsep(&next, "|"));)
        ck_assert_int_eq(bucket_caps_parse(&(struct bucket_caps){.last = 0}, word), -1);
}

/* Tensors of these sizes in floats, in the order in which backward completes them; in `matrices` the second and third
 * are joined. */
static const size_t counts[] = {4, 4, 4, 8, 4, 2, 2, 16};
static const struct {
    struct bucket_caps caps; /* in floats, until the test converts them */
    int tensors[10], matrices[10];
} cuts[] = {
    {{.cap = {12}}, {3, 2, 3}, {3, 2, 3}},
    {{.cap = {13}}, {4, 4}, {4, 4}},
    {{.cap = {8}}, {2, 2, 3, 1}, {3, 1, 3, 1}}, /* no cut inside a matrix */
    {{.cap = {25}}, {6, 2}, {6, 2}},            /* the last bucket has what is left */
    {{.cap = {4, 12}}, {1, 3, 4}, {1, 3, 4}},   /* the last cap holds for later buckets */
    {{.cap = {4, 8, 16}}, {1, 2, 4, 1}, {1, 2, 4, 1}},
    {{.cap = {12}, .last = 18}, {3, 2, 1, 2}, {3, 2, 1, 2}},   /* the bucket before the last has what is left */
    {{.cap = {12}, .last = 17}, {3, 2, 2, 1}, {3, 2, 2, 1}},   /* whole tensors only, at most `last` together */
    {{.cap = {12}, .last = 1}, {3, 2, 2, 1}, {3, 2, 2, 1}},    /* tensor 0 is larger than `last`, and alone */
    {{.cap = {4}, .last = 24}, {1, 1, 1, 1, 4}, {1, 2, 1, 4}}, /* last may be above the caps */
    {{.cap = {64}, .last = 20}, {5, 3}, {5, 3}},
    {{.cap = {4}, .last = 44}, {8}, {8}}, /* all fits into the last bucket */
    {{.cap = {4}, .last = 43}, {1, 7}, {1, 7}},
    {{.cap = {4}, .last = 36}, {1, 1, 6}, {1, 2, 5}}, /* the last bucket begins with a matrix, too */
};

TEST_EACH(buckets_have_their_own_caps, (int)(sizeof cuts / sizeof *cuts))
{
    enum { TENSORS = sizeof counts / sizeof *counts };
    struct tensor tensor[TENSORS];
    struct bucket_caps caps = cuts[_i].caps;
    place_tensors(tensor, counts, TENSORS);
    tensor[TENSORS - 2].joined = 2;
    tensor[TENSORS - 3].joined = 0;
    for (int i = 0; i < BUCKET_CAPS; i++)
        caps.cap[i] *= sizeof(float);
    caps.last *= sizeof(float);
    for (int matrices = 0; matrices < 2; matrices++) {
        const int *expected = matrices ? cuts[_i].matrices : cuts[_i].tensors;
        struct plan plan = {0};
        (matrices ? plan_matrices : plan_create)(&plan, tensor, TENSORS, &caps);
        int next = TENSORS;
        for (int i = 0; i < plan.n; i++) {
            const struct bucket *b = &plan.bucket[i];
            ck_assert_int_eq(b->tensors, expected[i]);
            ck_assert_uint_eq(b->offset, tensor[next - 1].offset);
            next -= b->tensors;
            ck_assert_int_eq(b->last_tensor, next);
            ck_assert_uint_eq(b->offset + b->count, tensor[next].offset + tensor[next].count);
        }
        ck_assert_int_eq(next, 0);
        ck_assert_int_eq(expected[plan.n], 0);
        plan_destroy(&plan);
    }
}

/* With sharding, exactly one rank owns each element, in equal parts of buckets, which never cut a matrix. */
TEST(parts_of_three_ranks_tile_the_arena)
{
    enum { RANKS = 3 };
    static const struct bucket_caps caps[] = {{.cap = {1}},
                                              {.cap = {3000}},
                                              {.cap = {3000}, .last = 1},
                                              {.cap = {1000, 10000}, .last = 5000},
                                              {.cap = {1UL << 30}}};
    struct model sharded;
    struct model_sizes sizes = model.sizes;
    sizes.shards = RANKS;
    transformer_plan(&sharded, &sizes, sizeof(float));
    model_allocate(&sharded, model.device, NULL, NULL);
    for (size_t b = 0; b < sizeof caps / sizeof *caps; b++) {
        unsigned char *owners = kept(allocate(sharded.arena, 1));
        for (int rank = 0; rank < RANKS; rank++) {
            struct recorder r = recorder_make();
            struct reducer reducer;
            r.comm.ranks = RANKS;
            r.comm.rank = rank;
            reducer_create(&reducer, &strategy_ddp_sharded, VARIANT_PLAIN, &sharded, &r.comm, &caps[b], 0);
            ck_assert_uint_eq(reducer_owned(&reducer), sharded.arena / RANKS);
            for (int i = 0; i < reducer.ranges; i++)
                for (size_t j = 0; j < reducer.owned[i].count; j++)
                    owners[reducer.owned[i].offset + j]++;
            for (int i = 0; i < reducer.plan.n; i++)
                ck_assert_int_gt(
                    sharded.tensor[reducer.plan.bucket[i].last_tensor + reducer.plan.bucket[i].tensors - 1].joined, 0);
            reducer_destroy(&reducer);
        }
        for (size_t j = 0; j < sharded.arena; j++)
            ck_assert_int_eq(owners[j], 1);
    }
    model_destroy(&sharded);
}

SUITE("plan", setup, teardown)
