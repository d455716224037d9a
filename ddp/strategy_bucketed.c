/* strategy_bucketed.c - overlap in place: all-reduces a bucket during backward, as soon as its last gradient is final.
 * ddp_individual has a bucket per tensor, ddp_bucketed has buckets of --bucket-size-mb. With --update-in-backward the
 * optimizer updates a bucket's weights as soon as they are not used any more and the all-reduce is complete. */
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
    .update = &strategy_ddp_bucketed_update,
};

/* Gives each range the gap behind its bucket, too, whose weights and gradient stay zero: so moments have the same place
 * as without the option. */
static void own_buckets(struct reducer *reducer)
{
    const struct plan *plan = &reducer->plan;
    reducer->ranges = plan->n;
    for (int i = 0; i < plan->n; i++) {
        size_t at = plan->bucket[i].offset, end = plan_end(plan, i, reducer->model->arena);
        reducer->owned[i] = (struct owned_range){at, end - at, at, reducer->model->gradient + at};
    }
}

const struct strategy strategy_ddp_bucketed_update = {
    .name = "ddp_bucketed",
    .reduces = 1,
    .overlaps = 1,
    .collectives = 1,
    .buckets = 1,
    .updates_early = 1,
    .plan = plan_create,
    .gradient_ready = reducer_start_completed,
    .finish = reducer_join,
    .own = own_buckets,
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
