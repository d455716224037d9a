/* picture.c - an SVG file of what a search found: the cost of a step over the bucket size. */
#include "tune/answer.h"

#include "base/text.h"
#include "chart/chart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The sizes of ddp_bucketed, in ms; returns how many. */
static size_t take_sizes(const struct answer *a, struct chart_point *point, char best[CELL])
{
    size_t n = 0;
    for (const struct answer_row *row = a->row; row < a->row + a->n; row++) {
        int is_best = row - a->row == a->best;
        if (!(row->bucket_mb > 0))
            continue;
        point[n++] = (struct chart_point){.x = row->bucket_mb,
                                          .y = 1e3 * row->cost.median,
                                          .low = 1e3 * row->cost.ci_low,
                                          .high = 1e3 * row->cost.ci_high,
                                          .mark = is_best                                  ? CHART_BEST
                                                  : row->searched->state == SEARCH_DROPPED ? CHART_HOLLOW
                                                  : !strcmp(row->verdict, "as good")       ? CHART_AS_GOOD
                                                                                           : CHART_PLAIN,
                                          .label = is_best ? best : NULL};
        if (is_best)
            snprintf(best, CELL, "%.30s MiB", row->size);
    }
    return n;
}

/* The strategies without a size, as lines. What lies above the top is only named there. */
static size_t take_others(const struct answer *a, double top_ms, struct chart_reference *reference, char (*name)[120])
{
    size_t n = 0;
    for (const struct answer_row *row = a->row; row < a->row + a->n; row++) {
        double ms = 1e3 * row->cost.median;
        if (row->bucket_mb > 0 || !row->cost.n)
            continue;
        snprintf(name[n], sizeof *name, "%.60s %.3g ms%s", row->label, ms, ms > top_ms ? " (above)" : "");
        reference[n] = (struct chart_reference){name[n], ms, row - a->row == a->best};
        n++;
    }
    return n;
}

char *answer_picture(const struct answer *a, const char *words)
{
    struct chart_point point[MAX_IMPLEMENTATIONS];
    struct chart_reference reference[MAX_IMPLEMENTATIONS];
    char name[MAX_IMPLEMENTATIONS][120], best_size[CELL], title[200];
    const struct answer_row *best = &a->row[a->best];
    double top_ms = a->top > 0 ? 1.08e3 * a->top : 1;
    struct chart_series sizes = {.name = "ddp_bucketed", .point = point, .draw = CHART_LINE | CHART_POINTS};
    sizes.n = take_sizes(a, point, best_size);
    const struct chart_xy chart = {.x = {.title = "bucket size, MiB", .scale = CHART_LOG2},
                                   .y = {.title = "cost over no communication, ms a step", .end = top_ms},
                                   .series = &sizes,
                                   .n_series = 1,
                                   .reference = reference,
                                   .n_references = take_others(a, top_ms, reference, name)};
    snprintf(title, sizeof title, "Best: %s%s, %.3g ms a step over no communication", best->label,
             *best->size ? " MiB" : "", 1e3 * best->cost.median);
    return chart_xy(&(struct chart_words){title, words,
                                          "Circles: ddp_bucketed, hollow where it was dropped early; with 95 % "
                                          "intervals from 6 rounds on. Dashed: other strategies."},
                    &chart);
}
