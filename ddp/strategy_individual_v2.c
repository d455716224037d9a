/* strategy_individual_v2.c - staged overlap: each gradient is copied to a buffer of its own as soon as it is final, the
 * buffer is all-reduced while backward goes on, and after the wait it is copied back. The copies buy another type on
 * the wire, and a gradient that communication never touches. */
#include "ddp/strategy.h"

static void stage_and_start(struct reducer *reducer, int tensor)
{
    int i = reducer_completed_bucket(reducer, tensor);
    const struct bucket *s = &reducer->plan.bucket[i];
    struct collective staged = reducer_collective(reducer, i);
    if (staged.dtype == COMM_BF16)
        reducer->device->pack_bf16(staged.buffer, reducer->gradient + s->offset, s->count);
    else
        reducer->device->copy(staged.buffer, reducer->gradient + s->offset, s->count);
    reducer_start(reducer, i);
}

static void join_and_unstage(struct reducer *reducer)
{
    reducer->comm->join(reducer->comm, reducer->ticket);
    reducer->device->stamp(); /* waiting is no part of the first copy */
    for (int i = 0; i < reducer->plan.n; i++) {
        const struct bucket *s = &reducer->plan.bucket[i];
        struct collective staged = reducer_collective(reducer, i);
        if (staged.dtype == COMM_BF16)
            reducer->device->unpack_bf16(reducer->gradient + s->offset, staged.buffer, s->count);
        else
            reducer->device->copy(reducer->gradient + s->offset, staged.buffer, s->count);
    }
}

const struct strategy strategy_ddp_individual_v2 = {
    .name = "ddp_individual_v2",
    .summary = "as ddp_individual, through a communication buffer per tensor (--grad-dtype bf16 halves the bytes)",
    .reduces = 1,
    .overlaps = 1,
    .stages = 1,
    .plan = plan_per_tensor,
    .gradient_ready = stage_and_start,
    .finish = join_and_unstage,
};
