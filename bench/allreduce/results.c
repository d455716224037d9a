/* results.c - the files of `ddpbench allreduce` beside its summary. */
#include "allreduce/results.h"

#include "base/json.h"
#include "kernels/error.h"

#include <stdio.h>

int allreduce_write_run(const struct results *results, const struct command *command, const char *label,
                        const struct endpoint *endpoint, const struct open_device *opened,
                        const struct host_facts *host, int threads)
{
    const struct job *job = endpoint->job;
    cJSON *json = provenance_create("allreduce", label, command);
    cJSON *derived = cJSON_AddObjectToObject(json, "derived");
    json_add_number(derived, "world_size", job->size);
    json_add_number(derived, "host_count", job->hosts);
    json_add_number(derived, "threads", threads);
    json_add_text(derived, "device", endpoint->device->name);
    open_device_describe(opened, derived);
    provenance_add_comm(derived, endpoint->comm);
    host_describe(host, job, json);
    provenance_add_environment(json);
    if (job->rank) {
        cJSON_Delete(json);
        return 0;
    }
    return results_replace_json(results, "run.json", json);
}

int allreduce_write_iterations(struct results *results, const struct collective_timing *timing, size_t cycle,
                               int64_t origin_ns)
{
    char *text = NULL;
    size_t length = 0, first = timing->n - timing->last_n;
    const struct collective *c = &timing->collective;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        FATAL("no memory for a line of metrics");
    fprintf(out,
            "{\"rank\":%d,\"collective\":\"%s\",\"dtype\":\"%s\",\"op\":\"%s\",\"root\":%d,\"placement\":\"%s\","
            "\"bytes\":%zu,\"cycle\":%zu,\"start\":%.6f,\"seconds\":[",
            results->rank, comm_kind_name[c->kind], comm_dtype_name[c->dtype], timing_op(c), timing_root(c),
            timing_placement(timing), timing->bytes, cycle, 1e-9 * (double)(timing->start_ns - origin_ns));
    for (size_t i = first; i < timing->n; i++)
        fprintf(out, "%s%.9f", i > first ? "," : "", timing->seconds[i]);
    fprintf(out, "]}\n");
    if (fclose(out))
        FATAL("no memory for a line of metrics");
    return results_append(results, text, length);
}
