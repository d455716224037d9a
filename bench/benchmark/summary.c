/* summary.c - the figures of summary.json as a tidy table. */
#include "benchmark/summary.h"

#include "base/files.h"
#include "base/json.h"
#include "base/version.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A comma, and the number as cJSON spells it in summary.json; nothing after the comma for null. */
static void print_field(FILE *out, cJSON *number)
{
    char text[64] = "";
    if (cJSON_IsNumber(number) && !cJSON_PrintPreallocated(number, text, sizeof text, 0))
        FATAL("a number longer than %zu characters", sizeof text);
    fprintf(out, ",%s", text);
}

static void print_bucket(FILE *out, const struct implementation *implementation)
{
    cJSON *mb = implementation->strategy->buckets ? cJSON_CreateNumber(implementation->bucket_mb) : NULL;
    print_field(out, mb);
    cJSON_Delete(mb);
}

static void print_metrics(FILE *out, const struct run *run, const struct implementation *implementation,
                          const cJSON *metrics)
{
    static const char *const figures[] = {"n", "median", "ci_low", "ci_high", "p5", "p95"};
    const cJSON *metric;
    cJSON_ArrayForEach(metric, metrics)
    {
        fprintf(out, "%s,%s,%s", run->options->label, implementation->label, implementation->strategy->name);
        print_bucket(out, implementation);
        fprintf(out, ",%d,%d,%d,%s,%s", run->job->size, run->job->hosts, run->threads, metric->string,
                cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(metric, "unit")));
        for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
            print_field(out, cJSON_GetObjectItemCaseSensitive(metric, figures[i]));
        fputc('\n', out);
    }
}

char *summary_csv_text(const struct run *run, const cJSON *implementations)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        FATAL("no memory for summary.csv");
    fputs(
        "label,implementation,strategy,bucket_size_mb,ranks,hosts,threads,metric,unit,n,median,ci_low,ci_high,p5,p95\n",
        out);
    for (int i = 0; i < run->options->n; i++) {
        const struct implementation *implementation = &run->options->implementation[i];
        print_metrics(out, run, implementation,
                      cJSON_GetObjectItemCaseSensitive(implementations, implementation->label));
    }
    if (fclose(out))
        FATAL("no memory for summary.csv");
    return text;
}

static void add_metric(cJSON *json, const char *name, const struct estimate *s, double scale, const char *unit)
{
    cJSON *metric = cJSON_AddObjectToObject(json, name);
    json_add_number(metric, "median", s->median * scale);
    json_add_number(metric, "ci_low", s->ci_low * scale);
    json_add_number(metric, "ci_high", s->ci_high * scale);
    json_add_number(metric, "p5", s->p5 * scale);
    json_add_number(metric, "p95", s->p95 * scale);
    cJSON_AddNumberToObject(metric, "n", (double)s->n);
    cJSON_AddStringToObject(metric, "unit", unit);
}

static void add_row(cJSON *json, const struct row *row)
{
    static const struct estimate none = {NAN, NAN, NAN, NAN, NAN, 0};
    add_metric(json, "step", &row->seconds[FIGURE_STEP], 1e3, "ms");
    for (int p = 0; p < PHASES; p++)
        add_metric(json, phase_name[p], &row->seconds[p], 1e3, "ms");
    add_metric(json, "tokens_per_second", &row->tokens_per_second, 1, "1/s");
    add_metric(json, "communication_ratio", row->communication_ratio.n ? &row->communication_ratio : &none, 1, "1");
    struct estimate cost = {row->sync_cost, row->sync_cost_low, row->sync_cost_high, NAN, NAN, row->against_none.n};
    add_metric(json, "sync_cost", &cost, 1e3, "ms");
    if (isfinite(row->attainable)) {
        struct estimate bound = {row->attainable, NAN, NAN, NAN, NAN, row->seconds[FIGURE_STEP].n};
        add_metric(json, "attainable", &bound, 1e3, "ms");
    }
}

int summary_write(const struct results *results, const struct run *run, const struct ranking *comparison,
                  const char *text)
{
    cJSON *json = cJSON_CreateObject();
    const struct implementation *implementation = run->options->implementation;
    cJSON_AddNumberToObject(json, "schema_version", RESULTS_SCHEMA);
    cJSON_AddStringToObject(json, "label", run->options->label);
    cJSON_AddStringToObject(json, "sample",
                            "one block of a round; its step is the slowest rank's, its phases the mean "
                            "over ranks");
    cJSON_AddNumberToObject(json, "rounds", (double)comparison->rounds);
    cJSON *all = cJSON_AddObjectToObject(json, "implementations");
    for (int i = 0; i < comparison->n; i++)
        add_row(cJSON_AddObjectToObject(all, implementation[i].label), &comparison->row[i]);
    cJSON *pairs = cJSON_AddArrayToObject(json, "comparisons");
    for (int i = 0; i < comparison->pairs; i++) {
        const struct pair *pair = &comparison->pair[i];
        cJSON *item = cJSON_CreateObject();
        cJSON_AddItemToArray(pairs, item);
        cJSON_AddStringToObject(item, "a", implementation[pair->a].label);
        cJSON_AddStringToObject(item, "b", implementation[pair->b].label);
        json_add_number(item, "step_ratio", pair->paired.ratio);
        json_add_number(item, "ci_low", pair->paired.ci_low);
        json_add_number(item, "ci_high", pair->paired.ci_high);
        json_add_number(item, "p_holm", pair->p);
    }
    if (comparison->fastest >= 0) {
        cJSON_AddStringToObject(json, "fastest", implementation[comparison->fastest].label);
        cJSON *equal = cJSON_AddArrayToObject(json, "not_told_apart_from_fastest");
        for (int i = 0; i < comparison->n; i++)
            if (implementation[i].strategy->reduces && i != comparison->fastest && !ranking_slower(comparison, i))
                cJSON_AddItemToArray(equal, cJSON_CreateString(implementation[i].label));
    }
    json_add_number(json, "largest_loss_difference", run->losses.difference);
    cJSON_AddNumberToObject(json, "blocks", (double)run->blocks);
    cJSON_AddNumberToObject(json, "blocks_beside_foreign_work", (double)run->blocks_with_other_processes);
    json_add_number(json, "communication_thread_cores", run->comm_cpu_seconds / run->comm_seconds);
    monitor_findings_describe(&run->monitored, json);
    char *csv = summary_csv_text(run, all);
    int failed = results_replace_json(results, "summary.json", json) ||
                 files_replace(results->directory, "summary.csv", csv) ||
                 files_replace(results->directory, "summary.txt", text);
    free(csv);
    return failed ? -1 : 0;
}
