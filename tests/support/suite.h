/* suite.h - tests that register themselves: a file has TEST(name) { ... } for each test, and ends with SUITE. */
#ifndef TESTS_SUPPORT_SUITE_H
#define TESTS_SUPPORT_SUITE_H

#include "ddp/job.h"

#include <check.h>

/* TEST: a test, run in a separate process. TEST_EACH: n tests, with _i from 0 to n - 1. TEST_RANGE: tests with _i from
 * `from` to to - 1, each of which must exit with the status. n and to are evaluated when main runs. */
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

/* main: runs setup (or NULL), a test and teardown (or NULL) in a separate process for each test. */
#define SUITE(name, setup, teardown)                                                                                   \
    int main(void)                                                                                                     \
    {                                                                                                                  \
        return suite_run(suite_of_tests(name, setup, teardown));                                                       \
    }

/* main of a program that runs under MPI; job is a struct job of the file. */
#define SUITE_OF_RANKS(name, job, setup, teardown)                                                                     \
    int main(void)                                                                                                     \
    {                                                                                                                  \
        return job_begin(&(job), 0, NULL) ? 1 : suite_run_ranks(suite_of_tests(name, setup, teardown), &(job));        \
    }

/* Used by TEST. Tests run in the order of their lines. */
void suite_register(int line, void (*add)(TCase *tests));

/* Creates a suite of every TEST of the program. */
Suite *suite_of_tests(const char *name, void (*setup)(void), void (*teardown)(void));

/* Runs each test in a separate process, unless CK_FORK=no; frees the suite. Returns main's status. */
int suite_run(Suite *suite);

/* Runs the suite on every rank of a job, in this process (MPI does not survive a fork); rank 0 prints. Ends the job. */
int suite_run_ranks(Suite *suite, struct job *job);

#endif
