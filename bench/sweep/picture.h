/* picture.h - the data of a picture of step time against bucket size. */
#ifndef BENCH_SWEEP_PICTURE_H
#define BENCH_SWEEP_PICTURE_H

#include "sweep/grid.h"

#include <stdio.h>

/* What is said of the best bucket size where it lies at the end of those that were tried; NULL elsewhere,
 * and where too few repeats decide nothing. */
const char *picture_edge(const struct grid_point *point, size_t n);

/* Replaces sweep_<model>_<ranks>-ranks_<link>_<machine>.tsv in the directory, of the points of a group that grid_judge
 * has sorted, if any of them has buckets; launch/sweep.gp draws it, and launch/sweep.sh reads its first lines, which
 * begin with "# ", for what it writes on it. Returns 0; or -1, reported. */
int picture_write(const char *directory, const struct grid_point *point, size_t n, const char *title);

#endif
