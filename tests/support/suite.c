/* suite.c - runs a suite of Check tests to its end. */
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TESTS = 200, TEST_SECONDS = 240 /* time limit of a test, enough with a sanitizer on a busy machine */ };

static struct test {
    int line;
    const char *case_name; /* of the case that begins here; NULL: a test */
    void (*add)(TCase *tests);
} test[MOST_TESTS];
static size_t tests;

static struct kept {
    void *object;
    void (*release)(void *object);
} * to_release;
static size_t n_kept;

static FILE *stream; /* of printing(); NULL: none is open */
static char *text_printed;
static size_t length_printed;

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

void suite_register(int line, const char *case_name, void (*add)(TCase *tests))
{
    if (tests == MOST_TESTS)
        abort();
    test[tests++] = (struct test){line, case_name, add};
}

void *kept_until_end(void *object, void (*release)(void *object))
{
    to_release = realloc(to_release, (n_kept + 1) * sizeof *to_release);
    if (!to_release)
        abort();
    to_release[n_kept++] = (struct kept){object, release};
    return object;
}

void *kept(void *memory)
{
    return kept_until_end(memory, free);
}

static void release_kept(void)
{
    if (stream)
        printed();
    for (; n_kept; n_kept--)
        to_release[n_kept - 1].release(to_release[n_kept - 1].object);
    free(to_release);
    to_release = NULL;
}

void check_has(const char *text, const char *words)
{
    ck_assert_msg(strstr(text, words) != NULL, "no '%s' in: %s", words, text);
}

void check_lacks(const char *text, const char *words)
{
    ck_assert_msg(strstr(text, words) == NULL, "'%s' is in: %s", words, text);
}

size_t count_of(const char *text, const char *words)
{
    size_t n = 0;
    for (; (text = strstr(text, words)); text += strlen(words))
        n++;
    return n;
}

char *text_of_file(const char *path)
{
    char *text = NULL;
    size_t room = 0;
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "cannot read %s; run from the top of the project", path);
    if (getdelim(&text, &room, 0, file) < 0)
        *text = 0;
    fclose(file);
    return kept(text);
}

FILE *printing(void)
{
    if (stream)
        printed();
    return stream = open_memstream(&text_printed, &length_printed);
}

char *printed(void)
{
    fclose(stream);
    stream = NULL;
    return kept(text_printed);
}

static int compare_lines(const void *a, const void *b)
{
    return ((const struct test *)a)->line - ((const struct test *)b)->line;
}

Suite *suite_of_tests(const char *name, void (*setup)(void), void (*teardown)(void))
{
    Suite *suite = suite_create(name);
    TCase *now = NULL;
    qsort(test, tests, sizeof *test, compare_lines);
    for (size_t i = 0; i < tests; i++) {
        if (!now || test[i].case_name) {
            const char *of_case = test[i].case_name ? test[i].case_name : name;
            now = tcase_create(of_case);
            tcase_set_tags(now, of_case);
            tcase_set_timeout(now, TEST_SECONDS);
            tcase_add_checked_fixture(now, NULL, release_kept); /* called last, since it is added first */
            tcase_add_checked_fixture(now, setup, teardown);
            suite_add_tcase(suite, now);
        }
        if (test[i].add)
            test[i].add(now);
    }
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
