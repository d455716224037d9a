/* outcome.c - what the runs have of a figure, and the comparison as JSON. */
#include "compare/outcome.h"

#include "base/json.h"
#include "base/stats.h"
#include "base/version.h"
#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>

struct side compare_side_of(const struct comparison *c, const struct verdict_figure *f, size_t sizes, int i)
{
    const double *value = i == BASELINE ? f->baseline : f->candidate;
    struct side side = {NAN, 0};
    double *have = allocate(c->n[i], sizeof *have);
    for (size_t run = 0; run < c->n[i]; run++)
        if (!isnan(value[run]))
            have[side.n++] = value[run];
    if (sizes == 1)
        side.value = stats_typical(have, side.n, !f->figure.judged).median;
    else
        side.n = c->n[i];
    free(have);
    return side;
}

static void add_runs(cJSON *json, const struct comparison *c, int side)
{
    cJSON *runs = cJSON_AddObjectToObject(json, side == BASELINE ? "baseline" : "candidate");
    json_add_text(runs, "label", c->name[side]);
    cJSON *list = cJSON_AddArrayToObject(runs, "directories");
    for (size_t i = 0; i < c->n[side]; i++)
        cJSON_AddItemToArray(list, json_text(c->run[side][i].saved.directory));
    json_add_number(runs, "other_processes_share", c->rules.other[side]);
}

/* Appends a row with the members of a figure or, if sizes > 1, of a mean over sizes. Returns the row, and the ratio
 * candidate / baseline in *ratio. */
static cJSON *add_figure(cJSON *list, const struct comparison *c, const struct verdict_figure *f, size_t sizes,
                         double *ratio)
{
    const struct side baseline = compare_side_of(c, f, sizes, BASELINE),
                      candidate = compare_side_of(c, f, sizes, CANDIDATE);
    cJSON *item = json_add_row(list);
    json_add_text(item, "subject", f->figure.subject);
    json_add_text(item, "name", f->figure.name);
    json_add_text(item, "unit", f->figure.unit);
    json_add_text(item, "better", figure_better_name[f->figure.better]);
    json_add_number(item, "bytes", sizes == 1 ? f->figure.bytes : NAN);
    json_add_number(item, "baseline", baseline.value);
    json_add_number(item, "candidate", candidate.value);
    json_add_number(item, "n_baseline", (double)baseline.n);
    json_add_number(item, "n_candidate", (double)candidate.n);
    *ratio = candidate.value / baseline.value;
    return item;
}

void compare_print_json(FILE *out, const void *shown)
{
    const struct comparison *c = shown;
    double ratio;
    cJSON *json = cJSON_CreateObject();
    json_add_text(json, "program", "ddpbench");
    json_add_text(json, "mode", "compare");
    json_add_number(json, "schema_version", RESULTS_SCHEMA);
    json_add_text(json, "version", version_text());
    json_add_number(json, "tolerance_percent", c->tolerance);
    json_add_number(json, "floor_percent", c->floor);
    json_add_number(json, "level", c->rules.level);
    json_add_number(json, "pairs", (double)c->rules.pairs);
    cJSON_AddBoolToObject(json, "in_turn", c->rules.in_turn);
    cJSON_AddBoolToObject(json, "judged_by_spread", c->verdicts.by_spread);
    add_runs(json, c, BASELINE);
    add_runs(json, c, CANDIDATE);
    for (cJSON *list = c->json->child; list; list = list->next)
        cJSON_AddItemReferenceToObject(json, list->string, list);
    cJSON *judged = cJSON_AddArrayToObject(json, "judged"), *figures = cJSON_AddArrayToObject(json, "figures");
    for (const struct figure_verdict_row *row = c->verdicts.row; row < c->verdicts.row + c->verdicts.n; row++) {
        cJSON *item = add_figure(judged, c, row->figure, row->sizes, &ratio);
        json_add_number(item, "sizes", (double)row->sizes);
        json_add_number(item, "ratio", row->ratio);
        json_add_number(item, "ci_low", row->low);
        json_add_number(item, "ci_high", row->high);
        json_add_number(item, "level", row->level);
        json_add_number(item, "seen_from", row->seen_from);
        json_add_number(item, "more_runs", row->more_runs);
        cJSON_AddBoolToObject(item, "summary", row->summary);
        cJSON_AddBoolToObject(item, "wrong_elements", row->wrong);
        json_add_text(item, "verdict", verdict_name[row->verdict]);
    }
    for (size_t i = c->lines.judged; i < c->lines.n; i++) {
        cJSON *item = add_figure(figures, c, c->lines.line[i], 1, &ratio);
        json_add_number(item, "candidate_to_baseline", ratio);
    }
    json_add_text(json, "verdict", c->status == COMPARE_INCOMPARABLE ? "incomparable" : verdict_name[c->verdict]);
    json_add_number(json, "exit_status", c->status);
    char *text = json_print(json, 1);
    fprintf(out, "%s\n", text);
    free(text);
    cJSON_Delete(json);
}
