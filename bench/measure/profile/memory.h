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
/* Of a part of the model; or of the operation whose result it is in a step, and "none" for what is none's. */
struct memory_figure {
    char name[28];
    size_t holds[HOLDS], total;
    double moved; /* bytes that the operation reads and writes in a step of a rank; 0 of a part */
    int order;    /* of rows that are as large */
};

/* Adds the memory of what was set up: the trainer's model, the trainer itself and the reducers [reducers]. After the
 * layers; totals are of the same steps. */
void profile_figures_add_memory(struct profile_figures *figures, const struct totals *totals,
                                const struct trainer *trainer, const struct reducer *reducer, int reducers);

#endif
