/* options.h - the command line of `ddpbench compare`. */
#ifndef BENCH_READ_COMPARE_OPTIONS_H
#define BENCH_READ_COMPARE_OPTIONS_H

#include "base/option_table.h"

#include <stddef.h>

enum { COMPARE_JSON, COMPARE_JUNIT, COMPARE_FORMS };

struct compare_options {
    const char **directory;       /* [baselines + candidates]: paths in argv, baselines first */
    size_t baselines, candidates; /* numbers of directories */
    double tolerance, floor;      /* percent */
    const char *allow, *metrics, *label;
    const char *form[COMPARE_FORMS]; /* file to write in each format; "": none, "-": standard output */
    char name[2][101];               /* headings of the columns of baseline and candidate */
    int all;                         /* 1: show every size, also those that are ok or unseen */
};

/* Parses argv[1..], and prints help or the version. Returns as option_table_begin does. Release with
 * compare_options_destroy in any case. */
int compare_options_parse(struct compare_options *options, int argc, char *const argv[]);
void compare_options_destroy(struct compare_options *options);

#endif
