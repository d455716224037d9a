/* section_rounds.c - draws steps by round, with what other processes used meanwhile, and by rank, with who came late.
 */
#include "report/sections.h"

#include "base/text.h"
#include "kernels/error.h"
#include "results/busy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- steps by round ---- */

enum { POINTS = 300 };

/* Fills point with the mean steps of an implementation, or if it is NULL with the most cores, of groups of `group`
 * rounds. Returns the number of points. */
static size_t take_points(struct chart_point point[POINTS], const struct report_run *run, size_t group,
                          const struct run_implementation *of)
{
    double sum[POINTS] = {0}, count[POINTS] = {0};
    size_t n = 0;
    for (const struct run_block *b = run->block; b < run->block + run->blocks; b++) {
        double y = of ? b->ms : b->cores, at = floor(b->round / (double)group);
        if ((of && b->of != of) || !isfinite(y) || !(at >= 0 && at < POINTS))
            continue;
        sum[(int)at] = of ? sum[(int)at] + y : fmax(sum[(int)at], y);
        count[(int)at] = of ? count[(int)at] + 1 : 1;
    }
    for (int i = 0; i < POINTS; i++)
        if (count[i] > 0)
            point[n++] =
                (struct chart_point){(i + 0.5) * (double)group + 0.5, sum[i] / count[i], NAN, NAN, CHART_PLAIN};
    return n;
}

/* Writes in how many blocks the machine was busy, and how much longer the steps then were. */
static void describe_rounds(char title[400], const struct report_run *run)
{
    double cores = busy_of(run->saved.summary, run->saved.run).cores, most = 0, log_sum[2] = {0}, n[2] = {0};
    for (const struct run_block *b = run->block; b < run->block + run->blocks; b++) {
        double ratio = 1e-3 * b->ms / run_figure(run, b->of->subject, "step").value;
        int busy = busy_is((struct busy){b->cores / cores, cores});
        if (b->captured || !(ratio > 0))
            continue;
        log_sum[busy] += log(ratio);
        n[busy]++;
        most = fmax(most, b->cores);
    }
    snprintf(title, 400, "Other processes used at most %.2g of %g cores in any round", most, cores);
    if (n[1] > 0)
        snprintf(title, 400, "In %.3g %% of the blocks of steps other processes used over %g %% of the %g cores",
                 100 * n[1] / (n[0] + n[1]), 100 * BUSY_SHARE, cores);
    if (n[0] > 0 && n[1] > 0)
        text_append(title, 400, "; these steps took %.2f times as long", exp(log_sum[1] / n[1] - log_sum[0] / n[0]));
}

static void draw_rounds(cJSON *document, const struct report_run *run)
{
    static const struct chart_axis axis[] = {{.title = "step, ms"},
                                             {.title = "cores that other processes used, at most", .from_0 = 1}};
    struct chart_point(*point)[POINTS] = allocate(SVG_COLOURS, sizeof *point);
    struct chart_series series[SVG_COLOURS];
    size_t n = 0, group = 1 + (size_t)fmax(0, fmin(1e9, run->block[run->blocks - 1].round)) / POINTS;
    char title[400], subtitle[400];
    for (size_t i = 0; i <= run->implementations && n < SVG_COLOURS; i++) {
        const struct run_implementation *of = i < run->implementations ? &run->implementation[i] : NULL;
        series[n] = (struct chart_series){of ? of->subject : "", point[n], take_points(point[n], run, group, of),
                                          of ? (int)n : SVG_INK, 0,        !of};
        n += series[n].n > 0 && (!of || n < SVG_COLOURS - 1);
    }
    describe_rounds(title, run);
    snprintf(subtitle, sizeof subtitle, "%s: the step of each implementation in each round%s", run->label,
             group > 1 ? "; means of neighbouring rounds" : "");
    const struct chart_xy chart = {
        .x = {.title = "round"}, .series = series, .n_series = n, .panel = axis, .n_panels = 2};
    if (n && series[n - 1].panel)
        document_add_picture(document, "rounds", title, chart_xy(title, subtitle, &chart));
    free(point);
}

/* ---- ranks by step ---- */

/* Waits of ranks for communication, in % of the mean step, in captured steps or blocks of one implementation. With more
 * than CHART_HEAT, a column has the mean of `bin` neighbours. */
struct waits {
    const struct run_block **block; /* [n] */
    size_t n, bin, ranks;
    double step_ms; /* mean */
};

/* Fills the cells and mean[ranks]: the waits or, if is_late, how much shorter they are than the longest one. Returns
 * the rank with the largest mean. */
static size_t fill_cells(struct chart_cell *cell, double mean[RUN_RANKS], const struct waits *w, int is_late)
{
    size_t most = 0;
    for (size_t i = 0; i < w->n; i++) {
        const struct run_block *b = w->block[i];
        const size_t column = i / w->bin, left = w->n - column * w->bin, in_column = left < w->bin ? left : w->bin;
        double longest = 0;
        for (size_t r = 0; r < w->ranks; r++)
            longest = fmax(longest, (double)b->wait_ms[r]);
        for (size_t r = 0; r < w->ranks; r++) {
            double wait = (double)b->wait_ms[r], ms = (is_late ? longest - wait : wait) / (double)b->steps;
            struct chart_cell *at = &cell[column * w->ranks + r];
            *at = (struct chart_cell){r, column, at->value + 100 * ms / w->step_ms / (double)in_column};
            mean[r] += 100 * ms / w->step_ms / (double)w->n;
        }
    }
    for (size_t r = 1; r < w->ranks; r++)
        most = mean[r] > mean[most] ? r : most;
    return most;
}

static void draw_waits(cJSON *document, const struct report_run *run, const struct waits *w, int is_late)
{
    static const double bound[CHART_BOUNDS] = {0, 1, 2, 5, 10, 20};
    char name[2][CHART_HEAT][CELL], title[300], subtitle[400];
    const char *row[CHART_HEAT], *column[CHART_HEAT], *what = run_compares(run) ? "round" : "captured step";
    const size_t columns = (w->n + w->bin - 1) / w->bin;
    struct chart_cell *cell = allocate(w->ranks * columns, sizeof *cell);
    double mean[RUN_RANKS] = {0};
    size_t most = fill_cells(cell, mean, w, is_late);
    for (size_t r = 0; r < w->ranks; r++) {
        snprintf(name[0][r], CELL, "rank %zu", r);
        row[r] = name[0][r];
    }
    for (size_t c = 0; c < columns; c++) {
        const struct run_block *b = w->block[c * w->bin];
        snprintf(name[1][c], CELL, "%.0f", b->captured ? b->number : b->round + 1);
        column[c] = name[1][c];
    }
    snprintf(title, sizeof title,
             !is_late                ? "Rank %zu waits longest for communication: %.2g %% of a step"
             : mean[most] < bound[1] ? "No rank is late: rank %zu is the latest, by %.2g %% of a step"
                                     : "Rank %zu is late, by %.2g %% of a step",
             most, mean[most]);
    snprintf(subtitle, sizeof subtitle, "%s, %s: %s, in %% of the mean step (%.4g ms)%s", run->label, run->subject,
             is_late ? "how much shorter a rank waits for communication than the rank that waits longest"
                     : "exposed communication",
             w->step_ms, w->ranks < run->ranks ? "; only the first ranks" : "");
    if (w->bin > 1)
        text_append(subtitle, sizeof subtitle, "; a column is the mean of %zu %ss, from its number on", w->bin, what);
    const char *value = is_late ? "late by % of a step" : "% of a step";
    const struct chart_heat chart = {row, column, "", what, cell, w->ranks, columns, w->ranks * columns, value, bound};
    document_add_picture(document, is_late ? "late-ranks" : "waits", title, chart_heat(title, subtitle, &chart));
    free(cell);
}

/* Draws the captured steps of a profile, or the rounds of the best implementation. */
static void draw_ranks(cJSON *document, const struct report_run *run)
{
    struct waits w = {.block = allocate(run->blocks, sizeof(struct run_block *)), .ranks = run->ranks_read};
    w.n = run_blocks(w.block, run, run->subject);
    w.bin = w.n / CHART_HEAT + 1;
    for (size_t i = 0; i < w.n; i++)
        w.step_ms += w.block[i]->ms / (double)w.n;
    for (int is_late = 1; is_late >= 0 && w.ranks > 1 && w.step_ms > 0; is_late--)
        draw_waits(document, run, &w, is_late);
    free(w.block);
}

int section_add_rounds(cJSON *document, const struct report_run *run)
{
    if (!run->blocks)
        return 0;
    draw_rounds(document, run);
    if (run->is_alone || !run_compares(run))
        draw_ranks(document, run);
    return 1;
}
