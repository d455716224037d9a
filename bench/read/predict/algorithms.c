/* algorithms.c - stages and volumes of collectives, as the libraries choose their algorithms. */
#include "predict/algorithms.h"

#include <math.h>

int algorithms_fold(enum library library, size_t ranks)
{
    return library == LIBRARY_MPICH && (ranks & (ranks - 1));
}

static struct algorithm of_mpich(enum comm_kind kind, size_t ranks, double bytes)
{
    const double p = (double)ranks, depth = floor(log2(p)), power = exp2(depth),
                 fold = algorithms_fold(LIBRARY_MPICH, ranks);
    const double most_doubled = fmax(2048, sizeof(float) * (power - 1)), least_pairwise = 524288 * sizeof(float),
                 least_ring = fold ? 81920 : 524288;
    const struct algorithm ring = {p - 1, (p - 1) / p};
    if (kind == COMM_ALL_REDUCE)
        return bytes <= most_doubled ? (struct algorithm){depth + 2 * fold, depth + 2 * fold}
                                     : (struct algorithm){2 * depth + 2 * fold, 2 * (power - 1) / power + 2 * fold};
    if (kind == COMM_REDUCE_SCATTER && bytes < least_pairwise) {
        double halves = 0;
        for (double parts = power / 2; parts >= 1; parts /= 2)
            halves += (parts + fmin(p - power, parts)) / p;
        return (struct algorithm){depth + 2 * fold, halves + fold * (1 + 1 / p)};
    }
    if (kind == COMM_ALL_GATHER && bytes < least_ring)
        return (struct algorithm){ceil(log2(p)), ring.volume};
    return ring;
}

void algorithms_find(struct algorithm a[2], enum library library, enum comm_kind kind, size_t ranks, double bytes,
                     int alone_on_host)
{
    const double p = (double)ranks, depth = ceil(log2(p)), passes = kind == COMM_ALL_REDUCE ? 2 : 1;
    a[0] = a[1] = library == LIBRARY_MPICH ? of_mpich(kind, ranks, bytes)
                                           : (struct algorithm){passes * (p - 1), passes * (p - 1) / p};
    if (library == LIBRARY_NCCL && kind == COMM_ALL_REDUCE)
        a[1] = (struct algorithm){2 * depth, 2};
    else if (library == LIBRARY_NCCL && alone_on_host)
        a[1].stages = depth;
}
