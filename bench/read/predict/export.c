/* export.c - exports a step as a Chakra execution trace: a node for each event of its replay, with its dependencies.
 *
 * A file holds messages of Protocol Buffers, each after its length as a varint: GlobalMetadata, then the nodes, whose
 * ids count from 0. A field is a number (a varint) or bytes. All start times are 0: dependencies give the order. The
 * microseconds of all computations, or of all collectives, add up to their rounded sum; duration_ns has nanoseconds.
 * Sources: mlcommons/chakra, schema 0.0.4, schema/protobuf/et_def.proto; ASTRA-sim, astra-sim/workload. */
#include "predict/export.h"

#include "base/files.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The first bytes of a file: its metadata, which are the version and the attribute producer=ddpbench. */
#define MARK "\36\12\0050.0.4\22\25\12\10producer\352\1\10ddpbench"

/* Types of nodes and of collectives; fields of an attribute. */
enum { COMP_NODE = 4, COMM_COLL_NODE = 7, ALL_REDUCE = 0, ALL_GATHER = 2, REDUCE_SCATTER = 7 };
enum { INT64_VALUE = 9, UINT64_VALUE = 13, BOOL_VALUE = 27, STRING_VALUE = 29 };

/* The state of a file that is being written. */
struct trace {
    struct new_file file;
    int computed, communicated; /* the last node of each kind; -1: none */
    int64_t carried[2];         /* nanoseconds not yet counted in microseconds, of computations and of collectives */
};

/* A message. The longest, a node with 3 dependencies and 5 attributes, has fewer than 300 bytes. */
struct message {
    size_t n;
    char byte[512];
};

/* Appends a number in groups of 7 bits, the lowest first; all bytes but the last have bit 7 set. */
static void put_varint(struct message *m, uint64_t value)
{
    for (; value > 0x7f; value >>= 7)
        m->byte[m->n++] = (char)(value | 0x80);
    m->byte[m->n++] = (char)value;
}

static void put_number(struct message *m, unsigned field, uint64_t value)
{
    put_varint(m, field << 3);
    put_varint(m, value);
}

static void put_bytes(struct message *m, unsigned field, const char *bytes, size_t n)
{
    put_varint(m, field << 3 | 2);
    put_varint(m, n);
    memcpy(m->byte + m->n, bytes, n);
    m->n += n;
}

/* Appends an attribute, even if its value is 0: readers distinguish that from a missing one. A string is empty. */
static void put_attribute(struct message *node, const char *name, unsigned field, uint64_t value)
{
    struct message attribute = {0};
    put_bytes(&attribute, 1, name, strlen(name));
    if (field == STRING_VALUE)
        put_bytes(&attribute, field, "", 0);
    else
        put_number(&attribute, field, value);
    put_bytes(node, 10, attribute.byte, attribute.n);
}

/* Appends the ids of up to two nodes; -1: none. */
static void put_nodes(struct message *node, unsigned field, int a, int b)
{
    struct message packed = {0};
    if (a >= 0)
        put_varint(&packed, (uint64_t)a);
    if (b >= 0)
        put_varint(&packed, (uint64_t)b);
    if (packed.n)
        put_bytes(node, field, packed.byte, packed.n);
}

/* Appends the node of event i, with id i. An all-gather's size is a rank's part of it. Returns 0; or -1, reported. */
static int write_node(struct trace *t, const struct exported_step *step, int i)
{
    static const char *const part[] = {"forward", "backward", "optimizer", "rest", "all_reduce", "all_gather"};
    const struct replay_event *e = &step->event[i];
    const int is_coll = e->part >= REPLAY_REDUCE, scatters = e->part == REPLAY_REDUCE && step->plan->shards;
    int64_t ns = llround(e->seconds * step->scale * 1e9), us = (t->carried[is_coll] + ns + 500) / 1000;
    struct message m = {0}, length = {0};
    char name[64], number[16] = "";
    t->carried[is_coll] += ns - 1000 * us;
    if (e->bucket >= 0)
        snprintf(number, sizeof number, " %d", e->bucket);
    snprintf(name, sizeof name, "%s %s%s", is_coll ? "COMM_COLL_NODE" : "COMP_NODE",
             scatters ? "reduce_scatter" : part[e->part], number);
    put_number(&m, 1, (uint64_t)i);
    put_bytes(&m, 2, name, strlen(name));
    put_number(&m, 3, is_coll ? COMM_COLL_NODE : COMP_NODE);
    put_nodes(&m, 4, is_coll ? t->communicated : -1, -1);
    put_nodes(&m, 5, t->computed, is_coll ? -1 : e->after);
    put_number(&m, 7, (uint64_t)us);
    put_attribute(&m, "is_cpu_op", BOOL_VALUE, 0); /* ASTRA-sim counts the time beside GPU operations as exposed */
    put_attribute(&m, "duration_ns", UINT64_VALUE, (uint64_t)ns);
    if (is_coll) {
        int gathers = e->part == REPLAY_GATHER;
        double part_of = gathers ? step->plan->gather_share / (double)step->ranks : 1;
        put_attribute(&m, "comm_type", INT64_VALUE, gathers ? ALL_GATHER : scatters ? REDUCE_SCATTER : ALL_REDUCE);
        put_attribute(&m, "comm_size", INT64_VALUE, (uint64_t)ceil(part_of * step->plan->bucket[e->bucket].bytes));
        put_attribute(&m, "pg_name", STRING_VALUE, 0); /* "": all ranks */
    }
    *(is_coll ? &t->communicated : &t->computed) = i;
    put_varint(&length, m.n);
    return new_file_write(&t->file, length.byte, length.n) || new_file_write(&t->file, m.byte, m.n) ? -1 : 0;
}

static int write_rank(const char *path, const struct exported_step *step)
{
    struct trace trace = {.computed = -1, .communicated = -1};
    int failed = new_file_open(&trace.file, path, 0) || new_file_write(&trace.file, MARK, sizeof MARK - 1);
    for (int i = 0; i < step->n && !failed; i++)
        failed = write_node(&trace, step, i);
    return new_file_end(&trace.file, failed);
}

int export_chakra(const char *option, const char *directory, const char *prefix, const struct exported_step *step,
                  int writes)
{
    char path[FILES_PATH + 100]; /* a path that is cut off is longer than FILES_PATH, so it is refused */
    int status = 0;
    for (size_t r = 0; r < step->ranks && !status; r++) {
        snprintf(path, sizeof path, "%s/%s.%zu.et", directory, prefix, r);
        status = writes ? write_rank(path, step) : files_check_replaced(&(struct named_path){option, path, MARK});
    }
    return status ? -1 : 0;
}
