/* comm_staged.c - wraps a transport: copies the input of each collective to host memory, and the result back. */
#include "ddp/comm_staged.h"

#include "kernels/error.h"

#include <stdlib.h>

/* Device memory for collectives, and a mirror of the same size in host memory. */
struct mirrored {
    char *memory, *host;
    size_t bytes;
    struct mirrored *next;
};

struct staged_collective {
    struct collective wanted; /* the collective as requested, in device memory */
    struct collective staged; /* the collective that the library runs, in host memory */
    int copying_in;           /* 1: the library has finished, and the result is being copied to device memory */
};

struct staged {
    struct transport inner;
    const struct device *device;
    struct job job; /* a copy, for the numbers of ranks */
    struct mirrored *mirrored;
    struct staged_collective *slot; /* [capacity + 1]; the last one is for blocking calls */
    size_t capacity;
};

/* A slot has two marks (stage_reached in device.h): mark_out for its copy to host memory, mark_in for its copy back. */
static size_t mark_out(size_t slot)
{
    return 2 * slot;
}
static size_t mark_in(size_t slot)
{
    return 2 * slot + 1;
}

/* ---- memory ---- */

static void *staged_allocate(void *state, size_t bytes)
{
    struct staged *s = state;
    struct mirrored *m = allocate(1, sizeof *m);
    *m = (struct mirrored){s->device->allocate(bytes), s->device->allocate_host(bytes), bytes, s->mirrored};
    s->mirrored = m;
    return m->memory;
}

static void staged_release(void *state, void *memory)
{
    struct staged *s = state;
    struct mirrored **at = &s->mirrored, *m;
    while (*at && (*at)->memory != memory)
        at = &(*at)->next;
    m = *at;
    if (!m && memory)
        FATAL("releasing memory that this comm did not allocate");
    if (!m)
        return;
    *at = m->next;
    s->device->release(m->memory);
    s->device->release_host(m->host);
    free(m);
}

/* Returns the host mirror of n bytes of device memory; fatal if the comm did not allocate that memory. */
static void *find_mirror(const struct staged *s, const void *memory, size_t n)
{
    uintptr_t at = (uintptr_t)memory;
    for (const struct mirrored *m = s->mirrored; m; m = m->next) {
        uintptr_t begin = (uintptr_t)m->memory;
        if (at >= begin && at + n <= begin + m->bytes)
            return m->host + (at - begin);
    }
    FATAL("a message of %zu bytes in memory that its comm did not allocate", n);
}

/* ---- copies ---- */

/* Return the number of ranks of a collective, and this rank's number among them. */
static int ranks_of(const struct staged *s, const struct collective *c)
{
    return comm_group_ranks(c->group, s->job.size, s->job.local_size);
}
static int rank_in(const struct staged *s, const struct collective *c)
{
    const int rank[COMM_GROUPS] = {s->job.rank, s->job.local_rank, s->job.host};
    return rank[c->group];
}

/* The sizes of this rank's input and buffer, and the position of the input, from the table in comm.h (struct
 * collective). */
struct shape {
    size_t input_bytes, buffer_bytes;
    size_t own_offset; /* offset of an in-place input in the buffer, in bytes */
};

static struct shape shape_of(const struct staged *s, const struct collective *c)
{
    size_t part = c->count * comm_dtype_bytes(c->dtype), whole = (size_t)ranks_of(s, c) * part;
    switch (c->kind) {
    case COMM_REDUCE_SCATTER:
        return (struct shape){whole, c->in ? part : whole, 0};
    case COMM_ALL_GATHER:
        return (struct shape){part, whole, (size_t)rank_in(s, c) * part};
    case COMM_ALL_TO_ALL:
        return (struct shape){whole, whole, 0};
    case COMM_BROADCAST:
        return (struct shape){c->root == rank_in(s, c) ? part : 0, part, 0};
    default: /* all_reduce */
        return (struct shape){part, part, 0};
    }
}

/* Begins to copy the input to host memory, unless an earlier collective leaves it there; called on the training thread.
 */
static void copy_out(struct staged *s, size_t index, const struct collective *c)
{
    struct staged_collective *slot = &s->slot[index];
    struct shape shape = shape_of(s, c);
    char *buffer = find_mirror(s, c->buffer, shape.buffer_bytes);
    const void *from = (char *)c->buffer + shape.own_offset;
    void *to = buffer + shape.own_offset;
    slot->wanted = slot->staged = *c;
    slot->staged.buffer = buffer;
    if (c->in) {
        from = c->in;
        slot->staged.in = to = find_mirror(s, c->in, shape.input_bytes);
    }
    if (!c->after)
        s->device->stage_out(to, from, shape.input_bytes, mark_out(index));
}

/* Begins to copy the result back to device memory. */
static void copy_in(struct staged *s, size_t index)
{
    struct staged_collective *slot = &s->slot[index];
    const struct collective *c = &slot->wanted;
    size_t parts = c->kind == COMM_ALL_GATHER || c->kind == COMM_ALL_TO_ALL ? (size_t)ranks_of(s, c) : 1;
    size_t bytes = parts * c->count * comm_dtype_bytes(c->dtype);
    if (c->kind == COMM_BROADCAST && c->root == rank_in(s, c))
        bytes = 0;
    slot->copying_in = 1;
    s->device->stage_in(c->buffer, slot->staged.buffer, bytes, mark_in(index));
}

static void staged_queue(void *state, size_t index, const struct collective *c)
{
    copy_out(state, index, c);
}

/* Tests whether the input of a queued collective has arrived in host memory. */
static int staged_ready(void *state, size_t index)
{
    const struct staged *s = state;
    return s->slot[index].wanted.after || s->device->stage_reached(mark_out(index));
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
    struct staged_collective *slot = &s->slot[index];
    if (!slot->copying_in && s->inner.test(s->inner.state, index))
        copy_in(s, index);
    return slot->copying_in && s->device->stage_reached(mark_in(index));
}

static void staged_call(void *state, const struct collective *c)
{
    struct staged *s = state;
    size_t index = s->capacity;
    copy_out(s, index, c);
    while (!staged_ready(s, index))
        ;
    s->inner.call(s->inner.state, &s->slot[index].staged);
    copy_in(s, index);
    while (!s->device->stage_reached(mark_in(index)))
        ;
}

static void staged_transfer(void *state, void *buffer, size_t bytes, int peer, int receive)
{
    struct staged *s = state;
    size_t index = s->capacity;
    void *host = find_mirror(s, buffer, bytes);
    if (!receive)
        s->device->stage_out(host, buffer, bytes, mark_out(index));
    while (!receive && !s->device->stage_reached(mark_out(index)))
        ;
    s->inner.transfer(s->inner.state, host, bytes, peer, receive);
    if (receive)
        s->device->stage_in(buffer, host, bytes, mark_in(index));
    while (receive && !s->device->stage_reached(mark_in(index)))
        ;
}

static int staged_regroup(void *state, int colour, int size)
{
    struct staged *s = state;
    s->job.local_rank = s->inner.regroup(s->inner.state, colour, size);
    s->job.local_size = size;
    return s->job.local_rank;
}

static void staged_destroy(void *state)
{
    struct staged *s = state;
    s->inner.destroy(s->inner.state);
    s->device->staging_destroy();
    free(s->slot);
    free(s);
}

struct transport comm_staged(struct transport inner, const struct device *device, const struct job *job,
                             size_t capacity)
{
    struct staged *s = allocate(1, sizeof *s);
    *s = (struct staged){.inner = inner,
                         .device = device,
                         .job = *job,
                         .slot = allocate(capacity + 1, sizeof *s->slot),
                         .capacity = capacity};
    device->staging_create(2 * (capacity + 1));
    return (struct transport){.allocate = staged_allocate,
                              .release = staged_release,
                              .queue = staged_queue,
                              .ready = staged_ready,
                              .post = staged_post,
                              .test = staged_test,
                              .call = staged_call,
                              .transfer = staged_transfer,
                              .regroup = staged_regroup,
                              .destroy = staged_destroy,
                              .state = s};
}
