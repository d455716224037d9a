/* section_collectives.c - writes the section on times and bandwidths of collectives by size. */
#include "report/sections.h"

#include "base/text.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct collective_row {
    const struct report_run *run;
    const char *label, *subject;
    size_t ranks;
    double bytes;
    struct measured time;
    double algbw, busbw, share;
};

#define FIELD(field) offsetof(struct collective_row, field)
/* clang-format off */
static const struct column collective_columns[] = {
    {"run", "run", COLUMN_NAME, FIELD(label), NULL, 1, -10, 0},
    {"ranks", "ranks", COLUMN_COUNT, FIELD(ranks), "1", 1, 5, 0},
    {"collective", "collective", COLUMN_NAME, FIELD(subject), NULL, 1, -14, 0},
    {"bytes", "bytes", COLUMN_REAL, FIELD(bytes), "B", 1, 12, 0},
    {"time", "time\nus", COLUMN_REAL, FIELD(time.value), "s", 1e6, 10, -4},
    {"time_95", "95 %\ninterval", COLUMN_INTERVAL, COLUMN_ENDS(struct collective_row, time.low, time.high), "s", 1e6, -20, 2},
    {"algbw", "algbw\nGB/s", COLUMN_REAL, FIELD(algbw), "B/s", 1e-9, 8, -4},
    {"busbw", "busbw\nGB/s", COLUMN_REAL, FIELD(busbw), "B/s", 1e-9, 8, -4},
    {"nominal_share", "of nominal\n%", COLUMN_REAL, FIELD(share), "1", 100, 10, 1},
};
/* clang-format on */

static int by_collective(const void *a, const void *b)
{
    const struct collective_row *x = a, *y = b;
    int by_subject = strcmp(x->subject, y->subject);
    return x->run != y->run ? (x->run > y->run) - (x->run < y->run)
           : by_subject     ? by_subject
                            : (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* Returns the index after the last row with the same run and collective as row `first`. */
static size_t series_end(const struct collective_row *row, size_t first, size_t n)
{
    size_t end = first;
    while (end < n && row[end].run == row[first].run && !strcmp(row[end].subject, row[first].subject))
        end++;
    return end;
}

/* Draws a line for each of the first SERIES collectives: its times or its bus bandwidths. */
static void draw_collectives(cJSON *document, const struct collective_row *row, size_t n, int is_bandwidth)
{
    enum { SERIES = SVG_COLOURS };
    char title[300], size[CELL];
    const struct collective_row *top = row; /* with the most bandwidth, or the shortest call */
    double most = -INFINITY;
    struct chart_point *point = allocate(n, sizeof *point);
    struct chart_series series[SERIES];
    char name[SERIES][200];
    size_t lines = 0;
    for (size_t first = 0, end; first < n && lines < SERIES; first = end, lines++) {
        end = series_end(row, first, n);
        for (size_t i = first; i < end; i++) {
            double bus = 1e-9 * row[i].bytes * row[i].busbw / row[i].algbw;
            struct measured t = row[i].time, y = {1e6 * t.value, 1e6 * t.low, 1e6 * t.high};
            if (is_bandwidth)
                y = (struct measured){bus / t.value, bus / t.high, bus / t.low};
            point[i] = (struct chart_point){row[i].bytes, y.value, y.low, y.high, CHART_PLAIN};
            top = (is_bandwidth ? y.value : -y.value) > most ? &row[i] : top;
            most = fmax(most, is_bandwidth ? y.value : -y.value);
        }
        const char *space = strrchr(row[first].subject, ' ');
        snprintf(name[lines], sizeof name[lines], "%.60s, %.60s", row[first].label,
                 space ? space + 1 : row[first].subject);
        series[lines] = (struct chart_series){name[lines], &point[first], end - first, (int)lines, 0, 0};
    }
    snprintf(title, sizeof title,
             is_bandwidth ? "Bus bandwidth reaches %.3g GB/s, at %s (%.100s)"
                          : "The shortest call takes %.3g us, for %s (%.100s)",
             fabs(most), text_bytes(size, top->bytes), top->label);
    const struct chart_xy chart = {.x = {.title = "size of a call", .is_log = AXIS_BINARY, .is_bytes = 1},
                                   .y = {.title = is_bandwidth ? "busbw, GB/s" : "time, us", .is_log = !is_bandwidth},
                                   .series = series,
                                   .n_series = lines};
    document_add_picture(document, is_bandwidth ? "collectives-bandwidth" : "collectives-time", title,
                         chart_xy(title, NULL, &chart));
    free(point);
}

/* Keeps rows of a few sizes of each collective, including the smallest and the largest. Returns how many remain. */
static size_t choose_rows(struct collective_row *row, size_t n)
{
    enum { SIZES = 7 };
    size_t chosen = 0;
    for (size_t first = 0, end; first < n; first = end) {
        end = series_end(row, first, n);
        size_t every = (end - first + SIZES - 1) / SIZES, last = end - 1;
        for (size_t i = first; i < end; i++)
            if (i == first || (last - i) % every == 0)
                row[chosen++] = row[i];
    }
    return chosen;
}

static double figure_of(const struct report_run *run, const struct figure *like, const char *name)
{
    const struct figure *f = figures_find(&run->saved.figures, like->subject, name, like->bytes);
    return f ? f->value : NAN;
}

/* Fills rows with the collectives of a run on several ranks. Returns the number of rows. */
static size_t take_collectives(struct collective_row *row, const struct report_run *run)
{
    size_t n = 0;
    for (const struct figure *f = run->saved.figures.item; f < run->saved.figures.item + run->saved.figures.n; f++)
        if (!strcmp(run->mode, "allreduce") && run->ranks > 1 && !strcmp(f->name, "time"))
            row[n++] = (struct collective_row){.run = run,
                                               .label = run->label,
                                               .subject = f->subject,
                                               .ranks = run->ranks,
                                               .bytes = f->bytes,
                                               .time = {f->value, f->low, f->high},
                                               .algbw = figure_of(run, f, "algbw"),
                                               .busbw = figure_of(run, f, "busbw"),
                                               .share = figure_of(run, f, "nominal_share")};
    return n;
}

void section_add_collectives(cJSON *document, const struct report_runs *runs)
{
    size_t room = 0, n = 0;
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++)
        room += run->saved.figures.n;
    struct collective_row *row = allocate(room + 1, sizeof *row);
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++)
        n += take_collectives(&row[n], run);
    if (n) {
        qsort(row, n, sizeof *row, by_collective);
        document_add_heading(document, "Collectives");
        draw_collectives(document, row, n, 0);
        draw_collectives(document, row, n, 1);
        const struct table table = {
            .key = "collectives_of_runs",
            TABLE_COLUMNS(collective_columns),
            TABLE_ROWS(row, choose_rows(row, n)),
            .note = {"algbw: bytes of a call / its time. busbw: the bandwidth that each link carries, "
                     "comparable between numbers of ranks. Runs on one rank are left out: they communicate nothing."}};
        document_add_table(document, &table);
    }
    free(row);
}
