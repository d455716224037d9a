/* test_measure.c - how large the copies and matrix products of `isolate` are. */
#include "isolate/measure.h"

#include "tests/support/suite.h"

#define MIB ((size_t)1 << 20)

TEST(a_gpu_copies_more_than_its_cache_holds)
{
    ck_assert_uint_eq(measure_work_for(1, 126 * MIB).copy_bytes, 630 * MIB);
    ck_assert_uint_eq(measure_work_for(1, 0).copy_bytes, 250 * MIB);
    ck_assert_uint_eq(measure_work_for(1, MIB).copy_bytes, 16 * MIB);
    ck_assert_uint_eq(measure_work_for(1, 0).edge, 8192);
}

TEST(the_cpu_copies_16_mib)
{
    ck_assert_uint_eq(measure_work_for(0, 0).copy_bytes, 16 * MIB);
    ck_assert_uint_eq(measure_work_for(0, 0).edge, 256);
}

SUITE("isolate/measure", NULL, NULL)
