/* table.h - what a comparison found, as a table for people and as JSON. */
#ifndef BENCH_COMPARE_TABLE_H
#define BENCH_COMPARE_TABLE_H

#include "compare/compare.h"

/* Differences, table, figures side by side (with --label), and the verdict in words. */
void compare_report(FILE *out, const struct compare *compare);

/* The same as JSON into a file, complete or not at all, or to standard output if path is NULL. Returns 0; or -1,
 * reported. */
int compare_report_json(const struct compare *compare, const char *path);

/* The verdict over all: ok, regressed, missing, ambiguous or incomparable. */
const char *compare_report_verdict(const struct compare *compare);

#endif
