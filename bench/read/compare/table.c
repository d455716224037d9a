/* table.c - prints a comparison as text, and as JUnit test cases for CI systems. */
#include "compare/outcome.h"

#include "base/json.h"
#include "base/junit.h"
#include "base/table.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the runs and their differences ---- */

static void print_runs(FILE *out, const struct comparison *c, int side)
{
    fprintf(out, "%s: %zu run%s:", c->name[side], c->n[side], text_plural(c->n[side]));
    for (size_t i = 0; i < c->n[side]; i++)
        fprintf(out, " %s%s", c->run[side][i].saved.directory, i + 1 < c->n[side] ? "," : "\n");
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

/* Prints the differences of a kind below a heading; nothing if there are none. */
static void print_kind(FILE *out, const char *heading, const cJSON *differences, enum difference_kind kind)
{
    for (const cJSON *d = differences->child; d; d = d->next) {
        if (difference_kind(d) != kind)
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
    char name[240], size[CELL], typical[SIDES][CELL + 16], verdict[128], change[CELL], seen[CELL], more[CELL],
        ratio[CELL];
};

#define CELLS(field) COLUMN_CHARS, offsetof(struct cells, field)
static const struct column columns[] = {
    {"name", "figure", CELLS(name), .width = -1},        {"size", "size", CELLS(size), .width = 9},
    {"baseline", NULL, CELLS(typical[0]), .width = 16},  {"candidate", NULL, CELLS(typical[1]), .width = 16},
    {"verdict", "verdict", CELLS(verdict), .width = -9}, {"change", "change", CELLS(change), .width = -1},
    {"seen_from", "seen from", CELLS(seen), .width = 9}, {"more_runs", "more runs", CELLS(more), .width = 9},
    {"ratio", "ratio", CELLS(ratio), .width = 7}};
#undef CELLS
enum { COLUMN_TYPICAL = 2, COLUMN_VERDICT = 4, COLUMN_RATIO = 8, COLUMNS };

/* Returns a table without rows: for the figures that get a verdict (judged 1), or for the others (judged 0). */
static cJSON *begin_table(const struct comparison *c, const char *title, int judged)
{
    char heading[SIDES][140];
    struct column column[COLUMNS];
    memcpy(column, columns, sizeof columns);
    for (int side = 0; side < SIDES; side++) {
        snprintf(heading[side], sizeof heading[side], "%s (n=%zu)", c->name[side], c->n[side]);
        column[COLUMN_TYPICAL + side].heading = heading[side];
    }
    if (!judged)
        column[COLUMN_VERDICT] = column[COLUMN_RATIO];
    const char *note = judged ? "Seen from: the smallest slowdown that these runs would have shown. More runs: of each "
                                "side, to lower that to the tolerance, if change and spread stay as they are."
                              : NULL;
    return table_json(&(struct table){.key = "compare",
                                      .title = title,
                                      .column = column,
                                      .columns = judged ? COLUMN_RATIO : COLUMN_VERDICT + 1,
                                      .note = {note}});
}

static void fill_unseen(struct cells *cells, double seen_from, double more_runs)
{
    text_change(cells->seen, seen_from, NAN, NAN);
    snprintf(cells->more, CELL, isfinite(more_runs) ? "%.0f" : "-", more_runs);
}

/* Fills the cells that figures with and without a verdict have: values are in a unit that suits both sides, with the
 * number of runs unless all have the figure. */
static void fill_values(struct cells *cells, const struct comparison *c, const struct verdict_figure *f, size_t sizes)
{
    struct side side[SIDES] = {compare_side_of(c, f, sizes, BASELINE), compare_side_of(c, f, sizes, CANDIDATE)};
    double like = fmax(fabs(side[BASELINE].value), fabs(side[CANDIDATE].value));
    snprintf(cells->name, sizeof cells->name, "%s %s", f->figure.subject, f->figure.name);
    text_bytes(cells->size, f->figure.bytes);
    text_ratio(cells->ratio, side[CANDIDATE].value / side[BASELINE].value);
    for (int i = 0; i < SIDES; i++) {
        text_value_like(cells->typical[i], side[i].value, f->figure.unit, like);
        if (side[i].n < c->n[i] && isfinite(side[i].value))
            text_append(cells->typical[i], sizeof cells->typical[i], " (n=%zu)", side[i].n);
    }
}

static void fill_row(struct cells *cells, const struct comparison *c, const struct figure_verdict_row *row)
{
    char missing[64] = "";
    fill_values(cells, c, row->figure, row->sizes);
    if (row->sizes > 1)
        strcpy(cells->size, "all sizes");
    text_change(cells->change, row->ratio, row->low, row->high);
    fill_unseen(cells, row->seen_from, row->more_runs);
    if (row->verdict == VERDICT_MISSING)
        snprintf(missing, sizeof missing, " in %zu of %zu", c->n[CANDIDATE] - row->n[CANDIDATE], c->n[CANDIDATE]);
    snprintf(cells->verdict, sizeof cells->verdict, "%s%s%s", verdict_name[row->verdict], missing,
             row->wrong ? ": wrong elements" : "");
}

static void add_row(cJSON *table, const struct comparison *c, const struct figure_verdict_row *row)
{
    struct cells cells = {0};
    fill_row(&cells, c, row);
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
static int share(struct shared shared[VERDICTS], const struct figure_verdict_row *row)
{
    struct shared *with = &shared[row->verdict];
    if (row->verdict != VERDICT_OK && row->verdict != VERDICT_UNSEEN)
        return 0;
    if (!with->n++)
        *with = (struct shared){1, row->ratio, row->ratio, row->seen_from, row->more_runs};
    with->least = fmin(with->least, row->ratio);
    with->most = fmax(with->most, row->ratio);
    with->seen_from = larger(with->seen_from, row->seen_from);
    with->more_runs = larger(with->more_runs, row->more_runs);
    return 1;
}

/* Adds the shared rows to the table: each has a number of sizes of a figure or, if figure is NULL, of figures. */
static void add_shared(cJSON *table, const struct figure *figure, const struct shared shared[VERDICTS])
{
    for (int v = 0; v < VERDICTS; v++) {
        const struct shared *of = &shared[v];
        struct cells cells = {0};
        if (!of->n)
            continue;
        strcpy(cells.verdict, verdict_name[v]);
        if (figure) {
            snprintf(cells.name, sizeof cells.name, "%s %s", figure->subject, figure->name);
            snprintf(cells.size, sizeof cells.size, "%zu size%s", of->n, text_plural(of->n));
        } else
            snprintf(cells.name, sizeof cells.name, "%zu other figure%s", of->n, text_plural(of->n));
        snprintf(cells.change, sizeof cells.change, "%+.1f to %+.1f %%", 100 * (of->least - 1), 100 * (of->most - 1));
        fill_unseen(&cells, of->seen_from, of->more_runs);
        table_add_row(table, columns, COLUMNS, &cells);
    }
}

static int same_figure(const struct figure_verdict_row *a, const struct figure_verdict_row *b)
{
    return a->figure->size_group == b->figure->size_group;
}

/* Returns the sizes of each figure and the mean over them. Unless --all is given, ok sizes share a row, and unseen
 * sizes share another. With more than MANY rows, ok and unseen figures with a single size or none are shared, too. */
cJSON *compare_table(const struct comparison *c)
{
    enum { MANY = 60 };
    const struct figure_verdict_row *row = c->verdicts.row, *means = row + c->lines.judged, *mean = means;
    const int is_long = !c->all && c->verdicts.n > MANY;
    struct shared figures[VERDICTS] = {0};
    cJSON *table = begin_table(c, "Geometric means over the runs, and their change; + is worse.", 1);
    while (row < means) {
        const struct figure_verdict_row *first = row;
        int whole = c->all || row + 1 == means || !same_figure(row, row + 1);
        struct shared sizes[VERDICTS] = {0};
        for (; row < means && same_figure(row, first); row++)
            if ((whole && !is_long) || !share(whole ? figures : sizes, row))
                add_row(table, c, row);
        add_shared(table, &first->figure->figure, sizes);
        if (mean < c->verdicts.row + c->verdicts.n && same_figure(mean, first))
            add_row(table, c, mean++);
    }
    add_shared(table, NULL, figures);
    return table;
}

/* Prints a table of the figures that are not judged. */
static void print_others(FILE *out, const struct comparison *c)
{
    char title[300];
    snprintf(title, sizeof title, "Other figures, medians over runs; ratio: %s / %s", c->name[CANDIDATE],
             c->name[BASELINE]);
    cJSON *table = begin_table(c, title, 0);
    for (size_t i = c->lines.judged; i < c->lines.n; i++) {
        struct cells cells = {0};
        fill_values(&cells, c, c->lines.line[i], 1);
        table_add_row(table, columns, COLUMNS, &cells);
    }
    table_print(out, "", table);
    cJSON_Delete(table);
}

/* ---- the verdict ---- */

/* Writes the name of a row: subject, figure and size. */
static void name_row(char name[300], const struct figure_verdict_row *row)
{
    const struct figure *f = &row->figure->figure;
    char size[CELL] = "";
    if (row->sizes > 1)
        strcpy(size, "all sizes");
    else if (f->bytes > 0)
        text_bytes(size, f->bytes);
    snprintf(name, 300, "%.120s %.100s%s%s", f->subject, f->name, *size ? " " : "", size);
}

static int worst_first(const void *a, const void *b)
{
    double x = ((const struct interval_row *)a)->ratio.value, y = ((const struct interval_row *)b)->ratio.value;
    return (x < y) - (x > y);
}

struct intervals compare_intervals(const struct comparison *c)
{
    static const char mark[VERDICTS] = {'=', '+', '*', 'o', '+', '?', 'x'}; /* as in verdict_name */
    struct intervals all = {.what = "Change in %, + is worse", .within = c->rules.tolerance};
    char name[300];
    snprintf(all.band, sizeof all.band, "tolerance %g %%", c->tolerance);
    for (const struct figure_verdict_row *row = c->verdicts.row; row < c->verdicts.row + c->verdicts.n; row++) {
        name_row(name, row);
        intervals_add(&all, name, verdict_name[row->verdict], mark[row->verdict],
                      (struct measured){row->ratio, row->low, row->high});
    }
    if (all.n)
        qsort(all.row, all.n, sizeof *all.row, worst_first);
    return all;
}

/* Returns the row of this verdict, without wrong elements, that is worst: unseen up to the largest slowdown (NAN: any),
 * or of the largest ratio. For verdicts other than regressed, only rows with `summary` count. NULL: none. */
static const struct figure_verdict_row *worst_row(const struct verdicts *verdicts, enum figure_verdict v)
{
    const struct figure_verdict_row *worst = NULL;
    double most = -INFINITY;
    for (const struct figure_verdict_row *row = verdicts->row; row < verdicts->row + verdicts->n; row++) {
        double value = v == VERDICT_UNSEEN ? row->seen_from : row->ratio;
        if (row->verdict != v || row->wrong || (v != VERDICT_REGRESSED && !row->summary) || value <= most)
            continue;
        worst = row;
        most = isnan(value) ? INFINITY : value;
    }
    return worst;
}

/* Prints which slowdown the runs cannot show, and how many more runs would show it. */
static void print_unseen(FILE *out, const struct figure_verdict_row *row, double tolerance)
{
    const int few = row->n[BASELINE] < VERDICT_RUNS;
    char name[300], change[CELL];
    name_row(name, row);
    fprintf(out, "these runs would not have shown that %s is worse by %g %%, ", name, tolerance);
    if (isfinite(row->seen_from))
        fprintf(out, "only from %s on", text_change(change, row->seen_from, NAN, NAN));
    else
        fprintf(out, "nor by more");
    if (isfinite(row->more_runs))
        fprintf(out, "; it takes %s%.0f more run%s of each side%s", few ? "at least " : "", row->more_runs,
                text_plural((size_t)row->more_runs), few ? "" : ", if change and spread stay as they are");
    else
        fprintf(out, "; it takes a quieter machine");
}

/* Prints how certain the verdict is: the chance of a false alarm or, with few runs, the least ratio that counts. */
static void print_confidence(FILE *out, const struct comparison *c)
{
    const size_t baselines = c->n[BASELINE], candidates = c->n[CANDIDATE];
    char far[CELL]; /* changes above this count if there is no interval */
    text_change(far, (1 + c->rules.tolerance) * (1 + c->rules.floor), NAN, NAN);
    if (c->verdicts.by_spread)
        fprintf(out, "%g %% chance of any false alarm, and of any false ok%s; ", 100 * c->rules.level,
                c->rules.in_turn ? "" : ", if nothing else changed between the runs");
    if (baselines < VERDICT_RUNS && !verdict_is_possible(baselines, candidates, c->rules.level))
        fprintf(out,
                "too few runs to rule out chance, so figures worse by more than %s are ambiguous, the others unseen; ",
                far);
    else if (baselines < VERDICT_RUNS)
        fprintf(out,
                "fewer than %d baselines, so only figures beyond %s in every run are called regressed, and none ok; ",
                VERDICT_RUNS, far);
    if (c->rules.pairs)
        fprintf(out, "%zu pairs of runs made in turn", baselines);
    else
        fprintf(out, "%zu against %zu run%s", candidates, baselines, text_plural(baselines));
}

static const char *const claim[] = {
    [VERDICT_OK] = "no figure is worse by more than %g %%",
    [VERDICT_REGRESSED] = "the figures called regressed are worse by more than %g %%, or have wrong elements",
    [VERDICT_AMBIGUOUS] = "figures are worse by more than %g %%, maybe by chance or other processes: use more runs",
    [VERDICT_MISSING] = "the baseline has figures that a candidate run lacks",
};

void compare_print_verdict(FILE *out, const struct comparison *c)
{
    const size_t *n = c->verdicts.count, means = c->verdicts.n - c->lines.judged;
    const struct figure_verdict_row *worst = worst_row(&c->verdicts, c->verdict);
    char change[CELL], name[300];
    if (c->status == COMPARE_INCOMPARABLE) {
        fprintf(out, "Verdict: incomparable: the runs were made with different settings.\n");
        return;
    }
    fprintf(out, "Verdict: %s", verdict_name[c->verdict]);
    if (worst && (c->verdict == VERDICT_REGRESSED || c->verdict == VERDICT_AMBIGUOUS)) {
        name_row(name, worst);
        fprintf(out, " %s (%s)", text_change(change, worst->ratio, NAN, NAN), name);
    }
    fprintf(out, ": ");
    if (c->verdict == VERDICT_UNSEEN)
        print_unseen(out, worst, c->tolerance);
    else if (c->verdict == VERDICT_OK && n[VERDICT_UNSEEN] + n[VERDICT_AMBIGUOUS])
        fprintf(out, "no mean over sizes is worse by more than %g %%, though single sizes may be", c->tolerance);
    else
        fprintf(out, claim[c->verdict], c->tolerance);
    fprintf(out, " (%zu judged", c->lines.judged);
    if (means)
        fprintf(out, " and %zu means over sizes", means);
    for (int v = VERDICTS - 1; v > VERDICT_NEW; v--) /* worst verdict first */
        if (n[v])
            fprintf(out, ", %zu %s", n[v], verdict_name[v]);
    fprintf(out, "; tolerance %g %%; ", c->tolerance);
    print_confidence(out, c);
    fprintf(out, ").\n");
}

void compare_print_runs(FILE *out, const struct comparison *c)
{
    const cJSON *differences = cJSON_GetObjectItemCaseSensitive(c->json, "differences");
    print_runs(out, c, BASELINE);
    print_runs(out, c, CANDIDATE);
    print_kind(out, "Settings differ:\n", differences, DIFFERENCE_REFUSED);
    print_kind(out, "Settings differ, as allowed:\n", differences, DIFFERENCE_ALLOWED);
    print_kind(out, "Other differences (informational):\n", differences, DIFFERENCE_LISTED);
    if (c->status == COMPARE_INCOMPARABLE)
        fprintf(out, "To compare the runs anyway, name these settings with --allow, or give --allow all.\n");
    for (const cJSON *warning = json_first(c->json, "warnings"); warning; warning = warning->next)
        fprintf(out, "%s\n", warning->valuestring);
}

static char *text_of(const struct comparison *c)
{
    enum { DRAWN = 12 };
    char *text;
    size_t length;
    FILE *out = text_begin(&text, &length);
    compare_print_runs(out, c);
    if (c->status != COMPARE_INCOMPARABLE) {
        struct intervals all = compare_intervals(c);
        cJSON *table = compare_table(c);
        table_print(out, "", table);
        cJSON_Delete(table);
        intervals_print(out, &all, DRAWN);
        free(all.row);
        if (*c->label)
            print_others(out, c);
    }
    fputc('\n', out);
    compare_print_verdict(out, c);
    text_end(out);
    return text;
}

void compare_print_text(FILE *out, const void *shown)
{
    char *text = text_of(shown);
    text_print_lines(out, text);
    free(text);
}

/* ---- test cases ---- */

static void add_case(struct junit *junit, const struct comparison *c, const struct figure_verdict_row *row)
{
    static const enum junit_outcome outcome[VERDICTS] = {[VERDICT_REGRESSED] = JUNIT_FAILED,
                                                         [VERDICT_MISSING] = JUNIT_FAILED,
                                                         [VERDICT_AMBIGUOUS] = JUNIT_SKIPPED,
                                                         [VERDICT_UNSEEN] = JUNIT_SKIPPED};
    const int is_time = row->sizes == 1 && !strcmp(row->figure->figure.unit, "s");
    struct cells cells = {0};
    char name[300], message[800], unseen[120] = "";
    fill_row(&cells, c, row);
    name_row(name, row);
    if (row->verdict == VERDICT_UNSEEN)
        snprintf(unseen, sizeof unseen, ", seen from %s, %s more runs", cells.seen, cells.more);
    if (row->sizes > 1)
        snprintf(message, sizeof message, "%s: change %s, the mean over %zu sizes%s", cells.verdict, cells.change,
                 row->sizes, unseen);
    else
        snprintf(message, sizeof message, "%s: %s %s, %s %s, change %s%s", cells.verdict, c->name[BASELINE],
                 cells.typical[BASELINE], c->name[CANDIDATE], cells.typical[CANDIDATE], cells.change, unseen);
    junit_add(junit,
              &(struct junit_case){.class = "ddpbench.compare",
                                   .name = name,
                                   .seconds = is_time ? compare_side_of(c, row->figure, 1, CANDIDATE).value : NAN,
                                   .outcome = outcome[row->verdict],
                                   .type = verdict_name[row->verdict],
                                   .message = message});
}

static void print_junit(FILE *out, const void *shown)
{
    const struct comparison *c = shown;
    struct junit junit;
    char *text = text_of(c);
    junit_begin(&junit);
    junit_add(&junit, &(struct junit_case){.class = "ddpbench.compare",
                                           .name = "the same settings",
                                           .seconds = NAN,
                                           .outcome = c->status == COMPARE_INCOMPARABLE ? JUNIT_ERROR : JUNIT_PASSED,
                                           .type = "incomparable",
                                           .message = "the settings of the runs differ; see the output"});
    for (size_t i = 0; i < c->verdicts.n; i++)
        add_case(&junit, c, &c->verdicts.row[i]);
    junit_end(&junit, out, "ddpbench compare", text);
    free(text);
}

const struct form compare_forms[COMPARE_FORMS] = {
    [COMPARE_JSON] = {"json", "{\n\t\"program\":\t\"ddpbench\",\n\t\"mode\":\t\"compare\"", compare_print_json},
    [COMPARE_HTML] = {"html", DOCUMENT_HTML_BEGIN COMPARE_TITLE, compare_print_html},
    [COMPARE_JUNIT] = {"junit", JUNIT_BEGIN "ddpbench compare\"", print_junit}};
