/* outcome.h - the outcome of a comparison as JSON, and its other forms, which are printed from that. */
#ifndef BENCH_READ_COMPARE_OUTCOME_H
#define BENCH_READ_COMPARE_OUTCOME_H

#include "compare/options.h"

#include <cJSON.h>
#include <stdio.h>

/* Exit statuses. Of the last four the first that holds counts: incomparable, regressed, missing, ambiguous. */
enum compare_status {
    COMPARE_OK,
    COMPARE_FAILED, /* something cannot be read or written */
    COMPARE_USAGE,
    COMPARE_REGRESSED,
    COMPARE_AMBIGUOUS,
    COMPARE_MISSING,
    COMPARE_INCOMPARABLE
};

/* Prints the comparison as text: differences, table, all other figures (with --label), and the verdict. The JSON has
 * schema_version, program, version, mode, the rules (tolerance_percent, floor_percent, level), judged_by_spread, both
 * sides' label and directories, "differences" (settings.h), "judged" rows, "figures" that are not judged, verdict and
 * exit_status. */
void compare_print(FILE *out, const cJSON *json, const struct compare_options *options);

/* Prints the comparison as JUnit's XML (base/junit.h): a case for equal settings, which is an error if they differ; and
 * one for each judged row, whose duration is the candidate's median if that is a time. Regressed and missing figures
 * fail. Ambiguous ones are skipped, since they may be chance. The message is the row as text; the output is
 * compare_print's. */
void compare_print_junit(FILE *out, const cJSON *json, const struct compare_options *options);

#endif
