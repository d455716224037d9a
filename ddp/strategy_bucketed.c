/* strategy_bucketed.c - overlap in place: all-reduces a bucket during backward, as soon as its last gradient is final.
 * ddp_individual has a bucket per tensor, ddp_bucketed has buckets of --bucket-size-mb. */
#include "ddp/strategy.h"

static void start_completed_bucket(struct reducer *reducer, int tensor)
{
    int bucket = reducer_completed_bucket(reducer, tensor);
    if (bucket >= 0)
        reducer_start(reducer, bucket, 0);
}

static void join_buckets(struct reducer *reducer)
{
    reducer->comm->join(reducer->comm, reducer->ticket);
}

const struct strategy strategy_ddp_bucketed = {
    .name = "ddp_bucketed",
    .summary = "an asynchronous all-reduce per bucket of gradients, as soon as the bucket is full",
    .reduces = 1,
    .overlaps = 1,
    .collectives = 1,
    .buckets = 1,
    .plan = plan_create,
    .gradient_ready = start_completed_bucket,
    .finish = join_buckets,
    .bf16 = &strategy_ddp_bucketed_bf16,
};

const struct strategy strategy_ddp_individual = {
    .name = "ddp_individual",
    .summary = "an asynchronous all-reduce per parameter tensor, as soon as its gradient is final",
    .reduces = 1,
    .overlaps = 1,
    .collectives = 1,
    .plan = plan_per_tensor,
    .gradient_ready = start_completed_bucket,
    .finish = join_buckets,
};
