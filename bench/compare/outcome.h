/* outcome.h - what a comparison found: put together once as JSON, from which it is also printed in words. */
#ifndef BENCH_COMPARE_OUTCOME_H
#define BENCH_COMPARE_OUTCOME_H

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

#endif
