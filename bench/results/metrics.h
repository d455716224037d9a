/* metrics.h - metrics.csv, from the lines of a rank. */
#ifndef BENCH_RESULTS_METRICS_H
#define BENCH_RESULTS_METRICS_H

/* Makes metrics.csv from rank_0_metrics.jsonl in the directory of a run, also if the run still goes on or was killed.
 * Each line becomes a row. Each member that is neither array nor object becomes a column, in the order of first
 * appearance. Numbers keep their value; a missing member or null is an empty field; texts are quoted by RFC 4180. An
 * incomplete last line is left out. If there are no lines, no file is written. Returns 0; or -1, reported. */
int results_write_metrics_csv(const char *directory);

#endif
