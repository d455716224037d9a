/* command_line.h - options from a line of words, and their values as text. */
#ifndef TESTS_SUPPORT_COMMAND_LINE_H
#define TESTS_SUPPORT_COMMAND_LINE_H

#include "profile/profile.h"
#include "training/training.h"

/* The joint command line of the benchmark and the profile, made of the sections and checks that main.c makes it of. The
 * table points into the other fields: not to be copied. */
struct command_line {
    struct run_options run;
    struct profile_options profile;
    struct option_table table;
};

enum { MAX_LINE = 4096 };

/* Parses a line cut at '|' (so that words may be empty or hold spaces). What it points to stays until the next. Returns
 * NULL, reported, where the line is refused. */
struct command_line *parse(const char *line);
/* The same for a line that must be taken. */
struct command_line *parsed(const char *line);
/* The same, of a run that is on GPUs, as for the others, or not. */
struct command_line *parsed_on(const char *line, int on_gpus);
/* Fails the test unless the line is refused, in one line of words that hold these (up to n, or to a NULL). */
void check_refused(const char *line, const char *const *words, int n);

/* An option as it is recorded; fails the test unless it is, once. */
struct value {
    const char *name;
    char text[256];
    int seen, is_text;
};
struct value value_of(const struct command_line *line, const char *name);

/* The implementations of a line: label, strategy, MiB of a bucket, and whether they are traced, captured, or send after
 * backward ("late"), such as "a ddp; b ddp_bucketed 25 traced". In a buffer that the next call overwrites. */
const char *rows_of(const struct command_line *line);

#endif
