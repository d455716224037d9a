/* ranks.c - where each rank runs and with what, for run.json, and what differs between ranks, for the notes. */
#include "harness/harness.h"

#include "base/json.h"
#include "base/text.h"
#include "ddp/facts.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What rank 0 gets from each rank. Variables of the environment are facts whose names begin with $. */
struct rank_record {
    struct host_facts host;
    int machine;
    struct facts facts;
    cJSON *json, *differing; /* on rank 0: all facts as an object; those that differ, which run.json owns */
};

static void list_facts(struct facts *facts, const struct harness *h)
{
    char text[160];
    const double quota = control_group_cpus("");
    struct blas_facts blas;
    cJSON *environment = provenance_environment(VARIABLES_LIKELY_EQUAL), *variable;
    blas_describe(&blas);
    facts_print(facts, "threads", "%d", h->threads);
    facts_print(facts, "logical CPUs of the rank", "%.4g", h->job->cores);
    facts_print(facts, "CPU quota", isfinite(quota) ? "%.4g CPUs" : "none", quota);
    facts_add(facts, "BLAS", products_words(&blas, text));
    facts_add(facts, "CPU", h->host.cpu);
    facts_print(facts, "logical CPUs of the host", "%d", h->host.pus);
    facts_add(facts, "GPU", h->opened.gpu.name);
    cJSON_ArrayForEach(variable, environment)
    {
        snprintf(text, sizeof text, "$%s", variable->string);
        facts_add(facts, text, variable->valuestring);
    }
    cJSON_Delete(environment);
}

static cJSON *facts_json(struct facts *facts)
{
    cJSON *json = cJSON_CreateObject();
    char *rest = facts->text;
    for (char *name, *value; (name = strsep(&rest, "\t")) && (value = strsep(&rest, "\n"));)
        json_add_text(json, name, value);
    return json;
}

/* If a fact of some ranks differs from rank 0's, adds both values in words to the list, and returns how many ranks. */
static int add_difference(cJSON *list, const struct rank_record *of, int ranks, const char *name)
{
    const char *ours = json_string(of[0].json, name), *its = "";
    char text[500];
    int differ = 0, first = 0;
    for (int r = ranks - 1; r > 0; r--)
        if (strcmp(json_string(of[r].json, name), ours) != 0) {
            its = json_string(of[first = r].json, name);
            differ++;
        }
    int n = snprintf(text, sizeof text, "%.80s: %.150s on rank 0, %.150s on rank %d", name, *ours ? ours : "nothing",
                     *its ? its : "nothing", first);
    if (differ > 1)
        snprintf(text + n, sizeof text - (size_t)n, " (%d ranks differ from rank 0)", differ);
    if (differ)
        cJSON_AddItemToArray(list, json_text(text));
    return differ;
}

/* Returns a list of the facts that differ, in words, and adds them to `differing` of each rank; null: it lacks one. */
static cJSON *find_differences(const struct rank_record *of, int ranks)
{
    cJSON *list = cJSON_CreateArray(), *fact;
    for (int r = 0; r < ranks; r++)
        cJSON_ArrayForEach(fact, of[r].json)
        {
            const char *name = fact->string;
            int is_new =
                r == 0 || !(cJSON_HasObjectItem(of[0].json, name) || cJSON_HasObjectItem(of[0].differing, name));
            int differ = is_new ? add_difference(list, of, ranks, name) : 0;
            for (int i = 0; differ && i < ranks; i++) {
                const cJSON *its = cJSON_GetObjectItemCaseSensitive(of[i].json, name);
                cJSON_AddItemToObject(of[i].differing, name, its ? cJSON_Duplicate(its, 1) : cJSON_CreateNull());
            }
        }
    return list;
}

static void add_host(cJSON *hosts, const struct host_facts *host)
{
    char name[HOST_TEXT];
    snprintf(name, sizeof name, "%s", host->name);
    text_make_utf8(name); /* as json_print does, which could make two names equal */
    if (cJSON_GetObjectItemCaseSensitive(hosts, name))
        return;
    cJSON *facts = cJSON_AddObjectToObject(hosts, name);
    json_add_text(facts, "cpu", host->cpu);
    json_add_text(facts, "kernel", host->kernel);
    cJSON_AddNumberToObject(facts, "packages", host->packages);
    cJSON_AddNumberToObject(facts, "numa_nodes", host->numa_nodes);
    cJSON_AddNumberToObject(facts, "cores", host->cores);
    cJSON_AddNumberToObject(facts, "pus", host->pus);
    cJSON_AddNumberToObject(facts, "memory_bytes", (double)host->memory_bytes);
    cJSON_AddNumberToObject(facts, "l3_bytes", (double)host->l3_bytes);
}

cJSON *harness_find_ranks(const struct harness *h)
{
    int size = h->job->size;
    struct rank_record *mine = allocate(1, sizeof *mine), *all = allocate((size_t)size, sizeof *all);
    cJSON *json = cJSON_CreateObject();
    cJSON *ranks = cJSON_AddArrayToObject(json, "ranks"), *hosts = cJSON_AddObjectToObject(json, "hosts");
    mine->host = h->host;
    mine->machine = h->job->machine;
    list_facts(&mine->facts, h);
    job_gather_first(h->job, mine, sizeof *mine, all);
    for (int r = 0; r < size && h->job->rank == 0; r++) {
        cJSON *rank = json_add_row(ranks);
        cJSON_AddNumberToObject(rank, "rank", r);
        json_add_text(rank, "host", all[r].host.name);
        cJSON_AddNumberToObject(rank, "machine", all[r].machine); /* hosts that are containers may share a machine */
        json_add_text(rank, "binding", all[r].host.binding);
        all[r].differing = cJSON_AddObjectToObject(rank, "facts");
        all[r].json = facts_json(&all[r].facts);
        add_host(hosts, &all[r].host);
    }
    cJSON_AddItemToObject(json, "rank_differences", find_differences(all, h->job->rank ? 0 : size));
    for (int r = 0; r < size; r++)
        cJSON_Delete(all[r].json);
    free(all);
    free(mine);
    return json;
}
