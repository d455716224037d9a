/* step.h - one training step, and the state that it works on. */
#ifndef DDP_STEP_H
#define DDP_STEP_H

#include "ddp/checkpoint.h"
#include "ddp/data.h"
#include "ddp/model.h"
#include "ddp/optimizer.h"
#include "ddp/strategy.h"
#include "kernels/timeline.h"

/* The phases of a step, in order; each is a span of the host lane under its name. Data loading, forward and backward
 * occur once per micro-batch. gradient_sync is what remains visible after backward (the wait). gradient_clipping_warmup
 * occurs in warm-up steps alone, checkpoint in steps that save one; of that, all ranks but the first wait. */
enum step_phase {
    PHASE_ZERO_GRAD,
    PHASE_DATA_LOADING,
    PHASE_FORWARD,
    PHASE_BACKWARD,
    PHASE_GRADIENT_SYNC,
    PHASE_CLIPPING,
    PHASE_OPTIMIZER,
    PHASE_LR_SCHEDULING,
    PHASE_CHECKPOINT,
    PHASES
};
extern const char *const phase_name[PHASES + 1]; /* then NULL */

/* The name of the mark that is set on the host lane when a tensor's gradient is final; its index is the tensor. */
extern const char *const ready_name;

/* What a step leaves per slot of trainer.record, on the device. */
enum step_record { RECORD_LOSS, RECORD_GRAD_NORM, RECORDS };

/* Everything that a step works on. The trainer owns only what trainer_create allocates. */
struct trainer {
    const struct device *device;
    struct model *model;
    struct data *data;
    struct reducer *reducer;
    struct optimizer optimizer;
    struct lr_schedule schedule;
    struct timeline *timeline;
    int ranks;
    size_t micro_batches;     /* gradient accumulation: reduced in the last one only */
    float max_norm;           /* of the gradient in warm-up steps */
    int forward_only;         /* a step ends after the forward pass */
    int log_grad_norm;        /* compute the norm in the other steps as well */
    int watch_core;           /* phases keep how long the training thread waited for a core */
    int64_t delay_ns[PHASES]; /* this rank sleeps for so long whenever that phase begins */
    struct checkpoint checkpoint;

    long step;               /* where the schedule and the data stand */
    long update;             /* AdamW's step number, from 1 */
    int32_t *input, *target; /* [B, T] on the device */
    float *record;           /* [slots, RECORDS] on the device */
    size_t slots;            /* of it */
    float *start;            /* [arena] the weights that every block begins with, on the device */
    enum step_phase phase;   /* that is going on, since then; PHASES between steps */
    int64_t phase_start_ns, phase_start_stamp, phase_start_wait;
};

/* Allocates the trainer's own arrays: optimizer state, one micro-batch, `slots` records, and a copy of the weights,
 * which must have been initialised. The fields above `step` are set by the caller beforehand. */
void trainer_create(struct trainer *trainer, const struct adamw *adamw, size_t slots);
void trainer_destroy(struct trainer *trainer); /* a zeroed trainer is fine */

/* Back to the starting weights and zero moments, with schedule and data at `step` (the data at 0 if that is below), for
 * a first update of AdamW. */
void trainer_reset(struct trainer *trainer, long step);

/* Goes on at that step of schedule and data, with that update of AdamW, from the weights and moments that there are;
 * waits for the device. */
void trainer_set_step(struct trainer *trainer, long step, long update);

/* What a checkpoint of the trainer holds. */
struct training_state trainer_state(const struct trainer *trainer);

/* Goes on with another device of the same memory (traced, or not) and another reducer. */
void trainer_use(struct trainer *trainer, const struct device *device, struct reducer *reducer);

/* Trains one step with the trainer's reducer, recording its spans (step = slot) and its loss and gradient norm. Does
 * not wait for the device. */
void step_run(struct trainer *trainer, int slot);

/* The phase that a span of the host lane is, or -1 for marks and ranges. */
int step_phase_of(const struct span *span);

/* Fills the most spans that one step adds to each lane, for timeline_create. collectives: of a step, at most; traced:
 * with the operations of a traced device. */
void step_spans(const struct model *model, size_t micro_batches, size_t collectives, int traced,
                size_t spans[TIMELINE_LANES]);

#endif
