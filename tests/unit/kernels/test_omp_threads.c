/* test_omp_threads.c - OMP_NUM_THREADS, by the table of values with which tests/cli/run.sh tests launch/run.sh. */
#include "kernels/omp_threads.h"
#include "tests/support/suite.h"

#include <stdio.h>

TEST(values_of_the_table_are_read_or_refused)
{
    char line[100], list[100];
    int threads, n = 0;
    FILE *file = fopen("tests/support/omp_num_threads.txt", "r"); /* lines "NUMBER [VALUE]", -1: refused */
    ck_assert_ptr_nonnull(file);
    for (; fgets(line, sizeof line, file); n++) {
        list[0] = 0; /* for [], where %[ reads nothing */
        ck_assert_int_ge(sscanf(line, "%d [%99[^]]", &threads, list), 1);
        ck_assert_msg(omp_threads_of_list(list) == threads, "'%s': %d, expected %d", list, omp_threads_of_list(list),
                      threads);
    }
    fclose(file);
    ck_assert_int_gt(n, 30);
    ck_assert_int_eq(omp_threads_of_list(NULL), 0);
}

SUITE("omp_threads", NULL, NULL)
