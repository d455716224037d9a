/* strategy.c - the list of strategies, and what they share. */
#include "ddp/strategy.h"

#include <string.h>

const struct strategy *const strategies[] = {
    &strategy_ddp,
    &strategy_ddp_individual,
    &strategy_ddp_individual_v2,
    &strategy_ddp_bucketed,
    &strategy_ddp_flat,
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

void sync_create(struct sync *sync, const struct strategy *strategy, const struct model *model, struct comm *comm,
                 size_t bucket_bytes, enum comm_dtype staged_dtype)
{
    *sync = (struct sync){.strategy = strategy, .device = model->device, .gradient = model->gradient, .comm = comm};
    plan_create(&sync->plan, model->tensor, model->tensors, strategy->buckets ? bucket_bytes : strategy->max_bytes);
    if (strategy->stages) {
        sync->staged_dtype = staged_dtype;
        sync->staged = comm->allocate(comm, model->arena * comm_dtype_bytes(staged_dtype));
    }
}

void sync_destroy(struct sync *sync)
{
    if (sync->staged)
        sync->comm->release(sync->comm, sync->staged);
    plan_destroy(&sync->plan);
    *sync = (struct sync){0};
}

void sync_begin(struct sync *sync)
{
    sync->started = 0;
}

void sync_gradient_ready(struct sync *sync, int tensor)
{
    if (!sync->deferred)
        sync->strategy->gradient_ready(sync, tensor);
}

void sync_finish(struct sync *sync)
{
    const struct slice *first = &sync->plan.slice[0];
    for (int tensor = first->last_tensor + first->tensors - 1; sync->deferred && tensor >= 0; tensor--)
        sync->strategy->gradient_ready(sync, tensor);
    sync->strategy->finish(sync);
}

struct collective sync_collective(const struct sync *sync, int i)
{
    const struct slice *s = &sync->plan.slice[i];
    if (!sync->staged)
        return (struct collective){
            .buffer = sync->gradient + s->offset, .count = s->count, .dtype = COMM_FLOAT32, .index = i};
    char *buffer = (char *)sync->staged + s->offset * comm_dtype_bytes(sync->staged_dtype);
    return (struct collective){.buffer = buffer, .count = s->count, .dtype = sync->staged_dtype, .index = i};
}

void sync_start(struct sync *sync, int i)
{
    struct collective collective = sync_collective(sync, i);
    sync->ticket = sync->comm->start(sync->comm, &collective);
    sync->started++;
}

void sync_run(struct sync *sync, int i)
{
    struct collective collective = sync_collective(sync, i);
    sync->comm->run(sync->comm, &collective);
}

int sync_completed_slice(const struct sync *sync, int tensor)
{
    return tensor == sync->plan.slice[sync->started].last_tensor ? sync->started : -1;
}
