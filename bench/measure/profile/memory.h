/* memory.h - what the arrays hold that a rank has allocated on its device. */
#ifndef BENCH_MEASURE_PROFILE_MEMORY_H
#define BENCH_MEASURE_PROFILE_MEMORY_H

#include "training/training.h"

struct profile_figures;

/* Kinds of arrays that a rank has allocated on its device. */
enum memory_kind {
    HOLDS_WEIGHTS, /* and their copy in the compute type */
    HOLDS_GRADIENTS,
    HOLDS_OPTIMIZER,   /* moments */
    HOLDS_ACTIVATIONS, /* what forward keeps for backward; counted for the part that computes it */
    HOLDS_WORKSPACE,   /* gradients of activations, which one layer after the other uses, and a table of rotations */
    HOLDS_OTHER,       /* the weights that every block starts from, staged gradients, the batch, losses and norms */
    HOLDS
};

struct memory_figure {
    char name[16];              /* of a part of the model; or "shared" */
    size_t holds[HOLDS], total; /* bytes, gaps for alignment included */
    int order;                  /* of rows with the same total */
};

/* Adds the memory of the trainer, its model and the reducers [reducers]. Call it after profile_figures_add_layers. */
void profile_figures_add_memory(struct profile_figures *figures, const struct trainer *trainer,
                                const struct reducer *reducer, int reducers);

#endif
