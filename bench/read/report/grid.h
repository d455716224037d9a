/* grid.h - the runs of a sweep (launch/sweep.sh) as a grid, with the fastest points of each number of ranks and model.
 *
 * A point is an implementation, at a bucket size if it has one, on one number of ranks with one model. It was run once
 * per repeat, and the median step of a run is a sample. Points are compared in pairs of the same repeat: a repeat runs
 * all points one after the other, so that a drift of the machine affects all of them alike. */
#ifndef BENCH_READ_REPORT_GRID_H
#define BENCH_READ_REPORT_GRID_H

#include "report/runs.h"

/* With fewer repeats there are neither intervals nor verdicts. */
enum { GRID_REPEATS = STATS_LEAST_PAIRS };

struct grid_sample {
    const struct report_run *run;
    size_t repeat;
    double step_s, tokens_s; /* median step; tokens per second */
};

struct grid_point {
    size_t ranks;
    char model[128];
    const struct run_implementation *of; /* in the first of the runs */
    const char *implementation;          /* subject of that */
    char bucket[24];                     /* bucket size in MiB, as text; "": no buckets */
    struct grid_sample *sample;          /* [n], owned */
    size_t n;

    /* Set by grid_judge: */
    double mean_s;             /* step */
    double interval_s[2];      /* of the mean, 95 % by Student's t; NAN below GRID_REPEATS */
    double tokens_mean_s;      /* mean tokens per second */
    double efficiency;         /* tokens per second and rank / those of the same point on the fewest ranks; NAN there */
    struct paired to_best;     /* step / step of the best in the same repeats; the interval is NAN below GRID_REPEATS */
    enum verdict_kind verdict; /* VERDICT_KINDS: a control; all others are undecided below GRID_REPEATS */
    const char *mark;          /* "*" best, "=" tie, "" */
};

struct grid {
    struct grid_point *point;
    size_t n;
};

/* Whether the directory holds runs of a sweep, below ranks=<n>/model=<name>/<implementation>/repeat-<k>. */
int grid_is_in(const char *directory);

/* Adds a run, whose address must not change, to a point. Returns 0; or -1, reported: the run cannot be read, is not
 * complete, or is not the benchmark of one implementation in a directory of a sweep. */
int grid_add(struct grid *grid, const struct report_run *run);

/* Sorts the points by ranks, model and mean step, and judges each group of the same ranks and model, in the repeats
 * that all points of the group have. The best is the candidate with the least mean; best_compare compares the others
 * with it, and each control alone. */
void grid_judge(struct grid *grid);

/* Where the group that begins with point `first` ends. */
size_t grid_group_end(const struct grid *grid, size_t first);

/* Tells, as a sentence, if the best bucket size of a judged group is the smallest or the largest that was tried; "" if
 * it is neither, no size has a verdict, or a size beyond it would cut the gradient into the same buckets. */
const char *grid_edge_advice(char text[200], const struct grid_point *point, size_t n);

void grid_destroy(struct grid *grid); /* a zeroed grid is fine */

#endif
