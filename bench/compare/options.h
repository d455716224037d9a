/* options.h - the command line of `ddpbench compare`. */
#ifndef BENCH_COMPARE_OPTIONS_H
#define BENCH_COMPARE_OPTIONS_H

#include "base/option_table.h"

#include <stddef.h>
#include <stdio.h>

struct compare_options {
    const char **baseline, **candidate; /* directories, into argv */
    size_t baselines, candidates;
    double tolerance, floor; /* percent */
    const char *allow, *metrics, *label, *json;
    char baseline_name[104], candidate_name[104]; /* of the columns */
    int all;
    enum option_help help; /* asked for, as is the version */
    int version;
};

/* Reads argv[1..]. Returns 0; or -1, reported. Release with destroy in either case. */
int compare_options_parse(struct compare_options *options, int argc, char *const argv[]);
void compare_options_destroy(struct compare_options *options);

/* Options; with HELP_ALL also verdicts and exit statuses. */
void compare_options_help(FILE *out, enum option_help which);

#endif
