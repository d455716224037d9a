/* ranks.c - where each rank runs and with what, for run.json, and what differs between ranks, for the notes. */
#include "harness/harness.h"

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "ddp/facts.h"
#include "kernels/error.h"

#include <link.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* What rank 0 gets from each rank, besides its facts. */
struct rank_place {
    struct host_facts host;
    int machine;
};

/* Adds the program, whose path is "", or a library that it has loaded, under its name without the directory. */
static int add_loaded(struct dl_phdr_info *loaded, size_t size, void *facts)
{
    const char *path = loaded->dlpi_name, *slash = strrchr(path, '/');
    (void)size;
    if (slash || !*path) /* the kernel's own, such as linux-vdso.so.1, has no file */
        facts_add_file(facts, slash ? slash + 1 : "program", slash ? path : "/proc/self/exe", 0);
    return 0;
}

/* Lists what may differ between ranks. */
static void list_facts(struct facts *facts, const struct harness *h)
{
    static const char *const policies[8] = {"other", "fifo", "rr", "batch", "iso", "idle", "deadline", "ext"};
    char text[160], directory[FILES_PATH];
    const int policy = sched_getscheduler(0);
    const double quota = control_group_cpus("");
    struct blas_facts blas;
    blas_describe(&blas);
    facts_print(facts, "threads", "%d", h->threads);
    facts_print(facts, "logical CPUs of the rank", "%.4g", h->job->cores);
    facts_print(facts, "CPU quota", isfinite(quota) ? "%.4g CPUs" : "none", quota);
    facts_add(facts, "BLAS", products_words(&blas, text));
    facts_add(facts, "CPU", h->host.cpu);
    facts_print(facts, "logical CPUs of the host", "%d", h->host.pus);
    facts_add(facts, "GPU", *h->opened.gpu.name ? h->opened.gpu.name : "none");
    facts_print(facts, "nice value", "%d", getpriority(PRIO_PROCESS, 0));
    facts_add(facts, "working directory", getcwd(directory, sizeof directory) ? directory : "unknown");
    facts_add(facts, "scheduling policy", policy < 0 ? "unknown" : policies[policy & 7]); /* as chrt names it */
    dl_iterate_phdr(add_loaded, facts);
    provenance_add_variables(facts, VARIABLES_LIKELY_EQUAL); /* last, as they may be too long to be kept */
}

/* Returns a list of the facts that differ, in words, and adds them to the "facts" of ranks; null: the rank lacks it. */
static cJSON *find_differences(const struct facts *of, const cJSON *ranks)
{
    int n = cJSON_GetArraySize(ranks);
    char name[FACTS_NAME], value[FACTS_VALUE], words[FACTS_DIFFERENCE];
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(ranks->child, "facts");
    cJSON *list = cJSON_CreateArray();
    for (int r = 0; r < n; r++)
        for (size_t at = 0; facts_next(&of[r], &at, name);) {
            int is_new = r == 0 || !(facts_find(of, name, value) || cJSON_GetObjectItemCaseSensitive(found, name));
            if (!is_new || !facts_compare(of, n, name, words))
                continue;
            cJSON_AddItemToArray(list, json_text(words));
            for (int i = 0; i < n; i++) {
                cJSON *facts = cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(ranks, i), "facts");
                cJSON_AddItemToObject(facts, name,
                                      facts_find(&of[i], name, value) ? json_text(value) : cJSON_CreateNull());
            }
        }
    for (int r = 1; r < n && !cJSON_GetArraySize(list); r++)
        if (of[r].digest != of[0].digest)
            cJSON_AddItemToArray(
                list,
                json_text("variables of the environment that are too long to show, or only in tabs or new lines"));
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
    size_t size = (size_t)h->job->size;
    struct rank_place mine = {h->host, h->job->machine}, *places = allocate(size, sizeof *places);
    struct facts *facts = allocate(1, sizeof *facts), *all = allocate(size, sizeof *all);
    cJSON *json = cJSON_CreateObject();
    cJSON *ranks = cJSON_AddArrayToObject(json, "ranks"), *hosts = cJSON_AddObjectToObject(json, "hosts");
    list_facts(facts, h);
    job_gather_first(h->job, &mine, sizeof mine, places);
    job_gather_first(h->job, facts, sizeof *facts, all);
    for (size_t r = 0; r < size && h->job->rank == 0; r++) {
        cJSON *rank = json_add_row(ranks);
        cJSON_AddNumberToObject(rank, "rank", (double)r);
        json_add_text(rank, "host", places[r].host.name);
        cJSON_AddNumberToObject(rank, "machine", places[r].machine); /* hosts that are containers may share a machine */
        json_add_text(rank, "binding", places[r].host.binding);
        cJSON_AddObjectToObject(rank, "facts");
        add_host(hosts, &places[r].host);
    }
    cJSON_AddItemToObject(json, "rank_differences", find_differences(all, ranks));
    free(all);
    free(facts);
    free(places);
    return json;
}
