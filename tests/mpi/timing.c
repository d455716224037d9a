/* timing.c - tests allreduce's timings: figures from made-up times of 1 to 4 ranks (which rank's times count,
 * statistics), and timings of real collectives. */
#include "allreduce/timing.h"

#include "kernels/error.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

static struct job job;

enum { N = 100 };

/* Returns the factor by which a rank's times are multiplied: 2 for rank 0, 3 for rank 1, and so on, but 1 for the last
 * rank. (Iterations take 1 and 3 ms in turn; iterations of the first tenth take a hundred times as long.) */
static double factor_of(int rank)
{
    return (rank + 1) % job.size + 1;
}

static struct collective_timing made_up(enum comm_kind kind)
{
    struct collective_timing t = {.collective = {.kind = kind, .count = 1000}, .bytes = 4000, .n = N, .parts = N};
    t.seconds = allocate(N, sizeof *t.seconds);
    for (int i = 0; i < N; i++)
        t.seconds[i] = (i % 2 ? 3e-3 : 1e-3) * (i < N / 10 ? 100 : 1) * factor_of(job.rank);
    t.cpu_seconds = 0.1 * N * factor_of(job.rank);
    return t;
}

TEST_EACH(each_rank_time_is_its_own, RANK_TIMES)
{
    double n = job.size, mean = (n + 1) / 2;
    const double factor[RANK_TIMES] = {
        [TIME_OF_RANK0] = factor_of(0), [TIME_MEAN] = mean, [TIME_OF_FASTEST] = 1, [TIME_OF_SLOWEST] = n};
    struct collective_timing t = made_up(COMM_ALL_REDUCE);
    timing_finish(&job, (enum rank_time)_i, &t);
    ck_assert_double_eq_tol(t.iterations.min, 1e-3 * factor[_i], 1e-12);
    ck_assert_double_eq_tol(t.iterations.mean, (0.9 * 2e-3 + 0.1 * 200e-3) * factor[_i], 1e-12);
    ck_assert_double_eq_tol(t.iterations.median, 3e-3 * factor[_i], 1e-12);
    ck_assert_double_eq_tol(t.iterations.p95, 110e-3 * factor[_i], 1e-12); /* 100 + 0.05 x (300 - 100) ms */
    ck_assert_double_eq_tol(t.iterations.max, 300e-3 * factor[_i], 1e-12);
    /* the time is the median of the means of ten parts, 200 ms once and 2 ms nine times; the mean of all is 21.8 ms */
    ck_assert_double_eq_tol(t.time.median, 2e-3 * factor[_i], 1e-12);
    ck_assert_double_eq_tol(t.cpu_time, 0.1 * mean, 1e-12);
    ck_assert_double_eq_tol(t.algbw, 4000 / t.time.median, 1e-6);
    ck_assert_double_eq_tol(t.busbw, t.algbw * comm_bus_factor(COMM_ALL_REDUCE, job.size), 1e-6);
    free(t.seconds);
}

/* The overlap ratio follows OSU's formula: 1 if all communication is hidden, 0 if none is, negative if both together
 * take longer than one after the other. */
TEST(overlap_is_not_clamped)
{
    ck_assert_double_eq_tol(overlap_timing_ratio(10, 4, 10), 1, 1e-12);
    ck_assert_double_eq_tol(overlap_timing_ratio(10, 4, 14), 0, 1e-12);
    ck_assert_double_eq_tol(overlap_timing_ratio(10, 4, 11), 0.75, 1e-12);
    ck_assert_double_eq_tol(overlap_timing_ratio(10, 4, 16), -0.5, 1e-12);
}

TEST(bus_factors_are_those_of_nccl_tests)
{
    static const double known[COMM_KINDS][3] = {
        [COMM_ALL_REDUCE] = {0, 1, 1.75}, [COMM_REDUCE_SCATTER] = {0, 0.5, 0.875}, [COMM_ALL_GATHER] = {0, 0.5, 0.875},
        [COMM_BROADCAST] = {0, 1, 1},     [COMM_ALL_TO_ALL] = {0, 0.5, 0.875},
    };
    static const int ranks[] = {1, 2, 8};
    for (int k = 0; k < COMM_KINDS; k++)
        for (int i = 0; i < 3; i++)
            ck_assert_double_eq(comm_bus_factor((enum comm_kind)k, ranks[i]), known[k][i]);
}

/* Sizes are rounded down to whole elements and equal parts; sizes that become equal are timed once. */
TEST(sizes_are_whole_elements)
{
    static const size_t bytes[] = {1, 5, 100, 101};
    struct collective_choice choice = {
        .kind = COMM_REDUCE_SCATTER, .dtypes = 1 << COMM_FLOAT64 | 1 << COMM_BF16, .ops = 3};
    size_t n;
    struct collective_timing *t = timing_create(&choice, bytes, 4, 3, 0, &n);
    ck_assert_uint_eq(n, 2 * 2 * 2 + 2 * 2 * 2); /* 1 or 4 doubles, 1 or 16 bf16; 2 operations; in place or not */
    for (size_t i = 0; i < n; i++) {
        const struct collective *c = &t[i].collective;
        size_t large = c->dtype == COMM_FLOAT64 ? 4 : 16;
        ck_assert_int_eq(t[i].in_place, i % 2 != 0);
        ck_assert_uint_eq(c->count, i / 2 % 2 ? large : 1);
        ck_assert_uint_eq(t[i].bytes, 3 * c->count * comm_dtype_bytes(c->dtype));
    }
    timing_destroy(t, n);
    choice.kind = COMM_BROADCAST;
    timing_destroy(timing_create(&choice, bytes, 4, 3, 0, &n), n);
    ck_assert_uint_eq(n, 2 + 3); /* in place, for any operation: 1 and 12 doubles; 1, 2 and 50 bf16 */
}

/* A real timing has the requested iterations, which all take time, and no wrong element; ranks agree on the figures. */
TEST_EACH(a_real_timing_is_right, BLOCKINGS *COMM_ALL_TO_ALL)
{
    static const size_t bytes = 4096;
    struct collective_choice choice = {.kind = (enum comm_kind)(_i % COMM_ALL_TO_ALL), .dtypes = 1, .ops = 1};
    enum blocking blocking = (enum blocking)(_i / COMM_ALL_TO_ALL);
    struct timing_options options = {
        .iters = 21, .warmup_iters = 5, .cycles = 2, .check = 1, .time = TIME_MEAN, .blocking = blocking};
    struct comm_options comm = {0};
    struct endpoint endpoint;
    size_t n, same = 0;
    struct collective_timing *timing = timing_create(&choice, &bytes, 1, job.size, 0, &n);
    ck_assert_int_eq(endpoint_create(&endpoint, &job, device_cpu(1), &comm, bytes), 0);
    ck_assert_uint_eq(n, choice.kind == COMM_BROADCAST ? 1 : 2);
    for (struct collective_timing *t = timing; t < timing + n; t++) {
        timing_measure(&endpoint, &options, t, 0);
        ck_assert_uint_eq(t->n, 10);
        for (int i = 1; i < 10; i++)
            same += t->seconds[i] == t->seconds[i - 1];
        /* queued iterations are timed together and share a time, as do copies on one rank that take no time */
        ck_assert(blocking == BLOCKING_NO ? same > 4 : job.size == 1 || same < 5);
        same = 0;
        timing_measure(&endpoint, &options, t, 1);
        ck_assert_uint_eq(t->n, 21);
        ck_assert_double_eq(t->wrong, 0);
        timing_finish(&job, options.time, t);
        ck_assert_double_gt(t->iterations.min, 0);
        ck_assert_double_eq(t->iterations.median, job_max(&job, t->iterations.median));
    }
    endpoint_destroy(&endpoint);
    timing_destroy(timing, n);
}

SUITE_OF_RANKS("timing", job, NULL, NULL)
