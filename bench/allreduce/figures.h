/* figures.h - the list of figures of timings, as every summary.json holds one. */
#ifndef BENCH_ALLREDUCE_FIGURES_H
#define BENCH_ALLREDUCE_FIGURES_H

#include "allreduce/overlap.h"
#include "base/figures.h"

/* Appends the figures of a timing that is finished, or of an overlap. Their subject is such as "all_reduce float sum
 * out_of_place", with "root 1" behind it where there is a root. */
void timing_figures(struct figure_list *list, const struct collective_timing *timing);
void overlap_timing_figures(struct figure_list *list, const struct overlap_timing *overlap);

#endif
