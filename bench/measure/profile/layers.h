/* layers.h - the parts of the model one by one. */
#ifndef BENCH_MEASURE_PROFILE_LAYERS_H
#define BENCH_MEASURE_PROFILE_LAYERS_H

#include "training/training.h"

struct profile_figures;

/* A part of the model. Seconds of a step, medians over the steps of all ranks; 0 where parts are not traced. */
struct layer_figure {
    char name[16];
    double forward, backward;
    size_t parameters, bytes; /* bytes: of its gradients that are reduced */
};

/* Adds the parts of the model; their spans are still in the timeline. number_bytes: of one gradient as it is sent; 0:
 * nothing is sent. All ranks call. */
void profile_figures_add_layers(struct profile_figures *figures, const struct job *job, const struct timeline *timeline,
                                const struct model *model, size_t number_bytes);

#endif
