/* measure.c - the figures of a sweep, from made-up times of 1 and 3 ranks: which rank's time counts, over which axis.
 */
#include "allreduce/overlap.h"

#include "kernels/error.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

static struct job job;

enum { N = 100 };

/* Iterations alternate between 1 and 3 ms, and those of the first tenth take a hundred times as long; times the factor
 * of the rank, which is the largest, the number of ranks, on the rank before the last. */
static double factor_of(int rank)
{
    return (rank + 1) % job.size + 1;
}

static struct measured made_up(enum comm_kind kind)
{
    struct measured row = {.collective = {.kind = kind, .count = 1000}, .bytes = 4000, .n = N};
    row.seconds = allocate(N, sizeof *row.seconds);
    for (int i = 0; i < N; i++)
        row.seconds[i] = (i % 2 ? 3e-3 : 1e-3) * (i < N / 10 ? 100 : 1) * factor_of(job.rank);
    row.cpu_seconds = 0.1 * N * factor_of(job.rank);
    return row;
}

START_TEST(each_average_is_its_own)
{
    double n = job.size, mean = (n + 1) / 2;
    const double factor[AVERAGES] = {
        [AVERAGE_RANK0] = factor_of(0), [AVERAGE_MEAN] = mean, [AVERAGE_MIN] = 1, [AVERAGE_MAX] = n};
    struct sweep_options options = {.average = (size_t)_i};
    struct sweep sweep = {.job = &job, .options = &options};
    struct measured row = made_up(COMM_ALL_REDUCE);
    sweep_finish(&sweep, &row);
    ck_assert_double_eq_tol(row.iterations.min, 1e-3 * factor[_i], 1e-12);
    ck_assert_double_eq_tol(row.iterations.mean, (0.9 * 2e-3 + 0.1 * 200e-3) * factor[_i], 1e-12);
    ck_assert_double_eq_tol(row.iterations.median, 3e-3 * factor[_i], 1e-12);
    ck_assert_double_eq_tol(row.iterations.p95, 110e-3 * factor[_i], 1e-12); /* 100 + 0.05 x (300 - 100) */
    ck_assert_double_eq_tol(row.iterations.max, 300e-3 * factor[_i], 1e-12);
    /* neither the mean, 21.8 ms, nor the median: nine stretches of ten have a mean of 2 ms, and the first of 200 ms */
    ck_assert_double_eq_tol(row.sustained, 2e-3 * factor[_i], 1e-12);
    ck_assert_double_eq_tol(row.ranks.min, 3e-3, 1e-12);
    ck_assert_double_eq_tol(row.ranks.max, 3e-3 * n, 1e-12);
    ck_assert_double_eq_tol(row.ranks.median, 3e-3 * mean, 1e-12);
    ck_assert_int_eq(row.slowest_rank, job.size > 1 ? job.size - 2 : 0);
    ck_assert_double_eq_tol(row.cpu_iteration, 0.1 * mean, 1e-12);
    ck_assert_double_eq_tol(row.algbw, 4000 / row.sustained, 1e-6);
    ck_assert_double_eq_tol(row.busbw, row.algbw * comm_bus_factor(COMM_ALL_REDUCE, job.size), 1e-6);
    free(row.seconds);
}
END_TEST

/* OSU's formula: all hidden, nothing hidden, and worse than one after the other. */
START_TEST(overlap_is_not_clamped)
{
    ck_assert_double_eq_tol(sweep_overlap_percent(10, 4, 10), 100, 1e-12);
    ck_assert_double_eq_tol(sweep_overlap_percent(10, 4, 14), 0, 1e-12);
    ck_assert_double_eq_tol(sweep_overlap_percent(10, 4, 11), 75, 1e-12);
    ck_assert_double_eq_tol(sweep_overlap_percent(10, 4, 16), -50, 1e-12);
}
END_TEST

START_TEST(bus_factors_are_those_of_nccl_tests)
{
    static const double known[COMM_KINDS][3] = {
        [COMM_ALL_REDUCE] = {0, 1, 1.75},
        [COMM_REDUCE_SCATTER] = {0, 0.5, 0.875},
        [COMM_ALL_GATHER] = {0, 0.5, 0.875},
        [COMM_BROADCAST] = {0, 1, 1},
    };
    static const int ranks[] = {1, 2, 8};
    for (int k = 0; k < COMM_KINDS; k++)
        for (int i = 0; i < 3; i++)
            ck_assert_double_eq(comm_bus_factor((enum comm_kind)k, ranks[i]), known[k][i]);
}
END_TEST

/* A real row: as many iterations as were asked for, all longer than nothing, and none wrong; ranks agree on the rest.
 */
START_TEST(a_real_row_is_measured)
{
    static const char *const kinds[] = {"all_reduce", "reduce_scatter", "all_gather", "broadcast"};
    char *words[] = {"allreduce",
                     "--sizes",
                     "4K",
                     "-n",
                     "21",
                     "-N",
                     "2",
                     "--call",
                     _i < COMM_KINDS ? "nonblocking" : "blocking",
                     "--collective",
                     (char *)kinds[_i % COMM_KINDS]};
    struct sweep_options options;
    ck_assert_int_eq(sweep_options_parse(&options, sizeof words / sizeof *words, words), 0);
    struct sweep sweep = {.job = &job, .options = &options, .device = device_cpu(1)};
    ck_assert_int_eq(sweep_create(&sweep, 0), 0);
    ck_assert_uint_eq(sweep.rows, _i % COMM_KINDS == COMM_BROADCAST ? 1 : 2);
    for (size_t i = 0; i < sweep.rows; i++) {
        struct measured *row = &sweep.row[i];
        sweep_measure(&sweep, row, 0);
        ck_assert_uint_eq(row->n, 10);
        sweep_measure(&sweep, row, 1);
        ck_assert_uint_eq(row->n, 21);
        ck_assert_int_eq(row->wrong, 0);
        sweep_finish(&sweep, row);
        ck_assert_double_gt(row->iterations.min, 0);
        ck_assert_double_eq(row->iterations.median, job_max(&job, row->iterations.median));
    }
    sweep_destroy(&sweep);
    sweep_options_destroy(&options);
}
END_TEST

int main(void)
{
    if (job_begin(&job))
        return 1;
    Suite *suite = suite_create("measure");
    TCase *tests = tcase_create("sweep");
    tcase_add_loop_test(tests, each_average_is_its_own, 0, AVERAGES);
    tcase_add_test(tests, overlap_is_not_clamped);
    tcase_add_test(tests, bus_factors_are_those_of_nccl_tests);
    tcase_add_loop_test(tests, a_real_row_is_measured, 0, 2 * COMM_KINDS);
    suite_add_tcase(suite, tests);
    return suite_run_ranks(suite, &job);
}
