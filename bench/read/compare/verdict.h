/* verdict.h - judges whether candidate runs are slower than baseline runs: figures of several runs in, verdicts out.
 *
 * A sample is a run: each run gives one number per figure. Tests work on logarithms of ratios; a ratio above 1 is
 * worse. How it decides, with an interval or with few runs, is on the page of compare (README.md). Each end of an
 * interval (of a single candidate run, a prediction interval) is a one-sided bound at the row's part of `level`; the
 * parts of all judged rows add up to `level` (weighted Bonferroni). In one call, each of three errors therefore has a
 * probability of at most `level`: any row is regressed without being slower by more than the tolerance, or improved
 * without being faster by it, or ok although it is slower by it. All functions are pure. */
#ifndef BENCH_READ_COMPARE_VERDICT_H
#define BENCH_READ_COMPARE_VERDICT_H

#include "base/figures.h"

enum {
    VERDICT_RUNS = 5,
    VERDICT_PAIRS = 8 /* from 8 pairs on, runs made in turn are compared in pairs; fewer pairs lose more by their few
                         degrees of freedom than they gain against drift of the machine */
};

/* Whether there are enough runs to conclude anything if all candidate runs are worse than all baseline runs. If nothing
 * has changed, all orders of the runs are equally likely, so the probability of this order is 1 / (baselines +
 * candidates choose candidates). It must be at most `level`. At 5 %, 3 + 3 and 2 + 5 runs are enough, 2 + 4 and 4 + 1
 * are not. */
int verdict_is_possible(size_t baselines, size_t candidates, double level);

/* The least standard deviation assumed for the logarithm of a figure: runs on a real machine never vary less.
 * Without it, runs with equal values, such as copies, would make every difference significant. */
#define VERDICT_LEAST_SD 0.001

/* All sizes of a figure, such as the time of a collective, are also judged together: one more test, on the mean of its
 * logarithms over the sizes that all runs have, detects a slowdown of all sizes even if no single size shows it. These
 * tests share this part of `level`; single figures share the rest (test_verdict simulates the power). */
#define VERDICT_SIZES_PART 0.8

enum figure_verdict {
    VERDICT_OK,  /* a slowdown of more than the tolerance would have been seen: seen_from is at most 1 + tolerance */
    VERDICT_NEW, /* no baseline run has the figure */
    VERDICT_IMPROVED, /* better by more than the tolerance */
    VERDICT_UNSEEN,   /* no other verdict applies: a slowdown of more than the tolerance may exist without being seen */
    VERDICT_MISSING,  /* a baseline run has the figure, a candidate run lacks it */
    VERDICT_AMBIGUOUS, /* not significant, but mean and median of the runs are worse by more than the tolerance, or the
                          mean by more than tolerance and floor; or regressed, but other processes may be the cause;
                          with few runs, see the top of this file */
    VERDICT_REGRESSED, /* worse by more than the tolerance, or a candidate run found wrong data */
    VERDICTS
};
extern const char *const verdict_name[VERDICTS];

struct verdict_rules {
    double tolerance, floor, level; /* --tolerance, --floor, chance of any false alarm; as fractions: 0.05 is 5 % */
    size_t pairs;    /* number of pairs: baseline i and candidate i, made one after the other; 0: not paired */
    int in_turn;     /* 1: baseline i and candidate i were made before any later run */
    double other[2]; /* share of the cores that other processes used during baseline and candidate runs; NAN: unknown */
};

/* Whether verdicts change because the machine was busy (BUSY_SHARE) during the runs of a side (0: baseline, 1:
 * candidate). Load during candidate runs turns regressed into ambiguous. Load during baseline runs turns ok or improved
 * into unseen, since it may hide a slowdown. Nothing changes if runs were made in turn and the side's share exceeds the
 * other side's by less than BUSY_SHARE: then both sides had the same load, and their ratio holds. */
int verdict_is_slowed(const struct verdict_rules *rules, int side);

/* One figure in all runs; a value is NAN if its run lacks the figure. Values of 0 or less count as missing. */
struct verdict_figure {
    struct figure figure; /* in the first run that has it */
    size_t size_group;    /* number of the group that all sizes of a figure form; figures of a group are consecutive */
    int wrong;            /* a candidate run found wrong data, so the figure is regressed */
    const double *baseline, *candidate; /* values of the baseline runs and of the candidate runs */
};

struct figure_verdict_row {
    enum figure_verdict verdict;
    const struct verdict_figure *figure; /* the figure; if the row is a mean over sizes, one of its figures */
    size_t sizes;                        /* 1, or the number of sizes whose mean the row is */
    size_t n[2];                         /* numbers of baseline runs and of candidate runs that have the figure */
    double *run[2];                      /* [n] their values, inverted if higher is better, so that greater is worse */
    struct unpaired difference;          /* of the logarithms of both sides, if the row is judged */
    double ratio;                        /* ratio of geometric means, above 1 is worse; NAN: a side has no values */
    double level;     /* the row's part of rules.level, for each end of the interval; NAN: not judged */
    double low, high; /* interval of the ratio: exp(d -+ t e), with difference d, error e and df of stats_unpaired or
                         (pairs) stats_log_ratio, and t = quantile 1 - level of Student's t; NAN with fewer than
                         VERDICT_RUNS baseline runs. A row is improved if high < 1 / (1 + tolerance), regressed if
                         low > 1 + tolerance (or the data was wrong) */
    double seen_from; /* for an ok or unseen row, the smallest slowdown that these runs would have shown, as a ratio:
                         `high`, since with probability 1 - level a slowdown of that or more would have given a larger
                         d. With fewer than VERDICT_RUNS baselines, the ratio from which every candidate would be worse
                         than every baseline by tolerance and floor, if each side varies as it did. NAN: none */
    double more_runs; /* for an unseen row, how many more runs of each side give seen_from <= 1 + tolerance by Student's
                         t if d and the standard deviation stay as they are, and VERDICT_RUNS baselines or more in all;
                         with 1 + 1 runs, whose deviation is unknown, only the latter. NAN: 10,000 are not enough */
    int wrong;        /* 1: a single figure, of which a candidate run found wrong data */
    int summary;      /* 1: a mean over sizes, or a figure that is part of no such mean, such as a step */
};

/* The rows: first one row for each figure, in the order of the figures, then one row for each group with two or more
 * sizes that all runs have. Rows point to the figures. Release with verdicts_destroy. */
struct verdicts {
    struct figure_verdict_row *row;
    size_t n;
    int by_spread;            /* 1: a row has an interval */
    size_t count[VERDICTS];   /* number of rows with each verdict */
    size_t summary[VERDICTS]; /* number of these rows with `summary` 1 */
};
void verdicts_create(struct verdicts *verdicts, const struct verdict_rules *rules, struct verdict_figure *const *figure,
                     size_t figures, size_t baselines, size_t candidates);
void verdicts_destroy(struct verdicts *verdicts); /* frees all members, which may be 0 */

#endif
