/* strategy_individual_v2.c - staged overlap: copies a final gradient to a separate buffer and all-reduces the buffer
 * during backward; then waits, and copies the result back. Communication never touches the gradient tensor, so it may
 * use another data type. */
#include "ddp/strategy.h"

static void stage_and_start(struct reducer *reducer, int tensor)
{
    int i = reducer_completed_bucket(reducer, tensor);
    const struct device *device = reducer->model->device;
    const struct collective staged = reducer_collective(reducer, i, 0);
    const float *gradient = reducer->model->gradient + reducer->plan.bucket[i].offset;
    if (staged.dtype == COMM_BF16)
        device->pack_bf16(staged.buffer, gradient, staged.count);
    else
        device->copy(staged.buffer, gradient, staged.count);
    reducer_start(reducer, i, 0);
}

static void join_and_unstage(struct reducer *reducer)
{
    const struct device *device = reducer->model->device;
    reducer->comm->join(reducer->comm, reducer->ticket);
    device->stamp(); /* the first copy begins at this stamp in the trace, after the wait */
    for (int i = 0; i < reducer->plan.n; i++) {
        const struct collective staged = reducer_collective(reducer, i, 0);
        float *gradient = reducer->model->gradient + reducer->plan.bucket[i].offset;
        if (staged.dtype == COMM_BF16)
            device->unpack_bf16(gradient, staged.buffer, staged.count, 1, staged.count);
        else
            device->copy(gradient, staged.buffer, staged.count);
    }
}

const struct strategy strategy_ddp_individual_v2 = {
    .name = "ddp_individual_v2",
    .summary = "like ddp_individual, through a communication buffer per tensor",
    .reduces = 1,
    .overlaps = 1,
    .stages = 1,
    .collectives = 1,
    .plan = plan_per_tensor,
    .gradient_ready = stage_and_start,
    .finish = join_and_unstage,
    .bf16 = &strategy_ddp_individual_v2_bf16,
};

const struct strategy strategy_ddp_individual_v2_bf16 = {
    .name = "ddp_individual_v2",
    .reduces = 1,
    .overlaps = 1,
    .stages = 1,
    .wire = COMM_BF16,
    .collectives = 1,
    .plan = plan_per_tensor,
    .gradient_ready = stage_and_start,
    .finish = join_and_unstage,
};
