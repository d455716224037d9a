/* reducer.c - applies a strategy to a model. */
#include "ddp/reducer.h"

#include "kernels/error.h"

#include <stdlib.h>

/* ---- set-up ---- */

static void *remember(struct reducer *reducer, void *memory, int of_comm)
{
    if (reducer->n_kept == (int)(sizeof reducer->kept / sizeof *reducer->kept))
        FATAL("%s allocates more than %d times", reducer->strategy->name, reducer->n_kept);
    reducer->kept[reducer->n_kept].memory = memory;
    reducer->kept[reducer->n_kept++].of_comm = of_comm;
    return memory;
}

void *reducer_allocate(struct reducer *reducer, size_t floats)
{
    void *memory = reducer->comm->allocate(reducer->comm, floats * sizeof(float));
    reducer->bytes += floats * sizeof(float);
    if (memory)
        reducer->model->device->zero(memory, floats); /* causes page faults now, not in a step */
    return remember(reducer, memory, 1);
}

void *reducer_keep(struct reducer *reducer, size_t n, size_t size)
{
    return remember(reducer, allocate(n, size), 0);
}

/* Checks that each tensor is in one bucket: one that is in none would silently keep this rank's own gradient. */
static void check_plan(const struct reducer *reducer)
{
    int next = reducer->model->tensors;
    for (const struct bucket *b = reducer->plan.bucket; b < reducer->plan.bucket + reducer->plan.n; b++)
        next = b->last_tensor + b->tensors == next ? b->last_tensor : -1;
    if (next)
        FATAL("the buckets of %s do not have each tensor once", reducer->strategy->name);
}

/* Plans a reducer and allocates what it keeps. */
static void set_up(struct reducer *reducer, const struct strategy *strategy, enum variant variant,
                   const struct model *model, struct comm *comm, const struct bucket_caps *caps, size_t number)
{
    strategy = strategy_used(strategy, comm->ranks, comm->local_size);
    *reducer = (struct reducer){
        .strategy = strategy, .traits = strategy->traits[variant], .model = model, .comm = comm, .number = number};
    strategy->plan(&reducer->plan, model->tensor, model->tensors, caps);
    check_plan(reducer);
    reducer->owned = reducer_keep(reducer, (size_t)reducer->plan.n, sizeof *reducer->owned);
    reducer->owned[0] = (struct owned_range){0, model->arena, 0, model->gradient};
    reducer->ranges = 1;
    if (reducer->traits->shards)
        reducer->norm = reducer_allocate(reducer, (size_t)comm->ranks);
    if (strategy->create)
        strategy->create(reducer);
}

void reducer_create(struct reducer *reducer, const struct strategy *strategy, enum variant variant,
                    const struct model *model, struct comm *comm, const struct bucket_caps *caps, size_t number)
{
    set_up(reducer, strategy, variant, model, comm, caps, number);
    reducer_restart(reducer);
}

static void *count_only(struct comm *comm, size_t bytes)
{
    (void)comm;
    (void)bytes;
    return NULL;
}

static void release_nothing(struct comm *comm, void *memory)
{
    (void)comm;
    (void)memory;
}

size_t reducer_memory(const struct strategy *strategy, enum variant variant, const struct model *model, int ranks,
                      int local_size, const struct bucket_caps *caps, size_t number, size_t *gradients)
{
    struct comm comm = {.ranks = ranks, .local_size = local_size, .allocate = count_only, .release = release_nothing};
    struct reducer reducer;
    set_up(&reducer, strategy, variant, model, &comm, caps, number);
    size_t bytes = reducer.bytes;
    *gradients = reducer.released_floats * sizeof(float);
    reducer_destroy(&reducer);
    return bytes;
}

void reducer_destroy(struct reducer *reducer)
{
    for (int i = 0; i < reducer->n_kept; i++)
        if (reducer->kept[i].of_comm)
            reducer->comm->release(reducer->comm, reducer->kept[i].memory);
        else
            free(reducer->kept[i].memory);
    plan_destroy(&reducer->plan);
    *reducer = (struct reducer){0};
}

void reducer_restart(struct reducer *reducer)
{
    reducer->step = 0;
    if (reducer->strategy->restart)
        reducer->strategy->restart(reducer);
}

void reducer_close_gaps(struct reducer *reducer)
{
    const struct plan *plan = &reducer->plan;
    for (int i = 0; i < plan->n; i++)
        plan->bucket[i].count = plan_end(plan, i, reducer->model->arena) - plan->bucket[i].offset;
}

/* ---- a step, in its order ---- */

void reducer_begin(struct reducer *reducer, size_t micro_batch)
{
    reducer->started = 0;
    reducer->micro_batch = micro_batch;
    if (micro_batch)
        return;
    reducer->step++;
    reducer->updated = 0;
}

long reducer_needed(const struct reducer *reducer, int tensor, enum pass pass)
{
    long ticket = reducer->strategy->needed ? reducer->strategy->needed(reducer, tensor, pass) : 0;
    return ticket > reducer->joined ? ticket : 0;
}

void reducer_join_ticket(struct reducer *reducer, long ticket)
{
    reducer->comm->join(reducer->comm, ticket);
    reducer->joined = ticket > reducer->joined ? ticket : reducer->joined;
}

int reducer_is_in_flight(const struct reducer *reducer)
{
    return reducer_needed(reducer, reducer->model->tensors - 1, PASS_FORWARD) != 0;
}

void reducer_settle(struct reducer *reducer)
{
    long ticket = reducer_needed(reducer, reducer->model->tensors - 1, PASS_FORWARD);
    if (ticket)
        reducer_join_ticket(reducer, ticket);
}

float *reducer_place(struct reducer *reducer, int tensor)
{
    float *place = reducer->strategy->place ? reducer->strategy->place(reducer, tensor) : NULL;
    return place ? place : reducer->model->gradient + reducer->model->tensor[tensor].offset;
}

void reducer_gradient_ready(struct reducer *reducer, int tensor)
{
    const struct strategy *strategy = reducer->strategy;
    if (strategy->gradient_ready && (!reducer->after_backward || reducer->traits->releases))
        strategy->gradient_ready(reducer, tensor);
    if (reducer->after_backward && reducer->traits->releases)
        reducer_join(reducer);
}

void reducer_finish(struct reducer *reducer)
{
    const struct bucket *first = &reducer->plan.bucket[0];
    int later = reducer->after_backward && !reducer->traits->releases;
    for (int tensor = first->last_tensor + first->tensors - 1; later && tensor >= 0; tensor--)
        reducer->strategy->gradient_ready(reducer, tensor);
    reducer->strategy->finish(reducer);
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
    const struct device *device = reducer->model->device;
    struct comm *comm = reducer->comm;
    const struct collective gather = {
        .kind = COMM_ALL_GATHER, .buffer = reducer->norm, .count = 1, .dtype = COMM_FLOAT32, .index = -1};
    if (!reducer->norm) {
        device->grad_norm(scalars, reducer->model->gradient, reducer->model->arena, max_norm);
        return;
    }
    device->grad_norm(scalars, reducer->owned[0].gradient, reducer_owned(reducer), 0);
    device->copy(reducer->norm + comm->rank, scalars + SCALAR_GRAD_NORM, 1);
    comm->run_blocking(comm, &gather);
    device->grad_norm(scalars, reducer->norm, (size_t)comm->ranks, max_norm);
}

int reducer_averages(const struct reducer *reducer)
{
    return reducer->traits->averages && reducer->step % reducer->number == 0;
}

void reducer_range_updated(struct reducer *reducer)
{
    if (reducer->strategy->range_updated)
        reducer->strategy->range_updated(reducer, reducer->updated);
    reducer->updated++;
}

/* ---- what others ask ---- */

double reducer_share(const struct reducer *reducer)
{
    return reducer->traits->averages ? 1.0 / (double)reducer->number : 1;
}

int reducer_reductions(const struct reducer *reducer)
{
    return reducer->traits->releases ? (int)reducer->micro_batch + 1 : 1;
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
    float *gradient = reducer->model->gradient; /* NULL if the model is only planned, or gradients are released */
    return gradient ? gradient + reducer->plan.bucket[bucket].offset : NULL;
}

float *reducer_gradients(const struct reducer *reducer, size_t *floats)
{
    *floats = reducer->released ? reducer->released_floats : reducer->model->arena;
    return reducer->released ? reducer->released : reducer->model->gradient;
}

const struct owned_range *reducer_range_of(const struct reducer *reducer, int bucket)
{
    return &reducer->owned[reducer->ranges - 1 - bucket];
}

size_t reducer_owned(const struct reducer *reducer)
{
    const struct owned_range *last = &reducer->owned[reducer->ranges - 1];
    return last->at + last->count;
}

struct collective reducer_collective(const struct reducer *reducer, int bucket, int i)
{
    if (bucket < 0 || bucket >= reducer->plan.n)
        FATAL("%s asks for bucket %d of %d", reducer->strategy->name, bucket, reducer->plan.n);
    const struct bucket *b = &reducer->plan.bucket[bucket];
    const struct message *message = &reducer->traits->message[i];
    int ranks = message->group == COMM_HOST ? reducer->comm->local_size : reducer->comm->ranks;
    struct collective c = {.kind = message->kind,
                           .group = message->group,
                           .buffer = reducer_gradient(reducer, bucket),
                           .count = b->count / comm_parts(message->kind, ranks),
                           .dtype = reducer->traits->wire,
                           .index = bucket};
    if (reducer->strategy->place_collective)
        reducer->strategy->place_collective(reducer, bucket, i, &c);
    return c;
}

/* ---- for strategies ---- */

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

void reducer_start_completed(struct reducer *reducer, int tensor)
{
    int bucket = reducer_completed_bucket(reducer, tensor);
    if (bucket >= 0)
        reducer_start(reducer, bucket, 0);
}

void reducer_join(struct reducer *reducer)
{
    reducer_join_ticket(reducer, reducer->ticket);
}

void reducer_run_in_turn(struct reducer *reducer)
{
    for (int i = reducer->plan.n - 1; i >= 0; i--)
        reducer_run(reducer, i, 0);
}
