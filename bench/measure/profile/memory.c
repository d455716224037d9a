/* memory.c - what the memory holds that a rank has allocated on its device: of each part of the model, and of each
 * operation. All of it is planned and allocated before the first step, and a step allocates nothing. */
#include "profile/figures.h"

#include "ddp/step.h"
#include "kernels/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add(struct profile_figures *f, enum memory_kind kind, int part, enum operation operation, size_t bytes)
{
    struct memory_figure *const row[] = {&f->memory_of_part[part < 0 ? f->layers : part],
                                         &f->memory_of_operation[operation]};
    for (int i = 0; i < 2; i++) {
        row[i]->holds[kind] += bytes;
        row[i]->total += bytes;
    }
}

/* What lies in arrays as long as the weights, of one tensor. */
static void add_tensor(struct profile_figures *f, const struct trainer *trainer, int tensor,
                       const struct reducer *reducer, int reducers)
{
    const struct model *model = trainer->model;
    const struct memory_range gradient = model_gradient_range(model, tensor);
    size_t numbers = gradient.bytes / sizeof(float), narrow = model->narrow_weight ? model->compute_bytes : 0;
    add(f, HOLDS_GRADIENTS, gradient.part, gradient.operation, gradient.bytes);
    add(f, HOLDS_WEIGHTS, gradient.part, OPERATION_ADAMW, gradient.bytes + numbers * narrow);
    add(f, HOLDS_OPTIMIZER, gradient.part, OPERATION_ADAMW, 2 * gradient.bytes);
    add(f, HOLDS_OTHER, gradient.part, OPERATIONS, gradient.bytes); /* trainer->start */
    for (const struct reducer *r = reducer; r < reducer + reducers; r++)
        if (r->staged)
            add(f, HOLDS_OTHER, gradient.part, r->staged_dtype == COMM_BF16 ? OPERATION_PACK_BF16 : OPERATION_COPY,
                numbers * comm_dtype_bytes(r->staged_dtype));
}

/* The largest first, otherwise as they were. */
static int by_size(const void *a, const void *b)
{
    const struct memory_figure *x = a, *y = b;
    if (x->total == y->total)
        return x->moved == y->moved ? x->order - y->order : x->moved < y->moved ? 1 : -1;
    return x->total < y->total ? 1 : -1;
}

void profile_figures_add_memory(struct profile_figures *f, const struct totals *totals, const struct trainer *trainer,
                                const struct reducer *reducer, int reducers)
{
    const struct model *model = trainer->model;
    f->memory_of_part = allocate((size_t)f->layers + 1, sizeof *f->memory_of_part);
    f->memory_of_operation = allocate(OPERATIONS + 1, sizeof *f->memory_of_operation);
    for (int i = 0; i <= f->layers; i++)
        snprintf(f->memory_of_part[i].name, sizeof f->memory_of_part[i].name, "%s",
                 i < f->layers ? f->layer[i].name : "shared");
    for (int i = 0; i <= OPERATIONS; i++)
        snprintf(f->memory_of_operation[i].name, sizeof f->memory_of_operation[i].name, "%s",
                 i < OPERATIONS ? operation_facts[i].name : "none");
    for (int t = 0; t < model->tensors; t++)
        add_tensor(f, trainer, t, reducer, reducers);
    for (const struct memory_range *r = model->activation; r < model->activation + model->activation_ranges; r++)
        add(f, r->part < 0 ? HOLDS_WORKSPACE : HOLDS_ACTIVATIONS, r->part, r->operation, r->bytes);
    size_t tokens = model->sizes.batch * model->sizes.context;
    add(f, HOLDS_OTHER, -1, OPERATIONS,
        2 * tokens * sizeof *trainer->input + (trainer->slots * RECORDS + SCALARS) * sizeof(float));

    for (int i = 0; i < totals->n; i++)
        for (int o = 0; o < OPERATIONS; o++)
            if (totals->row[i].kind == KIND_OPERATION && !strcmp(totals->row[i].name, operation_facts[o].name))
                f->memory_of_operation[o].moved = totals->row[i].bytes / f->ranks / f->steps;
    struct memory_figure *const table[] = {f->memory_of_part, f->memory_of_operation};
    const int rows[] = {f->layers + 1, OPERATIONS + 1};
    for (int t = 0; t < 2; t++) {
        for (int i = 0; i < rows[t]; i++)
            table[t][i].order = i;
        qsort(table[t], (size_t)rows[t], sizeof *table[t], by_size);
    }
    for (const struct memory_figure *m = f->memory_of_operation; m <= f->memory_of_operation + OPERATIONS; m++)
        f->memory_operations += m->total || m->moved > 0;
}
