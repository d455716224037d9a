/* strategy_none.c - the control: the same ranks do the same work without reduction. The cost of a strategy is its step
 * time minus that of `none`. */
#include "ddp/reducer.h"

static void reduce_nothing(struct reducer *reducer)
{
    (void)reducer;
}

static const struct traits plain = {.reduces = 0};

const struct strategy strategy_none = {
    .name = "none",
    .summary = "control: no reduction; a strategy's cost is its step time minus that of none",
    .traits = {[VARIANT_PLAIN] = &plain},
    .plan = plan_whole,
    .finish = reduce_nothing,
};
