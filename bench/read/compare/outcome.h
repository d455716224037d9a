/* outcome.h - prints the outcome of a comparison, which is JSON, as text and as JUnit XML. */
#ifndef BENCH_READ_COMPARE_OUTCOME_H
#define BENCH_READ_COMPARE_OUTCOME_H

#include "compare/options.h"

#include <cJSON.h>
#include <stdio.h>

/* Exit statuses. If several verdicts hold, the first counts: incomparable, regressed, missing, undecided. */
enum compare_status {
    COMPARE_OK,
    COMPARE_FAILED, /* something cannot be read or written */
    COMPARE_USAGE,  /* the command line is wrong */
    COMPARE_REGRESSED,
    COMPARE_UNDECIDED, /* a row with `summary` 1 (struct figure_verdict_row) is ambiguous or unseen */
    COMPARE_MISSING,
    COMPARE_INCOMPARABLE
};

/* Prints the comparison as text: differences, warnings, table, figures that are not judged (with --label), and the
 * verdict. The JSON has schema_version, program, version, mode, the rules (tolerance_percent, floor_percent, level,
 * pairs, in_turn), judged_by_spread, "baseline" and "candidate" (label, directories, other_processes_share), "warnings"
 * (sentences), "differences" (settings.h), "judged" (rows), "figures" (figures that are not judged), verdict and
 * exit_status. */
void compare_print(FILE *out, const cJSON *json, const struct compare_options *options);

/* Prints the comparison as JUnit XML (base/junit.h). The first test case is an error if the runs are incomparable. Each
 * judged row is a test case; its duration is the candidate's mean if that is a time. The cases of regressed and
 * missing figures fail. The cases of ambiguous and unseen figures, which decide nothing, are skipped. A case's message
 * is the row as text; the suite's output is the text of compare_print. */
void compare_print_junit(FILE *out, const cJSON *json, const struct compare_options *options);

#endif
