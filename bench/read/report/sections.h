/* sections.h - the sections of a report. Each function appends to a document, or not if the runs lack the figures. */
#ifndef BENCH_READ_REPORT_SECTIONS_H
#define BENCH_READ_REPORT_SECTIONS_H

#include "chart/chart.h"
#include "document/document.h"
#include "report/bottlenecks.h"
#include "report/grid.h"
#include "report/scaling.h"

/* Adds what was measured, warnings, the costliest bottleneck with advice, and the efficiency. */
void section_add_summary(cJSON *document, const struct report_runs *runs, const struct scaling *scaling,
                         const struct bottlenecks *bottlenecks);
/* Adds a table of the bottlenecks and, below the table, what to try against them. */
void section_add_bottlenecks(cJSON *document, const struct bottlenecks *bottlenecks);
/* Adds where the time of a step goes: in a single run for all its implementations, otherwise for each run's subject. */
void section_add_breakdown(cJSON *document, const struct report_runs *runs);
void section_add_scaling(cJSON *document, const struct scaling *scaling);      /* speed-up, efficiency */
void section_add_buckets(cJSON *document, const struct report_runs *runs);     /* step time by size */
void section_add_collectives(cJSON *document, const struct report_runs *runs); /* times and bandwidths */

/* Each adds its part of a section on a run, and returns whether there is one: what to use of a comparison on several
 * ranks; the table of criteria (results/criteria.h) of a profile, or of the best implementation of a comparison; the
 * captured step of a profile that is nearest to the mean, as a timeline of the ranks; the picture LABEL_timeline of a
 * profile (/ in LABEL becomes .), computation, communication, both at once and the step over its captured steps; the
 * steps by round, with the cores that other processes used, and on several ranks heat maps of late ranks and of waits
 * by step; the operations of a profile below the limits of products and memory; pictures and table of the messages of
 * `isolate`, and, unless the run is alone, its answers. */
int section_add_choice(cJSON *document, const struct report_run *run);
int section_add_shares(cJSON *document, const struct report_run *run);
int section_add_step(cJSON *document, const struct report_run *run);
int section_add_timeline(cJSON *document, const struct report_run *run);
int section_add_rounds(cJSON *document, const struct report_run *run);
int section_add_roofline(cJSON *document, const struct report_run *run);
int section_add_members(cJSON *document, const struct report_run *run);

/* Adds the tables, pictures and verdicts of a sweep; grid_judge has judged the grid, which has at least one point. */
void section_add_grid(cJSON *document, const struct grid *grid);

void section_add_runs(cJSON *document, const struct report_runs *runs); /* all runs in a table, even unreadable ones */

/* Draws the differences to the best of a verdict (results/verdict.h), if they have intervals, and with in_words tells
 * them. of: the run, or the points of a sweep. */
void section_add_verdict(cJSON *document, const char *name, const char *of, const cJSON *verdict, int in_words);

#endif
