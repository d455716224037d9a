/* layers.c - forward and backward time of each part of the model, and the size of its gradient. */
#include "profile/figures.h"

#include "base/stats.h"
#include "ddp/model.h"
#include "kernels/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    size_t steps = (size_t)f->steps, n = (size_t)job->size * steps;
    double *seconds = allocate((size_t)(layers + 2) * 2 * steps + 1, sizeof *seconds);
    double *all = allocate(n + 1, sizeof *all);
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
        for (int backward = 0; backward < 2; backward++) {
            job_gather(job, seconds + (size_t)(2 * part + backward) * steps, steps * sizeof *seconds, all);
            *(backward ? &figure->backward : &figure->forward) = stats_median(all, n);
        }
    }
    for (int t = 0; t < model->tensors; t++) {
        struct layer_figure *figure = &f->layer[model_gradient_range(model, t).part];
        figure->parameters += model->tensor[t].count;
        figure->bytes += model->tensor[t].count * number_bytes;
    }
    free(seconds);
    free(all);
}
