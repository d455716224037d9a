/* json.c - what a comparison found, as JSON. */
#include "compare/outcome.h"

#include "base/files.h"
#include "base/json.h"
#include "base/version.h"
#include "kernels/error.h"

#include <cJSON.h>
#include <math.h>
#include <stdio.h>

static void add_runs(cJSON *json, const char *name, const char *label, const struct compare_run *run, size_t n)
{
    cJSON *runs = cJSON_AddObjectToObject(json, name);
    json_add_text(runs, "label", label);
    cJSON *list = cJSON_AddArrayToObject(runs, "directories");
    for (size_t i = 0; i < n; i++)
        cJSON_AddItemToArray(list, json_text(run[i].saved.directory));
}

static void add_value(cJSON *json, const char *name, const char *value)
{
    cJSON_AddItemToObject(json, name, value ? json_text(value) : cJSON_CreateNull());
}

static void add_differences(cJSON *json, const struct comparison *c)
{
    cJSON *list = cJSON_AddArrayToObject(json, "differences");
    for (size_t i = 0; i < c->differences.n; i++) {
        const struct difference *d = &c->differences.item[i];
        cJSON *item = json_add_row(list);
        json_add_text(item, "key", d->key);
        add_value(item, "baseline", d->baseline);
        add_value(item, "other", d->other);
        json_add_text(item, "side", d->whose);
        cJSON_AddBoolToObject(item, "environment", d->environment);
        cJSON_AddBoolToObject(item, "allowed", d->allowed);
    }
}

static void add_figure(cJSON *item, const struct figure *figure)
{
    json_add_text(item, "subject", figure->subject);
    json_add_text(item, "name", figure->name);
    json_add_text(item, "unit", figure->unit);
    json_add_text(item, "better", figure_better_name[figure->better]);
}

static void add_judged(cJSON *json, const struct comparison *c)
{
    cJSON *list = cJSON_AddArrayToObject(json, "judged");
    for (size_t i = 0; i < c->verdicts.n; i++) {
        const struct verdict_row *row = &c->verdicts.row[i];
        const struct compare_line *line = &c->lines.item[c->line_of[i]];
        cJSON *item = json_add_row(list);
        add_figure(item, line->figure);
        json_add_number(item, "bytes", row->sizes == 1 ? line->figure->bytes : NAN);
        json_add_number(item, "sizes", (double)row->sizes);
        json_add_number(item, "baseline", row->baseline);
        json_add_number(item, "candidate", row->candidate);
        json_add_number(item, "n_baseline", (double)row->n_baseline);
        json_add_number(item, "n_candidate", (double)row->n_candidate);
        json_add_number(item, "ratio", row->ratio);
        json_add_number(item, "ci_low", row->low);
        json_add_number(item, "ci_high", row->high);
        cJSON_AddBoolToObject(item, "wrong_elements", row->sizes == 1 && line->wrong);
        json_add_text(item, "verdict", verdict_name[row->verdict]);
    }
}

static void add_figures(cJSON *json, const struct comparison *c)
{
    cJSON *list = cJSON_AddArrayToObject(json, "figures");
    for (size_t i = 0; i < c->lines.n; i++) {
        const struct compare_line *line = &c->lines.item[i];
        if (line->judged)
            continue;
        struct compare_medians m = compare_medians(line, c->options->baselines, c->options->candidates);
        cJSON *item = json_add_row(list);
        add_figure(item, line->figure);
        json_add_number(item, "bytes", line->figure->bytes);
        json_add_number(item, "baseline", m.baseline);
        json_add_number(item, "candidate", m.candidate);
        json_add_number(item, "n_baseline", (double)m.n_baseline);
        json_add_number(item, "n_candidate", (double)m.n_candidate);
        json_add_number(item, "candidate_to_baseline", m.candidate / m.baseline);
    }
}

static char *print_text(const struct comparison *c)
{
    const struct compare_options *o = c->options;
    cJSON *json = cJSON_CreateObject();
    json_add_number(json, "schema_version", RESULTS_SCHEMA);
    json_add_text(json, "program", "ddpbench");
    json_add_text(json, "version", version_text());
    json_add_text(json, "mode", "compare");
    json_add_text(json, "verdict", compare_verdict(c));
    json_add_number(json, "exit_status", c->status);
    json_add_number(json, "tolerance_percent", o->tolerance);
    json_add_number(json, "floor_percent", o->floor);
    json_add_number(json, "level", c->rules.level);
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

int compare_write_json(const struct comparison *c, const char *path)
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
