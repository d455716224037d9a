/* memory.c - what the arrays hold that a rank has allocated on its device, by part of the model. All of it is planned
 * and allocated before the first step, and a step allocates nothing. */
#include "profile/figures.h"

#include "ddp/step.h"
#include "kernels/error.h"

#include <stdio.h>
#include <stdlib.h>

static void add_bytes(struct profile_figures *f, enum memory_kind kind, int part, size_t bytes)
{
    struct memory_figure *row = &f->memory[part < 0 ? f->layers : part];
    row->holds[kind] += bytes;
    row->total += bytes;
}

/* Adds the arrays that are as long as the weights, for one tensor. */
static void add_tensor(struct profile_figures *f, const struct trainer *trainer, int tensor,
                       const struct reducer *reducer, int reducers)
{
    const struct model *model = trainer->model;
    const struct memory_range gradient = model_gradient_range(model, tensor);
    size_t numbers = gradient.bytes / sizeof(float), narrow = model->narrow_weight ? model->compute_bytes : 0;
    add_bytes(f, HOLDS_GRADIENTS, gradient.part, gradient.bytes);
    add_bytes(f, HOLDS_WEIGHTS, gradient.part, gradient.bytes + numbers * narrow);
    add_bytes(f, HOLDS_OPTIMIZER, gradient.part, 2 * gradient.bytes);
    add_bytes(f, HOLDS_OTHER, gradient.part, gradient.bytes); /* trainer->start */
    for (const struct reducer *r = reducer; r < reducer + reducers; r++)
        if (r->staged)
            add_bytes(f, HOLDS_OTHER, gradient.part, numbers * comm_dtype_bytes(r->staged_dtype));
}

/* The largest first, otherwise as they were. */
static int by_size(const void *a, const void *b)
{
    const struct memory_figure *x = a, *y = b;
    return x->total == y->total ? x->order - y->order : x->total < y->total ? 1 : -1;
}

void profile_figures_add_memory(struct profile_figures *f, const struct trainer *trainer, const struct reducer *reducer,
                                int reducers)
{
    const struct model *model = trainer->model;
    size_t rows = (size_t)f->layers + 1, tokens = model->sizes.batch * model->sizes.context;
    f->memory = allocate(rows, sizeof *f->memory);
    for (int i = 0; i <= f->layers; i++) {
        f->memory[i].order = i;
        snprintf(f->memory[i].name, sizeof f->memory[i].name, "%s", i < f->layers ? f->layer[i].name : "shared");
    }
    for (int t = 0; t < model->tensors; t++)
        add_tensor(f, trainer, t, reducer, reducers);
    for (const struct memory_range *r = model->activation; r < model->activation + model->activation_ranges; r++)
        add_bytes(f, r->part < 0 ? HOLDS_WORKSPACE : HOLDS_ACTIVATIONS, r->part, r->bytes);
    add_bytes(f, HOLDS_OTHER, -1,
              2 * tokens * sizeof *trainer->input + (trainer->slots * RECORDS + SCALARS) * sizeof(float));
    qsort(f->memory, rows, sizeof *f->memory, by_size);
}
