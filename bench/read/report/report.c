/* report.c - `ddpbench report`: reads runs, prints the report, and writes its files. */
#include "report/report.h"

#include "base/files.h"
#include "base/json.h"
#include "base/option_table.h"
#include "base/text.h"
#include "base/version.h"
#include "chart/chart.h"
#include "document/document.h"
#include "kernels/error.h"
#include "report/analysis.h"
#include "report/forms.h"
#include "report/sections.h"
#include "results/results.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OK = 0, FAILED = 1, USAGE = 2 };

struct named_directory {
    char label[RUN_LABEL]; /* "": none was given */
    const char *path;
};

struct report_options {
    struct named_directory *directory; /* [directories] */
    size_t directories;
    const char *output;
    const char *form[FORMS]; /* path of each; "": none */
    int metrics;             /* --metrics-csv */
};

/* clang-format off */
static const struct option rows[] = {
    {.name = "output", .common = 1, .kind = &option_path, .offset = offsetof(struct report_options, output),
     .initial = "", .help = "directory to write the whole report to: BOTTLENECK_ANALYSIS.md, report.html, report.json, "
                            "report.csv, report.prom, report.xml and pictures/"},
    {.name = "html", .common = 1, .kind = &option_path, .offset = offsetof(struct report_options, form[FORM_HTML]), .initial = "",
     .help = "file to write the report to, as one HTML page that needs no other file; - prints it in place of the text"},
    {.name = "markdown", .common = 1, .kind = &option_path, .offset = offsetof(struct report_options, form[FORM_MARKDOWN]),
     .initial = "", .help = "the same as Markdown"},
    {.name = "json", .common = 1, .kind = &option_path, .offset = offsetof(struct report_options, form[FORM_JSON]), .initial = "",
     .help = "the same as JSON"},
    {.name = "csv", .common = 1, .kind = &option_path, .offset = offsetof(struct report_options, form[FORM_CSV]), .initial = "",
     .help = "file to write the figures of all runs to, as comma-separated values; - prints them in place of the text"},
    {.name = "prometheus", .common = 1, .kind = &option_path, .offset = offsetof(struct report_options, form[FORM_PROMETHEUS]),
     .initial = "", .help = "the same in Prometheus' text format, for the textfile collector of node_exporter"},
    {.name = "junit", .common = 1, .kind = &option_path, .offset = offsetof(struct report_options, form[FORM_JUNIT]),
     .initial = "", .help = "file to write JUnit's XML to: a test case for each run, failed if it was interrupted, and for "
                            "each bottleneck, failed if its level is high"},
    {.name = "metrics-csv", .common = 1, .kind = &option_flag, .offset = offsetof(struct report_options, metrics),
     .help = "only write metrics.csv in each run's directory, from the steps in it: for runs that were killed"},
};
/* clang-format on */

/* The length of the label in LABEL=DIR; 0: the word has no label, or is the name of a file itself. */
static size_t label_length(const char *word)
{
    struct stat status;
    size_t n = 0;
    while (isalnum((unsigned char)word[n]) || (word[n] && strchr("_-+.", word[n])))
        n++;
    return n < RUN_LABEL && word[n] == '=' && stat(word, &status) ? n : 0;
}

/* Whether the word is LABEL=DIR with an invalid label, rather than a path with a = in it. */
static int has_bad_label(const char *word)
{
    struct stat status;
    size_t n = strcspn(word, "=/");
    return n && word[n] == '=' && word[n + 1] && stat(word, &status);
}

/* Takes a directory; options->directory has room for all words. */
static int take_word(void *context, const char *word)
{
    struct report_options *options = context;
    struct named_directory *d = &options->directory[options->directories];
    size_t n = label_length(word);
    snprintf(d->label, sizeof d->label, "%.*s", (int)n, word);
    d->path = n ? word + n + 1 : word;
    if (!n && has_bad_label(word))
        return error_report("'%s': a label has only letters, digits and -_+., and at most %zu of them", word,
                            sizeof d->label - 1);
    if (!*d->path)
        return error_report("'%s': expected a result directory, or LABEL=DIR", word);
    if (strlen(d->path) > FILES_PATH / 2)
        return error_report("%.100s...: the path is longer than %d characters", d->path, FILES_PATH / 2);
    options->directories++;
    return 0;
}

/* ---- files ---- */

enum { OUTPUT = FILES_PATH - 64 }; /* longest path of --output */

/* Prints a form to a file that an option names, which may exist if it has the mark. Returns 0; or -1, reported. */
static int print_file(const char *option, const char *path, const char *mark, const struct report_form *form,
                      const cJSON *document, const struct report_runs *runs)
{
    char *text;
    size_t length;
    FILE *out = text_begin(&text, &length);
    form->print(out, document, runs);
    text_end(out);
    int status = files_replace_path(option, path, mark, text);
    free(text);
    return status;
}

/* Writes the pictures of a document to a directory that an option named (NULL: none), or checks that it can. Returns 0;
 * or -1, reported. */
static int put_pictures(const char *option, const char *directory, const cJSON *document, int writes)
{
    const cJSON *block;
    char path[FILES_PATH + 160];
    cJSON_ArrayForEach(block, cJSON_GetObjectItemCaseSensitive(document, "blocks"))
    {
        if (strcmp(json_string(block, "kind"), "picture") != 0)
            continue;
        if (files_make_directories("output", directory))
            return -1;
        snprintf(path, sizeof path, "%.*s/%.140s.svg", FILES_PATH, directory, json_string(block, "name"));
        if (writes ? files_replace_path(option, path, SVG_MARK, json_string(block, "svg"))
                   : files_check_path(option, path, SVG_MARK))
            return -1;
    }
    return 0;
}

/* Writes all pictures and forms to the directory of --output, or checks that it can. Returns 0; or -1, reported. */
static int put_files(const char *directory, const cJSON *document, const struct report_runs *runs, int writes)
{
    char path[FILES_PATH + 160];
    snprintf(path, sizeof path, "%.*s/pictures", OUTPUT, directory);
    if (put_pictures("output", path, document, writes))
        return -1;
    for (const struct report_form *form = report_forms; form < report_forms + FORMS; form++) {
        /* report.prom of an older version has no mark, but is recognised by its name and its first metric */
        const char *mark = form == &report_forms[FORM_PROMETHEUS] ? "# HELP ddpbench_run_done" : form->mark;
        snprintf(path, sizeof path, "%.*s/%s", OUTPUT, directory, form->file);
        if (writes ? print_file("output", path, mark, form, document, runs) : files_check_path("output", path, mark))
            return -1;
    }
    return 0;
}

/* Checks the paths of all pictures and forms, then writes them. Returns 0; or -1, reported: files that were written
 * before the failure stay. */
static int write_directory(const char *directory, const cJSON *document, const struct report_runs *runs)
{
    int lock = -1;
    char pictures[FILES_PATH];
    snprintf(pictures, sizeof pictures, "%.*s/pictures", OUTPUT, directory);
    size_t there = files_there(pictures);
    int made = !files_make_directories("output", directory);
    int failed = !made || files_lock_directory("output", directory, &lock) || put_files(directory, document, runs, 0) ||
                 put_files(directory, document, runs, 1);
    if (failed && (!made || lock >= 0)) /* unless another report has the directory */
        files_remove_empty(pictures, there);
    if (lock >= 0)
        close(lock);
    return failed ? -1 : 0;
}

/* Writes the forms that options name. Sets *instead if one was printed in place of the text. Returns 0; or -1,
 * reported. */
static int write_forms(const struct report_options *o, const cJSON *document, const struct report_runs *runs,
                       int *instead)
{
    int status = *o->output ? write_directory(o->output, document, runs) : 0;
    for (int i = 0; i < FORMS && !status; i++)
        if (!strcmp(o->form[i], "-")) {
            report_forms[i].print(stdout, document, runs);
            *instead = 1;
        } else if (*o->form[i])
            status =
                print_file(report_forms[i].option, o->form[i], report_forms[i].mark, &report_forms[i], document, runs);
    return status;
}

/* ---- the command ---- */

enum { UNREAD = 1 };

/* Prints time, version and command line of a run, and what the run printed. */
static void print_run(FILE *out, const struct report_run *run)
{
    const cJSON *word;
    fprintf(out, "%s: %s of %s, %s %s%s%s\n ", run->directory, run->mode, run->time, json_string(run->run, "program"),
            json_string(run->run, "version"), *run->unfinished ? ", " : "", run->unfinished);
    cJSON_ArrayForEach(word, cJSON_GetObjectItemCaseSensitive(run->run, "argv"))
    {
        if (cJSON_IsString(word))
            text_print_word(out, word->valuestring);
    }
    fprintf(out, "\n\n");
    results_print_summary(out, run->summary);
    fputc('\n', out);
}

/* Prints why runs cannot be read, one line each; a single line if none of several below one directory can. Returns how
 * many can be read. */
static size_t count_read(const struct report_options *o, const struct report_runs *runs)
{
    const struct report_run *run = runs->item, *end = run + runs->n;
    size_t n = 0;
    for (; run < end; run++)
        n += !*run->problem;
    if (!n && runs->n > 1 && o->directories == 1) {
        error_report("none of %zu runs can be read; the first: %s", runs->n, runs->item->problem);
        error_print();
        return n;
    }
    for (run = runs->item; run < end; run++)
        if (*run->problem) {
            error_report("%s", run->problem);
            error_print();
        }
    return n;
}

/* Reports the runs. Returns 0; UNREAD if some could not be read; or -1, reported. */
static int report_runs(const struct report_options *o, const struct report_runs *runs, FILE *out, int *instead)
{
    size_t read = count_read(o, runs);
    if (!read)
        return -1;
    cJSON *document = analysis_create(runs);
    if (runs->n == 1)
        print_run(out, runs->item);
    document_print_text(out, document);
    if (runs->n == 1)
        analysis_add_run(document, runs->item);
    int status = write_forms(o, document, runs, instead);
    cJSON_Delete(document);
    return status ? status : read < runs->n ? UNREAD : 0;
}

/* Writes metrics.csv of all runs, also of those that cannot be reported. Returns 0; or not 0, reported. */
static int write_metrics(const struct report_runs *runs)
{
    int status = 0;
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++) {
        files_remove_left(run->directory);
        status |= results_write_metrics_csv(run->directory);
        error_print();
    }
    return status;
}

/* Reports a sweep, and writes sweep.csv and its pictures to its own directory. Returns 0; or -1, reported. */
static int report_sweep(const struct report_options *o, const struct report_runs *runs, FILE *out, int *instead)
{
    const char *directory = o->directory->path;
    struct grid grid = {0};
    char path[FILES_PATH + 16], title[FILES_PATH + 100], *csv;
    size_t length;
    int status = 0;
    if (runs->n == 1 && *runs->item->problem && !strcmp(runs->item->directory, directory))
        return error_report("%s: no run in it is complete", directory);
    for (size_t i = 0; i < runs->n && !status; i++)
        status = grid_add(&grid, &runs->item[i]);
    if (status) {
        grid_destroy(&grid);
        return -1;
    }
    grid_judge(&grid);
    FILE *figures = text_begin(&csv, &length);
    grid_print_csv(figures, &grid);
    text_end(figures);
    snprintf(title, sizeof title, ANALYSIS_TITLE "%s, a sweep of %zu run%s", directory, runs->n, text_plural(runs->n));
    snprintf(path, sizeof path, "%s/sweep.csv", directory);
    cJSON *document = document_create(title);
    section_add_grid(document, &grid);
    document_print_text(out, document);
    files_remove_left(directory);
    status = files_replace_path(NULL, path, GRID_CSV_COLUMNS, csv) || put_pictures(NULL, directory, document, 1)
                 ? -1
                 : write_forms(o, document, runs, instead);
    cJSON_Delete(document);
    grid_destroy(&grid);
    free(csv);
    return status;
}

/* Checks that each file that an option names can be written, and is no file of a run. Returns 0; or -1, reported. */
static int check_files(const struct report_options *o, const struct report_runs *runs)
{
    for (int i = 0; i < FORMS; i++) {
        const struct report_form *form = &report_forms[i];
        const char *path = o->form[i];
        if (!*path || !strcmp(path, "-"))
            continue;
        for (size_t r = 0; r < runs->n; r++)
            if (results_check_apart(form->option, path, runs->item[r].directory))
                return -1;
        if (files_check_path(form->option, path, form->mark))
            return -1;
    }
    return 0;
}

static int report_all(const struct report_options *o)
{
    struct report_runs runs = {0};
    char *words = NULL;
    size_t length = 0, sweeps = 0;
    int status = 0, instead = 0;
    FILE *out = text_begin(&words, &length);
    for (size_t i = 0; i < o->directories; i++) {
        runs_add(&runs, o->directory[i].label, o->directory[i].path);
        sweeps += (size_t)grid_is_in(o->directory[i].path);
    }
    if (sweeps && o->directories > 1)
        status = error_report("a sweep (launch/sweep.sh) is reported alone: name it as the only directory");
    else if (check_files(o, &runs))
        status = -1;
    else if (o->metrics)
        status = write_metrics(&runs);
    else
        status = sweeps ? report_sweep(o, &runs, out, &instead) : report_runs(o, &runs, out, &instead);
    text_end(out);
    if (status >= 0 && !instead)
        text_print_lines(stdout, words);
    free(words);
    runs_destroy(&runs);
    return status;
}

/* Checks what the table of options does not. Returns 0; or -1, reported. */
static int check_usage(const struct report_options *o)
{
    if (!o->directories)
        return error_report("no directory: name the result directories of runs, or a sweep; see --help");
    if (strlen(o->output) > OUTPUT)
        return error_report("--output %.100s...: the path is longer than %d characters", o->output, OUTPUT);
    for (int i = 0; i < FORMS; i++)
        for (int j = 0; j < i; j++)
            if (*o->form[i] && !strcmp(o->form[i], o->form[j]))
                return error_report("--%s %s and --%s %s: both name the same output; name another for one of them",
                                    report_forms[j].option, o->form[j], report_forms[i].option, o->form[i]);
    return 0;
}

static const char about[] =
    "Reports where the time of runs goes, from their result directories. One run: what it printed, where the time of\n"
    "a step goes, and bottlenecks. Several runs, such as on 1, 2 and 4 nodes: the costliest bottlenecks, speed-up and\n"
    "efficiency, where efficiency is lost, bucket sizes, and what to do. LABEL=DIR names the runs in DIR; a directory\n"
    "may hold many runs. A sweep (launch/sweep.sh): the step times of all points, the best bucket size, and the\n"
    "points that are not significantly slower; a sweep's report also writes sweep.csv and pictures to DIR.\n";

int run_report(int argc, char *argv[])
{
    struct report_options options = {.directory = allocate((size_t)argc, sizeof *options.directory)};
    struct option_table table = {.word = take_word, .context = &options};
    int status = OK;
    option_table_add(&table, (struct option_section){
                                 .title = "Options", OPTION_ROWS(rows), .base = &options, .without = "metrics-csv"});
    if (option_table_parse(&table, argc, argv))
        status = USAGE;
    else if (table.help) {
        printf("Usage: " REPORT_SYNOPSIS " [OPTION VALUE]...\n\n%s", about);
        option_table_help(stdout, &table, table.help);
        printf("\nExit status: 0 success, 1 something cannot be read or written, 2 the command line is wrong.\n");
    } else if (table.version)
        printf("ddpbench %s\n", version_text());
    else if (check_usage(&options))
        status = USAGE;
    else
        status = report_all(&options) ? FAILED : OK;
    if (status)
        error_print();
    free(options.directory);
    return status;
}
