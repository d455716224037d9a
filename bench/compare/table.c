/* table.c - what a comparison found, as a table for people. */
#include "compare/outcome.h"

#include "base/table.h"
#include "base/text.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_VALUE = 100 };

/* ---- what was compared, and in what it differs ---- */

static void print_runs(FILE *out, const char *name, const struct compare_run *run, size_t n)
{
    fprintf(out, "%s: %zu run%s:", name, n, text_plural(n));
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s %s", i ? "," : "", run[i].saved.directory);
    fprintf(out, "\n");
}

static void print_setting(FILE *out, const char *whose, const char *value)
{
    if (!value)
        fprintf(out, "%s not set", whose);
    else
        fprintf(out, "%s %.*s%s", whose, LONGEST_VALUE, *value ? value : "''",
                strlen(value) > LONGEST_VALUE ? "..." : "");
}

enum kind { REFUSED, ALLOWED, ENVIRONMENT };

static enum kind kind_of(const struct difference *d)
{
    return d->environment ? ENVIRONMENT : d->allowed ? ALLOWED : REFUSED;
}

static void print_differences(FILE *out, const struct comparison *c, enum kind kind, const char *heading)
{
    for (size_t i = 0, n = 0; i < c->differences.n; i++) {
        const struct difference *d = &c->differences.item[i];
        if (kind_of(d) != kind)
            continue;
        fprintf(out, "%s  %s: ", n++ ? "" : heading, d->key);
        print_setting(out, "baseline", d->baseline);
        fprintf(out, ", ");
        print_setting(out, d->whose, d->other);
        fprintf(out, "\n");
    }
}

/* What to give to --allow for the runs to be compared anyway. */
static void print_allow(FILE *out, const struct comparison *c)
{
    const char *separator = *c->options->allow ? "," : "";
    fprintf(out, "To compare them anyway: --allow %s", c->options->allow);
    for (size_t i = 0; i < c->differences.n; i++) {
        const struct difference *d = &c->differences.item[i];
        int listed = kind_of(d) != REFUSED;
        for (size_t j = 0; j < i; j++)
            listed = listed || !strcmp(c->differences.item[j].key, d->key);
        if (!listed)
            fprintf(out, "%s%s", separator, d->key);
        separator = listed ? separator : ",";
    }
    fprintf(out, "\n");
}

/* ---- the tables ---- */

/* A row in words: units differ from row to row. */
struct words {
    char name[180], size[CELL], baseline[CELL + 16], candidate[CELL + 16], ratio[CELL], interval[CELL], verdict[96];
};

struct rows {
    struct words *row;
    size_t n;
};

static struct words *add_words(struct rows *rows, const struct figure *figure)
{
    struct words *words = &rows->row[rows->n++];
    snprintf(words->name, sizeof words->name, "%s %s", figure->subject, figure->name);
    text_bytes(words->size, figure->bytes);
    return words;
}

/* A median, and over how many runs it is where that is not all of them. */
static void median_words(char text[CELL + 16], double value, const char *unit, double like, size_t n, size_t runs)
{
    size_t length = strlen(text_value_like(text, value, unit, like));
    if (n < runs && isfinite(value))
        snprintf(text + length, CELL + 16 - length, " (n=%zu)", n);
}

static void add_medians(struct words *words, const struct comparison *c, const struct compare_medians *m,
                        const char *unit)
{
    double like = fmax(fabs(m->baseline), fabs(m->candidate)); /* the other one, where one is not a number */
    median_words(words->baseline, m->baseline, unit, like, m->n_baseline, c->options->baselines);
    median_words(words->candidate, m->candidate, unit, like, m->n_candidate, c->options->candidates);
}

#define FIELD(field) offsetof(struct words, field)

static void print_words(FILE *out, const struct comparison *c, const struct rows *rows, const char *title, int columns)
{
    const struct compare_options *o = c->options;
    char baseline[140], candidate[140];
    snprintf(baseline, sizeof baseline, "%s (n=%zu)", o->baseline_name, o->baselines);
    snprintf(candidate, sizeof candidate, "%s (n=%zu)", o->candidate_name, o->candidates);
    const struct column column[] = {
        {.key = "name", .heading = "figure", .kind = COLUMN_CHARS, .offset = FIELD(name), .width = -1},
        {.key = "size", .heading = "size", .kind = COLUMN_CHARS, .offset = FIELD(size), .width = 9},
        {.key = "baseline", .heading = baseline, .kind = COLUMN_CHARS, .offset = FIELD(baseline), .width = 16},
        {.key = "candidate", .heading = candidate, .kind = COLUMN_CHARS, .offset = FIELD(candidate), .width = 16},
        {.key = "ratio", .heading = "ratio", .kind = COLUMN_CHARS, .offset = FIELD(ratio), .width = 7},
        {.key = "interval", .heading = "interval", .kind = COLUMN_CHARS, .offset = FIELD(interval), .width = 17},
        {.key = "verdict", .heading = "verdict", .kind = COLUMN_CHARS, .offset = FIELD(verdict), .width = -1},
    };
    cJSON *json = table_json(&(struct table){.key = "compare",
                                             .title = title,
                                             .column = column,
                                             .columns = (size_t)columns,
                                             .row = rows->row,
                                             .rows = rows->n,
                                             .row_bytes = sizeof *rows->row});
    table_print(out, json);
    cJSON_Delete(json);
}

static void add_verdict(struct rows *rows, const struct comparison *c, size_t i)
{
    const struct verdict_row *row = &c->verdicts.row[i];
    const struct compare_line *line = &c->lines.item[c->line_of[i]];
    struct words *words = add_words(rows, line->figure);
    struct compare_medians m = {row->baseline, row->candidate, row->n_baseline, row->n_candidate};
    char missing[64] = "";
    if (row->sizes > 1)
        strcpy(words->size, "all sizes");
    add_medians(words, c, &m, line->figure->unit);
    text_ratio(words->ratio, row->ratio);
    text_range(words->interval, row->low, row->high);
    if (row->verdict == VERDICT_MISSING)
        snprintf(missing, sizeof missing, " in %zu of %zu", c->options->candidates - row->n_candidate,
                 c->options->candidates);
    snprintf(words->verdict, sizeof words->verdict, "%s%s%s", verdict_name[row->verdict], missing,
             line->wrong && row->sizes == 1 ? ": wrong elements" : "");
}

/* The sizes [first, end) of a group that are ok, in one row. */
static void add_ok(struct rows *rows, const struct comparison *c, size_t first, size_t end)
{
    size_t ok = 0;
    double least = INFINITY, most = 0;
    for (size_t i = first; i < end; i++) {
        const struct verdict_row *row = &c->verdicts.row[i];
        if (row->verdict != VERDICT_OK)
            continue;
        ok++;
        least = fmin(least, row->ratio);
        most = fmax(most, row->ratio);
    }
    if (!ok)
        return;
    struct words *words = add_words(rows, c->lines.item[c->line_of[first]].figure);
    snprintf(words->size, sizeof words->size, "%zu size%s", ok, text_plural(ok));
    strcpy(words->ratio, "ratios");
    text_range(words->interval, least, most);
    strcpy(words->verdict, verdict_name[VERDICT_OK]);
}

/* The sizes of a figure, those that are ok in one row unless all are asked for, and the mean over them. */
static size_t add_size_group(struct rows *rows, const struct comparison *c, size_t first, size_t singles)
{
    size_t end = first, size_group = c->verdicts.row[first].size_group;
    while (end < singles && c->verdicts.row[end].size_group == size_group)
        end++;
    int whole = c->options->all || end - first == 1;
    for (size_t i = first; i < end; i++)
        if (whole || c->verdicts.row[i].verdict != VERDICT_OK)
            add_verdict(rows, c, i);
    if (!whole)
        add_ok(rows, c, first, end);
    for (size_t i = singles; i < c->verdicts.n; i++)
        if (c->verdicts.row[i].size_group == size_group)
            add_verdict(rows, c, i);
    return end;
}

static size_t count_singles(const struct comparison *c)
{
    size_t singles = 0;
    while (singles < c->verdicts.n && c->verdicts.row[singles].sizes == 1)
        singles++;
    return singles;
}

static void print_judged(FILE *out, const struct comparison *c)
{
    size_t singles = count_singles(c);
    struct rows rows = {.row = allocate(c->verdicts.n + c->lines.size_groups, sizeof *rows.row)};
    for (size_t i = 0; i < singles;)
        i = add_size_group(&rows, c, i, singles);
    print_words(out, c, &rows, "Medians over runs; ratio of their geometric means, above 1 is worse.", 7);
    free(rows.row);
}

/* Figures that are not judged, reference against candidate. */
static void print_others(FILE *out, const struct comparison *c)
{
    const struct compare_options *o = c->options;
    char title[300];
    struct rows rows = {.row = allocate(c->lines.n, sizeof *rows.row)};
    for (size_t i = 0; i < c->lines.n; i++) {
        const struct compare_line *line = &c->lines.item[i];
        if (line->judged)
            continue;
        struct compare_medians m = compare_medians(line, o->baselines, o->candidates);
        struct words *words = add_words(&rows, line->figure);
        add_medians(words, c, &m, line->figure->unit);
        text_ratio(words->ratio, m.candidate / m.baseline);
    }
    snprintf(title, sizeof title, "Other figures, medians over runs; ratio: %s / %s", o->candidate_name,
             o->baseline_name);
    print_words(out, c, &rows, title, 5);
    free(rows.row);
}

/* ---- the verdict in words ---- */

const char *compare_verdict(const struct comparison *c)
{
    static const char *const word[] = {[COMPARE_OK] = "ok",
                                       [COMPARE_REGRESSED] = "regressed",
                                       [COMPARE_AMBIGUOUS] = "ambiguous",
                                       [COMPARE_MISSING] = "missing",
                                       [COMPARE_INCOMPARABLE] = "incomparable"};
    return word[c->status];
}

static void print_meaning(FILE *out, const struct comparison *c)
{
    const struct compare_options *o = c->options;
    switch (c->status) {
    case COMPARE_REGRESSED:
        fprintf(out, "the marked figures are worse by more than %g %%, or have wrong elements", o->tolerance);
        break;
    case COMPARE_MISSING:
        fprintf(out, "the baseline has figures that a candidate run does not have");
        break;
    case COMPARE_AMBIGUOUS:
        fprintf(out, "figures are worse by more than %g %%, but not significantly; use more runs", o->tolerance);
        break;
    default:
        fprintf(out, "no figure is worse by more than %g %%", o->tolerance);
    }
}

/* Figures that too few baselines have to know their spread, the first few of them by name. */
static void print_without_spread(FILE *out, const struct comparison *c)
{
    enum { NAMED = 4 };
    char size[CELL];
    size_t named = 0;
    for (size_t i = 0; i < c->verdicts.n && named < NAMED; i++) {
        const struct figure *figure = c->lines.item[c->line_of[i]].figure;
        if (!c->verdicts.row[i].without_spread)
            continue;
        fprintf(out, "%s%s %s", named++ ? ", " : "", figure->subject, figure->name);
        if (figure->bytes > 0)
            fprintf(out, " %s", text_bytes(size, figure->bytes));
    }
    if (c->verdicts.without_spread > named)
        fprintf(out, " and %zu more", c->verdicts.without_spread - named);
    fprintf(out, "%s in fewer than %d baselines, so", c->verdicts.without_spread == 1 ? " is" : " are", VERDICT_RUNS);
}

/* How far the verdicts can be trusted. */
static void print_confidence(FILE *out, const struct comparison *c)
{
    int few = c->options->baselines < VERDICT_RUNS;
    if (c->verdicts.with_spread)
        fprintf(out, "%g %% chance of any false alarm; ", 100 * c->rules.level);
    if (!few && !c->verdicts.without_spread)
        return;
    if (few)
        fprintf(out, "fewer than %d baselines, so", VERDICT_RUNS);
    else
        print_without_spread(out, c);
    fprintf(out, " only what is beyond %.3f in every run is called regressed%s; ",
            (1 + c->rules.tolerance) * (1 + c->rules.floor), few ? "" : " of it");
}

static void print_verdict(FILE *out, const struct comparison *c)
{
    const struct compare_options *o = c->options;
    static const enum figure_verdict listed[] = {VERDICT_REGRESSED, VERDICT_MISSING, VERDICT_AMBIGUOUS,
                                                 VERDICT_IMPROVED};
    fprintf(out, "\nVerdict: %s: ", compare_verdict(c));
    print_meaning(out, c);
    fprintf(out, " (%zu judged", count_singles(c));
    if (count_singles(c) < c->verdicts.n)
        fprintf(out, " and %zu means over sizes", c->verdicts.n - count_singles(c));
    for (size_t i = 0; i < sizeof listed / sizeof *listed; i++)
        if (c->verdicts.count[listed[i]])
            fprintf(out, ", %zu %s", c->verdicts.count[listed[i]], verdict_name[listed[i]]);
    fprintf(out, "; tolerance %g %%; ", o->tolerance);
    print_confidence(out, c);
    fprintf(out, "%zu against %zu run%s).\n", o->candidates, o->baselines, text_plural(o->baselines));
}

void compare_print(FILE *out, const struct comparison *c)
{
    const struct compare_options *o = c->options;
    print_runs(out, o->baseline_name, c->baseline, o->baselines);
    print_runs(out, o->candidate_name, c->candidate, o->candidates);
    print_differences(out, c, REFUSED, "Settings differ:\n");
    print_differences(out, c, ALLOWED, "Settings differ, as allowed:\n");
    print_differences(out, c, ENVIRONMENT, "Environments differ:\n");
    if (c->status == COMPARE_INCOMPARABLE) {
        print_allow(out, c);
        fprintf(out, "\nVerdict: incomparable: the runs were made with different settings.\n");
        return;
    }
    print_judged(out, c);
    if (*o->label)
        print_others(out, c);
    print_verdict(out, c);
}
