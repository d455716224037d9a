/* strategy_scattered.c - reduce-scatter, a sharded update, and all-gathers that overlap the next forward pass. */
#include "tests/support/strategy_scattered.h"

enum { SCATTER, REDUCE_REST, GATHER, COLLECTIVES };

enum scattered_fault scattered_fault;
static int gathered = -1;   /* buckets 0 to `gathered` are still being gathered; -1: no bucket */
static long first_gathered; /* ticket of the first all-gather, that of bucket plan.n - 1 */

/* Returns the number of elements of a bucket that each rank owns. */
static size_t part_of(const struct reducer *reducer, int bucket)
{
    return reducer->plan.bucket[bucket].count / (size_t)reducer->comm->ranks;
}

/* Returns collective i of a bucket. The reduce-scatter writes this rank's sums to the staged buffer, not to the
 * gradient, where the communication library would overwrite the gaps between tensors, which must stay zero. */
static struct collective collective_of(const struct reducer *reducer, int bucket, int i)
{
    const struct bucket *b = &reducer->plan.bucket[bucket];
    size_t part = part_of(reducer, bucket), scattered = part * (size_t)reducer->comm->ranks;
    float *gradient = reducer->model->gradient + b->offset, *staged = (float *)reducer->staged + b->offset;
    struct collective c = {.kind = COMM_ALL_GATHER, .buffer = staged, .count = part, .index = bucket};
    if (i == SCATTER) {
        c.kind = COMM_REDUCE_SCATTER;
        c.in = gradient;
        c.buffer = staged + (size_t)reducer->comm->rank * part;
    } else if (i == REDUCE_REST) {
        c.kind = COMM_ALL_REDUCE;
        c.buffer = gradient + scattered;
        c.count = b->count - scattered;
    }
    return c;
}

static void own_parts(struct reducer *reducer)
{
    size_t late = scattered_fault == SCATTERED_OFF_BY_ONE;
    reducer->ranges = 0;
    for (int i = 0; i < reducer->plan.n; i++) {
        const struct bucket *b = &reducer->plan.bucket[i];
        size_t part = part_of(reducer, i), scattered = part * (size_t)reducer->comm->ranks;
        size_t own = b->offset + (size_t)reducer->comm->rank * part;
        reducer->owned[reducer->ranges++] = (struct arena_range){own + late, part - late};
        reducer->owned[reducer->ranges++] = (struct arena_range){b->offset + scattered, b->count - scattered};
    }
}

static void reduce_completed_bucket(struct reducer *reducer, int tensor)
{
    int bucket = reducer_completed_bucket(reducer, tensor);
    if (bucket < 0)
        return;
    reducer_start(reducer, bucket, SCATTER);
    if (collective_of(reducer, bucket, REDUCE_REST).count)
        reducer_start(reducer, bucket, REDUCE_REST);
}

static void join_and_unstage(struct reducer *reducer)
{
    reducer->comm->join(reducer->comm, reducer->ticket);
    for (int i = 0; i < reducer->plan.n; i++) {
        struct collective scatter = collective_of(reducer, i, SCATTER);
        size_t own = reducer->plan.bucket[i].offset + (size_t)reducer->comm->rank * scatter.count;
        reducer->model->device->copy(reducer->model->gradient + own, scatter.buffer, scatter.count);
    }
}

static void gather_weights(struct reducer *reducer)
{
    const struct comm *comm = reducer->comm;
    gathered = reducer->plan.n - 1;
    for (int i = gathered; i >= 0; i--) {
        struct collective gather = collective_of(reducer, i, GATHER);
        size_t own = (size_t)comm->rank * gather.count;
        if (scattered_fault != SCATTERED_STALE || comm->rank != 1)
            reducer->model->device->copy((float *)gather.buffer + own,
                                         reducer->model->weight + reducer->plan.bucket[i].offset + own, gather.count);
        reducer_start(reducer, i, GATHER);
        if (i == gathered)
            first_gathered = reducer->ticket;
    }
}

static void wait_for_weights(struct reducer *reducer, int part)
{
    int layers = (int)reducer->model->sizes.layers;
    int last = part > layers ? reducer->model->tensors - 1 : part * LAYER_TENSORS; /* last tensor of `part` */
    for (; gathered >= 0 && reducer->plan.bucket[gathered].last_tensor <= last; gathered--) {
        struct collective gather = collective_of(reducer, gathered, GATHER);
        reducer->comm->join(reducer->comm, first_gathered + reducer->plan.n - 1 - gathered);
        if (scattered_fault == SCATTERED_NOT_GATHERED && gathered == 0)
            continue;
        reducer->model->device->copy(reducer->model->weight + reducer->plan.bucket[gathered].offset, gather.buffer,
                                     gather.count * (size_t)reducer->comm->ranks);
    }
}

const struct strategy strategy_scattered = {
    .name = "scattered",
    .summary = "for tests",
    .reduces = 1,
    .overlaps = 1,
    .stages = 1,
    .buckets = 1,
    .collectives = COLLECTIVES,
    .plan = plan_create,
    .gradient_ready = reduce_completed_bucket,
    .finish = join_and_unstage,
    .collective = collective_of,
    .own = own_parts,
    .after_optimizer = gather_weights,
    .before_forward = wait_for_weights,
};
