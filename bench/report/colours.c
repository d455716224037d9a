/* colours.c - what each colour means in all pictures of a report. */
#include "report/colours.h"

#include <string.h>

const int colour_of_part[PARTS] = {[PART_COMPUTE] = COLOUR_COMPUTE,
                                   [PART_DATA] = COLOUR_DATA,
                                   [PART_EXPOSED] = COLOUR_EXPOSED,
                                   [PART_OTHER] = COLOUR_OTHER};

int colour_of_run(const struct report_runs *runs, const struct report_run *run)
{
    static const int colour[COLOURS_OF_RUNS] = {4, 5, 6, 8, 9};
    size_t labels = 0;
    for (const struct report_run *r = runs->item; r < runs->item + runs->n; r++) {
        int is_first = 1;
        if (!strcmp(r->label, run->label))
            break;
        for (const struct report_run *before = runs->item; before < r; before++)
            is_first &= strcmp(before->label, r->label) != 0;
        labels += (size_t)is_first;
    }
    return colour[labels % COLOURS_OF_RUNS];
}
