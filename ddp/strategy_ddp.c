/* strategy_ddp.c - synchronous data parallelism: after backward, blocking all-reduces one after another. ddp_flat makes
 * a single all-reduce; the difference between ddp and ddp_flat is the cost of many calls. */
#include "ddp/exchange.h"

static const struct traits plain = {.reduces = 1, .exact = 1, .messages = 1, .message = {{.kind = COMM_ALL_REDUCE}}};

const struct strategy strategy_ddp = {
    .name = "ddp",
    .summary = "after backward, one blocking all-reduce per parameter tensor",
    .traits = {[VARIANT_PLAIN] = &plain},
    .plan = plan_per_tensor,
    .finish = reducer_run_in_turn,
};

static const struct traits bf16 = {
    .reduces = 1,
    .exact = 1,
    .wire = COMM_BF16,
    .messages = 2,
    .message = {{.kind = COMM_ALL_TO_ALL, .partial = 1}, {.kind = COMM_ALL_GATHER, .partial = 1}}};

static void create(struct reducer *reducer)
{
    if (reducer->traits->wire == COMM_BF16)
        reducer->state = exchange_create(reducer);
}

static void reduce_whole(struct reducer *reducer)
{
    if (!reducer->state)
        reducer_run(reducer, 0, 0);
    else {
        exchange_start(reducer->state, reducer, 0);
        exchange_finish(reducer->state, reducer);
    }
}

const struct strategy strategy_ddp_flat = {
    .name = "ddp_flat",
    .summary = "after backward, one all-reduce of the whole gradient",
    .traits = {[VARIANT_PLAIN] = &plain, [VARIANT_BF16] = &bf16},
    .plan = plan_whole,
    .create = create,
    .finish = reduce_whole,
    .place_collective = exchange_place_if_any,
};
