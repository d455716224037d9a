/* strategy.c - the list of strategies, and what follows from their traits. */
#include "ddp/strategy.h"

#include <string.h>

const struct strategy *const strategies[] = {
    &strategy_ddp,
    &strategy_ddp_individual,
    &strategy_ddp_individual_v2,
    &strategy_ddp_bucketed,
    &strategy_ddp_hierarchical,
    &strategy_ddp_sharded,
    &strategy_ddp_flat,
    &strategy_ddp_powersgd,
    &strategy_ddp_local,
    &strategy_none,
    NULL,
};

const struct strategy *strategy_find(const char *name)
{
    for (int i = 0; strategies[i]; i++)
        if (!strcmp(strategies[i]->name, name))
            return strategies[i];
    return NULL;
}

int strategy_is_compared(const struct strategy *strategy)
{
    return strategy->traits[VARIANT_PLAIN]->exact;
}

int strategy_parts(const struct traits *traits, int ranks, int local_size)
{
    if (traits->shards)
        return ranks;
    return traits->staged && local_size > 1 && local_size < ranks ? local_size : 0;
}

const struct strategy *strategy_used(const struct strategy *strategy, int ranks, int local_size)
{
    return strategy->on_one_level && !strategy_parts(strategy->traits[VARIANT_PLAIN], ranks, local_size)
               ? strategy->on_one_level
               : strategy;
}

size_t strategy_collectives(const struct traits *traits, size_t micro_batches)
{
    return (size_t)traits->messages + (traits->releases ? micro_batches - 1 : 0);
}
