/* strategy_ddp.c - synchronous data parallelism: after backward, blocking all-reduces one after another. */
#include "ddp/strategy.h"

static void reduce_in_turn(struct reducer *reducer)
{
    for (int i = reducer->plan.n - 1; i >= 0; i--) /* in the order of registration, the reverse of backward's order */
        reducer_run(reducer, i, 0);
}

const struct strategy strategy_ddp = {
    .name = "ddp",
    .summary = "after backward, one blocking all-reduce per parameter tensor",
    .reduces = 1,
    .collectives = 1,
    .plan = plan_per_tensor,
    .finish = reduce_in_turn,
};

/* ddp_flat is like ddp, but with a single all-reduce: comparing ddp with ddp_flat shows the cost of many calls. */
const struct strategy strategy_ddp_flat = {
    .name = "ddp_flat",
    .summary = "after backward, one all-reduce of the whole gradient",
    .reduces = 1,
    .collectives = 1,
    .plan = plan_whole,
    .finish = reduce_in_turn,
    .bf16 = &strategy_ddp_flat_bf16,
};
