/* metrics.h - metrics.csv: the step lines of rank 0 as a table. */
#ifndef BENCH_RESULTS_METRICS_H
#define BENCH_RESULTS_METRICS_H

/* Makes metrics.csv from rank_0_metrics.jsonl in the directory of a run, which may be running or killed. Each line
 * becomes a row; each member of any line that is neither array nor object becomes a column, in the order of first
 * appearance. Numbers keep their value; a missing member or null is an empty field; texts are quoted by RFC 4180. A
 * last line that was cut off is left out; without any line no file is written. Only one line is in memory at a time.
 * Returns 0; or -1, reported. */
int results_write_metrics_csv(const char *directory);

#endif
