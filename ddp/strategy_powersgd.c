/* strategy_powersgd.c - low-rank gradients with error feedback: approximates each matrix of the gradient by two thin
 * factors, all-reduces the factors, and adds what they leave out to the next gradient.
 *
 * M = gradient + e; P = M Q; all-reduce P; orthonormalise P; Q = M' P; all-reduce Q; gradient = P Q'; e = M - P Q' /
 * ranks. Q is kept between steps, so each step continues the power iteration of the step before; Q starts with random
 * numbers, the same on all ranks. Since P and Q are sums, gradient approximates the sum of the ranks' M; a rank
 * subtracts an equal share of it from its M, as PyTorch's powerSGD_hook does with the mean. Vectors, and matrices that
 * are no larger than their factors, are summed as they are, in the same message as P.
 * Source: Vogels et al., PowerSGD, NeurIPS 2019, arXiv:1905.13727. */
#include "ddp/low_rank.h"

#include "kernels/error.h"
#include "kernels/random.h"

#include <stdlib.h>

enum { OF_P, OF_Q, COLLECTIVES };

static const struct traits plain = {
    .reduces = 1,
    .overlaps = 1,
    .buckets = 1,
    .messages = COLLECTIVES,
    .message = {[OF_P] = {.kind = COMM_ALL_REDUCE, .partial = 1}, [OF_Q] = {.kind = COMM_ALL_REDUCE, .partial = 1}}};

static int is_low_rank(const struct tensor *t, size_t rank)
{
    return rank * (t->rows + t->columns) < t->count;
}

/* Sets the places of all tensors in the messages, which follow the order of the arena. */
static void lay_out(struct place *end, const struct model *model, size_t rank)
{
    for (int i = model->tensors - 1; i >= 0; i--) {
        const struct tensor *t = &model->tensor[i];
        int low = is_low_rank(t, rank);
        end[i].p = end[i + 1].p + (low ? rank * t->rows : t->count);
        end[i].q = end[i + 1].q + (low ? rank * t->columns : 0);
    }
}

static void create(struct reducer *reducer)
{
    const struct model *model = reducer->model;
    struct low_rank *low =
        reducer_keep(reducer, 1, sizeof *low + ((size_t)model->tensors + 1) * sizeof *low->end); /* with its array */
    lay_out(low->end, model, reducer->number);
    low->error = reducer_allocate(reducer, model->arena);
    low->message = reducer_allocate(reducer, low->end[0].p + low->end[0].q);
    reducer->state = low;
}

/* Return the addresses of a tensor's P [R, rows] and Q [R, columns]. */
static float *p_of(const struct low_rank *low, int tensor)
{
    return low->message + low->end[tensor + 1].p;
}
static float *q_of(const struct low_rank *low, int tensor)
{
    return low->message + low->end[0].p + low->end[tensor + 1].q;
}

/* Zeroes the error memory, and sets Q to random numbers, uniform in [-1, 1). */
static void restart(struct reducer *reducer)
{
    const struct device *device = reducer->model->device;
    const struct low_rank *low = reducer->state;
    size_t n = low->end[0].q;
    float *q = allocate(n + 1, sizeof *q);
    for (size_t i = 0; i < n; i++)
        q[i] = (float)(random_bits((i + 1) * RANDOM_STEP) >> 40) * 0x1p-23f - 1;
    device->upload(q_of(low, reducer->model->tensors - 1), q, n * sizeof *q);
    free(q);
    device->zero(low->error, reducer->model->arena);
}

static void place_collective(const struct reducer *reducer, int bucket, int i, struct collective *c)
{
    const struct low_rank *low = reducer->state;
    const struct bucket *b = &reducer->plan.bucket[bucket];
    int first = b->last_tensor + b->tensors - 1; /* in the order of the arena */
    const struct place *begin = &low->end[first + 1], *end = &low->end[b->last_tensor];
    c->buffer = i == OF_P ? p_of(low, first) : q_of(low, first);
    c->count = i == OF_P ? end->p - begin->p : end->q - begin->q;
}

/* Starts a collective of a bucket, unless it is empty: a bucket of vectors has no Q. */
static void start(struct reducer *reducer, int bucket, int i)
{
    struct low_rank *low = reducer->state;
    if (!reducer_collective(reducer, bucket, i).count)
        return;
    reducer_start(reducer, bucket, i);
    low->end[reducer->plan.bucket[bucket].last_tensor].ticket = reducer->ticket;
}

/* Waits for the last collective of a bucket. */
static void join(struct reducer *reducer, int bucket)
{
    const struct low_rank *low = reducer->state;
    reducer->comm->join(reducer->comm, low->end[reducer->plan.bucket[bucket].last_tensor].ticket);
    reducer->model->device->stamp(); /* the next operation begins at this stamp in the trace, after the wait */
}

/* What is done with each tensor of a bucket: g and e are its gradient and error memory. */
static void send_p(const struct reducer *reducer, const struct tensor *t, float *g, float *e, float *p, float *q)
{
    const struct device *device = reducer->model->device;
    if (is_low_rank(t, reducer->number))
        device->low_rank_left(p, e, g, q, reducer->number, t->columns, t->rows);
    else
        device->copy(p, g, t->count);
}
static void send_q(const struct reducer *reducer, const struct tensor *t, float *g, float *e, float *p, float *q)
{
    (void)g;
    if (is_low_rank(t, reducer->number))
        reducer->model->device->low_rank_right(q, p, e, reducer->number, t->columns, t->rows);
}
static void take_sum(const struct reducer *reducer, const struct tensor *t, float *g, float *e, float *p, float *q)
{
    const struct device *device = reducer->model->device;
    float share = 1 / (float)reducer->comm->ranks;
    if (is_low_rank(t, reducer->number))
        device->low_rank_restore(g, e, p, q, reducer->number, t->columns, t->rows, share);
    else
        device->copy(g, p, t->count);
}

static void each_tensor(const struct reducer *reducer, int bucket,
                        void (*do_it)(const struct reducer *reducer, const struct tensor *t, float *g, float *e,
                                      float *p, float *q))
{
    const struct low_rank *low = reducer->state;
    const struct bucket *b = &reducer->plan.bucket[bucket];
    for (int i = b->last_tensor + b->tensors - 1; i >= b->last_tensor; i--) {
        const struct tensor *t = &reducer->model->tensor[i];
        do_it(reducer, t, reducer->model->gradient + t->offset, low->error + t->offset, p_of(low, i), q_of(low, i));
    }
}

static void follow_with_q(struct reducer *reducer, int bucket)
{
    join(reducer, bucket);
    each_tensor(reducer, bucket, send_q);
    start(reducer, bucket, OF_Q);
}

/* A bucket's Q is sent when the next bucket is complete, not as soon as P is summed: every rank must start its
 * collectives in the same order. */
static void reduce_completed_bucket(struct reducer *reducer, int tensor)
{
    int bucket = reducer_completed_bucket(reducer, tensor);
    if (bucket < 0)
        return;
    each_tensor(reducer, bucket, send_p);
    start(reducer, bucket, OF_P);
    if (bucket > 0)
        follow_with_q(reducer, bucket - 1);
}

static void join_and_restore(struct reducer *reducer)
{
    follow_with_q(reducer, reducer->plan.n - 1);
    for (int i = 0; i < reducer->plan.n; i++) {
        join(reducer, i);
        each_tensor(reducer, i, take_sum);
    }
}

const struct strategy strategy_ddp_powersgd = {
    .name = "ddp_powersgd",
    .summary = "PowerSGD: all-reduces of low-rank factors of each matrix, per bucket (other arithmetic)",
    .traits = {[VARIANT_PLAIN] = &plain},
    .number = {"R", "rank of the approximation", 64},
    .plan = plan_create,
    .create = create,
    .restart = restart,
    .gradient_ready = reduce_completed_bucket,
    .finish = join_and_restore,
    .place_collective = place_collective,
};
