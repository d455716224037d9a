/* table.c - what a comparison found, in words. */
#include "compare/outcome.h"

#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what was compared, and in what it differs ---- */

static void print_runs(FILE *out, const cJSON *side)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(side, "directories"), *directory;
    size_t n = (size_t)cJSON_GetArraySize(list), i = 0;
    fprintf(out, "%s: %zu run%s:", json_string(side, "label"), n, text_plural(n));
    cJSON_ArrayForEach(directory, list)
    {
        fprintf(out, "%s %s", i++ ? "," : "", directory->valuestring);
    }
    fprintf(out, "\n");
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

enum { REFUSED, ALLOWED, ENVIRONMENTS, DIFFERENCE_KINDS };

static int kind_of(const cJSON *difference)
{
    int environment = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(difference, "environment"));
    return difference_is_refused(difference) ? REFUSED : environment ? ENVIRONMENTS : ALLOWED;
}

static void print_differences(FILE *out, const cJSON *differences)
{
    static const char *const heading[] = {"Settings differ:\n", "Settings differ, as allowed:\n",
                                          "Environments differ:\n"};
    for (int kind = 0, n = 0; kind < DIFFERENCE_KINDS; kind++, n = 0)
        for (const cJSON *d = differences->child; d; d = d->next) {
            if (kind_of(d) != kind)
                continue;
            fprintf(out, "%s  %s: ", n++ ? "" : heading[kind], json_string(d, "key"));
            print_setting(out, "baseline", d, "baseline");
            fprintf(out, ", ");
            print_setting(out, json_string(d, "side"), d, "other");
            fprintf(out, "\n");
        }
}

/* What to give to --allow for the runs to be compared anyway. */
static void print_allow(FILE *out, const cJSON *differences, const char *allow)
{
    const char *separator = *allow ? "," : "";
    fprintf(out, "To compare them anyway: --allow %s", allow);
    for (const cJSON *d = differences->child; d; d = d->next) {
        const cJSON *first = differences->child;
        while (first != d &&
               (!difference_is_refused(first) || strcmp(json_string(first, "key"), json_string(d, "key")) != 0))
            first = first->next;
        if (first == d && difference_is_refused(d)) {
            fprintf(out, "%s%s", separator, json_string(d, "key"));
            separator = ",";
        }
    }
    fprintf(out, "\n\nVerdict: incomparable: the runs were made with different settings.\n");
}

/* ---- the tables ---- */

/* A row in words: units differ from row to row. */
struct words {
    char name[180], size[CELL], median[2][CELL + 16], ratio[CELL], interval[CELL], verdict[96];
};

#define FIELD(field) offsetof(struct words, field)

static void print_words(FILE *out, const struct compare_options *o, const struct words *row, size_t rows,
                        const char *title, int columns)
{
    char heading[2][140];
    snprintf(heading[0], sizeof heading[0], "%s (n=%zu)", o->name[0], o->baselines);
    snprintf(heading[1], sizeof heading[1], "%s (n=%zu)", o->name[1], o->candidates);
    /* clang-format off */
    const struct column column[] = {
        {.key = "name", .heading = "figure", .kind = COLUMN_CHARS, .offset = FIELD(name), .width = -1},
        {.key = "size", .heading = "size", .kind = COLUMN_CHARS, .offset = FIELD(size), .width = 9},
        {.key = "baseline", .heading = heading[0], .kind = COLUMN_CHARS, .offset = FIELD(median[0]), .width = 16},
        {.key = "candidate", .heading = heading[1], .kind = COLUMN_CHARS, .offset = FIELD(median[1]), .width = 16},
        {.key = "ratio", .heading = "ratio", .kind = COLUMN_CHARS, .offset = FIELD(ratio), .width = 7},
        {.key = "interval", .heading = "interval", .kind = COLUMN_CHARS, .offset = FIELD(interval), .width = 17},
        {.key = "verdict", .heading = "verdict", .kind = COLUMN_CHARS, .offset = FIELD(verdict), .width = -1},
    };
    cJSON *json = table_json(&(struct table){.key = "compare", .title = title, .column = column,
                                             .columns = (size_t)columns, .row = row, .rows = rows,
                                             .row_bytes = sizeof *row});
    /* clang-format on */
    table_print(out, json);
    cJSON_Delete(json);
}

/* A row of the JSON, judged or not. */
static void put_into_words(struct words *words, const cJSON *row, const char *ratio, const struct compare_options *o)
{
    double median[2] = {json_number(row, "baseline"), json_number(row, "candidate")};
    double n[2] = {json_number(row, "n_baseline"), json_number(row, "n_candidate")};
    double like = fmax(fabs(median[0]), fabs(median[1])); /* the other one, where one is not a number */
    const char *verdict = json_string(row, "verdict");
    char missing[64] = "";
    snprintf(words->name, sizeof words->name, "%s %s", json_string(row, "subject"), json_string(row, "name"));
    if (json_number(row, "sizes") > 1)
        strcpy(words->size, "all sizes");
    else
        text_bytes(words->size, json_number(row, "bytes"));
    for (int i = 0; i < 2; i++) {
        size_t length = strlen(text_value_like(words->median[i], median[i], json_string(row, "unit"), like));
        if (n[i] < (double)(i ? o->candidates : o->baselines) && isfinite(median[i]))
            snprintf(words->median[i] + length, CELL + 16 - length, " (n=%.0f)", n[i]);
    }
    text_ratio(words->ratio, json_number(row, ratio));
    text_range(words->interval, json_number(row, "ci_low"), json_number(row, "ci_high"));
    if (!strcmp(verdict, verdict_name[VERDICT_MISSING]))
        snprintf(missing, sizeof missing, " in %.0f of %zu", (double)o->candidates - n[1], o->candidates);
    snprintf(words->verdict, sizeof words->verdict, "%.20s%s%s", verdict, missing,
             cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(row, "wrong_elements")) ? ": wrong elements" : "");
}

static int same_figure(const cJSON *a, const cJSON *b)
{
    return a && b && !strcmp(json_string(a, "subject"), json_string(b, "subject")) &&
           !strcmp(json_string(a, "name"), json_string(b, "name"));
}

/* The rows of single sizes come first. */
static const cJSON *first_mean(const cJSON *json)
{
    const cJSON *row = cJSON_GetObjectItemCaseSensitive(json, "judged")->child;
    while (row && json_number(row, "sizes") == 1)
        row = row->next;
    return row;
}

/* The sizes of a figure, those that are ok in one row unless all are asked for, and the mean over them. */
static void print_judged(FILE *out, const cJSON *json, const struct compare_options *o)
{
    const cJSON *judged = cJSON_GetObjectItemCaseSensitive(json, "judged"), *singles_end = first_mean(json);
    const cJSON *mean = singles_end;
    struct words *words = allocate(2 * (size_t)cJSON_GetArraySize(judged), sizeof *words);
    size_t n = 0;
    for (const cJSON *row = judged->child, *first = row; row != singles_end; first = row) {
        int whole = o->all || row->next == singles_end || !same_figure(row, row->next), ok = 0;
        double least = INFINITY, most = 0;
        for (; row != singles_end && same_figure(row, first); row = row->next)
            if (whole || strcmp(json_string(row, "verdict"), verdict_name[VERDICT_OK]) != 0) {
                put_into_words(&words[n++], row, "ratio", o);
            } else {
                ok++;
                least = fmin(least, json_number(row, "ratio"));
                most = fmax(most, json_number(row, "ratio"));
            }
        if (ok) {
            put_into_words(&words[n], first, "ratio", o);
            snprintf(words[n].size, CELL, "%d size%s", ok, text_plural((size_t)ok));
            strcpy(words[n].median[0], "");
            strcpy(words[n].median[1], "");
            strcpy(words[n].ratio, "ratios");
            text_range(words[n].interval, least, most);
            strcpy(words[n++].verdict, verdict_name[VERDICT_OK]);
        }
        if (same_figure(mean, first)) {
            put_into_words(&words[n++], mean, "ratio", o);
            mean = mean->next;
        }
    }
    print_words(out, o, words, n, "Medians over runs; ratio of their geometric means, above 1 is worse.", 7);
    free(words);
}

/* Figures that are not judged, reference against candidate. */
static void print_others(FILE *out, const cJSON *figures, const struct compare_options *o)
{
    char title[300];
    size_t n = 0;
    struct words *words = allocate((size_t)cJSON_GetArraySize(figures), sizeof *words);
    for (const cJSON *row = figures->child; row; row = row->next)
        put_into_words(&words[n++], row, "candidate_to_baseline", o);
    snprintf(title, sizeof title, "Other figures, medians over runs; ratio: %s / %s", o->name[1], o->name[0]);
    print_words(out, o, words, n, title, 5);
    free(words);
}

/* ---- the verdict in words ---- */

static void print_meaning(FILE *out, enum compare_status status, double tolerance)
{
    switch (status) {
    case COMPARE_REGRESSED:
        fprintf(out, "the marked figures are worse by more than %g %%, or have wrong elements", tolerance);
        break;
    case COMPARE_MISSING:
        fprintf(out, "the baseline has figures that a candidate run does not have");
        break;
    case COMPARE_AMBIGUOUS:
        fprintf(out, "figures are worse by more than %g %%, but not significantly; use more runs", tolerance);
        break;
    default:
        fprintf(out, "no figure is worse by more than %g %%", tolerance);
    }
}

/* How far the verdicts can be trusted; rows that were judged without spread, the first few of them by name. */
static void print_confidence(FILE *out, const cJSON *json, const struct compare_options *o)
{
    enum { NAMED = 4 };
    char size[CELL];
    int few = o->baselines < VERDICT_RUNS, without = 0;
    const cJSON *row, *judged = cJSON_GetObjectItemCaseSensitive(json, "judged");
    if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "judged_by_spread")))
        fprintf(out, "%g %% chance of any false alarm; ", 100 * json_number(json, "level"));
    cJSON_ArrayForEach(row, judged)
    {
        double n = json_number(row, "n_baseline");
        int without_spread = n > 0 && n < VERDICT_RUNS && json_number(row, "n_candidate") == (double)o->candidates;
        if (few || !without_spread || without++ >= NAMED)
            continue;
        fprintf(out, "%s%s %s", without > 1 ? ", " : "", json_string(row, "subject"), json_string(row, "name"));
        if (json_number(row, "bytes") > 0)
            fprintf(out, " %s", text_bytes(size, json_number(row, "bytes")));
    }
    if (few)
        fprintf(out, "fewer than %d baselines, so", VERDICT_RUNS);
    else if (without > NAMED)
        fprintf(out, " and %d more are in fewer than %d baselines, so", without - NAMED, VERDICT_RUNS);
    else if (without)
        fprintf(out, " %s in fewer than %d baselines, so", without == 1 ? "is" : "are", VERDICT_RUNS);
    if (few || without)
        fprintf(out, " only what is beyond %.3f in every run is called regressed%s; ",
                (1 + o->tolerance / 100) * (1 + o->floor / 100), few ? "" : " of it");
}

static void print_verdict(FILE *out, const cJSON *json, const struct compare_options *o)
{
    static const enum figure_verdict listed[] = {VERDICT_REGRESSED, VERDICT_MISSING, VERDICT_AMBIGUOUS,
                                                 VERDICT_IMPROVED};
    const cJSON *judged = cJSON_GetObjectItemCaseSensitive(json, "judged");
    size_t rows = (size_t)cJSON_GetArraySize(judged), means = 0;
    for (const cJSON *row = first_mean(json); row; row = row->next)
        means++;
    fprintf(out, "\nVerdict: %s: ", json_string(json, "verdict"));
    print_meaning(out, (enum compare_status)json_number(json, "exit_status"), o->tolerance);
    fprintf(out, " (%zu judged", rows - means);
    if (means)
        fprintf(out, " and %zu means over sizes", means);
    for (size_t i = 0; i < sizeof listed / sizeof *listed; i++) {
        size_t n = 0;
        for (const cJSON *row = judged->child; row; row = row->next)
            n += !strcmp(json_string(row, "verdict"), verdict_name[listed[i]]);
        if (n)
            fprintf(out, ", %zu %s", n, verdict_name[listed[i]]);
    }
    fprintf(out, "; tolerance %g %%; ", o->tolerance);
    print_confidence(out, json, o);
    fprintf(out, "%zu against %zu run%s).\n", o->candidates, o->baselines, text_plural(o->baselines));
}

void compare_print(FILE *out, const cJSON *json, const struct compare_options *o)
{
    const cJSON *differences = cJSON_GetObjectItemCaseSensitive(json, "differences");
    print_runs(out, cJSON_GetObjectItemCaseSensitive(json, "baseline"));
    print_runs(out, cJSON_GetObjectItemCaseSensitive(json, "candidate"));
    print_differences(out, differences);
    if (json_number(json, "exit_status") == COMPARE_INCOMPARABLE) {
        print_allow(out, differences, o->allow);
        return;
    }
    print_judged(out, json, o);
    if (*o->label)
        print_others(out, cJSON_GetObjectItemCaseSensitive(json, "figures"), o);
    print_verdict(out, json, o);
}
