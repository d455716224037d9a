/* outcome.h - what a comparison found: put together once as JSON, from which it is also printed in words. */
#ifndef BENCH_READ_COMPARE_OUTCOME_H
#define BENCH_READ_COMPARE_OUTCOME_H

#include "compare/options.h"

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

/* The comparison in words: differences, table, figures side by side (with --label), and the verdict. Its JSON holds
 * schema_version, program, version, mode, the rules (tolerance_percent, floor_percent, level), judged_by_spread, both
 * sides' label and directories, "differences" (settings.h), "judged" rows, "figures" that are not judged, verdict and
 * exit_status. */
void compare_print(FILE *out, const cJSON *json, const struct compare_options *options);

/* A figure of it, judged or not, as the table shows it: {name, size, baseline, candidate, ratio, change, verdict}, all
 * of them words. The caller owns it. */
cJSON *compare_words(const cJSON *figure, const struct compare_options *options);

/* The comparison as JUnit's XML (base/junit.h): a case that the settings are the same, an error where they are not; and
 * one for each judged row, which took the candidate's median where that is a time. What is regressed or missing fails.
 * What is ambiguous may be chance, so it is skipped, and the exit status alone tells it from ok. The message is the row
 * in words; what compare_print says is the output. */
void compare_print_junit(FILE *out, const cJSON *json, const struct compare_options *options);

#endif
