/* plot.h - the points of a grid as data for pictures of step time against bucket size. */
#ifndef BENCH_REPORT_PLOT_H
#define BENCH_REPORT_PLOT_H

#include "report/grid.h"

/* Replaces directory/sweep-<ranks>-<model>.tsv for each number of ranks and model that has bucket sizes;
 * launch/sweep.gp draws it. Blocks of lines, two empty lines between them: the best bucket as x, y, words; then for
 * each implementation its name, and lines of x (MiB), mean step and the ends of its interval (ms). One without buckets
 * is a horizontal line, with its interval at a place of its own at the right. Returns 0; or -1, reported. */
int plot_write(const struct grid *grid, const char *directory);

#endif
