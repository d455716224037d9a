/* step.h - one training step, and the state that it works on. */
#ifndef DDP_STEP_H
#define DDP_STEP_H

#include "ddp/checkpoint.h"
#include "ddp/data.h"
#include "ddp/inference.h"
#include "ddp/model.h"
#include "ddp/optimizer.h"
#include "ddp/reducer.h"
#include "kernels/timeline.h"

/* The phases of a step, in order; each is a span of the host lane with this name. Data loading, forward and backward
 * occur once per micro-batch. If the strategy updates early, optimizer_step occurs within backward_pass and
 * gradient_sync, too. parameter_gather is the wait, within forward of the first micro-batch, for weights that other
 * ranks updated in the step before. gradient_sync is the wait for communication after backward. If the strategy
 * releases gradients, gradient_sync also includes waits for a free buffer during backward; if it averages weights,
 * gradient_sync also comes after the optimizer, and includes the outer optimizer. gradient_clipping_warmup occurs only
 * in warm-up steps. checkpoint occurs only in steps that save a checkpoint, which rank 0 writes while the others wait.
 * Steps of inference (inference.h) have only data_loading, forward_pass and save_results. */
enum step_phase {
    PHASE_ZERO_GRAD,
    PHASE_DATA_LOADING,
    PHASE_PARAMETER_GATHER,
    PHASE_FORWARD,
    PHASE_BACKWARD,
    PHASE_GRADIENT_SYNC,
    PHASE_CLIPPING,
    PHASE_OPTIMIZER,
    PHASE_LR_SCHEDULING,
    PHASE_CHECKPOINT,
    PHASE_SAVE_RESULTS,
    PHASES
};
extern const char *const phase_name[PHASES + 1]; /* names of the phases, then NULL */

/* Returns 1 if a phase only waits for communication. */
static inline int phase_is_wait(enum step_phase phase)
{
    return phase == PHASE_GRADIENT_SYNC || phase == PHASE_PARAMETER_GATHER;
}

/* Name of the host-lane mark that records when a tensor's gradient became final; the mark's index is the tensor. */
extern const char *const ready_name;

/* The values that a step stores in its slot of trainer.record, on the device. */
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
    size_t micro_batches;     /* micro-batches per step; gradients are reduced in the last one only, unless the
                                 strategy releases them */
    float max_norm;           /* the limit of the gradient's norm in warm-up steps */
    int forward_only;         /* 1: a step has no backward pass and no update, as in inference */
    int gradient_only;        /* 1: a step ends with the reduced gradient, and updates nothing */
    int watch_core;           /* 1: spans of phases record how long the training thread waited for a core */
    int64_t delay_ns[PHASES]; /* [p]: how long this rank sleeps when phase p begins (an injected delay) */
    struct checkpoint checkpoint;
    struct inference inference; /* with a directory: each step infers (inference.h) */

    long step;             /* position in the schedule and the data */
    long update;           /* AdamW's step number, from 1 */
    struct batch batch;    /* the micro-batch, on the device */
    float *record;         /* [slots, RECORDS] on the device */
    size_t slots;          /* number of slots in record */
    float *start;          /* [arena] the weights with which every block of steps starts, on the device */
    enum step_phase phase; /* the current phase; PHASES between steps */
    int64_t phase_start_ns, phase_start_stamp, phase_start_wait;
};

/* Allocates the trainer's own arrays: `moments` floats of each moment (the most reducer_owned of its reducers), one
 * micro-batch, `slots` records, and a copy of the weights, which must have been initialised. The fields above `step`
 * are set by the caller beforehand. */
void trainer_create(struct trainer *trainer, const struct adamw *adamw, size_t slots, size_t moments);
void trainer_destroy(struct trainer *trainer); /* a zeroed trainer is fine */

/* Restores the starting weights, zeroes the moments, restarts the reducer and AdamW's update number at 1, and sets
 * schedule and data to `step` (the data to 0 if step is negative). */
void trainer_reset(struct trainer *trainer, long step);

/* Sets the step of schedule and data, and AdamW's update number; keeps weights and moments. Waits for the device. */
void trainer_set_step(struct trainer *trainer, long step, long update);

/* Uploads the next micro-batch. Returns its arrays in the host's memory, which are valid until the next call. */
struct batch trainer_load_batch(struct trainer *trainer);

/* Returns the trainer's state for a checkpoint. */
struct training_state trainer_state(const struct trainer *trainer);

/* Switches to another device with the same memory (traced or not) and another reducer. */
void trainer_use(struct trainer *trainer, const struct device *device, struct reducer *reducer);

/* Trains one step with the trainer's reducer. Records the step's spans, with `slot` as their step, and its loss and
 * gradient norm in slot `slot` of trainer->record. Does not wait for the device. */
void step_run(struct trainer *trainer, int slot);

/* Ends the current phase and begins another one (PHASES: none), after its injected delay, if any. */
void step_enter_phase(struct trainer *trainer, enum step_phase phase);

/* Returns the phase of a span of the host lane; -1 for marks and ranges. */
int step_phase_of(const struct span *span);

/* Computes the most spans that one step adds to each lane, for timeline_create. collectives: the most per step; traced:
 * include the operations of a traced device; releases 1: the strategy may release gradients. */
void step_spans(const struct model *model, size_t micro_batches, size_t collectives, int traced, int releases,
                size_t spans[TIMELINE_LANES]);

#endif
