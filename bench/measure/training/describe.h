/* describe.h - what was run, as run.json and as the heading of a summary, and what a reader of the figures must know of
 * the machine and the losses: the same for every command that trains. */
#ifndef BENCH_MEASURE_TRAINING_DESCRIBE_H
#define BENCH_MEASURE_TRAINING_DESCRIBE_H

#include "results/results.h"

struct training;

/* Writes run.json to a result directory. All ranks call. Returns 0; or -1 on every rank, reported by rank 0. */
int training_write_run_json(const struct training *training, const char *mode, const struct command *command,
                            const struct results *results);

/* Begins the summary of a mode with its heading; `epochs` is the sentence about the steps (NULL: blocks of the regime).
 * The caller owns it. */
cJSON *training_create_summary(const struct training *training, const char *mode, const char *epochs);

/* Adds the notes about the machine, the losses and checkpoints, with the counts and findings as members. */
void training_add_notes(const struct training *training, cJSON *summary);

#endif
