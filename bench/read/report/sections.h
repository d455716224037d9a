/* sections.h - the parts of a report, each added to a document with its tables and pictures where there is something to
 * say, and left out where there is not. */
#ifndef BENCH_READ_REPORT_SECTIONS_H
#define BENCH_READ_REPORT_SECTIONS_H

#include "chart/chart.h"
#include "document/document.h"
#include "report/bottlenecks.h"
#include "report/scaling.h"

/* What a colour means in all pictures: a part of a step the one of its number, forward, backward and optimizer that of
 * computation; and a run by its label one of those behind them. */
enum { COLOUR_IN_FLIGHT = PARTS, COLOUR_OF_RUNS, COLOURS_OF_RUNS = SVG_COLOURS - COLOUR_OF_RUNS };
int colour_of_run(const struct report_runs *runs, const struct report_run *run);

/* What a reader in a hurry takes away: the step or the efficiency, and the costliest bottleneck with its remedy. */
void section_add_summary(cJSON *document, const struct report_runs *runs, const struct scaling *scaling,
                         size_t scalings, const struct bottlenecks *bottlenecks);
void section_add_bottlenecks(cJSON *document, const struct bottlenecks *bottlenecks);

/* Of one run all implementations, of several the subject of each. */
void section_add_breakdown(cJSON *document, const struct report_runs *runs);
void section_add_scaling(cJSON *document, const struct report_runs *runs, const struct scaling *scaling,
                         size_t scalings);
void section_add_buckets(cJSON *document, const struct report_runs *runs);
void section_add_collectives(cJSON *document, const struct report_runs *runs);

/* One captured step of each of the first profiles as a timeline of its ranks; and what the monitors of all runs
 * saw of CPUs and GPUs. From the runs' own files; a run without them is left out. */
void section_add_steps(cJSON *document, const struct report_runs *runs);
void section_add_utilisation(cJSON *document, const struct report_runs *runs);

/* What to do: the advice of the bottlenecks that are significant, each once, with what is at stake; and which
 * implementation to use, with what it gains over ddp, or that this may be nothing. */
void section_add_recommendations(cJSON *document, const struct report_runs *runs,
                                 const struct bottlenecks *bottlenecks);

/* What the words of the tables mean. */
void section_add_words(cJSON *document);

/* What was read, and what could not be. */
void section_add_runs(cJSON *document, const struct report_runs *runs);

#endif
