/* export.h - exports a step as a Chakra execution trace (MLCommons), which simulators such as ASTRA-sim read. */
#ifndef BENCH_READ_PREDICT_EXPORT_H
#define BENCH_READ_PREDICT_EXPORT_H

#include "predict/replay.h"

#include <stddef.h>

/* Writes files directory/prefix.<rank>.et, one for each rank, of one step: forward, backward in as many pieces as there
 * are buckets and what remains, the optimizer (in a piece for each bucket if the plan shards or updates early), `rest`,
 * and the collectives of the buckets, in their order. All-gathers are for the next forward: nothing depends on them.
 * All ranks have the computation `compute`. Durations of collectives are those of the plan, without those within hosts.
 * Returns 0; or -1, reported, if a file cannot be written; files written before are complete. With writes = 0 only
 * checks that files which exist are exported ones (files_check_replaced). */
int export_chakra(const char *option, const char *directory, const char *prefix, const struct replay_compute *compute,
                  const struct replay_plan *plan, size_t ranks, int writes);

#endif
