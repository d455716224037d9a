/* command_line.h - parses options from a string, and returns their values as text. */
#ifndef TESTS_SUPPORT_COMMAND_LINE_H
#define TESTS_SUPPORT_COMMAND_LINE_H

#include "profile/profile.h"
#include "training/training.h"

/* A command line of the benchmark or the profile, with the same option sections and checks as in main.c. Must not be
 * copied, since the table points to other members. */
struct command_line {
    struct run_options run;
    struct profile_options profile;
    struct option_table table;
};

enum { MAX_LINE = 4096 };

/* Parses a line whose words are separated by '|' (so that they may be empty or contain spaces). The result is valid
 * until the next call. Returns NULL, and reports the error, if the line is refused. */
struct command_line *parse(const char *line);
/* Like parse; fails the test if the line is refused. */
struct command_line *parsed(const char *line);
/* Like parsed; on_gpus: whether presets take the sizes for GPUs, as they do in parse and parsed. */
struct command_line *parsed_on(const char *line, int on_gpus);
/* Fails the test unless the line is refused with a one-line message that has all n words (up to a NULL, if any). */
void check_refused(const char *line, const char *const *words, int n);

/* value_of returns an option as results record it; fails the test unless the option is recorded exactly once. */
struct value {
    const char *name;
    char text[256];
    int seen, is_text; /* how often the option is recorded; whether its value is a text */
};
struct value value_of(const struct command_line *line, const char *name);

/* Returns the implementations of a line as text, such as "a ddp; b ddp_bucketed 25 traced": label, strategy, MiB of a
 * bucket, and whether each is traced, captured, or sends after backward ("late"). The next call overwrites the text. */
const char *rows_of(const struct command_line *line);

#endif
