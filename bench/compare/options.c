/* options.c - the command line of `ddpbench compare`. */
#include "compare/options.h"

#include "base/option_table.h"
#include "kernels/error.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define FIELD(field) offsetof(struct compare_options, field)

/* --candidate: as many directories as it is given. argv is long enough for all of its words. */
static int take_candidate(const struct option *option, const char *text, void *field)
{
    struct compare_options *options = field;
    (void)option;
    options->candidate[options->candidates++] = text;
    return 0;
}

static const struct option_kind candidates = {VALUE_TEXT, take_candidate, NULL};

/* clang-format off */
static const struct option rows[] = {
    {.name = "candidate", .common = 1, .kind = &candidates, .offset = 0,
     .help = "directories of the runs to judge; those before it are baselines"},
    {.name = "tolerance", .common = 1, .kind = &option_real, .offset = FIELD(tolerance), .initial = "5", .high = 1000,
     .help = "how much worse is accepted, in percent"},
    {.name = "floor", .kind = &option_real, .offset = FIELD(floor), .initial = "10", .high = 1000,
     .help = "how far beyond the tolerance a difference counts as one without statistics, in percent; see below"},
    {.name = "metrics", .common = 1, .kind = &option_text, .offset = FIELD(metrics), .initial = "",
     .help = "figures to judge, such as step,backward_pass; default: every step, or the time of every size"},
    {.name = "allow", .common = 1, .kind = &option_text, .offset = FIELD(allow), .initial = "",
     .help = "settings in which the runs may differ, such as threads,data; all: every one"},
    {.name = "label", .common = 1, .kind = &option_text, .offset = FIELD(label), .initial = "",
     .help = "REFERENCE,CANDIDATE: names of the two columns; shows all other figures side by side, too"},
    {.name = "all", .kind = &option_flag, .offset = FIELD(all), .help = "show every size, also those that are ok"},
    {.name = "json", .common = 1, .kind = &option_text, .offset = FIELD(json), .initial = "",
     .help = "file to write the comparison to; - prints it instead of the table"},
};
/* clang-format on */

static struct option_table table_of(struct compare_options *options)
{
    struct option_table table = {.context = options};
    option_table_add(&table, (struct option_section){.title = "Options", OPTION_ROWS(rows), .base = options});
    return table;
}

static int take_word(void *context, const char *word)
{
    struct compare_options *options = context;
    if (!*word)
        return error_report("an empty word stands where a result directory is expected");
    if (options->candidates)
        options->candidate[options->candidates++] = word;
    else
        options->baseline[options->baselines++] = word;
    return 0;
}

static int check_directories(struct compare_options *o)
{
    if (!o->candidates && o->baselines == 2) /* yesterday and today */
        o->candidate[o->candidates++] = o->baseline[--o->baselines];
    if (!o->baselines)
        return error_report("no baseline: name the result directories of baseline runs before --candidate; see --help");
    if (!o->candidates)
        return error_report("no candidate: name the result directories to judge after --candidate; see --help");
    for (size_t i = 0; i < o->candidates; i++)
        if (!*o->candidate[i])
            return error_report("an empty word stands where a result directory is expected");
    return 0;
}

static int take_names(struct compare_options *o)
{
    const char *comma = strchr(o->label, ',');
    size_t baseline = strcspn(o->label, ",");
    strcpy(o->baseline_name, "baseline");
    strcpy(o->candidate_name, "candidate");
    if (!*o->label)
        return 0;
    for (const char *c = o->label; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("_-+.,", *c))
            return error_report("--label '%.100s': names may hold letters, digits, _, -, + and . only", o->label);
    if (!comma || strchr(comma + 1, ',') || !baseline || !comma[1])
        return error_report("--label '%.100s': expected two names, REFERENCE,CANDIDATE", o->label);
    if (baseline > 100 || strlen(comma + 1) > 100)
        return error_report("--label: a name is longer than 100 characters");
    snprintf(o->baseline_name, sizeof o->baseline_name, "%.*s", (int)baseline, o->label);
    snprintf(o->candidate_name, sizeof o->candidate_name, "%s", comma + 1);
    if (!strcmp(o->baseline_name, o->candidate_name))
        return error_report("--label '%.100s': both names are the same", o->label);
    return 0;
}

int compare_options_parse(struct compare_options *options, int argc, char *const argv[])
{
    *options = (struct compare_options){.baseline = allocate((size_t)argc, sizeof *options->baseline),
                                        .candidate = allocate((size_t)argc, sizeof *options->candidate)};
    struct option_table table = table_of(options);
    table.word = take_word;
    if (option_table_parse(&table, argc, argv))
        return -1;
    options->help = table.help;
    options->version = table.version;
    if (options->help || options->version)
        return 0;
    return check_directories(options) || take_names(options) ? -1 : 0;
}

void compare_options_destroy(struct compare_options *options)
{
    free(options->baseline);
    free(options->candidate);
    *options = (struct compare_options){0};
}

void compare_options_help(FILE *out, enum option_help which)
{
    struct compare_options defaults = {0};
    struct option_table table = table_of(&defaults);
    fprintf(out, "Usage: ddpbench compare BASELINE... --candidate DIR... [OPTION VALUE]...\n"
                 "       ddpbench compare BASELINE CANDIDATE [OPTION VALUE]...\n\n"
                 "Judges whether runs got slower, from their result directories, whatever kind of run left them. Run\n"
                 "the same command 5 times or more for the baseline, and some times for the candidate: a difference\n"
                 "counts as a regression when it is significant beside the variation from run to run.\n");
    option_table_help(out, &table, which);
    fprintf(out, "\nExit status, the first that holds:\n"
                 "  2 the command line is wrong    1 something cannot be read or written    6 incomparable\n"
                 "  3 regressed    5 missing    4 ambiguous    0 none of these\n");
    if (which != HELP_ALL)
        return;
    fprintf(
        out,
        "\nVerdicts of a figure; a ratio above 1 is worse, whatever the figure:\n"
        "  regressed   its interval lies wholly above 1 + tolerance, or a candidate found wrong elements (a baseline "
        "must not)\n"
        "  missing     a baseline has it, and a candidate does not\n"
        "  ambiguous   not significant, but both the ratio and that of the medians are above 1 + tolerance, or the\n"
        "              ratio is above (1 + tolerance) x (1 + floor); use more runs\n"
        "  improved    its interval lies wholly below 1 / (1 + tolerance)\n"
        "  ok          none of these\n"
        "With 5 baselines or more the chance of one false `regressed` among all figures is at most 5 %%. With fewer,\n"
        "there is no interval: regressed is what is beyond tolerance and floor in every candidate against every\n"
        "baseline, ambiguous what is beyond the tolerance. Runs with other settings are incomparable, unless --allow\n"
        "names them; an option that one side does not know is listed, not compared.\n");
}
