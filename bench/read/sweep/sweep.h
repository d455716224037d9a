/* sweep.h - what the runs of a grid (launch/sweep.sh) found together. */
#ifndef BENCH_READ_SWEEP_SWEEP_H
#define BENCH_READ_SWEEP_SWEEP_H

#include <stdio.h>

/* Whether the directory holds runs below ranks=<n>/model=<name>/<implementation>/repeat-<k>, or sweep.txt. */
int sweep_is(const char *directory);

/* Prints, for each number of ranks and model, the step times of all points with the best, and what is not significantly
 * different from it. Replaces sweep.csv, the figures of all runs, in the directory, and, where there are bucket sizes,
 * a picture (picture.h). Appends all figures to `figures`, too (results_print_csv). Returns 0; or -1, reported: a run
 * cannot be read, or none is complete. */
int sweep_report(FILE *out, const char *directory, FILE *figures);

#endif
