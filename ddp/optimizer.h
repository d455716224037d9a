/* optimizer.h - AdamW on ranges of the arena, and the learning rate over the steps. */
#ifndef DDP_OPTIMIZER_H
#define DDP_OPTIMIZER_H

#include "ddp/model.h"

/* The learning rate rises linearly from 0 in step 0 to `peak` in step `warmup_steps` and stays there. Steps before that
 * are the warm-up, the only ones whose gradients are clipped; below step 0 the ramp has not begun and the rate is 0. */
struct lr_schedule {
    float peak;
    long warmup_steps;
};
float schedule_learning_rate(const struct lr_schedule *schedule, long step);
int schedule_is_warmup(const struct lr_schedule *schedule, long step);

struct optimizer {
    struct adamw adamw;
    float *m, *v;   /* [arena] moments, on the device */
    float *scalars; /* [SCALARS] on the device */
};

/* Moments zero. Uses the model's device; release with optimizer_destroy. */
void optimizer_create(struct optimizer *optimizer, const struct model *model, const struct adamw *adamw);
void optimizer_destroy(struct optimizer *optimizer, const struct model *model); /* while the model is there */

/* Back to zero moments. */
void optimizer_reset(struct optimizer *optimizer, const struct model *model);

/* Sets what the next step needs in device memory: learning rate, clip factor 1, and t, AdamW's step number from 1. */
void optimizer_set_step(struct optimizer *optimizer, const struct model *model, float learning_rate, long t);

/* Makes one AdamW step of floats [offset, offset + count) of the arena: of weights and moments, by the gradient. */
void optimizer_update(const struct optimizer *optimizer, const struct model *model, size_t offset, size_t count);

#endif
