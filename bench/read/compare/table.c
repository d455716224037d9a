/* table.c - prints a comparison as text, and as JUnit test cases for CI systems. */
#include "compare/outcome.h"

#include "base/json.h"
#include "base/junit.h"
#include "base/table.h"
#include "base/text.h"
#include "compare/settings.h"
#include "compare/verdict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the runs and their differences ---- */

static void print_runs(FILE *out, const cJSON *side)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(side, "directories");
    size_t n = (size_t)cJSON_GetArraySize(list);
    fprintf(out, "%s: %zu run%s:", json_string(side, "label"), n, text_plural(n));
    for (const cJSON *directory = list->child; directory; directory = directory->next)
        fprintf(out, " %s%s", directory->valuestring, directory->next ? "," : "\n");
}

static void print_setting(FILE *out, const char *whose, const cJSON *difference, const char *name)
{
    enum { LONGEST = 100 };
    const char *value = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(difference, name));
    if (!value)
        fprintf(out, "%s not set", whose);
    else
        fprintf(out, "%s %.*s%s", whose, LONGEST, *value ? value : "''", strlen(value) > LONGEST ? "..." : "");
}

static int is_informational(const cJSON *difference)
{
    return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(difference, "environment"));
}

static int is_allowed_setting(const cJSON *difference)
{
    return !difference_is_refused(difference) && !is_informational(difference);
}

/* Prints the differences for which is_kind is true, below a heading; nothing if there are none. */
static void print_kind(FILE *out, const char *heading, const cJSON *differences, int (*is_kind)(const cJSON *))
{
    for (const cJSON *d = differences->child; d; d = d->next) {
        if (!is_kind(d))
            continue;
        fprintf(out, "%s  %s: ", heading, json_string(d, "key"));
        print_setting(out, "baseline", d, "baseline");
        fprintf(out, ", ");
        print_setting(out, json_string(d, "side"), d, "other");
        fprintf(out, "\n");
        heading = "";
    }
}

/* ---- the tables ---- */

/* A row of a table: a figure, judged or not. The cells are text, since units differ from row to row. */
struct cells {
    char name[240], size[CELL], baseline[CELL + 16], candidate[CELL + 16], verdict[128], change[CELL], ratio[CELL];
};

#define CELLS(field) COLUMN_CHARS, offsetof(struct cells, field)
static const struct column columns[] = {
    {"name", "figure", CELLS(name), .width = -1},        {"size", "size", CELLS(size), .width = 9},
    {"baseline", NULL, CELLS(baseline), .width = 16},    {"candidate", NULL, CELLS(candidate), .width = 16},
    {"verdict", "verdict", CELLS(verdict), .width = -9}, {"change", "change", CELLS(change), .width = -1},
    {"ratio", "ratio", CELLS(ratio), .width = 7}};
#undef CELLS
enum { COLUMN_BASELINE = 2, COLUMN_CANDIDATE, COLUMN_VERDICT, COLUMN_RATIO = 6, COLUMNS };

/* Returns a table without rows: for the figures that get a verdict (judged 1), or for the others (judged 0). */
static cJSON *begin_table(const struct compare_options *o, const char *title, int judged)
{
    char baseline[140], candidate[140];
    struct column column[COLUMNS];
    memcpy(column, columns, sizeof columns);
    snprintf(baseline, sizeof baseline, "%s (n=%zu)", o->name[0], o->baselines);
    snprintf(candidate, sizeof candidate, "%s (n=%zu)", o->name[1], o->candidates);
    column[COLUMN_BASELINE].heading = baseline;
    column[COLUMN_CANDIDATE].heading = candidate;
    if (!judged)
        column[COLUMN_VERDICT] = column[COLUMN_RATIO];
    size_t n = judged ? COLUMN_RATIO : COLUMN_VERDICT + 1;
    return table_json(&(struct table){.key = "compare", .title = title, .column = column, .columns = n});
}

/* Writes a side's mean (of figures that are not judged, median), in a unit that suits both sides, and the number of
 * runs unless all have the figure. */
static void print_typical(char text[CELL + 16], const cJSON *figure, const char *side, double n, size_t runs)
{
    double value = json_number(figure, side);
    double like = fmax(fabs(json_number(figure, "baseline")), fabs(json_number(figure, "candidate")));
    size_t length = strlen(text_value_like(text, value, json_string(figure, "unit"), like));
    if (n < (double)runs && isfinite(value))
        snprintf(text + length, CELL + 16 - length, " (n=%.0f)", n);
}

static void fill_cells(struct cells *cells, const cJSON *figure, const struct compare_options *o)
{
    const char *verdict = json_string(figure, "verdict");
    char missing[64] = "";
    double candidates = json_number(figure, "n_candidate");
    snprintf(cells->name, sizeof cells->name, "%s %s", json_string(figure, "subject"), json_string(figure, "name"));
    text_bytes(cells->size, json_number(figure, "bytes"));
    if (json_number(figure, "sizes") > 1)
        strcpy(cells->size, "all sizes");
    print_typical(cells->baseline, figure, "baseline", json_number(figure, "n_baseline"), o->baselines);
    print_typical(cells->candidate, figure, "candidate", candidates, o->candidates);
    text_ratio(cells->ratio, json_number(figure, "candidate_to_baseline"));
    text_change(cells->change, json_number(figure, "ratio"), json_number(figure, "ci_low"),
                json_number(figure, "ci_high"));
    if (!strcmp(verdict, verdict_name[VERDICT_MISSING]))
        snprintf(missing, sizeof missing, " in %.0f of %zu", (double)o->candidates - candidates, o->candidates);
    snprintf(cells->verdict, sizeof cells->verdict, "%.20s%s%s", verdict, missing,
             cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(figure, "wrong_elements")) ? ": wrong elements" : "");
}

static void add_row(cJSON *table, const cJSON *figure, const struct compare_options *o)
{
    struct cells cells = {0};
    fill_cells(&cells, figure, o);
    table_add_row(table, columns, COLUMNS, &cells);
}

/* Rows that are ok and share a row of the printed table; their ratios are between least and most. */
struct shared {
    size_t n;
    double least, most;
};

static void share(struct shared *shared, const cJSON *figure)
{
    double ratio = json_number(figure, "ratio");
    shared->least = shared->n++ ? fmin(shared->least, ratio) : ratio;
    shared->most = fmax(shared->most, ratio);
}

/* Adds the row of all that share it, unless there are none: so many sizes of a figure or, if figure is NULL, figures.
 */
static void add_shared(cJSON *table, const cJSON *figure, const struct shared *shared)
{
    struct cells cells = {.verdict = "ok"};
    if (!shared->n)
        return;
    if (figure) {
        snprintf(cells.name, sizeof cells.name, "%s %s", json_string(figure, "subject"), json_string(figure, "name"));
        snprintf(cells.size, sizeof cells.size, "%zu size%s", shared->n, text_plural(shared->n));
    } else
        snprintf(cells.name, sizeof cells.name, "%zu other figure%s", shared->n, text_plural(shared->n));
    snprintf(cells.change, sizeof cells.change, "%+.1f to %+.1f %%", 100 * (shared->least - 1),
             100 * (shared->most - 1));
    table_add_row(table, columns, COLUMNS, &cells);
}

static int same_figure(const cJSON *a, const cJSON *b)
{
    return a && b && !strcmp(json_string(a, "subject"), json_string(b, "subject")) &&
           !strcmp(json_string(a, "name"), json_string(b, "name"));
}

/* Returns the first row that is a mean over sizes; the rows before it are single sizes. */
static const cJSON *first_mean(const cJSON *judged)
{
    const cJSON *row = judged->child;
    while (row && json_number(row, "sizes") == 1)
        row = row->next;
    return row;
}

/* Prints the sizes of each figure and the mean over them. Unless --all is given, sizes that are ok share a row; of more
 * than MANY rows, so do all figures that are ok and have a single size or none. */
static void print_judged(FILE *out, const cJSON *judged, const struct compare_options *o)
{
    enum { MANY = 60 };
    const cJSON *means = first_mean(judged), *mean = means;
    const int is_long = !o->all && cJSON_GetArraySize(judged) > MANY;
    struct shared figures = {0};
    cJSON *table = begin_table(o, "Geometric means over the runs, and their change; + is worse.", 1);
    for (const cJSON *row = judged->child, *first = row; row != means; first = row) {
        int whole = o->all || row->next == means || !same_figure(row, row->next);
        struct shared sizes = {0};
        for (; row != means && same_figure(row, first); row = row->next)
            if ((whole && !is_long) || strcmp(json_string(row, "verdict"), verdict_name[VERDICT_OK]) != 0)
                add_row(table, row, o);
            else
                share(whole ? &figures : &sizes, row);
        add_shared(table, first, &sizes);
        if (same_figure(mean, first)) {
            add_row(table, mean, o);
            mean = mean->next;
        }
    }
    add_shared(table, NULL, &figures);
    table_print(out, "", table);
    cJSON_Delete(table);
}

/* Prints a table of the figures that are not judged. */
static void print_others(FILE *out, const cJSON *figures, const struct compare_options *o)
{
    char title[300];
    snprintf(title, sizeof title, "Other figures, medians over runs; ratio: %s / %s", o->name[1], o->name[0]);
    cJSON *table = begin_table(o, title, 0);
    for (const cJSON *figure = figures->child; figure; figure = figure->next)
        add_row(table, figure, o);
    table_print(out, "", table);
    cJSON_Delete(table);
}

/* ---- the verdict ---- */

/* Prints the largest change among rows with this verdict but without wrong elements, and that row's name. */
static void print_worst(FILE *out, const cJSON *judged, const char *verdict)
{
    const cJSON *worst = NULL;
    char change[CELL], size[CELL] = "";
    for (const cJSON *row = judged->child; row; row = row->next)
        if (!strcmp(json_string(row, "verdict"), verdict) &&
            !cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(row, "wrong_elements")) &&
            (!worst || json_number(row, "ratio") > json_number(worst, "ratio")))
            worst = row;
    if (!worst)
        return;
    int whole = json_number(worst, "sizes") > 1;
    if (json_number(worst, "bytes") > 0)
        text_bytes(size, json_number(worst, "bytes"));
    fprintf(out, " %s (%s %s%s%s)", text_change(change, json_number(worst, "ratio"), NAN, NAN),
            json_string(worst, "subject"), json_string(worst, "name"), whole || *size ? " " : "",
            whole ? "all sizes" : size);
}

/* Prints how certain the verdict is: the chance of a false alarm or, with few runs, the ratio `far` that counts. */
static void print_confidence(FILE *out, const cJSON *json, const struct compare_options *o, double far, int possible)
{
    char change[CELL];
    text_change(change, far, NAN, NAN);
    if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "judged_by_spread")))
        fprintf(out, "%g %% chance of any false alarm; ", 100 * json_number(json, "level"));
    if (!possible)
        fprintf(out, "too few runs to rule out chance, so what is worse by more than %s is ambiguous; ", change);
    else if (o->baselines < VERDICT_RUNS)
        fprintf(out, "fewer than %d baselines, so only what is beyond %s in every run is called regressed; ",
                VERDICT_RUNS, change);
    if (json_number(json, "pairs") > 0)
        fprintf(out, "%zu pairs of runs made in turn", o->baselines);
    else
        fprintf(out, "%zu against %zu run%s", o->candidates, o->baselines, text_plural(o->baselines));
}

static const char *const claim[] = {
    [COMPARE_OK] = "no figure is worse by more than %g %%",
    [COMPARE_REGRESSED] = "the figures called regressed are worse by more than %g %%, or have wrong elements",
    [COMPARE_AMBIGUOUS] = "figures are worse by more than %g %%, which may be %s",
    [COMPARE_MISSING] = "the baseline has figures that a candidate run lacks",
};

static void print_verdict(FILE *out, const cJSON *json, const struct compare_options *o)
{
    const cJSON *judged = cJSON_GetObjectItemCaseSensitive(json, "judged");
    size_t n[VERDICTS] = {0}, rows = (size_t)cJSON_GetArraySize(judged), means = 0;
    int status = (int)json_number(json, "exit_status");
    double level = json_number(json, "level"), bar = o->tolerance;
    double far = (1 + o->tolerance / 100) * (1 + o->floor / 100); /* ratios above this count if there is no interval */
    int possible = o->baselines >= VERDICT_RUNS || verdict_is_possible(o->baselines, o->candidates, level);
    for (const cJSON *row = first_mean(judged); row; row = row->next)
        means++;
    for (const cJSON *row = judged->child; row; row = row->next) {
        for (int v = 0; v < VERDICTS; v++)
            n[v] += !strcmp(json_string(row, "verdict"), verdict_name[v]);
        size_t baselines = json_count(row, "n_baseline"); /* baselines that have the figure */
        if (status == COMPARE_OK && baselines < VERDICT_RUNS && !verdict_is_possible(baselines, o->candidates, level))
            bar = 100 * (far - 1);
    }
    fprintf(out, "\nVerdict: %s", json_string(json, "verdict"));
    if (status == COMPARE_REGRESSED || status == COMPARE_AMBIGUOUS)
        print_worst(out, judged, json_string(json, "verdict"));
    fprintf(out, ": ");
    if (status == COMPARE_OK && cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "judged_by_spread")))
        fprintf(out, "no figure is known to be worse by more than %g %%", bar);
    else
        fprintf(out, claim[status], bar,
                json_number(json, "doubtful") > 0 ? "due to other processes" : "chance: use more runs");
    fprintf(out, " (%zu judged", rows - means);
    if (means)
        fprintf(out, " and %zu means over sizes", means);
    for (int v = VERDICTS - 1; v > VERDICT_NEW; v--) /* worst verdict first */
        if (n[v])
            fprintf(out, ", %zu %s", n[v], verdict_name[v]);
    fprintf(out, "; tolerance %g %%; ", o->tolerance);
    print_confidence(out, json, o, far, possible);
    fprintf(out, ").\n");
}

/* Prints a sentence if other processes are why figures are not called regressed or improved. */
static void print_doubt(FILE *out, const cJSON *json)
{
    int doubtful = (int)json_number(json, "doubtful");
    if (doubtful)
        fprintf(
            out,
            "Other processes used %.2f cores during the candidate runs and %.2f during the baseline runs, which may be "
            "why figures are %s: measure again on a quiet machine%s.\n",
            json_number(cJSON_GetObjectItemCaseSensitive(json, "candidate"), "other_processes_cores"),
            json_number(cJSON_GetObjectItemCaseSensitive(json, "baseline"), "other_processes_cores"),
            doubtful > 0 ? "worse" : "better",
            json_number(json, "pairs") > 0 ? "" : ", baseline and candidate in turn");
}

void compare_print(FILE *out, const cJSON *json, const struct compare_options *o)
{
    const cJSON *differences = cJSON_GetObjectItemCaseSensitive(json, "differences");
    print_runs(out, cJSON_GetObjectItemCaseSensitive(json, "baseline"));
    print_runs(out, cJSON_GetObjectItemCaseSensitive(json, "candidate"));
    print_kind(out, "Settings differ:\n", differences, difference_is_refused);
    print_kind(out, "Settings differ, as allowed:\n", differences, is_allowed_setting);
    print_kind(out, "Other differences (informational):\n", differences, is_informational);
    if (json_number(json, "exit_status") == COMPARE_INCOMPARABLE) {
        fprintf(out, "To compare the runs anyway, name these settings with --allow, or give --allow all.\n\n"
                     "Verdict: incomparable: the runs were made with different settings.\n");
        return;
    }
    print_judged(out, cJSON_GetObjectItemCaseSensitive(json, "judged"), o);
    if (*o->label)
        print_others(out, cJSON_GetObjectItemCaseSensitive(json, "figures"), o);
    print_verdict(out, json, o);
    print_doubt(out, json);
}

/* ---- test cases ---- */

static void add_settings(struct junit *junit, const cJSON *json)
{
    int differ = json_number(json, "exit_status") == COMPARE_INCOMPARABLE;
    junit_add(junit, &(struct junit_case){.class = "ddpbench.compare",
                                          .name = "the same settings",
                                          .seconds = NAN,
                                          .outcome = differ ? JUNIT_ERROR : JUNIT_PASSED,
                                          .type = "incomparable",
                                          .message = "the settings of the runs differ; see the output"});
}

static enum junit_outcome outcome_of(const char *verdict)
{
    return !strcmp(verdict, verdict_name[VERDICT_REGRESSED]) || !strcmp(verdict, verdict_name[VERDICT_MISSING])
               ? JUNIT_FAILED
           : !strcmp(verdict, verdict_name[VERDICT_AMBIGUOUS]) ? JUNIT_SKIPPED
                                                               : JUNIT_PASSED;
}

static void add_case(struct junit *junit, const cJSON *figure, const struct compare_options *o)
{
    const char *verdict = json_string(figure, "verdict");
    struct cells cells = {0};
    char name[300], message[600];
    fill_cells(&cells, figure, o);
    int sized = *cells.size != '-';
    snprintf(name, sizeof name, "%s%s%s", cells.name, sized ? " " : "", sized ? cells.size : "");
    if (json_number(figure, "sizes") > 1)
        snprintf(message, sizeof message, "%s: change %s, the mean over %.0f sizes", cells.verdict, cells.change,
                 json_number(figure, "sizes"));
    else
        snprintf(message, sizeof message, "%s: %s %s, %s %s, change %s", cells.verdict, o->name[0], cells.baseline,
                 o->name[1], cells.candidate, cells.change);
    junit_add(junit, &(struct junit_case){
                         .class = "ddpbench.compare",
                         .name = name,
                         .seconds = strcmp(json_string(figure, "unit"), "s") ? NAN : json_number(figure, "candidate"),
                         .outcome = outcome_of(verdict),
                         .type = verdict,
                         .message = message});
}

void compare_print_junit(FILE *out, const cJSON *json, const struct compare_options *o)
{
    struct junit junit;
    char *words = NULL;
    size_t length = 0;
    FILE *text = text_begin(&words, &length);
    compare_print(text, json, o);
    text_end(text);
    junit_begin(&junit);
    add_settings(&junit, json);
    for (const cJSON *row = cJSON_GetObjectItemCaseSensitive(json, "judged")->child; row; row = row->next)
        add_case(&junit, row, o);
    junit_end(&junit, out, "ddpbench compare", words);
    free(words);
}
