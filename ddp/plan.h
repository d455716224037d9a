/* plan.h - cuts the gradient arena into buckets, each of which is reduced as a whole.
 *
 * Tensors lie in the arena in the order in which backward finishes them, so a bucket is a contiguous range, complete
 * when its last tensor is. These functions use no device and no communication. Source: Li et al., PyTorch Distributed,
 * VLDB 2020, arXiv:2006.15704. */
#ifndef DDP_PLAN_H
#define DDP_PLAN_H

#include "ddp/model.h"

struct bucket {
    size_t offset, count; /* the bucket's range of the arena, in floats */
    int last_tensor;      /* the tensor whose gradient completes the bucket */
    int tensors;          /* number of tensors in the bucket */
};

struct plan {
    int n;
    struct bucket *bucket; /* [n], in the order in which backward completes them */
};

/* Plans buckets of at most max_bytes bytes of fp32, each with as many whole tensors as fit; a tensor larger than that
 * has its own bucket. Release this plan, and the plans below, with plan_destroy. */
void plan_create(struct plan *plan, const struct tensor *tensor, int tensors, size_t max_bytes);

/* plan_matrices is like plan_create, but cuts only before tensors that begin a matrix in the arena (tensor.joined),
 * which lie at multiples of its alignment. */
void plan_matrices(struct plan *plan, const struct tensor *tensor, int tensors, size_t max_bytes);

/* plan_per_tensor plans a bucket for each tensor; plan_whole, one for the whole gradient. They ignore max_bytes. */
void plan_per_tensor(struct plan *plan, const struct tensor *tensor, int tensors, size_t max_bytes);
void plan_whole(struct plan *plan, const struct tensor *tensor, int tensors, size_t max_bytes);
void plan_destroy(struct plan *plan); /* a zeroed plan is fine */

/* Returns the number of parameters in a bucket, without gaps for alignment. */
size_t bucket_parameters(const struct tensor *tensor, const struct bucket *bucket);

#endif
