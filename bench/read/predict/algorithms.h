/* algorithms.h - the messages of MPICH's and NCCL's collectives: how many follow one another, and how long they are. */
#ifndef BENCH_READ_PREDICT_ALGORITHMS_H
#define BENCH_READ_PREDICT_ALGORITHMS_H

#include "ddp/collective.h"

#include <stddef.h>

enum library { LIBRARY_MPICH, LIBRARY_NCCL };

/* The cost of an algorithm: number of messages in succession, and bytes of these messages per byte of a bucket. */
struct algorithm {
    double stages, volume;
};

/* Sets the two algorithms of which the library uses the faster one; both are equal if it decides by sizes alone. bytes:
 * of a rank's whole bucket; ranks: at least 2; alone_on_host: 1 if each host has one rank. With p = ranks, d =
 * ceil(log2 p), the power of two q = 2^floor(log2 p), f = 1 if p is not q, else 0, and h, the sum of (m + min(p - q,
 * m)) / p over m = q / 2, ..., 2, 1, which is (q - 1) / q if p is q:
 *                                                     stages         volume
 * MPICH all-reduce up to 2 KiB, or of fewer floats
 *   than q (recursive doubling)                       log2 q + 2 f   log2 q + 2 f
 * MPICH all-reduce above (reduce-scatter, all-gather) 2 log2 q + 2 f 2 (q - 1) / q + 2 f
 * MPICH reduce-scatter below 524288 floats (halving)  log2 q + 2 f   h + f (1 + 1 / p)
 * MPICH reduce-scatter above (pairwise)               p - 1          (p - 1) / p
 * MPICH all-gather below 512 KiB if p is q (doubling)
 *   and below 80 KiB (Bruck)                          d              (p - 1) / p
 * MPICH all-gather above (ring)                       p - 1          (p - 1) / p
 * NCCL all-reduce: ring                               2 (p - 1)      2 (p - 1) / p
 *                  tree                               2 d            2
 * NCCL reduce-scatter, all-gather: ring               p - 1          (p - 1) / p
 *                                  PAT, alone_on_host d              (p - 1) / p
 * If p is not a power of two, MPICH first folds: p - q ranks send all of their data to another rank, and at the end get
 * the whole result, or in a reduce-scatter their part, 1 / p. The limits apply to nonblocking calls, which training
 * makes; a blocking reduce-scatter is pairwise from 512 KiB on. NVLS and CollNet (sums inside switches) are not
 * modelled. Sources: Thakur, Rabenseifner and Gropp, Optimization of Collective Communication Operations in MPICH,
 * IJHPCA 19 (2005) 49-66; MPICH 4.0, maint/tuning/coll/mpir/generic.json and src/mpi/coll/src/csel.c, which counts a
 * reduce-scatter in elements; NCCL, src/graph/tuning.cc; Jeaugey, PAT: a new algorithm for all-gather and
 * reduce-scatter operations at scale, arXiv 2506.20252 (2025). */
void algorithms_find(struct algorithm a[2], enum library library, enum comm_kind kind, size_t ranks, double bytes,
                     int alone_on_host);

/* Whether a library folds this number of ranks: MPICH does unless it is a power of two. */
int algorithms_fold(enum library library, size_t ranks);

#endif
