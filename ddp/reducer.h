/* reducer.h - applies a strategy to a model: cuts its buckets, starts and joins their collectives, and holds what the
 * strategy keeps. */
#ifndef DDP_REDUCER_H
#define DDP_REDUCER_H

#include "ddp/comm.h"
#include "ddp/model.h"
#include "ddp/strategy.h"

/* A range of the arena, floats [offset, offset + count), that this rank's optimizer updates. */
struct owned_range {
    size_t offset, count;
    size_t at;       /* number of floats in the ranges before this one: where its moments begin */
    float *gradient; /* [count] the sum of the ranks' gradients, after `finish` */
};

struct reducer {
    const struct strategy *strategy;
    const struct traits *traits;
    const struct model *model;
    struct comm *comm;
    struct plan plan;
    size_t number; /* N of NAME:N, for a strategy with a number */
    void *state;   /* what the strategy keeps */

    struct owned_range
        *owned; /* [ranges] in the order in which the optimizer updates them; by default the whole arena */
    int ranges;
    int updated; /* number of ranges that the optimizer has updated in this step */

    size_t step;        /* the number of this step since reducer_restart, from 1 */
    size_t micro_batch; /* the number of this micro-batch in the step, from 0 */
    int after_backward; /* 1: gradient_ready is called after backward, for the tensors in the same order; or, if the
                           strategy releases gradients, during backward, but waits for its collective at once */
    int started;        /* number of buckets whose reduction has started in this micro-batch */
    long ticket;        /* ticket of the last collective */
    long joined;        /* the highest ticket that reducer_join_ticket has joined */

    float *norm;     /* [ranks] the norms of the ranks' shards, if the strategy shards */
    float *released; /* [released_floats] where backward writes, if the strategy releases gradients */
    size_t released_floats;
    size_t bytes; /* bytes of memory from the comm */
    struct {
        void *memory;
        int of_comm;
    } kept[8]; /* released by reducer_destroy */
    int n_kept;
};

/* Creates a reducer of a variant that the strategy has. Only strategies with buckets use caps, which may be NULL for
 * others. Only strategies with a number use `number`. The comm must outlive the reducer and have capacity for
 * strategy_collectives per bucket. */
void reducer_create(struct reducer *reducer, const struct strategy *strategy, enum variant variant,
                    const struct model *model, struct comm *comm, const struct bucket_caps *caps, size_t number);
void reducer_destroy(struct reducer *reducer); /* a zeroed reducer is fine */

/* Returns the bytes that such a reducer of a planned model takes from its comm in a job of `ranks` ranks, `local_size`
 * of them on each host. Sets *gradients to the number of these bytes in which backward writes. Allocates nothing that
 * remains. */
size_t reducer_memory(const struct strategy *strategy, enum variant variant, const struct model *model, int ranks,
                      int local_size, const struct bucket_caps *caps, size_t number, size_t *gradients);

/* For `create`: reducer_allocate returns zeroed memory of the comm for that many floats, reducer_keep zeroed host
 * memory for n objects of `size` bytes. reducer_destroy releases both. */
void *reducer_allocate(struct reducer *reducer, size_t floats);
void *reducer_keep(struct reducer *reducer, size_t n, size_t size);

/* Forgets all earlier steps. Call it when training starts again, with the weights from which it starts. */
void reducer_restart(struct reducer *reducer);

/* Returns 1 if ranks average their weights at the end of this step. */
int reducer_averages(const struct reducer *reducer);

/* Returns how many times a step runs each collective, on average: 1, or 1 / interval. */
double reducer_share(const struct reducer *reducer);

/* Begins a micro-batch, numbered from 0 in each step; call it before backward. */
void reducer_begin(struct reducer *reducer, size_t micro_batch);

/* Returns how often this step has reduced each bucket, with the present micro-batch: once, or in each micro-batch if
 * the strategy releases gradients. */
int reducer_reductions(const struct reducer *reducer);

/* Call reducer_place before backward writes a matrix, reducer_gradient_ready when a tensor's gradient is final,
 * reducer_finish after backward, and reducer_range_updated after the optimizer has updated the next owned range,
 * owned[updated]. */
float *reducer_place(struct reducer *reducer, int tensor);
void reducer_gradient_ready(struct reducer *reducer, int tensor);
void reducer_finish(struct reducer *reducer);
void reducer_range_updated(struct reducer *reducer);

/* reducer_needed returns the ticket that must be joined before a layer (strategy.needed); 0: none must be, or it has
 * been. reducer_join_ticket makes later device work wait for every collective up to a ticket. */
long reducer_needed(const struct reducer *reducer, int tensor, enum pass pass);
void reducer_join_ticket(struct reducer *reducer, long ticket);

/* Returns 1 if collectives that the last step left for the next forward pass have not been joined; reducer_settle joins
 * them. Call it after the last of several steps, before anything else uses the weights or MPI. */
int reducer_is_in_flight(const struct reducer *reducer);
void reducer_settle(struct reducer *reducer);

/* For a strategy that updates early: reducer_range_summed returns 1 if the gradient of the next owned range is summed;
 * reducer_join_range makes later device work wait for it. */
int reducer_range_summed(const struct reducer *reducer);
void reducer_join_range(struct reducer *reducer);

/* Writes the norm of the whole reduced gradient, after reducer_finish, to scalars[SCALAR_GRAD_NORM], and the
 * clip factor, as device->grad_norm does. With shards, the ranks gather the norms of their shards. */
void reducer_grad_norm(struct reducer *reducer, float *scalars, float max_norm);

/* Return the bucket in which a tensor lies; where a bucket's gradient begins in model->gradient; and, if the strategy
 * shards, the range that this rank owns in a bucket. Ranges are in the order in which forward needs their buckets,
 * which is the reverse of backward's order. */
int reducer_bucket_of(const struct reducer *reducer, int tensor);
float *reducer_gradient(const struct reducer *reducer, int bucket);
const struct owned_range *reducer_range_of(const struct reducer *reducer, int bucket);

/* Returns where backward writes gradients, and sets *floats to the length: the arena or, if the strategy releases
 * gradients, the buffers that it has instead. */
float *reducer_gradients(const struct reducer *reducer, size_t *floats);

/* Returns how many floats of each moment the optimizer needs on this rank: the length of all owned ranges. */
size_t reducer_owned(const struct reducer *reducer);

/* Returns collective i of a bucket, as the traits describe it and with the buffers that the strategy chooses. */
struct collective reducer_collective(const struct reducer *reducer, int bucket, int i);

/* ---- for strategies ---- */

/* reducer_start starts collective i of a bucket; reducer_run runs it to completion. */
void reducer_start(struct reducer *reducer, int bucket, int i);
void reducer_run(struct reducer *reducer, int bucket, int i);

/* Returns the index of the next bucket to start if this tensor completes it, else -1. For strategies that overlap. */
int reducer_completed_bucket(const struct reducer *reducer, int tensor);

/* For .gradient_ready: starts collective 0 of the bucket that this tensor completes, if any. For .finish: makes later
 * device work wait for the last collective. */
void reducer_start_completed(struct reducer *reducer, int tensor);
void reducer_join(struct reducer *reducer);

/* For .finish: runs collective 0 of each bucket, in the order of registration, the reverse of backward's. */
void reducer_run_in_turn(struct reducer *reducer);

/* Adds to each bucket the gap behind it in the arena, so that it can be cut into equal parts. */
void reducer_close_gaps(struct reducer *reducer);

#endif
