/* trend_output.c - prints what `ddpbench trend` found: text, JSON, CSV, JUnit, and a page with pictures. */
#include "compare/trend.h"

#include "base/json.h"
#include "base/junit.h"
#include "base/table.h"
#include "base/text.h"
#include "base/version.h"
#include "chart/chart.h"
#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TITLE "ddpbench trend"

/* Writes the change of a figure in percent of its value, with the interval: + is worse. */
static const char *change_text(char text[CELL], const struct change *c)
{
    return text_change(text, exp(c->shift.value), exp(c->shift.low), exp(c->shift.high));
}

/* Returns the last change of the same figure that was found later; NULL: none. */
static const struct change *later_change(const struct regimes *r, const struct change *than)
{
    for (size_t i = r->changes; i-- > 0;)
        if (r->change[i].figure == than->figure && r->change[i].found > than->found)
            return &r->change[i];
    return NULL;
}

/* Returns the first sentences: what got slower and is not accepted, or that nothing did. */
static cJSON *answer_text(const struct trend *t)
{
    const struct regimes *r = &t->of[SLOWER];
    const struct night *night = t->nights.night, *last = &night[t->nights.n - 1];
    const struct change *most = NULL;
    size_t others = 0, length;
    char *text, by[CELL];
    FILE *out = text_begin(&text, &length);
    for (const struct change *c = r->change; c < r->change + r->changes; c++) {
        others += !c->accepted;
        most = c->accepted || c->kind == CHANGE_ALSO || (most && most->shift.value >= c->shift.value) ? most : c;
    }
    if (!most && t->power < TREND_POWER) {
        fprintf(
            out,
            "Too few nights to tell: %zu night%s, %s to %s, of which %zu count%s since the last alarm, accepted change "
            "or new figure. A slowdown of one figure that began tonight would be found within %d nights with a chance "
            "of %.0f %%, however large; from %zu more nights on, of %.0f %% or more.",
            t->nights.n, text_plural(t->nights.n), night->name, last->name, t->level, t->level == 1 ? "s" : "",
            TREND_WITHIN, 100 * t->power, t->more, 100 * TREND_POWER);
    } else if (!most) {
        fprintf(out,
                "Nothing got slower in %zu night%s, %s to %s: the evidence is %.3g, and an alarm needs %g, which "
                "unchanged nights ever reach with a chance of at most 5 %%.",
                t->nights.n, text_plural(t->nights.n), night->name, last->name, r->evidence[t->nights.n - 1],
                EVIDENCE_ALARM);
    } else {
        const char *first = night[most->first].name;
        fprintf(out, "%s%s", most->kind == CHANGE_NAMED ? "Slower since " : "Something got slower: most likely, since ",
                first);
        if (most->low < most->high)
            fprintf(out, " (90 %% interval %s to %s)", night[most->low].name, night[most->high].name);
        fprintf(out, ": %s by %s", t->nights.series[most->figure].name, change_text(by, most));
        if (others > 1)
            fprintf(out, ", and %zu other change%s", others - 1, text_plural(others - 1));
        fprintf(out, "; found on %s. ", night[most->found].name);
        const struct change *better = later_change(&t->of[FASTER], most);
        if (better)
            fprintf(out, "It is faster again since %s: `--accept %s` ends the alarm.", night[better->first].name,
                    night[better->first].name);
        else
            fprintf(out, "If this is intended, `--accept %s` accepts it.", first);
    }
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
    {"verdict", "verdict", COLUMN_NAME, offsetof(struct change_row, verdict), NULL, 0, -8, 0},
    {"first", "since", COLUMN_NAME, offsetof(struct change_row, first), NULL, 0, -10, 0},
    {"first_low", "earliest\n(90 %)", COLUMN_NAME, offsetof(struct change_row, low), NULL, 0, -10, 0},
    {"first_high", "latest\n(90 %)", COLUMN_NAME, offsetof(struct change_row, high), NULL, 0, -10, 0},
    {"change", "change [95 %]", COLUMN_CHARS, offsetof(struct change_row, change), NULL, 0, -15, 0},
    {"found", "found on", COLUMN_NAME, offsetof(struct change_row, found), NULL, 0, -10, 0},
    {"ratio", NULL, COLUMN_REAL, offsetof(struct change_row, ratio), "1", 0, 0, 0},
    {"interval", NULL, COLUMN_INTERVAL, COLUMN_ENDS(struct change_row, low_ratio, high_ratio), "1", 0, 0, 0}};

static cJSON *changes_table(const struct trend *t)
{
    static const char *const kind_name[] = {
        [CHANGE_NAMED] = "slower", [CHANGE_LIKELY] = "likely", [CHANGE_ALSO] = "also"};
    const struct night *night = t->nights.night;
    struct change_row *row = allocate(t->of[SLOWER].changes + t->of[FASTER].changes, sizeof *row);
    size_t n = 0;
    int also = 0;
    for (int way = 0; way < WAYS; way++)
        for (size_t i = 0; i < t->of[way].changes; i++) {
            const struct change *c = &t->of[way].change[i];
            row[n] = (struct change_row){.figure = t->nights.series[c->figure].name,
                                         .verdict = c->accepted     ? "accepted"
                                                    : way == FASTER ? "faster"
                                                                    : kind_name[c->kind],
                                         .first = night[c->first].name,
                                         .low = night[c->low].name,
                                         .high = night[c->high].name,
                                         .found = night[c->found].name,
                                         .ratio = exp(c->shift.value),
                                         .low_ratio = exp(c->shift.low),
                                         .high_ratio = exp(c->shift.high)};
            change_text(row[n++].change, c);
            also |= c->kind == CHANGE_ALSO;
        }
    const struct table table = {.key = "changes",
                                .title = "Changes",
                                TABLE_COLUMNS(change_columns),
                                TABLE_ROWS(row, n),
                                .note = {"change: + is worse. First nights and changes are estimated after selection: "
                                         "what looks large is found first.",
                                         also ? "also: moved since the same night, not proven one by one." : NULL}};
    cJSON *json = table_json(&table);
    free(row);
    return json;
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
    size_t rows = 0;
    for (size_t f = 0; f < t->nights.figures; f++) {
        const struct night_series *s = &t->nights.series[f];
        const struct level *level = &t->of[SLOWER].level[f];
        if (!level->n)
            continue;
        const size_t last = level->night[level->n - 1];
        double sd = level->n > 1 ? stats_mean(level->y, level->n).error * sqrt((double)level->n) : NAN;
        double value = s->value[NIGHT_CANDIDATE][last], control = s->value[NIGHT_CONTROL][last];
        row[rows] = (struct figure_row){
            .figure = s->name, .nights = level->n, .spread = sd, .evidence = evidence_value(&level->evidence)};
        text_value_like(row[rows].value, value, s->figure.unit, value);
        text_value_like(row[rows++].control, control, s->figure.unit, control);
    }
    const struct table table = {
        .key = "figures",
        .title = "Figures in their present level: the nights since the last alarm or accepted change",
        TABLE_COLUMNS(figure_columns),
        TABLE_ROWS(row, rows),
        .note = {"evidence: below 1 nothing was seen; an alarm needs 20 over all figures."}};
    cJSON *json = table_json(&table);
    free(row);
    return json;
}

/* Returns what all forms but CSV begin with: {program, ..., tables}. */
static cJSON *outcome_json(const struct trend *t)
{
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
    return json;
}

/* ---- pictures ---- */

/* Copies the known values of of[from..to-1] to known. Returns their number. */
static size_t copy_known(double *known, const double *of, size_t from, size_t to)
{
    size_t n = 0;
    for (size_t i = from; i < to; i++)
        if (isfinite(of[i]))
            known[n++] = of[i];
    return n;
}

/* Whether a change of a figure begins in the nights from `first` to `last`. */
static int has_changed(const struct trend *t, size_t f, size_t first, size_t last)
{
    int found = 0;
    for (int way = 0; way < WAYS; way++)
        for (const struct change *c = t->of[way].change; c < t->of[way].change + t->of[way].changes; c++)
            found |= c->figure == f && c->first >= first && c->first <= last;
    return found;
}

/* Returns the picture of a figure: its nights, the control, the levels, and what was found. */
static char *draw_figure(const struct trend *t, size_t f)
{
    enum { SERIES = 2 };
    const size_t n = t->nights.n;
    const struct night_series *s = &t->nights.series[f];
    const double *candidate = s->value[NIGHT_CANDIDATE], *control = s->value[NIGHT_CONTROL];
    struct chart_point *point = allocate(SERIES * n, sizeof *point);
    struct chart_band *band = allocate(n, sizeof *band);
    struct chart_event *event = allocate(n + t->of[SLOWER].changes + t->of[FASTER].changes, sizeof *event);
    double *y = allocate(2 * n, sizeof *y), *known = y + n;
    size_t bands = 0, events = 0, from = 0;
    char title[NIGHT_FIGURE + NIGHT_NAME + CELL + 40], by[CELL];
    snprintf(title, sizeof title, "%s: no change found in %zu nights", s->name, n);
    const int has = s->has_control;
    const double *of = has ? control : candidate, level = stats_median(known, copy_known(known, of, 0, n));
    for (size_t i = 0; i < n; i++) {
        y[i] = candidate[i] / (has ? control[i] : level);
        point[i] = (struct chart_point){(double)i + 1, y[i], NAN, NAN, CHART_PLAIN};
        point[n + i] = (struct chart_point){(double)i + 1, control[i] / level, NAN, NAN, CHART_PLAIN};
    }
    for (size_t i = 1; i <= n; i++) {
        if (i < n && !t->of[SLOWER].begins[i] && !s->begins[i] && !has_changed(t, f, i, i))
            continue; /* no level begins */
        size_t values = copy_known(known, y, from, i);
        if (values)
            band[bands++] =
                (struct chart_band){(double)from + 0.6, (double)i + 0.4, stats_quantile(known, values, 0.05),
                                    stats_quantile(known, values, 0.95)};
        from = i;
    }
    for (int way = 0; way < WAYS; way++)
        for (const struct change *c = t->of[way].change; c < t->of[way].change + t->of[way].changes; c++)
            if (c->figure == f) {
                snprintf(title, sizeof title, "%s: %s by %s since %s", s->name, way == FASTER ? "faster" : "slower",
                         change_text(by, c), t->nights.night[c->first].name);
                event[events++] = (struct chart_event){(double)c->found + 1, way == FASTER ? "faster" : "alarm"};
            }
    for (size_t i = 0; i < n; i++)
        if (t->nights.night[i].accepted || s->begins[i] == LEVEL_ACCEPTED)
            event[events++] = (struct chart_event){(double)i + 1, "accepted"};
    const struct chart_series series[SERIES] = {
        {.name = has ? "candidate / control" : "candidate", .point = point, .n = n, .colour = 0},
        {.name = "control / its median", .point = point + n, .n = n, .colour = SVG_GREY}};
    char x[2 * NIGHT_NAME + 60], unit[2 * CELL + 80], median[CELL];
    snprintf(x, sizeof x, "night: 1 is %.100s, %zu is %.100s", t->nights.night[0].name, n, t->nights.night[n - 1].name);
    snprintf(unit, sizeof unit, "%s / %s%s", s->figure.name, has ? "control" : "its median, ",
             has ? "" : text_value_like(median, level, s->figure.unit, level));
    const struct chart_xy chart = {.x = {.title = x},
                                   .y = {.title = unit},
                                   .series = series,
                                   .n_series = has ? SERIES : 1,
                                   .band = band,
                                   .n_bands = bands,
                                   .event = event,
                                   .n_events = events};
    char *svg = chart_xy(title, "Points: medians of a night's runs. Bands: 5 % to 95 % of a level's nights.", &chart);
    free(point);
    free(band);
    free(event);
    free(y);
    return svg;
}

/* ---- text and HTML ---- */

cJSON *trend_document(const struct trend *t)
{
    cJSON *document = document_create(TITLE), *json = outcome_json(t);
    const cJSON *changes = cJSON_GetObjectItemCaseSensitive(json, "tables")->child;
    document_add_paragraph(document, "%s", json_string(json, "answer"));
    if (t->dependence > 0)
        document_add_paragraph(
            document,
            "Nights depend on each other: neighbouring nights of %s have a rank correlation of %.2f. "
            "False alarms are then likelier than 5 %%: %s.",
            t->nights.series[t->dependent].name, t->dependence,
            t->nights.series[t->dependent].has_control
                ? "look for a change within this level, and accept the night on which it began"
                : "to watch a build, measure a control on every night");
    for (const cJSON *w = cJSON_GetObjectItemCaseSensitive(json, "warnings")->child; w; w = w->next)
        document_add_item(document, "%s", w->valuestring);
    if (t->of[SLOWER].changes + t->of[FASTER].changes)
        document_add_saved_table(document, changes);
    document_add_saved_table(document, changes->next);
    for (int changed = 1; changed >= 0; changed--) /* figures that changed come first */
        for (size_t f = 0; f < t->nights.figures; f++) {
            char name[32];
            if (has_changed(t, f, 0, t->nights.n) != changed || t->nights.n < 3)
                continue;
            snprintf(name, sizeof name, "figure_%zu", f + 1);
            document_add_picture(document, name, t->nights.series[f].name, draw_figure(t, f));
        }
    cJSON_Delete(json);
    return document;
}

/* ---- JSON, CSV, JUnit ---- */

static void print_json(FILE *out, const void *shown)
{
    const struct trend *t = shown;
    const struct regimes *slower = &t->of[SLOWER];
    const int n = (int)t->nights.n;
    cJSON *json = outcome_json(t), *nights = cJSON_AddArrayToObject(json, "nights");
    cJSON *series = cJSON_AddArrayToObject(json, "series");
    for (size_t i = 0; i < t->nights.n; i++) {
        const struct night *night = &t->nights.night[i];
        cJSON *row = json_add_row(nights);
        json_add_text(row, "name", night->name);
        json_add_text(row, "commit", night->commit);
        json_add_number(row, "began", night->began);
        json_add_number(row, "candidates", (double)night->runs[NIGHT_CANDIDATE]);
        json_add_number(row, "controls", (double)night->runs[NIGHT_CONTROL]);
        json_add_number(row, "evidence", slower->evidence[i]);
        cJSON_AddBoolToObject(row, "regime_begins", slower->begins[i]);
    }
    for (size_t f = 0; f < t->nights.figures; f++) {
        const struct night_series *s = &t->nights.series[f];
        cJSON *row = json_add_row(series);
        json_add_text(row, "figure", s->name);
        json_add_text(row, "unit", s->figure.unit);
        json_add_text(row, "better", figure_better_name[s->figure.better]);
        json_add_number(row, "evidence", evidence_value(&slower->level[f].evidence));
        json_add_number(row, "weight", slower->level[f].weight);
        cJSON_AddItemToObject(row, "candidate", cJSON_CreateDoubleArray(s->value[NIGHT_CANDIDATE], n)); /* NAN: null */
        cJSON_AddItemToObject(row, "control", cJSON_CreateDoubleArray(s->value[NIGHT_CONTROL], n));
        cJSON_AddItemToObject(row, "y", cJSON_CreateDoubleArray(s->y, n));
    }
    char *text = json_print(json, 1);
    fprintf(out, "%s\n", text);
    free(text);
    cJSON_Delete(json);
}

static void print_csv(FILE *out, const void *shown)
{
    const struct trend *t = shown;
    fputs("time,commit,night", out);
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
        fputc(',', out);
        text_print_csv(out, t->nights.night[i].name);
        for (size_t f = 0; f < t->nights.figures; f++) {
            const struct night_series *s = &t->nights.series[f];
            double value = s->value[NIGHT_CANDIDATE][i] / (s->has_control ? s->value[NIGHT_CONTROL][i] : 1);
            fputc(',', out);
            if (isfinite(value))
                fprintf(out, "%.9g", value);
        }
    }
    fputc('\n', out);
}

static void print_junit(FILE *out, const void *shown)
{
    const struct trend *t = shown;
    const struct regimes *r = &t->of[SLOWER];
    struct junit junit;
    char *words;
    size_t length;
    FILE *text = text_begin(&words, &length);
    forms_print_text(text, t);
    text_end(text);
    junit_begin(&junit);
    for (size_t f = 0; f < t->nights.figures; f++) {
        char message[300], change[CELL];
        struct junit_case test = {.class = "ddpbench.trend", .name = t->nights.series[f].name, .seconds = NAN};
        test.outcome = t->power < TREND_POWER ? JUNIT_SKIPPED : JUNIT_PASSED;
        test.type = "too few nights";
        snprintf(message, sizeof message, "%zu more nights are needed", t->more);
        for (const struct change *c = r->change; c < r->change + r->changes; c++) {
            if (c->figure != f || c->accepted)
                continue;
            test.outcome = JUNIT_FAILED;
            test.type = c->kind == CHANGE_NAMED ? "slower" : "most likely slower";
            snprintf(message, sizeof message, "by %s since %.100s, found on %.100s", change_text(change, c),
                     t->nights.night[c->first].name, t->nights.night[c->found].name);
        }
        test.message = message;
        junit_add(&junit, &test);
    }
    junit_end(&junit, out, TITLE, words);
    free(words);
}

const struct form trend_forms[TREND_FORMS] = {
    [TREND_JSON] = {"json", "{\n\t\"program\":\t\"ddpbench\",\n\t\"mode\":\t\"trend\"", print_json},
    [TREND_CSV] = {"csv", "time,commit,", print_csv},
    [TREND_JUNIT] = {"junit", JUNIT_BEGIN TITLE "\"", print_junit},
    [TREND_HTML] = {"html", DOCUMENT_HTML_BEGIN TITLE, forms_print_html}};
