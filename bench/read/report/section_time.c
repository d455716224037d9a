/* section_time.c - writes the sections on where a step's time goes and how it scales with the number of ranks. */
#include "report/sections.h"

#include "base/text.h"
#include "kernels/error.h"
#include "results/criteria.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- where the time goes ---- */

struct time_row {
    const struct report_run *run;
    const char *label, *mode, *subject;
    size_t ranks;
    struct breakdown breakdown;
};

#define FIELD(field) offsetof(struct time_row, field)
/* clang-format off */
static const struct column time_columns[] = {
    {"run", "run", COLUMN_NAME, FIELD(label), NULL, 1, -10, 0},
    {"mode", "source", COLUMN_NAME, FIELD(mode), NULL, 1, -9, 0},
    {"implementation", "implementation", COLUMN_NAME, FIELD(subject), NULL, 1, -14, 0},
    {"ranks", "ranks", COLUMN_COUNT, FIELD(ranks), "1", 1, 5, 0},
    {"step", "step\nms", COLUMN_REAL, FIELD(breakdown.step.value), "s", 1e3, 8, 2},
    {"step_95", "95 %\ninterval", COLUMN_INTERVAL, COLUMN_ENDS(struct time_row, breakdown.step.low, breakdown.step.high), "s", 1e3, -16, 2},
    {"compute", "compute\nms", COLUMN_REAL, FIELD(breakdown.part[PART_COMPUTE]), "s", 1e3, 8, 2},
    {"compute_share", "%", COLUMN_REAL, FIELD(breakdown.share[PART_COMPUTE]), "1", 100, 5, 1},
    {"data_loading", "data\nms", COLUMN_REAL, FIELD(breakdown.part[PART_DATA]), "s", 1e3, 7, 2},
    {"data_loading_share", "%", COLUMN_REAL, FIELD(breakdown.share[PART_DATA]), "1", 100, 5, 1},
    {"exposed", "exposed\nms", COLUMN_REAL, FIELD(breakdown.part[PART_EXPOSED]), "s", 1e3, 8, 2},
    {"exposed_share", "%", COLUMN_REAL, FIELD(breakdown.share[PART_EXPOSED]), "1", 100, 5, 1},
    {"other", "other\nms", COLUMN_REAL, FIELD(breakdown.part[PART_OTHER]), "s", 1e3, 7, 2},
    {"other_share", "%", COLUMN_REAL, FIELD(breakdown.share[PART_OTHER]), "1", 100, 5, 1},
    {"n", "n", COLUMN_COUNT, FIELD(breakdown.n), "1", 1, 4, 0},
};
/* clang-format on */
#undef FIELD

/* Fills the row of an implementation. Returns 1; or 0 if the run has no breakdown of this implementation. */
static size_t take_time(struct time_row *row, const struct report_run *run, const char *subject)
{
    *row = (struct time_row){run, run->label, run->mode, subject, run->ranks, {.n = 0}};
    return !run_breakdown(&row->breakdown, run, subject);
}

/* Draws the first rows as bars. A bar shows the milliseconds of each part; at its right end is the time of the step,
 * and below it are the samples. The title is about the row of `subject` or, if there is none, the first row. */
static void draw_time(cJSON *document, const struct time_row *row, size_t n, const char *subject)
{
    enum { BARS = 24 };
    static char name[BARS][160], end[BARS][CELL], number[BARS * PARTS][CELL];
    struct chart_row bar[BARS];
    struct chart_span span[BARS * PARTS], *s = span;
    char title[400], subtitle[200];
    size_t bars = n < BARS ? n : BARS, titled = 0, largest = PART_COMPUTE, room = 1, dots = 0;
    for (size_t i = 0; i < bars; i++)
        room += row[i].run->blocks;
    double *dot = allocate(room, sizeof *dot);
    const struct run_block **block = allocate(room, sizeof(struct run_block *));
    for (size_t i = 0; i < bars; i++) {
        const struct breakdown *b = &row[i].breakdown;
        double at = 0;
        titled = strcmp(row[i].subject, subject) ? titled : i;
        run_words(name[i], sizeof name[i], row[i].label, row[i].subject, row[i].mode);
        bar[i] = (struct chart_row){name[i], text_milliseconds(end[i], b->step.value, b->step.low, b->step.high),
                                    &dot[dots], 0};
        if (run_compares(row[i].run))
            bar[i].n_dots = run_blocks(block, row[i].run, row[i].subject);
        for (size_t k = 0; k < bar[i].n_dots; k++)
            dot[dots++] = block[k]->ms;
        for (int p = 0; p < PARTS; p++, s++) {
            *s = (struct chart_span){at, at + fmax(0, 1e3 * b->part[p]), i, p,
                                     text_rounded(number[s - span], 1e3 * b->part[p], 3)};
            at = s->end_ms;
        }
    }
    const double *share = row[titled].breakdown.share;
    for (size_t p = 0; p < PARTS; p++)
        largest = p != PART_EXPOSED && share[p] > share[largest] ? p : largest;
    const struct report_run *run = row[titled].run;
    int waits = largest == PART_COMPUTE && (run_has_finding(run, "CPU contention") || run_is_busy(run) ||
                                            run->cpus_per_rank < (double)run->threads);
    snprintf(title, sizeof title, "%.150s%s: %.2g %% of a step is exposed communication, %.0f %% %s%s", name[titled],
             *subject && bars > 1 ? " has the shortest step" : "", 100 * share[PART_EXPOSED], 100 * share[largest],
             part_name[largest], waits ? " or waiting for a core" : "");
    const struct chart_rows chart = {bar, part_name, span, .rows = bars, .kinds = PARTS, .spans = bars * PARTS};
    snprintf(subtitle, sizeof subtitle, "ms a step; at the end of each bar the whole step, with its 95 %% interval%s",
             dots ? "; dots: each round (at the right edge if longer)" : "");
    document_add_picture(document, "step-breakdown", title, chart_rows(title, subtitle, &chart));
    free(dot);
    free(block);
}

void section_add_breakdown(cJSON *document, const struct report_runs *runs)
{
    size_t n = 0, room = runs->n == 1 ? runs->item->saved.figures.n : runs->n;
    struct time_row *row = allocate(room + 1, sizeof *row);
    for (const struct report_run *run = runs->item; run < runs->item + runs->n && runs->n > 1; run++)
        n += *run->subject ? take_time(&row[n], run, run->subject) : 0;
    for (size_t i = 0; i < runs->item->saved.figures.n && runs->n == 1; i++)
        if (!strcmp(runs->item->saved.figures.item[i].name, "step"))
            n += take_time(&row[n], runs->item, runs->item->saved.figures.item[i].subject);
    const struct table table = {
        .key = "where_the_time_goes",
        TABLE_COLUMNS(time_columns),
        TABLE_ROWS(row, n),
        .shown = 40,
        .note = {"compute: zero_grad, forward, backward, clipping and optimizer, including waits for a core. "
                 "exposed: waiting for communication after backward, with ddp_sharded also in forward. other: "
                 "the rest of the step. %: share of the sum of these four.",
                 "A benchmark has geometric means over n rounds, and the step of the slowest rank. With "
                 "--resolve, and in tune except for a short final, it has medians, which need not add up to "
                 "the step. A profile has means over the captured steps of all ranks (n: steps x ranks), "
                 "without an interval, since consecutive steps are not independent."}};
    if (n) {
        document_add_heading(document, "Where the time goes");
        draw_time(document, row, n, runs->n == 1 ? runs->item->subject : "");
        document_add_table(document, &table);
    }
    free(row);
}

/* ---- scaling ---- */

#define FIELD(field) offsetof(struct scaling_row, field)
/* clang-format off */
static const struct column scaling_columns[] = {
    {"run", "run", COLUMN_NAME, FIELD(label), NULL, 1, -10, 0},
    {"implementation", "implementation", COLUMN_NAME, FIELD(subject), NULL, 1, -14, 0},
    {"ranks", "ranks", COLUMN_COUNT, FIELD(ranks), "1", 1, 5, 0},
    {"hosts", "hosts", COLUMN_COUNT, FIELD(hosts), "1", 1, 5, 0},
    {"sequences", "sequences\na rank", COLUMN_REAL, FIELD(sequences), "1", 1, 9, 0},
    {"step", "step\nms", COLUMN_REAL, FIELD(breakdown.step.value), "s", 1e3, 8, 2},
    {"step_95", "95 %\ninterval", COLUMN_INTERVAL, COLUMN_ENDS(struct scaling_row, breakdown.step.low, breakdown.step.high), "s", 1e3, -16, 2},
    {"tokens_per_second", "tokens\nper s", COLUMN_REAL, FIELD(tokens_s), "1/s", 1, 9, 0},
    {"speedup", "speed-\nup", COLUMN_REAL, FIELD(speedup), "1", 1, 7, 2},
    {"efficiency", "efficiency\n%", COLUMN_REAL, FIELD(efficiency.value), "1", 100, 10, 1},
    {"efficiency_95", "95 %\ninterval", COLUMN_INTERVAL, COLUMN_ENDS(struct scaling_row, efficiency.low, efficiency.high), "1", 100, -14, 1},
};
static const struct column lost_columns[] = {
    {"run", "run", COLUMN_NAME, FIELD(label), NULL, 1, -10, 0},
    {"ranks", "ranks", COLUMN_COUNT, FIELD(ranks), "1", 1, 5, 0},
    {"lost", "lost\nms", COLUMN_REAL, FIELD(lost_s.value), "s", 1e3, 8, 2},
    {"lost_95", "95 %\ninterval", COLUMN_INTERVAL, COLUMN_ENDS(struct scaling_row, lost_s.low, lost_s.high), "s", 1e3, -16, 2},
    {"lost_compute", "slower\ncomputation", COLUMN_REAL, FIELD(lost_part_s[PART_COMPUTE]), "s", 1e3, 11, 2},
    {"lost_data_loading", "data\nloading", COLUMN_REAL, FIELD(lost_part_s[PART_DATA]), "s", 1e3, 8, 2},
    {"lost_exposed", "exposed\ncommunication", COLUMN_REAL, FIELD(lost_part_s[PART_EXPOSED]), "s", 1e3, 13, 2},
    {"lost_other", "other", COLUMN_REAL, FIELD(lost_part_s[PART_OTHER]), "s", 1e3, 8, 2},
};
/* clang-format on */

/* Draws the rows whose batch equals that of the last row, on each rank or in all. */
static void draw_scaling(cJSON *document, const struct scaling *s)
{
    struct chart_point *measured = allocate(3 * s->n, sizeof *measured), *ideal = measured + s->n,
                       *of_run = ideal + s->n;
    struct chart_series *series = allocate(s->n + 2, sizeof *series);
    char title[300], subtitle[400];
    const struct scaling_row *last = &s->row[s->n - 1];
    size_t n = 0;
    int most = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct scaling_row *row = &s->row[i];
        double ranks = (double)row->ranks, factor = ranks / (double)s->row->ranks,
               more = row->sequences - last->sequences;
        if (fabs(more) > 0 && fabs(row->sequences * ranks - last->sequences * (double)last->ranks) > 0)
            continue;
        measured[n] = (struct chart_point){ranks, row->speedup, row->efficiency.low * factor,
                                           row->efficiency.high * factor, CHART_PLAIN};
        of_run[n] = (struct chart_point){ranks, row->speedup, NAN, NAN, CHART_PLAIN};
        series[2 + n] = (struct chart_series){row->label, &of_run[n], 1, (int)(n % SVG_COLOURS), 0, 0};
        ideal[n++] = (struct chart_point){ranks, factor, NAN, NAN, CHART_PLAIN};
    }
    series[0] = (struct chart_series){"ideal", ideal, n, SVG_INK, .is_dashed = 1};
    series[1] = (struct chart_series){*s->subject ? s->subject : "best of each run", measured, n, SVG_INK, 0, 0};
    for (int p = 1; p < PARTS; p++)
        most = last->lost_part_s[p] > last->lost_part_s[most] ? p : most;
    snprintf(title, sizeof title, "%.0f %% efficient on %zu ranks", 100 * last->efficiency.value, last->ranks);
    if (last->lost_part_s[most] > 0)
        text_append(title, sizeof title, ": %s costs most, %.2f ms a step", part_name[most],
                    1e3 * last->lost_part_s[most]);
    snprintf(subtitle, sizeof subtitle,
             "Tokens per second, with %.4g sequences a rank / those of %zu rank%s with %.4g; %s", last->sequences,
             s->row->ranks, text_plural(s->row->ranks), s->row->sequences, last->run->workload);
    const struct chart_xy chart = {.x = {.title = "ranks", .is_log = AXIS_BINARY},
                                   .y = {.title = "speed-up", .is_log = 1},
                                   .series = series,
                                   .n_series = n + 2};
    document_add_picture(document, "scaling", title, chart_xy(title, subtitle, &chart));
    free(measured);
    free(series);
}

void section_add_scaling(cJSON *document, const struct scaling *s)
{
    if (!s->n)
        return;
    document_add_heading(document, "Scaling");
    document_add_paragraph(document, "%s; %s%s; from %ss.", s->row->run->workload,
                           *s->subject ? s->subject : "the best implementation of each run",
                           *s->subject ? ", the best on the most ranks" : "", s->row->run->mode);
    draw_scaling(document, s);
    const struct table scaling = {
        .key = "scaling",
        TABLE_COLUMNS(scaling_columns),
        TABLE_ROWS(s->row, s->n),
        .note = {"speed-up: tokens per second / tokens per second of the first row. efficiency: "
                 "speed-up / ratio of ranks. Intervals assume that the two steps are independent."}};
    const struct table lost = {
        .key = "where_efficiency_is_lost",
        .title = "Where efficiency is lost, ms a step",
        TABLE_COLUMNS(lost_columns),
        TABLE_ROWS(s->row + 1, s->n - 1),
        .note = {"lost: how much longer a step takes than in the first row above, for the same number of tokens a "
                 "rank. The other columns add up to it, unless the runs have medians; they are below 0 where a "
                 "part got shorter. Waiting for a straggler counts as exposed communication of the other ranks."}};
    document_add_table(document, &scaling);
    document_add_table(document, &lost);
}

/* ---- shares and their limits ---- */

enum { SHARES = 6 };

/* Fills the criteria that a comparison measures, of its best implementation. Returns 0; or -1 if it has no breakdown.
 */
static int fill_shares(struct criterion row[SHARES], const struct report_run *run)
{
    static const int which[SHARES] = {CRITERION_DATA,    CRITERION_EXPOSED,  CRITERION_TO_BACKWARD,
                                      CRITERION_FORWARD, CRITERION_BACKWARD, CRITERION_OPTIMIZER};
    struct breakdown b;
    if (!run_compares(run) || run_breakdown(&b, run, run->subject))
        return -1;
    const double backward = run_figure(run, run->subject, "backward_pass").value,
                 part[SHARES] = {b.part[PART_DATA],
                                 b.part[PART_EXPOSED],
                                 b.part[PART_EXPOSED] / backward * b.sum,
                                 run_figure(run, run->subject, "forward_pass").value,
                                 backward,
                                 run_figure(run, run->subject, "optimizer_step").value};
    for (int i = 0; i < SHARES; i++) {
        row[i] = criteria[which[i]];
        row[i].percent = 100 * part[i] / b.sum;
    }
    return 0;
}

int section_add_shares(cJSON *document, const struct report_run *run)
{
    const cJSON *saved = run_table(run, "criteria");
    struct criterion row[SHARES];
    char words[256];
    if (!saved && fill_shares(row, run))
        return 0;
    document_begin_section(document, "Shares and limits");
    run_words(words, sizeof words, run->label, run->subject, run->mode);
    document_add_paragraph(document, "%s, %zu rank%s:", words, run->ranks, text_plural(run->ranks));
    if (saved) {
        document_add_saved_table(document, saved);
        return 1;
    }
    const struct table table =
        criteria_table(row, SHARES, "Means over ranks and rounds. A profile measures the other shares.");
    document_add_table(document, &table);
    return 1;
}
