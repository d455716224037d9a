/* strategy_bucketed.c - overlap in place: all-reduces a bucket during backward, as soon as its last gradient is final.
 * ddp_individual has a bucket per tensor, ddp_bucketed has buckets of --bucket-size-mb. */
#include "ddp/strategy.h"

const struct strategy strategy_ddp_bucketed = {
    .name = "ddp_bucketed",
    .summary = "an asynchronous all-reduce per bucket of gradients, as soon as the bucket is full",
    .reduces = 1,
    .overlaps = 1,
    .collectives = 1,
    .buckets = 1,
    .plan = plan_create,
    .gradient_ready = reducer_start_completed,
    .finish = reducer_join,
    .bf16 = &strategy_ddp_bucketed_bf16,
};

const struct strategy strategy_ddp_individual = {
    .name = "ddp_individual",
    .summary = "an asynchronous all-reduce per parameter tensor, as soon as its gradient is final",
    .reduces = 1,
    .overlaps = 1,
    .collectives = 1,
    .plan = plan_per_tensor,
    .gradient_ready = reducer_start_completed,
    .finish = reducer_join,
};
