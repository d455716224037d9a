/* analysis.h - the report on runs, as a document. */
#ifndef BENCH_READ_REPORT_ANALYSIS_H
#define BENCH_READ_REPORT_ANALYSIS_H

#include "report/runs.h"

/* The begin of every title. */
#define ANALYSIS_TITLE "Bottleneck analysis of "

/* The report on the runs. The caller owns it. */
cJSON *analysis_create(const struct report_runs *runs);

/* Appends what a run printed: heading, answers, tables and notes. */
void analysis_add_run(cJSON *document, const struct report_run *run);

#endif
