/* settings.c - reads the settings of runs from run.json, and finds their differences. */
#include "compare/settings.h"

#include "base/json.h"
#include "base/option_table.h"
#include "base/text.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- the settings of a run ---- */

static int same_key(const char *a, const char *b)
{
    while (*a && (*a == *b || (*b && strchr("-_", *a) && strchr("-_", *b))))
        a++, b++;
    return *a == *b;
}

static const cJSON *find_setting(const cJSON *settings, const char *key)
{
    const cJSON *item = settings->child;
    while (item && !same_key(item->string, key))
        item = item->next;
    return item;
}

/* Adds a setting, or replaces its value. */
static void settings_add(cJSON *settings, const char *key, const char *value)
{
    const cJSON *old = find_setting(settings, key);
    if (old)
        cJSON_ReplaceItemInObjectCaseSensitive(settings, old->string, json_text(value));
    else
        json_add_text(settings, key, value);
}

static int is_one_of(const char *name, const char *const *list)
{
    while (*list && strcmp(name, *list) != 0)
        list++;
    return *list != NULL;
}

static void add_members(struct compare_run *run, const char *name, int kind)
{
    static const char *const apart[] = {
        /* left out: names of the run and of its files */
        "label", "output", "config", "profile-output-dir", "SLURM_JOB_ID", "SLURM_JOB_NAME",
        /* left out: how results are shown, and when a hanging job ends */
        "thresholds", "trace-gzip", "trace-layout", "report-cputime", "iteration-times", "verbose", "timeout",
        "prometheus", "junit", "dry-run",
        /* left out: values that follow from the configuration, and options that set parts of it */
        "preset", "parameters", "tokens_per_step", "model_flops_per_step", "memory_bytes_per_rank",
        "product_gflops_per_thread", "vector_gflops_per_thread", "onednn_time_ratio", "cublaslt_algorithms", NULL};
    static const char *const listed[] = {
        /* listed: the machine, and its monitoring */
        "monitor-cpu", "monitor-gpu", "gpu_id", "mpi_library", "blas", "blas_kernels", "cores_per_rank",
        /* listed: numbers of samples */
        "rounds", "resolve", "max-minutes", "iters", "run-cycles", "profile-buffer-mb",
        /* listed: message sizes; each size is a figure of its own, which is "missing" if a candidate lacks it */
        "min-bytes", "max-bytes", "step-factor", "step-bytes", "sizes", "sizes-from-model",
        /* listed: additional measurements, checks and traces */
        "attainable", "check", "nominal", "profile-ranks", "record-shapes", "with-flops", "profile-counters",
        /* listed: an option that changes only the data, not the operations */
        "seed", NULL};
    for (const cJSON *item = json_first(run->saved.run, name); item; item = item->next) {
        if (is_one_of(item->string, apart))
            continue;
        char *printed = cJSON_IsString(item) ? NULL : json_print(item, 0);
        settings_add(run->setting[is_one_of(item->string, listed) ? LISTED : kind], item->string,
                     printed              ? printed
                     : *item->valuestring ? item->valuestring
                                          : "(none)");
        free(printed);
    }
}

/* Adds a setting: member `name` of all ranks or, if hosts is given, of their hosts; a repeated value is left out. */
static void add_ranks(struct compare_run *run, const char *name, const cJSON *hosts)
{
    char *text = NULL;
    size_t size = 0;
    const char *last = NULL;
    FILE *out = text_begin(&text, &size);
    for (const cJSON *rank = json_first(run->saved.run, "ranks"); rank; rank = rank->next) {
        const cJSON *of = hosts ? cJSON_GetObjectItemCaseSensitive(hosts, json_string(rank, "host")) : rank;
        const char *word = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(of, name));
        word = word ? word : "?";
        if (!last || strcmp(last, word) != 0)
            fprintf(out, "%s%s", last ? "; " : "", word);
        last = word;
    }
    text_end(out);
    settings_add(run->setting[LISTED], name, text);
    free(text);
}

/* Adds the rule for the size of the run's buckets, if it has any. Runs that do not record it cut at most that size. */
static void add_bucket_rule(struct compare_run *run)
{
    for (const cJSON *item = json_first(run->saved.run, "implementations"); item; item = item->next) {
        const char *rule = json_string(item, "bucket_rule");
        if (cJSON_HasObjectItem(item, "bucket_bytes"))
            settings_add(run->setting[SETTING], "bucket_rule", *rule ? rule : "at_most");
    }
}

int compare_run_read(struct compare_run *run, const char *directory)
{
    if (saved_run_read(&run->saved, directory, 0))
        return -1;
    const cJSON *json = run->saved.run, *hosts = cJSON_GetObjectItemCaseSensitive(json, "hosts");
    const cJSON *configuration = cJSON_GetObjectItemCaseSensitive(json, "configuration");
    struct tm tm = {0};
    const int has_time = strptime(json_string(json, "time"), "%Y-%m-%dT%H:%M:%S%z", &tm) != NULL;
    const long east = tm.tm_gmtoff; /* timegm overwrites it */
    run->began = has_time ? (double)(timegm(&tm) - east) : 0;
    for (int kind = 0; kind < SETTING_KINDS; kind++)
        run->setting[kind] = cJSON_CreateObject();
    settings_add(run->setting[SETTING], "mode", json_string(json, "mode"));
    add_members(run, "configuration", SETTING);
    if (!strcmp(json_string(json, "mode"), "profile")) /* the kind of steps that the figure "step" measures */
        settings_add(run->setting[SETTING], "steps",
                     json_number(configuration, "rounds") > 0 ? "of rounds" : "captured");
    add_bucket_rule(run);
    add_members(run, "derived", SETTING); /* replaces options of the same key, as --threads by the threads in use */
    double steps = json_number(run->saved.summary, "timed_steps_per_block"); /* fewer than planned if time was short */
    char text[CELL];
    snprintf(text, sizeof text, "%.0f", steps);
    if (isfinite(steps))
        settings_add(run->setting[LISTED], "timed_steps_per_block", text);
    settings_add(run->setting[LISTED], "program", json_string(json, "program"));
    settings_add(run->setting[LISTED], "version", json_string(json, "version"));
    add_ranks(run, "host", NULL);
    add_ranks(run, "binding", NULL);
    add_ranks(run, "cpu", hosts);
    add_ranks(run, "kernel", hosts);
    add_members(run, "environment", LISTED);
    return 0;
}

void compare_run_destroy(struct compare_run *run)
{
    for (int kind = 0; kind < SETTING_KINDS; kind++)
        cJSON_Delete(run->setting[kind]);
    saved_run_destroy(&run->saved);
    *run = (struct compare_run){0};
}

/* ---- differences ---- */

static void add_difference(cJSON *differences, const char *key, const char *baseline, const char *other,
                           const char *side, int environment)
{
    if (baseline && other && !strcmp(baseline, other))
        return;
    cJSON *new = cJSON_CreateObject();
    json_add_text(new, "key", key);
    cJSON_AddItemToObject(new, "baseline", baseline ? json_text(baseline) : cJSON_CreateNull());
    cJSON_AddItemToObject(new, "other", other ? json_text(other) : cJSON_CreateNull());
    json_add_text(new, "side", side);
    cJSON_AddBoolToObject(new, "environment", environment || !baseline || !other);
    cJSON_AddBoolToObject(new, "allowed", 0);
    const cJSON *old = differences->child;
    while (old && !cJSON_Compare(old, new, 1))
        old = old->next;
    if (old)
        cJSON_Delete(new);
    else
        cJSON_AddItemToArray(differences, new);
}

void differences_add(cJSON *differences, const struct compare_run *baseline, const struct compare_run *other,
                     const char *side)
{
    for (int kind = 0; kind < SETTING_KINDS; kind++) {
        const cJSON *a = baseline->setting[kind], *b = other->setting[kind];
        for (const cJSON *item = a->child; item; item = item->next)
            add_difference(differences, item->string, item->valuestring,
                           cJSON_GetStringValue(find_setting(b, item->string)), side, kind);
        for (const cJSON *item = b->child; item; item = item->next)
            if (!find_setting(a, item->string))
                add_difference(differences, item->string, NULL, item->valuestring, side, kind);
    }
}

static int report_unknown(const char *word, const struct compare_run *baseline)
{
    char keys[900] = "";
    for (const cJSON *item = baseline->setting[SETTING]->child; item; item = item->next)
        text_append(keys, sizeof keys, " %s", item->string);
    return error_report("--allow '%s': the runs have no such setting; known: all%s", word, keys);
}

int differences_allow(cJSON *differences, const char *list, const struct compare_run *baseline)
{
    char word[128];
    int more;
    for (struct option_list names = {"allow", list, 0}; (more = option_next_word(&names, word, sizeof word)) > 0;) {
        int all = !strcmp(word, "all");
        int known =
            all || find_setting(baseline->setting[SETTING], word) || find_setting(baseline->setting[LISTED], word);
        for (cJSON *difference = differences->child; difference; difference = difference->next)
            if (all || same_key(json_string(difference, "key"), word)) {
                cJSON_ReplaceItemInObjectCaseSensitive(difference, "allowed", cJSON_CreateTrue());
                known = 1;
            }
        if (!known)
            return report_unknown(word, baseline);
    }
    return more ? report_unknown(list, baseline) : 0;
}

enum difference_kind difference_kind(const cJSON *difference)
{
    return json_is_true(difference, "environment") ? DIFFERENCE_LISTED
           : json_is_true(difference, "allowed")   ? DIFFERENCE_ALLOWED
                                                   : DIFFERENCE_REFUSED;
}
