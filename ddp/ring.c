/* ring.c - buffers for buckets of gradients, which take turns. */
#include "ddp/ring.h"

/* Returns the number of buffers for a plan's buckets. */
static int buffers_for(const struct plan *plan)
{
    return plan->n < RING_BUFFERS ? plan->n : RING_BUFFERS;
}

/* Returns the floats of the largest bucket. */
static size_t largest_bucket(const struct plan *plan, size_t arena)
{
    size_t most = 0;
    for (int i = 0; i < plan->n; i++) {
        size_t floats = plan_end(plan, i, arena) - plan->bucket[i].offset;
        most = floats > most ? floats : most;
    }
    return most;
}

size_t ring_floats(const struct strategy *strategy, const struct model *model, const struct bucket_caps *caps)
{
    struct plan plan;
    if (!strategy->releases)
        return 0;
    strategy->plan(&plan, model->tensor, model->tensors, caps);
    size_t floats = (size_t)buffers_for(&plan) * largest_bucket(&plan, model->arena);
    plan_destroy(&plan);
    return floats;
}

void ring_create(struct reducer *reducer)
{
    reducer->ring_buffers = buffers_for(&reducer->plan);
    reducer->ring_floats = largest_bucket(&reducer->plan, reducer->model->arena);
    reducer->ring = reducer_allocate(reducer, (size_t)reducer->ring_buffers * reducer->ring_floats);
}

/* Returns 1 if the gradients of another bucket are the next to be written, beginning with `tensor`. */
static int begins_bucket(const struct reducer *reducer, int tensor)
{
    return reducer->model->tensor[tensor].offset == reducer->plan.bucket[reducer_bucket_of(reducer, tensor)].offset;
}

/* Returns the number of the buffer in which a bucket lies. */
static int buffer_of(const struct reducer *reducer, int bucket)
{
    return (reducer->turn + bucket) % reducer->ring_buffers;
}

float *ring_buffer(const struct reducer *reducer, int bucket)
{
    return reducer->ring + (size_t)buffer_of(reducer, bucket) * reducer->ring_floats;
}

void ring_take(struct reducer *reducer, int bucket)
{
    reducer->taken[buffer_of(reducer, bucket)] = reducer->ticket;
}

int reducer_waits(const struct reducer *reducer, int tensor)
{
    return reducer->ring && begins_bucket(reducer, tensor) &&
           reducer->taken[buffer_of(reducer, reducer_bucket_of(reducer, tensor))];
}

void reducer_join_buffer(struct reducer *reducer, int tensor)
{
    reducer->comm->join(reducer->comm, reducer->taken[buffer_of(reducer, reducer_bucket_of(reducer, tensor))]);
}

float *reducer_place(struct reducer *reducer, int tensor)
{
    const struct model *model = reducer->model;
    int bucket = reducer_bucket_of(reducer, tensor);
    const struct bucket *b = &reducer->plan.bucket[bucket];
    float *gradient = reducer_gradient(reducer, bucket);
    if (reducer->ring && begins_bucket(reducer, tensor)) {
        const struct owned_range *own = reducer_range_of(reducer, bucket);
        model->device->zero(gradient, b->count);
        if (reducer->turn)
            model->device->copy(gradient + (own->offset - b->offset), own->gradient, own->count);
    }
    return gradient + (model->tensor[tensor].offset - b->offset);
}
