/* report.h - `ddpbench report`: makes a report on runs from their directories. */
#ifndef BENCH_READ_REPORT_REPORT_H
#define BENCH_READ_REPORT_REPORT_H

#define REPORT_SYNOPSIS "ddpbench report [LABEL=]DIR..." /* the command line without its options */

/* Makes the report on the runs, or on the sweep, whose directories follow argv[0]; needs no MPI. Returns the exit
 * status: 0; 1 if anything cannot be read or written; 2 if the command line is wrong. */
int run_report(int argc, char *argv[]);

#endif
