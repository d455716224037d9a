/* compare.c - `ddpbench compare`: reads and checks the runs, judges their figures, prints the outcome. */
#include "compare/compare.h"

#include "base/json.h"
#include "base/option_table.h"
#include "base/text.h"
#include "compare/outcome.h"
#include "kernels/error.h"
#include "results/busy.h"
#include "results/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Upper limit of the probability that a comparison calls any figure regressed although none is slower. */
#define FALSE_ALARM_CHANCE 0.05

/* ---- the command line ---- */

/* Adds the path of a run to a side. c->directory is as long as argv. Returns 0; or -1, reported, for "". */
static int add_directory(struct comparison *c, int side, const char *word)
{
    c->directory[c->n[BASELINE] + c->n[CANDIDATE]] = word;
    c->n[side]++;
    return *word ? 0
                 : error_report(
                       "an empty word stands where a result directory is expected, as a baseline or for --candidate");
}

static int take_word(void *context, const char *word)
{
    struct comparison *c = context;
    return add_directory(c, c->n[CANDIDATE] ? CANDIDATE : BASELINE, word);
}

/* Adds the directory given to --candidate, which may be given several times. */
static int take_candidate(const struct option *option, const char *text, void *field)
{
    (void)option;
    return add_directory(field, CANDIDATE, text);
}

static const struct option_kind candidates = {VALUE_TEXT, "VALUE", take_candidate, NULL};

#define FIELD(field) offsetof(struct comparison, field)
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
    {.name = "html", .common = 1, .kind = &option_form, .offset = FIELD(form[COMPARE_HTML]), .initial = "",
     .help = "file to write the comparison to, as one HTML page with a picture; - prints it instead of the table"},
    {.name = "junit", .common = 1, .kind = &option_form, .offset = FIELD(form[COMPARE_JUNIT]), .initial = "",
     .help = "file to write the comparison to as JUnit's XML, for CI: a test case for each judged figure; - prints it instead of the table"},
};
/* clang-format on */

static int take_names(struct comparison *c)
{
    const struct option label = {.name = "label"};
    struct option_list list = {label.name, *c->label ? c->label : "baseline,candidate", 0};
    const char *name;
    for (int i = 0; i < SIDES; i++) {
        if (option_next_word(&list, c->name[i], sizeof c->name[i]) <= 0 || (i && list.text[list.at]))
            return error_report("--label '%.100s': expected two names, REFERENCE,CANDIDATE", c->label);
        if (option_label.parse(&label, c->name[i], &name))
            return -1;
    }
    return 0;
}

static int check_usage(void *context)
{
    struct comparison *c = context;
    if (!c->n[CANDIDATE] && c->n[BASELINE] == 2) /* two directories, without --candidate */
        c->n[BASELINE] = c->n[CANDIDATE] = 1;
    if (!c->n[BASELINE])
        return error_report("no baseline: name the result directories of baseline runs before --candidate; see --help");
    if (!c->n[CANDIDATE])
        return error_report("no candidate: name the result directories to judge after --candidate; see --help");
    return take_names(c) || forms_check_printed(compare_forms, c->form, COMPARE_FORMS) ? -1 : 0;
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

/* ---- the runs ---- */

/* Rejects a run that is named twice: the runs would seem to vary less, or a run would be compared with itself. */
static int check_twice(const struct compare_run *run, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (run[i].saved.device == run[j].saved.device && run[i].saved.inode == run[j].saved.inode)
                return error_report("%s and %s are the same run; name each run once", run[j].saved.directory,
                                    run[i].saved.directory);
    return 0;
}

static int by_time(const void *a, const void *b)
{
    const struct compare_run *x = a, *y = b;
    return x->began < y->began ? -1 : x->began > y->began ? 1 : strcmp(x->saved.directory, y->saved.directory);
}

/* Sorts the runs of each side by time. Returns whether the sides were measured in turn: their numbers differ by at most
 * one, and baseline i and candidate i began before any later run. One run of each does not count as in turn. */
static int made_in_turn(const struct comparison *c)
{
    const size_t *n = c->n, most = n[n[CANDIDATE] > n[BASELINE]], least = n[n[CANDIDATE] <= n[BASELINE]];
    for (int side = 0; side < SIDES; side++)
        qsort(c->run[side], n[side], sizeof **c->run, by_time);
    for (size_t i = 0; i + 1 < most; i++)
        for (int a = 0; a < SIDES; a++)
            for (int b = 0; b < SIDES; b++)
                if (i < n[a] && i + 1 < n[b] && c->run[a][i].began > c->run[b][i + 1].began)
                    return 0;
    return most > 1 && most <= least + 1;
}

/* Returns the mean share of the cores that other processes used in run[n], of runs that recorded it; NAN: none did. */
static double other_share(const struct compare_run *run, size_t n)
{
    double sum = 0, known = 0;
    for (size_t i = 0; i < n; i++) {
        double share = busy_of(run[i].saved.summary, run[i].saved.run).share;
        sum += isfinite(share) ? share : 0;
        known += isfinite(share);
    }
    return sum / known;
}

/* Warns of other processes if the machine was busy. */
static void warn_of_others(const struct comparison *c)
{
    static const char *const effect[2][2] = {
        {"", ", so nothing counts as regressed"},
        {", so nothing counts as ok or improved", ", so nothing counts as regressed, ok or improved"}};
    const double *other = c->rules.other;
    char share[SIDES][CELL];
    for (int side = 0; side < SIDES; side++)
        snprintf(share[side], CELL, isfinite(other[side]) ? "%.0f %%" : "an unknown share", 100 * other[side]);
    if (other[BASELINE] > BUSY_SHARE || other[CANDIDATE] > BUSY_SHARE)
        results_add_sentence(c->json, "warnings",
                             "Warning: other processes used %s of the machine's cores during the baseline runs and %s "
                             "during the candidate runs%s: measure again on a quiet machine%s.",
                             share[BASELINE], share[CANDIDATE],
                             effect[verdict_is_slowed(&c->rules, 0)][verdict_is_slowed(&c->rules, 1)],
                             c->rules.in_turn ? "" : ", baseline and candidate in turn");
}

/* Warns if the runs were not made in turn: then they are not independent. */
static void warn_of_time(const struct comparison *c)
{
    double after = c->run[CANDIDATE]->began - c->run[BASELINE][c->n[BASELINE] - 1].began;
    double before = c->run[BASELINE]->began - c->run[CANDIDATE][c->n[CANDIDATE] - 1].began;
    char apart[CELL], where[160] = "";
    text_duration(apart, fmax(after, before));
    if (fmax(after, before) > 0)
        snprintf(where, sizeof where, ": the last %s run began %s before the first %s run",
                 after > 0 ? "baseline" : "candidate", apart, after > 0 ? "candidate" : "baseline");
    results_add_sentence(c->json, "warnings",
                         "Warning: baseline and candidate runs were not made in turn%s. What changed on the machine "
                         "between them counts as a change of the candidate, and the chance of a false alarm is not "
                         "limited: measure both in turn.",
                         where);
}

/* ---- the command ---- */

static enum compare_status judge(struct comparison *c)
{
    static const enum compare_status status_of[VERDICTS] = {[VERDICT_REGRESSED] = COMPARE_REGRESSED,
                                                            [VERDICT_MISSING] = COMPARE_MISSING,
                                                            [VERDICT_AMBIGUOUS] = COMPARE_UNDECIDED,
                                                            [VERDICT_UNSEEN] = COMPARE_UNDECIDED};
    struct verdicts *v = &c->verdicts;
    if (compare_match(&c->lines, *c->run, c->n[BASELINE], c->n[CANDIDATE]))
        return COMPARE_FAILED;
    if (compare_choose(&c->lines, c->metrics))
        return *c->metrics ? COMPARE_USAGE : COMPARE_FAILED;
    verdicts_create(v, &c->rules, c->lines.line, c->lines.judged, c->n[BASELINE], c->n[CANDIDATE]);
    warn_of_others(c);
    if (!c->rules.in_turn && c->n[BASELINE] + c->n[CANDIDATE] > 2)
        warn_of_time(c);
    c->verdict = v->count[VERDICT_REGRESSED]     ? VERDICT_REGRESSED
                 : v->count[VERDICT_MISSING]     ? VERDICT_MISSING
                 : v->summary[VERDICT_AMBIGUOUS] ? VERDICT_AMBIGUOUS
                 : v->summary[VERDICT_UNSEEN]    ? VERDICT_UNSEEN
                                                 : VERDICT_OK;
    return status_of[c->verdict];
}

/* Reads and judges runs[n]. */
static enum compare_status compare_runs(struct comparison *c, struct compare_run *run, size_t n)
{
    const size_t baselines = c->n[BASELINE];
    cJSON *differences = cJSON_GetObjectItemCaseSensitive(c->json, "differences");
    if (forms_check(compare_forms, c->form, COMPARE_FORMS, NULL, 0))
        return COMPARE_FAILED;
    for (size_t i = 0; i < n; i++)
        if (compare_run_read(&run[i], c->directory[i]))
            return COMPARE_FAILED;
    if (check_twice(run, n))
        return COMPARE_USAGE;
    c->rules = (struct verdict_rules){.tolerance = c->tolerance / 100,
                                      .floor = c->floor / 100,
                                      .level = FALSE_ALARM_CHANCE,
                                      .in_turn = made_in_turn(c)};
    if (c->rules.in_turn && 2 * baselines == n && baselines >= VERDICT_PAIRS)
        c->rules.pairs = baselines;
    for (int side = 0; side < SIDES; side++)
        c->rules.other[side] = other_share(c->run[side], c->n[side]);
    for (size_t i = 1; i < n; i++)
        differences_add(differences, &run[0], &run[i], i < baselines ? "another baseline" : "candidate");
    if (differences_allow(differences, c->allow, &run[0]))
        return COMPARE_USAGE;
    for (const cJSON *difference = differences->child; difference; difference = difference->next)
        if (difference_kind(difference) == DIFFERENCE_REFUSED)
            return COMPARE_INCOMPARABLE;
    return judge(c);
}

static enum compare_status compare_and_print(struct comparison *c)
{
    const size_t n = c->n[BASELINE] + c->n[CANDIDATE];
    struct compare_run *run = allocate(n, sizeof *run);
    c->run[BASELINE] = run;
    c->run[CANDIDATE] = run + c->n[BASELINE];
    c->json = cJSON_CreateObject();
    cJSON_AddArrayToObject(c->json, "warnings");
    cJSON_AddArrayToObject(c->json, "differences");
    enum compare_status status = c->status = compare_runs(c, run, n);
    if (status != COMPARE_FAILED && status != COMPARE_USAGE &&
        (forms_write(compare_forms, c->form, COMPARE_FORMS, c) ||
         forms_print(compare_forms, c->form, COMPARE_FORMS, c, compare_print_text)))
        status = COMPARE_FAILED;
    cJSON_Delete(c->json);
    verdicts_destroy(&c->verdicts);
    compare_lines_destroy(&c->lines);
    for (size_t i = 0; i < n; i++)
        compare_run_destroy(&run[i]);
    free(run);
    return status;
}

int run_compare(int argc, char *argv[])
{
    struct comparison c = {.directory = allocate((size_t)argc, sizeof *c.directory)};
    struct option_table table = {.word = take_word, .check = check_usage, .context = &c};
    option_table_add(&table, (struct option_section){.title = "Options", OPTION_ROWS(rows), .base = &c});
    option_table_add(&table, option_config_section());
    int printed = option_table_begin(&table, usage, statuses, argc, argv);
    enum compare_status status = printed < 0 ? COMPARE_USAGE : printed ? COMPARE_OK : compare_and_print(&c);
    free(c.directory);
    return (int)status;
}
