/* results.h - the files of a sweep: run.json, summary.json, allreduce.csv and rank_<r>_metrics.jsonl. */
#ifndef BENCH_ALLREDUCE_RESULTS_H
#define BENCH_ALLREDUCE_RESULTS_H

#include "allreduce/measure.h"
#include "results/results.h"

/* What was run, where, and with what. All ranks call; rank 0 writes. 0, or -1, reported. */
int sweep_write_run(const struct results *results, const struct sweep *sweep, const struct host_facts *host,
                    int threads, int argc, char *const argv[]);

/* Appends the iterations of a row's last cycle to this rank's metrics, with the time since origin_ns at which they
 * began. 0, or -1, reported. */
int sweep_write_iterations(struct results *results, const struct measured *row, size_t cycle, int64_t origin_ns);

/* The summary as JSON, with the first `rows` rows, which are finished, and the links that were fitted. The caller owns
 * it. */
cJSON *sweep_summary(const struct sweep *sweep, size_t rows);

/* Replaces summary.json and allreduce.csv. Rank 0 only. 0, or -1, reported. */
int sweep_write_summary(const struct results *results, const struct sweep *sweep, size_t rows);

#endif
