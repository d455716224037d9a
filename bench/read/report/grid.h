/* grid.h - the runs of a sweep (launch/sweep.sh) as a grid, and its fastest points for each number of ranks and model.
 *
 * A point is an implementation, with its bucket size if it has one, on one number of ranks with one model. A repeat of
 * the sweep runs all points, one after another. A sample is the step of a point's run in a repeat. Samples of the same
 * repeat are compared in pairs, because a drift of the machine affects all of them equally. */
#ifndef BENCH_READ_REPORT_GRID_H
#define BENCH_READ_REPORT_GRID_H

#include "report/runs.h"
#include "results/verdict.h"

struct grid_sample {
    const struct report_run *run;
    size_t repeat;
    double step_s; /* the run's figure `step` */
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
    struct estimate step_s;   /* geometric mean over the repeats that all points of the group have; if none, its own */
    double tokens_per_second; /* at that step */
    double efficiency;        /* tokens/s per rank / tokens/s per rank on the fewest ranks; there NAN */
    struct against_best to_best; /* step / step of the best, by repeat; no interval below STATS_LEAST repeats */
    enum verdict_kind verdict;   /* VERDICT_KINDS for `none` */
    const char *mark;            /* "*": best, "=": tie, "": neither */
};

struct grid {
    struct grid_point *point;
    size_t n;
};

/* Whether a directory holds a sweep: directories ranks=<n>/model=<name>, with the runs below them. */
int grid_is_in(const char *directory);

/* Adds a run to its point. The grid keeps the pointer. Returns 0; or -1, reported, if the run could not be read, is not
 * complete, or is not a benchmark of one implementation in the directory of a sweep. */
int grid_add(struct grid *grid, const struct report_run *run);

/* Judges each group of points with the same ranks and model, by the repeats that all points of the group have. The best
 * is the point with the least mean step, not counting `none`. best_of compares the other points with the best, and
 * stats_paired compares `none` with the best. Sorts the points by ranks, model and mean step. */
void grid_judge(struct grid *grid);

/* Returns the index after the last point of the group that begins with point `first`. */
size_t grid_group_end(const struct grid *grid, size_t first);

/* Returns a sentence if the best point of a judged group, point[n], has the smallest or largest bucket size tried, and
 * the size next to it is slower. Otherwise, or if a smaller or larger size would give the same buckets, returns "". */
const char *grid_edge_advice(char text[200], const struct grid_point *point, size_t n);

void grid_destroy(struct grid *grid); /* frees all members, which may be 0 */

#endif
