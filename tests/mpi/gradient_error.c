/* gradient_error.c - tests the error of reduced gradients that have known mistakes, whole and in shards. */
#include "ddp/gradient_error.h"

#include "kernels/device.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdlib.h>

enum { ARENA = 1200000, RANGES = 3, FIRST = ARENA / 10 }; /* longer than 2^20 numbers */

static struct job job;
static struct tensor tensor[] = {{.count = FIRST}, {.offset = FIRST, .count = ARENA - FIRST}};
static struct model model = {.arena = ARENA, .parameters = ARENA, .tensor = tensor, .tensors = 2};
static struct owned_range owned[RANGES];
static struct reducer reducer = {.model = &model, .owned = owned};
static float *local, *reduced;
static double total; /* sum over the ranks of rank + 1 */

/* Rank r has the gradient (r + 1) * x, with whole numbers x, so that sums in fp32 are exact. Reduces it without
 * mistakes. */
static void setup(void)
{
    model.device = device_cpu(1);
    local = model.device->allocate(ARENA * sizeof *local);
    reduced = model.device->allocate(ARENA * sizeof *reduced);
    total = job.size * (job.size + 1) / 2.0;
    for (int i = 0; i < ARENA; i++) {
        local[i] = (float)((job.rank + 1) * (i % 1001 - 500));
        reduced[i] = (float)(total * (i % 1001 - 500));
    }
    owned[0] = (struct owned_range){0, ARENA, 0, reduced};
    reducer.ranges = 1;
}

static void teardown(void)
{
    model.device->release(local);
    model.device->release(reduced);
}

/* Cuts the arena into buckets of unequal lengths, of which each rank owns a part. */
static void shard(void)
{
    static const size_t bucket[RANGES + 1] = {0, 12, 240012, ARENA}; /* the parts are whole on 1 to 4 ranks */
    reducer.ranges = RANGES;
    for (int i = 0; i < RANGES; i++) {
        size_t part = (bucket[i + 1] - bucket[i]) / (size_t)job.size, at = bucket[i] + (size_t)job.rank * part;
        owned[i] = (struct owned_range){at, part, 0, reduced + at};
    }
}

/* The numbers that count are rounded up in each quarter, which changes their share by up to 1e-5. */
static void expect(double error)
{
    double found = gradient_error(&reducer, &job, local);
    ck_assert_msg(fabs(found - error) <= 2e-5 * error, "the error is %.9g, not %.9g", found, error);
}

TEST(an_exact_sum_has_no_error)
{
    expect(0);
    shard();
    expect(0);
}

/* The sum without the last rank differs by (ranks) x from the whole sum, (total) x. */
TEST(a_forgotten_rank_shows)
{
    for (int i = 0; i < ARENA; i++)
        reduced[i] -= (float)(job.size * (i % 1001 - 500));
    expect(job.size / total);
    shard();
    expect(job.size / total);
}

TEST(a_wrong_scale_shows)
{
    for (int i = 0; i < ARENA; i++)
        reduced[i] *= 1 + 0x1p-10f;
    expect(0x1p-10);
    shard();
    expect(0x1p-10);
}

/* If a single rank has a wrong gradient, the mean squared error over the ranks is 1 / ranks of that rank's. */
TEST(one_wrong_rank_shows)
{
    for (int i = 0; i < ARENA && job.rank == job.size - 1; i++)
        reduced[i] *= 1 + 0x1p-10f;
    expect(0x1p-10 / sqrt(job.size));
}

/* If a tensor with a tenth of all numbers is wrong, a tenth of the numbers that count is wrong. */
TEST(tensors_count_in_proportion)
{
    for (int i = 0; i < ARENA; i++) {
        local[i] = (float)job.rank + 1;
        reduced[i] = (float)total * (i < FIRST ? 1 + 0x1p-10f : 1);
    }
    expect(0x1p-10 * sqrt(0.1));
}

/* Numbers outside the owned ranges, here numbers in the other ranks' shards, do not count. */
TEST(only_owned_ranges_count)
{
    shard();
    for (size_t i = owned[0].offset + owned[0].count; i < owned[1].offset; i++)
        reduced[i] = NAN;
    expect(0);
}

TEST(an_error_of_nothing_is_unknown)
{
    model.device->zero(local, ARENA);
    ck_assert(isinf(gradient_error(&reducer, &job, local)));
    model.device->zero(reduced, ARENA);
    ck_assert(isnan(gradient_error(&reducer, &job, local)));
}

SUITE_OF_RANKS("gradient_error", job, setup, teardown)
