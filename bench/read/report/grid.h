/* grid.h - the runs of a sweep (launch/sweep.sh) as a grid, and its fastest points for each number of ranks and model.
 *
 * A point is an implementation, with its bucket size if it has one, on one number of ranks with one model. It was run
 * once per repeat; a sample is the median step of a run. Samples of the same repeat are compared in pairs: a repeat
 * runs all points one after another, so a drift of the machine affects all of them alike. */
#ifndef BENCH_READ_REPORT_GRID_H
#define BENCH_READ_REPORT_GRID_H

#include "report/runs.h"

/* The least number of repeats that gives intervals and verdicts. */
enum { GRID_REPEATS = STATS_LEAST_PAIRS };

struct grid_sample {
    const struct report_run *run;
    size_t repeat;
    double step_s, tokens_s; /* step_s: median step; tokens_s: tokens per second */
};

struct grid_point {
    size_t ranks;
    char model[128];
    const struct run_implementation *of; /* implementation in the first run of the point */
    const char *implementation;          /* of->subject */
    char bucket[24];                     /* bucket size in MiB, as text; "": no buckets */
    struct grid_sample *sample;          /* [n], owned */
    size_t n;

    /* Set by grid_judge: */
    double mean_s;             /* mean step time */
    double interval_s[2];      /* 95 % interval of the mean by Student's t; NAN with fewer than GRID_REPEATS */
    double tokens_mean_s;      /* mean tokens per second */
    double efficiency;         /* tokens/s per rank / tokens/s per rank on the fewest ranks, where it is NAN */
    struct paired to_best;     /* step / step of the best, paired by repeat; no interval below GRID_REPEATS */
    enum verdict_kind verdict; /* VERDICT_KINDS for a control; undecided with fewer than GRID_REPEATS samples */
    const char *mark;          /* "*": best, "=": tie, "": neither */
};

struct grid {
    struct grid_point *point;
    size_t n;
};

/* Whether the directory is that of a sweep: it holds runs in ranks=<n>/model=<name>/<implementation>/repeat-<k>. */
int grid_is_in(const char *directory);

/* Adds a run to its point. The grid keeps the pointer. Returns 0; or -1, reported, if the run could not be read, is not
 * complete, or is not a benchmark of one implementation in the directory of a sweep. */
int grid_add(struct grid *grid, const struct report_run *run);

/* Sorts the points by ranks, model and mean step. Judges each group of points with the same ranks and model, by the
 * repeats that all points of the group have. The best is the implementation with the least mean that is not a control;
 * best_compare compares the other implementations with the best, and each control with the best separately. */
void grid_judge(struct grid *grid);

/* Returns the index after the last point of the group that begins with point `first`. */
size_t grid_group_end(const struct grid *grid, size_t first);

/* Returns a sentence if the best bucket size of a judged group is the smallest or largest one tried. Returns "" if it
 * is neither, if no size has a verdict, or if a smaller or larger size would give the same buckets. */
const char *grid_edge_advice(char text[200], const struct grid_point *point, size_t n);

void grid_destroy(struct grid *grid); /* all members may be 0 */

#endif
