/* comm_staged.c - copies around each collective of another transport. */
#include "ddp/comm_staged.h"

#include "kernels/error.h"

#include <stdlib.h>

struct staged_buffer {
    struct collective wanted; /* in the device's memory */
    struct collective staged; /* the same in host memory, in place */
    void *host;
    size_t bytes;   /* of host */
    int copying_in; /* the library is done, and the result on its way */
};

struct staged {
    struct transport inner;
    const struct device *device;
    size_t rank, ranks;
    struct staged_buffer *slot; /* [capacity], and one more for blocking calls */
    size_t capacity;
};

/* The copy out is marked by an even number, the copy in by the next. */
static size_t mark_out(size_t slot)
{
    return 2 * slot;
}
static size_t mark_in(size_t slot)
{
    return 2 * slot + 1;
}

/* Bytes of all ranks' parts, or of one. */
static size_t whole_bytes(const struct staged *s, const struct collective *c)
{
    size_t parts = c->kind == COMM_REDUCE_SCATTER || c->kind == COMM_ALL_GATHER ? s->ranks : 1;
    return parts * c->count * comm_dtype_bytes(c->dtype);
}

static void reserve_staging(struct staged *s, struct staged_buffer *slot, size_t bytes)
{
    if (slot->host && bytes <= slot->bytes)
        return;
    s->device->release_host(slot->host);
    slot->host = s->device->allocate_host(bytes);
    slot->bytes = bytes;
}

/* Begins to copy the input to where an in-place collective takes it. On the training thread. */
static void copy_out(struct staged *s, size_t index, const struct collective *c)
{
    struct staged_buffer *slot = &s->slot[index];
    size_t part = c->count * comm_dtype_bytes(c->dtype), whole = whole_bytes(s, c);
    size_t own = c->kind == COMM_ALL_GATHER ? s->rank * part : 0;
    size_t bytes = c->kind == COMM_REDUCE_SCATTER                            ? whole
                   : c->kind == COMM_BROADCAST && (size_t)c->root != s->rank ? 0
                                                                             : part;
    reserve_staging(s, slot, whole);
    slot->wanted = slot->staged = *c;
    slot->staged.buffer = slot->host;
    slot->staged.in = NULL;
    s->device->stage_out((char *)slot->host + own, c->in ? c->in : (char *)c->buffer + own, bytes, mark_out(index));
}

/* Begins to copy the result to where the collective wants it. */
static void copy_in(struct staged *s, size_t index)
{
    struct staged_buffer *slot = &s->slot[index];
    const struct collective *c = &slot->wanted;
    size_t bytes = c->kind == COMM_ALL_GATHER ? whole_bytes(s, c) : c->count * comm_dtype_bytes(c->dtype);
    if (c->kind == COMM_BROADCAST && (size_t)c->root == s->rank)
        bytes = 0;
    slot->copying_in = 1;
    s->device->stage_in(c->buffer, slot->host, bytes, mark_in(index));
}

static void staged_queue(void *state, size_t index, const struct collective *c)
{
    copy_out(state, index, c);
}

/* Whether the input is in host memory. */
static int staged_ready(void *state, size_t index)
{
    return ((struct staged *)state)->device->stage_reached(mark_out(index));
}

static void staged_post(void *state, size_t index, const struct collective *c)
{
    struct staged *s = state;
    (void)c;
    s->slot[index].copying_in = 0;
    s->inner.post(s->inner.state, index, &s->slot[index].staged);
}

static int staged_test(void *state, size_t index)
{
    struct staged *s = state;
    struct staged_buffer *slot = &s->slot[index];
    if (!slot->copying_in && s->inner.test(s->inner.state, index))
        copy_in(s, index);
    return slot->copying_in && s->device->stage_reached(mark_in(index));
}

static void staged_call(void *state, const struct collective *c)
{
    struct staged *s = state;
    size_t index = s->capacity;
    copy_out(s, index, c);
    while (!s->device->stage_reached(mark_out(index)))
        ;
    s->inner.call(s->inner.state, &s->slot[index].staged);
    copy_in(s, index);
    while (!s->device->stage_reached(mark_in(index)))
        ;
}

static void staged_destroy(void *state)
{
    struct staged *s = state;
    s->inner.destroy(s->inner.state);
    for (size_t i = 0; i <= s->capacity; i++)
        s->device->release_host(s->slot[i].host);
    s->device->staging_destroy();
    free(s->slot);
    free(s);
}

struct transport comm_staged(struct transport inner, const struct device *device, int rank, int ranks, size_t capacity)
{
    struct staged *s = allocate(1, sizeof *s);
    *s = (struct staged){.inner = inner,
                         .device = device,
                         .rank = (size_t)rank,
                         .ranks = (size_t)ranks,
                         .slot = allocate(capacity + 1, sizeof *s->slot),
                         .capacity = capacity};
    device->staging_create(2 * (capacity + 1));
    return (struct transport){.queue = staged_queue,
                              .ready = staged_ready,
                              .post = staged_post,
                              .test = staged_test,
                              .call = staged_call,
                              .destroy = staged_destroy,
                              .state = s};
}
