/* telemetry.h - rank_<r>_metrics.jsonl: a line for each step of this rank. */
#ifndef BENCH_TRAINING_TELEMETRY_H
#define BENCH_TRAINING_TELEMETRY_H

#include "results/results.h"
#include "training/rounds.h"
#include "spans/overlap.h"
#include "trace/write.h"

/* What the lines of a block have in common. The first `discarded` of its steps were not timed; schedule_step is the
 * position of the first in the schedule, and steps_before how many steps this process had run. */
struct block_facts {
    const char *implementation;
    size_t round, block;
    int steps, discarded;
    long schedule_step, steps_before;
    double other_processes_cores;
    int traced; /* operations were recorded, so that computation is known */
};

/* Appends the steps of a block, as one piece; times, overlap and record are [steps]. 0, or -1, reported. */
int telemetry_write_block(struct results *results, const struct block_facts *block, const struct run *run,
                          const struct step_times *times, const struct overlap *overlap, const float *record);

/* Appends the captured steps of a trace, with the segments of time in which lanes were active. 0, or -1, reported. */
int telemetry_write_capture(struct results *results, const struct run *run, const struct trace *trace,
                            const struct overlap *overlap);

#endif
