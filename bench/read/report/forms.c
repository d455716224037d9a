/* forms.c - prints a report in each file format, and writes the files. */
#include "report/forms.h"

#include "base/files.h"
#include "base/json.h"
#include "base/junit.h"
#include "base/prometheus.h"
#include "base/text.h"
#include "chart/chart.h"
#include "document/document.h"
#include "kernels/error.h"
#include "results/results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Prints the report as JSON {title, blocks, runs}; a run is {label, directory, state, figures}. */
static void print_json(FILE *out, const cJSON *document, const struct report_runs *runs)
{
    cJSON *list = cJSON_CreateArray();
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++) {
        cJSON *row = json_add_row(list);
        json_add_text(row, "label", run->label);
        json_add_text(row, "directory", run->directory);
        json_add_text(row, "state", run_state(run));
        cJSON_AddItemToObject(row, "figures", figures_json(&run->figures));
    }
    document_print_json(out, document, "runs", list);
}

#define CSV_COLUMNS "directory,label,state," FIGURES_CSV_COLUMNS

static void print_csv(FILE *out, const cJSON *document, const struct report_runs *runs)
{
    (void)document;
    fprintf(out, CSV_COLUMNS "\n");
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++)
        figures_print_csv(out, &run->figures, (const char *const[]){run->directory, run->label, run_state(run)}, 3);
}

/* The mark for files_check_path of a report in Prometheus' format; a run's summary.prom lacks it. */
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

/* Adds a test case for each row of a table of bottlenecks. */
static void add_bottlenecks(struct junit *junit, const cJSON *table)
{
    const cJSON *row;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(table, "rows"))
    {
        const char *level = json_string(row, "level");
        junit_add(junit, &(struct junit_case){json_string(row, "run"), json_string(row, "bottleneck"), NAN,
                                              !strcmp(level, "high") ? JUNIT_FAILED : JUNIT_PASSED, level,
                                              json_string(row, "text")});
    }
}

/* Prints a test case for each run: an error if the run cannot be read, failed if it is not complete. Then prints a test
 * case for each bottleneck, in the order of the table: failed if the bottleneck's level is high. */
static void print_junit(FILE *out, const cJSON *document, const struct report_runs *runs)
{
    struct junit junit;
    const cJSON *block;
    junit_begin(&junit);
    for (const struct report_run *r = runs->item; r < runs->item + runs->n; r++)
        junit_add(&junit, &(struct junit_case){r->label, *r->mode ? r->mode : r->directory, NAN,
                                               *r->problem      ? JUNIT_ERROR
                                               : *r->unfinished ? JUNIT_FAILED
                                                                : JUNIT_PASSED,
                                               *r->problem ? "unreadable" : "interrupted",
                                               *r->problem ? r->problem : r->unfinished});
    cJSON_ArrayForEach(block, cJSON_GetObjectItemCaseSensitive(document, "blocks")) /* a table for each model */
    {
        const cJSON *table = cJSON_GetObjectItemCaseSensitive(block, "table");
        if (table && !strcmp(json_string(table, "key"), "bottlenecks"))
            add_bottlenecks(&junit, table);
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

static const struct form {
    const char *file; /* name of the file in the report's directory */
    const char *mark; /* mark for files_check_path: a line near the top begins with it */
    void (*print)(FILE *out, const cJSON *document, const struct report_runs *runs);
} forms[FORMS] = {[FORM_HTML] = {"report.html", "<title>" FORMS_TITLE, print_html},
                  [FORM_MARKDOWN] = {"BOTTLENECK_ANALYSIS.md", "# " FORMS_TITLE, print_markdown},
                  [FORM_JSON] = {"report.json", "{\"title\":\"" FORMS_TITLE, print_json},
                  [FORM_CSV] = {"report.csv", CSV_COLUMNS, print_csv},
                  [FORM_PROMETHEUS] = {"report.prom", PROMETHEUS_FORM_MARK, print_prometheus},
                  [FORM_JUNIT] = {"report.xml", "<testsuites name=\"" FORMS_TITLE, print_junit}};
const char *const form_option[FORMS] = {"html", "markdown", "json", "csv", "prometheus", "junit"};

void form_print(FILE *out, enum report_form form, const cJSON *document, const struct report_runs *runs)
{
    forms[form].print(out, document, runs);
}

/* ---- files ---- */

struct output {
    char path[FILES_PATH + 160], *text; /* a path that is cut off is longer than FILES_PATH, so it is rejected */
    const char *option, *mark;          /* arguments of files_check_path */
};

struct outputs {
    struct output *item; /* [n], owned */
    size_t n;
};

static struct output *append_output(struct outputs *all, const char *option, const char *mark)
{
    all->item = allocate_more(all->item, all->n, sizeof *all->item);
    struct output *output = &all->item[all->n++];
    *output = (struct output){.option = option, .mark = mark};
    return output;
}

static void print_output(struct output *output, enum report_form form, const cJSON *document,
                         const struct report_runs *runs)
{
    size_t length;
    FILE *out = text_begin(&output->text, &length);
    form_print(out, form, document, runs);
    text_end(out);
}

/* Appends to `all` the files that options name, each in its format. */
static void add_named(struct outputs *all, const char *const path[FORMS], const cJSON *document,
                      const struct report_runs *runs)
{
    for (enum report_form i = 0; i < FORMS; i++) {
        if (!*path[i] || !strcmp(path[i], "-"))
            continue;
        struct output *output = append_output(all, form_option[i], forms[i].mark);
        snprintf(output->path, sizeof output->path, "%s", path[i]);
        print_output(output, i, document, runs);
    }
}

/* Appends to `all` the pictures and a file in each format, which go into the directory. */
static void add_all(struct outputs *all, const char *directory, const cJSON *document, const struct report_runs *runs)
{
    const cJSON *block;
    cJSON_ArrayForEach(block, cJSON_GetObjectItemCaseSensitive(document, "blocks"))
    {
        if (strcmp(json_string(block, "kind"), "picture") != 0)
            continue;
        struct output *output = append_output(all, "output", SVG_MARK);
        snprintf(output->path, sizeof output->path, "%.*s/pictures/%.140s.svg", FORMS_DIRECTORY, directory,
                 json_string(block, "name"));
        output->text = strdup(json_string(block, "svg"));
    }
    for (enum report_form i = 0; i < FORMS; i++) {
        struct output *output = append_output(all, "output", forms[i].mark);
        snprintf(output->path, sizeof output->path, "%.*s/%s", FORMS_DIRECTORY, directory, forms[i].file);
        print_output(output, i, document, runs);
    }
}

/* Checks that all files can be written, then writes them. Returns 0; or -1, reported. */
static int write_outputs(const struct outputs *all)
{
    int status = 0;
    for (const struct output *o = all->item; o < all->item + all->n && !status; o++) {
        for (const struct output *other = all->item; other < o && !status; other++)
            status = files_check_apart(o->option, o->path, other->option, other->path);
        status = status ? status : files_check_path(o->option, o->path, o->mark);
    }
    for (const struct output *o = all->item; o < all->item + all->n && !status; o++)
        status = files_replace_path(o->option, o->path, o->mark, o->text);
    return status;
}

/* Makes the directory, locks it, and writes all files. Returns 0; or -1, reported. */
static int write_directory(const struct outputs *all, const char *directory)
{
    char pictures[FILES_PATH];
    int lock = -1;
    snprintf(pictures, sizeof pictures, "%.*s/pictures", FORMS_DIRECTORY, directory);
    int failed = files_make_directories("output", directory) || files_lock_directory("output", directory, &lock) ||
                 files_make_directories("output", pictures) || write_outputs(all);
    if (lock >= 0)
        close(lock);
    return failed ? -1 : 0;
}

int forms_write(const char *const path[FORMS], const char *directory, const cJSON *document,
                const struct report_runs *runs)
{
    struct outputs all = {0};
    add_named(&all, path, document, runs);
    if (*directory)
        add_all(&all, directory, document, runs);
    int status = *directory ? write_directory(&all, directory) : write_outputs(&all);
    for (size_t i = 0; i < all.n; i++)
        free(all.item[i].text);
    free(all.item);
    return status;
}
