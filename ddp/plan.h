/* plan.h - cuts the gradient arena into buckets, each of which is reduced as a whole.
 *
 * Tensors lie in the arena in the order in which backward finishes them, so a bucket is a contiguous range, complete
 * when its last tensor is. These functions use no device and no communication. Source: Li et al., PyTorch Distributed,
 * VLDB 2020, arXiv:2006.15704. */
#ifndef DDP_PLAN_H
#define DDP_PLAN_H

#include "ddp/tensors.h"

struct bucket {
    size_t offset, count; /* the bucket's range of the arena, in floats */
    int last_tensor;      /* the tensor whose gradient completes the bucket */
    int tensors;          /* number of tensors in the bucket */
};

struct plan {
    int n;
    struct bucket *bucket; /* [n], in the order in which backward completes them */
};

/* The bytes of fp32 at which each bucket is closed. cap[i] is the cap of bucket i and of the buckets after it, up to
 * the next cap that is not 0; buckets are numbered in the order in which backward completes them. {.cap = {n}} gives
 * all buckets the same cap. `last`, unless it is 0, is the cap of the bucket that backward completes last, with tensor
 * 0. */
enum { BUCKET_CAPS = 8 };
struct bucket_caps {
    size_t cap[BUCKET_CAPS], last;
    size_t blocks; /* 1: a bucket is also closed where another layer begins. With a cap of SIZE_MAX each transformer
                      block is then a bucket, and the tensors before and after the blocks are two more */
};

/* Parses caps in MiB, each from 1e-5 to 1e6, with + between them and `last` before the cap of the last bucket, such as
 * 25, 1+4+25 or 25+last0.25; or the word `block`, for buckets by layers instead of bytes, as PyTorch's replicate
 * (FSDP2) groups parameters by modules. Returns 0; or -1, not reported, with *caps unchanged. */
int bucket_caps_parse(struct bucket_caps *caps, const char *words);

/* Returns the cap of a bucket that is not the last one of its plan, in bytes. */
size_t bucket_cap(const struct bucket_caps *caps, int bucket);

/* Plans buckets by the rule of PyTorch's DDP: tensors join a bucket in the order in which backward finishes them, and
 * the tensor with which the bucket's bytes reach its cap (>=) is its last one. So each bucket has at least the bytes of
 * its cap, and would have fewer without that tensor; the last bucket has the rest. Only the tensors' `count` counts,
 * without gaps and padding. With caps->last the last bucket is formed first. It takes the tensor that backward finishes
 * last, and the tensors finished before it, as long as all of them together have at most caps->last bytes. The bucket
 * before the last one then has what is left of the other tensors. Release this plan, and the plans below, with
 * plan_destroy. */
void plan_create(struct plan *plan, const struct tensor *tensor, int tensors, const struct bucket_caps *caps);

/* plan_matrices is like plan_create, but takes each matrix of several tensors (tensor.joined) as one tensor, so that
 * buckets begin where matrices begin in the arena, at multiples of its alignment. */
void plan_matrices(struct plan *plan, const struct tensor *tensor, int tensors, const struct bucket_caps *caps);

/* plan_per_tensor plans a bucket for each tensor; plan_whole, one for the whole gradient. They ignore caps. */
void plan_per_tensor(struct plan *plan, const struct tensor *tensor, int tensors, const struct bucket_caps *caps);
void plan_whole(struct plan *plan, const struct tensor *tensor, int tensors, const struct bucket_caps *caps);
void plan_destroy(struct plan *plan); /* a zeroed plan is fine */

/* Returns the floats of the largest bucket with the gap behind it. */
size_t plan_largest(const struct plan *plan, size_t arena);

/* Returns where bucket i and the gap behind it end: where the next bucket begins, or at the end of the arena. */
size_t plan_end(const struct plan *plan, int i, size_t arena);

/* Returns the number of parameters in a bucket, without gaps for alignment. */
size_t bucket_parameters(const struct tensor *tensor, const struct bucket *bucket);

#endif
