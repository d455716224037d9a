/* replayed.h - a model that is only its tensors and times: a source of gradients (source.h) that computes for as long
 * as a recorded step did, and announces each gradient when that step did.
 *
 * Gradients have known values, different on each rank, so that their sums can be checked; there is no loss. Forward
 * spends on each tensor the share of its time that the tensor has of all parameters. In backward a gradient is written,
 * and then final. */
#ifndef DDP_REPLAYED_H
#define DDP_REPLAYED_H

#include "ddp/model.h"

/* How a replayed model passes its time. BUSY: with matrix products, whose time is measured when the model is allocated;
 * communication and computation disturb each other as in training. SLEEP: the rank sleeps; for devices that are not
 * asynchronous. */
enum replayed_compute { REPLAYED_BUSY, REPLAYED_SLEEP };

/* What is replayed; times in seconds, or, if in_flops is 1, in floating-point operations at the rate that products
 * reach here. */
struct replayed {
    const struct tensor *tensor; /* [tensors] in order of registration; placed anew */
    int tensors;
    double forward;         /* of a forward pass, with all else that a step does besides backward and the optimizer */
    const double *backward; /* [tensors] from the gradient that is final before it, or from the beginning of backward,
                               until that of this tensor is */
    double update; /* of a recorded optimizer on all weights; 0: that of AdamW here. Shorter ones are not replayed */
    int in_flops, on_gpu;
    enum replayed_compute compute;
    size_t batch, context; /* tokens of a micro-batch: batch x context */
    size_t shards;         /* the most parts into which strategies cut a tensor */
    int rank;              /* decides the values of the gradients */
};

/* Plans a model that replays. Copies what it needs. Allocates no arrays on a device. Release with model_destroy. */
void replayed_plan(struct model *model, const struct replayed *replayed, size_t compute_bytes);

#endif
