/* match.h - the figures of several runs side by side: one line for each figure that any of them has. */
#ifndef BENCH_COMPARE_MATCH_H
#define BENCH_COMPARE_MATCH_H

#include "compare/run.h"

struct compare_line {
    const struct figure *figure;        /* of the first run that has it */
    size_t size_group;                  /* the same for all sizes of a figure of a subject */
    int judged;                         /* judged */
    int wrong;                          /* a candidate run found wrong elements */
    const double *baseline, *candidate; /* [baselines], [candidates]; NAN where a run does not have it */
};
struct compare_lines {
    struct compare_line *item; /* sorted: size groups as they first appear, in them by size */
    size_t n, size_groups;
    double *values;
};

/* Matches figures by subject, name and size. Points into the runs. Returns 0; or -1, reported: a run has a figure
 * twice, or a baseline found wrong elements. Release with destroy in either case. */
int compare_match(struct compare_lines *lines, const struct compare_run *baseline, size_t baselines,
                  const struct compare_run *candidate, size_t candidates);

/* Marks what is judged. metrics: a comma list of names, or "" for what the runs themselves have as judged. Returns 0;
 * or -1, reported: no run has such a figure, or one that is to be judged is 0 or less in a run, or neither high
 * nor low values of it are better. */
int compare_choose(struct compare_lines *lines, size_t baselines, size_t candidates, const char *metrics);

/* Medians over the runs that have the figure; NAN where none has it. */
struct compare_medians {
    double baseline, candidate;
    size_t n_baseline, n_candidate;
};
struct compare_medians compare_medians(const struct compare_line *line, size_t baselines, size_t candidates);

void compare_lines_destroy(struct compare_lines *lines); /* zeroed ones are fine */

#endif
