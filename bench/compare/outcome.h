/* outcome.h - what a comparison found: put together once as JSON, from which it is also printed in words. */
#ifndef BENCH_COMPARE_OUTCOME_H
#define BENCH_COMPARE_OUTCOME_H

#include "compare/match.h"
#include "compare/options.h"
#include "compare/settings.h"
#include "compare/verdict.h"

#include <cJSON.h>
#include <stdio.h>

/* Exit statuses; of the last four, incomparable comes first, then regressed, missing, ambiguous. */
enum compare_status {
    COMPARE_OK,
    COMPARE_FAILED, /* something cannot be read or written */
    COMPARE_USAGE,
    COMPARE_REGRESSED,
    COMPARE_AMBIGUOUS,
    COMPARE_MISSING,
    COMPARE_INCOMPARABLE
};

/* Adds what is compared, run[baselines + candidates], and an empty list of each kind: "differences", "judged" rows, and
 * "figures" that are not judged. */
void compare_add_heading(cJSON *json, const struct compare_options *options, const struct compare_run *run,
                         const struct verdict_rules *rules);

/* Adds the rows of the verdicts on the judged lines, and those of the other lines. */
void compare_add_rows(cJSON *json, const struct compare_lines *lines, const struct verdicts *verdicts,
                      const struct compare_options *options);

/* In words: differences, table, figures side by side (with --label), and the verdict. */
void compare_print(FILE *out, const cJSON *json, const struct compare_options *options);

#endif
