/* match.h - matches the figures of several runs: makes a line, with the values of all runs, for each figure. */
#ifndef BENCH_READ_COMPARE_MATCH_H
#define BENCH_READ_COMPARE_MATCH_H

#include "compare/settings.h"
#include "compare/verdict.h"

/* A line is a figure; a line has a copy of it, so that its runs need not stay in memory. */
struct compare_lines {
    struct verdict_figure **line; /* [n], as added; from compare_choose on, judged ones first, then by group and size */
    size_t n, judged, runs, size_groups; /* numbers of lines, of judged lines, of runs, and of size groups */
    const struct compare_run *run;       /* [runs], set by compare_match */
    void *tree;                          /* tree of the lines, for tsearch */
};

/* Returns the values [runs] of a figure, which are also `baseline` of its line, by its subject, name and size; adds a
 * line of NAN if there is none. Before the first call, lines->runs must be set and all other members 0. Release with
 * compare_lines_destroy. */
double *compare_values_of(struct compare_lines *lines, const struct figure *figure);

/* Makes the lines of run[baselines + candidates]. Returns 0; or -1, reported, if a baseline run found wrong elements.
 * Release with compare_lines_destroy in either case. */
int compare_match(struct compare_lines *lines, const struct compare_run *run, size_t baselines, size_t candidates);

/* Marks the figures to judge, and sorts the lines. metrics: a comma-separated list of their names; "": the figures that
 * the runs mark as judged. Returns 0; or -1, reported, if no run has a named figure or a figure to judge, or if such a
 * figure has a value of 0 or less or no better direction (BETTER_NONE). */
int compare_choose(struct compare_lines *lines, const char *metrics);

void compare_lines_destroy(struct compare_lines *lines); /* frees all members, which may be 0 */

#endif
