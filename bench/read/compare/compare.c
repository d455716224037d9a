/* compare.c - `ddpbench compare`: reads and checks the runs, judges their figures, prints the outcome. */
#include "compare/compare.h"

#include "base/json.h"
#include "base/junit.h"
#include "base/stats.h"
#include "base/text.h"
#include "base/version.h"
#include "compare/match.h"
#include "compare/outcome.h"
#include "document/document.h"
#include "kernels/error.h"
#include "results/busy.h"
#include "results/summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Upper limit of the probability that a comparison calls any figure regressed although none is slower. */
#define FALSE_ALARM_CHANCE 0.05

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
static int made_in_turn(struct compare_run *run, size_t baselines, size_t candidates)
{
    const size_t n[2] = {baselines, candidates};
    struct compare_run *of[2] = {run, run + baselines};
    for (int side = 0; side < 2; side++)
        qsort(of[side], n[side], sizeof *run, by_time);
    for (size_t i = 0; i + 1 < baselines || i + 1 < candidates; i++)
        for (int a = 0; a < 2; a++)
            for (int b = 0; b < 2; b++)
                if (i < n[a] && i + 1 < n[b] && of[a][i].began > of[b][i + 1].began)
                    return 0;
    return baselines + candidates > 2 && baselines <= candidates + 1 && candidates <= baselines + 1;
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

/* ---- the outcome as JSON ---- */

static void add_runs(cJSON *json, const char *name, const char *label, const struct compare_run *run, size_t n,
                     double share)
{
    cJSON *runs = cJSON_AddObjectToObject(json, name);
    json_add_text(runs, "label", label);
    cJSON *list = cJSON_AddArrayToObject(runs, "directories");
    for (size_t i = 0; i < n; i++)
        cJSON_AddItemToArray(list, json_text(run[i].saved.directory));
    json_add_number(runs, "other_processes_share", share);
}

/* Adds to the JSON of the outcome the versions, rules and runs, and empty lists for the results. */
static void add_heading(cJSON *json, const struct compare_options *o, const struct compare_run *run,
                        const struct verdict_rules *rules)
{
    json_add_text(json, "program", "ddpbench");
    json_add_text(json, "mode", "compare");
    json_add_number(json, "schema_version", RESULTS_SCHEMA);
    json_add_text(json, "version", version_text());
    json_add_number(json, "tolerance_percent", o->tolerance);
    json_add_number(json, "floor_percent", o->floor);
    json_add_number(json, "level", rules->level);
    json_add_number(json, "pairs", (double)rules->pairs);
    cJSON_AddBoolToObject(json, "in_turn", rules->in_turn);
    cJSON_AddBoolToObject(json, "judged_by_spread", 0);
    add_runs(json, "baseline", o->name[0], run, o->baselines, rules->other[0]);
    add_runs(json, "candidate", o->name[1], run + o->baselines, o->candidates, rules->other[1]);
    cJSON_AddArrayToObject(json, "warnings");
    cJSON_AddArrayToObject(json, "differences");
    cJSON_AddArrayToObject(json, "judged");
    cJSON_AddArrayToObject(json, "figures");
}

/* Returns the geometric mean of value[*n] without NANs (runs that lack the figure) or, if judged is 0, the median,
 * since these values may be 0 or less. Sets *n to the number of values without NANs. */
static double typical_of(const double *value, size_t *n, int judged)
{
    size_t runs = *n;
    double *have = allocate(runs, sizeof *have);
    *n = 0;
    for (size_t i = 0; i < runs; i++)
        if (!isnan(value[i]))
            have[(*n)++] = value[i];
    double typical = stats_typical(have, *n, !judged).median;
    free(have);
    return typical;
}

/* Fills a JSON row with the members of a figure, and with its typical values (typical_of); a mean over sizes (sizes >
 * 1) gets none. Returns their ratio, candidate / baseline. */
static double add_figure(cJSON *item, const struct verdict_figure *line, size_t sizes, const struct compare_options *o)
{
    size_t n[2] = {o->baselines, o->candidates};
    double baseline = typical_of(line->baseline, &n[0], line->judged);
    double candidate = typical_of(line->candidate, &n[1], line->judged);
    json_add_text(item, "subject", line->figure->subject);
    json_add_text(item, "name", line->figure->name);
    json_add_text(item, "unit", line->figure->unit);
    json_add_text(item, "better", figure_better_name[line->figure->better]);
    json_add_number(item, "bytes", sizes == 1 ? line->figure->bytes : NAN);
    json_add_number(item, "baseline", sizes == 1 ? baseline : NAN);
    json_add_number(item, "candidate", sizes == 1 ? candidate : NAN);
    json_add_number(item, "n_baseline", (double)(sizes == 1 ? n[0] : o->baselines));
    json_add_number(item, "n_candidate", (double)(sizes == 1 ? n[1] : o->candidates));
    return candidate / baseline;
}

/* Adds a JSON row for each judged figure and each mean over sizes, then for each figure that is not judged. */
static void add_rows(cJSON *json, const struct compare_lines *lines, const struct verdicts *verdicts,
                     const struct compare_options *o)
{
    for (size_t i = 0; i < verdicts->n; i++) {
        const struct figure_verdict_row *row = &verdicts->row[i];
        cJSON *item = json_add_row(cJSON_GetObjectItemCaseSensitive(json, "judged"));
        add_figure(item, row->figure, row->sizes, o);
        json_add_number(item, "sizes", (double)row->sizes);
        json_add_number(item, "ratio", row->ratio);
        json_add_number(item, "ci_low", row->low);
        json_add_number(item, "ci_high", row->high);
        json_add_number(item, "level", row->level);
        json_add_number(item, "seen_from", row->seen_from);
        json_add_number(item, "more_runs", row->more_runs);
        cJSON_AddBoolToObject(item, "summary", row->summary);
        cJSON_AddBoolToObject(item, "wrong_elements", row->sizes == 1 && row->figure->wrong);
        json_add_text(item, "verdict", verdict_name[row->verdict]);
        if (isfinite(row->low))
            cJSON_ReplaceItemInObjectCaseSensitive(json, "judged_by_spread", cJSON_CreateTrue());
    }
    for (size_t i = lines->judged; i < lines->n && (*o->form[COMPARE_JSON] || *o->label);
         i++) { /* only --json and --label show these figures */
        cJSON *item = json_add_row(cJSON_GetObjectItemCaseSensitive(json, "figures"));
        json_add_number(item, "candidate_to_baseline", add_figure(item, &lines->item[i], 1, o));
    }
}

/* Warns of other processes if the machine was busy. */
static void warn_of_others(cJSON *json, const struct verdict_rules *rules)
{
    static const char *const effect[2][2] = {
        {"", ", so nothing counts as regressed"},
        {", so nothing counts as ok or improved", ", so nothing counts as regressed, ok or improved"}};
    char share[2][CELL];
    for (int side = 0; side < 2; side++)
        snprintf(share[side], CELL, isfinite(rules->other[side]) ? "%.0f %%" : "an unknown share",
                 100 * rules->other[side]);
    if (rules->other[0] > BUSY_SHARE || rules->other[1] > BUSY_SHARE)
        results_add_sentence(json, "warnings",
                             "Warning: other processes used %s of the machine's cores during the baseline runs and %s "
                             "during the candidate runs%s: measure again on a quiet machine%s.",
                             share[0], share[1], effect[verdict_is_slowed(rules, 0)][verdict_is_slowed(rules, 1)],
                             rules->in_turn ? "" : ", baseline and candidate in turn");
}

/* Warns if the runs were not made in turn: then they are not independent. The sides are sorted by time. */
static void warn_of_time(cJSON *json, const struct compare_options *o, const struct compare_run *run)
{
    const struct compare_run *candidate = run + o->baselines;
    double after = candidate->began - run[o->baselines - 1].began,
           before = run->began - candidate[o->candidates - 1].began;
    char apart[CELL], where[160] = "";
    text_duration(apart, fmax(after, before));
    if (fmax(after, before) > 0)
        snprintf(where, sizeof where, ": the last %s run began %s before the first %s run",
                 after > 0 ? "baseline" : "candidate", apart, after > 0 ? "candidate" : "baseline");
    results_add_sentence(json, "warnings",
                         "Warning: baseline and candidate runs were not made in turn%s. What changed on the machine "
                         "between them counts as a change of the candidate, and the chance of a false alarm is not "
                         "limited: measure both in turn.",
                         where);
}

/* ---- the command ---- */

static enum compare_status judge(cJSON *json, const struct compare_options *o, const struct compare_run *run,
                                 const struct verdict_rules *rules)
{
    struct compare_lines lines;
    struct verdicts verdicts = {0};
    enum compare_status status;
    if (compare_match(&lines, run, o->baselines, o->candidates)) {
        status = COMPARE_FAILED;
    } else if (compare_choose(&lines, o->metrics)) {
        status = *o->metrics ? COMPARE_USAGE : COMPARE_FAILED;
    } else {
        verdicts_create(&verdicts, rules, lines.item, lines.judged, o->baselines, o->candidates);
        add_rows(json, &lines, &verdicts, o);
        warn_of_others(json, rules);
        if (!rules->in_turn && o->baselines + o->candidates > 2)
            warn_of_time(json, o, run);
        status = verdicts.count[VERDICT_REGRESSED]                                        ? COMPARE_REGRESSED
                 : verdicts.count[VERDICT_MISSING]                                        ? COMPARE_MISSING
                 : verdicts.summary[VERDICT_AMBIGUOUS] + verdicts.summary[VERDICT_UNSEEN] ? COMPARE_UNDECIDED
                                                                                          : COMPARE_OK;
        json_add_text(json, "verdict",
                      status == COMPARE_REGRESSED           ? verdict_name[VERDICT_REGRESSED]
                      : status == COMPARE_MISSING           ? verdict_name[VERDICT_MISSING]
                      : verdicts.summary[VERDICT_AMBIGUOUS] ? verdict_name[VERDICT_AMBIGUOUS]
                      : verdicts.summary[VERDICT_UNSEEN]    ? verdict_name[VERDICT_UNSEEN]
                                                            : verdict_name[VERDICT_OK]);
    }
    compare_lines_destroy(&lines);
    verdicts_destroy(&verdicts);
    return status;
}

/* What is shown. */
struct outcome {
    cJSON *json;
    const struct compare_options *options;
};

static void print_json(FILE *out, const void *shown)
{
    char *text = json_print(((const struct outcome *)shown)->json, 1);
    fprintf(out, "%s\n", text);
    free(text);
}

static void print_junit(FILE *out, const void *shown)
{
    const struct outcome *outcome = shown;
    compare_print_junit(out, outcome->json, outcome->options);
}

static void print_text(FILE *out, const void *shown)
{
    const struct outcome *outcome = shown;
    char *text;
    size_t length;
    FILE *words = text_begin(&text, &length);
    compare_print(words, outcome->json, outcome->options);
    text_end(words);
    text_print_lines(out, text);
    free(text);
}

static const struct form forms[] = {
    [COMPARE_JSON] = {"json", "{\n\t\"program\":\t\"ddpbench\",\n\t\"mode\":\t\"compare\"", print_json},
    [COMPARE_JUNIT] = {"junit", JUNIT_BEGIN "ddpbench compare\"", print_junit}};

static enum compare_status compare_runs(cJSON *json, const struct compare_options *o, struct compare_run *run)
{
    struct verdict_rules rules = {o->tolerance / 100, o->floor / 100, FALSE_ALARM_CHANCE, 0, 0, {NAN, NAN}};
    size_t runs = o->baselines + o->candidates;
    if (forms_check_printed(forms, o->form, COMPARE_FORMS))
        return COMPARE_USAGE;
    if (forms_check(forms, o->form, COMPARE_FORMS, NULL, 0))
        return COMPARE_FAILED;
    for (size_t i = 0; i < runs; i++)
        if (compare_run_read(&run[i], o->directory[i]))
            return COMPARE_FAILED;
    if (check_twice(run, runs))
        return COMPARE_USAGE;
    rules.in_turn = made_in_turn(run, o->baselines, o->candidates);
    if (rules.in_turn && o->baselines == o->candidates && o->baselines >= VERDICT_PAIRS)
        rules.pairs = o->baselines;
    rules.other[0] = other_share(run, o->baselines);
    rules.other[1] = other_share(run + o->baselines, o->candidates);
    add_heading(json, o, run, &rules);
    cJSON *differences = cJSON_GetObjectItemCaseSensitive(json, "differences");
    for (size_t i = 1; i < runs; i++)
        differences_add(differences, &run[0], &run[i], i < o->baselines ? "another baseline" : "candidate");
    if (differences_allow(differences, o->allow, &run[0]))
        return COMPARE_USAGE;
    for (const cJSON *difference = differences->child; difference; difference = difference->next)
        if (difference_is_refused(difference))
            return COMPARE_INCOMPARABLE;
    return judge(json, o, run, &rules);
}

static enum compare_status compare_and_print(const struct compare_options *o)
{
    struct compare_run *run = allocate(o->baselines + o->candidates, sizeof *run);
    cJSON *json = cJSON_CreateObject();
    enum compare_status status = compare_runs(json, o, run);
    if (status != COMPARE_FAILED && status != COMPARE_USAGE) {
        if (status == COMPARE_INCOMPARABLE)
            json_add_text(json, "verdict", "incomparable");
        json_add_number(json, "exit_status", status);
        const struct outcome outcome = {json, o};
        if (forms_write(forms, o->form, COMPARE_FORMS, &outcome) ||
            forms_print(forms, o->form, COMPARE_FORMS, &outcome, print_text))
            status = COMPARE_FAILED;
    }
    cJSON_Delete(json);
    for (size_t i = 0; i < o->baselines + o->candidates; i++)
        compare_run_destroy(&run[i]);
    free(run);
    return status;
}

int run_compare(int argc, char *argv[])
{
    struct compare_options options;
    int printed = compare_options_parse(&options, argc, argv);
    enum compare_status status = printed < 0 ? COMPARE_USAGE : printed ? COMPARE_OK : compare_and_print(&options);
    if (status == COMPARE_FAILED || status == COMPARE_USAGE)
        error_print();
    compare_options_destroy(&options);
    return (int)status;
}
