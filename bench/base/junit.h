/* junit.h - a suite of test cases as JUnit XML, as Jenkins and GitLab read it (https://llg.cubic.org/docs/junit/). */
#ifndef BENCH_BASE_JUNIT_H
#define BENCH_BASE_JUNIT_H

#include <stdio.h>

/* How a file begins, before the name of the suite. */
#define JUNIT_BEGIN "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\""

/* FAILED: the test found a defect. ERROR: the test could not run. */
enum junit_outcome { JUNIT_PASSED, JUNIT_FAILED, JUNIT_ERROR, JUNIT_SKIPPED, JUNIT_OUTCOMES };

struct junit_case {
    const char *class, *name; /* identify the test: both are the same in every run of the test */
    double seconds;           /* duration; NAN: omitted */
    enum junit_outcome outcome;
    const char *type, *message; /* type: a word; message: a sentence; unused if the test passed */
};

/* A JUnit file under construction. Its cases are kept in memory, since the file begins with their number. */
struct junit {
    FILE *out;
    char *text;
    size_t length, n[JUNIT_OUTCOMES];
    double seconds;
};

/* Begins a file without cases; junit_end releases it. Running out of memory is fatal in all junit functions. */
void junit_begin(struct junit *junit);

/* Adds a case; copies its texts. */
void junit_add(struct junit *junit, const struct junit_case *test);

/* Prints a suite `name` with the output `words` ("": none), as valid XML for any texts, and releases the cases. */
void junit_end(struct junit *junit, FILE *out, const char *name, const char *words);

#endif
