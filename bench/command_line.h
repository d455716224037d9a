/* command_line.h - the joint command line of the benchmark and the profile. */
#ifndef BENCH_COMMAND_LINE_H
#define BENCH_COMMAND_LINE_H

#include "profile/profile.h"
#include "training/training.h"

/* The table points into the other fields: not to be copied. */
struct command_line {
    struct run_options run;
    struct profile_options profile; /* profile.profile: a profile is asked for */
    struct option_table table;
};

/* Reads argv[1..] strictly into a zeroed command line, and checks what can be checked without ranks; of --help and
 * --version nothing more is read. Strings point into argv. Returns 0; or -1, reported. */
int command_line_parse(struct command_line *line, int argc, char *const argv[]);

/* Prints the common options, or all, as table.help says. */
void command_line_help(FILE *out, const struct command_line *line);

#endif
