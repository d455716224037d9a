/* telemetry.h - rank_<r>_metrics.jsonl: a line of JSON for each step. */
#ifndef BENCH_TRAINING_TELEMETRY_H
#define BENCH_TRAINING_TELEMETRY_H

#include "ddp/step.h"
#include "results/results.h"
#include "spans/spans.h"

#include <stdio.h>

/* A block, as far as its lines say what it was. */
struct block_facts {
    const char *implementation; /* label of the row */
    size_t round, block;
    int steps, discarded; /* steps, the first `discarded` of which are not timed */
    long schedule_step;   /* of the first step, in the schedule */
    long steps_before;    /* that this process had run */
    double other_cores;   /* that other processes used meanwhile */
    int traced;           /* operations were recorded */
    int64_t origin_ns;    /* where `start` counts from */
    int log_grad_norm;    /* the norm is known in every step, not only in warm-up epochs */
    int on_device;        /* communication is the device's own work (struct comm) */
};

/* Appends the steps of a block: times and overlap are [steps], record is [steps, RECORDS]. 0, or -1, reported. */
int telemetry_write_block(struct results *results, const struct block_facts *block, const struct schedule *schedule,
                          const struct step_times *times, const struct overlap *overlap, const float *record);

/* Members of a line, each behind a comma: a number, or null for one that is not finite; the times of a step, from
 * origin_ns; what is known of its overlap, with `traced` also what needs its operations. */
void telemetry_print_number(FILE *out, const char *name, double value);
void telemetry_print_times(FILE *out, int64_t origin_ns, const struct step_times *step);
void telemetry_print_overlap(FILE *out, const struct overlap *overlap, int traced, int on_device);

#endif
