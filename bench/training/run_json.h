/* run_json.h - run.json of a benchmark or a profile. */
#ifndef BENCH_TRAINING_RUN_JSON_H
#define BENCH_TRAINING_RUN_JSON_H

#include "results/results.h"
#include "training/rounds.h"

/* Writes run.json: what was run, where, and with what. All ranks call; rank 0 writes. 0, or -1, reported. */
int run_json_write(const struct results *results, const struct run *run);

#endif
