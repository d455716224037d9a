/* provenance.c - writes run.json: what was run, on which machines, with which libraries. */
#include "results/provenance.h"

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "base/version.h"
#include "ddp/job.h"
#include "ddp/watchdog.h"
#include "results/results.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

extern char **environ;

void provenance_add_comm(cJSON *json, const struct comm *comm)
{
    json_add_text(json, "comm", comm->name);
    json_add_text(json, comm->on_device ? "nccl" : "mpi_progress", comm->progress);
    json_add_text(json, "mpi_library", job_library());
}

/* Returns the kind of a variable from its entry in the environment; VARIABLES_NONE: it cannot affect a run. */
static enum variables variable_kind(const char *entry)
{
    /* prefixes of names; the first match counts; SLURM_J would also match SLURM_JWT, a secret token */
    enum { MOST = 20 };
    static const char *const prefix[VARIABLES_KINDS][MOST] = {
        [VARIABLES_OF_RANK] = {"CUDA_VISIBLE_DEVICES", "MPICH_INTERFACE_HOSTNAME", "MPIR_CVAR_CH3_INTERFACE_HOSTNAME",
                               "MPIR_CVAR_NEMESIS_TCP_", "MPIR_CVAR_CH4_OFI_PREF_NIC", "SLURM_JOB_ID", "SLURM_JOB_N",
                               "SLURM_JOB_CPUS", "SLURM_N", "SLURM_CPUS", "SLURM_STEP"},
        [VARIABLES_EQUAL] = {"MPIR_CVAR_", "MPIR_PARAM_", "MPICH_", "OMPI_MCA_coll_", "I_MPI_ADJUST_", "MKL_CBWR",
                             "MKL_ENABLE_INSTRUCTIONS", "NCCL_ALGO", "NCCL_PROTO", "NVIDIA_TF32_OVERRIDE", "CUBLAS"},
        [VARIABLES_LIKELY_EQUAL] = {
            "OMP_",    "GOMP_", "OPENBLAS_", "BLIS_",         "ONEDNN_",          "DNNL_",
            "MKL_",    "KMP_",  "UCX_",      "FI_",           "HYDRA_",           "GLIBC_TUNABLES",
            "LD_",     "CUDA_", "NCCL_",     "DDPBENCH_LINK", "DDPBENCH_IGNORED", "GOTO_NUM_THREADS",
            "MALLOC_", "HWLOC_"}};
    for (int kind = 0; kind < VARIABLES_KINDS; kind++)
        for (int i = 0; i < MOST && prefix[kind][i]; i++)
            if (!strncmp(entry, prefix[kind][i], strlen(prefix[kind][i])) && strchr(entry, '='))
                return (enum variables)kind;
    return VARIABLES_NONE;
}

void provenance_add_variables(struct facts *facts, enum variables kind)
{
    char name[FACTS_NAME];
    for (char **e = environ; *e; e++) {
        snprintf(name, sizeof name, "$%.*s", (int)strcspn(*e, "="), *e);
        if (variable_kind(*e) == kind)
            facts_add(facts, name, strchr(*e, '=') + 1);
    }
}

cJSON *provenance_create(const char *mode, const char *label, const struct command *command)
{
    cJSON *json = cJSON_CreateObject();
    char stamp[64];
    time_t now = time(NULL);
    strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S%z", localtime(&now));
    json_add_number(json, "schema_version", RESULTS_SCHEMA);
    json_add_text(json, "program", "ddpbench");
    json_add_text(json, "version", version_text());
    json_add_text(json, "mode", mode);
    json_add_text(json, "time", stamp);
    json_add_text(json, "label", label);
    cJSON *words = cJSON_AddArrayToObject(json, "argv"), *file = cJSON_AddArrayToObject(json, "argv_of_config");
    for (int i = 0; i < command->argc; i++)
        cJSON_AddItemToArray(option_place(command->argv[i]) ? file : words, json_text(command->argv[i]));
    cJSON_AddItemToObject(json, "configuration", option_table_json(command->table));
    return json;
}

int provenance_write(const struct results *results, cJSON *json)
{
    cJSON *environment = cJSON_AddObjectToObject(json, "environment");
    for (char **e = environ; *e; e++) {
        char name[128];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(*e, "="), *e);
        if (variable_kind(*e))
            json_add_text(environment, name, strchr(*e, '=') + 1);
    }
    char *text = json_print(json, 1);
    cJSON_Delete(json);
    watchdog_wait(results->watchdog, "writing run.json", 0, 0);
    int status = results->rank ? 0 : files_replace(results->directory, "run.json", text);
    watchdog_arrived(results->watchdog);
    free(text);
    return status;
}
