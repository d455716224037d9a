/* optimizer.h - AdamW on ranges of the arena, and the learning-rate schedule. */
#ifndef DDP_OPTIMIZER_H
#define DDP_OPTIMIZER_H

#include "ddp/model.h"

/* The learning rate rises linearly from 0 in step 0 to `peak` in step `warmup_steps` and stays there; it is 0 in steps
 * below 0. Gradients are clipped only in warm-up steps, the steps before `warmup_steps`. */
struct lr_schedule {
    float peak;
    long warmup_steps;
};
float schedule_learning_rate(const struct lr_schedule *schedule, long step);
int schedule_is_warmup(const struct lr_schedule *schedule, long step);

struct optimizer {
    struct adamw adamw;
    float *m, *v; /* [moments] first and second moments of the updated ranges, one after another, on the device */
    size_t moments;
    float *scalars; /* [SCALARS] on the device */
};

/* Allocates `moments` floats for each moment, all 0, on the model's device. Release with optimizer_destroy. */
void optimizer_create(struct optimizer *optimizer, const struct model *model, const struct adamw *adamw,
                      size_t moments);
void optimizer_destroy(struct optimizer *optimizer, const struct model *model); /* call it before model_destroy */

/* Sets the moments to zero. */
void optimizer_reset(struct optimizer *optimizer, const struct model *model);

/* Sets the scalars of the next step on the device: learning rate, clip factor 1, norm 0, and AdamW's step number t,
 * from 1. */
void optimizer_set_step(struct optimizer *optimizer, const struct model *model, float learning_rate, long t);

/* Makes one AdamW step on floats [offset, offset + count) of the weights, with gradient[count] and the moments from
 * float `at` on. */
void optimizer_update(const struct optimizer *optimizer, struct model *model, size_t offset, size_t count,
                      const float *gradient, size_t at);

#endif
