/* run_json.h - run.json of a training: what was run, where, and with what. */
#ifndef BENCH_TRAINING_RUN_JSON_H
#define BENCH_TRAINING_RUN_JSON_H

#include "training/training.h"

/* Writes it. All ranks call; rank 0 writes. 0, or -1, reported. */
int run_json_write(const struct run *run, const char *mode, const struct command *command,
                   const struct results *results);

#endif
