/* describe.h - writes run.json, and the heading and notes of a summary. */
#ifndef BENCH_MEASURE_TRAINING_DESCRIBE_H
#define BENCH_MEASURE_TRAINING_DESCRIBE_H

#include "training/run.h"

/* Writes run.json to a result directory. Returns 0; or -1 on every rank, reported by rank 0. */
int training_write_run_json(const struct training *training, const char *mode, const struct command *command,
                            const struct results *results);

/* Begins the summary of a mode, with the heading. epochs: the heading's sentence about which steps are trained; NULL: a
 * sentence about the regime. The caller owns the summary. */
cJSON *training_create_summary(const struct training *training, const char *mode, const char *epochs);

/* For --dry-run: adds to the heading the model, the batch, the estimated memory and the work of a run whose options are
 * checked. captured: steps of all captures before the rounds. minutes: the limit of the rounds; 0: o->rounds are run.
 * Returns 0; or -1, reported. */
int training_dry_run(const struct run_options *options, const struct recording *recording, int ranks, int on_gpus,
                     size_t captured, double minutes, cJSON *summary);

/* Returns the model's FLOP of a step on all ranks; the backward pass takes twice the FLOP of the forward pass. */
double training_flops(const struct training_options *options, const struct model *model);

/* Adds to a summary notes about machine, losses and checkpoints, counts of blocks, and findings of monitors. */
void training_add_notes(const struct training *training, cJSON *summary);

#endif
