/* suite.c - runs a suite of Check tests to its end. */
#include "tests/support/suite.h"

#include <stdlib.h>

enum { MOST_TESTS = 200, TEST_SECONDS = 240 /* time limit of a test, enough with a sanitizer on a busy machine */ };

static struct test {
    int line;
    void (*add)(TCase *tests);
} test[MOST_TESTS];
static size_t tests;

/* After each assertion that holds, Check calls _mark_point, which writes the line to a pipe for the report of a crash.
 * These writes took most of the time of assertions in loops. The linker (--wrap) puts this function in the place of
 * _mark_point. It skips a line that was marked a short time ago. */
void __real__mark_point(const char *file, int line);
void __wrap__mark_point(const char *file, int line);
void __wrap__mark_point(const char *file, int line)
{
    enum { RECENT = 8 };
    static int recent[RECENT], next;
    for (int i = 0; i < RECENT; i++)
        if (recent[i] == line)
            return;
    recent[next++ % RECENT] = line;
    __real__mark_point(file, line);
}

void suite_register(int line, void (*add)(TCase *tests))
{
    if (tests == MOST_TESTS)
        abort();
    test[tests++] = (struct test){line, add};
}

static int compare_lines(const void *a, const void *b)
{
    return ((const struct test *)a)->line - ((const struct test *)b)->line;
}

Suite *suite_of_tests(const char *name, void (*setup)(void), void (*teardown)(void))
{
    Suite *suite = suite_create(name);
    TCase *all = tcase_create(name);
    tcase_set_timeout(all, TEST_SECONDS);
    tcase_add_checked_fixture(all, setup, teardown);
    qsort(test, tests, sizeof *test, compare_lines);
    for (size_t i = 0; i < tests; i++)
        test[i].add(all);
    suite_add_tcase(suite, all);
    return suite;
}

int suite_run(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
