/* suite.h - tests that register themselves: a file has TEST(name) { ... } for each test, and ends with SUITE. */
#ifndef TESTS_SUPPORT_SUITE_H
#define TESTS_SUPPORT_SUITE_H

#include "ddp/job.h"

#include <check.h>
#include <stdio.h>

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
        suite_register(__LINE__, NULL, name##_add);                                                                    \
    }                                                                                                                  \
    static void name##_body(int _i CK_ATTRIBUTE_UNUSED)

/* The tests below it, up to the next CASE, are of this case: CK_RUN_CASE=name runs only its tests, and
 * CK_INCLUDE_TAGS="name name" runs the tests of several cases. */
#define CASE(name)                                                                                                     \
    __attribute__((constructor)) static void case_##name(void)                                                         \
    {                                                                                                                  \
        suite_register(__LINE__, #name, NULL);                                                                         \
    }

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

/* Adds a test, or the begin of a case, to the program's tests, which run in the order of their line numbers. Called by
 * TEST and CASE. */
void suite_register(int line, const char *case_name, void (*add)(TCase *tests));

/* Return memory of malloc, or a JSON value, which is freed when the test ends. */
void *kept(void *memory);
struct cJSON *kept_json(struct cJSON *json);

/* Returns an object on which `release` is called when the test ends. */
void *kept_until_end(void *object, void (*release)(void *object));

/* Fail the test unless the text has the words, or lacks them. */
void check_has(const char *text, const char *words);
void check_lacks(const char *text, const char *words);

/* Returns how often the text has the words. */
size_t count_of(const char *text, const char *words);

/* Returns the content of a file, relative to the top of the project, until the test ends. */
char *text_of_file(const char *path);

/* printing returns a stream that writes to memory; printed closes it, and returns what was written until the test ends.
 */
FILE *printing(void);
char *printed(void);

/* Creates a suite of all TESTs of the program. */
Suite *suite_of_tests(const char *name, void (*setup)(void), void (*teardown)(void));

/* Runs each test in a separate process, unless CK_FORK=no; frees the suite. Returns main's status. */
int suite_run(Suite *suite);

/* Runs the suite on every rank of a job, in this process (MPI does not survive a fork); rank 0 prints. Ends the job. */
int suite_run_ranks(Suite *suite, struct job *job);

#endif
