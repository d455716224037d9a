/* strategy_individual_v2.c - staged overlap: each gradient is copied to a buffer of its own as soon as it is final, the
 * buffer is all-reduced while backward goes on, and after the wait it is copied back. The copies buy another type on
 * the wire, and a gradient that communication never touches. */
#include "ddp/strategy.h"

static void ready(struct sync *sync, int tensor)
{
    int i = sync_completed_slice(sync, tensor);
    const struct slice *s = &sync->plan.slice[i];
    struct collective staged = sync_collective(sync, i);
    if (staged.dtype == COMM_BF16)
        sync->device->pack_bf16(staged.buffer, sync->gradient + s->offset, s->count);
    else
        sync->device->copy(staged.buffer, sync->gradient + s->offset, s->count);
    sync_start(sync, i);
}

static void finish(struct sync *sync)
{
    sync->comm->join(sync->comm, sync->ticket);
    for (int i = 0; i < sync->plan.n; i++) {
        const struct slice *s = &sync->plan.slice[i];
        struct collective staged = sync_collective(sync, i);
        if (staged.dtype == COMM_BF16)
            sync->device->unpack_bf16(sync->gradient + s->offset, staged.buffer, s->count);
        else
            sync->device->copy(sync->gradient + s->offset, staged.buffer, s->count);
    }
}

const struct strategy strategy_ddp_individual_v2 = {
    .name = "ddp_individual_v2",
    .summary = "as ddp_individual, through a communication buffer per tensor (--grad-dtype bf16 halves the bytes)",
    .reduces = 1,
    .overlaps = 1,
    .stages = 1,
    .max_bytes = PLAN_PER_TENSOR,
    .gradient_ready = ready,
    .finish = finish,
};
