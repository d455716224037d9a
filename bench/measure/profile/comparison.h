/* comparison.h - profiles of several implementations in one run, side by side. */
#ifndef BENCH_MEASURE_PROFILE_COMPARISON_H
#define BENCH_MEASURE_PROFILE_COMPARISON_H

#include "profile/summary.h"

/* Adds n profiles of one run side by side, from rounds that are complete: what was found of each, tables, and every
 * figure to a list. */
void profiles_add_comparison(const struct profile *profile, int n, const struct measurements *measurements,
                             cJSON *summary, struct figure_list *list);

#endif
