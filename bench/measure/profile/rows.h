/* rows.h - the rows of a profile: what is captured, and the controls that it is compared with. */
#ifndef BENCH_MEASURE_PROFILE_ROWS_H
#define BENCH_MEASURE_PROFILE_ROWS_H

#include "profile/profile.h"

/* Makes the rows of the training. For each strategy, one with buckets for each size: traced and captured; the same
 * without tracing; the same with its collectives after backward, if it overlaps. And `none`, unless it is one of them.
 * Returns 0; or -1, reported: too many, or two of one label. */
int profile_rows_make(struct training_options *training, const struct strategy_list *list);

/* Indices of a captured row and of its controls; -1: it has none of that kind. */
struct profile_rows {
    int captured, untraced, after_backward, none;
};

/* Of n rows that profile_rows_make has made. A row that reduces nothing is not compared with `none`. */
struct profile_rows profile_rows_find(const struct implementation *row, int n, int captured);

#endif
