/* ring.c - a ring of buffers for buckets of gradients. */
#include "ddp/ring.h"

struct ring *ring_create(struct reducer *reducer)
{
    const struct plan *plan = &reducer->plan;
    struct ring *ring = reducer_keep(reducer, 1, sizeof *ring);
    ring->buffers = plan->n < RING_BUFFERS ? plan->n : RING_BUFFERS;
    ring->floats = plan_largest(plan, reducer->model->arena);
    reducer->released_floats = (size_t)ring->buffers * ring->floats;
    reducer->released = ring->buffer = reducer_allocate(reducer, reducer->released_floats);
    return ring;
}

/* Returns 1 if a bucket begins with `tensor` in the arena: backward then begins to write this bucket's gradients. */
static int begins_bucket(const struct reducer *reducer, int tensor)
{
    return reducer->model->tensor[tensor].offset == reducer->plan.bucket[reducer_bucket_of(reducer, tensor)].offset;
}

/* Returns the number of the buffer in which a bucket lies. */
static int buffer_of(const struct ring *ring, const struct reducer *reducer, int bucket)
{
    return ((int)reducer->micro_batch * reducer->plan.n + bucket) % ring->buffers;
}

float *ring_buffer(const struct ring *ring, const struct reducer *reducer, int bucket)
{
    return ring->buffer + (size_t)buffer_of(ring, reducer, bucket) * ring->floats;
}

void ring_take(struct ring *ring, const struct reducer *reducer, int bucket)
{
    ring->taken[buffer_of(ring, reducer, bucket)] = reducer->ticket;
}

long ring_needed(const struct ring *ring, const struct reducer *reducer, int tensor)
{
    return begins_bucket(reducer, tensor) ? ring->taken[buffer_of(ring, reducer, reducer_bucket_of(reducer, tensor))]
                                          : 0;
}

float *ring_place(const struct ring *ring, const struct reducer *reducer, int tensor)
{
    const struct model *model = reducer->model;
    int bucket = reducer_bucket_of(reducer, tensor);
    const struct bucket *b = &reducer->plan.bucket[bucket];
    float *gradient = ring_buffer(ring, reducer, bucket);
    if (begins_bucket(reducer, tensor)) {
        const struct owned_range *own = reducer_range_of(reducer, bucket);
        model->device->zero(gradient, b->count);
        if (reducer->micro_batch)
            model->device->copy(gradient + (own->offset - b->offset), own->gradient, own->count);
    }
    return gradient + (model->tensor[tensor].offset - b->offset);
}
