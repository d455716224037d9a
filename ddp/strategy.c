/* strategy.c - the list of strategies, and functions that they share. */
#include "ddp/strategy.h"

#include "ddp/exchange.h"
#include "ddp/ring.h"
#include "kernels/error.h"

#include <stdlib.h>
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
    return strategy->reduces && !strategy->approximates;
}

const struct strategy *strategy_with(const struct strategy *strategy, enum comm_dtype wire)
{
    return wire == COMM_BF16 && strategy->bf16 ? strategy->bf16 : strategy;
}

int strategy_parts(const struct strategy *strategy, int ranks, int local_size)
{
    if (strategy->shards)
        return ranks;
    return strategy->on_one_level && local_size > 1 && local_size < ranks ? local_size : 0;
}

const struct strategy *strategy_used(const struct strategy *strategy, int ranks, int local_size)
{
    return strategy->on_one_level && !strategy_parts(strategy, ranks, local_size) ? strategy->on_one_level : strategy;
}

size_t strategy_collectives(const struct strategy *strategy, size_t micro_batches)
{
    return (size_t)strategy->collectives + (strategy->releases ? micro_batches - 1 : 0);
}

void *reducer_allocate(struct reducer *reducer, size_t floats)
{
    void *memory = reducer->comm->allocate(reducer->comm, floats * sizeof(float));
    reducer->bytes += floats * sizeof(float);
    reducer->model->device->zero(memory, floats); /* causes page faults now, not in a step */
    return memory;
}

void reducer_create(struct reducer *reducer, const struct strategy *strategy, const struct model *model,
                    struct comm *comm, const struct bucket_caps *caps, size_t number)
{
    int parts = strategy_parts(strategy, comm->ranks, comm->local_size);
    strategy = strategy_used(strategy, comm->ranks, comm->local_size);
    *reducer = (struct reducer){.strategy = strategy, .model = model, .comm = comm, .number = number};
    strategy->plan(&reducer->plan, model->tensor, model->tensors, caps);
    if (strategy->stages)
        reducer->staged = reducer_allocate(reducer, model->arena * comm_dtype_bytes(strategy->wire) / sizeof(float));
    if (parts)
        reducer->shard = reducer_allocate(reducer, model->arena / (size_t)parts);
    if (strategy->shards)
        reducer->norm = reducer_allocate(reducer, (size_t)comm->ranks);
    if (strategy->keeps)
        reducer->kept = reducer_allocate(reducer, strategy->keeps(model, number));
    reducer->owned = allocate((size_t)reducer->plan.n, sizeof *reducer->owned);
    reducer->owned[0] = (struct owned_range){0, model->arena, 0, model->gradient};
    reducer->ranges = 1;
    if (strategy->own)
        strategy->own(reducer);
    if (strategy->exchanges)
        exchange_create(reducer);
    if (strategy->releases)
        ring_create(reducer);
    reducer_restart(reducer);
}

void reducer_destroy(struct reducer *reducer)
{
    void *const memory[] = {reducer->staged,   reducer->shard, reducer->norm, reducer->sent,
                            reducer->received, reducer->ring,  reducer->kept};
    for (size_t i = 0; reducer->comm && i < sizeof memory / sizeof *memory; i++)
        reducer->comm->release(reducer->comm, memory[i]);
    free(reducer->exchanged);
    free(reducer->low_rank);
    free(reducer->owned);
    plan_destroy(&reducer->plan);
    *reducer = (struct reducer){0};
}

void reducer_restart(struct reducer *reducer)
{
    reducer->step = 0;
    if (reducer->strategy->restart)
        reducer->strategy->restart(reducer);
}

int reducer_averages(const struct reducer *reducer)
{
    return reducer->strategy->averages && reducer->step % reducer->number == 0;
}

double reducer_share(const struct reducer *reducer)
{
    return reducer->strategy->averages ? 1.0 / (double)reducer->number : 1;
}

void reducer_begin(struct reducer *reducer, size_t micro_batch)
{
    reducer->started = 0;
    reducer->turn = (int)micro_batch * reducer->plan.n;
    if (micro_batch)
        return;
    reducer->step++;
    reducer->updated = 0;
    memset(reducer->taken, 0, sizeof reducer->taken); /* the last step has waited for all of its reductions */
}

int reducer_reductions(const struct reducer *reducer)
{
    return reducer->strategy->releases ? reducer->turn / reducer->plan.n + 1 : 1;
}

void reducer_gradient_ready(struct reducer *reducer, int tensor)
{
    const struct strategy *strategy = reducer->strategy;
    if (strategy->gradient_ready && (!reducer->after_backward || strategy->releases))
        strategy->gradient_ready(reducer, tensor);
    if (reducer->after_backward && strategy->releases)
        reducer->comm->join(reducer->comm, reducer->ticket);
}

void reducer_finish(struct reducer *reducer)
{
    const struct bucket *first = &reducer->plan.bucket[0];
    int later = reducer->after_backward && !reducer->strategy->releases;
    for (int tensor = first->last_tensor + first->tensors - 1; later && tensor >= 0; tensor--)
        reducer->strategy->gradient_ready(reducer, tensor);
    reducer->strategy->finish(reducer);
}

void reducer_range_updated(struct reducer *reducer)
{
    if (reducer->strategy->range_updated)
        reducer->strategy->range_updated(reducer, reducer->updated);
    reducer->updated++;
}

/* Returns the ticket of the next owned range's bucket, which has been started. */
static long next_ticket(const struct reducer *reducer)
{
    return reducer->ticket - (reducer->started - 1 - reducer->updated);
}

int reducer_range_summed(const struct reducer *reducer)
{
    return reducer->updated < reducer->started && reducer->comm->complete(reducer->comm, next_ticket(reducer));
}

void reducer_join_range(struct reducer *reducer)
{
    reducer->comm->join(reducer->comm, next_ticket(reducer));
}

void reducer_grad_norm(struct reducer *reducer, float *scalars, float max_norm)
{
    const struct model *model = reducer->model;
    struct comm *comm = reducer->comm;
    if (!reducer->strategy->shards) {
        model->device->grad_norm(scalars, model->gradient, model->arena, max_norm);
        return;
    }
    const struct collective gather = {
        .kind = COMM_ALL_GATHER, .buffer = reducer->norm, .count = 1, .dtype = COMM_FLOAT32, .index = -1};
    model->device->grad_norm(scalars, reducer->shard, reducer_owned(reducer), 0);
    model->device->copy(reducer->norm + comm->rank, scalars + SCALAR_GRAD_NORM, 1);
    comm->run_blocking(comm, &gather);
    model->device->grad_norm(scalars, reducer->norm, (size_t)comm->ranks, max_norm);
}

int reducer_gathers(const struct reducer *reducer, int tensor)
{
    int next = reducer->gathering - 1; /* gathers are joined in the order of their tickets */
    return next >= 0 && reducer->plan.bucket[next].last_tensor <= tensor;
}

void reducer_join_gathers(struct reducer *reducer, int tensor)
{
    for (; reducer_gathers(reducer, tensor); reducer->gathering--)
        reducer->comm->join(reducer->comm, reducer->first_gather + reducer->plan.n - reducer->gathering);
}

void reducer_settle(struct reducer *reducer)
{
    reducer_join_gathers(reducer, reducer->model->tensors - 1);
}

int reducer_bucket_of(const struct reducer *reducer, int tensor)
{
    int bucket = 0;
    while (reducer->plan.bucket[bucket].last_tensor > tensor)
        bucket++;
    return bucket;
}

float *reducer_gradient(const struct reducer *reducer, int bucket)
{
    return reducer->ring ? ring_buffer(reducer, bucket)
                         : reducer->model->gradient + reducer->plan.bucket[bucket].offset;
}

const struct owned_range *reducer_range_of(const struct reducer *reducer, int bucket)
{
    return &reducer->owned[reducer->ranges - 1 - bucket];
}

void reducer_close_gaps(struct reducer *reducer)
{
    size_t end = reducer->model->arena;
    for (int i = reducer->plan.n - 1; i >= 0; i--) {
        struct bucket *b = &reducer->plan.bucket[i];
        b->count = end - b->offset;
        end = b->offset;
    }
}

size_t reducer_owned(const struct reducer *reducer)
{
    const struct owned_range *last = &reducer->owned[reducer->ranges - 1];
    return last->at + last->count;
}

struct collective reducer_collective(const struct reducer *reducer, int bucket, int i)
{
    const struct bucket *s = &reducer->plan.bucket[bucket];
    if (reducer->strategy->collective)
        return reducer->strategy->collective(reducer, bucket, i);
    if (!reducer->staged)
        return (struct collective){
            .buffer = reducer->model->gradient + s->offset, .count = s->count, .dtype = COMM_FLOAT32, .index = bucket};
    char *buffer = (char *)reducer->staged + s->offset * comm_dtype_bytes(reducer->strategy->wire);
    return (struct collective){.buffer = buffer, .count = s->count, .dtype = reducer->strategy->wire, .index = bucket};
}

void reducer_start(struct reducer *reducer, int bucket, int i)
{
    const struct device *device = reducer->model->device;
    struct collective collective = reducer_collective(reducer, bucket, i);
    device->annotation_begin("%s bucket %d", comm_kind_name[collective.kind], bucket);
    reducer->ticket = reducer->comm->start(reducer->comm, &collective);
    device->annotation_end();
    reducer->started += i == 0;
    if (reducer->ring && i == 0)
        ring_take(reducer, bucket);
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

void reducer_start_completed(struct reducer *reducer, int tensor)
{
    int bucket = reducer_completed_bucket(reducer, tensor);
    if (bucket >= 0)
        reducer_start(reducer, bucket, 0);
}

void reducer_join(struct reducer *reducer)
{
    reducer->comm->join(reducer->comm, reducer->ticket);
}
