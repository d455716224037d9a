/* ring.h - buffers in which backward writes buckets of gradients, which take turns: it writes a bucket to one buffer
 * while others are reduced, and another bucket takes a buffer once its reduction is complete. */
#ifndef DDP_RING_H
#define DDP_RING_H

#include "ddp/reducer.h"

/* Most buffers. The matrices that backward places at a time may lie in as many buckets. */
enum { RING_BUFFERS = BACKWARD_PLACES };

struct ring {
    float *buffer;            /* [buffers, floats] memory from the comm */
    size_t floats;            /* floats of the largest bucket */
    int buffers;              /* RING_BUFFERS, or the number of buckets if that is less */
    long taken[RING_BUFFERS]; /* tickets of the last collectives that read the buffers; 0: none did */
};

/* Allocates a ring for a reducer's plan, which the reducer then names as what backward writes. */
struct ring *ring_create(struct reducer *reducer);

/* Returns the buffer of a bucket in this micro-batch. */
float *ring_buffer(const struct ring *ring, const struct reducer *reducer, int bucket);

/* Marks the buffer of a bucket as read by the last collective that was started. */
void ring_take(struct ring *ring, const struct reducer *reducer, int bucket);

/* Returns the ticket that must be joined before backward places the matrix that begins with `tensor`; 0: none. */
long ring_needed(const struct ring *ring, const struct reducer *reducer, int tensor);

/* Returns where the gradient of that matrix is written. Its buffer is zero between matrices; after the first
 * micro-batch it begins with the sum so far in this rank's part and zeros elsewhere, so that the next reduction sums
 * over the micro-batches, too. */
float *ring_place(const struct ring *ring, const struct reducer *reducer, int tensor);

#endif
