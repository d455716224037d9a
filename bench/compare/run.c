/* run.c - reads one result directory. */
#include "compare/run.h"

#include "base/version.h"
#include "kernels/error.h"
#include "results/results.h"

#include <cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- files ---- */

/* The whole file; the caller frees it. NULL, reported, if it cannot be read. */
static char *read_text(const char *path)
{
    struct stat status;
    FILE *file = fopen(path, "rb");
    if (!file || fstat(fileno(file), &status) || !S_ISREG(status.st_mode)) {
        error_report("cannot read %s: %s", path, file ? "it is not a regular file" : strerror(errno));
        if (file)
            fclose(file);
        return NULL;
    }
    char *text = allocate((size_t)status.st_size + 1, 1);
    size_t n = fread(text, 1, (size_t)status.st_size, file);
    int failed = ferror(file) || n < (size_t)status.st_size || strlen(text) < n;
    fclose(file);
    if (!failed)
        return text;
    error_report("cannot read %s: it ends early or holds bytes that are no text", path);
    free(text);
    return NULL;
}

/* A JSON object; the caller deletes it. NULL, reported, if the file does not hold just one. */
static cJSON *read_json(const char *directory, const char *name)
{
    char path[FILES_PATH + 16];
    const char *end = NULL;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    char *text = read_text(path);
    if (!text)
        return NULL;
    cJSON *json = cJSON_ParseWithOpts(text, &end, 1);
    if (!json) {
        size_t line = 1;
        for (const char *c = text; end && c < end; c++)
            line += *c == '\n';
        error_report("%s: is not valid JSON (line %zu); the run that wrote it may have been cut off or the file edited",
                     path, line);
    } else if (!cJSON_IsObject(json)) {
        error_report("%s: holds no JSON object", path);
        cJSON_Delete(json);
        json = NULL;
    }
    free(text);
    return json;
}

static int holds(const char *directory, const char *name)
{
    char path[2 * FILES_PATH];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return !access(path, F_OK);
}

/* The directories just below that hold a run.json: how many, and one of them. */
static int count_below(const char *directory, char *below, size_t size)
{
    int n = 0;
    DIR *open = opendir(directory);
    if (!open)
        return 0;
    for (const struct dirent *entry; (entry = readdir(open));) { /* NOLINT(concurrency-mt-unsafe) */
        char name[FILES_PATH + 300];
        snprintf(name, sizeof name, "%s/%s", directory, entry->d_name);
        if (*entry->d_name == '.' || !holds(name, "run.json"))
            continue;
        n++;
        snprintf(below, size, "%s", name);
    }
    closedir(open);
    return n;
}

static int find_directory(struct compare_run *run, const char *directory)
{
    struct stat status;
    char below[FILES_PATH + 300];
    if (strlen(directory) >= sizeof run->directory - 64)
        return error_report("%.100s...: the path is longer than %zu characters", directory, sizeof run->directory - 65);
    if (stat(directory, &status))
        return error_report("cannot read %s: %s", directory, strerror(errno));
    if (!S_ISDIR(status.st_mode))
        return error_report("%s: is not a directory; give the directory that a run left its results in", directory);
    snprintf(run->directory, sizeof run->directory, "%s", directory);
    size_t length = strlen(run->directory);
    while (length > 1 && run->directory[length - 1] == '/')
        run->directory[--length] = 0;
    if (!holds(run->directory, "run.json")) {
        int n = count_below(run->directory, below, sizeof below);
        if (n > 1)
            return error_report("%s: holds the results of %d runs; name one of them, such as %s", directory, n, below);
        if (!n)
            return error_report("%s: holds no run.json, so it is not a result directory of ddpbench", directory);
        if (strlen(below) >= sizeof run->directory)
            return error_report("%.100s...: the path is too long", below);
        memcpy(run->directory, below, strlen(below) + 1);
    }
    snprintf(below, sizeof below, "%s/run.json", run->directory);
    if (stat(below, &status))
        return error_report("cannot read %s: %s", below, strerror(errno));
    run->device = status.st_dev;
    run->inode = status.st_ino;
    if (!holds(run->directory, "summary.json"))
        return error_report("%s: holds no summary.json: the run has not finished", run->directory);
    return 0;
}

/* ---- settings ---- */

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

/* ---- a run ---- */

/* -1, reported, where something else stands in place of an object: the items of a list have no names. */
static int check_objects(const char *path, const cJSON *json)
{
    static const char *const name[] = {"configuration", "derived", "environment", "hosts"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, name[i]);
        if (item && !cJSON_IsObject(item))
            return error_report("%s: \"%s\" is not a JSON object", path, name[i]);
    }
    return 0;
}

/* A benchmark and a profile write their summary again as rounds go by; a sweep of collectives says how many rows it
 * will have. */
static int check_rounds(const char *path, const char *mode, const cJSON *json, const cJSON *summary)
{
    const cJSON *of = strcmp(mode, "profile") ? summary : cJSON_GetObjectItemCaseSensitive(summary, "controls");
    const cJSON *done = cJSON_GetObjectItemCaseSensitive(of, "rounds");
    const cJSON *planned =
        cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(json, "configuration"), "rounds");
    double rounds = cJSON_IsNumber(done) ? done->valuedouble : 0;
    if (!strcmp(mode, "allreduce") || !cJSON_IsNumber(planned) || rounds >= planned->valuedouble)
        return 0;
    return error_report("%s: has %.0f of %.0f rounds: the run has not finished", path, rounds, planned->valuedouble);
}

static int take(struct compare_run *run, const cJSON *json, const cJSON *summary)
{
    char path[FILES_PATH + 16], of_run[FILES_PATH + 16];
    const cJSON *schema = cJSON_GetObjectItemCaseSensitive(json, "schema_version");
    const cJSON *of_summary = cJSON_GetObjectItemCaseSensitive(summary, "schema_version");
    const cJSON *mode = cJSON_GetObjectItemCaseSensitive(json, "mode");
    snprintf(of_run, sizeof of_run, "%s/run.json", run->directory);
    snprintf(path, sizeof path, "%s/summary.json", run->directory);
    if (!cJSON_IsNumber(schema) || !cJSON_IsString(mode) || !cJSON_GetObjectItemCaseSensitive(json, "configuration"))
        return error_report("%s: lacks schema_version, mode or configuration, so ddpbench did not write it", of_run);
    if (!cJSON_Compare(schema, of_summary, 1))
        return error_report("%s: run.json and summary.json have different schema_versions, so they are not of one run",
                            run->directory);
    if (check_objects(of_run, json))
        return -1;
    add_value(&run->settings, "mode", mode, SETTING);
    add_value(&run->settings, "schema_version", schema, SETTING);
    add_configuration(&run->settings, json);
    add_derived(&run->settings, json);
    add_environment(&run->settings, json);
    if (schema->valuedouble == RESULTS_SCHEMA)
        return compare_figures_create(&run->figures, path, mode->valuestring, summary) ||
                       check_rounds(path, mode->valuestring, json, summary)
                   ? -1
                   : 0;
    if (compare_figures_create(&run->figures, path, mode->valuestring, summary))
        error_clear(); /* that schema is refused unless it is allowed */
    return 0;
}

int compare_read(struct compare_run *run, const char *directory)
{
    *run = (struct compare_run){0};
    if (find_directory(run, directory))
        return -1;
    cJSON *json = read_json(run->directory, "run.json");
    cJSON *summary = json ? read_json(run->directory, "summary.json") : NULL;
    int status = summary ? take(run, json, summary) : -1;
    cJSON_Delete(json);
    cJSON_Delete(summary);
    return status;
}

void compare_run_destroy(struct compare_run *run)
{
    settings_destroy(&run->settings);
    compare_figures_destroy(&run->figures);
    *run = (struct compare_run){0};
}
