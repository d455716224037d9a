/* chakra.c - encodes the nodes of a Chakra execution trace: a field is a number (a varint) or bytes. */
#include "predict/chakra.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { INT64_VALUE = 9, UINT64_VALUE = 13, BOOL_VALUE = 27, STRING_VALUE = 29 }; /* fields of an attribute */

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

/* Appends an attribute, also one of value 0, which readers tell from none. A string is empty, and its value is 0. */
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

static void put_dependencies(struct message *node, unsigned field, const long *id, int n)
{
    struct message packed = {0};
    for (int i = 0; i < n; i++)
        if (id[i] != CHAKRA_NONE)
            put_varint(&packed, (uint64_t)id[i]);
    if (packed.n)
        put_bytes(node, field, packed.byte, packed.n);
}

static void write_message(struct chakra_file *file, const struct message *m)
{
    struct message length = {0};
    put_varint(&length, m->n);
    file->failed = file->failed || new_file_write(&file->file, length.byte, length.n) ||
                   new_file_write(&file->file, m->byte, m->n);
}

void chakra_begin(struct chakra_file *file, const char *path)
{
    *file = (struct chakra_file){0};
    file->failed =
        new_file_open(&file->file, path, 0) || new_file_write(&file->file, CHAKRA_MARK, sizeof CHAKRA_MARK - 1);
}

long chakra_add(struct chakra_file *file, const struct chakra_node *node)
{
    char name[64];
    int is_coll = node->type == CHAKRA_COLL;
    int64_t ns = llround(node->seconds * 1e9), *carried = &file->carried[is_coll], us = (*carried + ns + 500) / 1000;
    struct message m = {0};
    *carried += ns - 1000 * us;
    snprintf(name, sizeof name, "%s %s", is_coll ? "COMM_COLL_NODE" : "COMP_NODE", node->name);
    put_number(&m, 1, (uint64_t)file->nodes);
    put_bytes(&m, 2, name, strlen(name));
    put_number(&m, 3, node->type);
    put_dependencies(&m, 4, &node->ctrl_dep, 1);
    put_dependencies(&m, 5, node->data_dep, 2);
    put_number(&m, 7, (uint64_t)us);
    put_attribute(&m, "is_cpu_op", BOOL_VALUE, 0); /* ASTRA-sim counts the time beside GPU operations as exposed */
    put_attribute(&m, "duration_ns", UINT64_VALUE, (uint64_t)ns);
    if (is_coll) {
        put_attribute(&m, "comm_type", INT64_VALUE, node->comm);
        put_attribute(&m, "comm_size", INT64_VALUE, (uint64_t)ceil(node->comm_bytes));
        put_attribute(&m, "pg_name", STRING_VALUE, 0); /* "": all ranks */
    }
    write_message(file, &m);
    return file->nodes++;
}

int chakra_end(struct chakra_file *file)
{
    return new_file_end(&file->file, file->failed);
}
