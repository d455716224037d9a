/* section_sizes.c - what depends on a size: the step on the bucket size, a collective on its bytes. */
#include "report/sections.h"

#include "base/text.h"
#include "chart/chart.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- bucket sizes ---- */

struct size_row {
    const char *label, *subject, *mark;
    size_t ranks, n;
    double mb, step, interval[2], cost, cost_interval[2];
};

#define FIELD(field) offsetof(struct size_row, field)
/* clang-format off */
static const struct column size_columns[] = {
    {"run", "run", COLUMN_NAME, FIELD(label), NULL, 1, -10, 0},
    {"ranks", "ranks", COLUMN_COUNT, FIELD(ranks), "1", 1, 5, 0},
    {"implementation", "implementation", COLUMN_NAME, FIELD(subject), NULL, 1, -14, 0},
    {"bucket_mb", "bucket\nMiB", COLUMN_REAL, FIELD(mb), "1", 1, 8, -4},
    {"step", "step\nms", COLUMN_REAL, FIELD(step), "s", 1e3, 8, 2},
    {"mark", "", COLUMN_NAME, FIELD(mark), NULL, 1, -1, 0},
    {"step_95", "95 %\ninterval", COLUMN_INTERVAL, FIELD(interval), "s", 1e3, -16, 2},
    {"sync_cost", "sync cost\nms", COLUMN_REAL, FIELD(cost), "s", 1e3, 9, 2},
    {"sync_cost_95", "95 %\ninterval", COLUMN_INTERVAL, FIELD(cost_interval), "s", 1e3, -16, 2},
    {"n", "n", COLUMN_COUNT, FIELD(n), "1", 1, 4, 0},
};
/* clang-format on */
#undef FIELD

static int by_size(const void *a, const void *b)
{
    const struct size_row *x = a, *y = b;
    return (x->mb > y->mb) - (x->mb < y->mb);
}

/* The sizes of a run that have a step, by size, the shortest marked. Returns how many. */
static size_t take_sizes(struct size_row *row, const struct report_run *run)
{
    size_t n = 0, best = 0;
    for (const struct sized *s = run->sized; s < run->sized + run->sizes; s++) {
        const struct figure *step = figures_find(&run->figures, s->subject, "step", 0);
        const struct figure *cost = figures_find(&run->figures, s->subject, "sync_cost", 0);
        if (!step)
            continue;
        row[n] = (struct size_row){run->label, s->subject, "",          run->ranks,
                                   step->n,    s->mb,      step->value, {step->low, step->high},
                                   NAN,        {NAN, NAN}};
        if (cost) {
            row[n].cost = cost->value;
            row[n].cost_interval[0] = cost->low;
            row[n].cost_interval[1] = cost->high;
        }
        n++;
    }
    if (n)
        qsort(row, n, sizeof *row, by_size);
    for (size_t i = 1; i < n; i++)
        best = row[i].step < row[best].step ? i : best;
    if (n > 1)
        row[best].mark = "*";
    return n;
}

enum { SERIES = 6 }; /* colours that are told apart, and lines that a reader can follow */

/* A line for each run of at least two sizes; rows of a run stand together. */
static void draw_buckets(cJSON *document, const struct size_row *row, size_t n)
{
    struct chart_point *point = allocate(n + 1, sizeof *point);
    struct chart_series series[SERIES];
    size_t lines = 0;
    char title[300] = "The shortest step is at";
    for (size_t first = 0, end; first < n && lines < SERIES; first = end) {
        for (end = first; end < n && row[end].label == row[first].label; end++) {
            point[end] = (struct chart_point){row[end].mb,
                                              1e3 * row[end].step,
                                              1e3 * row[end].interval[0],
                                              1e3 * row[end].interval[1],
                                              *row[end].mark ? CHART_BEST : CHART_PLAIN,
                                              NULL};
            if (*row[end].mark)
                snprintf(title + strlen(title), sizeof title - strlen(title), "%s %.3g MiB (%.60s)", lines ? "," : "",
                         row[end].mb, row[end].label);
        }
        if (end - first > 1) {
            series[lines] = (struct chart_series){row[first].label, &point[first], end - first, (int)lines,
                                                  CHART_LINE | CHART_POINTS};
            lines++;
        }
    }
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
        room += run->sizes;
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
                                           .column = size_columns,
                                           .columns = sizeof size_columns / sizeof *size_columns,
                                           .row = row,
                                           .rows = n,
                                           .row_bytes = sizeof *row,
                                           .shown = 60,
                                           .note = "*: the shortest step of the bucket sizes of that run.\n"});
    }
    free(row);
}

/* ---- collectives ---- */

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

/* Draws time, or with `bandwidth` busbw, of each collective of each run; rows of one stand together. */
static void draw_collectives(cJSON *document, const struct collective_row *row, size_t n, int bandwidth)
{
    struct chart_point *point = allocate(n + 1, sizeof *point);
    struct chart_series series[SERIES];
    char name[SERIES][200], title[200], time[CELL], size[CELL];
    const struct collective_row *best = row;
    size_t lines = 0;
    for (size_t first = 0, end; first < n && lines < SERIES; first = end, lines++) {
        for (end = first; end < n && row[end].run == row[first].run && !strcmp(row[end].subject, row[first].subject);
             end++) {
            const struct collective_row *r = &row[end];
            point[end] = (struct chart_point){
                r->bytes, bandwidth ? 1e-9 * r->busbw : 1e6 * r->time, NAN, NAN, CHART_PLAIN, NULL};
            if (!bandwidth) {
                point[end].low = 1e6 * r->interval[0];
                point[end].high = 1e6 * r->interval[1];
            }
            best = bandwidth ? (r->busbw > best->busbw ? r : best) : r->time < best->time ? r : best;
        }
        const char *placement = strrchr(row[first].subject, ' ');
        snprintf(name[lines], sizeof name[lines], "%.60s, %.60s", row[first].label,
                 placement ? placement + 1 : row[first].subject);
        series[lines] =
            (struct chart_series){name[lines], &point[first], end - first, (int)lines, CHART_LINE | CHART_POINTS};
    }
    if (bandwidth)
        snprintf(title, sizeof title, "Bus bandwidth reaches %s at %s",
                 text_value_like(time, best->busbw, "B/s", best->busbw), text_bytes(size, best->bytes));
    else
        snprintf(title, sizeof title, "The shortest call takes %s, at %s",
                 text_value_like(time, best->time, "s", best->time), text_bytes(size, best->bytes));
    document_add_picture(
        document, bandwidth ? "collectives-bandwidth" : "collectives-time", title,
        chart_xy(&(struct chart_words){title,
                                       bandwidth ? "GB/s, as nccl-tests define it" : "Medians with 95 % intervals",
                                       NULL},
                 &(struct chart_xy){.x = {.title = "bytes", .scale = CHART_LOG2, .is_bytes = 1},
                                    .y = {.title = bandwidth ? "busbw, GB/s" : "time, us",
                                          .scale = bandwidth ? CHART_LINEAR : CHART_LOG10},
                                    .series = series,
                                    .n_series = lines}));
    free(point);
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
        draw_collectives(document, row, n, 0);
        draw_collectives(document, row, n, 1);
        document_add_table(document, &(struct table){.key = "collectives_of_runs",
                                                     .column = collective_columns,
                                                     .columns = sizeof collective_columns / sizeof *collective_columns,
                                                     .row = row,
                                                     .rows = n,
                                                     .row_bytes = sizeof *row,
                                                     .shown = 60});
    }
    free(row);
}

/* ---- two labels side by side ---- */

struct pair_row {
    const char *subject, *name, *unit;
    double reference, candidate, ratio, interval[2];
    char bytes[24];
};

#define FIELD(field) offsetof(struct pair_row, field)
/* clang-format off */
static const struct column pair_columns[] = {
    {"subject", "of", COLUMN_NAME, FIELD(subject), NULL, 1, -14, 0},
    {"figure", "figure", COLUMN_NAME, FIELD(name), NULL, 1, -18, 0},
    {"bytes", "bytes", COLUMN_CHARS, FIELD(bytes), NULL, 1, 9, 0},
    {"unit", "unit", COLUMN_NAME, FIELD(unit), NULL, 1, -6, 0},
    {"reference", "reference", COLUMN_REAL, FIELD(reference), "1", 1, 12, -5},
    {"candidate", "candidate", COLUMN_REAL, FIELD(candidate), "1", 1, 12, -5},
    {"ratio", "candidate /\nreference", COLUMN_REAL, FIELD(ratio), "1", 1, 11, 3},
    {"ratio_95", "95 %\ninterval", COLUMN_INTERVAL, FIELD(interval), "1", 1, -14, 3},
};
/* clang-format on */
#undef FIELD

/* The first run of that label and mode, or NULL. */
static const struct report_run *run_of(const struct report_runs *runs, const char *label, const char *mode)
{
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++)
        if (!*run->problem && !strcmp(run->label, label) && !strcmp(run->mode, mode))
            return run;
    return NULL;
}

/* A figure of both; of an implementation whose name differs, those of the runs' subjects. */
static int take_pair(struct pair_row *row, const struct report_run *reference, const struct report_run *candidate,
                     const struct figure *f)
{
    const char *subject =
        *reference->subject && !strcmp(f->subject, reference->subject) ? candidate->subject : f->subject;
    const struct figure *other = figures_find(&candidate->figures, subject, f->name, f->bytes);
    if (!other)
        return 0;
    double ratio = other->value / f->value;
    double reach =
        f->low > 0 && other->low > 0 ? hypot(0.5 * log(f->high / f->low), 0.5 * log(other->high / other->low)) : NAN;
    *row = (struct pair_row){
        f->subject, f->name, f->unit, f->value, other->value, ratio, {ratio * exp(-reach), ratio * exp(reach)}, ""};
    if (f->bytes > 0)
        snprintf(row->bytes, sizeof row->bytes, "%.0f", f->bytes);
    return 1;
}

void section_add_side_by_side(cJSON *document, const struct report_runs *runs, const char *reference,
                              const char *candidate)
{
    static const char *const modes[] = {"benchmark", "tune", "profile", "allreduce"};
    document_add_heading(document, 2, "%s against %s", candidate, reference);
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        const struct report_run *a = run_of(runs, reference, modes[m]), *b = run_of(runs, candidate, modes[m]);
        size_t n = 0;
        if (!a || !b)
            continue;
        struct pair_row *row = allocate(a->figures.n + 1, sizeof *row);
        for (const struct figure *f = a->figures.item; f < a->figures.item + a->figures.n; f++)
            n += (size_t)take_pair(&row[n], a, b, f);
        document_add_heading(document, 3, "%s", modes[m]);
        document_add_table(
            document,
            &(struct table){.key = "side_by_side",
                            .column = pair_columns,
                            .columns = sizeof pair_columns / sizeof *pair_columns,
                            .row = row,
                            .rows = n,
                            .row_bytes = sizeof *row,
                            .note = "In seconds, bytes, bytes/s and ratios. The interval of the ratio is from those of "
                                    "both, taken as independent;\n`ddpbench compare` decides from several runs of each "
                                    "whether something became slower.\n"});
        free(row);
    }
}
