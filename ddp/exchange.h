/* exchange.h - sums buckets in fp32 while gradients are bfloat16 on the wire.
 *
 * An all-to-all sends slice r of each rank's bucket, rounded to bfloat16, to rank r, which sums what it receives in
 * fp32. An all-reduce of bfloat16 would round after every addition. Buckets whose length the ranks do not divide have
 * zeros at the end of their slices. */
#ifndef DDP_EXCHANGE_H
#define DDP_EXCHANGE_H

#include "ddp/strategy.h"

/* Allocates what a reducer needs to exchange the buckets of its plan; reducer_destroy releases it. */
void exchange_create(struct reducer *reducer);

/* Returns the all-to-all of a bucket. */
struct collective exchange_collective(const struct reducer *reducer, int bucket);

/* Rounds a bucket of the gradient, and starts its collective 0, which is the all-to-all. */
void exchange_start(struct reducer *reducer, int bucket);

/* Waits for the all-to-all of a bucket, and sums the first n numbers of this rank's slice into sum[n]. */
void exchange_sum(struct reducer *reducer, int bucket, float *sum, size_t n);

#endif
