/* provenance.c - what was run, where and with what: what the run.json of every mode has in common. */
#include "results/results.h"

#include "base/json.h"
#include "base/version.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

extern char **environ;

void provenance_add_comm(cJSON *json, const struct comm *comm)
{
    cJSON_AddStringToObject(json, "comm", comm->name);
    cJSON_AddStringToObject(json, comm->on_device ? "nccl" : "mpi_progress", comm->progress);
    cJSON_AddStringToObject(json, "mpi_library", job_library());
}

void provenance_option(void *json, const char *name, const char *value, int is_text)
{
    if (is_text)
        cJSON_AddItemToObject(json, name, json_text(value));
    else if (!strcmp(value, "true") || !strcmp(value, "false"))
        cJSON_AddBoolToObject(json, name, *value == 't');
    else
        cJSON_AddNumberToObject(json, name, strtod(value, NULL));
}

void provenance_add_environment(cJSON *json)
{
    /* not all of SLURM_J: SLURM_JWT is a password */
    static const char *const allowed[] = {"OMP_",        "GOMP_",          "OPENBLAS_", "BLIS_",      "MKL_",
                                          "KMP_",        "MPIR_",          "MPICH",     "UCX_",       "FI_",
                                          "HYDRA_",      "GLIBC_TUNABLES", "CUDA_",     "NCCL_",      "SLURM_JOB_ID",
                                          "SLURM_JOB_N", "SLURM_JOB_CPUS", "SLURM_N",   "SLURM_CPUS", "SLURM_STEP"};
    cJSON *environment = cJSON_AddObjectToObject(json, "environment");
    for (char **e = environ; *e; e++)
        for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
            if (!strncmp(*e, allowed[i], strlen(allowed[i])) && strchr(*e, '=')) {
                char name[128];
                snprintf(name, sizeof name, "%.*s", (int)strcspn(*e, "="), *e);
                cJSON_AddItemToObject(environment, name, json_text(strchr(*e, '=') + 1));
                break;
            }
}

cJSON *provenance_create(const char *mode, const char *label, int argc, char *const argv[])
{
    cJSON *json = cJSON_CreateObject();
    char stamp[64];
    time_t now = time(NULL);
    strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S%z", localtime(&now));
    cJSON_AddNumberToObject(json, "schema_version", RESULTS_SCHEMA);
    cJSON_AddStringToObject(json, "program", "ddpbench");
    cJSON_AddStringToObject(json, "version", version_text());
    cJSON_AddStringToObject(json, "mode", mode);
    cJSON_AddStringToObject(json, "time", stamp);
    cJSON_AddStringToObject(json, "label", label);
    cJSON *words = cJSON_AddArrayToObject(json, "argv");
    for (int i = 0; i < argc; i++)
        cJSON_AddItemToArray(words, json_text(argv[i]));
    return json;
}
