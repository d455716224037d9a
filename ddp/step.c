/* step.c - one training step of data-parallel training; read step_run from top to bottom.
 *
 * Each rank has the whole model and a part of the global batch. A step computes the gradient of that part, the strategy
 * sums the gradients of all ranks (during backward or after it), and every rank then makes the same update. If the
 * strategy shards, each rank updates only its part of the weights, and gathers the other parts. If the strategy
 * averages weights, each rank uses its own gradient. If the strategy updates early, backward updates the parts whose
 * sums are complete (update_summed). The gradient of the loss is already divided by (tokens of a micro-batch x ranks x
 * micro-batches), so that the sum over ranks and micro-batches is the mean over the global batch. */
#include "ddp/step.h"

#include "kernels/core_wait.h"

const char *const phase_name[PHASES + 1] = {
    [PHASE_ZERO_GRAD] = "zero_grad",
    [PHASE_DATA_LOADING] = "data_loading",
    [PHASE_PARAMETER_GATHER] = "parameter_gather",
    [PHASE_FORWARD] = "forward_pass",
    [PHASE_BACKWARD] = "backward_pass",
    [PHASE_GRADIENT_SYNC] = "gradient_sync",
    [PHASE_CLIPPING] = "gradient_clipping_warmup",
    [PHASE_OPTIMIZER] = "optimizer_step",
    [PHASE_LR_SCHEDULING] = "lr_scheduling",
    [PHASE_CHECKPOINT] = "checkpoint",
    [PHASE_SAVE_RESULTS] = "save_results",
};
const char *const ready_name = "ready";
static const char *const delay_name = "injected_delay";

/* Waits for the device, because it would otherwise continue to work during the delay; then sleeps. */
static void sleep_for_delay(struct trainer *t, int64_t ns)
{
    t->device->synchronize();
    int64_t now = clock_now_ns();
    clock_sleep_until(now + ns);
    int64_t end = clock_now_ns();
    t->device->stamp(); /* the next operation begins at this stamp in the trace, after the delay */
    timeline_add(
        t->timeline, LANE_HOST,
        (struct span){
            .name = delay_name, .queued_ns = now, .returned_ns = end, .start_ns = now, .end_ns = end, .index = -1});
}

/* Ends the current phase and begins or resumes another one (PHASES: none) with a single stamp of the device, so that
 * there is no gap between phases. The wait for a core is read after the stamp, and may include time after the stamp, so
 * it is limited to the length of the phase. */
static void switch_phase(struct trainer *t, enum step_phase phase)
{
    int64_t stamp = t->device->stamp(), now = t->device->asynchronous ? clock_now_ns() : stamp;
    const int watched = t->watch_core && !t->device->asynchronous; /* otherwise stamps may be tickets, and not times */
    int64_t wait = watched ? core_wait_ns() : 0;
    int64_t waited = wait - t->phase_start_wait, lasted = watched ? stamp - t->phase_start_stamp : 0;
    if (t->phase != PHASES)
        timeline_add(t->timeline, LANE_HOST,
                     (struct span){.name = phase_name[t->phase],
                                   .queued_ns = t->phase_start_ns,
                                   .returned_ns = now,
                                   .start_ns = t->phase_start_stamp,
                                   .end_ns = stamp,
                                   .size = {[SIZE_CORE_WAIT] = (size_t)(waited < lasted ? waited : lasted)},
                                   .index = (int)t->phase});
    t->device->phase(phase == PHASES ? NULL : phase_name[phase]);
    t->phase = phase;
    t->phase_start_ns = now;
    t->phase_start_stamp = stamp;
    t->phase_start_wait = wait;
}

void step_enter_phase(struct trainer *t, enum step_phase phase)
{
    switch_phase(t, phase);
    if (phase != PHASES && t->delay_ns[phase])
        sleep_for_delay(t, t->delay_ns[phase]);
}

/* Waits for a collective whose result or buffer a layer is about to use, if the strategy has one. */
static void before_layer(struct trainer *t, int tensor, enum pass pass)
{
    long ticket = reducer_needed(t->reducer, tensor, pass);
    if (!ticket)
        return;
    if (pass == PASS_BACKWARD)
        switch_phase(t, PHASE_GRADIENT_SYNC);
    else /* an injected delay is slept once per step */
        (tensor == 0 ? step_enter_phase : switch_phase)(t, PHASE_PARAMETER_GATHER);
    reducer_join_ticket(t->reducer, ticket);
    switch_phase(t, pass == PASS_BACKWARD ? PHASE_BACKWARD : PHASE_FORWARD);
}

static void before_forward(void *context, int tensor)
{
    before_layer(context, tensor, PASS_FORWARD);
}

/* Returns where backward writes the gradient of a matrix. */
static float *place_gradient(void *context, int tensor)
{
    struct trainer *t = context;
    before_layer(t, tensor, PASS_BACKWARD);
    return reducer_place(t->reducer, tensor);
}

/* Lets the strategy reduce a tensor's gradient of a micro-batch that is not the last one of the step. */
static void partial_gradient_ready(void *context, int tensor)
{
    struct trainer *t = context;
    reducer_gradient_ready(t->reducer, tensor);
}

/* Lets the strategy reduce a tensor's gradient. Backward calls it as soon as the gradient is final. */
static void gradient_ready(void *context, int tensor)
{
    struct trainer *t = context;
    int64_t stamp = t->device->stamp(), now = t->device->asynchronous ? clock_now_ns() : stamp;
    timeline_add(t->timeline, LANE_HOST,
                 (struct span){.name = ready_name,
                               .queued_ns = now,
                               .returned_ns = now,
                               .start_ns = stamp,
                               .end_ns = stamp,
                               .index = tensor});
    reducer_gradient_ready(t->reducer, tensor);
}

/* Updates the next owned range of the weights. */
static void update_range(struct trainer *t)
{
    const struct owned_range *own = &t->reducer->owned[t->reducer->updated];
    optimizer_update(&t->optimizer, t->model, own->offset, own->count, own->gradient, own->at);
    if (reducer_averages(t->reducer))
        switch_phase(t, PHASE_GRADIENT_SYNC);
    reducer_range_updated(t->reducer);
}

/* Tests whether ranges are updated early in this step: only if the step neither clips gradients nor ends with the
 * reduced gradient. */
static int updates_early(const struct trainer *t)
{
    const struct reducer *reducer = t->reducer;
    return reducer->traits->updates_early && !reducer->after_backward && !t->gradient_only &&
           !schedule_is_warmup(&t->schedule, t->step);
}

/* Updates the ranges whose gradients are summed. Backward calls it when it no longer uses their weights. */
static void update_summed(void *context)
{
    struct trainer *t = context;
    if (!reducer_range_summed(t->reducer))
        return;
    switch_phase(t, PHASE_OPTIMIZER);
    while (reducer_range_summed(t->reducer))
        update_range(t);
    switch_phase(t, PHASE_BACKWARD);
}

/* Waits for the sums of the remaining ranges one after another. Updates each range but the last before it waits for the
 * next. */
static void update_while_waiting(struct trainer *t)
{
    while (t->reducer->updated < t->reducer->ranges - 1) {
        reducer_join_range(t->reducer);
        switch_phase(t, PHASE_OPTIMIZER);
        update_range(t);
        switch_phase(t, PHASE_GRADIENT_SYNC);
    }
}

void step_run(struct trainer *t, int slot)
{
    const struct device *device = t->device;
    struct model *model = t->model;
    struct optimizer *optimizer = &t->optimizer;
    size_t tokens = model->sizes.batch * model->sizes.context; /* tokens per micro-batch and rank */
    float loss_scale = 1 / ((float)tokens * (float)t->micro_batches);
    float grad_scale = loss_scale / (float)t->ranks;
    const struct forward_hook forward_hook = {before_forward, t};
    int early = updates_early(t);
    const struct gradient_hook last = {place_gradient, gradient_ready, early ? update_summed : NULL, t};
    const struct gradient_hook earlier = {place_gradient, t->reducer->traits->releases ? partial_gradient_ready : NULL,
                                          NULL, t};
    float *loss = t->record + slot * RECORDS + RECORD_LOSS;
    float *norm = t->record + slot * RECORDS + RECORD_GRAD_NORM;

    if (t->inference.directory) {
        inference_run(t, slot);
        return;
    }
    t->timeline->step = slot;
    step_enter_phase(t, PHASE_ZERO_GRAD);
    device->zero(loss, RECORDS); /* gradients need no reset: the first micro-batch overwrites them */

    for (size_t m = 0; m < t->micro_batches; m++) {
        step_enter_phase(t, PHASE_DATA_LOADING);
        trainer_load_batch(t);

        step_enter_phase(t, PHASE_FORWARD);
        model->source->forward(model, t->batch.input, t->batch.target, loss, loss_scale, grad_scale, &forward_hook);

        if (t->forward_only)
            continue;
        step_enter_phase(t, PHASE_BACKWARD);
        reducer_begin(t->reducer, m);
        model->source->backward(model, t->batch.input, t->batch.order, m > 0,
                                m + 1 == t->micro_batches ? &last : &earlier);
    }

    if (!t->forward_only) {
        step_enter_phase(t, PHASE_GRADIENT_SYNC);
        if (early)
            update_while_waiting(t);
        reducer_finish(t->reducer);
        if (t->gradient_only) {
            step_enter_phase(t, PHASES);
            return;
        }

        if (schedule_is_warmup(&t->schedule, t->step)) {
            step_enter_phase(t, PHASE_CLIPPING);
            reducer_grad_norm(t->reducer, optimizer->scalars, t->max_norm);
            device->copy(norm, optimizer->scalars + SCALAR_GRAD_NORM, 1);
        }
        step_enter_phase(t, PHASE_OPTIMIZER);
        while (t->reducer->updated < t->reducer->ranges)
            update_range(t);
    }

    step_enter_phase(t, PHASE_LR_SCHEDULING);
    t->step++;
    t->update++;
    optimizer_set_step(optimizer, model, schedule_learning_rate(&t->schedule, t->step), t->update);

    if (checkpoint_is_due(&t->checkpoint, t->step)) {
        if (reducer_is_in_flight(t->reducer))
            switch_phase(t, PHASE_PARAMETER_GATHER);
        reducer_settle(t->reducer);
        step_enter_phase(t, PHASE_CHECKPOINT);
        checkpoint_save(&t->checkpoint, trainer_state(t));
    }
    step_enter_phase(t, PHASES);
}

int step_phase_of(const struct span *span)
{
    int known = span->index >= 0 && span->index < PHASES && span->name == phase_name[span->index];
    return known ? span->index : -1;
}
