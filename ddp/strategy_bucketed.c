/* strategy_bucketed.c - overlap in place: a slice is all-reduced as soon as its last gradient is final, while backward
 * goes on. With a slice per tensor this is ddp_individual, with slices of --bucket-size-mb it is ddp_bucketed. */
#include "ddp/strategy.h"

static void ready(struct sync *sync, int tensor)
{
    int slice = sync_completed_slice(sync, tensor);
    if (slice >= 0)
        sync_start(sync, slice);
}

static void finish(struct sync *sync)
{
    sync->comm->join(sync->comm, sync->ticket);
}

const struct strategy strategy_ddp_bucketed = {
    .name = "ddp_bucketed",
    .summary = "an asynchronous all-reduce per bucket of gradients, as soon as the bucket is full",
    .reduces = 1,
    .overlaps = 1,
    .buckets = 1,
    .gradient_ready = ready,
    .finish = finish,
};

const struct strategy strategy_ddp_individual = {
    .name = "ddp_individual",
    .summary = "an asynchronous all-reduce per parameter tensor, as soon as its gradient is final",
    .reduces = 1,
    .overlaps = 1,
    .max_bytes = PLAN_PER_TENSOR,
    .gradient_ready = ready,
    .finish = finish,
};
