/* model.h - the memory of a model: weights, gradients and the copy of the weights that layers read. Each of them, and
 * each moment of the optimizer, is one array (arena). An arena holds the tensors in the order in which backward
 * finishes their gradients: the reverse of the order in which they are registered and in which forward uses them. */
#ifndef DDP_MODEL_H
#define DDP_MODEL_H

#include "ddp/source.h"
#include "ddp/tensors.h"
#include "kernels/blas.h"
#include "kernels/device.h"

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

struct model {
    const struct source *source;
    struct model_sizes sizes;
    struct tensor *tensor; /* [tensors], in order of registration */
    int tensors;
    size_t parameters;        /* number of parameters in all tensors */
    size_t arena;             /* floats in each arena */
    size_t activation_bytes;  /* bytes for activations kept for backward, and for scratch memory */
    size_t matmul_parameters; /* number of parameters of linear layers: all but the embedding and the norms */
    size_t compute_bytes;     /* bytes of one number of the device's compute type */

    const struct device *device;
    float *weight;        /* [arena] */
    float *gradient;      /* [arena]; NULL if backward is always given a place for each gradient (gradient_hook) */
    void *narrow_weight;  /* [arena] the weights in the compute type; NULL if that type is fp32 */
    int has_no_gradient;  /* 1: there is no `gradient`; set it before model_allocate */
    int owns_gradient;    /* 1: the model allocated `gradient` */
    int owns_read_weight; /* 1: the model allocated the weights that layers read */
    void *activations;    /* what the source allocates */
};

/* Allocates the arrays on a device; weights and gradients are zero. gradient, read_weight: [arena] zeroed memory of the
 * device that the caller owns, for the gradient and for the weights that layers read (model_read_weight); NULL: the
 * model allocates it. */
void model_allocate(struct model *model, const struct device *device, float *gradient, void *read_weight);
void model_destroy(struct model *model); /* a zeroed model is fine */

/* Returns the weights that layers read, [arena] in the compute type: weight, or narrow_weight if there is one. */
void *model_read_weight(const struct model *model);

/* Returns the matrix products of the linear layers in a forward pass and, unless forward_only, a backward pass. Needs
 * no memory of the model. The caller frees `weight`. */
struct blas_products model_products(const struct model *model, int forward_only);

/* Updates the copy of the weights that layers read. Call it after changing model->weight. */
void model_weights_changed(const struct model *model);

#endif
