/* ring.h - of strategies that release gradients: buffers for buckets of gradients, which take turns. Backward writes a
 * bucket to one buffer while others are reduced, and another bucket takes a buffer once its reduction is complete. */
#ifndef DDP_RING_H
#define DDP_RING_H

#include "ddp/strategy.h"

/* Returns the floats of the ring that a reducer of a strategy that releases gradients has; 0 for other strategies. */
size_t ring_floats(const struct strategy *strategy, const struct model *model, const struct bucket_caps *caps);

/* Allocates a reducer's ring; reducer_destroy releases it. */
void ring_create(struct reducer *reducer);

/* Returns the buffer of a bucket in this micro-batch. */
float *ring_buffer(const struct reducer *reducer, int bucket);

/* Marks the buffer of a bucket as read by the last collective that was started. */
void ring_take(struct reducer *reducer, int bucket);

/* Before backward places the gradient of the matrix that begins with `tensor` in the arena, reducer_waits returns 1 if
 * the buffer for its bucket may still be read by a collective, which reducer_join_buffer makes later device work wait
 * for. Then reducer_place returns where the gradient is written, or added if micro_batch is above 0: in
 * model->gradient, unless the strategy releases gradients. Of those, a buffer is zero between matrices; after the first
 * micro-batch it begins with the sum so far in this rank's part and zeros elsewhere, so that the next reduction sums
 * over the micro-batches, too. */
int reducer_waits(const struct reducer *reducer, int tensor);
void reducer_join_buffer(struct reducer *reducer, int tensor);
float *reducer_place(struct reducer *reducer, int tensor);

#endif
