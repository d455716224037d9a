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
    char name[240], size[CELL], baseline[CELL + 16], candidate[CELL + 16], verdict[128], change[CELL], seen[CELL],
        more[CELL], ratio[CELL];
};

#define CELLS(field) COLUMN_CHARS, offsetof(struct cells, field)
static const struct column columns[] = {
    {"name", "figure", CELLS(name), .width = -1},        {"size", "size", CELLS(size), .width = 9},
    {"baseline", NULL, CELLS(baseline), .width = 16},    {"candidate", NULL, CELLS(candidate), .width = 16},
    {"verdict", "verdict", CELLS(verdict), .width = -9}, {"change", "change", CELLS(change), .width = -1},
    {"seen_from", "seen from", CELLS(seen), .width = 9}, {"more_runs", "more runs", CELLS(more), .width = 9},
    {"ratio", "ratio", CELLS(ratio), .width = 7}};
#undef CELLS
enum { COLUMN_BASELINE = 2, COLUMN_CANDIDATE, COLUMN_VERDICT, COLUMN_RATIO = 8, COLUMNS };

/* Whether a row, or the whole comparison, has this verdict. */
static int is(const cJSON *row, int v)
{
    return !strcmp(json_string(row, "verdict"), verdict_name[v]);
}

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
    const char *note = judged ? "Seen from: the smallest slowdown that these runs would have shown. More runs: of each "
                                "side, to lower that to the tolerance, if change and spread stay as they are."
                              : NULL;
    return table_json(
        &(struct table){.key = "compare", .title = title, .column = column, .columns = n, .note = {note}});
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

static void fill_unseen(struct cells *cells, double seen_from, double more_runs)
{
    text_change(cells->seen, seen_from, NAN, NAN);
    snprintf(cells->more, CELL, isfinite(more_runs) ? "%.0f" : "-", more_runs);
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
    fill_unseen(cells, json_number(figure, "seen_from"), json_number(figure, "more_runs"));
    if (is(figure, VERDICT_MISSING))
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

/* Rows with the same verdict, ok or unseen, that share a row of the printed table; ratios are between least and most.
 */
struct shared {
    size_t n;
    double least, most, seen_from, more_runs; /* the last two: the largest, NAN if any is NAN */
};

static double larger(double a, double b)
{
    return isnan(a) || isnan(b) ? NAN : fmax(a, b);
}

/* Adds a row to `shared` if it is ok or unseen. Returns whether it is. */
static int share(struct shared shared[VERDICTS], const cJSON *figure)
{
    int v = is(figure, VERDICT_OK) ? VERDICT_OK : VERDICT_UNSEEN;
    struct shared *with = &shared[v];
    double ratio = json_number(figure, "ratio"), from = json_number(figure, "seen_from");
    double more = json_number(figure, "more_runs");
    if (!is(figure, v))
        return 0;
    if (!with->n++)
        *with = (struct shared){1, ratio, ratio, from, more};
    with->least = fmin(with->least, ratio);
    with->most = fmax(with->most, ratio);
    with->seen_from = larger(with->seen_from, from);
    with->more_runs = larger(with->more_runs, more);
    return 1;
}

/* Adds the shared rows to the table: each has a number of sizes of a figure or, if figure is NULL, of figures. */
static void add_shared(cJSON *table, const cJSON *figure, const struct shared shared[VERDICTS])
{
    for (int v = 0; v < VERDICTS; v++) {
        const struct shared *of = &shared[v];
        struct cells cells = {0};
        if (!of->n)
            continue;
        strcpy(cells.verdict, verdict_name[v]);
        if (figure) {
            snprintf(cells.name, sizeof cells.name, "%s %s", json_string(figure, "subject"),
                     json_string(figure, "name"));
            snprintf(cells.size, sizeof cells.size, "%zu size%s", of->n, text_plural(of->n));
        } else
            snprintf(cells.name, sizeof cells.name, "%zu other figure%s", of->n, text_plural(of->n));
        snprintf(cells.change, sizeof cells.change, "%+.1f to %+.1f %%", 100 * (of->least - 1), 100 * (of->most - 1));
        fill_unseen(&cells, of->seen_from, of->more_runs);
        table_add_row(table, columns, COLUMNS, &cells);
    }
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

/* Prints the sizes of each figure and the mean over them. Unless --all is given, ok sizes share a row, and unseen sizes
 * share another. With more than MANY rows, ok and unseen figures with a single size or none are shared, too. */
static void print_judged(FILE *out, const cJSON *judged, const struct compare_options *o)
{
    enum { MANY = 60 };
    const cJSON *means = first_mean(judged), *mean = means;
    const int is_long = !o->all && cJSON_GetArraySize(judged) > MANY;
    struct shared figures[VERDICTS] = {0};
    cJSON *table = begin_table(o, "Geometric means over the runs, and their change; + is worse.", 1);
    for (const cJSON *row = judged->child, *first = row; row != means; first = row) {
        int whole = o->all || row->next == means || !same_figure(row, row->next);
        struct shared sizes[VERDICTS] = {0};
        for (; row != means && same_figure(row, first); row = row->next)
            if ((whole && !is_long) || !share(whole ? figures : sizes, row))
                add_row(table, row, o);
        add_shared(table, first, sizes);
        if (same_figure(mean, first)) {
            add_row(table, mean, o);
            mean = mean->next;
        }
    }
    add_shared(table, NULL, figures);
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

static int is_true(const cJSON *row, const char *member)
{
    return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(row, member));
}

/* Writes the name of a row: subject, figure and size. */
static void name_row(char name[300], const cJSON *row)
{
    char size[CELL] = "";
    int whole = json_number(row, "sizes") > 1;
    if (json_number(row, "bytes") > 0)
        text_bytes(size, json_number(row, "bytes"));
    snprintf(name, 300, "%.120s %.100s%s%s", json_string(row, "subject"), json_string(row, "name"),
             whole || *size ? " " : "", whole ? "all sizes" : size);
}

/* Returns the row of this verdict, without wrong elements, that has the largest `member` (missing: larger than any).
 * For verdicts other than regressed, only rows with `summary` count. NULL: none. */
static const cJSON *worst_row(const cJSON *judged, enum figure_verdict v, const char *member)
{
    const cJSON *worst = NULL;
    double most = -INFINITY;
    for (const cJSON *row = judged->child; row; row = row->next) {
        double value = json_number(row, member);
        if (!is(row, v) || is_true(row, "wrong_elements") || (v != VERDICT_REGRESSED && !is_true(row, "summary")) ||
            value <= most)
            continue;
        worst = row;
        most = isnan(value) ? INFINITY : value;
    }
    return worst;
}

/* Prints which slowdown the runs cannot show, and how many more runs would show it. */
static void print_unseen(FILE *out, const cJSON *judged, const struct compare_options *o)
{
    const cJSON *row = worst_row(judged, VERDICT_UNSEEN, "seen_from");
    double from = json_number(row, "seen_from"), more = json_number(row, "more_runs");
    const int few = json_number(row, "n_baseline") < VERDICT_RUNS;
    char name[300], change[CELL];
    name_row(name, row);
    fprintf(out, "these runs would not have shown that %s is worse by %g %%, ", name, o->tolerance);
    if (isfinite(from))
        fprintf(out, "only from %s on", text_change(change, from, NAN, NAN));
    else
        fprintf(out, "nor by more");
    if (isfinite(more))
        fprintf(out, "; it takes %s%.0f more run%s of each side%s", few ? "at least " : "", more,
                text_plural((size_t)more), few ? "" : ", if change and spread stay as they are");
    else
        fprintf(out, "; it takes a quieter machine");
}

/* Prints how certain the verdict is: the chance of a false alarm or, with few runs, the least ratio that counts. */
static void print_confidence(FILE *out, const cJSON *json, const struct compare_options *o, double far, int possible)
{
    char change[CELL];
    text_change(change, far, NAN, NAN);
    if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "judged_by_spread")))
        fprintf(out, "%g %% chance of any false alarm, and of any false ok%s; ", 100 * json_number(json, "level"),
                is_true(json, "in_turn") ? "" : ", if nothing else changed between the runs");
    if (!possible)
        fprintf(out,
                "too few runs to rule out chance, so figures worse by more than %s are ambiguous, the others unseen; ",
                change);
    else if (o->baselines < VERDICT_RUNS)
        fprintf(out,
                "fewer than %d baselines, so only figures beyond %s in every run are called regressed, and none ok; ",
                VERDICT_RUNS, change);
    if (json_number(json, "pairs") > 0)
        fprintf(out, "%zu pairs of runs made in turn", o->baselines);
    else
        fprintf(out, "%zu against %zu run%s", o->candidates, o->baselines, text_plural(o->baselines));
}

static const char *const claim[] = {
    [VERDICT_OK] = "no figure is worse by more than %g %%",
    [VERDICT_REGRESSED] = "the figures called regressed are worse by more than %g %%, or have wrong elements",
    [VERDICT_AMBIGUOUS] = "figures are worse by more than %g %%, maybe by chance or other processes: use more runs",
    [VERDICT_MISSING] = "the baseline has figures that a candidate run lacks",
};

static void print_verdict(FILE *out, const cJSON *json, const struct compare_options *o)
{
    const cJSON *judged = cJSON_GetObjectItemCaseSensitive(json, "judged"), *worst;
    size_t n[VERDICTS] = {0}, rows = (size_t)cJSON_GetArraySize(judged), means = 0;
    double far = (1 + o->tolerance / 100) * (1 + o->floor / 100); /* ratios above this count if there is no interval */
    int possible =
        o->baselines >= VERDICT_RUNS || verdict_is_possible(o->baselines, o->candidates, json_number(json, "level"));
    int verdict = 0;
    char change[CELL], name[300];
    while (!is(json, verdict))
        verdict++;
    for (const cJSON *row = first_mean(judged); row; row = row->next)
        means++;
    for (const cJSON *row = judged->child; row; row = row->next)
        for (int v = 0; v < VERDICTS; v++)
            n[v] += (size_t)is(row, v);
    fprintf(out, "\nVerdict: %s", verdict_name[verdict]);
    worst = verdict == VERDICT_REGRESSED || verdict == VERDICT_AMBIGUOUS ? worst_row(judged, verdict, "ratio") : NULL;
    if (worst) {
        name_row(name, worst);
        fprintf(out, " %s (%s)", text_change(change, json_number(worst, "ratio"), NAN, NAN), name);
    }
    fprintf(out, ": ");
    if (verdict == VERDICT_UNSEEN)
        print_unseen(out, judged, o);
    else if (verdict == VERDICT_OK && n[VERDICT_UNSEEN] + n[VERDICT_AMBIGUOUS])
        fprintf(out, "no mean over sizes is worse by more than %g %%, though single sizes may be", o->tolerance);
    else
        fprintf(out, claim[verdict], o->tolerance);
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
    for (const cJSON *warning = json_first(json, "warnings"); warning; warning = warning->next)
        fprintf(out, "%s\n", warning->valuestring);
    print_judged(out, cJSON_GetObjectItemCaseSensitive(json, "judged"), o);
    if (*o->label)
        print_others(out, cJSON_GetObjectItemCaseSensitive(json, "figures"), o);
    print_verdict(out, json, o);
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

static enum junit_outcome outcome_of(const cJSON *figure)
{
    return is(figure, VERDICT_REGRESSED) || is(figure, VERDICT_MISSING)  ? JUNIT_FAILED
           : is(figure, VERDICT_AMBIGUOUS) || is(figure, VERDICT_UNSEEN) ? JUNIT_SKIPPED
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
    if (is(figure, VERDICT_UNSEEN))
        snprintf(message + strlen(message), sizeof message - strlen(message), ", seen from %s, %s more runs",
                 cells.seen, cells.more);
    junit_add(junit, &(struct junit_case){
                         .class = "ddpbench.compare",
                         .name = name,
                         .seconds = strcmp(json_string(figure, "unit"), "s") ? NAN : json_number(figure, "candidate"),
                         .outcome = outcome_of(figure),
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
    for (const cJSON *row = json_first(json, "judged"); row; row = row->next)
        add_case(&junit, row, o);
    junit_end(&junit, out, "ddpbench compare", words);
    free(words);
}
