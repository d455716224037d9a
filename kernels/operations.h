/* operations.h - describes each operation of a device: its name, sizes and work.
 *
 * Sizes are named by the letters of device.h. A span of the compute lane holds the sizes in the order of `sizes`, and
 * the operation's number as its index. */
#ifndef KERNELS_OPERATIONS_H
#define KERNELS_OPERATIONS_H

#include <stddef.h>

enum operation {
    OPERATION_ZERO,
    OPERATION_COPY,
    OPERATION_PACK_BF16,
    OPERATION_UNPACK_BF16,
    OPERATION_EMBEDDING_FORWARD,
    OPERATION_EMBEDDING_BACKWARD,
    OPERATION_LINEAR_FORWARD,
    OPERATION_LINEAR_RESIDUAL_FORWARD,
    OPERATION_LINEAR_BACKWARD_INPUT,
    OPERATION_LINEAR_BACKWARD_WEIGHT,
    OPERATION_RMSNORM_FORWARD,
    OPERATION_RMSNORM_BACKWARD,
    OPERATION_ROPE_FORWARD,
    OPERATION_ATTENTION_FORWARD,
    OPERATION_ATTENTION_BACKWARD,
    OPERATION_SWIGLU_FORWARD,
    OPERATION_SWIGLU_BACKWARD,
    OPERATION_CROSS_ENTROPY,
    OPERATION_GRAD_NORM,
    OPERATION_ADAMW,
    OPERATION_AXPBY,
    OPERATION_LOW_RANK_LEFT,
    OPERATION_LOW_RANK_RIGHT,
    OPERATION_LOW_RANK_RESTORE,
    OPERATIONS
};

struct operation_facts {
    const char *name;
    const char *sizes;  /* names of the sizes (device.h), one letter each */
    const char *inputs; /* shapes of the input arrays, separated by commas: "NI,OI" is [N, I] and [O, I] */
    const char *types;  /* types of the inputs, one letter each: f fp32, h bf16, i int32, c the compute type */
    const char *flops;  /* floating-point operations, as a sum of products, such as "2NIO+N"; "": not counted */
    /* bytes read and written, as a sum of products; each array counts once; e: bytes of the compute type */
    const char *bytes;
    /* bytes of the results that outlive the next operations: activations that forward keeps for backward, and gradients
     * of weights; "": there are none, since it works in place, or backward soon overwrites its results */
    const char *kept;
};
extern const struct operation_facts operation_facts[OPERATIONS];

/* Evaluates a formula, in which letters[i] stands for sizes[i] and e for compute_bytes; returns 0 for "". */
double operation_amount(const char *formula, const char *letters, const size_t *sizes, size_t compute_bytes);

/* Returns the size named by one letter; 0 if `letters` lacks it. */
size_t operation_size(const char *letters, const size_t *sizes, char letter);

#endif
