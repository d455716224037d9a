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

/* Takes a directory, or LABEL=DIR if no file has that name; options->directory has room for all words. */
static int take_word(void *context, const char *word)
{
    struct report_options *options = context;
    struct named_directory *d = &options->directory[options->directories++];
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

/* ---- files ---- */

struct output {
    char path[FILES_PATH + 160], *text;
    size_t length;             /* of the text */
    const char *option, *mark; /* for files_check_path; option NULL: none named the file */
};

struct outputs {
    struct output *item; /* [n], owned */
    size_t n;
};

/* Appends the file directory/name, whose text the caller prints and ends (text_end) before it appends another. */
static FILE *begin_output(struct outputs *all, const char *option, const char *mark, const char *directory,
                          const char *name)
{
    all->item = allocate_more(all->item, all->n, sizeof *all->item);
    struct output *output = &all->item[all->n++];
    *output = (struct output){.option = option, .mark = mark};
    if (*directory)
        snprintf(output->path, sizeof output->path, "%.*s/%.150s", FILES_PATH, directory, name);
    else /* a path that an option named; one that is cut off here is longer than FILES_PATH, and refused */
        snprintf(output->path, sizeof output->path, "%s", name);
    return text_begin(&output->text, &output->length);
}

static void add_pictures(struct outputs *all, const char *option, const char *directory, const cJSON *document)
{
    const cJSON *block;
    char name[150];
    cJSON_ArrayForEach(block, cJSON_GetObjectItemCaseSensitive(document, "blocks"))
    {
        if (strcmp(json_string(block, "kind"), "picture") != 0)
            continue;
        snprintf(name, sizeof name, "%.140s.svg", json_string(block, "name"));
        FILE *out = begin_output(all, option, SVG_MARK, directory, name);
        fputs(json_string(block, "svg"), out);
        text_end(out);
    }
}

static void add_form(struct outputs *all, const char *option, const struct report_form *form, const char *directory,
                     const char *name, const cJSON *document, const struct report_runs *runs)
{
    FILE *out = begin_output(all, option, form->mark, directory, name);
    form->print(out, document, runs);
    text_end(out);
}

/* Adds the forms that other options name. Returns 0; or -1, reported: one is a file of a run. */
static int add_named_forms(struct outputs *all, const struct report_options *o, const cJSON *document,
                           const struct report_runs *runs)
{
    for (int i = 0; i < FORMS; i++) {
        const struct report_form *form = &report_forms[i];
        if (!*o->form[i] || !strcmp(o->form[i], "-"))
            continue;
        for (size_t r = 0; r < runs->n; r++)
            if (results_check_apart(form->option, o->form[i], runs->item[r].directory))
                return -1;
        add_form(all, form->option, form, "", o->form[i], document, runs);
    }
    return 0;
}

/* Checks that all files can be written, then writes them. Returns 0; or -1, reported: files that were written before
 * the failure stay. */
static int write_outputs(const struct outputs *all)
{
    int status = 0;
    for (const struct output *o = all->item; o < all->item + all->n && !status; o++)
        status = files_check_path(o->option, o->path, o->mark);
    for (const struct output *o = all->item; o < all->item + all->n && !status; o++)
        status = files_replace_path(o->option, o->path, o->mark, o->text);
    return status;
}

enum { OUTPUT = FILES_PATH - 64 }; /* longest path of --output */

/* Writes the outputs, and the files that options name. Returns 0; or -1, reported. */
static int write_files(struct outputs *all, const struct report_options *o, const cJSON *document,
                       const struct report_runs *runs)
{
    char pictures[FILES_PATH];
    int lock = -1;
    if (add_named_forms(all, o, document, runs))
        return -1;
    if (!*o->output)
        return write_outputs(all);
    snprintf(pictures, sizeof pictures, "%.*s/pictures", OUTPUT, o->output);
    add_pictures(all, "output", pictures, document);
    for (const struct report_form *form = report_forms; form < report_forms + FORMS; form++)
        add_form(all, "output", form, o->output, form->file, document, runs);
    size_t there = files_there(pictures);
    int made = !files_make_directories("output", o->output);
    int locked_out = made && files_lock_directory("output", o->output, &lock);
    int failed = !made || locked_out || files_make_directories("output", pictures) || write_outputs(all);
    if (!locked_out)
        files_remove_empty(pictures, there);
    if (lock >= 0)
        close(lock);
    return failed ? -1 : 0;
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

/* Prints why runs cannot be read, one line each. Returns how many can be read. */
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

/* The report on a sweep, which also writes sweep.csv and pictures to its own directory. NULL, reported: its runs cannot
 * be reported. */
static cJSON *create_sweep(struct outputs *all, const char *directory, const struct report_runs *runs)
{
    struct grid grid = {0};
    int status = 0;
    cJSON *document = NULL;
    if (runs->n == 1 && *runs->item->problem && !strcmp(runs->item->directory, directory))
        status = error_report("%s: no run in it is complete", directory);
    for (size_t i = 0; i < runs->n && !status; i++)
        status = grid_add(&grid, &runs->item[i]);
    if (!status) {
        grid_judge(&grid);
        FILE *csv = begin_output(all, NULL, GRID_CSV_COLUMNS, directory, "sweep.csv");
        grid_print_csv(csv, &grid);
        text_end(csv);
        document = document_create(ANALYSIS_TITLE "%s, a sweep of %zu run%s", directory, runs->n, text_plural(runs->n));
        section_add_grid(document, &grid);
        files_remove_left(directory);
        add_pictures(all, NULL, directory, document);
    }
    grid_destroy(&grid);
    return document;
}

/* Prints the form that stands in place of the text; or the text, which for a single run begins with what it printed. */
static void print_report(const struct report_options *o, const cJSON *document, const struct report_runs *runs,
                         const char *words)
{
    for (int i = 0; i < FORMS; i++)
        if (!strcmp(o->form[i], "-")) {
            report_forms[i].print(stdout, document, runs);
            return;
        }
    text_print_lines(stdout, words);
}

/* Reports the runs, or the sweep. Returns 0; UNREAD if some could not be read; or -1, reported. */
static int report_runs(const struct report_options *o, const struct report_runs *runs, int is_sweep)
{
    struct outputs outputs = {0};
    char *words;
    size_t length, read = is_sweep ? runs->n : count_read(runs);
    const struct report_run *single = runs->n == 1 && !is_sweep ? runs->item : NULL;
    cJSON *document = is_sweep ? create_sweep(&outputs, o->directory->path, runs) : read ? analysis_create(runs) : NULL;
    if (!document)
        return -1;
    FILE *out = text_begin(&words, &length);
    if (single)
        print_run(out, single);
    document_print_text(out, document);
    text_end(out);
    if (single)
        analysis_add_run(document, single);
    int status = write_files(&outputs, o, document, runs);
    if (!status)
        print_report(o, document, runs, words);
    cJSON_Delete(document);
    for (size_t i = 0; i < outputs.n; i++)
        free(outputs.item[i].text);
    free(outputs.item);
    free(words);
    return status ? status : read < runs->n ? UNREAD : 0;
}

static int report_all(const struct report_options *o)
{
    struct report_runs runs = {0};
    int sweeps = 0;
    for (size_t i = 0; i < o->directories; i++) {
        runs_add(&runs, o->directory[i].label, o->directory[i].path);
        sweeps += grid_is_in(o->directory[i].path);
    }
    int status = sweeps && o->directories > 1
                     ? error_report("a sweep (launch/sweep.sh) is reported alone: name it as the only directory")
                 : o->metrics ? write_metrics(&runs)
                              : report_runs(o, &runs, sweeps);
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
    struct option_value file[FORMS];
    for (int i = 0; i < FORMS; i++)
        file[i] = (struct option_value){report_forms[i].option, o->form[i]};
    return option_check_files(file, FORMS);
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
