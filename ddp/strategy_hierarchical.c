/* strategy_hierarchical.c - overlap in two levels: all-reduces a bucket during backward in four stages, so that a host
 * sends each number of the gradient once. A reduce-scatter within the host gives each of its g ranks the host's sum of
 * one part of the bucket; a reduce-scatter and an all-gather across hosts, which together are an all-reduce, add this
 * part over the hosts; an all-gather within the host distributes the sums. Between hosts a rank sends and receives 1 /
 * g of what a flat all-reduce does. Stages of several buckets run at the same time if the comm allows it. If the comm
 * runs a group's collectives in the order of their tickets, the last stage of a bucket is started after the first stage
 * of the next bucket. Started before it, it would hold that first stage back until all stages of its own bucket are
 * complete, and no stages would overlap.
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

struct stages {
    float *sums;   /* this rank's part of each bucket, summed over the host and then over all ranks */
    long gathered; /* ticket of the GATHER whose bucket is next for HOST_GATHER */
};

static void create(struct reducer *reducer)
{
    struct stages *stages = reducer_keep(reducer, 1, sizeof *stages);
    reducer_close_gaps(reducer);
    stages->sums = reducer_allocate(reducer, reducer->model->arena / (size_t)reducer->comm->local_size);
    reducer->state = stages;
}

/* A stage never overwrites its input: the stages alternate between the bucket and separate memory for this rank's part.
 * They may overwrite the bucket, because only the first stage reads its gradients. */
static void place_stage(const struct reducer *reducer, int bucket, int stage, struct collective *c)
{
    const struct stages *stages = reducer->state;
    size_t offset = reducer->plan.bucket[bucket].offset;
    float *whole = c->buffer, *part = stages->sums + offset / (size_t)reducer->comm->local_size;
    int to_part = stage == HOST_SCATTER || stage == GATHER;
    c->in = to_part ? whole : part;
    c->buffer = to_part ? part : whole;
    c->after = stage == HOST_SCATTER ? 0 : stage == HOST_GATHER ? stages->gathered : reducer->ticket;
}

static void start_completed_bucket(struct reducer *reducer, int tensor)
{
    struct stages *stages = reducer->state;
    int bucket = reducer_completed_bucket(reducer, tensor), in_order = reducer->comm->groups_in_order;
    if (bucket < 0)
        return;
    for (int stage = HOST_SCATTER; stage < HOST_GATHER; stage++)
        reducer_start(reducer, bucket, stage);
    long gathered = reducer->ticket;
    if (in_order && bucket > 0)
        reducer_start(reducer, bucket - 1, HOST_GATHER);
    stages->gathered = gathered;
    if (!in_order || bucket == reducer->plan.n - 1)
        reducer_start(reducer, bucket, HOST_GATHER);
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
