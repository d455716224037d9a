/* provenance.h - run.json: what was run, where and with what. */
#ifndef BENCH_RESULTS_PROVENANCE_H
#define BENCH_RESULTS_PROVENANCE_H

#include "base/option_table.h"
#include "ddp/comm.h"

#include <cJSON.h>

struct results;

/* A command line, and the table that it was parsed with. */
struct command {
    int argc;
    char *const *argv;
    const struct option_table *table;
};

/* Creates a run.json with schema version, program, version, mode, time, label, argv, and the value of every option as
 * "configuration". The caller owns it. */
cJSON *provenance_create(const char *mode, const char *label, const struct command *command);

/* Adds the communication backend, how its messages progress or which NCCL it is, and the MPI library. */
void provenance_add_comm(cJSON *json, const struct comm *comm);

/* Adds the environment variables that affect a run, and writes run.json on rank 0. Deletes the JSON on every rank.
 * Returns 0; or -1, reported. */
int provenance_write(const struct results *results, cJSON *json);

#endif
