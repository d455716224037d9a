/* ratios.h - times of a repetition as ratios to the median of their group, kept over repetitions in bounded memory, and
 * decided one series at a time. Pure functions.
 *
 * A row holds the times of a repetition, one for each column; the ratios of a column over the rows are a series. The
 * columns of a group (messages of the same round, say) are divided by their lower median in the row: of k sorted times,
 * numbered from 0, the one at (k - 1) / 2. It is the time of a healthy column even if half of the columns are slow.
 *
 * When `most` rows are kept, every two rows are joined to one by geometric means, and from then on each row is the mean
 * of twice the number of repetitions. So memory is bounded, every repetition counts, and the medians become more
 * precise. When rows are joined depends on their number, not on their values, which sequential intervals permit. */
#ifndef BENCH_MEASURE_ISOLATE_RATIOS_H
#define BENCH_MEASURE_ISOLATE_RATIOS_H

#include "base/stats.h"

#include <stddef.h>

enum series_state {
    SERIES_NONE, /* not judged; its times count in the median of their group if they are not NAN */
    SERIES_UNDECIDED,
    SERIES_HEALTHY,
    SERIES_SLOW,
    SERIES_STATES
};

/* A group of columns whose healthy times are the same. */
struct ratios_group {
    double resolve;
    int lowest;     /* 1: the lowest time is the reference, not the lower median */
    double healthy; /* ratio of a healthy column, which decisions and pooled ratios are relative to */
};

struct ratios {
    size_t columns, groups;
    unsigned char *group, *state; /* [columns] number of the group; enum series_state, set by the caller at first */
    struct ratios_group *of;      /* [groups] */
    unsigned short *slow_from;    /* [columns] the n since which a column is slow; 0: it is not */
    size_t n, most;               /* rows kept; n < most */
    size_t batch, pending;        /* repetitions of a row; repetitions in `sum` */
    float **row;                  /* [n][columns + groups]: ratios, then the reference of each group in seconds */
    float *sum;                   /* [columns + groups] logarithms of the next row */
};

/* Sets up empty ratios; the caller sets group, state and of[]. Keeps `bytes` of rows at most, but at least 64 rows. */
void ratios_create(struct ratios *ratios, size_t columns, size_t groups, size_t bytes);
void ratios_destroy(struct ratios *ratios);

/* Adds a repetition: seconds[columns], NAN: not measured. A column that is NAN in the first one becomes SERIES_NONE. */
void ratios_add(struct ratios *ratios, const float *seconds);

/* Decides series that are not healthy yet, at level 1 - alpha: slow if the median is above 1 + resolve / 2, else
 * healthy if it is below 1 + resolve, each by stats_paired_anytime's interval. Healthy is final, which the intervals
 * permit, since they hold for all n together. The intervals assume independent repetitions. So that a passing
 * disturbance is no fault, a series is slow only if it still is after twice the repetitions, and while it is. With few
 * columns the lower median lies below the typical time of a healthy column. So in a group of at most 64 columns a
 * healthy column's ratio is not 1 but the lower median (or lowest) of their medians. Returns how many are undecided. */
size_t ratios_decide(struct ratios *ratios, double alpha);

/* Writes the rows' geometric means over column[k], relative to a healthy column, to pooled[ratios->n]. */
void ratios_pool(const struct ratios *ratios, const size_t *column, size_t k, double *pooled);

/* Returns the median over the rows of the geometric mean of the seconds of column[k]. */
struct estimate ratios_seconds(const struct ratios *ratios, const size_t *column, size_t k);

#endif
