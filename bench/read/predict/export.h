/* export.h - exports a step as a Chakra execution trace (MLCommons), which simulators such as ASTRA-sim read. */
#ifndef BENCH_READ_PREDICT_EXPORT_H
#define BENCH_READ_PREDICT_EXPORT_H

#include "predict/replay.h"

#include <stddef.h>

/* The events of a replayed step (replay) and its buckets. */
struct exported_step {
    const struct replay_event *event;
    int n;
    double scale; /* factor of all times */
    const struct replay_plan *plan;
    size_t ranks;
};

/* Writes files directory/prefix.<rank>.et, one for each rank, of one step: a node for each event. All ranks are equal.
 * A replay of a file by dependencies and durations alone takes as long as the events. Returns 0; or -1, reported, if a
 * file cannot be written; files written before are complete. With writes = 0, only checks that existing files are
 * exported ones (files_check_replaced). */
int export_chakra(const char *option, const char *directory, const char *prefix, const struct exported_step *step,
                  int writes);

#endif
