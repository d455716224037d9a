/* section_buckets.c - the step by its bucket size. */
#include "report/sections.h"

#include "base/text.h"
#include "chart/chart.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct size_row {
    const char *label, *subject, *mark;
    size_t ranks, n;
    double mb, step, interval[2], cost, cost_interval[2];
    char size[24]; /* mb */
};

#define FIELD(field) offsetof(struct size_row, field)
/* clang-format off */
static const struct column size_columns[] = {
    {"run", "run", COLUMN_NAME, FIELD(label), NULL, 1, -10, 0},
    {"ranks", "ranks", COLUMN_COUNT, FIELD(ranks), "1", 1, 5, 0},
    {"implementation", "implementation", COLUMN_NAME, FIELD(subject), NULL, 1, -14, 0},
    {"bucket_mb", NULL, COLUMN_REAL, FIELD(mb), "1", 1, 0, 0},
    {"bucket", "bucket\nMiB", COLUMN_CHARS, FIELD(size), NULL, 1, 8, 0},
    {"step", "step\nms", COLUMN_REAL, FIELD(step), "s", 1e3, 8, 2},
    {"mark", "", COLUMN_NAME, FIELD(mark), NULL, 1, -1, 0},
    {"step_95", "95 %\ninterval", COLUMN_INTERVAL, FIELD(interval), "s", 1e3, -16, 2},
    {"sync_cost", "sync cost\nms", COLUMN_REAL, FIELD(cost), "s", 1e3, 9, 2},
    {"sync_cost_95", "95 %\ninterval", COLUMN_INTERVAL, FIELD(cost_interval), "s", 1e3, -16, 2},
    {"n", "n\nrounds", COLUMN_COUNT, FIELD(n), "1", 1, 4, 0},
};
/* clang-format on */
#undef FIELD

static int by_size(const void *a, const void *b)
{
    const struct size_row *x = a, *y = b;
    return (x->mb > y->mb) - (x->mb < y->mb);
}

/* Whether a size may be as good as the best: by the rounds' own comparison, where that size is the best of all
 * implementations, or else from both intervals. */
static int as_good(const struct report_run *run, const struct size_row *row, const struct size_row *best)
{
    struct measured ratio = stats_ratio((struct measured){row->step, row->interval[0], row->interval[1]},
                                        (struct measured){best->step, best->interval[0], best->interval[1]});
    if (!strcmp(best->subject, run->subject))
        ratio = run_figure(run, row->subject, "step_to_shortest");
    return ratio.low <= 1;
}

/* The sizes of a comparison that have a step, by size, the shortest marked, and what may be as good; of one rank none,
 * since its buckets go nowhere. Returns how many. */
static size_t take_sizes(struct size_row *row, const struct report_run *run)
{
    size_t n = 0, best = 0;
    for (const struct tried *t = run->tried; run_compares(run) && run->ranks > 1 && t < run->tried + run->n_tried;
         t++) {
        const struct figure *step = figures_find(&run->figures, t->subject, "step", 0);
        struct measured cost = run_figure(run, t->subject, "sync_cost");
        if (!step || !isfinite(t->mb))
            continue;
        row[n] = (struct size_row){run->label,  t->subject,
                                   "",          run->ranks,
                                   step->n,     t->mb,
                                   step->value, {step->low, step->high},
                                   cost.value,  {cost.low, cost.high},
                                   ""};
        snprintf(row[n].size, sizeof row[n].size, "%.4g", t->mb);
        n++;
    }
    if (n)
        qsort(row, n, sizeof *row, by_size);
    for (size_t i = 1; i < n; i++)
        best = row[i].step < row[best].step ? i : best;
    for (size_t i = 0; i < n && n > 1; i++)
        row[i].mark = i == best ? "*" : as_good(run, &row[i], &row[best]) ? "=" : "";
    return n;
}

enum { SERIES = 6 }; /* lines that a reader can follow */

/* A line for each run of at least two sizes; rows of a run stand together. */
static void draw_buckets(cJSON *document, const struct size_row *row, size_t n)
{
    struct chart_point *point = allocate(n + 1, sizeof *point);
    struct chart_series series[SERIES];
    size_t lines = 0;
    char title[400] = "The shortest step is at";
    size_t ties = 0;
    for (size_t first = 0, end; first < n && lines < SERIES; first = end) {
        for (end = first; end < n && row[end].label == row[first].label; end++) {
            point[end] = (struct chart_point){row[end].mb,
                                              1e3 * row[end].step,
                                              1e3 * row[end].interval[0],
                                              1e3 * row[end].interval[1],
                                              *row[end].mark == '*' ? CHART_BEST : CHART_PLAIN,
                                              NULL};
            ties += *row[end].mark == '=';
            if (*row[end].mark == '*')
                snprintf(title + strlen(title), sizeof title - strlen(title), "%s %.3g MiB (%.60s)", lines ? "," : "",
                         row[end].mb, row[end].label);
        }
        if (end - first > 1) {
            series[lines] = (struct chart_series){row[first].label, &point[first], end - first, (int)lines,
                                                  CHART_LINE | CHART_POINTS};
            lines++;
        }
    }
    if (ties)
        snprintf(title + strlen(title), sizeof title - strlen(title), "; %zu other%s may be as good", ties,
                 text_plural(ties));
    document_add_picture(
        document, "bucket-sizes", title,
        chart_xy(
            &(struct chart_words){title, "Medians over the rounds with 95 % intervals; ringed: the shortest", NULL},
            &(struct chart_xy){.x = {.title = "bucket size, MiB", .scale = CHART_LOG2},
                               .y = {.title = "ms a step"},
                               .series = series,
                               .n_series = lines}));
    free(point);
}

void section_add_buckets(cJSON *document, const struct report_runs *runs)
{
    size_t room = 0, n = 0, most = 0;
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++)
        room += run->n_tried;
    struct size_row *row = allocate(room + 1, sizeof *row);
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++) {
        size_t taken = take_sizes(&row[n], run);
        most = taken > most ? taken : most;
        n += taken;
    }
    if (most > 1) {
        document_add_heading(document, 2, "Bucket sizes");
        draw_buckets(document, row, n);
        document_add_table(document,
                           &(struct table){.key = "bucket_sizes_of_runs",
                                           TABLE_COLUMNS(size_columns),
                                           .row = row,
                                           .rows = n,
                                           .row_bytes = sizeof *row,
                                           .shown = 60,
                                           .note = "*: the shortest step of the bucket sizes of that run; =: not "
                                                   "significantly longer.\n"});
    }
    free(row);
}
