/* report.c - `ddpbench report`: prints what runs found, again from their directories. */
#include "report/report.h"

#include "base/files.h"
#include "base/json.h"
#include "base/option_table.h"
#include "base/text.h"
#include "base/version.h"
#include "kernels/error.h"
#include "report/sweep.h"
#include "results/results.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, FAILED = 1, USAGE = 2 };

struct report_options {
    const char **directory; /* [directories], into argv */
    size_t directories;
    const char *csv;
};

/* clang-format off */
static const struct option rows[] = {
    {.name = "csv", .common = 1, .kind = &option_path, .offset = offsetof(struct report_options, csv), .initial = "",
     .help = "file to write the figures of all runs to, as comma-separated values; - prints them instead of words"},
};
/* clang-format on */

/* argv is long enough for all of its words. */
static int take_word(void *context, const char *word)
{
    struct report_options *options = context;
    if (!*word)
        return error_report("an empty word stands where a result directory is expected");
    if (strlen(word) > FILES_PATH / 2)
        return error_report("%.100s...: the path is longer than %d characters", word, FILES_PATH / 2);
    options->directory[options->directories++] = word;
    return 0;
}

/* ---- a run ---- */

static void print_run(FILE *out, const struct saved_run *saved)
{
    const cJSON *word;
    fprintf(out, "%s: %s of %s, %s %s\n ", saved->directory, json_string(saved->run, "mode"),
            json_string(saved->run, "time"), json_string(saved->run, "program"), json_string(saved->run, "version"));
    cJSON_ArrayForEach(word, cJSON_GetObjectItemCaseSensitive(saved->run, "argv"))
    {
        if (cJSON_IsString(word))
            text_print_word(out, word->valuestring);
    }
    fprintf(out, "\n\n");
    results_print_summary(out, saved->summary);
}

static int report_directory(FILE *out, FILE *figures, const char *directory)
{
    struct saved_run saved = {0};
    if (sweep_is(directory))
        return sweep_report(out, directory, figures);
    int status = results_read(&saved, directory);
    if (!status) {
        print_run(out, &saved);
        results_print_csv(figures, &saved);
    }
    saved_run_destroy(&saved);
    return status;
}

/* ---- all of them ---- */

/* Nothing is printed of directories of which one cannot be read, and nothing written into a sweep's. */
static int report_all(const struct report_options *options)
{
    int status = 0, instead = !strcmp(options->csv, "-");
    for (size_t i = 0; i < options->directories && !status; i++)
        if (!sweep_is(options->directory[i])) { /* a sweep is read as a whole before anything is written into it */
            struct saved_run saved;
            status = results_read(&saved, options->directory[i]);
            saved_run_destroy(&saved);
        }
    if (status)
        return -1;
    char *words = NULL, *csv = NULL;
    size_t length = 0, csv_length = 0;
    FILE *out = text_begin(&words, &length), *figures = text_begin(&csv, &csv_length);
    fprintf(figures, "directory,label," FIGURES_CSV_COLUMNS "\n");
    for (size_t i = 0; i < options->directories && !status; i++) {
        fprintf(out, "%s", i ? "\n" : "");
        status = report_directory(out, figures, options->directory[i]);
    }
    text_end(out);
    text_end(figures);
    if (!status && *options->csv && !instead)
        status = files_replace_path("csv", options->csv, csv);
    if (!status) {
        fputs(instead ? csv : words, stdout);
        status = files_flush_stdout();
    }
    free(words);
    free(csv);
    return status;
}

int run_report(int argc, char *argv[])
{
    struct report_options options = {.directory = allocate((size_t)argc, sizeof *options.directory)};
    struct option_table table = {.word = take_word, .context = &options};
    int status = OK;
    option_table_add(&table, (struct option_section){.title = "Options", OPTION_ROWS(rows), .base = &options});
    if (option_table_parse(&table, argc, argv))
        status = USAGE;
    else if (table.help) {
        printf(
            "Usage: " REPORT_SYNOPSIS " [OPTION VALUE]...\n\n"
            "Prints what a run found, again from its result directory: when it was run, with what command, and the\n"
            "words it printed. Of a sweep (launch/sweep.sh): the step times of all points, the best bucket size, and\n"
            "what is not significantly different from it; also writes sweep.csv there, and data for the pictures.\n");
        option_table_help(stdout, &table, table.help);
        printf("\nExit status: 0 fine, 1 something cannot be read or written, 2 the command line is wrong.\n");
    } else if (table.version)
        printf("ddpbench %s\n", version_text());
    else if (options.directories)
        status = report_all(&options) ? FAILED : OK;
    else {
        error_report("no directory: name the result directories of runs or sweeps; see --help");
        status = USAGE;
    }
    if (status)
        fprintf(stderr, "ddpbench: %s\n", error_text());
    free(options.directory);
    return status;
}
