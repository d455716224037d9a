/* picture.h - the step over the bucket size, of the runs of a grid, as a picture. */
#ifndef BENCH_READ_SWEEP_PICTURE_H
#define BENCH_READ_SWEEP_PICTURE_H

#include "sweep/grid.h"

/* Replaces sweep_<model>_<ranks>-ranks_<link>_<machine>.svg in the directory, of the points of a group that grid_judge
 * has sorted, if any of them has buckets: a line for each implementation with buckets, and a horizontal one for each
 * other. `of` says what the group is, `finding` what came of it, both in a sentence. Returns 0; or -1, reported. */
int picture_write(const char *directory, const struct grid_point *point, size_t n, const char *of, const char *finding);

#endif
