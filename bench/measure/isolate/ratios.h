/* ratios.h - times of a repetition as ratios to the median of their group, kept over repetitions in bounded memory, and
 * decided one series at a time. Pure functions.
 *
 * A row holds the times of a repetition, one for each column; the ratios of a column over the rows are a series. The
 * columns of a group (messages of the same round, say) are divided by their lower median in the row: of k sorted times
 * the one at (k - 1) / 2, from 0, which is that of a healthy column even if half of all are slow.
 *
 * When `most` rows are kept, each two rows become one, of geometric means, and from then on each row is the mean of
 * twice as many repetitions. So memory is bounded, every repetition counts, and the medians become more precise. When
 * rows are joined depends on their number alone, not on their values, which sequential intervals permit. */
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
    unsigned short *slow_from;    /* [columns] the n from which on a column has been slow; 0: it is not */
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

/* Decides series that are not healthy, at level 1 - alpha: slow if the median is above 1 + resolve / 2, else healthy if
 * it is below 1 + resolve, each by stats_paired_anytime's interval. That a series is healthy is final, which its
 * intervals permit, since they hold for all n together. They take repetitions to be independent; so that what disturbs
 * a member for a while is no fault, a series is slow only if it still is after twice as many repetitions as at first,
 * and only as long as it is. Returns the number of series that are undecided. With few columns the lower median lies
 * below the typical time of a healthy column. So in a group of at most 64, the ratio of a healthy column is not 1 but
 * the lower median (or the lowest) of the columns' own medians. */
size_t ratios_decide(struct ratios *ratios, double alpha);

/* Writes the rows' geometric means over column[k], relative to a healthy column, to pooled[ratios->n]. */
void ratios_pool(const struct ratios *ratios, const size_t *column, size_t k, double *pooled);

/* Returns the median over the rows of the geometric mean of the seconds of column[k]. */
struct estimate ratios_seconds(const struct ratios *ratios, const size_t *column, size_t k);

#endif
