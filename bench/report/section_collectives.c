/* section_collectives.c - collectives by their size. */
#include "report/sections.h"

#include "base/text.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SERIES = 2 * COLOURS_OF_RUNS }; /* lines that a reader can follow: of a run in place and out of place */

struct collective_row {
    const struct report_run *run;
    const char *label, *subject;
    size_t ranks;
    double bytes, time, interval[2], algbw, busbw, share;
};

#define FIELD(field) offsetof(struct collective_row, field)
/* clang-format off */
static const struct column collective_columns[] = {
    {"run", "run", COLUMN_NAME, FIELD(label), NULL, 1, -10, 0},
    {"ranks", "ranks", COLUMN_COUNT, FIELD(ranks), "1", 1, 5, 0},
    {"collective", "collective", COLUMN_NAME, FIELD(subject), NULL, 1, -14, 0},
    {"bytes", "bytes", COLUMN_REAL, FIELD(bytes), "B", 1, 12, 0},
    {"time", "time\nus", COLUMN_REAL, FIELD(time), "s", 1e6, 10, 2},
    {"time_95", "95 %\ninterval", COLUMN_INTERVAL, FIELD(interval), "s", 1e6, -20, 2},
    {"algbw", "algbw\nGB/s", COLUMN_REAL, FIELD(algbw), "B/s", 1e-9, 8, 3},
    {"busbw", "busbw\nGB/s", COLUMN_REAL, FIELD(busbw), "B/s", 1e-9, 8, 3},
    {"nominal_share", "of nominal\n%", COLUMN_REAL, FIELD(share), "1", 100, 10, 1},
};
/* clang-format on */
#undef FIELD

static double value_of(const struct report_run *run, const struct figure *like, const char *name)
{
    const struct figure *f = figures_find(&run->figures, like->subject, name, like->bytes);
    return f ? f->value : NAN;
}

/* Those of one run and collective together, by size. */
static int by_collective(const void *a, const void *b)
{
    const struct collective_row *x = a, *y = b;
    int by_subject = strcmp(x->subject, y->subject);
    return x->run != y->run ? (x->run > y->run) - (x->run < y->run)
           : by_subject     ? by_subject
                            : (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* The time of a size by the line that was fitted to it; NAN where there is none. */
static double fitted_time(const struct collective_row *row)
{
    double bus = row->bytes * row->busbw / row->algbw;
    for (const struct fitted_line *line = row->run->line; line < row->run->line + row->run->lines; line++) {
        const char *of = strstr(row->subject, line->of);
        if (of && !of[strlen(line->of)] && bus >= 0.999 * line->from_bytes && bus <= 1.001 * line->to_bytes)
            return fmax(0, line->latency) + bus / line->bandwidth;
    }
    return NAN;
}

/* A point of time in us, or of `bandwidth` in GB/s; of the fitted line, or as measured. */
static struct chart_point point_of(const struct collective_row *row, int bandwidth, int fitted)
{
    double time = fitted ? fitted_time(row) : row->time, low = fitted ? NAN : row->interval[0];
    double high = fitted ? NAN : row->interval[1], bus = row->bytes * row->busbw / row->algbw;
    struct chart_point of_time = {row->bytes, 1e6 * time, 1e6 * low, 1e6 * high, CHART_PLAIN, NULL};
    struct chart_point of_bandwidth = {row->bytes,       1e-9 * bus / time, 1e-9 * bus / high,
                                       1e-9 * bus / low, CHART_PLAIN,       NULL};
    return bandwidth ? of_bandwidth : of_time;
}

/* Of the smallest size that all have the least and the greatest time; or the largest busbw. */
static void name_collectives(char title[300], const struct collective_row *row, size_t n, int bandwidth)
{
    const struct collective_row *least = row, *most = row;
    double smallest = INFINITY;
    char low[CELL], high[CELL], size[CELL];
    for (const struct collective_row *r = row; r < row + n; r++)
        smallest = fmin(smallest, r->bytes);
    for (const struct collective_row *r = row; r < row + n; r++) {
        if (bandwidth ? r->busbw > most->busbw || isnan(most->busbw)
                      : r->bytes <= smallest && (r->time > most->time || most->bytes > smallest))
            most = r;
        if (r->bytes <= smallest && (r->time < least->time || least->bytes > smallest))
            least = r;
    }
    text_bytes(size, most->bytes);
    if (bandwidth)
        snprintf(title, 300, "Bus bandwidth reaches %s at %s (%.60s)",
                 text_value_like(high, most->busbw, "B/s", most->busbw), size, most->label);
    else if (most->run == least->run)
        snprintf(title, 300, "A collective of %s takes %s (%.60s)", size,
                 text_value_like(low, least->time, "s", least->time), least->label);
    else
        snprintf(title, 300, "A collective of %s takes from %s (%.60s) to %s (%.60s)", size,
                 text_value_like(low, least->time, "s", least->time), least->label,
                 text_value_like(high, most->time, "s", most->time), most->label);
}

/* How far the fitted lines miss what was measured: the largest factor, 1 or more. */
static double largest_miss(const struct collective_row *row, size_t n)
{
    double miss = 1;
    for (const struct collective_row *r = row; r < row + n; r++) {
        double fitted = fitted_time(r), factor = fitted > r->time ? fitted / r->time : r->time / fitted;
        miss = isfinite(factor) ? fmax(miss, factor) : miss;
    }
    return miss;
}

/* Draws time, or with `bandwidth` busbw, of each collective of each run, with the fitted lines. One rank sends nothing.
 */
static void draw_collectives(cJSON *document, const struct report_runs *runs, const struct collective_row *all,
                             size_t n_all, int bandwidth)
{
    struct collective_row *row = allocate(n_all + 1, sizeof *row);
    struct chart_point *measured = allocate(n_all + 1, sizeof *measured), *fitted = allocate(n_all + 1, sizeof *fitted);
    struct chart_series series[2 * SERIES];
    char name[SERIES][200], title[300], note[200] = "";
    size_t lines = 0, n = 0;
    for (size_t i = 0; i < n_all; i++)
        if (all[i].ranks > 1)
            row[n++] = all[i];
    for (size_t first = 0, end; first < n && lines < SERIES; first = end, lines++) {
        for (end = first; end < n && row[end].run == row[first].run && !strcmp(row[end].subject, row[first].subject);
             end++) {
            measured[end] = point_of(&row[end], bandwidth, 0);
            fitted[end] = point_of(&row[end], bandwidth, 1);
        }
        const char *placement = strrchr(row[first].subject, ' ');
        int colour = colour_of_run(runs, row[first].run);
        snprintf(name[lines], sizeof name[lines], "%.60s, %.60s", row[first].label,
                 placement ? placement + 1 : row[first].subject);
        series[2 * lines] =
            (struct chart_series){name[lines], &measured[first], end - first, colour,
                                  CHART_POINTS | (placement && !strcmp(placement, " in_place") ? CHART_RINGS : 0)};
        series[2 * lines + 1] =
            (struct chart_series){NULL, &fitted[first], end - first, colour, CHART_LINE | CHART_DASHED};
    }
    if (n) {
        double miss = largest_miss(row, n);
        name_collectives(title, row, n, bandwidth);
        const char *alone = n < n_all ? "One rank alone sends nothing, and is left out." : "";
        snprintf(note, sizeof note, "%s", alone);
        if (miss > 1.2)
            snprintf(note, sizeof note, "The fitted lines miss some points by a factor of %.2g. %s", miss, alone);
        document_add_picture(
            document, bandwidth ? "collectives-bandwidth" : "collectives-time", title,
            chart_xy(&(struct chart_words){title, bandwidth ? "busbw as nccl-tests define it" : "Time of a call", note},
                     &(struct chart_xy){.x = {.title = "size of a call", .scale = CHART_LOG2, .is_bytes = 1},
                                        .y = {.title = bandwidth ? "busbw, GB/s" : "time, us",
                                              .scale = bandwidth ? CHART_LINEAR : CHART_LOG10},
                                        .series = series,
                                        .n_series = 2 * lines,
                                        .dashed = "latency + bus bytes / bandwidth, as the run fitted it"}));
    }
    free(row);
    free(measured);
    free(fitted);
}

void section_add_collectives(cJSON *document, const struct report_runs *runs)
{
    size_t room = 0, n = 0;
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++)
        room += strcmp(run->mode, "allreduce") != 0 ? 0 : run->figures.n;
    struct collective_row *row = allocate(room + 1, sizeof *row);
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++)
        for (const struct figure *f = run->figures.item; f < run->figures.item + run->figures.n; f++)
            if (!strcmp(run->mode, "allreduce") && !strcmp(f->name, "time"))
                row[n++] = (struct collective_row){run,
                                                   run->label,
                                                   f->subject,
                                                   run->ranks,
                                                   f->bytes,
                                                   f->value,
                                                   {f->low, f->high},
                                                   value_of(run, f, "algbw"),
                                                   value_of(run, f, "busbw"),
                                                   value_of(run, f, "nominal_share")};
    if (n) {
        qsort(row, n, sizeof *row, by_collective);
        document_add_heading(document, 2, "Collectives");
        draw_collectives(document, runs, row, n, 0);
        draw_collectives(document, runs, row, n, 1);
        document_add_table(document, &(struct table){.key = "collectives_of_runs",
                                                     TABLE_COLUMNS(collective_columns),
                                                     .row = row,
                                                     .rows = n,
                                                     .row_bytes = sizeof *row,
                                                     .shown = 60});
    }
    free(row);
}
