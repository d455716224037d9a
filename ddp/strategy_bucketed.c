/* strategy_bucketed.c - overlap in place: all-reduces a bucket during backward, as soon as its last gradient is final.
 * ddp_individual has a bucket per tensor, ddp_bucketed has buckets of --bucket-size-mb. With --update-in-backward the
 * optimizer updates a bucket's weights as soon as the all-reduce is complete and backward no longer needs them. With
 * --wire-dtype bf16 an exchange replaces the all-reduce (exchange.h). */
#include "ddp/exchange.h"

static const struct traits per_tensor = {
    .reduces = 1, .exact = 1, .overlaps = 1, .messages = 1, .message = {{.kind = COMM_ALL_REDUCE}}};

const struct strategy strategy_ddp_individual = {
    .name = "ddp_individual",
    .summary = "an asynchronous all-reduce per parameter tensor, as soon as its gradient is final",
    .traits = {[VARIANT_PLAIN] = &per_tensor},
    .plan = plan_per_tensor,
    .gradient_ready = reducer_start_completed,
    .finish = reducer_join,
};

static const struct traits plain = {
    .reduces = 1, .exact = 1, .overlaps = 1, .buckets = 1, .messages = 1, .message = {{.kind = COMM_ALL_REDUCE}}};
static const struct traits update = {.reduces = 1,
                                     .exact = 1,
                                     .overlaps = 1,
                                     .buckets = 1,
                                     .updates_early = 1,
                                     .messages = 1,
                                     .message = {{.kind = COMM_ALL_REDUCE}}};
static const struct traits bf16 = {
    .reduces = 1,
    .exact = 1,
    .overlaps = 1,
    .buckets = 1,
    .wire = COMM_BF16,
    .messages = 2,
    .message = {{.kind = COMM_ALL_TO_ALL, .partial = 1}, {.kind = COMM_ALL_GATHER, .partial = 1}}};

/* Makes each bucket an owned range, together with the gap behind it, whose weights and gradient stay zero. The moments
 * then have the same places as without --update-in-backward. */
static void own_buckets(struct reducer *reducer)
{
    const struct plan *plan = &reducer->plan;
    reducer->ranges = plan->n;
    for (int i = 0; i < plan->n; i++) {
        size_t at = plan->bucket[i].offset, end = plan_end(plan, i, reducer->model->arena);
        reducer->owned[i] = (struct owned_range){at, end - at, at, reducer_gradient(reducer, i)};
    }
}

static void create(struct reducer *reducer)
{
    if (reducer->traits->updates_early)
        own_buckets(reducer);
    if (reducer->traits->wire == COMM_BF16)
        reducer->state = exchange_create(reducer);
}

/* An exchange sums and gathers a bucket when the next bucket is complete, not as soon as it could: every rank must
 * start its collectives in the same order. Meanwhile the next bucket's all-to-all keeps the link busy. */
static void reduce_completed_bucket(struct reducer *reducer, int tensor)
{
    int bucket = reducer_completed_bucket(reducer, tensor);
    if (bucket >= 0 && !reducer->state)
        reducer_start(reducer, bucket, 0);
    else if (bucket >= 0) {
        exchange_start(reducer->state, reducer, bucket);
        if (bucket > 0)
            exchange_gather(reducer->state, reducer, bucket - 1);
    }
}

static void finish(struct reducer *reducer)
{
    if (reducer->state)
        exchange_finish(reducer->state, reducer);
    else
        reducer_join(reducer);
}

const struct strategy strategy_ddp_bucketed = {
    .name = "ddp_bucketed",
    .summary = "an asynchronous all-reduce per bucket of gradients, as soon as the bucket is full",
    .traits = {[VARIANT_PLAIN] = &plain, [VARIANT_UPDATE] = &update, [VARIANT_BF16] = &bf16},
    .plan = plan_create,
    .create = create,
    .gradient_ready = reduce_completed_bucket,
    .finish = finish,
    .place_collective = exchange_place_if_any,
};
