/* trainer.c - allocates and resets what steps work on (struct trainer), and counts the spans of a step. */
#include "ddp/step.h"

void trainer_create(struct trainer *t, const struct adamw *adamw, size_t slots, size_t moments)
{
    size_t tokens = t->model->sizes.batch * t->model->sizes.context;
    optimizer_create(&t->optimizer, t->model, adamw, moments);
    t->batch = batch_in(t->device->allocate(BATCH_ARRAYS * tokens * sizeof(int32_t)), tokens);
    t->slots = slots;
    t->record = t->device->allocate(slots * RECORDS * sizeof *t->record);
    t->start = t->device->allocate(t->model->arena * sizeof *t->start);
    t->device->copy(t->start, t->model->weight, t->model->arena);
    if (t->checkpoint.every && t->checkpoint.job->rank == 0)
        t->checkpoint.piece = t->device->allocate_host(checkpoint_piece_bytes());
    inference_create(t);
    t->phase = PHASES;
    trainer_set_step(t, 0, 1);
}

void trainer_destroy(struct trainer *t)
{
    if (!t->device)
        return;
    optimizer_destroy(&t->optimizer, t->model);
    t->device->release(t->batch.input);
    t->device->release(t->record);
    t->device->release(t->start);
    inference_destroy(t);
    if (t->checkpoint.piece)
        t->device->release_host(t->checkpoint.piece);
}

void trainer_reset(struct trainer *t, long step)
{
    t->device->copy(t->model->weight, t->start, t->model->arena);
    model_weights_changed(t->model);
    optimizer_reset(&t->optimizer, t->model);
    reducer_restart(t->reducer);
    trainer_set_step(t, step, 1);
}

void trainer_set_step(struct trainer *t, long step, long update)
{
    t->step = step;
    t->update = update;
    optimizer_set_step(&t->optimizer, t->model, schedule_learning_rate(&t->schedule, step), t->update);
    data_seek(t->data, step < 0 ? 0 : (size_t)step);
    t->device->synchronize();
}

struct batch trainer_load_batch(struct trainer *t)
{
    struct batch batch = data_next(t->data);
    size_t tokens = t->model->sizes.batch * t->model->sizes.context;
    t->device->upload(t->batch.input, batch.input, BATCH_ARRAYS * tokens * sizeof *batch.input);
    return batch;
}

struct training_state trainer_state(const struct trainer *t)
{
    return (struct training_state){t->model, &t->optimizer, t->reducer, t->step, t->update};
}

void trainer_use(struct trainer *t, const struct device *device, struct reducer *reducer)
{
    t->device = t->model->device = device;
    t->reducer = reducer;
}

void step_spans(const struct model *model, size_t micro_batches, size_t collectives, int traced, int releases,
                size_t spans[TIMELINE_LANES])
{
    enum { OF_STEP = 4 };                           /* device operations of step_run itself */
    size_t phases = PHASES - 1 + 3 * micro_batches; /* without save_results; each may have a second span, for a delay */
    /* A phase may be interrupted to update a bucket, to wait for weights before a part of forward (fewer times), and to
     * wait for buffers */
    size_t interruptions = 2 * (size_t)model->tensors * (releases ? 1 + micro_batches : 1);
    spans[LANE_HOST] = 2 * phases + interruptions + (size_t)model->tensors;
    spans[LANE_COMMUNICATION] = collectives + 1; /* 1: to gather norms */
    spans[LANE_COMPUTE] = spans[LANE_MEMORY] = 0;
    if (traced) {
        spans[LANE_HOST] += model->source->ranges(model) * micro_batches;
        /* Two operations per collective, of which there are at most strategy_collectives per tensor, are enough for
         * every strategy: two copies if it stages; three operations per tensor, with two collectives, in ddp_powersgd;
         * zeroing and copying a buffer for each reduction if it releases gradients; an update per bucket, and four
         * operations for the norm */
        spans[LANE_COMPUTE] = OF_STEP + model->source->operations(model) * micro_batches + 2 * collectives;
    }
}
