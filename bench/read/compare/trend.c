/* trend.c - `ddpbench trend`: reads the nights, watches their figures, prints what changed. */
#include "compare/trend.h"

#include "base/json.h"
#include "base/option_table.h"
#include "base/text.h"
#include "compare/compare.h"
#include "kernels/error.h"
#include "results/summary.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The chance of status 4 on a night if nights are independent. */
#define DEPENDENCE_CHANCE 0.01

struct trend_options {
    const char **directory; /* [n]: paths in argv */
    size_t n;
    const char *control, *accept;
    int night;                     /* enum night_rule */
    const char *form[TREND_FORMS]; /* file to write in each format; "": none, "-": standard output */
};

static const char *const night_rules[] = {"directory", "date", "commit", NULL};

#define FIELD(field) offsetof(struct trend_options, field)
/* clang-format off */
static const struct option rows[] = {
    {.name = "control", .common = 1, .kind = &option_label, .offset = FIELD(control), .initial = "control", .value_name = "LABEL",
     .help = "runs with this label, or in directories named LABEL or LABEL-..., are controls"},
    {.name = "night", .common = 1, .kind = &option_choice, .offset = FIELD(night), .initial = "directory", .choices = night_rules,
     .help = "what makes a night: a directory below DIR, or all runs of a date or of a commit"},
    {.name = "accept", .common = 1, .kind = &option_text, .offset = FIELD(accept), .initial = "", .value_name = "NIGHT[:FIGURE]",
     .help = "accept what changed: a new level begins on this night; DIR/accepted.txt remembers it"},
    {.name = "json", .common = 1, .kind = &option_form, .offset = FIELD(form[TREND_JSON]), .initial = "",
     .help = "file to write the result to; - prints it in place of the text"},
    {.name = "csv", .common = 1, .kind = &option_form, .offset = FIELD(form[TREND_CSV]), .initial = "",
     .help = "file to write a line for each night to, as comma-separated values; - prints them"},
    {.name = "junit", .common = 1, .kind = &option_form, .offset = FIELD(form[TREND_JUNIT]), .initial = "",
     .help = "file to write a test case for each figure to, as JUnit's XML, for CI; - prints it"},
    {.name = "html", .common = 1, .kind = &option_form, .offset = FIELD(form[TREND_HTML]), .initial = "",
     .help = "file to write a page with a picture for each figure to; - prints it"},
};
/* clang-format on */

/* ---- accepted changes ---- */

#define ACCEPTED "accepted.txt"

/* Marks the level that "NIGHT" or "NIGHT:FIGURE" begins. Returns whether night and figure are known. */
static int mark_accepted(const struct nights *nights, const char *word)
{
    int known = 0;
    for (size_t t = 0; t < nights->n && !known; t++) {
        struct night *night = &nights->night[t];
        const char *after = word + strlen(night->name);
        if (strncmp(word, night->name, strlen(night->name)) != 0)
            continue;
        if (!*after)
            known = night->accepted = 1;
        for (size_t f = 0; f < nights->figures && *after == ':'; f++)
            if (!strcmp(after + 1, nights->series[f].name)) {
                nights->series[f].begins[t] = LEVEL_ACCEPTED;
                known = 1;
            }
    }
    return known;
}

/* Marks what the file in a directory accepts, and copies its lines, except `accept`, unless copy is NULL. Returns 0; or
 * -1, reported, if there is a file that cannot be read. */
static int read_accepted(const struct trend *trend, const char *directory, const char *accept, FILE *copy)
{
    char path[FILES_PATH], why[FILES_WHY], example[200], *line = NULL;
    size_t room = 0, unknown = 0;
    snprintf(path, sizeof path, "%.700s/" ACCEPTED, directory);
    errno = 0;
    FILE *file = files_open(path, FILES_MOST_BYTES, why);
    if (!file)
        return errno == ENOENT ? 0 : error_report("cannot read %s: %s", path, why);
    while (files_read_line(&line, &room, file) >= 0) {
        line[strcspn(line, "\r\n")] = 0;
        if (copy && strcmp(line, accept) != 0)
            fprintf(copy, "%s\n", line);
        if (*line && mark_accepted(&trend->nights, line))
            results_add_sentence(trend->json, "warnings", "Accepted: %s.", line);
        else if (*line && !unknown++)
            snprintf(example, sizeof example, "%s", line);
    }
    if (unknown)
        results_add_sentence(trend->json, "warnings",
                             "%s: %zu line%s that name no night, or no figure, of these, such as '%s'.", path, unknown,
                             text_plural(unknown), example);
    fclose(file);
    free(line);
    return 0;
}

/* Takes the changes that are accepted, and adds the one of --accept to the file in the first directory. Returns 0; or
 * -1, reported. */
static int take_accepted(const struct trend *trend, const struct trend_options *o)
{
    const struct nights *nights = &trend->nights;
    char *text = NULL;
    size_t length = 0;
    FILE *all = text_begin(&text, &length);
    int status = 0;
    for (size_t i = 0; i < o->n && !status; i++)
        status = read_accepted(trend, o->directory[i], o->accept, i ? NULL : all);
    fprintf(all, "%s\n", o->accept);
    text_end(all);
    if (!status && *o->accept)
        status = mark_accepted(nights, o->accept)
                     ? files_replace(o->directory[0], ACCEPTED, text)
                     : error_report("--accept '%s': expected NIGHT or NIGHT:FIGURE, with a night from %s to %s and a "
                                    "figure as it is printed, such as '%s'",
                                    o->accept, nights->night[0].name, nights->night[nights->n - 1].name,
                                    nights->series[0].name);
    if (!status && *o->accept)
        results_add_sentence(trend->json, "warnings", "Accepted: %s.", o->accept);
    free(text);
    return status;
}

/* ---- what is found ---- */

static void check_dependence(struct trend *trend)
{
    const struct level *level = trend->of[SLOWER].level;
    size_t tested = 0;
    for (size_t f = 0; f < trend->nights.figures; f++)
        tested += level[f].n > 0;
    for (size_t f = 0; f < trend->nights.figures; f++) {
        double by = evidence_dependence(level[f].y, level[f].n, DEPENDENCE_CHANCE / (double)tested);
        if (by > trend->dependence) {
            trend->dependence = by;
            trend->dependent = f;
        }
    }
}

/* Sets how likely a slowdown of one figure is found, and from how many more nights on it is likely. */
static void find_power(struct trend *trend)
{
    enum { MOST = 1000 };
    const struct level none = {.weight = 0.5 / (double)trend->nights.figures}, *least = NULL;
    for (const struct level *l = trend->of[SLOWER].level; l < trend->of[SLOWER].level + trend->nights.figures; l++)
        if (l->n && (!least || l->weight < least->weight))
            least = l;
    least = least ? least : &none;
    trend->level = least->n;
    trend->power = evidence_power(least->n, TREND_WITHIN, least->weight);
    while (trend->more < MOST && evidence_power(least->n + trend->more, TREND_WITHIN, least->weight) < TREND_POWER)
        trend->more++;
}

static void watch_nights(struct trend *trend)
{
    const struct regimes *slower = &trend->of[SLOWER];
    regimes_create(&trend->of[SLOWER], &trend->nights, 1, NULL);
    regimes_create(&trend->of[FASTER], &trend->nights, -1, slower->begins); /* finds what is repaired after an alarm */
    check_dependence(trend);
    find_power(trend);
    trend->status = trend->dependence > 0 ? TREND_DEPENDENT : TREND_OK;
    for (size_t i = 0; i < slower->changes; i++)
        trend->status = slower->change[i].accepted ? trend->status : TREND_SLOWER;
}

/* ---- the command ---- */

static enum trend_status find_trend(struct trend *trend, const struct trend_options *o)
{
    if (forms_check_printed(trend_forms, o->form, TREND_FORMS))
        return TREND_USAGE;
    if (forms_check(trend_forms, o->form, TREND_FORMS, NULL, 0) ||
        nights_read(&trend->nights, o->directory, o->n, o->control, (enum night_rule)o->night, trend->json) ||
        take_accepted(trend, o))
        return TREND_FAILED;
    watch_nights(trend);
    return forms_write(trend_forms, o->form, TREND_FORMS, trend) ||
                   forms_print(trend_forms, o->form, TREND_FORMS, trend, trend_print_text)
               ? TREND_FAILED
               : trend->status;
}

static int take_word(void *context, const char *word)
{
    struct trend_options *o = context;
    o->directory[o->n++] = word;
    return *word ? 0 : error_report("an empty word stands where a directory of nights is expected");
}

static int check_usage(void *context)
{
    return ((struct trend_options *)context)->n
               ? 0
               : error_report("no directory: name the one whose subdirectories are nights; see --help");
}

static const char usage[] =
    "Usage: " TREND_SYNOPSIS " [OPTION VALUE]...\n\n"
    "Finds since which night figures are slower, and by how much. However often one looks, a series without any change "
    "gives a false alarm with a chance of at most 5 %. launch/nightly.sh makes the nights.\n";
static const char statuses[] = "\nExit status, the first that holds:\n  2 the command line is wrong\n"
                               "  1 something cannot be read or written\n  3 slower, and not accepted\n"
                               "  4 nights depend on each other\n  0 nothing is slower, or too few nights\n";

int run_trend(int argc, char *argv[])
{
    struct trend_options options = {.directory = allocate((size_t)argc, sizeof *options.directory)};
    struct option_table table = {.word = take_word, .check = check_usage, .context = &options};
    struct trend trend = {.json = cJSON_CreateObject()};
    cJSON_AddArrayToObject(trend.json, "warnings");
    option_table_add(&table, (struct option_section){.title = "Options", OPTION_ROWS(rows), .base = &options});
    int printed = option_table_begin(&table, usage, statuses, argc, argv);
    enum trend_status status = printed < 0 ? TREND_USAGE : printed ? TREND_OK : find_trend(&trend, &options);
    if (status == TREND_FAILED || status == TREND_USAGE)
        error_print();
    for (int way = 0; way < WAYS; way++)
        regimes_destroy(&trend.of[way]);
    nights_destroy(&trend.nights);
    cJSON_Delete(trend.json);
    free(options.directory);
    return (int)status;
}
