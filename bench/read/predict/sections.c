/* sections.c - the sections of a prediction. */
#include "predict/sections.h"

#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "chart/chart.h"
#include "document/document.h"
#include "kernels/error.h"
#include "results/verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the replay ---- */

#define REPLAYED(field) offsetof(struct trained_row, field)
static const struct column replay_columns[] = {
    {"implementation", "implementation", COLUMN_CHARS, REPLAYED(label), NULL, 0, -24, 0},
    {"measured", "measured\nms", COLUMN_REAL, REPLAYED(measured), "s", 1e3, 9, 2},
    {"replayed", "replayed\nms", COLUMN_REAL, REPLAYED(replayed), "s", 1e3, 9, 2},
    {"error", "error\n%", COLUMN_REAL, REPLAYED(error), "1", 100, 7, 2},
};

/* Adds how well the replay gives the traced steps. */
static void add_traced(const struct prediction *all)
{
    const struct points_model *m = &all->model;
    const struct trained *t = &m->trained;
    if (t->rows)
        document_add_paragraph(all->document,
                               "The traced steps took %.2f ms; replayed from their own gradients and all-reduces they "
                               "take %.2f ms: %+.1f %%; a single step differs by %.1f %% (root mean square).",
                               1e3 * t->row[0].measured, 1e3 * t->row[0].replayed, 100 * t->row[0].error,
                               100 * m->error);
    else
        document_add_paragraph(all->document,
                               "The trace has no times of all-reduces between ranks, so the error of the "
                               "replay is not known, and is not part of the intervals.");
    document_add_paragraph(all->document,
                           "A step without its waits differs by %.2f %% from step to step (standard deviation). The "
                           "times of computation are those of one rank beside the communication that it had; how much "
                           "ranks differ is not known, so no number of ranks makes the slowest one slower.",
                           100 * m->drift);
}

void prediction_add_replay(const struct prediction *all)
{
    const struct points_model *m = &all->model;
    const struct trained *t = &m->trained;
    double worst = 0, sum = 0;
    for (size_t i = 0; i < t->rows; i++) {
        worst = fmax(worst, fabs(t->row[i].error));
        sum += fabs(t->row[i].error) / (double)t->rows;
    }
    document_add_heading(all->document, "Replay error");
    if (t->traced) {
        add_traced(all);
        return;
    }
    document_add_paragraph(all->document,
                           "The run's own steps, replayed from `none` and from its collectives alone, differ from the "
                           "measured ones by %.1f %% on average, and by %.1f %% at most; the step of a single block "
                           "differs by %.1f %% (root mean square). A step without communication differs by %.2f %% "
                           "from rank to rank, and by %.2f %% from round to round (standard deviations).",
                           100 * sum, 100 * worst, 100 * m->error, 100 * t->spread, 100 * m->drift);
    if (m->overlaps)
        document_add_paragraph(all->document,
                               "Where they overlap, computation takes %.1f %% longer, and communication has %.0f %% of "
                               "its speed alone (of all implementations together).",
                               100 * m->overlap.slowdown, 100 * m->overlap.progress);
    else
        document_add_paragraph(all->document,
                               "None of these implementations overlaps, so how far computation and communication slow "
                               "each other down is not known: predictions assume that they do not.");
    if (m->error > 0.1)
        document_add_paragraph(all->document,
                               "Warning: single blocks differ by more than 10 %%. Measure again, longer, on an idle "
                               "machine.");
    document_add_table(all->document,
                       &(struct table){.key = "replay",
                                       TABLE_COLUMNS(replay_columns),
                                       TABLE_ROWS(t->row, t->rows),
                                       .note = {"Geometric means over the rounds. error: replayed / measured - 1."}});
}

/* ---- the predictions ---- */

#define POINT(field) offsetof(struct point, field)
static const struct column point_columns[] = {
    {"implementation", "implementation", COLUMN_CHARS, POINT(label), NULL, 0, -24, 0},
    {"ranks", "ranks", COLUMN_COUNT, POINT(ranks), NULL, 0, 6, 0},
    {"buckets", "buckets", COLUMN_COUNT, POINT(buckets), NULL, 0, 8, 0},
    {"step", "step\nms", COLUMN_REAL, POINT(step), "s", 1e3, 9, 2},
    {"mark", "", COLUMN_NAME, POINT(mark), NULL, 0, -1, 0},
    {"interval", "90 %\ninterval", COLUMN_INTERVAL, COLUMN_ENDS(struct point, low, high), "s", 1e3, -19, 2},
    {"compute", "compute\nms", COLUMN_REAL, POINT(compute), "s", 1e3, 9, 2},
    {"slowed", "slowdown\nms", COLUMN_REAL, POINT(at.slowed), "s", 1e3, 9, 2},
    {"exposed", "exposed\nms", COLUMN_REAL, POINT(at.exposed), "s", 1e3, 9, 2},
    {"gather_wait", "gather\nms", COLUMN_REAL, POINT(at.gather_wait), "s", 1e3, 8, 2},
    {"efficiency", NULL, COLUMN_REAL, POINT(efficiency), "1", 0, 8, 3},
    {"attainable", NULL, COLUMN_REAL, POINT(attainable), "s", 0, 0, 0},
    {"sum", NULL, COLUMN_REAL, POINT(sum), "s", 0, 0, 0},
    {"within_2_percent", "within\n2 %", COLUMN_REAL, POINT(near), "1", 100, 6, 0},
    {"basis", "times of\nthe link", COLUMN_NAME, POINT(basis), NULL, 0, -12, 0},
    {"limit", "limit", COLUMN_NAME, POINT(limit), NULL, 0, -11, 0},
    {"link", NULL, COLUMN_NAME, POINT(link), NULL, 0, 0, 0},
};

/* Appends the finite numbers of points to the figures (sections.h). */
static void add_figures(cJSON *figures, const struct column *column, size_t columns, const struct point *point,
                        size_t n)
{
    for (size_t i = 0; i < n * columns; i++) {
        const struct point *p = &point[i / columns];
        const struct column *of = &column[i % columns];
        const void *field = (const char *)p + of->offset;
        if (of->kind != COLUMN_REAL || !isfinite(*(const double *)field))
            continue;
        cJSON *figure = json_add_row(figures);
        json_add_text(figure, "subject", p->label);
        json_add_number(figure, "ranks", (double)p->ranks);
        json_add_text(figure, "link", p->link);
        json_add_text(figure, "name", of->key);
        json_add_text(figure, "unit", of->unit);
        json_add_number(figure, "value", *(const double *)field);
        json_add_number(figure, "low", of->offset == POINT(step) ? p->low : NAN);
        json_add_number(figure, "high", of->offset == POINT(step) ? p->high : NAN);
        json_add_text(figure, "basis", p->basis);
    }
}

/* Copies to row[groups * n] all points, or the best of each strategy and number of ranks. Returns their number. */
static size_t select_points(const struct prediction *all, int every, struct point *row)
{
    size_t n = 0;
    for (size_t g = 0; g < all->groups; g++) {
        struct point *point = all->point + g * all->n;
        for (struct point *p = point; p < point + all->n; p++)
            if (every || points_shortest(point, all->n, p) == p)
                row[n++] = *p;
    }
    return n;
}

/* Draws the step of each strategy on each number of ranks: row[groups * n]. */
static void draw_scaling(cJSON *document, const struct point *row, size_t groups, size_t n)
{
    char title[200];
    const struct point *best = row + (groups - 1) * n;
    for (const struct point *p = best; p < row + groups * n; p++)
        best = p->step < best->step ? p : best;
    snprintf(title, sizeof title, "On %zu ranks %.100s is predicted to have the shortest step, %.4g ms", best->ranks,
             best->label, 1e3 * best->step);
    struct chart_point *point = allocate(groups * n, sizeof *point), *next = point;
    struct chart_series series[SVG_COLOURS];
    size_t lines = n < SVG_COLOURS ? n : SVG_COLOURS;
    for (size_t s = 0; s < lines; s++) {
        series[s] = (struct chart_series){row[s].strategy->name, next, groups, (int)s, 0, 0};
        for (const struct point *p = row + s; p < row + groups * n; p += n)
            *next++ = (struct chart_point){(double)p->ranks, 1e3 * p->step, 1e3 * p->low, 1e3 * p->high,
                                           *p->mark && p->near >= 0.95 ? CHART_BEST : CHART_PLAIN};
    }
    char *svg =
        chart_xy(title, "Best bucket size of each strategy, with 90 % intervals; each rank computes as in the run",
                 &(struct chart_xy){.x = {.title = "ranks", .is_log = AXIS_BINARY},
                                    .y = {.title = "ms a step"},
                                    .series = series,
                                    .n_series = lines,
                                    .interval = "90 % interval"});
    document_add_picture(document, "predicted-steps", title, svg);
    free(point);
}

void prediction_add_steps(const struct prediction *all)
{
    const struct link *link = &all->model.link;
    struct point *row = allocate(all->groups * all->n, sizeof *row);
    size_t n = select_points(all, all->groups == 1, row);
    char latency[CELL], bandwidth[CELL], of[100];
    document_add_heading(all->document, "Predicted steps");
    snprintf(of, sizeof of,
             link->n ? "fitted to all-reduces between %zu ranks, as `allreduce` prints them" : "as given",
             link->fitted_ranks);
    document_add_paragraph(all->document, "Link: latency %s, bandwidth %s, %s. Error of its times: %.1f %%.",
                           text_value_like(latency, link->fitted_latency, "s", link->fitted_latency),
                           text_value_like(bandwidth, link->fitted_bandwidth, "B/s", link->fitted_bandwidth), of,
                           100 * link->error);
    if (all->model.calibration.strategy)
        document_add_paragraph(
            all->document,
            "Calibrated: a later step of %s took %.2f ms, so all times of computation are %.3f times "
            "those of the run.",
            all->model.calibration.strategy->name, 1e3 * all->model.calibration.step, all->model.speed);
    document_add_table(
        all->document,
        &(struct table){
            .key = "predictions",
            TABLE_COLUMNS(point_columns),
            TABLE_ROWS(row, n),
            .note = {all->groups > 1 ? "Best bucket size of each strategy; --csv has all. *: the shortest step."
                                     : "*: the shortest step.",
                     "step = compute + slowdown + exposed + gather. compute: a step without communication, of the "
                     "slowest rank in each step; slowdown: what communication adds to computation; exposed: the wait "
                     "after backward; gather: the wait for gathered weights. The interval does not include the error "
                     "of predicting other numbers of ranks.",
                     "within 2 %: in what percentage of 1,000 resamples the step is within 2 % of the shortest one of "
                     "its number of ranks. times of the link: measured, interpolated between sizes, extrapolated "
                     "(other sizes, ranks or collectives), or folded (another number of ranks, not a power of two: by "
                     "a model, MPICH then sends more in all but large reduce-scatters). limit: which of bandwidth, "
                     "latency and stragglers (the spread between ranks) shortens the step most if it is twice as good; "
                     "computation if none does by 2 %."}});
    add_figures(all->figures, point_columns, sizeof point_columns / sizeof *point_columns, all->point,
                all->groups * all->n);
    if (all->groups > 1)
        draw_scaling(all->document, row, all->groups, n / all->groups);
    free(row);
}

/* ---- answers ---- */

/* Adds what PyTorch's default buckets take, beside the best size that PyTorch can be given. */
static void add_pytorch(const struct prediction *all, const struct point *of)
{
    const struct point *given = NULL, *best = NULL;
    char size[CELL], step[CELL], other[CELL];
    for (const struct point *p = of; p < of + all->n; p++) {
        if (p->strategy != &strategy_ddp_bucketed || p->variant != VARIANT_PLAIN || !*verdict_pytorch(size, p->size))
            continue;
        given = strcmp(p->size, "1+25") ? given : p;
        best = !best || p->step < best->step ? p : best;
    }
    if (!given || !best)
        return;
    text_milliseconds(step, given->step, given->low, given->high);
    text_milliseconds(other, best->step, best->low, best->high);
    if (best == given)
        document_add_item(all->document,
                          "PyTorch: with its default buckets (1 MiB, then 25) a step takes %s, and no "
                          "other size is shorter: leave bucket_cap_mb out.",
                          step);
    else
        document_add_item(all->document,
                          "PyTorch: with its default buckets (1 MiB, then 25) a step takes %s; with %s %s: %+.1f %%. "
                          "`DistributedDataParallel(model, %s)`",
                          step, verdict_pytorch(size, best->size), other, 100 * (best->step / given->step - 1),
                          verdict_pytorch(size, best->size));
}

void prediction_add_answers(const struct prediction *all)
{
    const struct point *before = NULL;
    document_add_heading(all->document, "Answers");
    for (size_t g = 0; g < all->groups; g++) {
        struct point *of = all->point + g * all->n, *best = points_shortest(of, all->n, NULL);
        char step[CELL];
        text_milliseconds(step, best->step, best->low, best->high);
        if (best->ranks == 1) {
            document_add_item(all->document, "1 rank: nothing to reduce; a step takes %s.", step);
            continue;
        }
        document_add_item(
            all->document,
            "%zu ranks: %s has the shortest step, %s. It is within 2 %% of the shortest with a probability of %.0f %%. "
            "Limit: %s.",
            best->ranks, best->label, step, 100 * best->near, best->limit);
        if (!before || strcmp(before->label, best->label) != 0)
            document_add_item(all->document, "Options: `--implementations %s%s%s%s`", best->strategy->name,
                              *best->size ? " --bucket-size-mb " : "", best->size,
                              best->variant == VARIANT_UPDATE ? " --update-in-backward" : "");
        before = best;
        if (all->model.trained.traced)
            add_pytorch(all, of);
    }
}

/* ---- the link that is needed ---- */

enum { NOT_NEEDED = 4 }; /* columns before the bandwidths that are needed */
static const struct column bandwidth_columns[] = {
    {"implementation", "implementation", COLUMN_CHARS, POINT(label), NULL, 0, -24, 0},
    {"ranks", "ranks", COLUMN_COUNT, POINT(ranks), NULL, 0, 6, 0},
    {"link", NULL, COLUMN_NAME, POINT(link), NULL, 0, 0, 0},
    {"efficiency", "now\n%", COLUMN_REAL, POINT(efficiency), "1", 100, 6, 1},
    {"for_50", "50 %\nMB/s", COLUMN_REAL, POINT(bandwidth[0]), "B/s", 1e-6, 9, -3},
    {"for_75", "75 %\nMB/s", COLUMN_REAL, POINT(bandwidth[1]), "B/s", 1e-6, 9, -3},
    {"for_90", "90 %\nMB/s", COLUMN_REAL, POINT(bandwidth[2]), "B/s", 1e-6, 9, -3},
    {"for_95", "95 %\nMB/s", COLUMN_REAL, POINT(bandwidth[3]), "B/s", 1e-6, 9, -3},
    {"for_99", "99 %\nMB/s", COLUMN_REAL, POINT(bandwidth[4]), "B/s", 1e-6, 9, -3},
};

void prediction_add_bandwidths(const struct prediction *all)
{
    struct point *row = allocate(all->groups * all->n, sizeof *row);
    size_t selected = select_points(all, 0, row), n = 0;
    for (size_t i = 0; i < selected; i++)
        if (row[i].ranks > 1) { /* one rank needs no link */
            row[n] = row[i];
            points_bandwidths(&all->model, &row[n++]);
        }
    document_add_heading(all->document, "The link you need");
    document_add_table(
        all->document,
        &(struct table){.key = "bandwidths",
                        TABLE_COLUMNS(bandwidth_columns),
                        TABLE_ROWS(row, n),
                        .note = {"Bandwidth of a rank (busbw, 1 MB = 1e6 bytes; 125 MB/s = 1 Gbit/s) with "
                                 "which computation takes this share of a step, at the latency of the "
                                 "link; N/A: no bandwidth is enough. now: the share with this link."}});
    add_figures(all->figures, bandwidth_columns + NOT_NEEDED, POINT_SHARES, row, n); /* `efficiency` is already one */
    free(row);
}

void prediction_print_csv(FILE *out, const void *prediction)
{
    const struct prediction *all = prediction;
    table_print_csv(
        out, &(struct table){.key = "", TABLE_COLUMNS(point_columns), TABLE_ROWS(all->point, all->groups * all->n)});
}
