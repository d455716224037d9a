/* points.h - predicts the step of an implementation, with a bucket size, on a number of ranks and a link. */
#ifndef BENCH_READ_PREDICT_POINTS_H
#define BENCH_READ_PREDICT_POINTS_H

#include "predict/link.h"
#include "predict/trained.h"

/* How fast the machine computes in a later run: a step of that run in which no communication overlaps. */
struct calibration {
    const struct strategy *strategy; /* `none`, or ddp_flat if the run lacks it; NULL: there is no later run */
    size_t ranks;
    double step, error; /* its figure `step` in seconds; the standard error of its logarithm, from the 95 % interval by
                           Student's t (too large with --resolve, whose interval is wider) */
};

/* Reads the step from the summary of a run of the benchmark with the settings of `trained`. Returns 0; or -1, reported,
 * if the directory cannot be read, holds an unfinished run or one of another command, or with other settings, or if the
 * run has neither `none` nor ddp_flat in fp32 with an interval. */
int calibration_read(struct calibration *calibration, const char *directory, const struct trained *trained);

/* What predictions are made from. Every rank computes what a rank of the run does (weak scaling). */
struct points_model {
    struct trained trained;
    struct link link, intra; /* intra: within a host, if ranks_per_host is above 1 */
    size_t ranks_per_host;
    struct replay_overlap overlap;
    int overlaps;      /* 1: `overlap` is learnt from implementations that overlap; 0: none does, so it is perfect */
    double drift;      /* standard deviation over rounds of the logarithm of a block's step of `none` */
    double error;      /* root mean square of the logarithm of replayed / measured step of a block */
    double mean_error; /* error of a mean over the rounds: sqrt(mean square of the rows' errors + error^2 / rounds) */
    struct calibration calibration;
    double speed; /* factor of all times of computation: 1, or as points_calibrate set it */
};

/* Sets overlap, overlaps, drift, error, mean_error and a speed of 1 from the run's implementations, and in each row how
 * well a replay from its own collectives alone gives its steps. All rows that overlap share one slowdown, which gives
 * the extra time of their forward and backward, and one progress, which gives their steps the least error. */
void points_replay(struct points_model *model);

/* Sets `speed` so that the model gives the calibration's step: with `none`, step / the run's own step of `none`, as
 * slow as the slowest of the calibration's ranks is predicted to be; with ddp_flat, (step - its predicted all-reduce) /
 * the rest of the predicted step. Changes the calibration's error to that of `speed`. Returns 0; or -1, reported, if
 * the all-reduce takes longer than the step. Call after points_replay. */
int points_calibrate(struct points_model *model);

/* A prediction; times in seconds. */
enum { POINT_SHARES = 5 };
struct point {
    char label[128], size[50]; /* size: as --bucket-size-mb takes it, or "" */
    const struct strategy *strategy;
    enum variant variant;
    struct bucket_caps caps;
    const char *link; /* the link, as the user named it */
    size_t ranks, buckets;
    double step, low, high; /* with a 90 % interval */
    double compute;         /* step without communication, of the slowest of all ranks */
    double efficiency;      /* compute / step */
    double attainable, sum; /* step with perfect overlap; without any: compute + all collectives */
    struct replay_step at;  /* the replay; slowed, exposed and gather_wait are parts of `step` */
    const char *basis;      /* how the link's times were obtained (link.h) */
    const char *limit;      /* which of bandwidth, latency and stragglers shortens the step most if it is twice as good;
                               computation if none does by 2 % */
    const char *mark;       /* "*": the shortest step on this number of ranks; else "" */
    double near;            /* the part of the resamples in which its step is within 2 % of the shortest one */
    double bandwidth[POINT_SHARES]; /* set by points_bandwidths */
};

/* Predicts n points with equal ranks. The caller sets label, size, strategy, variant, caps, link and ranks of each.
 *
 * The step is the geometric mean over the rounds of the replayed step, with the link's collectives and the run's
 * `none`. With more ranks, the slowest rank is slower by the factor exp(spread (z(ranks) - z(run's ranks))), where z(n)
 * is the mean of the largest of n standard normal numbers (Blom, Statistical Estimates and Transformed Beta-Variables,
 * 1958). The interval has the 5 % and 95 % quantiles of 1,000 resamples: of rounds drawn with replacement, the link's
 * error (one factor on all times of collectives), the replay's error of a mean over rounds, and the drift from round to
 * round, by which a later run may differ. With a calibration, its error replaces the drift, and steps are relative to
 * `none` in the same round. The interval lacks the errors of `spread` and of the algorithms for other numbers of ranks.
 */
void points_predict(const struct points_model *model, struct point *point, size_t n);

/* Returns the point with the shortest step among point[n], of the strategy and variant of `of` unless that is NULL. */
struct point *points_shortest(struct point *point, size_t n, const struct point *of);

/* Sets bandwidth[i], the smallest bandwidth (bus bytes / second) with which a point's computation takes 50, 75, 90, 95
 * and 99 % of its step, at the link's latency; INFINITY: no bandwidth is large enough. */
void points_bandwidths(const struct points_model *model, struct point *point);

/* Sets *plan, with the link's times, and *compute, the mean round. The caller frees plan->bucket and compute->ready. */
void points_plan(const struct points_model *model, const struct point *point, struct replay_plan *plan,
                 struct step_compute *compute);

#endif
