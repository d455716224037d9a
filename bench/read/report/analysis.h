/* analysis.h - what runs say, alone and together. */
#ifndef BENCH_READ_REPORT_ANALYSIS_H
#define BENCH_READ_REPORT_ANALYSIS_H

#include "report/runs.h"

/* The start of every title. */
#define ANALYSIS_TITLE "Bottleneck analysis of "

/* A document on the runs, which the caller owns. */
cJSON *analysis_create(const struct report_runs *runs);

/* Adds all that a run printed: its heading, answers, tables and notes. */
void analysis_add_run(cJSON *document, const struct report_run *run);

#endif
