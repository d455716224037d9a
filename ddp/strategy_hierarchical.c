/* strategy_hierarchical.c - overlap in two levels: all-reduces a bucket during backward in four stages, so that a host
 * sends each number of the gradient once. A reduce-scatter within the host gives each of its g ranks the host's sum of
 * one part of the bucket; a reduce-scatter and an all-gather across hosts, which together are an all-reduce, add this
 * part over the hosts; an all-gather within the host distributes the sums. Between hosts a rank sends and receives 1 /
 * g of what a flat all-reduce does. Stages of several buckets run at the same time if the comm allows it.
 *
 * Across hosts there are two stages, because a library's all-reduce may send more than a ring does: on a number of
 * hosts that is no power of two, MPICH's first sends whole messages to some of them. Source: Cho et al., BlueConnect,
 * SysML 2019. */
#include "ddp/strategy.h"

enum { HOST_SCATTER, SCATTER, GATHER, HOST_GATHER, STAGES };

/* A stage never overwrites its input: this rank's part of the bucket is summed in the shard, and the sums of all hosts
 * are in the bucket itself, which no later stage reads. */
static struct collective stage_of(const struct reducer *reducer, int bucket, int stage)
{
    const struct bucket *b = &reducer->plan.bucket[bucket];
    size_t ranks = (size_t)reducer->comm->ranks, parts = (size_t)reducer->comm->local_size;
    float *whole = reducer->model->gradient + b->offset, *part = reducer->shard + b->offset / parts;
    const struct collective of[STAGES] = {
        [HOST_SCATTER] = {.kind = COMM_REDUCE_SCATTER, .group = COMM_HOST, .in = whole, .buffer = part},
        [SCATTER] = {.kind = COMM_REDUCE_SCATTER, .group = COMM_ACROSS, .in = part, .buffer = whole},
        [GATHER] = {.kind = COMM_ALL_GATHER, .group = COMM_ACROSS, .in = whole, .buffer = part},
        [HOST_GATHER] = {.kind = COMM_ALL_GATHER, .group = COMM_HOST, .in = part, .buffer = whole},
    };
    struct collective c = of[stage];
    c.count = b->count / (c.group == COMM_HOST ? parts : ranks);
    c.index = bucket;
    c.after = stage == HOST_SCATTER ? 0 : reducer->ticket;
    return c;
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
    .reduces = 1,
    .overlaps = 1,
    .buckets = 1,
    .collectives = STAGES,
    .plan = plan_matrices,
    .gradient_ready = start_completed_bucket,
    .finish = reducer_join,
    .collective = stage_of,
    .own = reducer_close_gaps,
    .on_one_level = &strategy_ddp_bucketed,
};
