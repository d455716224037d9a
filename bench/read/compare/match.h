/* match.h - the figures of several runs side by side: one line for each figure that any of them has. */
#ifndef BENCH_READ_COMPARE_MATCH_H
#define BENCH_READ_COMPARE_MATCH_H

#include "compare/settings.h"
#include "compare/verdict.h"

struct compare_lines {
    struct verdict_figure *item; /* sorted: judged ones first, then by size group and size */
    size_t n, judged, runs, size_groups;
    const struct compare_run *run; /* [runs] */
    double **values;               /* [n] arrays of [runs], in the order in which figures were found */
    void *tree;                    /* of items (tsearch), until they are sorted */
};

/* Matches the figures of run[baselines + candidates] by subject, name and size. Points into the runs. Returns 0; or -1,
 * reported: a run has a figure twice, or a baseline found wrong elements. Release with destroy in either case. */
int compare_match(struct compare_lines *lines, const struct compare_run *run, size_t baselines, size_t candidates);

/* Marks the figures to judge, and sorts. metrics: a comma-separated list of names; "": the runs' own choice. Returns 0;
 * or -1, reported: no run has such a figure, its value is 0 or less in a run, or neither high nor low values are
 * better. */
int compare_choose(struct compare_lines *lines, const char *metrics);

void compare_lines_destroy(struct compare_lines *lines); /* zeroed ones are fine */

#endif
