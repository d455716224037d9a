/* match.h - matches the figures of several runs: makes a line, with the values of all runs, for each figure. */
#ifndef BENCH_READ_COMPARE_MATCH_H
#define BENCH_READ_COMPARE_MATCH_H

#include "compare/settings.h"
#include "compare/verdict.h"

/* A line; `of` is its first member. The line has a copy of the figure, so that its runs need not stay in memory. */
struct compare_line {
    struct verdict_figure of;
    struct figure figure;
    double value[]; /* [runs]; NAN: the run lacks the figure */
};

struct compare_lines {
    struct compare_line **line;  /* [n], in the order in which they were added */
    struct verdict_figure *item; /* [n], made by compare_choose: judged lines first, then by size group and size */
    size_t n, judged, runs, size_groups; /* numbers of lines, of judged lines, of runs, and of size groups */
    const struct compare_run *run;       /* [runs], set by compare_match */
    void *tree;                          /* tree of the lines, for tsearch */
};

/* Returns the line of a figure, by its subject, name and size; adds one if there is none. Before the first call,
 * lines->runs must be set and all other members 0. Release with compare_lines_destroy. */
struct compare_line *compare_line_of(struct compare_lines *lines, const struct figure *figure);

/* Makes the lines of run[baselines + candidates]. Returns 0; or -1, reported, if a baseline run found wrong elements.
 * Release with compare_lines_destroy in either case. */
int compare_match(struct compare_lines *lines, const struct compare_run *run, size_t baselines, size_t candidates);

/* Marks the figures to judge, and sorts the lines. metrics: a comma-separated list of their names; "": the figures that
 * the runs mark as judged. Returns 0; or -1, reported, if no run has a named figure or a figure to judge, or if such a
 * figure has a value of 0 or less or no better direction (BETTER_NONE). */
int compare_choose(struct compare_lines *lines, const char *metrics);

void compare_lines_destroy(struct compare_lines *lines); /* frees all members, which may be 0 */

#endif
