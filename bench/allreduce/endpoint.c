/* endpoint.c - what a rank runs collectives with. */
#include "allreduce/endpoint.h"

#include "ddp/comm_create.h"

size_t endpoint_buffer_bytes(size_t message_bytes)
{
    return (message_bytes + sizeof(float) - 1) / sizeof(float) * sizeof(float);
}

int endpoint_create(struct endpoint *e, const struct job *job, const struct device *device,
                    const struct comm_options *options, size_t most_bytes, int record_spans)
{
    enum { IN_FLIGHT = 8 };
    size_t spans[TIMELINE_LANES] = {[LANE_HOST] = 1, [LANE_COMMUNICATION] = 16, [LANE_COMPUTE] = 1};
    size_t bytes = endpoint_buffer_bytes(most_bytes);
    *e = (struct endpoint){.job = job, .device = device};
    timeline_create(&e->timeline, spans);
    e->comm = comm_create(job, device, record_spans ? &e->timeline : NULL, IN_FLIGHT, options);
    if (!e->comm)
        return -1;
    e->in = e->comm->allocate(e->comm, bytes);
    e->buffer = e->comm->allocate(e->comm, bytes);
    e->host_in = device->host_reads_memory ? e->in : device->allocate_host(bytes);
    e->host_buffer = device->host_reads_memory ? e->buffer : device->allocate_host(bytes);
    return 0;
}

void endpoint_destroy(struct endpoint *e)
{
    if (e->device && !e->device->host_reads_memory) {
        e->device->release_host(e->host_in);
        e->device->release_host(e->host_buffer);
    }
    if (e->comm) {
        e->comm->release(e->comm, e->in);
        e->comm->release(e->comm, e->buffer);
        e->comm->destroy(e->comm);
    }
    timeline_destroy(&e->timeline);
    *e = (struct endpoint){0};
}
