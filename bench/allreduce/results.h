/* results.h - the files of `ddpbench allreduce` beside its summary: run.json and rank_<r>_metrics.jsonl. */
#ifndef BENCH_ALLREDUCE_RESULTS_H
#define BENCH_ALLREDUCE_RESULTS_H

#include "allreduce/timing.h"
#include "machine/machine.h"
#include "results/results.h"

/* Writes what was run, where, and with what. All ranks call; rank 0 writes. 0, or -1, reported. */
int allreduce_write_run(const struct results *results, const struct command *command, const char *label,
                        const struct endpoint *endpoint, const struct open_device *opened,
                        const struct host_facts *host, int threads);

/* Appends the iterations of a timing's last cycle to this rank's metrics, with the time since origin_ns at which they
 * began. 0, or -1, reported. */
int allreduce_write_iterations(struct results *results, const struct collective_timing *timing, size_t cycle,
                               int64_t origin_ns);

#endif
