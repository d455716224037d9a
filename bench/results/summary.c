/* summary.c - writes and prints the summary of a run of any mode. */
#include "results/summary.h"

#include "base/json.h"
#include "base/text.h"
#include "base/version.h"
#include "ddp/watchdog.h"
#include "kernels/error.h"
#include "kernels/exit_handlers.h"
#include "results/prometheus.h"
#include "results/results.h"
#include "results/verdict.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

cJSON *results_summary_create(const char *mode, const char *label, double done, double planned, const char *of)
{
    cJSON *json = cJSON_CreateObject();
    json_add_number(json, "schema_version", RESULTS_SCHEMA);
    json_add_text(json, "mode", mode);
    json_add_text(json, "label", label);
    json_add_number(json, "done", done);
    json_add_number(json, "planned", planned);
    json_add_text(json, "of", of);
    cJSON_AddArrayToObject(json, "heading");
    cJSON_AddArrayToObject(json, "answers");
    cJSON_AddArrayToObject(json, "tables");
    cJSON_AddArrayToObject(json, "notes");
    return json;
}

void results_add_sentence(cJSON *summary, const char *list, const char *format, ...)
{
    va_list arguments;
    char *line = NULL;
    va_start(arguments, format);
    if (vasprintf(&line, format, arguments) < 0)
        fatal_no_memory(0, 0);
    va_end(arguments);
    cJSON_AddItemToArray(cJSON_GetObjectItemCaseSensitive(summary, list), json_text(line));
    free(line);
}

void results_add_table(cJSON *summary, const struct table *table)
{
    cJSON_AddItemToArray(cJSON_GetObjectItemCaseSensitive(summary, "tables"), table_json(table));
}

void results_show_all(cJSON *summary)
{
    for (cJSON *table = json_first(summary, "tables"); table; table = table->next)
        cJSON_DeleteItemFromObjectCaseSensitive(table, "shown");
}

/* Returns the prefix of each text line: "# ", a comment, for allreduce, whose output has the format of nccl-tests. */
static const char *prefix_of(const cJSON *summary)
{
    return strcmp(json_string(summary, "mode"), "allreduce") ? "" : "# ";
}

/* Prints the sentences in a list of the summary, after an empty line if `apart` and the list is not empty. */
static void print_sentences(FILE *out, const cJSON *summary, const char *list, int apart)
{
    int n = 0;
    for (const cJSON *sentence = json_first(summary, list); sentence; sentence = sentence->next) {
        if (!cJSON_IsString(sentence))
            continue;
        fputs(apart && !n++ ? "\n" : "", out);
        text_wrap(out, TEXT_COLUMNS, prefix_of(summary), sentence->valuestring);
    }
}

void results_print_heading(FILE *out, const cJSON *summary)
{
    print_sentences(out, summary, "heading", 0);
    fflush(out);
}

void results_print_body(FILE *out, const cJSON *summary)
{
    print_sentences(out, summary, "answers", 1);
    for (const cJSON *table = json_first(summary, "tables"); table; table = table->next)
        table_print(out, prefix_of(summary), table);
    verdict_print(out, cJSON_GetObjectItemCaseSensitive(summary, "verdict"));
    print_sentences(out, summary, "notes", 1);
}

void results_print_summary(FILE *out, const cJSON *summary)
{
    results_print_heading(out, summary);
    results_print_body(out, summary);
}

const char *results_unfinished(char text[RESULTS_UNFINISHED], const cJSON *summary)
{
    double done = json_number(summary, "done"), planned = json_number(summary, "planned");
    const char *mode = json_string(summary, "mode");
    int grows = !strcmp(mode, "tune") || !strcmp(mode, "isolate"); /* only the next round is planned */
    *text = 0;
    if (done < planned)
        snprintf(text, RESULTS_UNFINISHED, "%.0f of %s%.0f %.20s", done, grows ? "at least " : "", planned,
                 json_string(summary, "of"));
    return text;
}

#define UNFINISHED "Interrupted, or still running"

/* Writes summary.prom, and a copy for --prometheus, whose failure results_close reports. Returns 0; or -1, reported. */
static int write_prometheus(struct results *results, const cJSON *summary, const struct figure_list *figures)
{
    const struct prometheus_run run = {figures,
                                       results->label,
                                       json_string(summary, "mode"),
                                       results->directory,
                                       json_number(summary, "done"),
                                       json_number(summary, "planned")};
    const char *mark = RESULTS_PROMETHEUS_MARK "\n";
    char *text = NULL;
    size_t length = 0;
    FILE *out = text_begin(&text, &length);
    fputs(mark, out);
    prometheus_print(out, &run);
    text_end(out);
    int failed = files_replace(results->directory, "summary.prom", text + strlen(mark));
    if (!failed && results->prometheus && *results->prometheus) {
        const struct named_path path = {"prometheus", results->prometheus, RESULTS_PROMETHEUS_MARK};
        results->prometheus_failed = files_replace_named(path, text) != 0;
        error_clear();
    }
    free(text);
    return failed;
}

int results_write_summary(struct results *results, cJSON *summary, const struct figure_list *figures)
{
    const char *const label = results->label;
    char *text = NULL, *csv = NULL, unfinished[RESULTS_UNFINISHED];
    size_t length = 0;
    FILE *words = text_begin(&text, &length), *lines = text_begin(&csv, &length);
    if (*results_unfinished(unfinished, summary))
        results_add_sentence(summary, "heading", UNFINISHED ": %s.", unfinished);
    results_print_summary(words, summary);
    fprintf(lines, "label," FIGURES_CSV_COLUMNS "\n");
    figures_print_csv(lines, figures, &label, 1);
    text_end(words);
    text_end(lines);
    char *early = NULL, *from = strstr(text, "\n" UNFINISHED);
    if (from && asprintf(&early, "\nInterrupted%s", strchr(from, ':')) < 0)
        fatal_no_memory(0, 0);
    exit_handlers_set_results(early); /* before the files, so that a run with files has a text to print */
    cJSON_DeleteItemFromObjectCaseSensitive(summary, "figures");
    cJSON_AddItemToObject(summary, "figures", figures_json(figures));
    char *json = json_print(summary, 1);
    watchdog_wait(results->watchdog, "writing the summary", 0, 0);
    int failed = files_replace(results->directory, "summary.json", json) ||
                 files_replace(results->directory, "summary.csv", csv) ||
                 files_replace(results->directory, "summary.txt", text) || write_prometheus(results, summary, figures);
    if (!failed && *results->top && strcmp(results->top, results->directory)) {
        char name[128];
        snprintf(name, sizeof name, "%.63s_summary.txt", results->directory + strlen(results->top) + 1);
        failed = files_replace(results->top, name, text);
    }
    watchdog_arrived(results->watchdog);
    free(json);
    free(csv);
    free(text);
    return failed ? -1 : 0;
}
