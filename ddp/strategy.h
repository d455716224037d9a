/* strategy.h - the actions of a strategy when gradients become final, before and after the optimizer, and before a
 * layer's forward.
 *
 * A strategy is a const table; a reducer applies a strategy to a model. To add a strategy, write one file, declare its
 * name below and add a row in strategy.c. Collectives only sum: the mean is folded into the gradient of the loss. */
#ifndef DDP_STRATEGY_H
#define DDP_STRATEGY_H

#include "ddp/comm.h"
#include "ddp/plan.h"

/* Floats [offset, offset + count) of the arena. */
struct arena_range {
    size_t offset, count;
};

struct reducer {
    const struct strategy *strategy;
    const struct model *model;
    struct comm *comm;
    struct plan plan;

    struct arena_range *owned; /* [ranges] the ranges that this rank's optimizer updates; by default the whole arena */
    int ranges;

    int after_backward; /* 1: the calls of gradient_ready are made after backward, in the same order of tensors */
    int started;        /* number of buckets whose reduction has started in this step */
    long ticket;        /* ticket of the last collective */

    enum comm_dtype staged_dtype; /* the type of `staged` */
    size_t staged_bytes;
    void *staged; /* memory from the comm, as large as the arena, if the strategy stages */
};

struct strategy {
    const char *name;
    const char *summary; /* one line for --help */
    int reduces;         /* 1 if the strategy reduces gradients; 0 only for the control, `none` */
    int overlaps;        /* 1 if the strategy starts reductions during backward */
    int stages;          /* 1 if the strategy needs the buffer `staged` of the reducer */
    int buckets;         /* 1 if the strategy obeys --bucket-size-mb */
    int collectives;     /* the most collectives per bucket and step */
    /* Cuts the gradient into its buckets (plan.h); max_bytes is --bucket-size-mb in bytes. */
    void (*plan)(struct plan *plan, const struct tensor *tensor, int tensors, size_t max_bytes);
    /* Called when the gradient of a tensor is final (tensors - 1 first, 0 last). */
    void (*gradient_ready)(struct reducer *reducer, int tensor);
    /* Called after backward: makes later device work wait for the reduced gradients of the owned ranges in the arena.
     */
    void (*finish)(struct reducer *reducer);

    /* ---- members that may be NULL ---- */
    /* Returns collective i, from 0, of a bucket. NULL: each is an all-reduce in place, in the arena or in `staged`. */
    struct collective (*collective)(const struct reducer *reducer, int bucket, int i);
    /* Called at set-up: fills reducer->owned, which has room for 2 ranges per bucket, and sets reducer->ranges. */
    void (*own)(struct reducer *reducer);
    /* Called after the optimizer has updated the owned ranges. May start collectives that continue in the next step. */
    void (*after_optimizer)(struct reducer *reducer);
    /* Called in each step, part by part, before forward uses the weights of a part of the model (struct forward_hook):
     * makes later device work wait until these weights are in the arena. By the last part, it has joined all
     * collectives. */
    void (*before_forward)(struct reducer *reducer, int part);
};

extern const struct strategy strategy_none, strategy_ddp, strategy_ddp_flat, strategy_ddp_individual,
    strategy_ddp_individual_v2, strategy_ddp_bucketed;

/* All strategies, ended by NULL. */
extern const struct strategy *const strategies[];

/* Returns the strategy of that name, or NULL. */
const struct strategy *strategy_find(const char *name);

/* Creates a reducer. bucket_bytes is used by strategies with buckets, staged_dtype by those that stage. The comm must
 * outlive the reducer and have capacity for strategy->collectives collectives per bucket. */
void reducer_create(struct reducer *reducer, const struct strategy *strategy, const struct model *model,
                    struct comm *comm, size_t bucket_bytes, enum comm_dtype staged_dtype);
void reducer_destroy(struct reducer *reducer); /* a zeroed reducer is fine */

/* Begins a step; call it before backward. */
void reducer_begin(struct reducer *reducer);

/* Call reducer_gradient_ready when a tensor's gradient is final, reducer_finish after backward, and
 * reducer_after_optimizer after the optimizer. */
void reducer_gradient_ready(struct reducer *reducer, int tensor);
void reducer_finish(struct reducer *reducer);
void reducer_after_optimizer(struct reducer *reducer);

/* Completes the collectives that the last step left for the next forward pass. Call it after the last of several steps,
 * before anything else uses the weights or MPI. */
void reducer_settle(struct reducer *reducer);

/* reducer_start starts collective i of a bucket; reducer_run runs it to completion. */
void reducer_start(struct reducer *reducer, int bucket, int i);
void reducer_run(struct reducer *reducer, int bucket, int i);

/* Returns the index of the next bucket to start if this tensor completes it, else -1. For strategies that overlap. */
int reducer_completed_bucket(const struct reducer *reducer, int tensor);

/* Returns collective i of a bucket, as described by the strategy. */
struct collective reducer_collective(const struct reducer *reducer, int bucket, int i);

#endif
