/* export.c - exports a step as a Chakra execution trace: the nodes of each rank and their dependencies. */
#include "predict/export.h"

#include "predict/chakra.h"

#include <math.h>
#include <stdio.h>

/* The file of a rank in progress. */
struct step {
    struct chakra_file file;
    const struct replay_compute *compute;
    const struct replay_plan *plan;
    double ranks;
    long computed, communicated, updated; /* last nodes: of the computation, the collectives, and the early updates */
};

/* Returns a node, without dependencies, of a bucket; or of none if that is negative. */
static struct chakra_node node_of(enum chakra_type type, const char *what, int bucket, double seconds)
{
    struct chakra_node node = {type, "", seconds, {CHAKRA_NONE, CHAKRA_NONE}, CHAKRA_NONE, 0, 0};
    int length = snprintf(node.name, sizeof node.name, "%s", what);
    if (bucket >= 0)
        snprintf(node.name + length, sizeof node.name - (size_t)length, " %d", bucket);
    return node;
}

/* Appends computation after a node of the computation and any other node. Returns its id. */
static long add_compute(struct step *s, const char *what, int bucket, double seconds, long after, long also_after)
{
    struct chakra_node node = node_of(CHAKRA_COMP, what, bucket, seconds);
    node.data_dep[0] = after;
    node.data_dep[1] = also_after;
    return chakra_add(&s->file, &node);
}

/* Appends the next collective, which needs all computation so far. */
static void add_collective(struct step *s, enum chakra_comm comm, int bucket, double bytes, double seconds)
{
    static const char *const what[] = {
        "all_reduce", [CHAKRA_ALL_GATHER] = "all_gather", [CHAKRA_REDUCE_SCATTER] = "reduce_scatter"};
    struct chakra_node node = node_of(CHAKRA_COLL, what[comm], bucket, seconds);
    node.data_dep[0] = s->computed;
    node.ctrl_dep = s->communicated;
    node.comm = comm;
    node.comm_bytes = bytes;
    s->communicated = chakra_add(&s->file, &node);
}

/* Appends the reduction of a bucket and its early update, for which backward does not wait. */
static void add_reduction(struct step *s, int b)
{
    const struct replay_bucket *bucket = &s->plan->bucket[b];
    add_collective(s, s->plan->shards ? CHAKRA_REDUCE_SCATTER : CHAKRA_ALL_REDUCE, b, bucket->bytes, bucket->reduce);
    if (s->plan->updates_early)
        s->updated = add_compute(s, "optimizer", b, s->compute->update * bucket->share, s->updated, s->communicated);
}

static void add_backward(struct step *s)
{
    double done = s->compute->forward_end;
    for (int b = 0; b < s->plan->n; b++) {
        double ready = fmax(done, s->compute->ready[s->plan->bucket[b].last_tensor]);
        s->computed = add_compute(s, "backward", b, ready - done, s->computed, CHAKRA_NONE);
        done = ready;
        if (!s->plan->after_backward)
            add_reduction(s, b);
    }
    s->computed = add_compute(s, "backward", -1, fmax(0, s->compute->backward_end - done), s->computed, CHAKRA_NONE);
    for (int b = 0; b < s->plan->n && s->plan->after_backward; b++)
        add_reduction(s, b);
}

/* Appends the optimizer, which needs all reductions. If it is sharded, each part is followed by its all-gather, whose
 * input is a rank's part of the bucket. */
static void add_update(struct step *s)
{
    double seconds = s->compute->update * s->plan->update_share;
    long reduced = s->communicated;
    if (!s->plan->shards && !s->plan->updates_early)
        s->computed = add_compute(s, "optimizer", -1, seconds, s->computed, reduced);
    for (int b = s->plan->n - 1; b >= 0 && s->plan->shards; b--) {
        const struct replay_bucket *bucket = &s->plan->bucket[b];
        s->computed = add_compute(s, "optimizer", b, seconds * bucket->share, s->computed, reduced);
        add_collective(s, CHAKRA_ALL_GATHER, b, bucket->bytes / s->ranks, bucket->gather);
    }
}

static int write_rank(const char *path, struct step step)
{
    chakra_begin(&step.file, path);
    step.computed = step.communicated = step.updated = CHAKRA_NONE;
    step.computed = add_compute(&step, "forward", -1, step.compute->forward_end, CHAKRA_NONE, CHAKRA_NONE);
    add_backward(&step);
    add_update(&step);
    add_compute(&step, "rest", -1, step.compute->rest, step.computed, step.updated);
    return chakra_end(&step.file);
}

int export_chakra(const char *option, const char *directory, const char *prefix, const struct replay_compute *compute,
                  const struct replay_plan *plan, size_t ranks, int writes)
{
    char path[FILES_PATH + 100]; /* a path that is cut off is longer than FILES_PATH, so it is refused */
    int status = 0;
    for (size_t r = 0; r < ranks && !status; r++) {
        snprintf(path, sizeof path, "%s/%s.%zu.et", directory, prefix, r);
        status = writes ? write_rank(path, (struct step){.compute = compute, .plan = plan, .ranks = (double)ranks})
                        : files_check_replaced(&(struct named_path){option, path, CHAKRA_MARK});
    }
    return status ? -1 : 0;
}
