/* colours.c - the colour of a run, in all pictures of a report. */
#include "report/sections.h"

#include <string.h>

int colour_of_run(const struct report_runs *runs, const struct report_run *run)
{
    int labels = 0; /* before this one */
    for (const struct report_run *r = runs->item; strcmp(r->label, run->label) != 0; r++)
        labels += strcmp(r->label, r[1].label) != 0;
    return COLOUR_OF_RUNS + labels % COLOURS_OF_RUNS;
}
