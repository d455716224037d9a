/* sections.h - the sections of a report. Each function appends headings, text, tables and pictures to a document, or
 * nothing if the runs lack the figures for them. */
#ifndef BENCH_READ_REPORT_SECTIONS_H
#define BENCH_READ_REPORT_SECTIONS_H

#include "chart/chart.h"
#include "document/document.h"
#include "report/bottlenecks.h"
#include "report/grid.h"
#include "report/scaling.h"

/* Adds the summary: what was measured, warnings, the costliest bottleneck with advice, the efficiency. */
void section_add_summary(cJSON *document, const struct report_runs *runs, const struct scaling *scaling,
                         size_t scalings, const struct bottlenecks *bottlenecks);
void section_add_bottlenecks(cJSON *document, const struct bottlenecks *bottlenecks);
/* Adds the best implementation of each comparison on several ranks; only the first comparisons are shown. */
void section_add_choices(cJSON *document, const struct report_runs *runs);

/* Adds where the time goes: all implementations if there is a single run, otherwise the subject of each run. */
void section_add_breakdown(cJSON *document, const struct report_runs *runs);
/* Adds a captured step of each of the first profiles, as a timeline of the ranks, read from the runs' directories. */
void section_add_steps(cJSON *document, const struct report_runs *runs);
void section_add_scaling(cJSON *document, const struct scaling *scaling, size_t scalings);
void section_add_buckets(cJSON *document, const struct report_runs *runs);
void section_add_collectives(cJSON *document, const struct report_runs *runs);

/* Adds a sweep: the tables, pictures and verdicts of a judged grid with at least one point. */
void section_add_grid(cJSON *document, const struct grid *grid);

void section_add_runs(cJSON *document, const struct report_runs *runs); /* lists all runs, including unreadable ones */

#endif
