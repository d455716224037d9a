/* junit.h - JUnit's XML, which CI systems read: one suite of test cases, with the attributes that Jenkins and GitLab
 * know: https://llg.cubic.org/docs/junit/. */
#ifndef BENCH_BASE_JUNIT_H
#define BENCH_BASE_JUNIT_H

#include <stdio.h>

/* FAILED: the test found a defect. ERROR: the test could not run. */
enum junit_outcome { JUNIT_PASSED, JUNIT_FAILED, JUNIT_ERROR, JUNIT_SKIPPED, JUNIT_OUTCOMES };

struct junit_case {
    const char *class, *name; /* the same in each file */
    double seconds;           /* duration; NAN: none is written */
    enum junit_outcome outcome;
    const char *type, *message; /* unless it passed: a word and a sentence */
};

/* A file that is being built. Its cases are kept in memory, since their number is written before them. */
struct junit {
    FILE *out;
    char *text;
    size_t length, n[JUNIT_OUTCOMES];
    double seconds;
};

/* Begins a file without cases; junit_end releases it. Fatal without memory, here and below. */
void junit_begin(struct junit *junit);

/* Adds a case; copies its texts. */
void junit_add(struct junit *junit, const struct junit_case *test);

/* Prints the file as a suite with this name and these words as its output ("": none), and releases the cases. Texts
 * with any content give valid XML. */
void junit_end(struct junit *junit, FILE *out, const char *name, const char *words);

#endif
