/* strategy_sharded.c - sharded optimizer (ZeRO-1), and sharded gradients as well (ZeRO-2): reduce-scatters a bucket as
 * soon as its last gradient is final; each rank updates its part of each bucket, and all-gathers the updated weights
 * bucket by bucket, in the order in which the next forward pass needs them. So the moments exist once over all ranks,
 * and both directions overlap with computation. Source: Rajbhandari et al., ZeRO: Memory Optimizations Toward Training
 * Trillion Parameter Models, SC 2020, arXiv:1910.02054. */
#include "ddp/exchange.h"

enum { SCATTER, GATHER, COLLECTIVES };

/* Sums go to the shard, because the gaps between matrices in the gradient must stay zero; weights are gathered in
 * place. */
static struct collective collective_of(const struct reducer *reducer, int bucket, int i)
{
    const struct model *model = reducer->model;
    const struct owned_range *own = reducer_range_of(reducer, bucket);
    size_t offset = reducer->plan.bucket[bucket].offset;
    if (i == SCATTER && reducer->strategy->exchanges)
        return exchange_collective(reducer, bucket);
    if (i == SCATTER)
        return (struct collective){.kind = COMM_REDUCE_SCATTER,
                                   .in = reducer_gradient(reducer, bucket),
                                   .buffer = own->gradient,
                                   .count = own->count,
                                   .index = bucket};
    return (struct collective){.kind = COMM_ALL_GATHER,
                               .buffer = (char *)model_read_weight(model) + offset * model->compute_bytes,
                               .count = own->count,
                               .dtype = model->narrow_weight ? COMM_BF16 : COMM_FLOAT32,
                               .index = bucket,
                               .after_earlier = 1}; /* forward needs the buckets one after another */
}

/* Gives each rank an equal part of each bucket. */
static void own_parts(struct reducer *reducer)
{
    const struct plan *plan = &reducer->plan;
    size_t rank = (size_t)reducer->comm->rank, ranks = (size_t)reducer->comm->ranks, at = 0;
    reducer_close_gaps(reducer);
    reducer->ranges = plan->n;
    for (int i = plan->n - 1; i >= 0; i--) {
        const struct bucket *b = &plan->bucket[i];
        size_t part = b->count / ranks;
        reducer->owned[plan->n - 1 - i] = (struct owned_range){b->offset + rank * part, part, at, reducer->shard + at};
        at += part;
    }
}

static void exchange_completed_bucket(struct reducer *reducer, int tensor)
{
    int bucket = reducer_completed_bucket(reducer, tensor);
    if (bucket >= 0)
        exchange_start(reducer, bucket);
}

static void sum_buckets(struct reducer *reducer)
{
    for (int i = 0; i < reducer->plan.n; i++) {
        const struct owned_range *own = reducer_range_of(reducer, i);
        exchange_sum(reducer, i, own->gradient, own->count);
    }
}

static void gather_updated_bucket(struct reducer *reducer, int range)
{
    reducer_start(reducer, reducer->plan.n - 1 - range, GATHER);
    if (range == 0) {
        reducer->first_gather = reducer->ticket;
        reducer->gathering = reducer->plan.n;
    }
}

const struct strategy strategy_ddp_sharded = {
    .name = "ddp_sharded",
    .summary = "ZeRO-1: a reduce-scatter per bucket, an optimizer for a part of each, all-gathers under forward",
    .reduces = 1,
    .overlaps = 1,
    .shards = 1,
    .buckets = 1,
    .collectives = COLLECTIVES,
    .plan = plan_matrices,
    .gradient_ready = reducer_start_completed,
    .finish = reducer_join,
    .collective = collective_of,
    .own = own_parts,
    .range_updated = gather_updated_bucket,
    .bf16 = &strategy_ddp_sharded_bf16,
    .gradients = &strategy_ddp_sharded_gradients,
};

/* ZeRO-2: gradients live in the ring, bucket after bucket, and only their sums in this rank's shard. */
const struct strategy strategy_ddp_sharded_gradients = {
    .name = "ddp_sharded",
    .reduces = 1,
    .overlaps = 1,
    .shards = 1,
    .releases = 1,
    .buckets = 1,
    .collectives = COLLECTIVES,
    .plan = plan_matrices,
    .gradient_ready = reducer_start_completed,
    .finish = reducer_join,
    .collective = collective_of,
    .own = own_parts,
    .range_updated = gather_updated_bucket,
};

/* With gradients in bfloat16 on the wire, an all-to-all takes the place of the reduce-scatter, and sums stay fp32. */
const struct strategy strategy_ddp_sharded_bf16 = {
    .name = "ddp_sharded",
    .reduces = 1,
    .overlaps = 1,
    .exchanges = 1,
    .shards = 1,
    .buckets = 1,
    .wire = COMM_BF16,
    .collectives = COLLECTIVES,
    .plan = plan_matrices,
    .gradient_ready = exchange_completed_bucket,
    .finish = sum_buckets,
    .collective = collective_of,
    .own = own_parts,
    .range_updated = gather_updated_bucket,
};
