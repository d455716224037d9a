/* suite.h - tests that register themselves: a file has TEST(name) { ... } for each test, and ends with SUITE. */
#ifndef TESTS_SUPPORT_SUITE_H
#define TESTS_SUPPORT_SUITE_H

#include "ddp/job.h"

#include <check.h>

/* TEST: a test. TEST_EACH: n tests, with _i from 0 to n - 1. TEST_RANGE: tests with _i from `from` to `to` - 1, each of
 * which must end its process with exit status `status`. n and `to` may be variables that main sets first. */
#define TEST(name)         TEST_RANGE(name, 0, 0, 1)
#define TEST_EACH(name, n) TEST_RANGE(name, 0, 0, n)
#define TEST_RANGE(name, status, from, to)                                                                             \
    static void name##_body(int _i);                                                                                   \
    START_TEST(name)                                                                                                   \
    {                                                                                                                  \
        name##_body(_i);                                                                                               \
    }                                                                                                                  \
    END_TEST                                                                                                           \
    static void name##_add(TCase *tests)                                                                               \
    {                                                                                                                  \
        tcase_add_loop_exit_test(tests, name, status, from, (int)(to));                                                \
    }                                                                                                                  \
    __attribute__((constructor)) static void name##_register(void)                                                     \
    {                                                                                                                  \
        suite_register(__LINE__, name##_add);                                                                          \
    }                                                                                                                  \
    static void name##_body(int _i CK_ATTRIBUTE_UNUSED)

/* Defines main, which runs each test in its own process, between setup and teardown (either may be NULL). */
#define SUITE(name, setup, teardown)                                                                                   \
    int main(void)                                                                                                     \
    {                                                                                                                  \
        return suite_run(suite_of_tests(name, setup, teardown));                                                       \
    }

/* Like SUITE, for a program that runs under MPI: all tests run in one process per rank. `job` is a struct job. */
#define SUITE_OF_RANKS(name, job, setup, teardown)                                                                     \
    int main(void)                                                                                                     \
    {                                                                                                                  \
        return job_begin(&(job), 0, NULL, NULL) ? 1 : suite_run_ranks(suite_of_tests(name, setup, teardown), &(job));  \
    }

/* Adds a test to the program's tests, which run in the order of their line numbers. Called by TEST. */
void suite_register(int line, void (*add)(TCase *tests));

/* Creates a suite of all TESTs of the program. */
Suite *suite_of_tests(const char *name, void (*setup)(void), void (*teardown)(void));

/* Runs each test in a separate process, unless CK_FORK=no; frees the suite. Returns main's status. */
int suite_run(Suite *suite);

/* Runs the suite on every rank of a job, in this process (MPI does not survive a fork); rank 0 prints. Ends the job. */
int suite_run_ranks(Suite *suite, struct job *job);

#endif
