/* run.c - the settings of a run, from its run.json. */
#include "compare/run.h"

#include "base/json.h"
#include "kernels/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_one_of(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (!strcmp(name, *list))
            return 1;
    return 0;
}

static void add_value(struct settings *settings, const char *key, const cJSON *value, int environment)
{
    char *printed = cJSON_IsString(value) ? NULL : cJSON_PrintUnformatted(value);
    settings_add(settings, key, printed ? printed : cJSON_IsString(value) ? value->valuestring : "", environment);
    cJSON_free(printed);
}

enum { SETTING, ENVIRONMENT };

static void add_configuration(struct settings *settings, const cJSON *json)
{
    static const char *const apart[] = {"label",          "output",          "output-file", "profile-output-dir",
                                        "profile-sort",   "thresholds",      "trace-gzip",  "timeout",
                                        "report-cputime", "iteration-times", NULL};
    static const char *const environment[] = {"monitor-cpu", "monitor-gpu", NULL};
    const cJSON *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(json, "configuration"))
    {
        if (!is_one_of(item->string, apart))
            add_value(settings, item->string, item, is_one_of(item->string, environment));
    }
}

/* What follows from the configuration alone is left out. What was made of an option, such as the threads in use, stands
 * in place of what was asked for. */
static void add_derived(struct settings *settings, const cJSON *json)
{
    static const char *const follows[] = {
        "parameters", "tokens_per_step", "model_flops_per_step", "memory_bytes_per_rank", "timed_steps_per_block",
        NULL};
    static const char *const environment[] = {"mpi_library", "cores_per_rank", NULL};
    const cJSON *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(json, "derived"))
    {
        if (!is_one_of(item->string, follows))
            add_value(settings, item->string, item, is_one_of(item->string, environment));
    }
}

/* One word for each rank, where ranks in a row with the same share one. The caller frees it. */
static char *join(const cJSON *ranks, const cJSON *hosts, const char *name)
{
    char *text = NULL;
    size_t size = 0;
    const char *last = NULL;
    const cJSON *rank;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        FATAL("no memory to join %s", name);
    cJSON_ArrayForEach(rank, ranks)
    {
        const cJSON *host = cJSON_GetObjectItemCaseSensitive(rank, "host");
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(rank, name);
        if (hosts && cJSON_IsString(host))
            value = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(hosts, host->valuestring), name);
        const char *word = cJSON_IsString(value) ? value->valuestring : "?";
        if (!last || strcmp(last, word) != 0)
            fprintf(out, "%s%s", last ? "; " : "", word);
        last = word;
    }
    if (fclose(out))
        FATAL("no memory to join %s", name);
    return text;
}

static void add_environment(struct settings *settings, const cJSON *json)
{
    static const char *const of_job[] = {"SLURM_JOB_ID", "SLURM_JOB_NAME", NULL};
    static const char *const name[] = {"host", "binding", "cpu", "kernel"}, *const made_by[] = {"program", "version"};
    const cJSON *ranks = cJSON_GetObjectItemCaseSensitive(json, "ranks"), *item;
    const cJSON *hosts = cJSON_GetObjectItemCaseSensitive(json, "hosts");
    for (size_t i = 0; i < sizeof made_by / sizeof *made_by; i++) {
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(json, made_by[i]);
        if (value) /* another program may have left results of this layout */
            add_value(settings, made_by[i], value, ENVIRONMENT);
    }
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        char *all = join(ranks, i < 2 ? NULL : hosts, name[i]);
        settings_add(settings, name[i], all, ENVIRONMENT);
        free(all);
    }
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(json, "environment"))
    {
        if (!is_one_of(item->string, of_job))
            add_value(settings, item->string, item, ENVIRONMENT);
    }
}

int compare_run_read(struct compare_run *run, const char *directory)
{
    run->settings = (struct settings){0};
    if (results_read(&run->saved, directory))
        return -1;
    settings_add(&run->settings, "mode", json_string(run->saved.run, "mode"), SETTING);
    add_configuration(&run->settings, run->saved.run);
    add_derived(&run->settings, run->saved.run);
    add_environment(&run->settings, run->saved.run);
    return 0;
}

void compare_run_destroy(struct compare_run *run)
{
    settings_destroy(&run->settings);
    saved_run_destroy(&run->saved);
}
