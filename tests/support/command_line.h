/* command_line.h - options from a line of words, and their values as text. */
#ifndef TESTS_SUPPORT_COMMAND_LINE_H
#define TESTS_SUPPORT_COMMAND_LINE_H

#include "training/options.h"

enum { MAX_LINE = 4096 };

/* Parses a line cut at '|' (so that words may be empty or hold spaces). What options point to stays until the next. */
int parse(struct options *options, const char *line);

/* The same for a line that must be taken. */
struct options parsed(const char *line);

/* Fails the test unless the line is refused, in one line of words that hold these (up to n, or to a NULL). */
void check_refused(const char *line, const char *const *words, int n);

/* An option as options_each tells it; fails the test unless it does so once. */
struct value {
    const char *name;
    char text[256];
    int seen, is_text;
};
struct value value_of(const struct options *options, const char *name);

#endif
