/* model_parts.c - the parts of the model one by one: the time of their forward and backward passes, the size of their
 * gradients, and what the arrays of a rank hold for them. */
#include "profile/figures.h"

#include "ddp/model.h"
#include "ddp/step.h"
#include "kernels/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- time ---- */

/* The part of a span: 0 the embedding, then the layers, then the output; -1: none. */
static int part_of(const struct span *span, int layers)
{
    if (!strcmp(span->name, "layer"))
        return 1 + span->index;
    return !strcmp(span->name, "embedding") ? 0 : !strcmp(span->name, "output") ? layers + 1 : -1;
}

/* Adds to seconds[parts, 2, steps]: forward and backward of each part, summed over micro-batches. The span of a phase
 * comes after the ranges within it. */
static void add_ranges(const struct profile_figures *f, const struct timeline *timeline, int layers, double *seconds)
{
    const struct lane *host = &timeline->lane[LANE_HOST];
    size_t first = 0; /* of the ranges since the last phase */
    for (size_t i = 0; i < host->n; i++) {
        int phase = step_phase_of(&host->span[i]);
        if (phase < 0)
            continue;
        for (size_t j = first; j < i; j++) {
            const struct span *s = &host->span[j];
            int part = part_of(s, layers), backward = phase == PHASE_BACKWARD;
            if (part >= 0 && s->step >= f->first && (backward || phase == PHASE_FORWARD))
                seconds[(size_t)(2 * part + backward) * (size_t)f->steps + (size_t)(s->step - f->first)] +=
                    1e-9 * (double)(s->end_ns - s->start_ns);
        }
        first = i + 1;
    }
}

void profile_figures_add_layers(struct profile_figures *f, const struct job *job, const struct timeline *timeline,
                                const struct model *model, size_t number_bytes)
{
    int layers = (int)model->sizes.layers;
    size_t steps = (size_t)f->steps;
    double *seconds = allocate((size_t)(layers + 2) * 2 * steps + 1, sizeof *seconds);
    add_ranges(f, timeline, layers, seconds);
    f->layers = layers + 2;
    f->layer = allocate((size_t)f->layers, sizeof *f->layer);
    for (int part = 0; part < f->layers; part++) {
        struct layer_figure *figure = &f->layer[part];
        snprintf(figure->name, sizeof figure->name,
                 part == 0       ? "embedding"
                 : part > layers ? "output"
                                 : "layers.%d",
                 part - 1);
        figure->forward = pool_steps(job, seconds + (size_t)(2 * part) * steps, steps).median;
        figure->backward = pool_steps(job, seconds + (size_t)(2 * part + 1) * steps, steps).median;
    }
    for (int t = 0; t < model->tensors; t++) {
        struct layer_figure *figure = &f->layer[model_gradient_range(model, t).part];
        figure->parameters += model->tensor[t].count;
        figure->bytes += model->tensor[t].count * number_bytes;
    }
    free(seconds);
}

/* ---- memory: all of it is planned and allocated before the first step ---- */

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

void profile_figures_add_memory(struct profile_figures *f, const struct trainer *trainer, const struct reducer *reducer,
                                int reducers)
{
    const struct model *model = trainer->model;
    size_t rows = (size_t)f->layers + 1, tokens = model->sizes.batch * model->sizes.context;
    f->memory = allocate(rows, sizeof *f->memory);
    for (int i = 0; i <= f->layers; i++)
        snprintf(f->memory[i].name, sizeof f->memory[i].name, "%s", i < f->layers ? f->layer[i].name : "shared");
    for (int t = 0; t < model->tensors; t++)
        add_tensor(f, trainer, t, reducer, reducers);
    for (const struct memory_range *r = model->activation; r < model->activation + model->activation_ranges; r++)
        add_bytes(f, r->part < 0 ? HOLDS_WORKSPACE : HOLDS_ACTIVATIONS, r->part, r->bytes);
    add_bytes(f, HOLDS_OTHER, -1,
              2 * tokens * sizeof *trainer->input + (trainer->slots * RECORDS + SCALARS) * sizeof(float));
    for (size_t i = 1; i < rows; i++) /* the largest first, otherwise as they were */
        for (size_t j = i; j && f->memory[j - 1].total < f->memory[j].total; j--) {
            const struct memory_figure smaller = f->memory[j - 1];
            f->memory[j - 1] = f->memory[j];
            f->memory[j] = smaller;
        }
}
