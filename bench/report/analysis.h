/* analysis.h - what runs say, alone and together. */
#ifndef BENCH_REPORT_ANALYSIS_H
#define BENCH_REPORT_ANALYSIS_H

#include "report/runs.h"

/* The start of every title. */
#define ANALYSIS_TITLE "Bottleneck analysis of "

/* A document on the runs. With a reference and a candidate, "" for none, these two labels are set side by side. The
 * caller owns it. */
cJSON *analysis_create(const struct report_runs *runs, const char *reference, const char *candidate);

/* Adds all that a run printed: its heading, answers, tables and notes. */
void analysis_add_run(cJSON *document, const struct report_run *run);

#endif
