/* export.c - exports a step as a Chakra execution trace: a node for each event of its replay, with its dependencies. */
#include "predict/export.h"

#include "predict/chakra.h"

#include <stdio.h>

/* Returns the node of an event without dependencies. A gathering rank puts in its part of the bucket. */
static struct chakra_node node_of(const struct exported_step *step, const struct replay_event *event)
{
    static const char *const what[] = {"forward", "backward", "optimizer", "rest"};
    struct chakra_node node = {CHAKRA_COMP, "", event->seconds * step->scale, {CHAKRA_NONE, CHAKRA_NONE}, CHAKRA_NONE,
                               0,           0};
    const char *name = event->part <= REPLAY_REST ? what[event->part] : "all_gather";
    if (event->part == REPLAY_REDUCE)
        name = step->plan->shards ? "reduce_scatter" : "all_reduce";
    if (event->part > REPLAY_REST) {
        node.type = CHAKRA_COLL;
        node.comm = event->part == REPLAY_GATHER ? CHAKRA_ALL_GATHER
                    : step->plan->shards         ? CHAKRA_REDUCE_SCATTER
                                                 : CHAKRA_ALL_REDUCE;
        node.comm_bytes =
            step->plan->bucket[event->bucket].bytes / (event->part == REPLAY_GATHER ? (double)step->ranks : 1);
    }
    int length = snprintf(node.name, sizeof node.name, "%s", name);
    if (event->bucket >= 0)
        snprintf(node.name + length, sizeof node.name - (size_t)length, " %d", event->bucket);
    return node;
}

/* An event's node has the index of the event as its id. */
static int write_rank(const char *path, const struct exported_step *step)
{
    struct chakra_file file;
    long computed = CHAKRA_NONE, communicated = CHAKRA_NONE;
    chakra_begin(&file, path);
    for (int i = 0; i < step->n; i++) {
        struct chakra_node node = node_of(step, &step->event[i]);
        node.data_dep[0] = computed;
        if (node.type == CHAKRA_COLL) {
            node.ctrl_dep = communicated;
            communicated = chakra_add(&file, &node);
        } else {
            node.data_dep[1] = step->event[i].after;
            computed = chakra_add(&file, &node);
        }
    }
    return chakra_end(&file);
}

int export_chakra(const char *option, const char *directory, const char *prefix, const struct exported_step *step,
                  int writes)
{
    char path[FILES_PATH + 100]; /* a path that is cut off is longer than FILES_PATH, so it is refused */
    int status = 0;
    for (size_t r = 0; r < step->ranks && !status; r++) {
        snprintf(path, sizeof path, "%s/%s.%zu.et", directory, prefix, r);
        status =
            writes ? write_rank(path, step) : files_check_replaced(&(struct named_path){option, path, CHAKRA_MARK});
    }
    return status ? -1 : 0;
}
