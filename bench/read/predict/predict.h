/* predict.h - `ddpbench predict`: the step that other buckets, strategies, ranks and links would give. */
#ifndef BENCH_READ_PREDICT_PREDICT_H
#define BENCH_READ_PREDICT_PREDICT_H

#include <cJSON.h>
#include <stddef.h>

#define PREDICT_SYNOPSIS "ddpbench predict RUN --link DIR" /* the command line without its other options */

/* Predicts from the run whose directory is among argv[1..]; needs no MPI. Returns the exit status: 0; 1 if anything
 * cannot be read or written; 2 if the command line is wrong. */
int run_predict(int argc, char *argv[]);

/* Adds to a report the section on the link that a run needs on `ranks`, 2 x `ranks` and 4 x `ranks` ranks. run: its
 * directory; sweeps: directories of sweeps of collectives, separated by commas. Adds nothing if they are unfit. */
void predict_add_link_section(cJSON *document, const char *run, size_t ranks, const char *sweeps);

#endif
