/* ring.h - a ring of buffers for buckets of gradients: backward writes a bucket to one buffer while buckets in other
 * buffers are reduced. The next bucket takes a buffer once the reduction in that buffer is complete. */
#ifndef DDP_RING_H
#define DDP_RING_H

#include "ddp/reducer.h"

/* The largest number of buffers. Each of the matrices that backward places at a time may lie in a bucket of its own. */
enum { RING_BUFFERS = BACKWARD_PLACES };

struct ring {
    float *buffer;            /* [buffers, floats] memory from the comm */
    size_t floats;            /* floats of the largest bucket */
    int buffers;              /* RING_BUFFERS, or the number of buckets if that is less */
    long taken[RING_BUFFERS]; /* tickets of the last collectives that read the buffers; 0: none did */
};

/* Allocates a ring for a reducer's plan, and sets reducer->released to its buffers. */
struct ring *ring_create(struct reducer *reducer);

/* Returns the buffer of a bucket in this micro-batch. */
float *ring_buffer(const struct ring *ring, const struct reducer *reducer, int bucket);

/* Marks the buffer of a bucket as read by the last collective that was started. */
void ring_take(struct ring *ring, const struct reducer *reducer, int bucket);

/* Returns the ticket that must be joined before backward places the matrix that begins with `tensor`; 0: none. */
long ring_needed(const struct ring *ring, const struct reducer *reducer, int tensor);

/* Returns where backward writes the gradient of that matrix. If the matrix begins a bucket, first sets the bucket's
 * buffer to zero; after the first micro-batch, then copies the sum so far to this rank's part of the buffer, so that
 * the next reduction sums over the micro-batches, too. */
float *ring_place(const struct ring *ring, const struct reducer *reducer, int tensor);

#endif
