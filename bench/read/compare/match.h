/* match.h - matches the figures of several runs: makes a line, with the values of all runs, for each figure. */
#ifndef BENCH_READ_COMPARE_MATCH_H
#define BENCH_READ_COMPARE_MATCH_H

#include "compare/settings.h"
#include "compare/verdict.h"

struct compare_lines {
    struct verdict_figure *item; /* [n]; compare_choose sorts them: judged lines first, then by size group and size */
    size_t n, judged, runs, size_groups; /* numbers of lines, of judged lines, of runs, and of size groups */
    const struct compare_run *run;       /* [runs] */
    double **values;                     /* [n] arrays of [runs] values, in the order in which lines were added */
    void *tree;                          /* tree of the items for tsearch; unused once the items are sorted */
};

/* Matches the figures of run[baselines + candidates] by subject, name and size. Lines point into the runs. Returns 0;
 * or -1, reported, if a baseline run found wrong elements. Release with compare_lines_destroy in either case. */
int compare_match(struct compare_lines *lines, const struct compare_run *run, size_t baselines, size_t candidates);

/* Marks the figures to judge, and sorts the lines. metrics: a comma-separated list of their names; "": the figures that
 * the runs mark as judged. Returns 0; or -1, reported, if no run has a named figure or a figure to judge, or if such a
 * figure has a value of 0 or less or no better direction (BETTER_NONE). */
int compare_choose(struct compare_lines *lines, const char *metrics);

void compare_lines_destroy(struct compare_lines *lines); /* frees all members, which may be 0 */

#endif
