/* outcome.h - what a comparison found, and how it is printed: as a table for people and as JSON. */
#ifndef BENCH_COMPARE_OUTCOME_H
#define BENCH_COMPARE_OUTCOME_H

#include "compare/compare.h"
#include "compare/match.h"
#include "compare/options.h"
#include "compare/verdict.h"

#include <stdio.h>

struct comparison {
    const struct compare_options *options;
    struct compare_run *baseline, *candidate; /* [baselines], [candidates] of the options */
    struct differences differences;
    struct verdict_rules rules;
    struct compare_lines lines; /* none if the runs are incomparable */
    size_t *line_of;            /* [of verdicts] number of each row's line; of a row of several sizes, the first */
    struct verdicts verdicts;
    enum compare_status status;
};

/* Differences, table, figures side by side (with --label), and the verdict in words. */
void compare_print(FILE *out, const struct comparison *compare);

/* The same as JSON into a file, complete or not at all, or to standard output if path is NULL. Returns 0; or -1,
 * reported. */
int compare_write_json(const struct comparison *compare, const char *path);

/* The verdict over all: ok, regressed, missing, ambiguous or incomparable. */
const char *compare_verdict(const struct comparison *compare);

#endif
