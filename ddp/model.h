/* model.h - the workload: a pre-norm decoder-only transformer, its parameters, forward and backward.
 *
 * Token embedding; L layers of [RMSNorm, causal multi-head attention with RoPE, residual; RMSNorm, SwiGLU feed-forward,
 * residual]; RMSNorm; output projection (not tied to the embedding); mean cross-entropy. No biases. Weights, gradients
 * and each moment of the optimizer are one array (arena), with tensors in the order in which backward finishes their
 * gradients: the reverse of the order in which model.c registers them and forward uses them. */
#ifndef DDP_MODEL_H
#define DDP_MODEL_H

#include "kernels/device.h"
#include "kernels/operations.h"

struct model_sizes {
    size_t batch;      /* B, sequences in one forward pass of this rank */
    size_t context;    /* T, tokens in a sequence */
    size_t vocabulary; /* V */
    size_t width;      /* C, a multiple of heads; C / heads is even */
    size_t layers;     /* L */
    size_t heads;      /* H */
    size_t ff;         /* F, width of the feed-forward */
    size_t shards;     /* the most parts into which strategies cut a matrix in the arena; 1: they cut none */
};

/* The tensors of a layer in the order of use; tensor 0 is the embedding, layer l begins at 1 + l * LAYER_TENSORS, and
 * the last two are the final norm [C] and the output projection [V, C]. w1 gates: h = silu(x w1^T) * (x w3^T). */
enum layer_tensor {
    NORM1,       /* [C] */
    ATTENTION_Q, /* [C, C], like K, V and O */
    ATTENTION_K,
    ATTENTION_V,
    ATTENTION_O,
    NORM2,           /* [C] */
    FEED_FORWARD_W1, /* [F, C] */
    FEED_FORWARD_W3, /* [F, C] */
    FEED_FORWARD_W2, /* [C, F] */
    LAYER_TENSORS
};

struct tensor {
    char name[32];
    size_t offset;        /* offset of the tensor in each arena, in floats */
    size_t rows, columns; /* [rows, columns]; a norm's weight is [1, C] */
    size_t count;         /* rows * columns */
    size_t padding;       /* rows of zeros after the tensor in each arena; products compute them as well */
    /* The number of tensors (this one and those registered just before it) that form one matrix. They have the same
     * input, so one product computes all of them, and they are adjacent in the arenas. 3 for v, joined with k and q; 2
     * for w3, joined with w1; 0 for a tensor in another tensor's matrix; 1 for all others. */
    int joined;
};
/* The output projection has rows of zeros up to a multiple of this, as if the vocabulary were larger, and the loss
 * ignores their logits: products read rows of logits fastest if these begin at multiples of a cache line. */
enum { VOCABULARY_ALIGNMENT = 64 };
/* A tensor that begins a matrix starts at a multiple of TENSOR_ALIGNMENT x shards floats of the arena, and the arena
 * ends at such a multiple; the gaps stay zero. */
enum { TENSOR_ALIGNMENT = 16 };

/* Returns the rows, with padding, of the matrix that begins with this tensor in the arena; 0 if the tensor is part of
 * another tensor's matrix. */
size_t tensor_matrix_rows(const struct tensor *tensor);

/* Returns the rows of the output projection, and the columns of logits: the vocabulary with padding. */
size_t model_padded_vocabulary(const struct model_sizes *sizes);

struct model {
    struct model_sizes sizes;
    struct tensor *tensor; /* [tensors], in order of registration */
    int tensors;
    size_t parameters;        /* number of parameters in all tensors */
    size_t arena;             /* floats in each arena */
    size_t activation_bytes;  /* bytes for activations kept for backward, and for scratch memory */
    size_t matmul_parameters; /* number of parameters of linear layers: of all but the embedding and the norms */
    size_t compute_bytes;     /* bytes of one number of the device's compute type */

    const struct device *device;
    float *weight;        /* [arena] */
    float *gradient;      /* [arena]; NULL if backward is always given a place for each gradient (gradient_hook) */
    void *narrow_weight;  /* [arena] the weights in the compute type; NULL if that type is fp32 */
    int has_no_gradient;  /* 1: there is no `gradient`; set it before model_allocate */
    int owns_gradient;    /* 1: the model allocated `gradient` */
    int owns_read_weight; /* 1: the model allocated the weights that layers read */
    struct activations *activations;
};

/* Plans a model of these sizes, for a compute type of compute_bytes bytes: the layout of its tensors and the memory
 * that it needs. Allocates no arrays. Release with model_destroy. */
void model_plan(struct model *model, const struct model_sizes *sizes, size_t compute_bytes);

/* Allocates the arrays on a device; weights and gradients are zero. gradient, read_weight: [arena] zeroed memory of the
 * device that the caller owns, for the gradient and for the weights that layers read (model_read_weight); NULL: the
 * model allocates it. */
void model_allocate(struct model *model, const struct device *device, float *gradient, void *read_weight);
void model_destroy(struct model *model); /* a zeroed model is fine */

/* Returns the weights that layers read, [arena] in the compute type: weight, or narrow_weight if there is one. */
void *model_read_weight(const struct model *model);

/* Initialises the weights from the seed alone, the same on every rank: linear layers from a normal distribution of
 * variance 2 / (rows + columns), the embedding of variance 1, both truncated at three standard deviations; norms are 1.
 * For speed, 16 random bits select one of 65536 quantiles. */
void model_initialize(struct model *model, uint64_t seed);

/* Updates the copy of the weights that layers read. Call it after changing model->weight. */
void model_weights_changed(const struct model *model);

/* Forward calls `before` before the embedding, each attention, each feed-forward and the output: it will use the
 * weights of no tensor after number `tensor`. */
struct forward_hook {
    void (*before)(void *context, int tensor);
    void *context;
};

/* Computes loss[0] += loss_scale * S, where S is the sum of the cross-entropies of the B * T tokens, and the gradient
 * of grad_scale * S with respect to the logits, from which backward starts. input and target are [B, T]; they and loss
 * are on the device. hook may be NULL. */
void model_forward(struct model *model, const int32_t *input, const int32_t *target, float *loss, float loss_scale,
                   float grad_scale, const struct forward_hook *hook);

/* Before each part of the model (output, feed-forward, attention, embedding) backward calls `place` for each of the
 * part's matrices, at most BACKWARD_PLACES, with the tensor that begins the matrix in the arena; place returns where
 * its gradient is written. Backward calls `ready` as soon as the gradient of a tensor is final: tensor
 * number tensors - 1 first, number 0 last. The gradients of tensors that form one matrix become final together. After
 * each part it calls `after`: it will not use the weights of the tensors announced so far again. Each may be NULL;
 * without `place`, gradients are written to model->gradient. */
enum { BACKWARD_PLACES = 3 };
struct gradient_hook {
    float *(*place)(void *context, int tensor);
    void (*ready)(void *context, int tensor);
    void (*after)(void *context);
    void *context;
};

/* Stores the gradient of the last forward pass where the hook places it, or adds it if accumulate is not 0, and
 * announces each tensor and each part to the hook, which may be NULL. Writes zeros to padding, and does not write the
 * gaps between matrices. input: as for forward. */
void model_backward(struct model *model, const int32_t *input, int accumulate, const struct gradient_hook *hook);

/* Return the number of device operations, and of ranges (device.h), in a forward and a backward pass together. */
size_t model_operations(const struct model *model);
size_t model_ranges(const struct model *model);

/* Returns the floating-point operations of one training step on `tokens` tokens: 6 per token and matmul parameter, and
 * for attention, forward and backward, 6 L C T per token, its causal half, as llm.c counts, or 12 L C T if
 * whole_attention is not 0, as PaLM and nanoGPT count. Source: Chowdhery et al., PaLM, 2022, arXiv:2204.02311, appendix
 * B. */
double model_flops(const struct model *model, size_t tokens, int whole_attention);

#endif
