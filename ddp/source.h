/* source.h - what a training step needs from a model: where gradients come from, and when each is final. The
 * transformer (transformer.h) is one source. */
#ifndef DDP_SOURCE_H
#define DDP_SOURCE_H

#include <stddef.h>
#include <stdint.h>

struct model;

/* Forward calls `before` before the embedding, each attention, each feed-forward and the output. Until the next call it
 * uses the weights of no tensor after number `tensor`. */
struct forward_hook {
    void (*before)(void *context, int tensor);
    void *context;
};

/* Before each part of the model (output, feed-forward, attention, embedding) backward calls `place` for each of the
 * part's matrices, at most BACKWARD_PLACES, with the tensor that begins the matrix in the arena; place returns where
 * its gradient is written. Backward calls `ready` as soon as the gradient of a tensor is final: tensor
 * number tensors - 1 first, number 0 last. The gradients of tensors that form one matrix become final together.
 * Backward calls `after` after each part, when it no longer needs the weights of the tensors announced so far. Each
 * function may be NULL; without `place`, gradients are written to model->gradient. */
enum { BACKWARD_PLACES = 3 };
struct gradient_hook {
    float *(*place)(void *context, int tensor);
    void (*ready)(void *context, int tensor);
    void (*after)(void *context);
    void *context;
};

/* The most probable next token after a token, its probability, and the probability of the true one, `of_target`. */
struct prediction {
    int32_t token;
    float probability, of_target;
};

struct source {
    int has_loss; /* 0: forward computes no loss */
    /* Allocates what forward and backward need beside weights and gradients, of activation_bytes, on model->device. */
    void (*allocate)(struct model *model);
    void (*destroy)(struct model *model); /* also of a model that was planned only */
    /* Initialises the weights from the seed alone, the same on every rank. */
    void (*initialize)(struct model *model, uint64_t seed);
    /* Computes loss[0] += loss_scale * S, where S is the sum of the losses of the B * T tokens, and the gradient of
     * grad_scale * S from which backward starts. input and target are [B, T]; they and loss are on the device. hook may
     * be NULL. */
    void (*forward)(struct model *model, const int32_t *input, const int32_t *target, float *loss, float loss_scale,
                    float grad_scale, const struct forward_hook *hook);
    /* Stores the gradient of the last forward pass where the hook places it, or adds it if accumulate is not 0, and
     * announces each tensor and each part to the hook, which may be NULL. Writes zeros to padding, and does not write
     * the gaps between matrices. input: as for forward; order[B * T]: the order of its tokens (data.h), on the device.
     */
    void (*backward)(struct model *model, const int32_t *input, const int32_t *order, int accumulate,
                     const struct gradient_hook *hook);
    /* Downloads into output (output_bytes bytes of the host) what forward computed last, with a grad_scale of 1, and
     * finds prediction[B, T]. target: [B, T], in the host's memory. NULL: the source predicts nothing. */
    void (*predict)(struct model *model, const int32_t *target, void *output, struct prediction *prediction);
    size_t (*output_bytes)(const struct model *model);
    /* Called after the optimizer has updated `count` weights: passes the time by which a recorded optimizer is slower;
     * NULL: the source has none. */
    void (*updated)(struct model *model, size_t count);
    /* Return the number of device operations, and of ranges (device.h), in a forward and a backward pass together. */
    size_t (*operations)(const struct model *model);
    size_t (*ranges)(const struct model *model);
    /* Returns the floating-point operations of one training step on `tokens` tokens, counting attention's causal half,
     * or the whole of attention if whole_attention is not 0; NAN: unknown. */
    double (*flops)(const struct model *model, size_t tokens, int whole_attention);
};

#endif
