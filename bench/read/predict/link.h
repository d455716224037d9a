/* link.h - how long a collective takes on a link, for any size and number of ranks: from measured sweeps (`ddpbench
 * allreduce`) or from a latency and a bandwidth. */
#ifndef BENCH_READ_PREDICT_LINK_H
#define BENCH_READ_PREDICT_LINK_H

#include "ddp/comm.h"

#include <stddef.h>

/* How a time was obtained, from the surest to the least sure: a sweep has this size and number of ranks; a time between
 * two sizes of a sweep of this number of ranks; or a larger size, another number of ranks, another kind of collective,
 * or no sweep. Sizes below the smallest one of a sweep count as interpolated: its time is an upper bound. */
enum link_basis { LINK_MEASURED, LINK_INTERPOLATED, LINK_EXTRAPOLATED, LINK_BASES };
extern const char *const link_basis_name[LINK_BASES];

/* A collective between so many ranks at increasing sizes. */
struct link_sweep {
    enum comm_kind kind;
    size_t ranks, n;
    double *bytes, *seconds; /* [n] each: message sizes as `allreduce` counts them, and times */
};

struct link {
    struct link_sweep *sweep; /* [n], owned; n 0: the link is only a latency and a bandwidth */
    size_t n;
    int uses_nccl;        /* 1: NCCL's algorithms, else MPICH's, decide how times change with the number of ranks */
    double latency;       /* seconds of one message between two ranks: of the smallest all-reduce, per stage */
    double bandwidth;     /* bus bytes / second of a rank, of the largest all-reduce */
    double error;         /* relative standard deviation of a time: of the sweeps' medians, and of interpolation */
    double latency_scale; /* factors by which latency and bandwidth differ from those measured; 1: as measured */
    double bandwidth_scale;
};

/* Reads sweeps from result directories of `allreduce`, separated by commas. Uses rows of fp32 that sum in place, or out
 * of place if there are none. option: the option that names them, for messages. Returns 0; or -1, reported, if one
 * cannot be read, is unfinished or from another command, has fewer than 4 sizes, or if none has all-reduces between 2
 * ranks or more. Release with link_destroy in either case. */
int link_read(struct link *link, const char *option, const char *directories);

/* Parses words such as latency=23us,bandwidth=11.7MB/s: latency in s, ms, us or ns; bandwidth in B/s, KB/s, MB/s, GB/s,
 * or as gbit or mbit, with powers of 1000. Returns 0; or -1, reported. Release with link_destroy in either case. */
int link_parse(struct link *link, const char *option, const char *words);
void link_destroy(struct link *link); /* a zeroed link is fine */

/* Returns the seconds of a collective of so many bytes (as `allreduce` counts them: of a rank's whole bucket) between so
 * many ranks, 0 for one rank, and raises *basis to that of the time.
 *
 * Between two sizes times are on a line; above the largest, on the line through the last two sizes; below the smallest,
 * its time. From the sweep with the nearest number of ranks p to q ranks the time is multiplied by the model's time of q
 * over that of p: seconds = stages(p) x latency + volume(p) x bytes / bandwidth, with the algorithm that the library
 * would choose. MPICH: all-reduce by recursive doubling up to 2 KiB (log2 p stages of all bytes), above by a
 * reduce-scatter and an all-gather (2 ceil(log2 p), 2 (p-1)/p); NCCL: the faster of a ring (2 (p-1), 2 (p-1)/p) and a
 * tree (2 ceil(log2 p), 2). A reduce-scatter or an all-gather is half of that. Without a sweep of its kind, half of the
 * all-reduce. Sources: Thakur, Rabenseifner and Gropp, Optimization of Collective Communication Operations in MPICH,
 * IJHPCA 19 (2005) 49-66; NCCL's tuning model (src/graph/tuning.cc). */
double link_seconds(const struct link *link, enum comm_kind kind, size_t ranks, double bytes, enum link_basis *basis);

/* Whether the link has a sweep of that kind of collective between so many ranks. */
int link_has(const struct link *link, enum comm_kind kind, size_t ranks);

#endif
