/* strategy.h - what a strategy does as gradients become final, before and after the optimizer, and before a layer's
 * forward.
 *
 * A strategy is a const table; a reducer is one strategy at work on one model. To add a strategy, write one file,
 * declare its name below and add a row in strategy.c. Collectives only sum: the mean is folded into the gradient of the
 * loss. */
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

    struct arena_range *owned; /* [ranges] what this rank's optimizer updates: by default the whole arena */
    int ranges;

    int after_backward; /* 1: gradient_ready's work is deferred until backward is over, in the same order */
    int started;        /* buckets of this step whose reduction was started */
    long ticket;        /* of the last collective */

    enum comm_dtype staged_dtype; /* the type of `staged` */
    size_t staged_bytes;
    void *staged; /* memory of the comm with room for the arena, of a strategy that stages */
};

struct strategy {
    const char *name;
    const char *summary; /* one line for --help */
    int reduces;         /* 0 for the control that leaves the ranks' gradients apart */
    int overlaps;        /* 1 if it starts reductions while backward goes on */
    int stages;          /* 1 if it needs the staged buffer */
    int buckets;         /* 1 if it obeys --bucket-size-mb */
    int collectives;     /* of each bucket in a step, at most */
    /* Cuts the gradient into its buckets (plan.h); max_bytes is --bucket-size-mb in bytes. */
    void (*plan)(struct plan *plan, const struct tensor *tensor, int tensors, size_t max_bytes);
    /* The gradient of a tensor is final (tensors - 1 first, 0 last). */
    void (*gradient_ready)(struct reducer *reducer, int tensor);
    /* Backward is over: makes later device work find the reduced gradients of the owned ranges in the arena. */
    void (*finish)(struct reducer *reducer);

    /* Members that may be NULL. */
    /* Collective i, from 0, of a bucket; NULL: its all-reduce, in place in the arena or in the staged buffer. */
    struct collective (*collective)(const struct reducer *reducer, int bucket, int i);
    /* Fills reducer->owned, which has room for 2 ranges a bucket, and sets reducer->ranges; at set-up. */
    void (*own)(struct reducer *reducer);
    /* The optimizer has updated the owned ranges. May start collectives that go on into the next step. */
    void (*after_optimizer)(struct reducer *reducer);
    /* The forward pass is about to use the weights of a part of the model (struct forward_hook), in each step and parts
     * in order: makes later device work find them in the arena. Before the last part, joins all collectives. */
    void (*before_forward)(struct reducer *reducer, int part);
};

extern const struct strategy strategy_none, strategy_ddp, strategy_ddp_flat, strategy_ddp_individual,
    strategy_ddp_individual_v2, strategy_ddp_bucketed;

/* All strategies, ended by NULL. */
extern const struct strategy *const strategies[];

/* The strategy of that name, or NULL. */
const struct strategy *strategy_find(const char *name);

/* Puts a strategy to work. bucket_bytes is for a strategy with buckets, staged_dtype for one that stages. The comm must
 * outlive the reducer and have room for the collectives of a step: strategy->collectives of each bucket. */
void reducer_create(struct reducer *reducer, const struct strategy *strategy, const struct model *model,
                    struct comm *comm, size_t bucket_bytes, enum comm_dtype staged_dtype);
void reducer_destroy(struct reducer *reducer); /* a zeroed reducer is fine */

/* Before backward: nothing is started yet. */
void reducer_begin(struct reducer *reducer);

/* Events of a step: the gradient of a tensor is final; backward is over; the optimizer has updated the owned ranges. */
void reducer_gradient_ready(struct reducer *reducer, int tensor);
void reducer_finish(struct reducer *reducer);
void reducer_after_optimizer(struct reducer *reducer);

/* Completes what the last step left for the next forward pass. Call it after a run of steps, before anything else uses
 * the weights or MPI. */
void reducer_settle(struct reducer *reducer);

/* Starts collective i of a bucket; or runs it to its end. */
void reducer_start(struct reducer *reducer, int bucket, int i);
void reducer_run(struct reducer *reducer, int bucket, int i);

/* The next bucket if this tensor completes it, else -1. For strategies that overlap. */
int reducer_completed_bucket(const struct reducer *reducer, int tensor);

/* Collective i of a bucket as this strategy sends it. */
struct collective reducer_collective(const struct reducer *reducer, int bucket, int i);

#endif
