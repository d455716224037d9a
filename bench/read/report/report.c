/* report.c - `ddpbench report`: reads runs, prints the report, and writes files. */
#include "report/report.h"

#include "base/json.h"
#include "base/option_table.h"
#include "base/text.h"
#include "kernels/error.h"
#include "predict/predict.h"
#include "report/forms.h"
#include "report/sections.h"
#include "results/busy.h"
#include "results/metrics.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FIELD(field) offsetof(struct report, field)
/* clang-format off */
static const struct option rows[] = {
    {.name = "output", .common = 1, .kind = &option_path, .offset = FIELD(output), .initial = "",
     .help = "directory to write the whole report to: BOTTLENECK_ANALYSIS.md, report.html, report.json, report.csv and pictures/"},
    {.name = "html", .common = 1, .kind = &option_form, .offset = FIELD(form[FORM_HTML]), .initial = "",
     .help = "file to write the report to, as one HTML page that needs no other file; - prints it in place of the text"},
    {.name = "markdown", .common = 1, .kind = &option_form, .offset = FIELD(form[FORM_MARKDOWN]), .initial = "",
     .help = "file to write the report to, as Markdown; - prints it in place of the text"},
    {.name = "json", .common = 1, .kind = &option_form, .offset = FIELD(form[FORM_JSON]), .initial = "",
     .help = "file to write the report to, as JSON; - prints it in place of the text"},
    {.name = "csv", .common = 1, .kind = &option_form, .offset = FIELD(form[FORM_CSV]), .initial = "",
     .help = "file to write the figures of all runs to, as comma-separated values; - prints them in place of the text"},
    {.name = "png", .common = 1, .kind = &option_path, .offset = FIELD(png), .initial = "",
     .help = "directory to write the pictures to, as PNG; needs rsvg-convert, ImageMagick or Inkscape"},
    {.name = "metrics-csv", .common = 1, .kind = &option_flag, .offset = FIELD(metrics),
     .help = "only write metrics.csv in each run's directory, from the steps in it: for runs that were killed"},
};
/* clang-format on */

/* Adds DIR or LABEL=DIR; a word that is an existing path is DIR. report->directory has room for all words of argv. */
static int take_word(void *context, const char *word)
{
    struct report *report = context;
    struct named_directory *d = &report->directory[report->directories++];
    struct stat status;
    size_t n = strcspn(word, "=/"), valid = 0;
    int has_label = n && word[n] == '=' && stat(word, &status);
    while (isalnum((unsigned char)word[valid]) || (word[valid] && strchr("_-+.", word[valid])))
        valid++;
    if (has_label && (valid < n || n >= sizeof d->label))
        return error_report("'%s': a label has only letters, digits and -_+., and at most %zu of them", word,
                            sizeof d->label - 1);
    snprintf(d->label, sizeof d->label, "%.*s", has_label ? (int)n : 0, word);
    d->path = has_label ? word + n + 1 : word;
    if (!*d->path)
        return error_report("'%s': expected a result directory, or LABEL=DIR", word);
    return strlen(d->path) <= FILES_PATH / 2
               ? 0
               : error_report("%.100s...: the path is longer than %d characters", d->path, FILES_PATH / 2);
}

/* ---- the document ---- */

static void add_lines(cJSON *document, const struct report_run *run, const char *list)
{
    for (const cJSON *line = json_first(run->saved.summary, list); line; line = line->next)
        if (line->valuestring && *line->valuestring)
            document_add_paragraph(document, "%s", line->valuestring);
}

/* Appends a run's time, version, command line and printed output: heading, answers, tables and notes. */
static void add_printed(cJSON *document, const struct report_run *run)
{
    char *command;
    size_t length;
    FILE *out = text_begin(&command, &length);
    for (const cJSON *word = json_first(run->saved.run, "argv"); word; word = word->next)
        if (cJSON_IsString(word))
            text_print_word(out, word->valuestring);
    text_end(out);
    document_add_heading(document, "What the run printed");
    document_add_paragraph(document, "%s of %s, %s %s:%s", run->mode, run->time, json_string(run->saved.run, "program"),
                           json_string(run->saved.run, "version"), command);
    free(command);
    add_lines(document, run, "heading");
    add_lines(document, run, "answers");
    for (const cJSON *table = json_first(run->saved.summary, "tables"); table; table = table->next)
        if (table_view(table).columns && strcmp(json_string(table, "key"), "criteria") != 0) /* section_add_shares */
            document_add_saved_table(document, table);
    add_lines(document, run, "notes");
}

/* Adds parts of a section on the first `most` runs that have one. */
static void add_each(cJSON *document, const struct report_runs *runs, size_t most,
                     int (*add)(cJSON *document, const struct report_run *run))
{
    size_t n = 0;
    for (const struct report_run *run = runs->item; run < runs->item + runs->n && n < most; run++)
        n += add(document, run) != 0;
}

/* Adds the sections on runs with one workload. */
static void add_analysis(cJSON *document, const struct report_runs *runs)
{
    struct scaling scaling = scaling_find(runs);
    struct bottlenecks bottlenecks = bottlenecks_find(runs, &scaling);
    section_add_summary(document, runs, &scaling, &bottlenecks);
    section_add_bottlenecks(document, &bottlenecks);
    add_each(document, runs, 6, section_add_choice);
    section_add_breakdown(document, runs);
    add_each(document, runs, 6, section_add_shares);
    add_each(document, runs, 12, section_add_timeline);
    add_each(document, runs, 4, section_add_step);
    add_each(document, runs, 4, section_add_rounds);
    add_each(document, runs, 4, section_add_roofline);
    section_add_scaling(document, &scaling);
    section_add_buckets(document, runs);
    section_add_collectives(document, runs);
    free(bottlenecks.item);
    free(scaling.row);
}

/* Returns the first run with the workload of `run`. */
static const struct report_run *first_like(const struct report_runs *runs, const struct report_run *run)
{
    const struct report_run *first = runs->item;
    while (strcmp(first->workload, run->workload) != 0)
        first++;
    return first;
}

/* Adds an analysis for each workload. Runs of collectives join the only workload or, with several, form a group. */
static void add_analyses(cJSON *document, const struct report_runs *runs)
{
    const struct report_run *end = runs->item + runs->n;
    size_t workloads = 0, unread = 0;
    for (const struct report_run *run = runs->item; run < end; run++) {
        workloads += *run->workload && first_like(runs, run) == run;
        unread += *run->problem != 0;
    }
    if (workloads < 2) {
        add_analysis(document, runs);
        return;
    }
    document_add_paragraph(document,
                           "The runs have %zu different models or devices. Each is reported separately; figures are "
                           "not compared between them.",
                           workloads);
    if (unread)
        document_add_paragraph(document, "%zu of %zu runs could not be read, and are left out (see Runs).", unread,
                               runs->n);
    for (const struct report_run *first = runs->item; first < end; first++) {
        struct report_runs group = {allocate(runs->n, sizeof *group.item), 0};
        for (const struct report_run *run = first; run < end && first_like(runs, first) == first; run++)
            if (!strcmp(run->workload, first->workload) && !*run->problem)
                group.item[group.n++] = *run;
        if (group.n) {
            document_add_heading(document, "Runs of %s", *first->workload ? first->workload : "the network");
            add_analysis(document, &group);
        }
        free(group.item);
    }
}

/* Adds the section on the link that a run needs, for each run that trained, from sweeps on the same number of ranks. */
static void add_needed_links(cJSON *document, const struct report_runs *runs)
{
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++) {
        char *sweeps = NULL;
        size_t length = 0;
        FILE *out = text_begin(&sweeps, &length);
        for (const struct report_run *r = runs->item; r < runs->item + runs->n; r++)
            if (!strcmp(r->mode, "allreduce") && r->ranks == run->ranks && !*r->unfinished)
                fprintf(out, "%s%s", ftell(out) ? "," : "", r->saved.directory);
        text_end(out);
        if (*sweeps && !strcmp(run->mode, "benchmark"))
            predict_add_link_section(document, run->saved.directory, run->ranks, sweeps);
        free(sweeps);
    }
}

/* Adds a sentence if other processes used the machine of a run: on the run where they used most. */
static void add_busy(cJSON *document, const struct report_runs *runs)
{
    struct busy most = {0};
    char text[BUSY_WORDS], where[BUSY_WORDS] = "";
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++) {
        const struct busy busy = busy_of(run->saved.summary, run->saved.run);
        if (busy.share > most.share)
            snprintf(where, sizeof where, runs->n > 1 ? " in %s, the busiest run" : "", run->label);
        most = busy.share > most.share ? busy : most;
    }
    if (*busy_sentence(text, most, where))
        document_add_paragraph(document, "%s", text);
}

/* Creates the report on runs; at least one of them can be read. */
static cJSON *create_report(const struct report_runs *runs)
{
    const struct report_run *single = runs->n == 1 ? runs->item : NULL;
    cJSON *document = !single ? document_create(FORMS_TITLE "%zu runs", runs->n)
                              : document_create(*single->unfinished ? FORMS_TITLE "%s (%s)" : FORMS_TITLE "%s",
                                                single->label, single->unfinished);
    add_busy(document, runs);
    add_analyses(document, runs);
    add_needed_links(document, runs);
    add_each(document, runs, 6, section_add_members);
    section_add_runs(document, runs);
    if (single)
        add_printed(document, single);
    return document;
}

/* Creates the report on a sweep; returns NULL, reported, if a run in the directory is not a complete run of a sweep. */
static cJSON *create_sweep(const char *directory, const struct report_runs *runs)
{
    struct grid grid = {0};
    int status = 0;
    cJSON *document = NULL;
    if (runs->n == 1 && *runs->item->problem && !strcmp(runs->item->saved.directory, directory))
        status = error_report("%s: no run in it is complete", directory);
    for (size_t i = 0; i < runs->n && !status; i++)
        status = grid_add(&grid, &runs->item[i]);
    if (!status) {
        grid_judge(&grid);
        document = document_create(FORMS_TITLE "%s, a sweep of %zu run%s", directory, runs->n, text_plural(runs->n));
        add_busy(document, runs);
        section_add_grid(document, &grid);
    }
    grid_destroy(&grid);
    return document;
}

/* ---- the command ---- */

/* Prints one line for each run that cannot be read, with the reason. Returns the number of runs that can be read. */
static size_t count_read(const struct report_runs *runs)
{
    size_t n = 0;
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++)
        if (*run->problem) {
            error_report("%s", run->problem);
            error_print();
        } else
            n++;
    return n;
}

/* Writes metrics.csv of all runs, even of unreadable ones; prints errors. Returns 0 if there were no errors. */
static int write_metrics(const struct report_runs *runs)
{
    int status = 0;
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++) {
        files_remove_left(run->saved.directory);
        status |= results_write_metrics_csv(run->saved.directory);
        error_print();
    }
    return status;
}

/* Prints and writes the report on runs or a sweep. Returns 0; or -1, reported, also if a run could not be read. */
static int report_runs(struct report *report, int is_sweep)
{
    const struct report_runs *runs = &report->runs;
    size_t read = is_sweep ? runs->n : count_read(runs);
    for (size_t i = 0; i < runs->n && !is_sweep; i++)
        run_read_blocks(&report->runs.item[i]);
    report->runs.item->is_alone = runs->n == 1;
    report->document = is_sweep ? create_sweep(report->directory->path, runs) : read ? create_report(runs) : NULL;
    int status = report->document && !report_write(report) && read == runs->n ? 0 : -1;
    cJSON_Delete(report->document);
    return status;
}

/* Rejects a run that is named twice, since it would count twice. */
static int check_twice(const struct report_runs *runs)
{
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++)
        for (const struct report_run *r = runs->item; r < run; r++)
            if (!*run->problem && !*r->problem && r->saved.device == run->saved.device &&
                r->saved.inode == run->saved.inode)
                return error_report("%s and %s are the same run; name each run once", r->saved.directory,
                                    run->saved.directory);
    return 0;
}

static int report_all(struct report *report)
{
    int sweeps = 0;
    for (size_t i = 0; i < report->directories; i++) {
        runs_add(&report->runs, report->directory[i].label, report->directory[i].path);
        sweeps += grid_is_in(report->directory[i].path);
    }
    int status = sweeps && report->directories > 1
                     ? error_report("a sweep (launch/sweep.sh) is reported alone: name it as the only directory")
                 : report->metrics            ? write_metrics(&report->runs)
                 : check_twice(&report->runs) ? -1
                                              : report_runs(report, sweeps);
    runs_destroy(&report->runs);
    return status;
}

static int check_usage(void *context)
{
    const struct report *report = context;
    if (!report->directories)
        return error_report("no directory: name the result directories of runs, or a sweep; see --help");
    if (forms_check_printed(report_forms, report->form, FORMS))
        return -1;
    const char *path = strlen(report->output) > strlen(report->png) ? report->output : report->png;
    if (strlen(path) > FORMS_DIRECTORY)
        return error_report("--%s %.100s...: the path is longer than %d characters",
                            path == report->png ? "png" : "output", path, FORMS_DIRECTORY);
    return 0;
}

static const char usage[] =
    "Usage: " REPORT_SYNOPSIS " [OPTION VALUE]...\n\n"
    "Reports where the time of runs goes, from their result directories. One run: bottlenecks, where the time of a "
    "step goes, and what the run printed. Several runs, such as on 1, 2 and 4 nodes: the costliest bottlenecks, "
    "speed-up and efficiency, where efficiency is lost, bucket sizes, and what to do. LABEL=DIR names the runs in DIR; "
    "a directory may hold many runs. A sweep (launch/sweep.sh): the step times of all points, the best bucket size, "
    "and the points that tie with it.\n";

int run_report(int argc, char *argv[])
{
    struct report report = {.directory = allocate((size_t)argc, sizeof *report.directory)};
    struct option_table table = {.word = take_word, .check = check_usage, .context = &report};
    option_table_add(&table, (struct option_section){
                                 .title = "Options", OPTION_ROWS(rows), .base = &report, .without = "metrics-csv"});
    option_table_add(&table, option_config_section());
    int printed = option_table_begin(&table, usage, OPTION_STATUSES, argc, argv);
    int status = printed < 0 ? STATUS_USAGE : !printed && report_all(&report) ? STATUS_FAILED : STATUS_OK;
    free(report.directory);
    return status;
}
