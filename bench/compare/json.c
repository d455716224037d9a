/* json.c - what a comparison found, as JSON. */
#include "compare/outcome.h"

#include "base/json.h"
#include "base/version.h"

#include <math.h>

static void add_runs(cJSON *json, const char *name, const char *label, const struct compare_run *run, size_t n)
{
    cJSON *runs = cJSON_AddObjectToObject(json, name);
    json_add_text(runs, "label", label);
    cJSON *list = cJSON_AddArrayToObject(runs, "directories");
    for (size_t i = 0; i < n; i++)
        cJSON_AddItemToArray(list, json_text(run[i].saved.directory));
}

void compare_add_heading(cJSON *json, const struct compare_options *o, const struct compare_run *run,
                         const struct verdict_rules *rules)
{
    json_add_number(json, "schema_version", RESULTS_SCHEMA);
    json_add_text(json, "program", "ddpbench");
    json_add_text(json, "version", version_text());
    json_add_text(json, "mode", "compare");
    json_add_number(json, "tolerance_percent", o->tolerance);
    json_add_number(json, "floor_percent", o->floor);
    json_add_number(json, "level", rules->level);
    cJSON_AddBoolToObject(json, "judged_by_spread", 0);
    add_runs(json, "baseline", o->name[0], run, o->baselines);
    add_runs(json, "candidate", o->name[1], run + o->baselines, o->candidates);
    cJSON_AddArrayToObject(json, "differences");
    cJSON_AddArrayToObject(json, "judged");
    cJSON_AddArrayToObject(json, "figures");
}

/* A row of a figure, with its medians over the runs that have it; those of several sizes have none. Returns the ratio
 * of the medians. */
static double add_figure(cJSON *item, const struct verdict_figure *line, size_t sizes, const struct compare_options *o)
{
    size_t n[2] = {o->baselines, o->candidates};
    double baseline = compare_median(line->baseline, n[0], &n[0]);
    double candidate = compare_median(line->candidate, n[1], &n[1]);
    json_add_text(item, "subject", line->figure->subject);
    json_add_text(item, "name", line->figure->name);
    json_add_text(item, "unit", line->figure->unit);
    json_add_text(item, "better", figure_better_name[line->figure->better]);
    json_add_number(item, "bytes", sizes == 1 ? line->figure->bytes : NAN);
    json_add_number(item, "baseline", sizes == 1 ? baseline : NAN);
    json_add_number(item, "candidate", sizes == 1 ? candidate : NAN);
    json_add_number(item, "n_baseline", (double)(sizes == 1 ? n[0] : o->baselines));
    json_add_number(item, "n_candidate", (double)(sizes == 1 ? n[1] : o->candidates));
    return candidate / baseline;
}

void compare_add_rows(cJSON *json, const struct compare_lines *lines, const struct verdicts *verdicts,
                      const struct compare_options *o)
{
    for (size_t i = 0; i < verdicts->n; i++) {
        const struct verdict_row *row = &verdicts->row[i];
        const struct verdict_figure *line = &lines->item[i];
        if (i >= lines->judged) /* of several sizes */
            for (line = lines->item; line->size_group != row->size_group;)
                line++;
        cJSON *item = json_add_row(cJSON_GetObjectItemCaseSensitive(json, "judged"));
        add_figure(item, line, row->sizes, o);
        json_add_number(item, "sizes", (double)row->sizes);
        json_add_number(item, "ratio", row->ratio);
        json_add_number(item, "ci_low", row->low);
        json_add_number(item, "ci_high", row->high);
        cJSON_AddBoolToObject(item, "wrong_elements", row->sizes == 1 && line->wrong);
        json_add_text(item, "verdict", verdict_name[row->verdict]);
        if (isfinite(row->low))
            cJSON_ReplaceItemInObjectCaseSensitive(json, "judged_by_spread", cJSON_CreateTrue());
    }
    for (size_t i = lines->judged; i < lines->n; i++) {
        cJSON *item = json_add_row(cJSON_GetObjectItemCaseSensitive(json, "figures"));
        json_add_number(item, "candidate_to_baseline", add_figure(item, &lines->item[i], 1, o));
    }
}
