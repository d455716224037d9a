/* step.c - one training step of data-parallel training; read step_run from top to bottom.
 *
 * Each rank has the whole model and its own part of the global batch. A step computes the gradient of that part,
 * the strategy sums the gradients of all ranks (while backward runs, or after it), and every rank then makes the same
 * update. The only scale, 1 / (tokens x ranks x micro-batches), is folded into the gradient of the loss, so that the
 * sum over everything is the mean over the global batch. */
#include "step.h"

const char *const phase_name[PHASES] = {
    [PHASE_ZERO_GRAD] = "zero_grad",         [PHASE_DATA_LOADING] = "data_loading",
    [PHASE_FORWARD] = "forward_pass",        [PHASE_BACKWARD] = "backward_pass",
    [PHASE_GRADIENT_SYNC] = "gradient_sync", [PHASE_CLIPPING] = "gradient_clipping_warmup",
    [PHASE_OPTIMIZER] = "optimizer_step",    [PHASE_LR_SCHEDULING] = "lr_scheduling",
};
const char *const ready_name = "ready";

/* Backward calls this as soon as a tensor's gradient is final: the strategy may start to reduce it. */
static void gradient_ready(void *context, int tensor)
{
    struct trainer *t = context;
    int64_t now = clock_now_ns();
    timeline_add(t->timeline, LANE_HOST, (struct span){ready_name, now, now, now, 0, tensor});
    t->sync->strategy->gradient_ready(t->sync, tensor);
}

void step_run(struct trainer *t, int slot)
{
    const struct device *device = t->device;
    struct model *model = t->model;
    struct timeline *timeline = t->timeline;
    struct optimizer *optimizer = &t->optimizer;
    size_t tokens = model->sizes.batch * model->sizes.context; /* of a micro-batch on this rank */
    float loss_scale = 1 / ((float)tokens * (float)t->micro_batches);
    float grad_scale = loss_scale / (float)t->ranks;
    float *loss = t->record + slot * RECORDS + RECORD_LOSS;
    float *norm = t->record + slot * RECORDS + RECORD_GRAD_NORM;
    int64_t at = clock_now_ns();

    device->zero(model->gradient, model->arena);
    device->zero(loss, RECORDS);
    at = timeline_phase(timeline, phase_name[PHASE_ZERO_GRAD], at, slot);

    sync_begin(t->sync);
    for (size_t m = 0; m < t->micro_batches; m++) {
        const int32_t *input, *target;
        data_next(t->data, &input, &target);
        device->upload(t->input, input, tokens * sizeof *input);
        device->upload(t->target, target, tokens * sizeof *target);
        at = timeline_phase(timeline, phase_name[PHASE_DATA_LOADING], at, slot);

        model_forward(model, t->input, t->target, loss, loss_scale, grad_scale);
        at = timeline_phase(timeline, phase_name[PHASE_FORWARD], at, slot);

        /* only the last micro-batch makes gradients final */
        struct gradient_hook hook = {gradient_ready, t};
        model_backward(model, t->input, m + 1 == t->micro_batches ? &hook : NULL);
        at = timeline_phase(timeline, phase_name[PHASE_BACKWARD], at, slot);
    }

    t->sync->strategy->finish(t->sync);
    at = timeline_phase(timeline, phase_name[PHASE_GRADIENT_SYNC], at, slot);

    if (schedule_is_warmup(&t->schedule, t->step)) {
        device->grad_norm(optimizer->scalars, model->gradient, model->arena, t->max_norm);
        device->copy(norm, optimizer->scalars + SCALAR_GRAD_NORM, 1);
        at = timeline_phase(timeline, phase_name[PHASE_CLIPPING], at, slot);
    } else if (t->log_grad_norm) { /* watched, not clipped; counts as part of the optimizer's phase */
        device->grad_norm(optimizer->scalars, model->gradient, model->arena, 0);
        device->copy(norm, optimizer->scalars + SCALAR_GRAD_NORM, 1);
    }

    device->adamw(model->weight, optimizer->m, optimizer->v, model->gradient, model->arena, optimizer->scalars,
                  &optimizer->adamw);
    at = timeline_phase(timeline, phase_name[PHASE_OPTIMIZER], at, slot);

    t->step++;
    t->update++;
    optimizer_set_step(optimizer, model, schedule_learning_rate(&t->schedule, t->step), t->update);
    timeline_phase(timeline, phase_name[PHASE_LR_SCHEDULING], at, slot);
}

void trainer_create(struct trainer *t, const struct adamw *adamw, size_t slots)
{
    size_t tokens = t->model->sizes.batch * t->model->sizes.context;
    optimizer_create(&t->optimizer, t->model, adamw);
    t->input = t->device->allocate(tokens * sizeof *t->input);
    t->target = t->device->allocate(tokens * sizeof *t->target);
    t->record = t->device->allocate(slots * RECORDS * sizeof *t->record);
    t->start = t->device->allocate(t->model->arena * sizeof *t->start);
    t->device->copy(t->start, t->model->weight, t->model->arena);
    trainer_reset(t, 0);
}

void trainer_destroy(struct trainer *t)
{
    if (!t->device)
        return;
    optimizer_destroy(&t->optimizer, t->model);
    t->device->release(t->input);
    t->device->release(t->target);
    t->device->release(t->record);
    t->device->release(t->start);
}

void trainer_reset(struct trainer *t, long step)
{
    t->device->copy(t->model->weight, t->start, t->model->arena);
    optimizer_reset(&t->optimizer, t->model);
    t->step = step;
    t->update = 1;
    optimizer_set_step(&t->optimizer, t->model, schedule_learning_rate(&t->schedule, step), t->update);
    data_seek(t->data, step < 0 ? 0 : (size_t)step);
    t->device->synchronize();
}

void step_spans(const struct model *model, size_t micro_batches, size_t spans[TIMELINE_LANES])
{
    spans[LANE_HOST] = PHASES + 3 * micro_batches + (size_t)model->tensors;
    spans[LANE_COMMUNICATION] = (size_t)model->tensors;
}
