/* telemetry.h - rank_<r>_metrics.jsonl: a line of JSON for each step. */
#ifndef BENCH_MEASURE_TRAINING_TELEMETRY_H
#define BENCH_MEASURE_TRAINING_TELEMETRY_H

#include "results/results.h"
#include "spans/spans.h"

#include <stdio.h>

/* Print members of a line, with a comma before each: a number, or null for one that is not finite; the times of a step,
 * from origin_ns on; its overlap, with `traced` also what only its operations show. */
void telemetry_print_number(FILE *out, const char *name, double value);
void telemetry_print_times(FILE *out, int64_t origin_ns, const struct step_times *step);
void telemetry_print_overlap(FILE *out, const struct overlap *overlap, int traced, int on_device);

struct training;
struct block;

/* Appends a line for each step of a block to the metrics. Returns 0; or -1, reported. */
int telemetry_write_block(struct results *results, const struct training *training, const struct block *block);

#endif
