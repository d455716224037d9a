/* section_collectives.c - times and bandwidths of collectives by size. */
#include "report/sections.h"

#include "base/json.h"
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
    int is_hidden; /* not printed: a few sizes are, if there are several ranks */
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
#undef FIELD

/* Sorts the rows of a single rank last, hidden rows behind the others, then by run, collective and size. */
static int by_collective(const void *a, const void *b)
{
    const struct collective_row *x = a, *y = b;
    int by_subject = strcmp(x->subject, y->subject), alone = (x->ranks < 2) - (y->ranks < 2);
    return alone                          ? alone
           : x->is_hidden != y->is_hidden ? x->is_hidden - y->is_hidden
           : x->run != y->run             ? (x->run > y->run) - (x->run < y->run)
           : by_subject                   ? by_subject
                                          : (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* Where the rows of one run and collective that begin at `first` end. */
static size_t series_end(const struct collective_row *row, size_t first, size_t n)
{
    size_t end = first;
    while (end < n && row[end].run == row[first].run && !strcmp(row[end].subject, row[first].subject))
        end++;
    return end;
}

static int is_first_of_run(const struct collective_row *row, size_t i)
{
    return !i || row[i - 1].run != row[i].run;
}

static double bus_bytes(const struct collective_row *row)
{
    return row->bytes * row->busbw / row->algbw;
}

/* The time of a size by the line that was fitted to it; NAN: none was. */
static double fitted_time(const struct collective_row *row)
{
    double bus = bus_bytes(row);
    const cJSON *line;
    cJSON_ArrayForEach(line, run_table_rows(row->run, "link"))
    {
        char of[96];
        snprintf(of, sizeof of, "%.30s %.30s %.30s", json_string(line, "dtype"), json_string(line, "op"),
                 json_string(line, "placement"));
        const char *end = strstr(row->subject, of);
        if (end && !end[strlen(of)] && bus >= 0.999 * json_number(line, "from_bytes") &&
            bus <= 1.001 * json_number(line, "to_bytes"))
            return fmax(0, json_number(line, "latency")) + bus / json_number(line, "bandwidth");
    }
    return NAN;
}

/* ---- pictures ---- */

enum { SERIES = 2 * COLOURS_OF_RUNS }; /* collectives that are drawn, at most */

static struct chart_point time_point(const struct collective_row *row, struct measured time)
{
    return (struct chart_point){row->bytes, 1e6 * time.value, 1e6 * time.low, 1e6 * time.high, CHART_PLAIN};
}

static struct chart_point bandwidth_point(const struct collective_row *row, struct measured time)
{
    double bus = 1e-9 * bus_bytes(row);
    return (struct chart_point){row->bytes, bus / time.value, bus / time.high, bus / time.low, CHART_PLAIN};
}

/* A picture of all collectives: its name, and its y axis with the point of a row that takes `time`. */
struct collectives_picture {
    const char *name, *subtitle;
    struct chart_axis y;
    struct chart_point (*point)(const struct collective_row *row, struct measured time);
};
static const struct collectives_picture of_times = {
    "collectives-time", "Time of a call", {.title = "time, us", .scale = CHART_LOG10}, time_point};
static const struct collectives_picture of_bandwidths = {
    "collectives-bandwidth", "busbw as nccl-tests define it", {.title = "busbw, GB/s"}, bandwidth_point};

/* Draws the points of each collective of each run, and the fitted lines. */
static void draw_collectives(cJSON *document, const struct collectives_picture *picture, const char *title,
                             const char *note, const struct collective_row *row, size_t n)
{
    struct chart_point *measured = allocate(n + 1, sizeof *measured), *fitted = allocate(n + 1, sizeof *fitted);
    struct chart_series series[2 * SERIES];
    char name[SERIES][200];
    size_t lines = 0;
    for (size_t first = 0, end; first < n && lines < SERIES; first = end, lines++) {
        end = series_end(row, first, n);
        for (size_t i = first; i < end; i++) {
            measured[i] = picture->point(&row[i], row[i].time);
            fitted[i] = picture->point(&row[i], (struct measured){fitted_time(&row[i]), NAN, NAN});
        }
        const char *space = strrchr(row[first].subject, ' '), *placement = space ? space + 1 : row[first].subject;
        int colour = colour_of_run(row[first].run), rings = strcmp(placement, "in_place") ? 0 : CHART_RINGS;
        snprintf(name[lines], sizeof name[lines], "%.60s, %.60s", row[first].label, placement);
        series[2 * lines] =
            (struct chart_series){name[lines], &measured[first], end - first, colour, CHART_POINTS | rings};
        series[2 * lines + 1] =
            (struct chart_series){NULL, &fitted[first], end - first, colour, CHART_LINE | CHART_DASHED};
    }
    document_add_picture(document, picture->name, title,
                         chart_xy(&(struct chart_words){title, picture->subtitle, note},
                                  &(struct chart_xy){.x = {"size of a call", CHART_LOG2, .is_bytes = 1},
                                                     .y = picture->y,
                                                     .series = series,
                                                     .n_series = 2 * lines,
                                                     .dashed = "latency + bus bytes / bandwidth, fitted by the run"}));
    free(measured);
    free(fitted);
}

/* Draws times. The title has the shortest of the smallest size. */
static void draw_times(cJSON *document, const char *note, const struct collective_row *row, size_t n)
{
    const struct collective_row *least = row;
    char title[300], time[CELL], size[CELL];
    for (const struct collective_row *r = row; r < row + n; r++)
        if (r->bytes < least->bytes || (r->bytes == least->bytes && r->time.value < least->time.value))
            least = r;
    snprintf(title, sizeof title, "A collective of %s takes %s (%.60s)", text_bytes(size, least->bytes),
             text_value_like(time, least->time.value, "s", least->time.value), least->label);
    draw_collectives(document, &of_times, title, note, row, n);
}

/* Draws bus bandwidths. The title has the greatest. */
static void draw_bandwidths(cJSON *document, const char *note, const struct collective_row *row, size_t n)
{
    const struct collective_row *most = row;
    char title[300], value[CELL], size[CELL];
    for (const struct collective_row *r = row; r < row + n; r++)
        most = r->busbw > most->busbw || isnan(most->busbw) ? r : most;
    snprintf(title, sizeof title, "Bus bandwidth reaches %s at %s (%.60s)",
             text_value_like(value, most->busbw, "B/s", most->busbw), text_bytes(size, most->bytes), most->label);
    draw_collectives(document, &of_bandwidths, title, note, row, n);
}

/* ---- sentences and the table ---- */

/* Hides all rows but a few sizes of each collective, the smallest and the largest among them. Returns how many are
 * left. */
static size_t choose_rows(struct collective_row *row, size_t n)
{
    enum { SIZES = 7 };
    size_t chosen = 0;
    for (size_t first = 0, end; first < n; first = end) {
        end = series_end(row, first, n);
        for (size_t i = first; i < end; i++) {
            row[i].is_hidden = row[i].ranks < 2 || (i > first && (end - 1 - i) % ((end - first + SIZES - 1) / SIZES));
            chosen += !row[i].is_hidden;
        }
    }
    return chosen;
}

/* Warns where the fitted line of a run's first collective is far from the measured times. */
static void warn_of_fits(cJSON *document, const struct collective_row *row, size_t n)
{
    for (size_t first = 0, end; first < n; first = end) {
        double most = 1;
        const struct collective_row *worst = NULL;
        char size[CELL];
        end = series_end(row, first, n);
        for (const struct collective_row *r = row + first; r < row + end && is_first_of_run(row, first); r++) {
            double error = fmax(r->time.value / fitted_time(r), fitted_time(r) / r->time.value);
            worst = error > most ? r : worst;
            most = fmax(most, error);
        }
        if (worst && most > 1.5)
            document_add_item(
                document,
                "The fitted line of %s in %s is wrong by a factor of up to %.1f (at %s): read the points, "
                "not the line.",
                worst->subject, worst->label, most, text_bytes(size, worst->bytes));
    }
}

/* Reports where the smallest call of a run takes at least 10 times as long as the same call in another run. */
static void compare_latencies(cJSON *document, const struct collective_row *row, size_t n)
{
    for (size_t first = 0; first < n; first = series_end(row, first, n)) {
        const struct collective_row *of = &row[first], *quickest = of;
        char time[CELL], least[CELL], size[CELL];
        for (const struct collective_row *r = row; r < row + n; r++)
            if (r->bytes == of->bytes && !strcmp(r->subject, of->subject) && r->time.value < quickest->time.value)
                quickest = r;
        if (of->time.value > 10 * quickest->time.value && is_first_of_run(row, first))
            document_add_item(document, "%s of %s takes %s in %s, %.0f times the %s in %s%s.", of->subject,
                              text_bytes(size, of->bytes), text_value_like(time, of->time.value, "s", of->time.value),
                              of->label, of->time.value / quickest->time.value,
                              text_value_like(least, quickest->time.value, "s", quickest->time.value), quickest->label,
                              of->run->lacks_cpus
                                  ? ": its ranks have fewer CPUs than threads, so the time is that of waiting for a "
                                    "CPU, not that of the link"
                                  : "");
    }
}

static double figure_of(const struct report_run *run, const struct figure *like, const char *name)
{
    const struct figure *f = figures_find(&run->figures, like->subject, name, like->bytes);
    return f ? f->value : NAN;
}

/* Fills rows with the collectives of a run. Returns how many. */
static size_t take_collectives(struct collective_row *row, const struct report_run *run)
{
    size_t n = 0;
    for (const struct figure *f = run->figures.item; f < run->figures.item + run->figures.n; f++)
        if (!strcmp(run->mode, "allreduce") && !strcmp(f->name, "time"))
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
    size_t room = 0, n = 0, several = 0; /* rows of several ranks */
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++)
        room += run->figures.n;
    struct collective_row *row = allocate(room + 1, sizeof *row);
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++)
        n += take_collectives(&row[n], run);
    if (n) {
        qsort(row, n, sizeof *row, by_collective);
        while (several < n && row[several].ranks > 1)
            several++;
        document_add_heading(document, "Collectives");
        if (several) {
            const char *note = several < n ? "Runs on one rank, which communicate nothing, are left out." : NULL;
            draw_times(document, note, row, several);
            draw_bandwidths(document, note, row, several);
            compare_latencies(document, row, several);
            warn_of_fits(document, row, several);
        } else
            document_add_paragraph(document, "Runs on one rank communicate nothing, and are not shown.");
        size_t chosen = choose_rows(row, n);
        qsort(row, n, sizeof *row, by_collective);
        document_add_table(document, &(struct table){.key = "collectives_of_runs",
                                                     TABLE_COLUMNS(collective_columns),
                                                     TABLE_ROWS(row, n),
                                                     .shown = chosen ? chosen : 1});
    }
    free(row);
}
