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
    int behind; /* the rows that are printed: a few sizes of one placement, on several ranks */
};

#define FIELD(field) offsetof(struct collective_row, field)
/* clang-format off */
static const struct column collective_columns[] = {
    {"run", "run", COLUMN_NAME, FIELD(label), NULL, 1, -10, 0},
    {"ranks", "ranks", COLUMN_COUNT, FIELD(ranks), "1", 1, 5, 0},
    {"collective", "collective", COLUMN_NAME, FIELD(subject), NULL, 1, -14, 0},
    {"bytes", "bytes", COLUMN_REAL, FIELD(bytes), "B", 1, 12, 0},
    {"time", "time\nus", COLUMN_REAL, FIELD(time), "s", 1e6, 10, -4},
    {"time_95", "95 %\ninterval", COLUMN_INTERVAL, FIELD(interval), "s", 1e6, -20, 2},
    {"algbw", "algbw\nGB/s", COLUMN_REAL, FIELD(algbw), "B/s", 1e-9, 8, -4},
    {"busbw", "busbw\nGB/s", COLUMN_REAL, FIELD(busbw), "B/s", 1e-9, 8, -4},
    {"nominal_share", "of nominal\n%", COLUMN_REAL, FIELD(share), "1", 100, 10, 1},
};
/* clang-format on */
#undef FIELD

static double value_of(const struct report_run *run, const struct figure *like, const char *name)
{
    const struct figure *f = figures_find(&run->figures, like->subject, name, like->bytes);
    return f ? f->value : NAN;
}

/* Those of one run and collective together, by size; one rank's calls, which communicate nothing, behind all others. */
static int by_collective(const void *a, const void *b)
{
    const struct collective_row *x = a, *y = b;
    int by_subject = strcmp(x->subject, y->subject), alone = (x->ranks < 2) - (y->ranks < 2);
    return alone                    ? alone
           : x->behind != y->behind ? x->behind - y->behind
           : x->run != y->run       ? (x->run > y->run) - (x->run < y->run)
           : by_subject             ? by_subject
                                    : (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* The rows of one run and collective from `first` on end here. */
static size_t series_end(const struct collective_row *row, size_t first, size_t n)
{
    size_t end = first;
    while (end < n && row[end].run == row[first].run && !strcmp(row[end].subject, row[first].subject))
        end++;
    return end;
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
    struct chart_point of_time = {row->bytes, 1e6 * time, 1e6 * low, 1e6 * high, CHART_PLAIN};
    struct chart_point of_bandwidth = {row->bytes, 1e-9 * bus / time, 1e-9 * bus / high, 1e-9 * bus / low, CHART_PLAIN};
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

/* Draws time, or with `bandwidth` busbw, of each collective of each run, with the fitted lines. `others` says whether
 * runs of one rank are left out. */
static void draw_collectives(cJSON *document, const struct report_runs *runs, const struct collective_row *row,
                             size_t n, int others, int bandwidth)
{
    struct chart_point *measured = allocate(n + 1, sizeof *measured), *fitted = allocate(n + 1, sizeof *fitted);
    struct chart_series series[2 * SERIES];
    char name[SERIES][200], title[300];
    size_t lines = 0;
    for (size_t first = 0, end; first < n && lines < SERIES; first = end, lines++) {
        end = series_end(row, first, n);
        for (size_t i = first; i < end; i++) {
            measured[i] = point_of(&row[i], bandwidth, 0);
            fitted[i] = point_of(&row[i], bandwidth, 1);
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
    name_collectives(title, row, n, bandwidth);
    document_add_picture(
        document, bandwidth ? "collectives-bandwidth" : "collectives-time", title,
        chart_xy(&(struct chart_words){title, bandwidth ? "busbw as nccl-tests define it" : "Time of a call",
                                       others ? "One rank alone sends nothing, and is left out." : NULL},
                 &(struct chart_xy){.x = {.title = "size of a call", .scale = CHART_LOG2, .is_bytes = 1},
                                    .y = {.title = bandwidth ? "busbw, GB/s" : "time, us",
                                          .scale = bandwidth ? CHART_LINEAR : CHART_LOG10},
                                    .series = series,
                                    .n_series = 2 * lines,
                                    .dashed = "latency + bus bytes / bandwidth, as the run fitted it"}));
    free(measured);
    free(fitted);
}

/* Puts all but SIZES rows of each run's first placement of a collective behind; returns how many are left before. */
static size_t choose_rows(struct collective_row *row, size_t n)
{
    enum { SIZES = 7 };
    size_t chosen = 0;
    for (size_t first = 0, end; first < n; first = end) {
        end = series_end(row, first, n);
        size_t sizes = end - first, steps = sizes > SIZES ? sizes - 1 : 1, parts = sizes > SIZES ? SIZES - 1 : 1;
        const char *placement = strrchr(row[first].subject, ' ');
        int other = first && row[first - 1].run == row[first].run && placement &&
                    !strncmp(row[first - 1].subject, row[first].subject, (size_t)(placement - row[first].subject));
        for (size_t i = 0; i < sizes; i++) {
            int step = !i || i * parts / steps > (i - 1) * parts / steps;
            row[first + i].behind = row[first].ranks < 2 || other || !step;
            chosen += !row[first + i].behind;
        }
    }
    return chosen;
}

/* Where the fitted line of a run's first placement is far from what was measured. */
static void doubt_lines(cJSON *document, const struct collective_row *row, size_t n)
{
    for (size_t first = 0, end; first < n; first = end) {
        double most = 1;
        const struct collective_row *worst = NULL;
        char size[CELL];
        end = series_end(row, first, n);
        if (first && row[first - 1].run == row[first].run)
            continue;
        for (const struct collective_row *r = row + first; r < row + end; r++) {
            double miss = fmax(r->time / fitted_time(r), fitted_time(r) / r->time);
            worst = miss > most ? r : worst;
            most = fmax(most, miss);
        }
        if (worst && most > 1.5)
            document_add_item(
                document,
                "The fitted line of %s in %s misses by a factor of up to %.1f (at %s): read the points, not "
                "the line.",
                worst->subject, worst->label, most, text_bytes(size, worst->bytes));
    }
}

/* Where the smallest call takes at least 10 times as long as the same in another run. */
static void compare_latencies(cJSON *document, const struct report_runs *runs, const struct collective_row *row,
                              size_t n)
{
    for (size_t first = 0; first < n; first = series_end(row, first, n)) {
        const struct collective_row *quickest = &row[first];
        char time[CELL], least[CELL], size[CELL];
        for (size_t i = 0; i < n; i++)
            if (row[i].bytes == row[first].bytes && !strcmp(row[i].subject, row[first].subject) &&
                row[i].time < quickest->time)
                quickest = &row[i];
        if (row[first].time > 10 * quickest->time && !(first && row[first - 1].run == row[first].run))
            document_add_item(document, "%s of %s takes %s in %s, %.0f times the %s in %s%s.", row[first].subject,
                              text_bytes(size, row[first].bytes),
                              text_value_like(time, row[first].time, "s", row[first].time), row[first].label,
                              row[first].time / quickest->time,
                              text_value_like(least, quickest->time, "s", quickest->time), quickest->label,
                              run_lacks_cpus(runs, row[first].run)
                                  ? ": its ranks have fewer CPUs than threads, so this is how long one waits for its "
                                    "turn on a CPU, not the link"
                                  : "");
    }
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
                                                   value_of(run, f, "nominal_share"),
                                                   0};
    if (n) {
        size_t several = 0; /* of several ranks */
        qsort(row, n, sizeof *row, by_collective);
        while (several < n && row[several].ranks > 1)
            several++;
        document_add_heading(document, 2, "Collectives");
        if (several) {
            draw_collectives(document, runs, row, several, several < n, 0);
            draw_collectives(document, runs, row, several, several < n, 1);
            compare_latencies(document, runs, row, several);
            doubt_lines(document, row, several);
        } else
            document_add_paragraph(document, "One rank's calls are no communication, and are not shown.");
        size_t chosen = choose_rows(row, n);
        qsort(row, n, sizeof *row, by_collective);
        document_add_table(document, &(struct table){.key = "collectives_of_runs",
                                                     TABLE_COLUMNS(collective_columns),
                                                     .row = row,
                                                     .rows = n,
                                                     .row_bytes = sizeof *row,
                                                     .shown = chosen ? chosen : 1});
    }
    free(row);
}
