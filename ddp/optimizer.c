/* optimizer.c - AdamW's state, and the learning-rate schedule. */
#include "ddp/optimizer.h"

float schedule_learning_rate(const struct lr_schedule *schedule, long step)
{
    if (step >= schedule->warmup_steps)
        return schedule->peak;
    if (step < 0)
        return 0;
    return schedule->peak * (float)step / (float)schedule->warmup_steps;
}

int schedule_is_warmup(const struct lr_schedule *schedule, long step)
{
    return step < schedule->warmup_steps;
}

void optimizer_create(struct optimizer *optimizer, const struct model *model, const struct adamw *adamw, size_t moments)
{
    optimizer->adamw = *adamw;
    optimizer->moments = moments;
    optimizer->m = model->device->allocate(moments * sizeof(float));
    optimizer->v = model->device->allocate(moments * sizeof(float));
    optimizer->scalars = model->device->allocate(SCALARS * sizeof(float));
}

void optimizer_destroy(struct optimizer *optimizer, const struct model *model)
{
    model->device->release(optimizer->m);
    model->device->release(optimizer->v);
    model->device->release(optimizer->scalars);
}

void optimizer_reset(struct optimizer *optimizer, const struct model *model)
{
    model->device->zero(optimizer->m, optimizer->moments);
    model->device->zero(optimizer->v, optimizer->moments);
}

void optimizer_set_step(struct optimizer *optimizer, const struct model *model, float learning_rate, long t)
{
    float scalars[SCALARS] = {
        [SCALAR_LEARNING_RATE] = learning_rate, [SCALAR_STEP] = (float)t, [SCALAR_CLIP] = 1, [SCALAR_GRAD_NORM] = 0};
    model->device->upload(optimizer->scalars, scalars, sizeof scalars);
}

void optimizer_update(const struct optimizer *o, struct model *model, size_t offset, size_t count,
                      const float *gradient, size_t at)
{
    void *narrow = model->narrow_weight ? (char *)model->narrow_weight + offset * model->compute_bytes : NULL;
    model->device->adamw(model->weight + offset, narrow, o->m + at, o->v + at, gradient, count, o->scalars, &o->adamw);
    if (model->source->updated)
        model->source->updated(model, count);
}
