/* section_buckets.c - writes the section on step times by bucket size. */
#include "report/sections.h"

#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct size_row {
    const struct report_run *run;
    struct run_implementation of;
    const char *label, *mark; /* mark: "*": the run's shortest step; "=": a tie */
    enum chart_mark ring;     /* CHART_BEST: the shortest, and all others are slower or tie */
    size_t ranks, n;
    struct measured step, cost;
    char size[50]; /* bucket size in MiB, as text */
};

#define FIELD(field) offsetof(struct size_row, field)
/* clang-format off */
static const struct column size_columns[] = {
    {"run", "run", COLUMN_NAME, FIELD(label), NULL, 1, -10, 0},
    {"ranks", "ranks", COLUMN_COUNT, FIELD(ranks), "1", 1, 5, 0},
    {"implementation", "implementation", COLUMN_CHARS, FIELD(of.subject), NULL, 1, -14, 0},
    {"bucket_mb", NULL, COLUMN_REAL, FIELD(of.mb), "1", 1, 0, 0},
    {"bucket", "bucket\nMiB", COLUMN_CHARS, FIELD(size), NULL, 1, 8, 0},
    {"step", "step\nms", COLUMN_REAL, FIELD(step.value), "s", 1e3, 8, 2},
    {"mark", "", COLUMN_NAME, FIELD(mark), NULL, 1, -1, 0},
    {"step_95", "95 %\ninterval", COLUMN_INTERVAL, COLUMN_ENDS(struct size_row, step.low, step.high), "s", 1e3, -16, 2},
    {"sync_cost", "sync cost\nms", COLUMN_REAL, FIELD(cost.value), "s", 1e3, 9, 2},
    {"sync_cost_95", "95 %\ninterval", COLUMN_INTERVAL, COLUMN_ENDS(struct size_row, cost.low, cost.high), "s", 1e3, -16, 2},
    {"n", "n\nrounds", COLUMN_COUNT, FIELD(n), "1", 1, 4, 0},
};
/* clang-format on */

static int by_size(const void *a, const void *b)
{
    const struct run_implementation *x = &((const struct size_row *)a)->of, *y = &((const struct size_row *)b)->of;
    int plans = strcmp(x->plan, y->plan);
    return !*x->plan != !*y->plan ? plans : x->mb != y->mb ? (x->mb > y->mb) - (x->mb < y->mb) : plans;
}

/* Whether steps are shorter than with another size: by the verdict, on the same rounds; without one, by the steps. */
static int is_shorter(const struct size_row *row, const struct size_row *than)
{
    const cJSON *verdict = cJSON_GetObjectItemCaseSensitive(row->run->saved.summary, "verdict");
    double a = verdict_ratio_of(verdict, row->of.subject), b = verdict_ratio_of(verdict, than->of.subject);
    return a < b || (a == b && row->step.value < than->step.value);
}

/* Returns how a size compares with the best size: by the run's verdict if the best size is also the best implementation
 * of the run, otherwise by the intervals of both sizes. */
static enum verdict_kind compare_sizes(const struct size_row *row, const struct size_row *best)
{
    if (!strcmp(best->of.subject, row->run->subject))
        return verdict_kind_of(cJSON_GetObjectItemCaseSensitive(row->run->saved.summary, "verdict"), row->of.subject);
    struct measured ratio = stats_ratio(row->step, best->step);
    const struct against_best against = {{ratio.value, ratio.low, ratio.high, NAN, NAN, row->n}, ratio.low > 1, 0};
    return verdict_judge(&against, VERDICT_WITHIN);
}

/* Fills and marks a row for each bucket size of a comparison on several ranks; sorts the rows, with rows of several
 * sizes last. Returns the number of rows. */
static size_t take_sizes(struct size_row *row, const struct report_run *run)
{
    size_t n = 0, best = 0;
    for (size_t i = 0; i < run->implementations && run_compares(run) && run->ranks > 1; i++) {
        const struct run_implementation *of = &run->implementation[i];
        const struct figure *step = figures_find(&run->saved.figures, of->subject, "step", 0);
        if (!step || !of->compared || !isfinite(of->mb))
            continue;
        row[n] = (struct size_row){.run = run,
                                   .of = *of,
                                   .label = run->label,
                                   .mark = "",
                                   .ranks = run->ranks,
                                   .n = step->n,
                                   .step = run_figure(run, of->subject, "step"),
                                   .cost = run_figure(run, of->subject, "sync_cost")};
        snprintf(row[n].size, sizeof row[n].size, "%.4g", of->mb);
        if (*of->plan)
            strcpy(row[n].size, of->plan);
        n++;
    }
    if (n)
        qsort(row, n, sizeof *row, by_size);
    for (size_t i = 1; i < n; i++)
        best = is_shorter(&row[i], &row[best]) ? i : best;
    enum chart_mark shortest = CHART_BEST;
    for (size_t i = 0; i < n && n > 1; i++) {
        enum verdict_kind kind = i == best ? VERDICT_BEST : compare_sizes(&row[i], &row[best]);
        row[i].mark = i == best ? "*" : kind == VERDICT_TIE ? "=" : "";
        row[i].ring = kind == VERDICT_TIE ? CHART_TIE : CHART_PLAIN;
        shortest = kind == VERDICT_UNDECIDED ? CHART_PLAIN : shortest; /* a search drops what is slower */
    }
    row[best].ring = n > 1 ? shortest : CHART_PLAIN;
    return n;
}

enum { SERIES = SVG_COLOURS };

/* Draws a line for each of the first SERIES runs with at least two bucket sizes, without rows of several sizes. Rows of
 * a run are consecutive. */
static void draw_buckets(cJSON *document, const struct size_row *row, size_t n)
{
    struct chart_point *point = allocate(n + 1, sizeof *point);
    struct chart_series series[SERIES];
    char title[300] = "";
    size_t lines = 0;
    for (size_t first = 0, end, next; first < n && lines < SERIES; first = next) {
        for (end = first; end < n && row[end].run == row[first].run && !*row[end].of.plan; end++)
            point[end] = (struct chart_point){row[end].of.mb, 1e3 * row[end].step.value, 1e3 * row[end].step.low,
                                              1e3 * row[end].step.high, row[end].ring};
        for (next = end; next < n && row[next].run == row[first].run;)
            next++;
        if (end - first < 2)
            continue;
        for (size_t i = first; i < end; i++)
            if (*row[i].mark == '*' && !*title)
                snprintf(title, sizeof title, "Buckets of %s MiB have the shortest step of the sizes in %.100s",
                         row[i].size, row[i].label);
        series[lines] = (struct chart_series){row[first].label, &point[first], end - first, (int)lines, 0, 0};
        lines++;
    }
    const struct chart_xy chart = {.x = {.title = "bucket size, MiB", .is_log = 1},
                                   .y = {.title = "ms a step"},
                                   .series = series,
                                   .n_series = lines};
    document_add_picture(document, "bucket-sizes", title,
                         chart_xy(title, "Means over the rounds (with --resolve: medians)", &chart));
    free(point);
}

void section_add_buckets(cJSON *document, const struct report_runs *runs)
{
    size_t room = 0, n = 0, most = 0;
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++)
        room += run->implementations;
    struct size_row *row = allocate(room + 1, sizeof *row);
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++) {
        size_t taken = take_sizes(&row[n], run);
        most = taken > most ? taken : most;
        n += taken;
    }
    const struct table table = {
        .key = "bucket_sizes_of_runs",
        TABLE_COLUMNS(size_columns),
        TABLE_ROWS(row, n),
        .shown = 60,
        .note = {"*: the shortest step of the bucket sizes of that run, by its verdict; =: a "
                 "tie with it. sync cost: (step / step of `none` in the same round - 1) x step of `none`."}};
    if (most > 1) {
        document_add_heading(document, "Bucket sizes");
        draw_buckets(document, row, n);
        document_add_table(document, &table);
    }
    free(row);
}
