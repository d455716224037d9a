/* strategy.h - what to do when a gradient is final, and before the optimizer.
 *
 * A strategy is a const table; a reducer is one strategy at work on one model. Adding a strategy is one file, its
 * name below and one row in strategy.c. All of them only sum: the mean is folded into the gradient of the loss. */
#ifndef DDP_STRATEGY_H
#define DDP_STRATEGY_H

#include "ddp/comm.h"
#include "ddp/plan.h"

struct reducer {
    const struct strategy *strategy;
    const struct device *device;
    float *gradient; /* the model's arena; the model owns it */
    struct comm *comm;
    struct plan plan;

    int after_backward; /* 1: gradient_ready's work is deferred until backward is over, in the same order */
    int started;        /* buckets of this step whose reduction has been started */
    long ticket;        /* of the last one */

    enum comm_dtype staged_dtype; /* ddp_individual_v2's buffer: as large as the arena, in this type */
    size_t staged_bytes;
    void *staged;
};

struct strategy {
    const char *name;
    const char *summary; /* one line for --help */
    int reduces;         /* 0 for the control that leaves the ranks' gradients apart */
    int overlaps;        /* 1 if it starts reductions while backward goes on */
    int stages;          /* 1 if it needs the staged buffer */
    int buckets;         /* 1 if --bucket-size-mb counts */
    /* Cuts the gradient into its buckets (plan.h); max_bytes is --bucket-size-mb in bytes. */
    void (*plan)(struct plan *plan, const struct tensor *tensor, int tensors, size_t max_bytes);
    /* The gradient of a tensor is final (tensors - 1 first, 0 last). */
    void (*gradient_ready)(struct reducer *reducer, int tensor);
    /* Backward is over: afterwards device work finds the reduced gradients in the arena. */
    void (*finish)(struct reducer *reducer);
};

extern const struct strategy strategy_none, strategy_ddp, strategy_ddp_flat, strategy_ddp_individual,
    strategy_ddp_individual_v2, strategy_ddp_bucketed;

/* All strategies, ended by NULL. */
extern const struct strategy *const strategies[];

/* The strategy of that name, or NULL. */
const struct strategy *strategy_find(const char *name);

/* Puts a strategy to work. bucket_bytes counts only for one with buckets, staged_dtype only for one that stages.
 * The comm must outlive the reducer and have room for a step's collectives (plan.n). */
void reducer_create(struct reducer *reducer, const struct strategy *strategy, const struct model *model,
                    struct comm *comm, size_t bucket_bytes, enum comm_dtype staged_dtype);
void reducer_destroy(struct reducer *reducer); /* a zeroed reducer is fine */

/* Before backward: nothing is started yet. */
void reducer_begin(struct reducer *reducer);

/* Events of a step: the gradient of a tensor is final; backward is over. */
void reducer_gradient_ready(struct reducer *reducer, int tensor);
void reducer_finish(struct reducer *reducer);

/* Starts the all-reduce of bucket i; or runs it to its end. In place in the arena, or in the staged buffer. */
void reducer_start(struct reducer *reducer, int i);
void reducer_run(struct reducer *reducer, int i);

/* The next bucket if this tensor completes it, else -1: what the strategies that overlap ask at each gradient. */
int reducer_completed_bucket(const struct reducer *reducer, int tensor);

/* The collective of bucket i as this strategy sends it. */
struct collective reducer_collective(const struct reducer *reducer, int i);

#endif
