/* section_buckets.c - the step by its bucket size. */
#include "report/sections.h"

#include "base/text.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct size_row {
    const struct report_run *run;
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
        row[n] = (struct size_row){run,
                                   run->label,
                                   t->subject,
                                   "",
                                   run->ranks,
                                   step->n,
                                   t->mb,
                                   step->value,
                                   {step->low, step->high},
                                   cost.value,
                                   {cost.low, cost.high},
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

enum { SERIES = COLOURS_OF_RUNS }; /* lines that a reader can follow */

/* Appends the size of the shortest step of a run, row[n]; returns whether another is not significantly longer. */
static int name_sizes(FILE *out, const struct size_row *row, size_t n, int is_first)
{
    const struct size_row *best = row;
    int tie = 0;
    for (const struct size_row *r = row; r < row + n; r++) {
        best = *r->mark == '*' ? r : best;
        tie |= *r->mark == '=';
    }
    fprintf(out, "%s%.3g MiB (%.60s%s)", is_first ? "" : ", ", best->mb, best->label, tie ? ", tie" : "");
    return tie;
}

/* A line for each run of at least two sizes; rows of a run stand together. */
static void draw_buckets(cJSON *document, const struct report_runs *runs, const struct size_row *row, size_t n)
{
    struct chart_point *point = allocate(n + 1, sizeof *point);
    struct chart_series series[SERIES];
    size_t lines = 0, length;
    char *title;
    int tie = 0;
    FILE *words = text_begin(&title, &length);
    fputs("The shortest step is at ", words);
    for (size_t first = 0, end; first < n && lines < SERIES; first = end) {
        for (end = first; end < n && row[end].run == row[first].run; end++)
            point[end] =
                (struct chart_point){row[end].mb, 1e3 * row[end].step, 1e3 * row[end].interval[0],
                                     1e3 * row[end].interval[1], *row[end].mark == '*' ? CHART_BEST : CHART_PLAIN};
        if (end - first < 2)
            continue;
        tie |= name_sizes(words, &row[first], end - first, !lines);
        series[lines++] = (struct chart_series){row[first].label, &point[first], end - first,
                                                colour_of_run(runs, row[first].run), CHART_LINE | CHART_POINTS};
    }
    text_end(words);
    document_add_picture(document, "bucket-sizes", title,
                         chart_xy(&(struct chart_words){title, "Medians over the rounds",
                                                        tie ? "Tie: other sizes are not significantly slower." : NULL},
                                  &(struct chart_xy){.x = {.title = "bucket size, MiB", .scale = CHART_LOG2},
                                                     .y = {.title = "ms a step"},
                                                     .series = series,
                                                     .n_series = lines,
                                                     .best = "the shortest step of a run"}));
    free(title);
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
        draw_buckets(document, runs, row, n);
        document_add_table(document,
                           &(struct table){.key = "bucket_sizes_of_runs",
                                           TABLE_COLUMNS(size_columns),
                                           .row = row,
                                           .rows = n,
                                           .row_bytes = sizeof *row,
                                           .shown = 60,
                                           .note = {"*: the shortest step of the bucket sizes of that run; =: not "
                                                    "significantly longer."}});
    }
    free(row);
}
