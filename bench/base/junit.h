/* junit.h - JUnit's XML, in which CI systems (Jenkins, GitLab) read what passed: one suite of test cases, with the
 * attributes that both know: https://llg.cubic.org/docs/junit/. */
#ifndef BENCH_BASE_JUNIT_H
#define BENCH_BASE_JUNIT_H

#include <stdio.h>

/* A failure is of what is tested; an error keeps it from being tested. */
enum junit_outcome { JUNIT_PASSED, JUNIT_FAILED, JUNIT_ERROR, JUNIT_SKIPPED, JUNIT_OUTCOMES };

struct junit_case {
    const char *class, *name; /* a name that stays the same from one file to the next */
    double seconds;           /* how long it took; NAN: nothing is said of it */
    enum junit_outcome outcome;
    const char *type, *message; /* of one that did not pass: a word, and a sentence */
};

/* A file that is being put together: its cases so far, in memory, since how many there are stands before them. */
struct junit {
    FILE *out;
    char *text;
    size_t length, n[JUNIT_OUTCOMES];
    double seconds;
};

/* Begins a file without cases; junit_end releases it. Without memory the program ends, here and below. */
void junit_begin(struct junit *junit);

/* Adds a case; copies its texts. */
void junit_add(struct junit *junit, const struct junit_case *test);

/* Prints the file, as a suite of this name with these words as its output ("": none), and releases the cases. Whatever
 * the texts hold, it is XML. */
void junit_end(struct junit *junit, FILE *out, const char *name, const char *words);

#endif
