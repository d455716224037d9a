/* endpoint.h - what a rank runs collectives with: a comm, its device, and two buffers for the largest message. */
#ifndef BENCH_ALLREDUCE_ENDPOINT_H
#define BENCH_ALLREDUCE_ENDPOINT_H

#include "ddp/comm.h"
#include "ddp/job.h"
#include "kernels/device.h"

struct endpoint {
    const struct job *job;
    const struct device *device;
    struct comm *comm;
    struct timeline timeline;    /* of the comm's spans, if they are recorded */
    void *in, *buffer;           /* [most bytes], in the device's memory */
    void *host_in, *host_buffer; /* what the host reads and writes of them: the same memory where it can */
};

/* Makes the comm and the buffers. most_bytes: of the largest message. record_spans: 1 for those who read the timeline;
 * recording costs time. All ranks call. Returns 0; or -1 on every rank, and rank 0 has said why. Destroy in either
 * case. */
int endpoint_create(struct endpoint *endpoint, const struct job *job, const struct device *device,
                    const struct comm_options *options, size_t most_bytes, int record_spans);
void endpoint_destroy(struct endpoint *endpoint); /* leaves the device alone; a zeroed endpoint is fine */

/* Bytes of an endpoint's buffer that holds a message: buffers are cleared as floats. */
size_t endpoint_buffer_bytes(size_t message_bytes);

#endif
