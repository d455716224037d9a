/* strategy.h - what a strategy does when gradients become final, after backward, before a layer, and when the optimizer
 * has updated weights; and its traits, which describe it to other modules.
 *
 * A strategy is a const table of hooks; a reducer (reducer.h) applies it to a model. To add a strategy, write one file
 * with its table, its name in the list of `extern` below, and a row in strategy.c. A strategy with arrays of its own
 * allocates them in `create`, and keeps them in reducer->state. Collectives only sum: the gradient of the loss is
 * already divided so that the sum is the mean. */
#ifndef DDP_STRATEGY_H
#define DDP_STRATEGY_H

#include "ddp/collective.h"
#include "ddp/plan.h"

/* Variants of a strategy: as it is named; --update-in-backward; --wire-dtype bf16; --shard gradients. */
enum variant { VARIANT_PLAIN, VARIANT_UPDATE, VARIANT_BF16, VARIANT_GRADIENTS, VARIANTS };

/* What other modules need to know about a strategy, without a reducer. */
struct traits {
    int reduces;  /* 0 only for the control `none`, which reduces neither gradients nor weights */
    int exact;    /* 1: trains with the sum of all gradients; 0: with other arithmetic, as a control, which is timed
                     but not compared */
    int overlaps; /* 1: starts reductions during backward */
    int buckets;  /* 1: obeys --bucket-size-mb */
    int staged;   /* 1: has stages within and across hosts; every host must have the same number of ranks. The strategy
                     then has an on_one_level */
    int shards;   /* 1: each rank updates a part of the weights, and gathers the other ranks' parts; `finish` leaves
                     this rank's own gradient in the model's gradient */
    int releases; /* 1: backward writes gradients bucket after bucket to memory that the next buckets reuse once a
                     bucket is reduced, so that every micro-batch is reduced */
    int averages; /* 1: every N-th step the ranks average their weights, in .range_updated; gradients are not reduced,
                     and weights differ between ranks until then */
    int updates_early;    /* 1: the optimizer may update an owned range as soon as its gradient is summed: range i is
                             bucket i, whose one collective is an all-reduce */
    enum comm_dtype wire; /* the type in which gradients are sent: fp32 or bfloat16 */
    int messages;         /* number of collectives of a bucket in a step of one micro-batch */
    struct message {
        enum comm_kind kind;
        enum comm_group group;
        int partial; /* 1: sends less than the bucket, or sends it in slices of another length */
    } message[4];    /* [messages], in the order in which they are started */
};

struct collective;
struct reducer;
enum pass { PASS_FORWARD, PASS_BACKWARD };

/* N of a strategy that is named NAME:N, from 1 to `most`: a letter for N, and what N is. letter NULL: there is none. */
struct strategy_number {
    const char *letter, *words;
    size_t most;
};

struct strategy {
    const char *name;
    const char *summary;                   /* one line for --help */
    const struct traits *traits[VARIANTS]; /* NULL: the strategy has no such variant */
    const struct strategy *on_one_level; /* replaces a staged strategy if all ranks are on one host, or each rank is on
                                            its own host; has the same variants */
    struct strategy_number number;
    /* Cuts the gradient into its buckets (plan.h); caps are those of --bucket-size-mb. */
    void (*plan)(struct plan *plan, const struct tensor *tensor, int tensors, const struct bucket_caps *caps);
    /* Called after backward: makes later device work wait for the reduced gradients, at owned[].gradient. */
    void (*finish)(struct reducer *reducer);

    /* ---- hooks that may be NULL ---- */
    /* Called at set-up, when the plan is made. Allocates reducer->state (reducer_keep, reducer_allocate), and may
     * change the buckets' counts and what this rank owns: reducer->owned has room for a range per bucket. It must not
     * read or write memory of the comm, which is not there when only the bytes are counted (reducer_memory). */
    void (*create)(struct reducer *reducer);
    /* Resets what the strategy keeps to its state before the first step. */
    void (*restart)(struct reducer *reducer);
    /* Returns where backward writes the gradient of the matrix that begins with `tensor` in the arena; NULL: in
     * model->gradient, as without this hook. */
    float *(*place)(struct reducer *reducer, int tensor);
    /* Called when the gradient of a tensor is final (tensors - 1 first, 0 last); if the strategy releases gradients, in
     * every micro-batch. */
    void (*gradient_ready)(struct reducer *reducer, int tensor);
    /* Returns the ticket of the last collective that must be complete before forward reads the weights of the tensors
     * up to number `tensor`, or before backward places the gradient of the matrix that begins with it; 0: none must be.
     */
    long (*needed)(const struct reducer *reducer, int tensor, enum pass pass);
    /* Completes collective i of a bucket, which comes with the traits' values and, in place, the bucket's gradient as
     * its buffer: sets the buffer, `in` and whatever else differs. */
    void (*place_collective)(const struct reducer *reducer, int bucket, int i, struct collective *collective);
    /* Called after the optimizer has updated an owned range. May start collectives that continue in the next step. */
    void (*range_updated)(struct reducer *reducer, int range);
};

extern const struct strategy strategy_none, strategy_ddp, strategy_ddp_flat, strategy_ddp_individual,
    strategy_ddp_individual_v2, strategy_ddp_bucketed, strategy_ddp_hierarchical, strategy_ddp_sharded,
    strategy_ddp_powersgd, strategy_ddp_local;

/* All strategies, ended by NULL. */
extern const struct strategy *const strategies[];

/* Returns the strategy of that name, or NULL. */
const struct strategy *strategy_find(const char *name);

/* Returns 1 if a strategy trains with the sum of all gradients, and so may be the best one. 0: it is a control. */
int strategy_is_compared(const struct strategy *strategy);

/* Returns 1 if a strategy reduces, but with other arithmetic than the sum of all gradients. */
static inline int traits_approximate(const struct traits *traits)
{
    return traits->reduces && !traits->exact;
}

/* Returns the strategy that is used for this one in a job of `ranks` ranks, `local_size` of them on each host:
 * on_one_level, or itself. */
const struct strategy *strategy_used(const struct strategy *strategy, int ranks, int local_size);

/* Returns the number of ranks among which the sums of each bucket are divided, in a job of `ranks` ranks, `local_size`
 * of them on each host; 0: they are not divided. If any strategy has parts, plan the model for one shard per rank. */
int strategy_parts(const struct traits *traits, int ranks, int local_size);

/* Returns the most collectives per bucket and step. micro_batches: their number in a step. */
size_t strategy_collectives(const struct traits *traits, size_t micro_batches);

#endif
