/* exchange.c - sums buckets in fp32 while gradients are bfloat16 on the wire. */
#include "ddp/exchange.h"

enum { EXCHANGE, GATHER };
enum { ALIGNMENT = 8 }; /* numbers to which slices are rounded up: 16 bytes, for fast copies */

struct exchange *exchange_create(struct reducer *reducer)
{
    size_t ranks = (size_t)reducer->comm->ranks, n = (size_t)reducer->plan.n, at = 0;
    struct exchange *exchange =
        reducer_keep(reducer, 1, sizeof *exchange + n * sizeof *exchange->bucket); /* with its flexible array */
    for (size_t i = 0; i < n; i++) {
        size_t part = (reducer->plan.bucket[i].count + ranks - 1) / ranks;
        size_t slice = (part + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        exchange->bucket[i] = (struct exchanged_bucket){.at = at, .slice = slice};
        at += ranks * slice;
    }
    exchange->sent = reducer_allocate(reducer, at * sizeof *exchange->sent / sizeof(float));
    exchange->received = reducer_allocate(reducer, at * sizeof *exchange->received / sizeof(float));
    return exchange;
}

void exchange_place(const struct exchange *exchange, int bucket, int i, struct collective *c)
{
    const struct exchanged_bucket *x = &exchange->bucket[bucket];
    c->in = i == EXCHANGE ? exchange->sent + x->at : NULL;
    c->buffer = (i == EXCHANGE ? exchange->received : exchange->sent) + x->at;
    c->count = x->slice;
}

void exchange_place_if_any(const struct reducer *reducer, int bucket, int i, struct collective *c)
{
    if (reducer->state)
        exchange_place(reducer->state, bucket, i, c);
}

void exchange_start(struct exchange *exchange, struct reducer *reducer, int bucket)
{
    struct exchanged_bucket *x = &exchange->bucket[bucket];
    reducer->model->device->pack_bf16(exchange->sent + x->at, reducer_gradient(reducer, bucket),
                                      reducer->plan.bucket[bucket].count);
    reducer_start(reducer, bucket, EXCHANGE);
    x->ticket = reducer->ticket;
}

void exchange_sum(const struct exchange *exchange, const struct reducer *reducer, int bucket, float *sum, size_t n)
{
    const struct device *device = reducer->model->device;
    const struct exchanged_bucket *x = &exchange->bucket[bucket];
    reducer->comm->join(reducer->comm, x->ticket);
    device->stamp(); /* the sum begins at this stamp in the trace, after the wait */
    device->unpack_bf16(sum, exchange->received + x->at, n, (size_t)reducer->comm->ranks, x->slice);
}

void exchange_gather(struct exchange *exchange, struct reducer *reducer, int bucket)
{
    struct exchanged_bucket *x = &exchange->bucket[bucket];
    size_t count = reducer->plan.bucket[bucket].count, begin = (size_t)reducer->comm->rank * x->slice;
    size_t left = begin < count ? count - begin : 0, n = left < x->slice ? left : x->slice;
    float *sum = reducer_gradient(reducer, bucket) + (n ? begin : 0);
    exchange_sum(exchange, reducer, bucket, sum, n);
    reducer->model->device->pack_bf16(exchange->sent + x->at + begin, sum, n);
    reducer_start(reducer, bucket, GATHER);
    x->ticket = reducer->ticket;
}

void exchange_finish(struct exchange *exchange, struct reducer *reducer)
{
    const struct device *device = reducer->model->device;
    exchange_gather(exchange, reducer, reducer->plan.n - 1);
    for (int i = 0; i < reducer->plan.n; i++) {
        const struct exchanged_bucket *x = &exchange->bucket[i];
        size_t count = reducer->plan.bucket[i].count;
        reducer->comm->join(reducer->comm, x->ticket);
        device->stamp(); /* the operation begins at this stamp in the trace, after the wait */
        device->unpack_bf16(reducer_gradient(reducer, i), exchange->sent + x->at, count, 1, count);
    }
}
