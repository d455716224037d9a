/* strategy_sharded.c - sharded optimizer (ZeRO-1), and sharded gradients as well (ZeRO-2): reduce-scatters a bucket as
 * soon as its last gradient is final; each rank updates its part of each bucket, and all-gathers the updated weights
 * bucket by bucket, in the order in which the next forward pass needs them. So the moments of a weight exist on one
 * rank only, and both collectives overlap with computation. Source: Rajbhandari et al., ZeRO: Memory Optimizations
 * Toward Training Trillion Parameter Models, SC 2020, arXiv:1910.02054. */
#include "ddp/exchange.h"
#include "ddp/ring.h"

enum { SCATTER, GATHER };

static const struct traits plain = {.reduces = 1,
                                    .exact = 1,
                                    .overlaps = 1,
                                    .buckets = 1,
                                    .shards = 1,
                                    .messages = 2,
                                    .message = {[SCATTER] = {COMM_REDUCE_SCATTER}, [GATHER] = {COMM_ALL_GATHER}}};
/* ZeRO-2: backward writes gradients to a ring, bucket after bucket, and a rank keeps only the sums of its shard. */
static const struct traits gradients = {.reduces = 1,
                                        .exact = 1,
                                        .overlaps = 1,
                                        .buckets = 1,
                                        .shards = 1,
                                        .releases = 1,
                                        .messages = 2,
                                        .message = {[SCATTER] = {COMM_REDUCE_SCATTER}, [GATHER] = {COMM_ALL_GATHER}}};
/* With gradients in bfloat16 on the wire, an all-to-all takes the place of the reduce-scatter, and sums stay fp32. */
static const struct traits bf16 = {
    .reduces = 1,
    .exact = 1,
    .overlaps = 1,
    .buckets = 1,
    .shards = 1,
    .wire = COMM_BF16,
    .messages = 2,
    .message = {
        [SCATTER] = {.kind = COMM_ALL_TO_ALL, .partial = 1}, [GATHER] = {.kind = COMM_ALL_GATHER, .partial = 1}}};

struct sharded {
    struct exchange *exchange; /* for the variant bf16 */
    struct ring *ring;         /* for the variant gradients */
    long first_gather;         /* ticket of the last step's first all-gather, that of the last bucket; 0: none yet */
};

/* Gives each rank an equal part of each bucket, and memory for the sums of its parts. */
static void own_parts(struct reducer *reducer)
{
    const struct plan *plan = &reducer->plan;
    size_t rank = (size_t)reducer->comm->rank, ranks = (size_t)reducer->comm->ranks, at = 0;
    float *shard = reducer_allocate(reducer, reducer->model->arena / ranks);
    reducer_close_gaps(reducer);
    reducer->ranges = plan->n;
    for (int i = plan->n - 1; i >= 0; i--) {
        const struct bucket *b = &plan->bucket[i];
        size_t part = b->count / ranks;
        reducer->owned[plan->n - 1 - i] =
            (struct owned_range){b->offset + rank * part, part, at, shard ? shard + at : NULL};
        at += part;
    }
}

static void create(struct reducer *reducer)
{
    struct sharded *s = reducer->state = reducer_keep(reducer, 1, sizeof *s);
    own_parts(reducer);
    if (reducer->traits->wire == COMM_BF16)
        s->exchange = exchange_create(reducer);
    if (reducer->traits->releases)
        s->ring = ring_create(reducer);
}

/* Sums go to the shard, because the gaps between matrices in the gradient must stay zero; weights are gathered in
 * place. */
static void place_collective(const struct reducer *reducer, int bucket, int i, struct collective *c)
{
    const struct sharded *s = reducer->state;
    const struct model *model = reducer->model;
    if (i == GATHER) {
        c->buffer = (char *)model_read_weight(model) + reducer->plan.bucket[bucket].offset * model->compute_bytes;
        c->dtype = model->narrow_weight ? COMM_BF16 : COMM_FLOAT32;
        c->after_earlier = 1; /* forward needs the buckets one after another */
    } else if (s->exchange)
        exchange_place(s->exchange, bucket, i, c);
    else {
        c->in = s->ring ? ring_buffer(s->ring, reducer, bucket) : c->buffer;
        c->buffer = reducer_range_of(reducer, bucket)->gradient;
    }
}

static float *place(struct reducer *reducer, int tensor)
{
    const struct sharded *s = reducer->state;
    return s->ring ? ring_place(s->ring, reducer, tensor) : NULL;
}

static void reduce_completed_bucket(struct reducer *reducer, int tensor)
{
    struct sharded *s = reducer->state;
    int bucket = reducer_completed_bucket(reducer, tensor);
    if (bucket < 0)
        return;
    if (s->exchange)
        exchange_start(s->exchange, reducer, bucket);
    else
        reducer_start(reducer, bucket, SCATTER);
    if (s->ring)
        ring_take(s->ring, reducer, bucket);
}

static void finish(struct reducer *reducer)
{
    const struct sharded *s = reducer->state;
    for (int i = 0; s->exchange && i < reducer->plan.n; i++) {
        const struct owned_range *own = reducer_range_of(reducer, i);
        exchange_sum(s->exchange, reducer, i, own->gradient, own->count);
    }
    reducer_join(reducer);
}

static void gather_updated_bucket(struct reducer *reducer, int range)
{
    struct sharded *s = reducer->state;
    reducer_start(reducer, reducer->plan.n - 1 - range, GATHER);
    if (range == 0)
        s->first_gather = reducer->ticket;
}

/* Forward waits for the gathers up to the bucket of its last tensor, backward for a buffer of the ring. */
static long needed(const struct reducer *reducer, int tensor, enum pass pass)
{
    const struct sharded *s = reducer->state;
    if (pass == PASS_BACKWARD)
        return s->ring ? ring_needed(s->ring, reducer, tensor) : 0;
    return s->first_gather ? s->first_gather + reducer->plan.n - 1 - reducer_bucket_of(reducer, tensor) : 0;
}

const struct strategy strategy_ddp_sharded = {
    .name = "ddp_sharded",
    .summary = "ZeRO-1: a reduce-scatter per bucket, an optimizer for a part of each, all-gathers under forward",
    .traits = {[VARIANT_PLAIN] = &plain, [VARIANT_BF16] = &bf16, [VARIANT_GRADIENTS] = &gradients},
    .plan = plan_matrices,
    .create = create,
    .place = place,
    .gradient_ready = reduce_completed_bucket,
    .finish = finish,
    .needed = needed,
    .place_collective = place_collective,
    .range_updated = gather_updated_bucket,
};
