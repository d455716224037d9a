/* run_json.c - run.json of a training. */
#include "training/parts.h"

#include "base/json.h"
#include "base/version.h"

static void add_implementations(cJSON *json, const struct run *run)
{
    cJSON *list = cJSON_AddArrayToObject(json, "implementations");
    for (int i = 0; i < run->options->n; i++) {
        const struct implementation *row = &run->options->implementation[i];
        cJSON *item = json_add_row(list);
        json_add_text(item, "name", row->label);
        json_add_text(item, "strategy", row->strategy->name);
        cJSON_AddBoolToObject(item, "traced", row->traced);
        cJSON_AddBoolToObject(item, "after_backward", row->after_backward || !row->strategy->overlaps);
        if (row->strategy->buckets)
            json_add_number(item, "bucket_bytes", (double)row->bucket_bytes);
        cJSON *collectives = cJSON_AddArrayToObject(item, "collectives");
        for (int s = 0; row->strategy->reduces && s < run->reducer[i].plan.n; s++) {
            struct collective c = reducer_collective(&run->reducer[i], s);
            cJSON *collective = json_add_row(collectives);
            json_add_number(collective, "bytes", (double)(c.count * comm_dtype_bytes(c.dtype)));
            json_add_number(collective, "tensors", run->reducer[i].plan.bucket[s].tensors);
            json_add_number(collective, "parameters",
                            (double)bucket_parameters(run->model.tensor, &run->reducer[i].plan.bucket[s]));
        }
    }
}

int run_json_write(const struct run *run, const char *mode, const struct command *command,
                   const struct results *results)
{
    const struct training_options *o = run->options;
    size_t tokens = o->batch_size * o->workload.context_length;
    cJSON *json = provenance_create(mode, results->label, command);
    cJSON *derived = cJSON_AddObjectToObject(json, "derived");
    json_add_number(derived, "world_size", run->job->size);
    json_add_number(derived, "host_count", run->job->hosts);
    json_add_number(derived, "threads", run->threads);
    json_add_number(derived, "cores_per_rank", run->cores_per_rank);
    json_add_number(derived, "parameters", (double)run->model.parameters);
    json_add_number(derived, "tokens_per_step", (double)tokens);
    json_add_number(derived, "model_flops_per_step", model_flops(&run->model, tokens));
    json_add_number(derived, "data_tokens", (double)data_tokens(run->data));
    json_add_number(derived, "timed_steps_per_block", (double)o->block_steps);
    json_add_text(derived, "device", run->model.device->name);
    open_device_describe(&run->opened, derived);
    json_add_text(derived, "blas", version_blas());
    provenance_add_comm(derived, run->comm);
    cJSON *memory = cJSON_AddObjectToObject(derived, "memory_bytes_per_rank");
    for (int i = 0; i < MEMORY_PARTS; i++)
        json_add_number(memory, memory_part_name[i], (double)run->memory[i]);
    add_implementations(json, run);
    host_describe(&run->host, run->job, json);
    return provenance_write(results, json);
}
