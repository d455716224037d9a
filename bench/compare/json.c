/* json.c - what a comparison found, as JSON. */
#include "base/json.h"
#include "base/files.h"
#include "base/version.h"
#include "compare/table.h"
#include "kernels/error.h"
#include "results/results.h"

#include <cJSON.h>
#include <math.h>
#include <stdio.h>

static cJSON *add_item(cJSON *array)
{
    cJSON *item = cJSON_CreateObject();
    cJSON_AddItemToArray(array, item);
    return item;
}

static void add_runs(cJSON *json, const char *name, const char *label, const struct compare_run *run, size_t n)
{
    cJSON *runs = cJSON_AddObjectToObject(json, name);
    cJSON_AddStringToObject(runs, "label", label);
    cJSON *list = cJSON_AddArrayToObject(runs, "directories");
    for (size_t i = 0; i < n; i++)
        cJSON_AddItemToArray(list, json_text(run[i].directory));
}

static void add_value(cJSON *json, const char *name, const char *value)
{
    cJSON_AddItemToObject(json, name, value ? json_text(value) : cJSON_CreateNull());
}

static void add_differences(cJSON *json, const struct compare *c)
{
    cJSON *list = cJSON_AddArrayToObject(json, "differences");
    for (size_t i = 0; i < c->differences.n; i++) {
        const struct difference *d = &c->differences.item[i];
        cJSON *item = add_item(list);
        cJSON_AddStringToObject(item, "key", d->key);
        add_value(item, "baseline", d->baseline);
        add_value(item, "other", d->other);
        cJSON_AddStringToObject(item, "other_is", d->whose);
        cJSON_AddBoolToObject(item, "environment", d->environment);
        cJSON_AddBoolToObject(item, "allowed", d->allowed);
    }
}

static void add_figure(cJSON *item, const struct compare_figure *figure)
{
    cJSON_AddStringToObject(item, "subject", figure->subject);
    cJSON_AddStringToObject(item, "name", figure->name);
    cJSON_AddStringToObject(item, "unit", *figure->unit ? figure->unit : "1");
    cJSON_AddBoolToObject(item, "more_is_better", figure->more_is_better);
}

static void add_judged(cJSON *json, const struct compare *c)
{
    cJSON *list = cJSON_AddArrayToObject(json, "judged");
    for (size_t i = 0; i < c->verdicts.n; i++) {
        const struct verdict_row *row = &c->verdicts.row[i];
        const struct compare_line *line = &c->lines.item[c->judged[i]];
        cJSON *item = add_item(list);
        add_figure(item, line->figure);
        json_add_number(item, "bytes", row->sizes == 1 ? line->figure->bytes : NAN);
        cJSON_AddNumberToObject(item, "sizes", (double)row->sizes);
        json_add_number(item, "baseline", row->baseline);
        json_add_number(item, "candidate", row->candidate);
        cJSON_AddNumberToObject(item, "n_baseline", (double)row->n_baseline);
        cJSON_AddNumberToObject(item, "n_candidate", (double)row->n_candidate);
        json_add_number(item, "ratio", row->ratio);
        json_add_number(item, "ci_low", row->low);
        json_add_number(item, "ci_high", row->high);
        cJSON_AddBoolToObject(item, "wrong_elements", row->sizes == 1 && line->wrong);
        cJSON_AddStringToObject(item, "verdict", verdict_name[row->verdict]);
    }
}

static void add_figures(cJSON *json, const struct compare *c)
{
    cJSON *list = cJSON_AddArrayToObject(json, "figures");
    for (size_t i = 0; i < c->lines.n; i++) {
        const struct compare_line *line = &c->lines.item[i];
        if (line->gated)
            continue;
        struct compare_medians m = compare_medians(line, c->options->baselines, c->options->candidates);
        cJSON *item = add_item(list);
        add_figure(item, line->figure);
        cJSON_AddNumberToObject(item, "bytes", line->figure->bytes);
        json_add_number(item, "baseline", m.baseline);
        json_add_number(item, "candidate", m.candidate);
        cJSON_AddNumberToObject(item, "n_baseline", (double)m.n_baseline);
        cJSON_AddNumberToObject(item, "n_candidate", (double)m.n_candidate);
        json_add_number(item, "candidate_to_baseline", m.candidate / m.baseline);
    }
}

static char *print_text(const struct compare *c)
{
    const struct compare_options *o = c->options;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "schema_version", RESULTS_SCHEMA);
    cJSON_AddStringToObject(json, "program", "ddpbench");
    cJSON_AddStringToObject(json, "version", version_text());
    cJSON_AddStringToObject(json, "mode", "compare");
    cJSON_AddStringToObject(json, "verdict", compare_report_verdict(c));
    cJSON_AddNumberToObject(json, "exit_status", c->status);
    cJSON_AddNumberToObject(json, "tolerance_percent", o->tolerance);
    cJSON_AddNumberToObject(json, "floor_percent", o->floor);
    cJSON_AddNumberToObject(json, "level", c->rules.level);
    cJSON_AddBoolToObject(json, "judged_by_spread", c->verdicts.with_spread > 0);
    add_runs(json, "baseline", o->baseline_name, c->baseline, o->baselines);
    add_runs(json, "candidate", o->candidate_name, c->candidate, o->candidates);
    add_differences(json, c);
    add_judged(json, c);
    add_figures(json, c);
    char *text = cJSON_Print(json);
    cJSON_Delete(json);
    if (!text)
        FATAL("no memory to print the comparison");
    return text;
}

int compare_report_json(const struct compare *c, const char *path)
{
    char *text = print_text(c);
    int status = 0;
    if (path)
        status = files_replace_path("json", path, text);
    else if (printf("%s\n", text) < 0 || fflush(stdout))
        status = error_report("cannot write the comparison to standard output");
    cJSON_free(text);
    return status;
}
