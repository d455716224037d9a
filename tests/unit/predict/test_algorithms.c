/* test_algorithms.c - stages and volumes of collectives, compared with values by hand and with measurements. */
#include "predict/algorithms.h"

#include "tests/support/suite.h"

#include <math.h>

static void is(struct algorithm a, double stages, double volume)
{
    ck_assert_msg(fabs(a.stages - stages) < 1e-12 && fabs(a.volume - volume) < 1e-12, "%g stages, %g bytes, not %g, %g",
                  a.stages, a.volume, stages, volume);
}

/* With MPICH both algorithms are equal. */
static void mpich(enum comm_kind kind, size_t ranks, double bytes, double stages, double volume)
{
    struct algorithm a[2];
    algorithms_find(a, LIBRARY_MPICH, kind, ranks, bytes, 1);
    is(a[0], stages, volume);
    is(a[1], stages, volume);
}

TEST(mpich_at_powers_of_two)
{
    mpich(COMM_ALL_REDUCE, 8, 2048, 3, 3);
    mpich(COMM_ALL_REDUCE, 8, 2049, 6, 1.75);
    mpich(COMM_ALL_REDUCE, 1024, 4092, 10, 10); /* 1023 floats */
    mpich(COMM_ALL_REDUCE, 1024, 4096, 20, 2 * 1023 / 1024.0);
    mpich(COMM_REDUCE_SCATTER, 8, 4 * 524287, 3, 0.875);
    mpich(COMM_REDUCE_SCATTER, 8, 4 * 524288, 7, 0.875);
    mpich(COMM_ALL_GATHER, 8, 524287, 3, 0.875);
    mpich(COMM_ALL_GATHER, 8, 524288, 7, 0.875);
    mpich(COMM_REDUCE_SCATTER, 2, 1e6, 1, 0.5);
}

/* Measured in an emulated network, per byte: an all-reduce of 2 MiB between 3 ranks sends 3.00 bytes. A reduce-scatter
 * up to 524,288 floats sends 2.0 between 3 ranks and 2.17 between 6, and above this size a third of 2.0 between 3. */
TEST(mpich_folds_other_numbers)
{
    mpich(COMM_ALL_REDUCE, 3, 1024, 3, 3);
    mpich(COMM_ALL_REDUCE, 3, 1 << 21, 4, 3.00);
    mpich(COMM_ALL_REDUCE, 5, 1 << 21, 6, 3.5);
    mpich(COMM_ALL_REDUCE, 6, 1 << 21, 6, 3.5);
    mpich(COMM_REDUCE_SCATTER, 3, 1 << 20, 3, 2);
    mpich(COMM_REDUCE_SCATTER, 5, 1 << 20, 4, 2.2);
    mpich(COMM_REDUCE_SCATTER, 6, 1 << 20, 4, 13 / 6.0);
    mpich(COMM_REDUCE_SCATTER, 3, 1 << 21, 2, 2 / 3.0);
    mpich(COMM_ALL_GATHER, 3, 81919, 2, 2 / 3.0);
    mpich(COMM_ALL_GATHER, 5, 81919, 3, 0.8);
    mpich(COMM_ALL_GATHER, 5, 81920, 4, 0.8);
    ck_assert(algorithms_fold(LIBRARY_MPICH, 3) && algorithms_fold(LIBRARY_MPICH, 6));
    ck_assert(!algorithms_fold(LIBRARY_MPICH, 2) && !algorithms_fold(LIBRARY_MPICH, 64) &&
              !algorithms_fold(LIBRARY_NCCL, 3));
}

TEST(nccl_has_a_tree_for_all_reduces_only)
{
    struct algorithm a[2];
    algorithms_find(a, LIBRARY_NCCL, COMM_ALL_REDUCE, 6, 1e6, 1);
    is(a[0], 10, 2 * 5 / 6.0);
    is(a[1], 6, 2);
    for (int alone = 0; alone < 2; alone++) {
        algorithms_find(a, LIBRARY_NCCL, COMM_REDUCE_SCATTER, 6, 1e6, alone);
        is(a[0], 5, 5 / 6.0);
        is(a[1], alone ? 3 : 5, 5 / 6.0);
    }
}

SUITE("algorithms of collectives", NULL, NULL)
