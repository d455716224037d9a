/* strategy_local.c - local SGD: each rank trains alone for H steps; then an outer optimizer moves the weights from
 * which all ranks started (the anchor) by the mean of the ranks' changes.
 *
 * d = mean over ranks of (anchor - weights); m = 0.9 m + d; anchor -= 0.7 (d + 0.9 m); weights = anchor. Each rank
 * keeps its own AdamW moments. Source: Douillard et al., DiLoCo, 2023, arXiv:2311.08105. */
#include "ddp/reducer.h"

static const float outer_rate = 0.7f, outer_momentum = 0.9f;

/* Allocates the anchor [arena] and the outer momentum [arena]. */
static void create(struct reducer *reducer)
{
    reducer->state = reducer_allocate(reducer, 2 * reducer->model->arena);
}

static void restart(struct reducer *reducer)
{
    const struct model *model = reducer->model;
    model->device->copy(reducer->state, model->weight, model->arena);
    model->device->zero((float *)reducer->state + model->arena, model->arena);
}

/* Multiplies the gradient by the number of ranks: it was divided by this number for a sum over ranks, but here no sum
 * follows. */
static void keep_own_gradient(struct reducer *reducer)
{
    float *g = reducer->model->gradient;
    reducer->model->device->axpby(g, g, reducer->model->arena, 1, (float)reducer->comm->ranks - 1);
}

/* The optimizer has used the gradient, so the differences take its place. */
static void average_weights(struct reducer *reducer, int range)
{
    const struct model *model = reducer->model;
    const struct device *device = model->device;
    float *difference = model->gradient, *anchor = reducer->state, *momentum = anchor + model->arena;
    float share = 1 / (float)reducer->comm->ranks;
    (void)range;
    if (!reducer_averages(reducer))
        return;
    device->copy(difference, model->weight, model->arena);
    device->axpby(difference, anchor, model->arena, share, -share);
    reducer_run(reducer, 0, 0);
    device->stamp(); /* the next operation begins at this stamp in the trace, after the wait */
    device->axpby(momentum, difference, model->arena, 1, outer_momentum);
    device->axpby(anchor, difference, model->arena, -outer_rate, 1);
    device->axpby(anchor, momentum, model->arena, -outer_rate * outer_momentum, 1);
    device->copy(model->weight, anchor, model->arena);
    model_weights_changed(model);
}

static const struct traits plain = {.reduces = 1, .averages = 1, .messages = 1, .message = {{.kind = COMM_ALL_REDUCE}}};

const struct strategy strategy_ddp_local = {
    .name = "ddp_local",
    .summary = "local SGD: each rank trains alone; every H steps, an all-reduce of weights (other arithmetic)",
    .traits = {[VARIANT_PLAIN] = &plain},
    .number = {"H", "interval in steps", 1000},
    .plan = plan_whole,
    .create = create,
    .restart = restart,
    .finish = keep_own_gradient,
    .range_updated = average_weights,
};
