/* strategy_exchange.c - ddp_bucketed and ddp_flat with gradients in bfloat16 on the wire, and sums in fp32
 * (exchange.h): after the all-to-all of a bucket each rank rounds its sums, and an all-gather sends them to all. So
 * each number is rounded twice, whatever the number of ranks. */
#include "ddp/exchange.h"

enum { EXCHANGE, GATHER, COLLECTIVES };

static struct collective collective_of(const struct reducer *reducer, int bucket, int i)
{
    const struct exchanged_bucket *x = &reducer->exchanged[bucket];
    if (i == EXCHANGE)
        return exchange_collective(reducer, bucket);
    return (struct collective){.kind = COMM_ALL_GATHER,
                               .buffer = reducer->sent + x->at,
                               .count = x->slice,
                               .dtype = COMM_BF16,
                               .index = bucket};
}

/* Sums this rank's slice of an exchanged bucket in its place in the gradient, and starts to gather the sums. */
static void sum_and_gather(struct reducer *reducer, int bucket)
{
    const struct bucket *b = &reducer->plan.bucket[bucket];
    struct exchanged_bucket *x = &reducer->exchanged[bucket];
    size_t begin = (size_t)reducer->comm->rank * x->slice, left = begin < b->count ? b->count - begin : 0;
    size_t n = left < x->slice ? left : x->slice;
    float *sum = reducer->model->gradient + b->offset + (n ? begin : 0);
    exchange_sum(reducer, bucket, sum, n);
    reducer->model->device->pack_bf16(reducer->sent + x->at + begin, sum, n);
    reducer_start(reducer, bucket, GATHER);
    x->ticket = reducer->ticket;
}

/* A bucket's sums follow when the next bucket is complete, not when they could first be made: every rank must start its
 * collectives in the same order. Meanwhile the next bucket's all-to-all keeps the link busy. */
static void exchange_completed_bucket(struct reducer *reducer, int tensor)
{
    int bucket = reducer_completed_bucket(reducer, tensor);
    if (bucket < 0)
        return;
    exchange_start(reducer, bucket);
    if (bucket > 0)
        sum_and_gather(reducer, bucket - 1);
}

static void join_and_widen(struct reducer *reducer)
{
    const struct device *device = reducer->model->device;
    sum_and_gather(reducer, reducer->plan.n - 1);
    for (int i = 0; i < reducer->plan.n; i++) {
        const struct bucket *b = &reducer->plan.bucket[i];
        const struct exchanged_bucket *x = &reducer->exchanged[i];
        reducer->comm->join(reducer->comm, x->ticket);
        device->stamp(); /* the operation begins at this stamp in the trace, after the wait */
        device->unpack_bf16(reducer->model->gradient + b->offset, reducer->sent + x->at, b->count, 1, b->count);
    }
}

static void exchange_whole(struct reducer *reducer)
{
    exchange_start(reducer, 0);
    join_and_widen(reducer);
}

const struct strategy strategy_ddp_bucketed_bf16 = {
    .name = "ddp_bucketed",
    .reduces = 1,
    .overlaps = 1,
    .exchanges = 1,
    .buckets = 1,
    .wire = COMM_BF16,
    .collectives = COLLECTIVES,
    .plan = plan_create,
    .gradient_ready = exchange_completed_bucket,
    .finish = join_and_widen,
    .collective = collective_of,
};

const struct strategy strategy_ddp_flat_bf16 = {
    .name = "ddp_flat",
    .reduces = 1,
    .exchanges = 1,
    .wire = COMM_BF16,
    .collectives = COLLECTIVES,
    .plan = plan_whole,
    .finish = exchange_whole,
    .collective = collective_of,
};
