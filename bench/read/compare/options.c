/* options.c - parses the command line of `ddpbench compare`. */
#include "compare/options.h"

#include "compare/compare.h"
#include "kernels/error.h"

#include <stdlib.h>

#define FIELD(field) offsetof(struct compare_options, field)

/* Appends a path to options->directory (as long as argv), and increments *n. Returns 0; or -1, reported, for "". */
static int add_directory(struct compare_options *options, size_t *n, const char *word)
{
    options->directory[options->baselines + options->candidates] = word;
    ++*n;
    return *word ? 0
                 : error_report(
                       "an empty word stands where a result directory is expected, as a baseline or for --candidate");
}

static int take_word(void *context, const char *word)
{
    struct compare_options *options = context;
    return add_directory(options, options->candidates ? &options->candidates : &options->baselines, word);
}

/* Adds the directory given to --candidate, which may be given several times. */
static int take_candidate(const struct option *option, const char *text, void *field)
{
    struct compare_options *options = field;
    (void)option;
    return add_directory(options, &options->candidates, text);
}

static const struct option_kind candidates = {VALUE_TEXT, "VALUE", take_candidate, NULL};

/* clang-format off */
static const struct option rows[] = {
    {.name = "candidate", .common = 1, .repeats = 1, .value_name = "PATH", .kind = &candidates, .offset = 0,
     .help = "directories of the runs to judge; those before it are baselines"},
    {.name = "tolerance", .common = 1, .kind = &option_percent, .offset = FIELD(tolerance), .initial = "5", .high = 1000,
     .help = "how much worse is accepted, in percent"},
    {.name = "floor", .kind = &option_percent, .offset = FIELD(floor), .initial = "10", .high = 1000,
     .help = "with too few runs for a test, a figure counts only if it is worse by this much more than the tolerance, in percent"},
    {.name = "metrics", .common = 1, .kind = &option_text, .offset = FIELD(metrics), .initial = "",
     .help = "figures to judge, such as step,backward_pass; default: every step, or the time of every size"},
    {.name = "allow", .common = 1, .kind = &option_text, .offset = FIELD(allow), .initial = "",
     .help = "settings in which the runs may differ, such as threads,data; all: every one"},
    {.name = "label", .common = 1, .kind = &option_text, .offset = FIELD(label), .initial = "",
     .help = "REFERENCE,CANDIDATE: names of the two columns; shows all other figures side by side, too"},
    {.name = "all", .kind = &option_flag, .offset = FIELD(all), .help = "show every size and figure, also those that are ok or unseen"},
    {.name = "json", .common = 1, .kind = &option_form, .offset = FIELD(form[COMPARE_JSON]), .initial = "",
     .help = "file to write the comparison to; - prints it instead of the table"},
    {.name = "junit", .common = 1, .kind = &option_form, .offset = FIELD(form[COMPARE_JUNIT]), .initial = "",
     .help = "file to write the comparison to as JUnit's XML, for CI: a test case for each judged figure; - prints it instead of the table"},
};
/* clang-format on */

static int take_names(struct compare_options *o)
{
    const struct option label = {.name = "label"};
    struct option_list list = {label.name, *o->label ? o->label : "baseline,candidate", 0};
    const char *name;
    for (int i = 0; i < 2; i++) {
        if (option_next_word(&list, o->name[i], sizeof o->name[i]) <= 0 || (i && list.text[list.at]))
            return error_report("--label '%.100s': expected two names, REFERENCE,CANDIDATE", o->label);
        if (option_label.parse(&label, o->name[i], &name))
            return -1;
    }
    return 0;
}

static const char usage[] =
    "Usage: " COMPARE_SYNOPSIS " [OPTION VALUE]...\n"
    "       ddpbench compare BASELINE CANDIDATE [OPTION VALUE]...\n\n"
    "Judges whether runs of any mode got slower, from their result directories. Run baseline and candidate in turn, 5 "
    "times or more each: a difference counts as a regression when it is significant, given the variation from run to "
    "run, and a figure is ok only if a slowdown of more than the tolerance would have been seen.\n";
static const char statuses[] = "\nExit status, the first that holds:\n"
                               "  2 the command line is wrong\n  1 something cannot be read or written\n  6 "
                               "incomparable\n  3 regressed\n  5 missing\n"
                               "  4 ambiguous or unseen\n  0 ok\n";

static int check_usage(void *context)
{
    struct compare_options *options = context;
    if (!options->candidates && options->baselines == 2) /* two directories, without --candidate */
        options->baselines = options->candidates = 1;
    if (!options->baselines)
        return error_report("no baseline: name the result directories of baseline runs before --candidate; see --help");
    if (!options->candidates)
        return error_report("no candidate: name the result directories to judge after --candidate; see --help");
    return take_names(options);
}

int compare_options_parse(struct compare_options *options, int argc, char *const argv[])
{
    struct option_table table = {.word = take_word, .check = check_usage, .context = options};
    *options = (struct compare_options){.directory = allocate((size_t)argc, sizeof *options->directory)};
    option_table_add(&table, (struct option_section){.title = "Options", OPTION_ROWS(rows), .base = options});
    return option_table_begin(&table, usage, statuses, argc, argv);
}

void compare_options_destroy(struct compare_options *options)
{
    free(options->directory);
    *options = (struct compare_options){0};
}
