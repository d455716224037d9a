/* exchange.c - sums buckets in fp32 while gradients are bfloat16 on the wire. */
#include "ddp/exchange.h"

#include "kernels/error.h"

#include <stdlib.h>

enum { ALIGNMENT = 8 }; /* numbers to which slices are rounded up: 16 bytes, for fast copies */

void exchange_create(struct reducer *reducer)
{
    size_t ranks = (size_t)reducer->comm->ranks, at = 0;
    reducer->exchanged = allocate((size_t)reducer->plan.n, sizeof *reducer->exchanged);
    for (int i = 0; i < reducer->plan.n; i++) {
        size_t part = (reducer->plan.bucket[i].count + ranks - 1) / ranks;
        size_t slice = (part + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        reducer->exchanged[i] = (struct exchanged_bucket){.at = at, .slice = slice};
        at += ranks * slice;
    }
    reducer->sent = reducer_allocate(reducer, at * sizeof *reducer->sent / sizeof(float));
    reducer->received = reducer_allocate(reducer, at * sizeof *reducer->received / sizeof(float));
}

struct collective exchange_collective(const struct reducer *reducer, int bucket)
{
    const struct exchanged_bucket *x = &reducer->exchanged[bucket];
    return (struct collective){.kind = COMM_ALL_TO_ALL,
                               .in = reducer->sent + x->at,
                               .buffer = reducer->received + x->at,
                               .count = x->slice,
                               .dtype = COMM_BF16,
                               .index = bucket};
}

void exchange_start(struct reducer *reducer, int bucket)
{
    const struct bucket *b = &reducer->plan.bucket[bucket];
    struct exchanged_bucket *x = &reducer->exchanged[bucket];
    reducer->model->device->pack_bf16(reducer->sent + x->at, reducer->model->gradient + b->offset, b->count);
    reducer_start(reducer, bucket, 0);
    x->ticket = reducer->ticket;
}

void exchange_sum(struct reducer *reducer, int bucket, float *sum, size_t n)
{
    const struct device *device = reducer->model->device;
    const struct exchanged_bucket *x = &reducer->exchanged[bucket];
    reducer->comm->join(reducer->comm, x->ticket);
    device->stamp(); /* the sum begins at this stamp in the trace, after the wait */
    device->unpack_bf16(sum, reducer->received + x->at, n, (size_t)reducer->comm->ranks, x->slice);
}
