/* outcome.h - the outcome of a comparison as JSON, from which its other formats are printed. */
#ifndef BENCH_READ_COMPARE_OUTCOME_H
#define BENCH_READ_COMPARE_OUTCOME_H

#include "compare/options.h"

#include <cJSON.h>
#include <stdio.h>

/* Exit statuses. If several apply, the status is the first of incomparable, regressed, missing, ambiguous. */
enum compare_status {
    COMPARE_OK,
    COMPARE_FAILED, /* something cannot be read or written */
    COMPARE_USAGE,
    COMPARE_REGRESSED,
    COMPARE_AMBIGUOUS,
    COMPARE_MISSING,
    COMPARE_INCOMPARABLE
};

/* Prints the comparison as text: differences, table, figures that are not judged (with --label), and the verdict. The
 * JSON has schema_version, program, version, mode, the rules (tolerance_percent, floor_percent, level),
 * judged_by_spread, label and directories of both sides, "differences" (settings.h), "judged" rows, "figures" that are
 * not judged, verdict and exit_status. */
void compare_print(FILE *out, const cJSON *json, const struct compare_options *options);

/* Prints the comparison as JUnit XML (base/junit.h). One test case is an error if the settings of the runs differ. Each
 * judged row is a test case; its duration is the candidate's median if that is a time. Regressed and missing figures
 * fail. Ambiguous figures are skipped, since they may be chance. A case's message is the row as text; the suite's
 * output is the text of compare_print. */
void compare_print_junit(FILE *out, const cJSON *json, const struct compare_options *options);

#endif
