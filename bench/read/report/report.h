/* report.h - `ddpbench report`: a report on runs, from their directories. */
#ifndef BENCH_READ_REPORT_REPORT_H
#define BENCH_READ_REPORT_REPORT_H

#define REPORT_SYNOPSIS "ddpbench report [LABEL=]DIR..." /* without options */

/* Reports the runs, or the sweep, whose directories follow argv[0]; needs no MPI. Returns the exit status:
 * 0, 1 for what cannot be read or written, 2 for a wrong command line. */
int run_report(int argc, char *argv[]);

#endif
