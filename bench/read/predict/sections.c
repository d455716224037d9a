/* sections.c - the sections of a prediction. */
#include "predict/sections.h"

#include "base/table.h"
#include "base/text.h"
#include "chart/chart.h"
#include "document/document.h"
#include "kernels/error.h"

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
    {"perfect", "with perfect\noverlap, %", COLUMN_REAL, REPLAYED(perfect), "1", 100, 13, 2},
};

void prediction_add_replay(cJSON *document, const struct points_model *m)
{
    const struct trained *t = m->trained;
    double worst = 0, sum = 0;
    for (size_t i = 0; i < t->rows; i++) {
        worst = fmax(worst, fabs(t->row[i].error));
        sum += fabs(t->row[i].error) / (double)t->rows;
    }
    document_add_heading(document, "Replay error");
    document_add_paragraph(document,
                           "The run's own steps, replayed from `none` and from its collectives alone, differ from the "
                           "measured ones by %.1f %% on average, and by %.1f %% at most; of a single block by %.1f %% "
                           "(root mean square).",
                           100 * sum, 100 * worst, 100 * m->error);
    document_add_paragraph(document,
                           "Where they overlap, computation takes %.1f %% longer, and communication has %.0f %% of its "
                           "speed alone (of all implementations together). A step without communication "
                           "differs by %.2f %% from rank to rank, and by %.2f %% from round to round (standard "
                           "deviations).",
                           100 * m->overlap.slowdown, 100 * m->overlap.progress, 100 * t->spread, 100 * m->drift);
    if (!m->overlaps)
        document_add_paragraph(document,
                               "None of these implementations overlaps, so how far computation and communication slow "
                               "each other down is not known: predictions take it as not at all.");
    if (m->link_ratio > 0)
        document_add_paragraph(document,
                               "The run's reductions take %.2f x as long on the link as they took alone in the run.",
                               m->link_ratio);
    document_add_table(document, &(struct table){.key = "replay",
                                                 TABLE_COLUMNS(replay_columns),
                                                 TABLE_ROWS(t->row, t->rows),
                                                 .note = {"Geometric means over the rounds. error: replayed / measured "
                                                          "- 1; with perfect overlap: the same, if computation "
                                                          "and communication did not slow each other down."}});
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
    {"best", "best\n%", COLUMN_REAL, POINT(best), "1", 100, 5, 0},
    {"basis", "times of\nthe link", COLUMN_NAME, POINT(basis), NULL, 0, -12, 0},
    {"limit", "limit", COLUMN_NAME, POINT(limit), NULL, 0, -11, 0},
};

/* Copies to row[groups * n] all points, or the best of each strategy and number of ranks. Returns their number. */
static size_t select_points(const struct prediction *all, int every, struct point *row)
{
    size_t n = 0;
    for (size_t g = 0; g < all->groups; g++) {
        struct point *point = all->point + g * all->n;
        for (struct point *p = point; p < point + all->n; p++)
            if (every || points_shortest(point, all->n, p->strategy) == p)
                row[n++] = *p;
    }
    return n;
}

static void draw_scaling(cJSON *document, const struct prediction *all)
{
    static const char title[] = "Predicted step by number of ranks";
    struct chart_point *point = allocate(all->groups * all->n + 1, sizeof *point), *next = point;
    struct chart_series series[SVG_COLOURS];
    size_t lines = 0;
    for (size_t i = 0; i < all->n && lines < SVG_COLOURS; i++) {
        const struct strategy *strategy = all->point[i].strategy;
        if (i && all->point[i - 1].strategy == strategy) /* a further size */
            continue;
        series[lines] = (struct chart_series){strategy->name, next, all->groups, (int)lines, 0, 0};
        lines++;
        for (size_t g = 0; g < all->groups; g++) {
            const struct point *p = points_shortest(all->point + g * all->n, all->n, strategy);
            *next++ = (struct chart_point){(double)p->ranks, 1e3 * p->step, 1e3 * p->low, 1e3 * p->high,
                                           *p->mark ? CHART_BEST : CHART_PLAIN};
        }
    }
    char *svg =
        chart_xy(title, "Best bucket size of each strategy, with 90 % intervals; each rank computes as in the run",
                 &(struct chart_xy){.x = {.title = "ranks", .is_log = 1},
                                    .y = {.title = "ms a step"},
                                    .series = series,
                                    .n_series = lines,
                                    .interval = "90 % interval"});
    document_add_picture(document, "predicted-steps", title, svg);
    free(point);
}

void prediction_add_steps(cJSON *document, const struct points_model *m, const struct prediction *all)
{
    struct point *row = allocate(all->groups * all->n + 1, sizeof *row);
    size_t n = select_points(all, all->groups == 1, row);
    char latency[CELL], bandwidth[CELL];
    document_add_heading(document, "Predicted steps");
    document_add_paragraph(document, "Link: latency %s, bandwidth %s a rank, %s. Error of its times: %.1f %%.",
                           text_value_like(latency, m->link->latency, "s", m->link->latency),
                           text_value_like(bandwidth, m->link->bandwidth, "B/s", m->link->bandwidth),
                           m->link->n ? "measured" : "given", 100 * m->link->error);
    document_add_table(
        document,
        &(struct table){
            .key = "predictions",
            TABLE_COLUMNS(point_columns),
            TABLE_ROWS(row, n),
            .note = {
                all->groups > 1 ? "Of each strategy the best bucket size; --csv has all. *: the shortest step."
                                : "*: the shortest step.",
                "step = compute + slowdown + exposed + gather: a step without communication, of the slowest rank in "
                "each step; what communication adds to computation; the wait after backward; the wait for "
                "gathered weights. The interval does not include the error of predicting other numbers of ranks.",
                "best: how often this is the shortest step of its number of ranks among resamples. times of the "
                "link: measured, interpolated between sizes, or extrapolated (other sizes, ranks or collectives). "
                "limit: which of bandwidth, latency and stragglers (the spread between ranks), twice as good, "
                "shortens the step most; computation if none does by 2 %."}});
    if (all->groups > 1)
        draw_scaling(document, all);
    free(row);
}

/* ---- answers ---- */

void prediction_add_answers(cJSON *document, const struct points_model *m, const struct prediction *all)
{
    const struct point *before = NULL;
    document_add_heading(document, "Answers");
    if (m->error > 0.1)
        document_add_paragraph(
            document,
            "Warning: a replay of the run's own blocks is wrong by %.0f %% (root mean square), so no "
            "prediction is better than that. Measure again, longer, on an idle machine.",
            100 * m->error);
    for (size_t g = 0; g < all->groups; g++) {
        const struct point *of = all->point + g * all->n,
                           *best = points_shortest(all->point + g * all->n, all->n, NULL);
        char step[CELL];
        double probability = 0;
        size_t ties = 0;
        for (const struct point *p = of; p < of + all->n; p++) {
            probability += p->step <= 1.02 * best->step ? p->best : 0;
            ties += p != best && p->step <= 1.02 * best->step;
        }
        if (best->ranks == 1) {
            document_add_item(document, "1 rank: nothing to reduce; a step takes %s.",
                              text_milliseconds(step, best->step, best->low, best->high));
            continue;
        }
        document_add_item(
            document,
            "%zu ranks: %s has the shortest step, %s. Within 2 %% of it: %zu more; with %.0f %% probability "
            "one of these is the best. Of the step %.0f %% is computation, %.0f %% slowdown "
            "by communication, %.0f %% exposed communication. Limit: %s.",
            best->ranks, best->label, text_milliseconds(step, best->step, best->low, best->high), ties,
            100 * probability, 100 * best->compute / best->step, 100 * best->at.slowed / best->step,
            100 * (best->at.exposed + best->at.gather_wait) / best->step, best->limit);
        if (!before || strcmp(before->label, best->label) != 0)
            document_add_item(document, "Options: `--implementations %s%s%s%s`", best->strategy->name,
                              *best->size ? " --bucket-size-mb " : "", best->size,
                              best->strategy->updates_early ? " --update-in-backward" : "");
        before = best;
    }
}

/* ---- the link that is needed ---- */

enum { SHARES = 5 };
static const double share_of[SHARES] = {0.5, 0.75, 0.9, 0.95, 0.99};

struct bandwidth_row {
    struct point point;
    double bandwidth[SHARES];
};

#define NEEDED(field) offsetof(struct bandwidth_row, field)
static const struct column bandwidth_columns[] = {
    {"implementation", "implementation", COLUMN_CHARS, NEEDED(point.label), NULL, 0, -24, 0},
    {"ranks", "ranks", COLUMN_COUNT, NEEDED(point.ranks), NULL, 0, 6, 0},
    {"efficiency", "now\n%", COLUMN_REAL, NEEDED(point.efficiency), "1", 100, 6, 1},
    {"for_50", "50 %\nMB/s", COLUMN_REAL, NEEDED(bandwidth[0]), "B/s", 1e-6, 9, -3},
    {"for_75", "75 %\nMB/s", COLUMN_REAL, NEEDED(bandwidth[1]), "B/s", 1e-6, 9, -3},
    {"for_90", "90 %\nMB/s", COLUMN_REAL, NEEDED(bandwidth[2]), "B/s", 1e-6, 9, -3},
    {"for_95", "95 %\nMB/s", COLUMN_REAL, NEEDED(bandwidth[3]), "B/s", 1e-6, 9, -3},
    {"for_99", "99 %\nMB/s", COLUMN_REAL, NEEDED(bandwidth[4]), "B/s", 1e-6, 9, -3},
};

void prediction_add_bandwidths(cJSON *document, const struct points_model *m, const struct prediction *all)
{
    struct point *row = allocate(all->groups * all->n + 1, sizeof *row);
    size_t selected = select_points(all, 0, row), n = 0;
    struct bandwidth_row *needed = allocate(selected + 1, sizeof *needed);
    for (size_t i = 0; i < selected; i++) {
        if (row[i].ranks == 1) /* needs no link */
            continue;
        needed[n].point = row[i];
        for (int s = 0; s < SHARES; s++)
            needed[n].bandwidth[s] = points_bandwidth(m, &row[i], share_of[s]);
        n++;
    }
    document_add_heading(document, "The link you need");
    document_add_table(
        document, &(struct table){.key = "bandwidths",
                                  TABLE_COLUMNS(bandwidth_columns),
                                  TABLE_ROWS(needed, n),
                                  .note = {"Bandwidth of a rank (busbw, 1 MB = 1e6 bytes; 125 MB/s = 1 Gbit/s) with "
                                           "which computation takes this share of a step, at the latency of the "
                                           "link; n/a: no bandwidth is enough. now: the share with this link."}});
    free(needed);
    free(row);
}

/* ---- a check ---- */

static const struct column check_columns[] = {
    {"implementation", "implementation", COLUMN_CHARS, POINT(label), NULL, 0, -24, 0},
    {"ranks", "ranks", COLUMN_COUNT, POINT(ranks), NULL, 0, 6, 0},
    {"measured", "measured\nms", COLUMN_REAL, POINT(measured), "s", 1e3, 9, 2},
    {"predicted", "predicted\nms", COLUMN_REAL, POINT(step), "s", 1e3, 10, 2},
    {"interval", "90 %\ninterval", COLUMN_INTERVAL, COLUMN_ENDS(struct point, low, high), "s", 1e3, -19, 2},
    {"covered", "covered", COLUMN_NAME, POINT(covered), NULL, 0, -8, 0},
    {"error", "error\n%", COLUMN_REAL, POINT(error), "1", 100, 7, 2},
    {"attainable_error", "attainable:\nerror %", COLUMN_REAL, POINT(attainable_error), "1", 100, 12, 2},
    {"sum_error", "sum:\nerror %", COLUMN_REAL, POINT(sum_error), "1", 100, 8, 2},
};

void prediction_add_check(cJSON *document, const struct prediction *all)
{
    const size_t n = all->n;
    const struct point *chosen = points_shortest(all->point, n, NULL), *best = all->point;
    double error[3] = {0}, covered = 0;
    for (struct point *p = all->point; p < all->point + n; p++) {
        double *const to[] = {&p->error, &p->attainable_error, &p->sum_error};
        const double of[] = {p->step, p->attainable, p->sum};
        for (int i = 0; i < 3; i++) {
            *to[i] = of[i] / p->measured - 1;
            error[i] += fabs(*to[i]) / (double)n;
        }
        p->covered = p->measured >= p->low && p->measured <= p->high ? "yes" : "no";
        covered += *p->covered == 'y';
        best = p->measured < best->measured ? p : best;
    }
    document_add_heading(document, "Predictions beside measured steps");
    document_add_paragraph(
        document,
        "Mean absolute error of %zu predictions: %.1f %%; of attainable steps, with perfect "
        "overlap, %.1f %%; of sums, without overlap, %.1f %%. Intervals contain %.0f of %zu measured "
        "steps. %s was predicted to be the best; its step is %.1f %% longer than the shortest.",
        n, 100 * error[0], 100 * error[1], 100 * error[2], covered, n, chosen->label,
        100 * (chosen->measured / best->measured - 1));
    document_add_table(document,
                       &(struct table){.key = "check", TABLE_COLUMNS(check_columns), TABLE_ROWS(all->point, n)});
}

void prediction_print_csv(FILE *out, const struct prediction *all)
{
    const struct table points = {.key = "", TABLE_COLUMNS(point_columns), TABLE_ROWS(all->point, all->groups * all->n)};
    const struct table checked = {.key = "", TABLE_COLUMNS(check_columns), TABLE_ROWS(all->point, all->n)};
    table_print_csv(out, all->is_check ? &checked : &points);
}
