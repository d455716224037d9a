/* provenance.h - run.json: what was run, where and with what. */
#ifndef BENCH_RESULTS_PROVENANCE_H
#define BENCH_RESULTS_PROVENANCE_H

#include "base/option_table.h"
#include "ddp/comm.h"
#include "ddp/facts.h"

#include <cJSON.h>

struct results;

/* A command line, and the option table that parsed it. */
struct command {
    int argc;
    char *const *argv;
    const struct option_table *table;
};

/* Creates the JSON of run.json with schema version, program, version, mode, time, label, argv, and the value of every
 * option as "configuration". The caller owns it. */
cJSON *provenance_create(const char *mode, const char *label, const struct command *command);

/* Adds to run.json: the communication backend, its version (NCCL) or kind of progress (MPI), and the MPI library. */
void provenance_add_comm(cJSON *json, const struct comm *comm);

/* Adds the environment variables of one kind, with a $ before the name. VARIABLES_EQUAL change arithmetic, or must be
 * equal on all ranks for a library. VARIABLES_LIKELY_EQUAL are others that may affect a run; they are usually equal.
 * Variables that launchers set for each rank, or that name a host's network, are VARIABLES_OF_RANK. */
enum variables { VARIABLES_NONE, VARIABLES_OF_RANK, VARIABLES_EQUAL, VARIABLES_LIKELY_EQUAL, VARIABLES_KINDS };
void provenance_add_variables(struct facts *facts, enum variables kind);

/* Adds to the JSON the environment variables that may affect a run. Rank 0 writes the JSON as run.json. Deletes the
 * JSON on every rank. Returns 0; or -1, reported. */
int provenance_write(const struct results *results, cJSON *json);

#endif
