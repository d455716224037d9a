/* exchange.h - sums buckets in fp32 while gradients are bfloat16 on the wire.
 *
 * An all-to-all sends slice r of each rank's bucket, rounded to bfloat16, to rank r, which sums what it receives in
 * fp32. An all-reduce of bfloat16 would round after every addition. A bucket that does not fill its slices is followed
 * by zeros in the last of them. Each rank may then round its sums and gather them to all ranks, so that each number is
 * rounded twice, whatever the number of ranks. */
#ifndef DDP_EXCHANGE_H
#define DDP_EXCHANGE_H

#include "ddp/reducer.h"

struct exchange {
    uint16_t *sent, *received; /* memory from the comm: this rank's numbers, and the numbers from all ranks */
    struct exchanged_bucket {
        size_t at, slice; /* the bucket's place in `sent` and `received`: from `at` on, a slice for each rank */
        long ticket;      /* of its last collective */
    } bucket[];           /* [plan.n] */
};

/* Allocates what a reducer needs to exchange the buckets of its plan; reducer_destroy releases it. */
struct exchange *exchange_create(struct reducer *reducer);

/* Sets the buffers of a bucket's collective 0, the all-to-all, or 1, the all-gather of the sums. */
void exchange_place(const struct exchange *exchange, int bucket, int i, struct collective *collective);

/* For .place_collective of strategies whose state is an exchange, or NULL: leaves the collective in place without one.
 */
void exchange_place_if_any(const struct reducer *reducer, int bucket, int i, struct collective *collective);

/* Rounds a bucket of the gradient, and starts its all-to-all. */
void exchange_start(struct exchange *exchange, struct reducer *reducer, int bucket);

/* Waits for the all-to-all of a bucket, and sums the first n numbers of this rank's slice into sum[n]. */
void exchange_sum(const struct exchange *exchange, const struct reducer *reducer, int bucket, float *sum, size_t n);

/* Sums this rank's slice of a bucket in its place in the gradient, and starts to gather the sums. */
void exchange_gather(struct exchange *exchange, struct reducer *reducer, int bucket);

/* Gathers the last bucket of the plan, and waits for the sums of all buckets, which are then in the gradient. */
void exchange_finish(struct exchange *exchange, struct reducer *reducer);

#endif
