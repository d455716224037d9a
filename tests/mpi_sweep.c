/* mpi_sweep.c - the figures of a sweep, from made-up times of 1 to 4 ranks: which rank's time counts, over which axis.
 */
#include "sweep.h"

#include "error.h"
#include "suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

static struct job job;

enum { N = 100 };

/* Iteration i of rank r takes (i + 1) (r + 1) ms. */
static struct measured made_up(enum comm_kind kind)
{
    struct measured row = {.collective = {.kind = kind, .count = 1000}, .bytes = 4000, .n = N};
    row.seconds = allocate(N, sizeof *row.seconds);
    for (int i = 0; i < N; i++)
        row.seconds[i] = 1e-3 * (i + 1) * (job.rank + 1);
    row.cpu_seconds = 0.1 * N * (job.rank + 1);
    return row;
}

START_TEST(each_average_is_its_own)
{
    double mean = 0, n = job.size;
    for (int r = 0; r < job.size; r++)
        mean += (r + 1) / n;
    const double factor[AVERAGES] = {1, mean, 1, n};
    struct sweep_options options = {.average = (size_t)_i};
    struct sweep sweep = {.job = &job, .options = &options};
    struct measured row = made_up(COMM_ALL_REDUCE);
    sweep_finish(&sweep, &row);
    ck_assert_double_eq_tol(row.iterations.min, 1e-3 * factor[_i], 1e-12);
    ck_assert_double_eq_tol(row.iterations.mean, 50.5e-3 * factor[_i], 1e-12);
    ck_assert_double_eq_tol(row.iterations.median, 50.5e-3 * factor[_i], 1e-12);
    ck_assert_double_eq_tol(row.iterations.p95, 95.05e-3 * factor[_i], 1e-12);
    ck_assert_double_eq_tol(row.iterations.p99, 99.01e-3 * factor[_i], 1e-12);
    ck_assert_double_eq_tol(row.iterations.max, 100e-3 * factor[_i], 1e-12);
    ck_assert_double_eq_tol(row.sustained, 50.5e-3 * factor[_i], 1e-12); /* stretches 5.5, 15.5, ... 95.5 */
    ck_assert_double_eq_tol(row.ranks.min, 50.5e-3, 1e-12);
    ck_assert_double_eq_tol(row.ranks.max, 50.5e-3 * n, 1e-12);
    ck_assert_double_eq_tol(row.ranks.median, 50.5e-3 * (n + 1) / 2, 1e-12);
    ck_assert_int_eq(row.slowest_rank, job.size - 1);
    ck_assert_double_eq_tol(row.cpu_iteration, 0.1 * mean, 1e-12);
    ck_assert_double_eq_tol(row.algbw, 4000 / row.sustained, 1e-6);
    ck_assert_double_eq_tol(row.busbw, row.algbw * sweep_bus_factor(COMM_ALL_REDUCE, job.size), 1e-6);
    free(row.seconds);
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
            ck_assert_double_eq(sweep_bus_factor((enum comm_kind)k, ranks[i]), known[k][i]);
}
END_TEST

/* A real row: as many iterations as were asked for, all longer than nothing, and none wrong; ranks agree on the rest.
 */
START_TEST(a_real_row_is_measured)
{
    static const char *const kinds[] = {"all_reduce", "reduce_scatter", "all_gather", "broadcast"};
    char *words[] = {"allreduce",    "--sizes",        "4K", "-n", "20", "-N", "2", "--call", "nonblocking",
                     "--collective", (char *)kinds[_i]};
    struct sweep_options options;
    ck_assert_int_eq(sweep_options_parse(&options, sizeof words / sizeof *words, words), 0);
    struct sweep sweep = {.job = &job, .options = &options, .device = device_cpu(1)};
    sweep_create(&sweep);
    sweep.comm = job.size == 1 ? comm_self_create(&sweep.timeline)
                               : comm_mpi_create(&sweep.timeline, 1, (struct comm_progress){PROGRESS_AUTO, 0}, 0);
    ck_assert_uint_eq(sweep.rows, _i == COMM_BROADCAST ? 1 : 2);
    for (size_t i = 0; i < sweep.rows; i++) {
        struct measured *row = &sweep.row[i];
        sweep_measure(&sweep, row, 0);
        ck_assert_uint_eq(row->n, 10);
        sweep_measure(&sweep, row, 1);
        ck_assert_uint_eq(row->n, 20);
        ck_assert_int_eq(row->wrong, 0);
        sweep_finish(&sweep, row);
        ck_assert_double_gt(row->iterations.min, 0);
        ck_assert_double_eq(row->iterations.median, job_max(&job, row->iterations.median));
    }
    sweep.comm->destroy(sweep.comm);
    sweep_destroy(&sweep);
    sweep_options_destroy(&options);
}
END_TEST

int main(void)
{
    if (job_begin(&job))
        return 1;
    Suite *suite = suite_create("sweep");
    TCase *tests = tcase_create("sweep");
    tcase_add_loop_test(tests, each_average_is_its_own, 0, AVERAGES);
    tcase_add_test(tests, bus_factors_are_those_of_nccl_tests);
    tcase_add_loop_test(tests, a_real_row_is_measured, 0, COMM_KINDS);
    suite_add_tcase(suite, tests);
    return suite_run_ranks(suite, &job);
}
