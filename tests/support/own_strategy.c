/* own_strategy.c - all-reduces each bucket in two halves, in a buffer of its own, as soon as the bucket is full. */
#include "tests/support/own_strategy.h"

#include "ddp/reducer.h"

enum { FIRST_HALF, SECOND_HALF, HALVES };

static const struct traits plain = {.reduces = 1,
                                    .exact = 1,
                                    .overlaps = 1,
                                    .buckets = 1,
                                    .messages = HALVES,
                                    .message = {[FIRST_HALF] = {.kind = COMM_ALL_REDUCE, .partial = 1},
                                                [SECOND_HALF] = {.kind = COMM_ALL_REDUCE, .partial = 1}}};

static void create(struct reducer *reducer)
{
    reducer->state = reducer_allocate(reducer, reducer->model->arena);
}

static float *buffer_of(const struct reducer *reducer, int bucket)
{
    return (float *)reducer->state + reducer->plan.bucket[bucket].offset;
}

static void place_half(const struct reducer *reducer, int bucket, int i, struct collective *c)
{
    size_t half = c->count / 2;
    c->buffer = buffer_of(reducer, bucket) + (i == FIRST_HALF ? 0 : half);
    c->count = i == FIRST_HALF ? half : c->count - half;
}

static void send_completed_bucket(struct reducer *reducer, int tensor)
{
    int bucket = reducer_completed_bucket(reducer, tensor);
    if (bucket < 0)
        return;
    reducer->model->device->copy(buffer_of(reducer, bucket), reducer_gradient(reducer, bucket),
                                 reducer->plan.bucket[bucket].count);
    for (int i = 0; i < HALVES; i++)
        reducer_start(reducer, bucket, i);
}

static void join_and_copy_back(struct reducer *reducer)
{
    reducer_join(reducer);
    reducer->model->device->stamp(); /* the first copy begins at this stamp in the trace, after the wait */
    for (int i = 0; i < reducer->plan.n; i++)
        reducer->model->device->copy(reducer_gradient(reducer, i), buffer_of(reducer, i),
                                     reducer->plan.bucket[i].count);
}

const struct strategy own_strategy = {
    .name = "own_strategy",
    .summary = "each bucket in two halves, in a buffer of its own",
    .traits = {[VARIANT_PLAIN] = &plain},
    .plan = plan_create,
    .create = create,
    .gradient_ready = send_completed_bucket,
    .finish = join_and_copy_back,
    .place_collective = place_half,
};
