/* match.h - matches the figures of several runs: one line for each figure that any run has. */
#ifndef BENCH_READ_COMPARE_MATCH_H
#define BENCH_READ_COMPARE_MATCH_H

#include "compare/settings.h"
#include "compare/verdict.h"

struct compare_lines {
    struct verdict_figure *item; /* sorted by compare_choose: judged lines first, then by size group and size */
    size_t n, judged, runs, size_groups;
    const struct compare_run *run; /* [runs] */
    double **values;               /* [n] arrays of [runs] values, in the order in which lines were added */
    void *tree;                    /* tree of the items for tsearch; unused once the items are sorted */
};

/* Matches the figures of run[baselines + candidates] by subject, name and size. Lines point into the runs. Returns 0;
 * or -1, reported, if a baseline found wrong elements. Release with compare_lines_destroy in either case. */
int compare_match(struct compare_lines *lines, const struct compare_run *run, size_t baselines, size_t candidates);

/* Marks the figures to judge, and sorts the lines. metrics: a comma-separated list of figure names; "": figures that
 * the runs mark as judged. Returns 0; or -1, reported, if no run has a named figure, or a figure to judge has a value
 * of 0 or less or has no better direction (BETTER_NONE). */
int compare_choose(struct compare_lines *lines, const char *metrics);

void compare_lines_destroy(struct compare_lines *lines); /* all members may be 0 */

#endif
