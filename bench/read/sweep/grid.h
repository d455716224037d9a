/* grid.h - step times of a grid of runs: which points are the fastest of their ranks and model, and which are not
 * significantly slower.
 *
 * A point is an implementation, at a bucket size if it has one, for one number of ranks and one model; it was run once
 * per repeat, and a sample is a run's median step. Points are paired by repeat, since repeats are run one after the
 * other and a machine that drifts hits all points of one alike. */
#ifndef BENCH_READ_SWEEP_GRID_H
#define BENCH_READ_SWEEP_GRID_H

#include "base/stats.h"

#include <stddef.h>

/* With fewer repeats there are neither intervals nor verdicts. */
enum { GRID_REPEATS = STATS_LEAST_PAIRS };

enum grid_verdict {
    GRID_UNDECIDED, /* too few repeats */
    GRID_CONTROL,   /* does not reduce, so it is no candidate */
    GRID_ONLY,      /* the only candidate: there is nothing to compare it with */
    GRID_BEST,
    GRID_TIED, /* not significantly different from the best */
    GRID_SLOWER
};

/* One run of a point. */
struct grid_sample {
    size_t repeat;
    double step_s, tokens_s; /* median step, and tokens per second */
};

struct grid_point {
    size_t ranks;
    char model[128], implementation[128], strategy[64];
    double bucket_mb;            /* NAN: it has no buckets */
    size_t buckets, tensors;     /* into which the gradient was cut, and might have been; 0: not known */
    char link[80], machine[128]; /* what joins the ranks ("": there is one) and what they compute on, as words; where
                                    runs of these ranks and model differ in them, several links or machines */
    struct grid_sample *sample;  /* [n], owned */
    size_t n;

    /* Found by grid_judge: */
    double mean_s;         /* step */
    double interval_s[2];  /* of the mean, 95 % by Student's t; NAN below GRID_REPEATS */
    double tokens_mean_s;  /* mean tokens per second */
    double efficiency;     /* tokens per second and rank, over those of the same point on the fewest ranks; NAN */
    struct paired to_best; /* step over that of the best in the same repeats; its interval NAN below GRID_REPEATS */
    enum grid_verdict verdict;
};

struct grid {
    struct grid_point *point;
    size_t n;
};

/* Adds a run to its point: that with the ranks, model, implementation and bucket size of `of`, which has no samples. */
void grid_add(struct grid *grid, const struct grid_point *of, struct grid_sample sample);

/* Sorts the points by ranks, model, and mean step; and judges each group of the same ranks and model: the best is the
 * one with the least mean among those that reduce, and the others are compared with it by best_compare, in the repeats
 * that all of them have. */
void grid_judge(struct grid *grid);

/* The points from `first` on that are of the same ranks and model end here. */
size_t grid_group_end(const struct grid *grid, size_t first);

/* The best point with buckets among these, sorted as grid_judge sorts them; NULL: none has any. */
const struct grid_point *grid_best_bucket(const struct grid_point *point, size_t n);

/* Where the bucket size of `best` lies among those of its implementation: -1 smallest, 1 largest, 0 between, also where
 * it is the only one, or where a size beyond would cut the gradient no other way. */
int grid_edge(const struct grid_point *point, size_t n, const struct grid_point *best);

/* Says whether the best size is the smallest or the largest that was tried; NULL: neither, or no verdict. */
const char *grid_edge_words(const struct grid_point *point, size_t n);

void grid_destroy(struct grid *grid); /* a zeroed one is fine */

#endif
