/* compare.h - `ddpbench compare`: judges whether runs got slower. The exit status is the verdict. */
#ifndef BENCH_READ_COMPARE_COMPARE_H
#define BENCH_READ_COMPARE_COMPARE_H

#define COMPARE_SYNOPSIS "ddpbench compare BASELINE... --candidate DIR..." /* the command line without its options */

/* Compares the runs whose directories follow argv[0] and prints the outcome; needs no MPI. Returns the exit status, an
 * enum compare_status. */
int run_compare(int argc, char *argv[]);

#define TREND_SYNOPSIS "ddpbench trend DIR..."

/* `ddpbench trend`: since which night, and by how much, the figures of nightly runs got worse (trend.h). Returns the
 * exit status. */
int run_trend(int argc, char *argv[]);

#endif
