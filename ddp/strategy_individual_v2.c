/* strategy_individual_v2.c - staged overlap: copies a final gradient to a separate buffer and all-reduces the buffer
 * during backward; then waits, and copies the result back. Communication never touches the gradient tensor, so it may
 * use another data type. */
#include "ddp/reducer.h"

static const struct traits plain = {
    .reduces = 1, .exact = 1, .overlaps = 1, .messages = 1, .message = {{.kind = COMM_ALL_REDUCE}}};
static const struct traits bf16 = {
    .reduces = 1, .exact = 1, .overlaps = 1, .wire = COMM_BF16, .messages = 1, .message = {{.kind = COMM_ALL_REDUCE}}};

/* Allocates the buffers: the arena in the type on the wire. */
static void create(struct reducer *reducer)
{
    reducer->state =
        reducer_allocate(reducer, reducer->model->arena * comm_dtype_bytes(reducer->traits->wire) / sizeof(float));
}

static void place_collective(const struct reducer *reducer, int bucket, int i, struct collective *c)
{
    (void)i;
    c->buffer = (char *)reducer->state + reducer->plan.bucket[bucket].offset * comm_dtype_bytes(c->dtype);
}

static void stage_and_start(struct reducer *reducer, int tensor)
{
    int i = reducer_completed_bucket(reducer, tensor);
    const struct device *device = reducer->model->device;
    if (i < 0)
        return;
    const struct collective staged = reducer_collective(reducer, i, 0);
    const float *gradient = reducer_gradient(reducer, i);
    if (staged.dtype == COMM_BF16)
        device->pack_bf16(staged.buffer, gradient, staged.count);
    else
        device->copy(staged.buffer, gradient, staged.count);
    reducer_start(reducer, i, 0);
}

static void join_and_unstage(struct reducer *reducer)
{
    const struct device *device = reducer->model->device;
    reducer_join(reducer);
    device->stamp(); /* the first copy begins at this stamp in the trace, after the wait */
    for (int i = 0; i < reducer->plan.n; i++) {
        const struct collective staged = reducer_collective(reducer, i, 0);
        float *gradient = reducer_gradient(reducer, i);
        if (staged.dtype == COMM_BF16)
            device->unpack_bf16(gradient, staged.buffer, staged.count, 1, staged.count);
        else
            device->copy(gradient, staged.buffer, staged.count);
    }
}

const struct strategy strategy_ddp_individual_v2 = {
    .name = "ddp_individual_v2",
    .summary = "like ddp_individual, through a communication buffer per tensor",
    .traits = {[VARIANT_PLAIN] = &plain, [VARIANT_BF16] = &bf16},
    .plan = plan_per_tensor,
    .create = create,
    .gradient_ready = stage_and_start,
    .finish = join_and_unstage,
    .place_collective = place_collective,
};
