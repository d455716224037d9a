/* implementations.h - values of options that are made of several words or are one of a few; used by option tables. */
#ifndef BENCH_TRAINING_IMPLEMENTATIONS_H
#define BENCH_TRAINING_IMPLEMENTATIONS_H

#include "base/option_table.h"
#include "training/options.h"

/* Makes the rows of the comparison from --implementations and --bucket-size-mb, or those of --profile. 0; or -1,
 * reported. */
int option_implementations(struct options *options);

/* Fields are struct delay (rank=R,ms=TIME,phase=NAME), struct thresholds (those to change, as name=percent), enum sort,
 * enum regime, enum comm_dtype, enum comm_library and struct comm_progress. */
extern const struct option_kind option_delay, option_thresholds, option_sort, option_regime, option_grad_dtype,
    option_library, option_progress;

/* What a profile traces: any of these, or'ed; "auto" is both. -1, reported: the words say neither. */
enum { ACTIVITIES_CPU = 1, ACTIVITIES_CUDA = 2 };
int option_activities(const char *text);

#endif
