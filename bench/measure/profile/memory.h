/* memory.h - what the arrays hold that a rank has allocated on its device. */
#ifndef BENCH_MEASURE_PROFILE_MEMORY_H
#define BENCH_MEASURE_PROFILE_MEMORY_H

#include "training/training.h"

struct profile_figures;

/* What arrays hold that a rank has allocated on its device, in bytes, gaps for alignment included. */
enum memory_kind {
    HOLDS_WEIGHTS, /* and their copy in the compute type */
    HOLDS_GRADIENTS,
    HOLDS_OPTIMIZER,   /* moments */
    HOLDS_ACTIVATIONS, /* what forward keeps for backward, with what puts it out */
    HOLDS_WORKSPACE,   /* gradients of activations, which one layer after the other uses, and a table of rotations */
    HOLDS_OTHER,       /* the weights that every block starts from, staged gradients, the batch, losses and norms */
    HOLDS
};

struct memory_figure {
    char name[16]; /* of a part of the model; or "shared" */
    size_t holds[HOLDS], total;
    int order; /* of rows that are as large */
};

/* Adds the memory of what was set up: the trainer, its model and the reducers [reducers]. After the layers. */
void profile_figures_add_memory(struct profile_figures *figures, const struct trainer *trainer,
                                const struct reducer *reducer, int reducers);

#endif
