/* verdict.h - whether candidate runs are slower than baseline runs: figures of several runs in, verdicts out.
 *
 * The unit is a run: a figure is one number per run. Worked on as logarithms, so that a difference is a ratio; ratios
 * are turned so that above 1 is worse. With VERDICT_RUNS baseline runs or more, the spread of the runs bounds the
 * error of a ratio: Student's t of two groups with a common spread (a single candidate: the interval in which the
 * baselines predict it), and the chance that any figure is called regressed although none is slower than the
 * tolerance is at most `level` over the whole call (weighted Holm, one-sided); the same apart for improved. With fewer
 * runs the spread is unknown, and only figures of which the best candidate run is worse than the worst baseline run by
 * more than tolerance and floor are called regressed, if there are runs enough for that (verdict_is_possible). With
 * still fewer, such as one against one, only what is worse by more than tolerance and floor counts, as ambiguous.
 * Pure. */
#ifndef BENCH_READ_COMPARE_VERDICT_H
#define BENCH_READ_COMPARE_VERDICT_H

#include <stddef.h>

enum { VERDICT_RUNS = 5 };

/* Whether it tells anything that all candidate runs are on one side of all baseline runs: if nothing has changed, any
 * order of the runs is as likely, so that the chance of it is 1 / (baselines + candidates choose candidates), which has
 * to be at most `level`. At 5 % 3 + 3 and 2 + 5 runs are enough, 2 + 4 and 4 + 1 are not. (With a gap of 15.5 % between
 * the sides, runs that spread by 10 %, and 48 figures, the chance of any false alarm is 4 % with 3 + 3 runs, 43 % with
 * 2 + 2, and 1 with 1 + 1.) */
int verdict_is_possible(size_t baselines, size_t candidates, double level);

/* No two runs of a machine agree better than this (standard deviation of log figure): the least spread assumed, so
 * that runs that are equal to the digit, such as copies, do not make every difference certain. */
#define VERDICT_LEAST_SD 0.001

/* All sizes of a figure, such as of one collective, are also judged together: their mean logarithm, over the sizes that
 * all runs have, is one more hypothesis, which finds a slowdown of all sizes that no single size shows. These
 * hypotheses share this part of the level, single figures the rest (test_verdict simulates what is found with it). */
#define VERDICT_SIZES_PART 0.8

enum figure_verdict {
    VERDICT_OK,
    VERDICT_NEW,       /* in no baseline run */
    VERDICT_IMPROVED,  /* better by more than the tolerance */
    VERDICT_MISSING,   /* in a baseline run, and not in all candidate runs */
    VERDICT_AMBIGUOUS, /* worse by more than the tolerance, which may be chance: the mean and the median of the runs
                          are, or the mean is by more than tolerance and floor; with few runs see above */
    VERDICT_REGRESSED, /* worse by more than the tolerance, or its data was wrong */
    VERDICTS
};
extern const char *const verdict_name[VERDICTS];

struct verdict_rules {
    double tolerance, floor, level; /* fractions: 0.05 is 5 % */
};

/* One figure in all runs; NAN where a run has none. A figure not above 0 has no ratio and counts as none. */
struct verdict_figure {
    size_t size_group; /* figures with the same number are the sizes of one */
    int higher_is_better;
    int wrong;                          /* a candidate run found wrong data: regressed, whatever it took */
    const double *baseline, *candidate; /* [baselines], [candidates] */
    const struct figure *figure;        /* of the first run that has it; this and `judged` are for compare/match.h */
    int judged;                         /* by the verdicts; the other figures are only shown */
};

struct figure_verdict_row {
    enum figure_verdict verdict;
    const struct verdict_figure *figure; /* or one of its sizes */
    size_t sizes;                        /* 1, or the sizes that the row is the mean of */
    size_t n[2];                         /* runs that have it: baselines and candidates */
    double ratio;                        /* geometric means, above 1 is worse; NAN without both */
    double low, high; /* its interval, each end at the one-sided level at which the figure was tested; NAN with fewer
                         than VERDICT_RUNS baseline runs. regressed: low > 1 + tolerance, but not where it is for
                         wrong data; improved: high < 1 / (1 + tolerance) */
};

/* row[figures] first, in their order, then one for each group of two sizes or more; they point to the figures. Release
 * with verdicts_destroy. */
struct verdicts {
    struct figure_verdict_row *row;
    size_t n;
    size_t count[VERDICTS]; /* rows with each verdict */
};
void verdicts_create(struct verdicts *verdicts, const struct verdict_rules *rules, const struct verdict_figure *figure,
                     size_t figures, size_t baselines, size_t candidates);
void verdicts_destroy(struct verdicts *verdicts); /* zeroed ones are fine */

#endif
