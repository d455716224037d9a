/* strategy_hierarchical.c - overlap in two levels: all-reduces a bucket during backward in three stages, so that a host
 * sends each number of the gradient once. A reduce-scatter within the host gives each of its g ranks the host's sum of
 * one part of the bucket; an all-reduce adds this part over the hosts; an all-gather within the host distributes the
 * sums. Between hosts a rank sends and receives 1 / g of what a flat all-reduce does. Stages of several buckets run at
 * the same time if the comm allows it. Source: Cho et al., BlueConnect, SysML 2019. */
#include "ddp/strategy.h"

enum { SCATTER, REDUCE, GATHER, STAGES };

/* The part of this rank is summed in the shard, so that no stage overwrites its input. */
static struct collective stage_of(const struct reducer *reducer, int bucket, int stage)
{
    static const enum comm_kind kind[STAGES] = {COMM_REDUCE_SCATTER, COMM_ALL_REDUCE, COMM_ALL_GATHER};
    const struct bucket *b = &reducer->plan.bucket[bucket];
    size_t parts = (size_t)reducer->comm->local_size;
    float *whole = reducer->model->gradient + b->offset, *part = reducer->shard + b->offset / parts;
    return (struct collective){.kind = kind[stage],
                               .group = stage == REDUCE ? COMM_ACROSS : COMM_HOST,
                               .in = stage == SCATTER  ? whole
                                     : stage == GATHER ? part
                                                       : NULL,
                               .buffer = stage == GATHER ? whole : part,
                               .count = b->count / parts,
                               .index = bucket,
                               .after = stage == SCATTER ? 0 : reducer->ticket};
}

static void start_completed_bucket(struct reducer *reducer, int tensor)
{
    int bucket = reducer_completed_bucket(reducer, tensor);
    for (int stage = 0; stage < STAGES && bucket >= 0; stage++)
        reducer_start(reducer, bucket, stage);
}

static void join_buckets(struct reducer *reducer)
{
    reducer->comm->join(reducer->comm, reducer->ticket);
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
    .finish = join_buckets,
    .collective = stage_of,
    .own = reducer_close_gaps,
    .on_one_level = &strategy_ddp_bucketed,
};
