/* provenance.c - what was run, where and with what. */
#include "results/provenance.h"

#include "base/json.h"
#include "base/version.h"
#include "kernels/error.h"
#include "results/results.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

extern char **environ;

void provenance_add_gpu(cJSON *json, const struct open_device *opened)
{
    const struct gpu_facts *gpu = &opened->gpu;
    if (!opened->on_gpu)
        return;
    cJSON_AddStringToObject(json, "dtype", precision_name[opened->device->precision]);
    cJSON *facts = cJSON_AddObjectToObject(json, "gpu");
    cJSON_AddItemToObject(facts, "name", json_text(gpu->name));
    cJSON_AddStringToObject(facts, "id", gpu->id);
    cJSON_AddNumberToObject(facts, "ranks", opened->sharing);
    cJSON_AddNumberToObject(facts, "memory_bytes", (double)gpu->total_memory);
    cJSON_AddNumberToObject(facts, "multiprocessors", gpu->multiprocessors);
    cJSON_AddNumberToObject(facts, "compute_capability", gpu->compute_major + 0.1 * gpu->compute_minor);
    cJSON_AddNumberToObject(facts, "driver_cuda", gpu->driver);
    cJSON_AddNumberToObject(facts, "runtime_cuda", gpu->runtime);
    cJSON_AddStringToObject(facts, "built", device_cuda_built());
}

void provenance_add_comm(cJSON *json, const struct comm *comm)
{
    cJSON_AddStringToObject(json, "comm", comm->name);
    cJSON_AddStringToObject(json, comm->on_device ? "nccl" : "mpi_progress", comm->progress);
    cJSON_AddStringToObject(json, "mpi_library", job_library());
}

static void add_option(void *json, const char *name, const char *value, int is_text)
{
    if (is_text)
        cJSON_AddItemToObject(json, name, json_text(value));
    else if (!strcmp(value, "true") || !strcmp(value, "false"))
        cJSON_AddBoolToObject(json, name, *value == 't');
    else
        cJSON_AddNumberToObject(json, name, strtod(value, NULL));
}

static void add_environment(cJSON *run)
{
    /* not all of SLURM_J: SLURM_JWT is a password */
    static const char *const allowed[] = {"OMP_",        "GOMP_",          "OPENBLAS_", "BLIS_",      "MKL_",
                                          "KMP_",        "MPIR_",          "MPICH",     "UCX_",       "FI_",
                                          "HYDRA_",      "GLIBC_TUNABLES", "CUDA_",     "NCCL_",      "SLURM_JOB_ID",
                                          "SLURM_JOB_N", "SLURM_JOB_CPUS", "SLURM_N",   "SLURM_CPUS", "SLURM_STEP"};
    cJSON *environment = cJSON_AddObjectToObject(run, "environment");
    for (char **e = environ; *e; e++)
        for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
            if (!strncmp(*e, allowed[i], strlen(allowed[i])) && strchr(*e, '=')) {
                char name[128];
                snprintf(name, sizeof name, "%.*s", (int)strcspn(*e, "="), *e);
                cJSON_AddItemToObject(environment, name, json_text(strchr(*e, '=') + 1));
                break;
            }
}

static void add_ranks(cJSON *json, const struct job *job, const struct host_facts *host)
{
    int size = job->size;
    struct host_facts *all = allocate((size_t)size, sizeof *all);
    job_gather(job, host, sizeof *host, all);
    cJSON *ranks = cJSON_AddArrayToObject(json, "ranks");
    cJSON *hosts = cJSON_AddObjectToObject(json, "hosts");
    for (int r = 0; r < size; r++) {
        cJSON *rank = cJSON_CreateObject();
        cJSON_AddItemToArray(ranks, rank);
        cJSON_AddNumberToObject(rank, "rank", r);
        cJSON_AddStringToObject(rank, "host", all[r].name);
        cJSON_AddStringToObject(rank, "binding", all[r].binding);
        if (cJSON_GetObjectItemCaseSensitive(hosts, all[r].name))
            continue;
        cJSON *facts = cJSON_AddObjectToObject(hosts, all[r].name);
        cJSON_AddStringToObject(facts, "cpu", all[r].cpu);
        cJSON_AddStringToObject(facts, "kernel", all[r].kernel);
        cJSON_AddNumberToObject(facts, "packages", all[r].packages);
        cJSON_AddNumberToObject(facts, "numa_nodes", all[r].numa_nodes);
        cJSON_AddNumberToObject(facts, "cores", all[r].cores);
        cJSON_AddNumberToObject(facts, "pus", all[r].pus);
        cJSON_AddNumberToObject(facts, "memory_bytes", (double)all[r].memory_bytes);
        cJSON_AddNumberToObject(facts, "l3_bytes", (double)all[r].l3_bytes);
    }
    free(all);
}

cJSON *provenance_create(const char *mode, const char *label, const struct command *command)
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
    for (int i = 0; i < command->argc; i++)
        cJSON_AddItemToArray(words, json_text(command->argv[i]));
    option_table_each(command->table, add_option, cJSON_AddObjectToObject(json, "configuration"));
    return json;
}

void provenance_add_machine(cJSON *json, const struct job *job, const struct host_facts *host)
{
    add_ranks(json, job, host);
    add_environment(json);
}
