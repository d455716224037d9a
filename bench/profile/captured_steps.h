/* captured_steps.h - the lines of rank_<r>_metrics.jsonl that are about captured steps. */
#ifndef BENCH_PROFILE_CAPTURED_STEPS_H
#define BENCH_PROFILE_CAPTURED_STEPS_H

#include "results/results.h"
#include "trace/trace.h"

/* Appends the steps of a capture; overlap is [trace->steps], times count from origin_ns, on_device as in struct comm.
 * 0, or -1, reported. */
int captured_steps_write(struct results *results, const struct trace *trace, const struct overlap *overlap,
                         int64_t origin_ns, int on_device);

#endif
