/* strategy.c - the list of strategies, and functions that they share. */
#include "ddp/strategy.h"

#include "kernels/error.h"

#include <stdlib.h>
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

void reducer_create(struct reducer *reducer, const struct strategy *strategy, const struct model *model,
                    struct comm *comm, size_t bucket_bytes, enum comm_dtype staged_dtype)
{
    *reducer = (struct reducer){.strategy = strategy, .model = model, .comm = comm};
    strategy->plan(&reducer->plan, model->tensor, model->tensors, bucket_bytes);
    if (strategy->stages) {
        reducer->staged_dtype = staged_dtype;
        reducer->staged_bytes = model->arena * comm_dtype_bytes(staged_dtype);
        reducer->staged = comm->allocate(comm, reducer->staged_bytes);
        /* Cause page faults now, not in a step. */
        model->device->zero(reducer->staged, reducer->staged_bytes / sizeof(float));
    }
    reducer->owned = allocate(2 * (size_t)reducer->plan.n, sizeof *reducer->owned);
    reducer->owned[0] = (struct arena_range){0, model->arena};
    reducer->ranges = 1;
    if (strategy->own)
        strategy->own(reducer);
}

void reducer_destroy(struct reducer *reducer)
{
    if (reducer->staged)
        reducer->comm->release(reducer->comm, reducer->staged);
    free(reducer->owned);
    plan_destroy(&reducer->plan);
    *reducer = (struct reducer){0};
}

void reducer_begin(struct reducer *reducer)
{
    reducer->started = 0;
}

void reducer_gradient_ready(struct reducer *reducer, int tensor)
{
    if (!reducer->after_backward)
        reducer->strategy->gradient_ready(reducer, tensor);
}

void reducer_finish(struct reducer *reducer)
{
    const struct bucket *first = &reducer->plan.bucket[0];
    for (int tensor = first->last_tensor + first->tensors - 1; reducer->after_backward && tensor >= 0; tensor--)
        reducer->strategy->gradient_ready(reducer, tensor);
    reducer->strategy->finish(reducer);
}

void reducer_after_optimizer(struct reducer *reducer)
{
    if (reducer->strategy->after_optimizer)
        reducer->strategy->after_optimizer(reducer);
}

void reducer_settle(struct reducer *reducer)
{
    int parts = (int)reducer->model->sizes.layers + 2;
    for (int part = 0; reducer->strategy->before_forward && part < parts; part++)
        reducer->strategy->before_forward(reducer, part);
}

struct collective reducer_collective(const struct reducer *reducer, int bucket, int i)
{
    const struct bucket *s = &reducer->plan.bucket[bucket];
    if (reducer->strategy->collective)
        return reducer->strategy->collective(reducer, bucket, i);
    if (!reducer->staged)
        return (struct collective){
            .buffer = reducer->model->gradient + s->offset, .count = s->count, .dtype = COMM_FLOAT32, .index = bucket};
    char *buffer = (char *)reducer->staged + s->offset * comm_dtype_bytes(reducer->staged_dtype);
    return (struct collective){.buffer = buffer, .count = s->count, .dtype = reducer->staged_dtype, .index = bucket};
}

void reducer_start(struct reducer *reducer, int bucket, int i)
{
    const struct device *device = reducer->model->device;
    struct collective collective = reducer_collective(reducer, bucket, i);
    device->annotation_begin("%s bucket %d", comm_kind_name[collective.kind], bucket);
    reducer->ticket = reducer->comm->start(reducer->comm, &collective);
    device->annotation_end();
    reducer->started += i == 0;
}

void reducer_run(struct reducer *reducer, int bucket, int i)
{
    const struct device *device = reducer->model->device;
    struct collective collective = reducer_collective(reducer, bucket, i);
    device->annotation_begin("%s bucket %d", comm_kind_name[collective.kind], bucket);
    reducer->comm->run_blocking(reducer->comm, &collective);
    device->annotation_end();
}

int reducer_completed_bucket(const struct reducer *reducer, int tensor)
{
    return tensor == reducer->plan.bucket[reducer->started].last_tensor ? reducer->started : -1;
}
