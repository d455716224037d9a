/* strategy.h - the actions of a strategy when gradients become final, after backward, when the optimizer has updated
 * weights, and before a layer's forward.
 *
 * A strategy is a const table; a reducer applies a strategy to a model. To add a strategy, write one file, declare its
 * name below and add a row in strategy.c. Collectives only sum: the mean is folded into the gradient of the loss. */
#ifndef DDP_STRATEGY_H
#define DDP_STRATEGY_H

#include "ddp/comm.h"
#include "ddp/plan.h"

/* A range of the arena, floats [offset, offset + count), that this rank's optimizer updates. */
struct owned_range {
    size_t offset, count;
    size_t at;       /* the number of floats in the ranges before: the place of the range in moments and shard */
    float *gradient; /* [count] the sum of the ranks' gradients, after `finish` */
};

/* A bucket on the wire, in numbers of `sent` and `received`: a slice for each rank, from `at` on. */
struct exchanged_bucket {
    size_t at, slice;
    long ticket; /* of its last collective */
};

/* Buckets take turns in so many buffers: backward writes to one while others are reduced. The matrices that backward
 * places at a time may lie in as many buckets. */
enum { RING_BUFFERS = BACKWARD_PLACES };

/* Where a tensor's numbers end in the messages of ddp_powersgd, in floats; they begin where those of the next tensor
 * end, as in the arena. */
struct low_rank_tensor {
    size_t p, q;
    long ticket; /* of the last tensor of a bucket: that of the bucket's last collective */
};

struct reducer {
    const struct strategy *strategy;
    const struct model *model;
    struct comm *comm;
    struct plan plan;
    size_t number; /* N of NAME:N, for a strategy with a number */
    size_t step;   /* the number of this step since reducer_restart, from 1 */

    struct owned_range
        *owned; /* [ranges] in the order in which the optimizer updates them; by default the whole arena */
    int ranges;
    int updated; /* number of ranges that the optimizer has updated in this step */

    int after_backward; /* 1: the calls of gradient_ready are made after backward, in the same order of tensors; or, if
                           the strategy releases gradients, each collective is waited for at once */
    int started;        /* number of buckets whose reduction has started in this micro-batch */
    long ticket;        /* ticket of the last collective */

    size_t bytes; /* memory from the comm, of all members below */
    void *staged; /* [arena] of the strategy's type on the wire, if the strategy stages */

    /* ---- of strategies that exchange (exchange.h) ---- */
    struct exchanged_bucket *exchanged; /* [plan.n] */
    uint16_t *sent, *received;          /* memory from the comm: this rank's numbers; those from all ranks */

    /* ---- of strategies that keep numbers ---- */
    float *kept;                      /* memory from the comm */
    struct low_rank_tensor *low_rank; /* [tensors + 1] of ddp_powersgd */

    /* [arena / parts] memory from the comm for the sums of this rank's part of each bucket (strategy_parts); if the
     * strategy shards, of the owned ranges, in their order */
    float *shard;

    /* ---- of strategies that release gradients ---- */
    float *ring;              /* [ring_buffers, ring_floats] memory from the comm: buffers for buckets of gradients */
    size_t ring_floats;       /* floats of the largest bucket */
    int ring_buffers;         /* RING_BUFFERS, or the number of buckets if that is less */
    int turn;                 /* number of buckets in the earlier micro-batches of this step */
    long taken[RING_BUFFERS]; /* tickets of the collectives that read the buffers; 0: none in this step */

    /* ---- of strategies that shard ---- */
    float *norm;       /* [ranks] memory from the comm for the norms of the ranks' shards */
    int gathering;     /* buckets [0, gathering) may still be gathered into the weights */
    long first_gather; /* ticket of the first all-gather, that of the last bucket */
};

struct strategy {
    const char *name;
    const char *summary;  /* one line for --help */
    int reduces;          /* 1 if the strategy reduces gradients, or weights; 0 only for the control, `none` */
    int overlaps;         /* 1 if the strategy starts reductions during backward */
    int stages;           /* 1 if the strategy needs the buffer `staged` of the reducer */
    int exchanges;        /* 1 if the strategy exchanges slices of buckets (exchange.h) */
    int shards;           /* 1 if each rank updates a part of the weights, and gathers the other ranks' parts; the model
                             must have been planned for that many shards; `finish` leaves this rank's own gradient in
                             the model's gradient */
    int releases;         /* 1 if backward writes each bucket to a buffer of the ring, which another bucket takes once
                             this one is reduced; so the gradients of every micro-batch are reduced */
    int approximates;     /* 1: trains with other arithmetic than the sum of all gradients: a control, which is timed,
                             but not compared with the others */
    int averages;         /* 1: every `number` steps the ranks average their weights, in .range_updated; gradients are
                             not reduced, and weights differ between ranks until then */
    int buckets;          /* 1 if the strategy obeys --bucket-size-mb */
    int updates_early;    /* 1 if the optimizer may update an owned range as soon as its gradient is summed: range i is
                             bucket i, whose one collective is an all-reduce */
    enum comm_dtype wire; /* the type in which gradients are sent: fp32 or bfloat16 */
    int collectives;      /* the most collectives per bucket and step (strategy_collectives: with micro-batches) */
    /* Cuts the gradient into its buckets (plan.h); caps are those of --bucket-size-mb. */
    void (*plan)(struct plan *plan, const struct tensor *tensor, int tensors, const struct bucket_caps *caps);
    /* Called after backward: makes later device work wait for the reduced gradients, at owned[].gradient. */
    void (*finish)(struct reducer *reducer);

    /* ---- members that may be NULL ---- */
    /* The strategy is named NAME:N; what N is: a letter and words. N is from 1 to most_number. */
    const char *number_letter, *number_words;
    size_t most_number;
    /* Returns how many floats the strategy keeps in reducer->kept. */
    size_t (*keeps)(const struct model *model, size_t number);
    /* Sets what the strategy keeps to its state before the first step. */
    void (*restart)(struct reducer *reducer);
    /* Called when the gradient of a tensor is final (tensors - 1 first, 0 last); if the strategy releases gradients,
     * in every micro-batch. */
    void (*gradient_ready)(struct reducer *reducer, int tensor);
    /* The same strategy with gradients in bfloat16 on the wire (--wire-dtype bf16). NULL: it always sends fp32. */
    const struct strategy *bf16;
    /* The same strategy with gradients sharded as well (--shard gradients). NULL: there is none. */
    const struct strategy *gradients;
    /* The same strategy, but it updates early (--update-in-backward). NULL: it cannot. */
    const struct strategy *update;
    /* Returns collective i, from 0, of a bucket. NULL: each is an all-reduce in place, in the arena or in `staged`. */
    struct collective (*collective)(const struct reducer *reducer, int bucket, int i);
    /* Called at set-up, when the plan is made. May change the buckets' counts; fills reducer->owned, which has room for
     * a range per bucket, and sets reducer->ranges, unless this rank updates the whole arena. */
    void (*own)(struct reducer *reducer);
    /* Of a strategy with stages within and across hosts: the strategy that takes its place in a reducer if all ranks
     * are on one host, or each on its own. Every host must have the same number of ranks, and the model must have been
     * planned for as many shards as there are ranks. */
    const struct strategy *on_one_level;
    /* Called after the optimizer has updated an owned range. May start collectives that continue in the next step. */
    void (*range_updated)(struct reducer *reducer, int range);
};

extern const struct strategy strategy_none, strategy_ddp, strategy_ddp_flat, strategy_ddp_individual,
    strategy_ddp_individual_v2, strategy_ddp_bucketed, strategy_ddp_hierarchical, strategy_ddp_sharded,
    strategy_ddp_bucketed_update, strategy_ddp_sharded_gradients, strategy_ddp_powersgd, strategy_ddp_local,
    strategy_ddp_individual_v2_bf16, strategy_ddp_bucketed_bf16, strategy_ddp_sharded_bf16, strategy_ddp_flat_bf16;

/* All strategies, ended by NULL. */
extern const struct strategy *const strategies[];

/* Returns the strategy of that name, or NULL. */
const struct strategy *strategy_find(const char *name);

/* Returns 1 if a strategy may be the best: it reduces the sum of all gradients. 0: it is a control. */
int strategy_is_compared(const struct strategy *strategy);

/* Returns the strategy, or the same strategy with gradients of that type on the wire, if it has one. */
const struct strategy *strategy_with(const struct strategy *strategy, enum comm_dtype wire);

/* Returns the strategy that takes the place of this one, if there are so many ranks in all and on each host:
 * on_one_level, or itself. */
const struct strategy *strategy_used(const struct strategy *strategy, int ranks, int local_size);

/* Returns the number of ranks that divide the sums of each bucket among them, in the reducer's shards, if there are so
 * many ranks in all and on each host; 0: none do. Buckets are then cut into as many equal parts as there are ranks. */
int strategy_parts(const struct strategy *strategy, int ranks, int local_size);

/* Returns the most collectives per bucket and step, with so many micro-batches in a step. */
size_t strategy_collectives(const struct strategy *strategy, size_t micro_batches);

/* Creates a reducer. caps are those of strategies with buckets; for the others it may be NULL. `number` is used by
 * strategies with a number. The comm must outlive the reducer and have capacity for strategy->collectives collectives
 * per bucket. */
void reducer_create(struct reducer *reducer, const struct strategy *strategy, const struct model *model,
                    struct comm *comm, const struct bucket_caps *caps, size_t number);
void reducer_destroy(struct reducer *reducer); /* a zeroed reducer is fine */

/* Returns zeroed memory from the reducer's comm, of so many floats, and adds it to reducer->bytes. For set-up;
 * reducer_destroy releases it if it is kept in a member of the reducer. */
void *reducer_allocate(struct reducer *reducer, size_t floats);

/* Forgets all earlier steps. Call it when training starts again, with the weights from which it starts. */
void reducer_restart(struct reducer *reducer);

/* Returns 1 if ranks average their weights at the end of this step. */
int reducer_averages(const struct reducer *reducer);

/* Returns how many times a step runs each collective, on average: 1, or 1 / interval. */
double reducer_share(const struct reducer *reducer);

/* Begins a micro-batch, numbered from 0 in each step; call it before backward. */
void reducer_begin(struct reducer *reducer, size_t micro_batch);

/* Returns how often a step reduces each bucket: once, or in each micro-batch if the strategy releases gradients. */
int reducer_reductions(const struct reducer *reducer);

/* Call reducer_gradient_ready when a tensor's gradient is final, reducer_finish after backward, and
 * reducer_range_updated after the optimizer has updated the next owned range, owned[updated]. */
void reducer_gradient_ready(struct reducer *reducer, int tensor);
void reducer_finish(struct reducer *reducer);
void reducer_range_updated(struct reducer *reducer);

/* Of a strategy that updates early: reducer_range_summed returns 1 if the gradient of the next owned range is summed;
 * reducer_join_range makes later device work wait for it. */
int reducer_range_summed(const struct reducer *reducer);
void reducer_join_range(struct reducer *reducer);

/* Writes the norm of the whole reduced gradient, after reducer_finish, to scalars[SCALAR_GRAD_NORM], and if max_norm is
 * above 0 the clip factor, as device->grad_norm does. With shards, the ranks gather the norms of their shards. */
void reducer_grad_norm(struct reducer *reducer, float *scalars, float max_norm);

/* Forward needs the weights of the tensors up to number `tensor` (struct forward_hook), and so some buckets.
 * reducer_gathers returns 1 if the all-gather of one of them has not been joined; reducer_join_gathers makes later
 * device work wait for all of them. */
int reducer_gathers(const struct reducer *reducer, int tensor);
void reducer_join_gathers(struct reducer *reducer, int tensor);

/* Completes the collectives that the last step left for the next forward pass. Call it after the last of several steps,
 * before anything else uses the weights or MPI. */
void reducer_settle(struct reducer *reducer);

/* Return the bucket in which a tensor lies; where backward writes the gradients of a bucket; and, of a strategy that
 * shards, the range that this rank owns in a bucket:
 * ranges are in the order in which forward needs their buckets, the reverse of backward's. */
int reducer_bucket_of(const struct reducer *reducer, int tensor);
float *reducer_gradient(const struct reducer *reducer, int bucket);
const struct owned_range *reducer_range_of(const struct reducer *reducer, int bucket);

/* Returns how many floats of each moment the optimizer needs on this rank: the length of all owned ranges. */
size_t reducer_owned(const struct reducer *reducer);

/* reducer_start starts collective i of a bucket; reducer_run runs it to completion. */
void reducer_start(struct reducer *reducer, int bucket, int i);
void reducer_run(struct reducer *reducer, int bucket, int i);

/* Returns the index of the next bucket to start if this tensor completes it, else -1. For strategies that overlap. */
int reducer_completed_bucket(const struct reducer *reducer, int tensor);

/* For .gradient_ready: starts collective 0 of the bucket that this tensor completes, if any. For .finish: makes later
 * device work wait for the last collective. */
void reducer_start_completed(struct reducer *reducer, int tensor);
void reducer_join(struct reducer *reducer);

/* Adds to each bucket the gap behind it in the arena, so that it can be cut into equal parts. */
void reducer_close_gaps(struct reducer *reducer);

/* Returns collective i of a bucket, as described by the strategy. */
struct collective reducer_collective(const struct reducer *reducer, int bucket, int i);

#endif
