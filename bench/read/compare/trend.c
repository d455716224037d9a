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

static const char *const night_rules[] = {"directory", "date", "commit", NULL};

#define FIELD(field) offsetof(struct trend, field)
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

/* Accepts "NIGHT" or "NIGHT:FIGURE": marks the level that it begins. Returns whether night and figure are known. */
static int mark_accepted(const struct trend *t, const char *word)
{
    const struct nights *nights = &t->nights;
    int known = 0;
    for (struct night *night = nights->night; night < nights->night + nights->n && !known; night++) {
        const size_t length = strlen(night->name);
        if (!strcmp(word, night->name))
            known = night->accepted = 1;
        for (size_t f = 0; f < nights->figures && !strncmp(word, night->name, length) && word[length] == ':'; f++)
            if (!strcmp(word + length + 1, nights->series[f].name)) {
                nights->series[f].begins[night - nights->night] = LEVEL_ACCEPTED;
                known = 1;
            }
    }
    if (known)
        results_add_sentence(t->json, "warnings", "Accepted: %s.", word);
    return known;
}

/* Marks what the file in a directory accepts, and copies its lines, except that of --accept, unless copy is NULL.
 * Returns 0; or -1, reported, if there is a file that cannot be read. */
static int read_accepted(const struct trend *trend, const char *directory, FILE *copy)
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
        if (copy && strcmp(line, trend->accept) != 0)
            fprintf(copy, "%s\n", line);
        if (*line && !mark_accepted(trend, line) && !unknown++)
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
static int take_accepted(const struct trend *t)
{
    const struct night *night = t->nights.night;
    char *text = NULL;
    size_t length = 0;
    FILE *all = text_begin(&text, &length);
    int status = 0;
    for (size_t i = 0; i < t->n && !status; i++)
        status = read_accepted(t, t->directory[i], i ? NULL : all);
    fprintf(all, "%s\n", t->accept);
    text_end(all);
    if (!status && *t->accept && !mark_accepted(t, t->accept))
        status = error_report("--accept '%s': expected NIGHT or NIGHT:FIGURE, with a night from %s to %s and a figure "
                              "as it is printed, such as '%s'",
                              t->accept, night[0].name, night[t->nights.n - 1].name, t->nights.series[0].name);
    if (!status && *t->accept)
        status = files_replace(*t->directory, ACCEPTED, text);
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

static enum trend_status find_trend(struct trend *t)
{
    if (forms_check(trend_forms, t->form, TREND_FORMS, NULL, 0) ||
        nights_read(&t->nights, t->directory, t->n, t->control, (enum night_rule)t->night, t->json) || take_accepted(t))
        return TREND_FAILED;
    watch_nights(t);
    t->document = trend_document(t);
    return forms_write(trend_forms, t->form, TREND_FORMS, t) ||
                   forms_print(trend_forms, t->form, TREND_FORMS, t, forms_print_text)
               ? TREND_FAILED
               : t->status;
}

static int take_word(void *context, const char *word)
{
    struct trend *t = context;
    t->directory[t->n++] = word;
    return *word ? 0 : error_report("an empty word stands where a directory of nights is expected");
}

static int check_usage(void *context)
{
    const struct trend *t = context;
    return !t->n ? error_report("no directory: name the one whose subdirectories are nights; see --help")
                 : forms_check_printed(trend_forms, t->form, TREND_FORMS);
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
    struct trend trend = {.directory = allocate((size_t)argc, sizeof *trend.directory), .json = cJSON_CreateObject()};
    struct option_table table = {.word = take_word, .check = check_usage, .context = &trend};
    cJSON_AddArrayToObject(trend.json, "warnings");
    option_table_add(&table, (struct option_section){.title = "Options", OPTION_ROWS(rows), .base = &trend});
    option_table_add(&table, option_config_section());
    int printed = option_table_begin(&table, usage, statuses, argc, argv);
    enum trend_status status = printed < 0 ? TREND_USAGE : printed ? TREND_OK : find_trend(&trend);
    for (int way = 0; way < WAYS; way++)
        regimes_destroy(&trend.of[way]);
    nights_destroy(&trend.nights);
    cJSON_Delete(trend.json);
    cJSON_Delete(trend.document);
    free(trend.directory);
    return (int)status;
}
