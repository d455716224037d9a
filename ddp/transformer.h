/* transformer.h - the workload: a pre-norm decoder-only transformer.
 *
 * Token embedding; L layers of [RMSNorm, causal multi-head attention with RoPE, residual; RMSNorm, SwiGLU feed-forward,
 * residual]; RMSNorm; output projection (not tied to the embedding); mean cross-entropy. No biases.
 *
 * Initial weights: linear layers from a normal distribution of variance 2 / (rows + columns), the embedding of variance
 * 1, both truncated at three standard deviations; norms are 1. For speed, 16 random bits select one of 65536 quantiles.
 *
 * FLOPs of a step: 6 per token and matmul parameter. Attention, forward and backward together, adds 6 L C T per token
 * for its causal half, as llm.c counts, or 12 L C T for the whole, as PaLM and nanoGPT count. Source: Chowdhery et al.,
 * PaLM, 2022, arXiv:2204.02311, appendix B. */
#ifndef DDP_TRANSFORMER_H
#define DDP_TRANSFORMER_H

#include "ddp/model.h"

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

/* The rows of the output projection are padded with zeros to a multiple of this number, as if the vocabulary were
 * larger, and the loss ignores the logits of the padding. The reason: matrix products read rows of logits fastest if
 * the rows begin at multiples of a cache line. */
enum { VOCABULARY_ALIGNMENT = 64 };
/* Returns the rows of the output projection, and the columns of logits: the vocabulary with padding. */
size_t transformer_padded_vocabulary(const struct model_sizes *sizes);

/* Plans a transformer of these sizes, for a compute type of compute_bytes bytes: the layout of its tensors and the
 * memory that it needs. Allocates no arrays. Release with model_destroy. */
void transformer_plan(struct model *model, const struct model_sizes *sizes, size_t compute_bytes);

#endif
