/* comm_self.c - collectives of a single rank: copies the input unless it is in place, counts tickets, records spans. */
#include "ddp/comm_self.h"

#include "kernels/error.h"

#include <stdlib.h>
#include <string.h>

struct comm_self {
    struct comm comm;
    const struct device *device;
    struct timeline *timeline;
    long ticket;
};

static void self_call(struct comm *comm, const struct collective *c, size_t n)
{
    const struct device *device = ((struct comm_self *)comm)->device;
    size_t bytes = c->count * comm_dtype_bytes(c->dtype);
    for (size_t i = 0; c->in && i < n; i++)
        if (device->host_reads_memory)
            memcpy(c->buffer, c->in, bytes);
        else if (bytes % sizeof(float))
            FATAL("comm_self: %zu bytes on a GPU, which copies whole floats", bytes);
        else
            device->copy(c->buffer, c->in, bytes / sizeof(float));
}

static long self_start(struct comm *comm, const struct collective *collective)
{
    struct comm_self *self = (struct comm_self *)comm;
    int64_t now = clock_now_ns();
    self_call(comm, collective, 1);
    self->ticket++;
    if (self->timeline)
        timeline_add(self->timeline, LANE_COMMUNICATION,
                     collective_span(collective, 1, 1, self->ticket, now, now, collective->in ? clock_now_ns() : now));
    return self->ticket;
}

static void self_join(struct comm *comm, long ticket)
{
    (void)comm, (void)ticket;
}

static int self_complete(struct comm *comm, long ticket)
{
    (void)comm, (void)ticket;
    return 1;
}

static void self_run(struct comm *comm, const struct collective *collective)
{
    self_start(comm, collective);
}

static void *self_allocate(struct comm *comm, size_t bytes)
{
    return ((struct comm_self *)comm)->device->allocate(bytes);
}

static void self_release(struct comm *comm, void *memory)
{
    ((struct comm_self *)comm)->device->release(memory);
}

static long self_thread_id(struct comm *comm)
{
    (void)comm;
    return 0;
}

static double self_cpu_seconds(struct comm *comm)
{
    (void)comm;
    return 0;
}

static void self_destroy(struct comm *comm)
{
    free(comm);
}

struct comm *comm_self_create(const struct device *device, struct timeline *timeline)
{
    struct comm_self *self = allocate(1, sizeof *self);
    self->comm = (struct comm){.name = "self",
                               .ranks = 1,
                               .local_size = 1,
                               .progress = "none",
                               .allocate = self_allocate,
                               .release = self_release,
                               .start = self_start,
                               .join = self_join,
                               .complete = self_complete,
                               .run_blocking = self_run,
                               .call = self_call,
                               .thread_id = self_thread_id,
                               .cpu_seconds = self_cpu_seconds,
                               .destroy = self_destroy};
    self->device = device;
    self->timeline = timeline;
    return &self->comm;
}
