/* chakra.h - writes a Chakra execution trace (MLCommons, schema 0.0.4), a graph of computations and collectives.
 *
 * A file holds messages of Protocol Buffers, each after its length as a varint: GlobalMetadata, then the nodes, whose
 * ids count from 0. All start times are 0: dependencies give the order. Durations are rounded to microseconds in such a
 * way that their sum is also that of all computations, or all collectives, rounded; the attribute duration_ns has
 * nanoseconds. Sources: mlcommons/chakra, schema/protobuf/et_def.proto; ASTRA-sim, astra-sim/workload. */
#ifndef BENCH_READ_PREDICT_CHAKRA_H
#define BENCH_READ_PREDICT_CHAKRA_H

#include "base/files.h"

#include <stdint.h>

/* The first bytes of a file: its metadata, which are the version and the attribute producer=ddpbench. */
#define CHAKRA_MARK "\36\12\0050.0.4\22\25\12\10producer\352\1\10ddpbench"

enum { CHAKRA_NONE = -1 }; /* no node */
enum chakra_type { CHAKRA_COMP = 4, CHAKRA_COLL = 7 };
enum chakra_comm { CHAKRA_ALL_REDUCE = 0, CHAKRA_ALL_GATHER = 2, CHAKRA_REDUCE_SCATTER = 7 };

struct chakra_file {
    struct new_file file;
    int failed;         /* 1: a write failed, which was reported */
    long nodes;         /* number of nodes so far */
    int64_t carried[2]; /* nanoseconds that no microseconds count yet, of computations and of collectives */
};

/* A node. It begins after the nodes with the ids data_dep, whose results it needs, and ctrl_dep. */
struct chakra_node {
    enum chakra_type type;
    char name[32];
    double seconds; /* at least 0 */
    long data_dep[2], ctrl_dep;
    enum chakra_comm comm; /* only of a collective, like comm_bytes: the bytes of a rank's input */
    double comm_bytes;
};

/* Begins a new file, which ends with chakra_end; a failure is reported by then. */
void chakra_begin(struct chakra_file *file, const char *path);

/* Appends a node. Returns its id. */
long chakra_add(struct chakra_file *file, const struct chakra_node *node);

/* Gives the complete file its name, or removes it if it is incomplete. Returns 0; or -1, reported. */
int chakra_end(struct chakra_file *file);

#endif
