/* strategy_hierarchical.c - overlap in two levels: all-reduces a bucket during backward in four stages, so that a host
 * sends each number of the gradient once. A reduce-scatter within the host gives each of its g ranks the host's sum of
 * one part of the bucket; a reduce-scatter and an all-gather across hosts, which together are an all-reduce, add this
 * part over the hosts; an all-gather within the host distributes the sums. Between hosts a rank sends and receives 1 /
 * g of what a flat all-reduce does. Stages of several buckets run at the same time if the comm allows it.
 *
 * Across hosts there are two stages, because a library's all-reduce may send more than a ring does: if the number of
 * hosts is not a power of two, MPICH's all-reduce first sends whole messages to some of them. Source: Cho et al.,
 * BlueConnect, SysML 2019. */
#include "ddp/reducer.h"

enum { HOST_SCATTER, SCATTER, GATHER, HOST_GATHER, STAGES };

static const struct traits plain = {.reduces = 1,
                                    .exact = 1,
                                    .overlaps = 1,
                                    .buckets = 1,
                                    .staged = 1,
                                    .messages = STAGES,
                                    .message = {[HOST_SCATTER] = {COMM_REDUCE_SCATTER, COMM_HOST},
                                                [SCATTER] = {COMM_REDUCE_SCATTER, COMM_ACROSS},
                                                [GATHER] = {COMM_ALL_GATHER, COMM_ACROSS},
                                                [HOST_GATHER] = {COMM_ALL_GATHER, COMM_HOST}}};

/* Allocates memory for the sums of this rank's part of each bucket. */
static void create(struct reducer *reducer)
{
    reducer_close_gaps(reducer);
    reducer->state = reducer_allocate(reducer, reducer->model->arena / (size_t)reducer->comm->local_size);
}

/* A stage never overwrites its input: the stages alternate between the bucket and separate memory for this rank's part.
 * They may overwrite the bucket, because only the first stage reads its gradients. */
static void place_stage(const struct reducer *reducer, int bucket, int stage, struct collective *c)
{
    size_t offset = reducer->plan.bucket[bucket].offset;
    float *whole = c->buffer, *part = (float *)reducer->state + offset / (size_t)reducer->comm->local_size;
    int to_part = stage == HOST_SCATTER || stage == GATHER;
    c->in = to_part ? whole : part;
    c->buffer = to_part ? part : whole;
    c->after = stage == HOST_SCATTER ? 0 : reducer->ticket;
}

static void start_completed_bucket(struct reducer *reducer, int tensor)
{
    int bucket = reducer_completed_bucket(reducer, tensor);
    for (int stage = 0; stage < STAGES && bucket >= 0; stage++)
        reducer_start(reducer, bucket, stage);
}

const struct strategy strategy_ddp_hierarchical = {
    .name = "ddp_hierarchical",
    .summary = "ddp_bucketed in stages: a reduce-scatter within each host, an all-reduce across hosts, an all-gather",
    .traits = {[VARIANT_PLAIN] = &plain},
    .on_one_level = &strategy_ddp_bucketed,
    .plan = plan_matrices,
    .create = create,
    .gradient_ready = start_completed_bucket,
    .finish = reducer_join,
    .place_collective = place_stage,
};
