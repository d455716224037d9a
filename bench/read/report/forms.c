/* forms.c - prints a report in its file formats. */
#include "report/forms.h"

#include "base/json.h"
#include "base/junit.h"
#include "base/prometheus.h"
#include "base/text.h"
#include "document/document.h"
#include "kernels/error.h"
#include "report/analysis.h"
#include "results/results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A run as JSON: {label, directory, problem, state}, and without a problem also {mode, ..., figures}. The caller owns
 * it.
 */
static cJSON *run_json(const struct report_run *run)
{
    cJSON *json = cJSON_CreateObject();
    json_add_text(json, "label", run->label);
    json_add_text(json, "directory", run->directory);
    json_add_text(json, "problem", run->problem);
    json_add_text(json, "state", run_state(run));
    if (*run->problem)
        return json;
    json_add_text(json, "mode", run->mode);
    json_add_text(json, "time", run->time);
    json_add_number(json, "ranks", (double)run->ranks);
    json_add_number(json, "hosts", (double)run->hosts);
    json_add_text(json, "machine", run->machine);
    json_add_text(json, "workload", run->workload);
    json_add_text(json, "subject", run->subject);
    cJSON_AddItemToObject(json, "figures", figures_json(&run->figures));
    return json;
}

/* Prints an item of a list in one line, and deletes it. */
static void print_item(FILE *out, cJSON *item, int first)
{
    char *text = cJSON_PrintUnformatted(item);
    if (!text)
        fatal_no_memory(0, 0);
    fprintf(out, "%s\n%s", first ? "" : ",", text);
    cJSON_free(text);
    cJSON_Delete(item);
}

/* Prints {title, blocks, runs}, without pictures, item by item: many runs as one string take much memory. */
static void print_json(FILE *out, const cJSON *document, const struct report_runs *runs)
{
    const cJSON *block, *blocks = cJSON_GetObjectItemCaseSensitive(document, "blocks");
    cJSON *title = json_text(json_string(document, "title"));
    fprintf(out, "{\"title\":");
    print_item(out, title, 1);
    fprintf(out, ",\n\"blocks\": [");
    cJSON_ArrayForEach(block, blocks)
    {
        cJSON *copy = cJSON_Duplicate(block, 1);
        cJSON_DeleteItemFromObjectCaseSensitive(copy, "svg");
        print_item(out, copy, block == blocks->child);
    }
    fprintf(out, "],\n\"runs\": [");
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++)
        print_item(out, run_json(run), run == runs->item);
    fprintf(out, "]}\n");
}

#define CSV_COLUMNS "directory,label,state," FIGURES_CSV_COLUMNS

static void print_csv(FILE *out, const cJSON *document, const struct report_runs *runs)
{
    (void)document;
    fprintf(out, CSV_COLUMNS "\n");
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++)
        figures_print_csv(out, &run->figures, (const char *const[]){run->directory, run->label, run_state(run)}, 3);
}

/* Distinguishes a report from the summary.prom of a run. */
#define PROMETHEUS_FORM_MARK "# From ddpbench report."

static void print_prometheus(FILE *out, const cJSON *document, const struct report_runs *runs)
{
    struct prometheus_run *run = allocate(runs->n + 1, sizeof *run);
    size_t n = 0;
    (void)document;
    for (const struct report_run *r = runs->item; r < runs->item + runs->n; r++)
        if (!*r->problem)
            run[n++] = (struct prometheus_run){&r->figures, r->label, r->mode, r->directory, r->done, r->planned};
    fputs(PROMETHEUS_FORM_MARK "\n", out);
    prometheus_print(out, run, n);
    free(run);
}

/* The rows of the table with that key; or NULL. */
static const cJSON *rows_of(const cJSON *document, const char *key)
{
    const cJSON *block;
    cJSON_ArrayForEach(block, cJSON_GetObjectItemCaseSensitive(document, "blocks"))
    {
        const cJSON *table = cJSON_GetObjectItemCaseSensitive(block, "table");
        if (table && !strcmp(json_string(table, "key"), key))
            return cJSON_GetObjectItemCaseSensitive(table, "rows");
    }
    return NULL;
}

/* Prints a test case for each run, an error if it cannot be read and failed if it is not complete; and for each
 * bottleneck, in their order, failed if its level is high. */
static void print_junit(FILE *out, const cJSON *document, const struct report_runs *runs)
{
    struct junit junit;
    const cJSON *row;
    junit_begin(&junit);
    for (const struct report_run *r = runs->item; r < runs->item + runs->n; r++)
        junit_add(&junit, &(struct junit_case){r->label, *r->mode ? r->mode : r->directory, NAN,
                                               *r->problem      ? JUNIT_ERROR
                                               : *r->unfinished ? JUNIT_FAILED
                                                                : JUNIT_PASSED,
                                               *r->problem ? "unreadable" : "interrupted",
                                               *r->problem ? r->problem : r->unfinished});
    cJSON_ArrayForEach(row, rows_of(document, "bottlenecks"))
    {
        const char *level = json_string(row, "level");
        junit_add(&junit, &(struct junit_case){json_string(row, "run"), json_string(row, "bottleneck"), NAN,
                                               !strcmp(level, "high") ? JUNIT_FAILED : JUNIT_PASSED, level,
                                               json_string(row, "text")});
    }
    junit_end(&junit, out, json_string(document, "title"), "");
}

static void print_html(FILE *out, const cJSON *document, const struct report_runs *runs)
{
    (void)runs;
    document_print_html(out, document);
}

static void print_markdown(FILE *out, const cJSON *document, const struct report_runs *runs)
{
    (void)runs;
    document_print_markdown(out, document);
}

const struct report_form report_forms[FORMS] = {
    [FORM_HTML] = {"html", "report.html", "<title>" ANALYSIS_TITLE, print_html},
    [FORM_MARKDOWN] = {"markdown", "BOTTLENECK_ANALYSIS.md", "# " ANALYSIS_TITLE, print_markdown},
    [FORM_JSON] = {"json", "report.json", "{\"title\":\n\"" ANALYSIS_TITLE, print_json},
    [FORM_CSV] = {"csv", "report.csv", CSV_COLUMNS, print_csv},
    [FORM_PROMETHEUS] = {"prometheus", "report.prom", PROMETHEUS_FORM_MARK, print_prometheus},
    [FORM_JUNIT] = {"junit", "report.xml", "<testsuites name=\"" ANALYSIS_TITLE, print_junit}};
