/* collective.h - kinds of collectives, their element types and groups of ranks: numbers and names, without a library.
 */
#ifndef DDP_COLLECTIVE_H
#define DDP_COLLECTIVE_H

#include <stddef.h>

enum comm_kind { COMM_ALL_REDUCE, COMM_REDUCE_SCATTER, COMM_ALL_GATHER, COMM_BROADCAST, COMM_ALL_TO_ALL, COMM_KINDS };
enum comm_dtype { COMM_FLOAT32, COMM_BF16, COMM_FLOAT64, COMM_INT32, COMM_DTYPES };
enum comm_op { COMM_SUM, COMM_MAX, COMM_AVG, COMM_OPS }; /* avg: the sum divided by the number of ranks */
/* The ranks of a collective: all ranks; the ranks of this host; the ranks with this rank's local rank, one on each
 * host. In a group, ranks are numbered in their order among all ranks. */
enum comm_group { COMM_ALL, COMM_HOST, COMM_ACROSS, COMM_GROUPS };

extern const char
    *const comm_kind_name[COMM_KINDS + 1]; /* all_reduce, reduce_scatter, all_gather, broadcast, all_to_all, NULL */
extern const char *const comm_dtype_name[COMM_DTYPES + 1]; /* float, bf16, double, int32, NULL */
extern const char *const comm_op_name[COMM_OPS + 1];       /* sum, max, avg, NULL */
extern const char *const comm_group_name[COMM_GROUPS];     /* default_pg, as PyTorch calls it; host, across_hosts */

/* Returns the size of an element in bytes. */
static inline size_t comm_dtype_bytes(enum comm_dtype dtype)
{
    return dtype == COMM_BF16 ? 2 : dtype == COMM_FLOAT64 ? 8 : 4;
}

/* Returns 1 if a collective of this kind reduces over ranks (sum, max, avg); 0 if it only moves elements. */
static inline int comm_reduces(enum comm_kind kind)
{
    return kind == COMM_ALL_REDUCE || kind == COMM_REDUCE_SCATTER;
}

/* Returns 1 if a strategy's collective of this kind is a part of the reduction of gradients; 0 if it gathers weights,
 * which only strategies that shard do. */
static inline int comm_of_gradients(enum comm_kind kind, int shards)
{
    return !shards || kind != COMM_ALL_GATHER;
}

/* Returns the size of the larger buffer of a collective, in units of `count` elements. */
static inline size_t comm_parts(enum comm_kind kind, int ranks)
{
    return kind == COMM_ALL_REDUCE || kind == COMM_BROADCAST ? 1 : (size_t)ranks;
}

/* Returns the number of ranks in a group of a job with `ranks` ranks, `local_size` of them on each host. */
static inline int comm_group_ranks(enum comm_group group, int ranks, int local_size)
{
    return group == COMM_ALL ? ranks : group == COMM_HOST ? local_size : ranks / local_size;
}

/* Returns the factor from algorithm bandwidth to bus bandwidth, which can be compared with the rate of a link: 2 (n -
 * 1) / n for all-reduce, (n - 1) / n for reduce-scatter, all-gather and all-to-all, 1 for broadcast; 0 for one rank.
 * Source: nccl-tests, doc/PERFORMANCE.md. */
double comm_bus_factor(enum comm_kind kind, int ranks);

#endif
