/* strategy_none.c - the control: the same ranks do the same work without reduction. The cost of a strategy is its step
 * time minus that of `none`. */
#include "ddp/strategy.h"

static void reduce_nothing(struct reducer *reducer)
{
    (void)reducer;
}

const struct strategy strategy_none = {
    .name = "none",
    .summary = "control: no reduction; a strategy's cost is its step time minus that of none",
    .plan = plan_whole,
    .finish = reduce_nothing,
};
