/* summary.h - summary.csv: the figures of summary.json as a tidy table, a row for each implementation and metric.
 */
#ifndef BENCH_BENCHMARK_SUMMARY_H
#define BENCH_BENCHMARK_SUMMARY_H

#include "benchmark/ranking.h"
#include "results/results.h"
#include "training/rounds.h"

#include <cJSON.h>

/* The table as text, a line of column names first; the caller frees it. `implementations` is that object of
 * summary.json: implementations.<name>.<metric>, a name for each of run's options. Numbers are spelled as there; a
 * figure that does not exist is an empty field, as is the bucket size (MiB) of a strategy without buckets. No field is
 * quoted: labels hold neither commas nor quotes. */
char *summary_csv_text(const struct run *run, const cJSON *implementations);

/* Replaces summary.json, summary.csv and summary.txt (the text given). Rank 0 only. 0, or -1, reported. */
int summary_write(const struct results *results, const struct run *run, const struct ranking *comparison,
                  const char *text);

#endif
