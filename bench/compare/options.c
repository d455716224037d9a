/* options.c - the command line of `ddpbench compare`. */
#include "compare/options.h"

#include "base/option_table.h"
#include "kernels/error.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define FIELD(field) offsetof(struct compare_options, field)

static const struct option rows[] = {
    {"candidate", &option_text, FIELD(last_candidate), NULL, 0, 0,
     "directories of the runs to judge; those before it are baselines", 0},
    {"tolerance", &option_real, FIELD(tolerance), "5", 0, 1000, "how much worse is still fine, in percent", 0},
    {"floor", &option_real, FIELD(floor), "10", 0, 1000,
     "how far beyond the tolerance nothing is explained by chance, in percent; see below", 0},
    {"metrics", &option_text, FIELD(metrics), "", 0, 0,
     "figures to judge, such as step,backward_pass; default: every step, or the sustained time of every size (beside "
     "computation: of both)",
     0},
    {"allow", &option_text, FIELD(allow), "", 0, 0,
     "settings in which the runs may differ, such as threads,data; all: every one", 0},
    {"label", &option_text, FIELD(label), "", 0, 0,
     "REFERENCE,CANDIDATE: names of the two columns; shows all other figures side by side, too", 0},
    {"all", &option_flag, FIELD(all), NULL, 0, 0, "show every size, also where all is well", 0},
    {"json", &option_text, FIELD(json), "", 0, 0, "file to write the comparison to; - prints it instead of the table",
     0},
    {"help", &option_flag, FIELD(help), NULL, 0, 0, "print this and stop", 0},
};

static struct option_table table_of(struct compare_options *options, struct option_section *section)
{
    *section = (struct option_section){"Options", rows, sizeof rows / sizeof *rows, options};
    return (struct option_table){.section = section, .sections = 1, .context = options};
}

/* argv is long enough for all of its words. */
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

static void note(void *context, const struct option_section *section, const struct option *option, const char *value)
{
    struct compare_options *options = context;
    (void)section;
    if (option->offset == FIELD(last_candidate))
        options->candidate[options->candidates++] = value;
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
    struct option_section section;
    *options = (struct compare_options){.baseline = allocate((size_t)argc, sizeof *options->baseline),
                                        .candidate = allocate((size_t)argc, sizeof *options->candidate)};
    struct option_table table = table_of(options, &section);
    table.given = note;
    table.word = take_word;
    if (option_table_parse(&table, argc, argv))
        return -1;
    return options->help || (!check_directories(options) && !take_names(options)) ? 0 : -1;
}

void compare_options_destroy(struct compare_options *options)
{
    free(options->baseline);
    free(options->candidate);
    *options = (struct compare_options){0};
}

void compare_options_help(FILE *out)
{
    struct compare_options defaults = {0};
    struct option_section section;
    struct option_table table = table_of(&defaults, &section);
    fprintf(out,
            "Usage: ddpbench compare BASELINE... --candidate DIR... [OPTION VALUE]...\n"
            "       ddpbench compare BASELINE CANDIDATE [OPTION VALUE]...\n\n"
            "Judges whether runs got slower, from their result directories: of the benchmark, of a profile, or of a\n"
            "sweep of collectives. Run the same command several times for the baseline, 5 times or more, and some\n"
            "times for the candidate: how much runs differ by themselves is what tells a regression from chance.\n");
    option_table_help(out, &table);
    fprintf(
        out,
        "\nVerdicts of a figure; a ratio above 1 is worse, whatever the figure:\n"
        "  regressed   its interval lies wholly above 1 + tolerance, or a candidate found wrong elements (a baseline "
        "must not)\n"
        "  missing     a baseline has it, and a candidate does not\n"
        "  ambiguous   not proven, but both the ratio and that of the medians are above 1 + tolerance, or the ratio "
        "is\n"
        "              above (1 + tolerance) x (1 + floor); more runs would tell\n"
        "  improved    its interval lies wholly below 1 / (1 + tolerance)\n"
        "  ok          none of these\n"
        "With 5 baselines or more the chance of one false `regressed` among all figures is at most 5 %%. With fewer,\n"
        "there is no interval: regressed is what is beyond tolerance and floor in every candidate against every\n"
        "baseline, ambiguous what is beyond the tolerance. Runs with other settings are incomparable, unless --allow\n"
        "names them; an option that one side does not know is told only.\n"
        "\nExit status, the first that holds:\n"
        "  2 the command line is wrong    1 something cannot be read or written    6 incomparable\n"
        "  3 regressed    5 missing    4 ambiguous    0 none of these\n");
}
