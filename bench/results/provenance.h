/* provenance.h - what was run, where and with what: what the run.json of every mode has in common. */
#ifndef BENCH_RESULTS_PROVENANCE_H
#define BENCH_RESULTS_PROVENANCE_H

#include "base/option_table.h"
#include "ddp/comm.h"
#include "ddp/job.h"
#include "machine/host.h"
#include "machine/open_device.h"

#include <cJSON.h>

/* A command line as it was given, and the table that it was parsed with. */
struct command {
    int argc;
    char *const *argv;
    const struct option_table *table;
};

/* Schema version, program, version, mode, time, label, argv, and each option's value. The caller owns it. */
cJSON *provenance_create(const char *mode, const char *label, const struct command *command);

/* Adds ranks with their bindings, hosts, and the part of the environment that matters. All ranks call. */
void provenance_add_machine(cJSON *json, const struct job *job, const struct host_facts *host);

/* Adds the GPU of rank 0, its precision, and the versions of CUDA; nothing for a CPU. */
void provenance_add_gpu(cJSON *json, const struct open_device *opened);

/* Adds what sends, how it advances or what NCCL it is, and the MPI library. */
void provenance_add_comm(cJSON *json, const struct comm *comm);

#endif
