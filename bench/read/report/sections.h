/* sections.h - the sections of a report. Each function appends headings, text, tables and pictures to a document,
 * or nothing where the runs have no figures for it. */
#ifndef BENCH_READ_REPORT_SECTIONS_H
#define BENCH_READ_REPORT_SECTIONS_H

#include "chart/chart.h"
#include "document/document.h"
#include "report/bottlenecks.h"
#include "report/grid.h"
#include "report/scaling.h"

/* The summary: what was measured, warnings, the costliest bottleneck and what to try, the efficiency. */
void section_add_summary(cJSON *document, const struct report_runs *runs, const struct scaling *scaling,
                         size_t scalings, const struct bottlenecks *bottlenecks);
void section_add_bottlenecks(cJSON *document, const struct bottlenecks *bottlenecks);
/* The best implementation of each of the first comparisons on several ranks. */
void section_add_choices(cJSON *document, const struct report_runs *runs);

/* Where the time goes: all implementations of a single run, or the subject of each of several. */
void section_add_breakdown(cJSON *document, const struct report_runs *runs);
/* A captured step of each of the first profiles, as a timeline of the ranks, from the runs' own files. */
void section_add_steps(cJSON *document, const struct report_runs *runs);
void section_add_scaling(cJSON *document, const struct scaling *scaling, size_t scalings);
void section_add_buckets(cJSON *document, const struct report_runs *runs);
void section_add_collectives(cJSON *document, const struct report_runs *runs);

/* A sweep: the tables, pictures and verdicts of a judged grid, which is not empty. */
void section_add_grid(cJSON *document, const struct grid *grid);

void section_add_runs(cJSON *document, const struct report_runs *runs); /* lists the runs, also unreadable ones */

#endif
