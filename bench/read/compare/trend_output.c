/* trend_output.c - prints what `ddpbench trend` found: text, JSON, CSV, JUnit, and a page with pictures. */
#include "compare/trend.h"

#include "base/json.h"
#include "base/junit.h"
#include "base/table.h"
#include "base/text.h"
#include "base/version.h"
#include "chart/chart.h"
#include "document/document.h"
#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int is_standing(const struct trend *t, const struct change *change)
{
    return change->found >= t->settled;
}

/* Writes the change of a figure in percent of its value, with the interval: + is worse. */
static const char *change_text(char text[CELL], const struct change *c)
{
    return text_change(text, exp(c->shift.value), exp(c->shift.low), exp(c->shift.high));
}

/* ---- sentences ---- */

/* Prints "FIRST", or "FIRST (90 % interval LOW to HIGH)". */
static void print_since(FILE *out, const struct trend *t, const struct change *c)
{
    const struct night *night = t->nights.night;
    fputs(night[c->first].name, out);
    if (c->low < c->high)
        fprintf(out, " (90 %% interval %s to %s)", night[c->low].name, night[c->high].name);
}

/* Prints the first sentences: what got slower and stands, or that nothing did. */
static void print_answer(FILE *out, const struct trend *t)
{
    const struct regimes *r = &t->slower;
    const size_t n = t->nights.n;
    size_t standing = 0, others = 0;
    const struct change *most = NULL;
    char text[CELL];
    for (const struct change *c = r->change; c < r->change + r->changes; c++) {
        if (!is_standing(t, c))
            continue;
        standing++;
        most = most && most->shift.value >= c->shift.value ? most : c;
    }
    others = standing ? standing - 1 : 0;
    if (!most) {
        fprintf(out,
                "Nothing got slower in %zu night%s, %s to %s: the evidence is %.3g, and an alarm needs %g, which "
                "unchanged nights ever reach with a chance of at most 5 %%.",
                n, text_plural(n), t->nights.night[0].name, t->nights.night[n - 1].name, r->evidence[n - 1],
                EVIDENCE_ALARM);
        return;
    }
    fprintf(out, "%s", most->named ? "Slower since " : "Something got slower: most likely, since ");
    print_since(out, t, most);
    fprintf(out, ": %s by %s", t->nights.series[most->figure].name, change_text(text, most));
    if (others)
        fprintf(out, ", and %zu other change%s", others, text_plural(others));
    fprintf(out, "; found on %s. A change that is intended is accepted by --accept %s.",
            t->nights.night[most->found].name, t->nights.night[most->first].name);
}

static cJSON *answer_text(const struct trend *t)
{
    char *text;
    size_t length;
    FILE *out = text_begin(&text, &length);
    print_answer(out, t);
    text_end(out);
    cJSON *json = json_text(text);
    free(text);
    return json;
}

/* ---- tables ---- */

struct change_row {
    const char *figure, *verdict, *first, *low, *high, *found;
    char change[CELL];
    double ratio, low_ratio, high_ratio;
};

static const struct column change_columns[] = {
    {"figure", "figure", COLUMN_NAME, offsetof(struct change_row, figure), NULL, 0, -20, 0},
    {"verdict", "change", COLUMN_NAME, offsetof(struct change_row, verdict), NULL, 0, -8, 0},
    {"first", "since", COLUMN_NAME, offsetof(struct change_row, first), NULL, 0, -10, 0},
    {"first_low", "90 % from", COLUMN_NAME, offsetof(struct change_row, low), NULL, 0, -10, 0},
    {"first_high", "to", COLUMN_NAME, offsetof(struct change_row, high), NULL, 0, -10, 0},
    {"change", "worse by [95 %]", COLUMN_CHARS, offsetof(struct change_row, change), NULL, 0, -15, 0},
    {"found", "found on", COLUMN_NAME, offsetof(struct change_row, found), NULL, 0, -10, 0},
    {"ratio", NULL, COLUMN_REAL, offsetof(struct change_row, ratio), "1", 0, 0, 0},
    {"ratio", NULL, COLUMN_INTERVAL, COLUMN_ENDS(struct change_row, low_ratio, high_ratio), "1", 0, 0, 0}};

static cJSON *changes_table(const struct trend *t)
{
    const struct regimes *both[] = {&t->slower, &t->faster};
    const struct night *night = t->nights.night;
    struct change_row *row = allocate(t->slower.changes + t->faster.changes + 1, sizeof *row);
    size_t n = 0;
    for (int i = 0; i < 2; i++)
        for (const struct change *c = both[i]->change; c < both[i]->change + both[i]->changes; c++) {
            row[n] = (struct change_row){.figure = t->nights.series[c->figure].name,
                                         .verdict = i                    ? "faster"
                                                    : !is_standing(t, c) ? "accepted"
                                                    : c->named           ? "slower"
                                                                         : "likely",
                                         .first = night[c->first].name,
                                         .low = night[c->low].name,
                                         .high = night[c->high].name,
                                         .found = night[c->found].name,
                                         .ratio = exp(c->shift.value),
                                         .low_ratio = exp(c->shift.low),
                                         .high_ratio = exp(c->shift.high)};
            change_text(row[n++].change, c);
        }
    cJSON *table = table_json(&(struct table){.key = "changes",
                                              .title = "Changes",
                                              TABLE_COLUMNS(change_columns),
                                              TABLE_ROWS(row, n),
                                              .note = {"Nights and sizes are estimated after selection: changes that "
                                                       "look large are found first."}});
    free(row);
    return table;
}

struct figure_row {
    const char *figure;
    char value[CELL], control[CELL];
    size_t nights;
    double spread, evidence;
};

static const struct column figure_columns[] = {
    {"figure", "figure", COLUMN_NAME, offsetof(struct figure_row, figure), NULL, 0, -20, 0},
    {"nights", "nights", COLUMN_COUNT, offsetof(struct figure_row, nights), "1", 0, 6, 0},
    {"value", "last night", COLUMN_CHARS, offsetof(struct figure_row, value), NULL, 0, -10, 0},
    {"control", "control", COLUMN_CHARS, offsetof(struct figure_row, control), NULL, 0, -10, 0},
    {"spread", "sd of nights\n(%)", COLUMN_REAL, offsetof(struct figure_row, spread), "1", 100, 12, 2},
    {"evidence", "evidence", COLUMN_REAL, offsetof(struct figure_row, evidence), "1", 0, 8, -3}};

static cJSON *figures_table(const struct trend *t)
{
    struct figure_row *row = allocate(t->nights.figures, sizeof *row);
    const size_t last = t->nights.n - 1;
    for (size_t f = 0; f < t->nights.figures; f++) {
        const struct night_series *s = &t->nights.series[f];
        const struct level *level = &t->slower.level[f];
        double of = level->n > 1 ? stats_mean(level->y, level->n).error * sqrt((double)level->n) : NAN;
        double value = s->value[NIGHT_CANDIDATE][last], control = s->value[NIGHT_CONTROL][last];
        row[f] = (struct figure_row){.figure = s->name, .nights = level->n, .spread = of, .evidence = level->evidence};
        text_value_like(row[f].value, value, s->figure.unit, value);
        text_value_like(row[f].control, control, s->figure.unit, control);
    }
    cJSON *table = table_json(&(struct table){.key = "figures",
                                              .title = "Figures of this level",
                                              TABLE_COLUMNS(figure_columns),
                                              TABLE_ROWS(row, t->nights.figures)});
    free(row);
    return table;
}

/* ---- pictures ---- */

enum { SERIES_MOST = 2 };

/* Adds a band for the level from night `from` to night `to`: 5 % to 95 % of its points. Returns the number of bands. */
static size_t add_band(struct chart_band *band, size_t n, const struct chart_point *point, size_t from, size_t to,
                       double *values)
{
    size_t have = 0;
    for (size_t t = from; t < to; t++)
        if (isfinite(point[t].y))
            values[have++] = point[t].y;
    if (have)
        band[n++] = (struct chart_band){(double)from + 0.6, (double)to + 0.4, stats_quantile(values, have, 0.05),
                                        stats_quantile(values, have, 0.95)};
    return n;
}

/* Returns the picture of a figure: its nights, the control, the levels, and what was found. */
static char *draw_figure(const struct trend *t, size_t f)
{
    const size_t nights = t->nights.n;
    const struct night_series *s = &t->nights.series[f];
    struct chart_point *point = allocate(SERIES_MOST * nights, sizeof *point), *control = point + nights;
    struct chart_band *band = allocate(nights + t->slower.changes + 1, sizeof *band);
    struct chart_event *event = allocate(t->slower.changes + t->faster.changes + 1, sizeof *event);
    double *values = allocate(nights, sizeof *values);
    size_t bands = 0, events = 0, has = 0, from = 0;
    for (size_t i = 0; i < nights; i++)
        if (isfinite(s->value[NIGHT_CONTROL][i]))
            values[has++] = s->value[NIGHT_CONTROL][i];
    const double level = stats_median(values, has);
    for (size_t i = 0; i < nights; i++) {
        double value = s->value[NIGHT_CANDIDATE][i], by = s->value[NIGHT_CONTROL][i];
        point[i] = (struct chart_point){(double)i + 1, has ? value / by : value, NAN, NAN, CHART_PLAIN};
        control[i] = (struct chart_point){(double)i + 1, by / level, NAN, NAN, CHART_PLAIN};
    }
    for (size_t i = 1; i <= nights; i++) {
        int begins = i == nights || t->slower.begins[i] || s->begins[i];
        for (const struct change *c = t->slower.change; c < t->slower.change + t->slower.changes; c++)
            begins |= c->figure == f && c->first == i;
        if (begins) {
            bands = add_band(band, bands, point, from, i, values);
            from = i;
        }
    }
    const struct regimes *both[] = {&t->slower, &t->faster};
    for (int i = 0; i < 2; i++)
        for (const struct change *c = both[i]->change; c < both[i]->change + both[i]->changes; c++)
            if (c->figure == f)
                event[events++] = (struct chart_event){(double)c->found + 1, i ? "faster" : "alarm"};
    const struct chart_series series[SERIES_MOST] = {
        {.name = has ? "candidate / control" : "candidate", .point = point, .n = nights, .colour = 0},
        {.name = "control / its median", .point = control, .n = nights, .colour = SVG_GREY}};
    char title[NIGHT_FIGURE + 40], nights_text[2 * NIGHT_NAME + 60], y[80];
    snprintf(title, sizeof title, "%s, night by night", s->name);
    snprintf(nights_text, sizeof nights_text, "night: 1 is %.100s, %zu is %.100s", t->nights.night[0].name, nights,
             t->nights.night[nights - 1].name);
    snprintf(y, sizeof y, "%s %s", s->figure.name, has ? "ratio" : s->figure.unit);
    const struct chart_xy chart = {.x = {.title = nights_text},
                                   .y = {.title = y},
                                   .series = series,
                                   .n_series = has ? 2 : 1,
                                   .band = band,
                                   .n_bands = bands,
                                   .event = event,
                                   .n_events = events};
    char *svg = chart_xy(title, "Points: medians of a night's runs. Bands: 5 % to 95 % of a level's nights.", &chart);
    free(point);
    free(band);
    free(event);
    free(values);
    return svg;
}

/* ---- the document ---- */

static cJSON *make_document(const struct trend *t, int pictures)
{
    cJSON *document = document_create(TREND_TITLE), *answer = answer_text(t);
    cJSON *changes = changes_table(t), *figures = figures_table(t);
    const cJSON *warnings = cJSON_GetObjectItemCaseSensitive(t->json, "warnings");
    document_add_paragraph(document, "%s", answer->valuestring);
    cJSON_Delete(answer);
    if (t->power < TREND_POWER)
        document_add_paragraph(document,
                               "A slowdown of one figure that begins tonight, however large, would be found within %d "
                               "nights with a chance of %.0f %%; after %zu more nights, of %.0f %% or more.",
                               TREND_WITHIN, 100 * t->power, t->more, 100 * TREND_POWER);
    if (t->dependence > 0)
        document_add_paragraph(
            document,
            "Nights depend on each other: neighbouring nights of %s have a rank correlation of %.2f. "
            "False alarms are then likelier than 5 %%: measure a control on every night.",
            t->nights.series[t->dependent].name, t->dependence);
    for (const cJSON *w = warnings->child; w; w = w->next)
        document_add_item(document, "%s", w->valuestring);
    if (t->slower.changes + t->faster.changes)
        document_add_saved_table(document, changes);
    document_add_saved_table(document, figures);
    cJSON_Delete(changes);
    cJSON_Delete(figures);
    for (size_t f = 0; f < t->nights.figures && pictures; f++) {
        char name[32];
        snprintf(name, sizeof name, "figure_%zu", f + 1);
        document_add_picture(document, name, t->nights.series[f].name, draw_figure(t, f));
    }
    return document;
}

void trend_print_text(FILE *out, const void *shown)
{
    cJSON *document = make_document(shown, 0);
    document_print_text(out, document);
    cJSON_Delete(document);
}

void trend_print_html(FILE *out, const void *shown)
{
    cJSON *document = make_document(shown, 1);
    document_print_html(out, document);
    cJSON_Delete(document);
}

/* ---- JSON, CSV, JUnit ---- */

static void add_numbers(cJSON *object, const char *name, const double *value, size_t n)
{
    cJSON *list = cJSON_AddArrayToObject(object, name);
    for (size_t i = 0; i < n; i++)
        cJSON_AddItemToArray(list, isfinite(value[i]) ? cJSON_CreateNumber(value[i]) : cJSON_CreateNull());
}

static void add_json_nights(cJSON *list, const struct trend *t)
{
    for (size_t i = 0; i < t->nights.n; i++) {
        const struct night *night = &t->nights.night[i];
        cJSON *row = json_add_row(list);
        json_add_text(row, "name", night->name);
        json_add_text(row, "commit", night->commit);
        json_add_number(row, "began", night->began);
        json_add_number(row, "candidates", (double)night->runs[NIGHT_CANDIDATE]);
        json_add_number(row, "controls", (double)night->runs[NIGHT_CONTROL]);
        json_add_number(row, "evidence", t->slower.evidence[i]);
        cJSON_AddBoolToObject(row, "regime_begins", t->slower.begins[i]);
    }
}

void trend_print_json(FILE *out, const void *shown)
{
    const struct trend *t = shown;
    cJSON *json = cJSON_CreateObject();
    json_add_text(json, "program", "ddpbench");
    json_add_text(json, "mode", "trend");
    json_add_number(json, "schema_version", RESULTS_SCHEMA);
    json_add_text(json, "version", version_text());
    json_add_number(json, "exit_status", t->status);
    cJSON_AddItemToObject(json, "answer", answer_text(t));
    json_add_number(json, "power", t->power);
    json_add_number(json, "more_nights", (double)t->more);
    json_add_number(json, "dependence", t->dependence);
    cJSON_AddItemToObject(json, "warnings", cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(t->json, "warnings"), 1));
    cJSON *tables = cJSON_AddArrayToObject(json, "tables");
    cJSON_AddItemToArray(tables, changes_table(t));
    cJSON_AddItemToArray(tables, figures_table(t));
    add_json_nights(cJSON_AddArrayToObject(json, "nights"), t);
    cJSON *series = cJSON_AddArrayToObject(json, "series");
    for (size_t f = 0; f < t->nights.figures; f++) {
        const struct night_series *s = &t->nights.series[f];
        cJSON *row = json_add_row(series);
        json_add_text(row, "figure", s->name);
        json_add_text(row, "unit", s->figure.unit);
        json_add_text(row, "better", figure_better_name[s->figure.better]);
        json_add_number(row, "evidence", t->slower.level[f].evidence);
        json_add_number(row, "weight", t->slower.level[f].weight);
        add_numbers(row, "candidate", s->value[NIGHT_CANDIDATE], t->nights.n);
        add_numbers(row, "control", s->value[NIGHT_CONTROL], t->nights.n);
        add_numbers(row, "y", s->y, t->nights.n);
    }
    char *text = json_print(json, 1);
    fprintf(out, "%s\n", text);
    free(text);
    cJSON_Delete(json);
}

void trend_print_csv(FILE *out, const void *shown)
{
    const struct trend *t = shown;
    fputs("time,commit", out);
    for (size_t f = 0; f < t->nights.figures; f++) {
        fputc(',', out);
        text_print_csv(out, t->nights.series[f].name);
    }
    for (size_t i = 0; i < t->nights.n; i++) {
        const time_t began = (time_t)t->nights.night[i].began;
        char text[40];
        struct tm tm;
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S +0000", gmtime_r(&began, &tm));
        fprintf(out, "\n%s,", text);
        text_print_csv(out, t->nights.night[i].commit);
        for (size_t f = 0; f < t->nights.figures; f++) {
            const struct night_series *s = &t->nights.series[f];
            double by = isfinite(s->value[NIGHT_CONTROL][i]) ? s->value[NIGHT_CONTROL][i] : 1;
            fputc(',', out);
            if (isfinite(s->y[i]))
                fprintf(out, "%.9g", s->value[NIGHT_CANDIDATE][i] / by);
        }
    }
    fputc('\n', out);
}

void trend_print_junit(FILE *out, const void *shown)
{
    const struct trend *t = shown;
    const struct regimes *r = &t->slower;
    struct junit junit;
    char *words;
    size_t length;
    FILE *text = text_begin(&words, &length);
    trend_print_text(text, t);
    text_end(text);
    junit_begin(&junit);
    for (size_t f = 0; f < t->nights.figures; f++) {
        char message[300], change[CELL];
        struct junit_case test = {.class = "ddpbench.trend", .name = t->nights.series[f].name, .seconds = NAN};
        test.outcome = t->power < TREND_POWER ? JUNIT_SKIPPED : JUNIT_PASSED;
        test.type = "too few nights";
        snprintf(message, sizeof message, "%zu more nights are needed", t->more);
        for (const struct change *c = r->change; c < r->change + r->changes; c++) {
            if (c->figure != f || !is_standing(t, c))
                continue;
            test.outcome = JUNIT_FAILED;
            test.type = c->named ? "slower" : "most likely slower";
            snprintf(message, sizeof message, "by %s since %.100s, found on %.100s", change_text(change, c),
                     t->nights.night[c->first].name, t->nights.night[c->found].name);
        }
        test.message = message;
        junit_add(&junit, &test);
    }
    junit_end(&junit, out, TREND_TITLE, words);
    free(words);
}
