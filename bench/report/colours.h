/* colours.h - what each colour means in all pictures of a report: a part of a step, or a run. */
#ifndef BENCH_REPORT_COLOURS_H
#define BENCH_REPORT_COLOURS_H

#include "chart/svg.h"
#include "report/runs.h"

/* Of chart/svg.h. Forward, backward and optimizer are computation. */
enum { COLOUR_COMPUTE = 0, COLOUR_EXPOSED = 1, COLOUR_DATA = 2, COLOUR_IN_FLIGHT = 3, COLOUR_OTHER = SVG_GREY };
extern const int colour_of_part[PARTS];

/* That of a run's label: of the first labels one each, and of no part. */
enum { COLOURS_OF_RUNS = 5 };
int colour_of_run(const struct report_runs *runs, const struct report_run *run);

#endif
