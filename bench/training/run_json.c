/* run_json.c - what was run, where and with what. */
#include "training/run_json.h"

#include "base/version.h"
#include "results/results.h"

#include <cJSON.h>

static void add_implementations(cJSON *json, const struct run *run)
{
    cJSON *list = cJSON_AddArrayToObject(json, "implementations");
    for (int i = 0; i < run->options->n; i++) {
        const struct implementation *row = &run->options->implementation[i];
        cJSON *item = cJSON_CreateObject();
        cJSON_AddItemToArray(list, item);
        cJSON_AddStringToObject(item, "name", row->label);
        cJSON_AddStringToObject(item, "strategy", row->strategy->name);
        if (run->options->profile) {
            cJSON_AddBoolToObject(item, "traced", row->traced);
            cJSON_AddBoolToObject(item, "collectives_after_backward", row->after_backward || !row->strategy->overlaps);
        }
        if (row->strategy->buckets)
            cJSON_AddNumberToObject(item, "bucket_size_mb", row->bucket_mb);
        cJSON *collectives = cJSON_AddArrayToObject(item, "collectives");
        for (int s = 0; row->strategy->reduces && s < run->reducer[i].plan.n; s++) {
            struct collective c = reducer_collective(&run->reducer[i], s);
            cJSON *collective = cJSON_CreateObject();
            cJSON_AddItemToArray(collectives, collective);
            cJSON_AddNumberToObject(collective, "bytes", (double)(c.count * comm_dtype_bytes(c.dtype)));
            cJSON_AddNumberToObject(collective, "tensors", run->reducer[i].plan.bucket[s].tensors);
            cJSON_AddNumberToObject(collective, "parameters",
                                    (double)bucket_parameters(run->model.tensor, &run->reducer[i].plan.bucket[s]));
        }
    }
}

int run_json_write(const struct results *results, const struct run *run)
{
    const struct options *o = run->options;
    cJSON *json = provenance_create(o->profile ? "profile" : "benchmark", o->label, run->argc, run->argv);
    options_each(o, provenance_option, cJSON_AddObjectToObject(json, "configuration"));

    cJSON *derived = cJSON_AddObjectToObject(json, "derived");
    cJSON_AddNumberToObject(derived, "world_size", run->job->size);
    cJSON_AddNumberToObject(derived, "host_count", run->job->hosts);
    cJSON_AddNumberToObject(derived, "threads", run->threads);
    cJSON_AddNumberToObject(derived, "cores_per_rank", run->cores_per_rank);
    cJSON_AddNumberToObject(derived, "parameters", (double)run->model.parameters);
    cJSON_AddNumberToObject(derived, "tokens_per_step", (double)(o->batch_size * o->context_length));
    cJSON_AddNumberToObject(derived, "model_flops_per_step",
                            model_flops(&run->model, o->batch_size * o->context_length));
    cJSON_AddNumberToObject(derived, "data_tokens", (double)data_tokens(run->data));
    cJSON_AddNumberToObject(derived, "timed_steps_per_block", (double)o->block_steps);
    cJSON_AddStringToObject(derived, "device", run->model.device->name);
    open_device_describe(&run->opened, derived);
    cJSON_AddStringToObject(derived, "blas", version_blas());
    provenance_add_comm(derived, run->comm);
    cJSON *memory = cJSON_AddObjectToObject(derived, "memory_bytes_per_rank");
    for (int i = 0; i < MEMORY_PARTS; i++)
        cJSON_AddNumberToObject(memory, memory_part_name[i], (double)run->memory[i]);
    add_implementations(json, run);
    host_describe(&run->host, run->job, json);
    provenance_add_environment(json);
    if (results->rank) {
        cJSON_Delete(json);
        return 0;
    }
    return results_replace_json(results, "run.json", json);
}
