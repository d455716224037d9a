/* comm.c - names of the kinds, data types and operations of collectives, and the bus factor. */
#include "ddp/comm.h"

#include <stdio.h>

const char *const comm_kind_name[COMM_KINDS + 1] = {"all_reduce", "reduce_scatter", "all_gather",
                                                    "broadcast",  "all_to_all",     NULL};
const char *const comm_dtype_name[COMM_DTYPES + 1] = {"float", "bf16", "double", "int32", NULL};
const char *const comm_op_name[COMM_OPS + 1] = {"sum", "max", "avg", NULL};
const char *const comm_group_name[COMM_GROUPS] = {"default_pg", "host", "across_hosts"};
const char *const comm_library_name[COMM_LIBRARIES + 1] = {"auto", "mpi", "nccl", NULL};

void comm_words(const struct collective *c, long ticket, char words[COMM_WORDS])
{
    int reduces = comm_reduces(c->kind);
    static const char *const where[COMM_GROUPS] = {"", " within the host", " across hosts"};
    int at =
        snprintf(words, COMM_WORDS, "%s of %zu %s%s%s%s", comm_kind_name[c->kind], c->count, comm_dtype_name[c->dtype],
                 reduces ? " " : "", reduces ? comm_op_name[c->op] : "", where[c->group]);
    if (ticket)
        snprintf(words + at, (size_t)(COMM_WORDS - at), ", bucket %d, ticket %ld", c->index, ticket);
}

double comm_bus_factor(enum comm_kind kind, int ranks)
{
    double n = ranks;
    if (ranks <= 1)
        return 0;
    return kind == COMM_BROADCAST ? 1 : (kind == COMM_ALL_REDUCE ? 2 : 1) * (n - 1) / n;
}
