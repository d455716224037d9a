/* section_rounds.c - draws steps by round, with what other processes used meanwhile, and by rank, with who came late.
 */
#include "report/sections.h"

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "kernels/error.h"
#include "results/busy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- blocks ---- */

/* Adds a timed or captured step of a rank to its block. *at: index of the block of the rank's last step. */
static void take_step(struct report_run *run, size_t rank, size_t *at, const cJSON *line)
{
    const int captured = json_is_true(line, "captured");
    const struct run_implementation *of = run->implementation, *end = of + run->implementations;
    const double number = json_number(line, captured ? "profiler_step" : "block");
    while (of < end && strcmp(of->subject, json_string(line, "implementation")) != 0)
        of++;
    if (of == end || !isfinite(number) || !(captured || json_is_true(line, "timed")))
        return;
    while (*at < run->blocks && (run->block[*at].captured != captured || fabs(run->block[*at].number - number) > 0))
        ++*at;
    if (*at == run->blocks && rank)
        return;
    if (*at == run->blocks) {
        run->block = allocate_more(run->block, run->blocks, sizeof *run->block);
        run->block[run->blocks++] = (struct run_block){
            of, captured, 0, number, json_number(line, "round"), 0, json_number(line, "other_processes_cores"), {0}};
    }
    struct run_block *block = &run->block[*at];
    block->steps += !rank;
    block->ms = fmax(block->ms, json_number(line, captured ? "step_ms" : "block_ms"));
    block->wait_ms[rank] += (float)fmax(0, json_number(line, "gradient_sync_ms")); /* fmax: 0 if it is missing */
    block->wait_ms[rank] += (float)fmax(0, json_number(line, "parameter_gather_ms"));
}

void run_read_blocks(struct report_run *run)
{
    char path[FILES_PATH + 64], why[FILES_WHY], *line = NULL;
    size_t room = 0, at;
    FILE *file;
    for (size_t rank = 0; rank < run->ranks && rank < RUN_RANKS; rank++, fclose(file)) {
        snprintf(path, sizeof path, "%s/rank_%zu_metrics.jsonl", run->saved.directory, rank);
        if (!(file = files_open(path, FILES_MOST_BYTES, why)))
            break;
        for (at = 0; files_read_line(&line, &room, file) > 0;) {
            cJSON *json = json_object(line);
            take_step(run, rank, &at, json);
            cJSON_Delete(json);
        }
        run->ranks_read = rank + 1;
    }
    free(line);
    for (size_t i = run->blocks; i-- > 0;) {
        run->block[i].ms /= (double)run->block[i].steps;
        if (!isfinite(run->block[i].cores) && i + 1 < run->blocks) /* measured over a window that ended later */
            run->block[i].cores = run->block[i + 1].cores;
    }
}

size_t run_samples(double *ms, const struct report_run *run, const char *subject)
{
    size_t n = 0;
    for (const struct run_block *b = run->block; b < run->block + run->blocks && run_compares(run); b++)
        if (!strcmp(b->of->subject, subject))
            ms[n++] = b->ms;
    return n;
}

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
    static const char *const panel[] = {"step, ms", "cores that other processes used, at most"};
    static const struct chart_axis axis[2];
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
        .x = {.title = "round"}, .series = series, .n_series = n, .panel = panel, .n_panels = 2, .panel_y = axis};
    if (n && series[n - 1].panel)
        document_add_picture(document, "rounds", title, chart_xy(title, subtitle, &chart));
    free(point);
}

/* ---- ranks by step ---- */

static int is_shown(const struct report_run *run, const struct run_block *b)
{
    return b->captured != run_compares(run) && !strcmp(b->of->subject, run->subject);
}

/* Draws how long each rank waits for communication in the captured steps of a profile, or in the blocks of the best
 * implementation, in % of the mean step; or if is_late, how much shorter its wait is than the longest one. */
static void draw_ranks(cJSON *document, const struct report_run *run, int is_late)
{
    static const double bound[CHART_BOUNDS] = {0, 1, 2, 5, 10, 20};
    static char name[2][CHART_HEAT][CELL];
    const char *row[CHART_HEAT], *column[CHART_HEAT], *what = run_compares(run) ? "round" : "captured step";
    char title[300], subtitle[400];
    double mean[CHART_HEAT] = {0}, step_ms = 0;
    size_t n = 0, at = 0, most = 0, ranks = run->ranks_read;
    for (const struct run_block *b = run->block; b < run->block + run->blocks; b++)
        n += (size_t)is_shown(run, b);
    const size_t bin = n / CHART_HEAT + 1, columns = (n + bin - 1) / bin;
    struct chart_cell *cell = allocate(ranks * columns + 1, sizeof *cell);
    for (const struct run_block *b = run->block; b < run->block + run->blocks; b++)
        step_ms += is_shown(run, b) ? b->ms / (double)n : 0;
    for (const struct run_block *b = run->block; b < run->block + run->blocks; b++) {
        size_t c = at / bin;
        double longest = 0, in_column = (double)(n - c * bin < bin ? n % bin : bin);
        if (!is_shown(run, b))
            continue;
        for (size_t r = 0; r < ranks; r++)
            longest = fmax(longest, (double)b->wait_ms[r]);
        for (size_t r = 0; r < ranks; r++) {
            double wait = (double)b->wait_ms[r], ms = (is_late ? longest - wait : wait) / (double)b->steps;
            cell[r * columns + c] =
                (struct chart_cell){r, c, cell[r * columns + c].value + 100 * ms / step_ms / in_column};
            mean[r] += 100 * ms / step_ms / (double)n;
            row[r] = name[0][r];
            snprintf(name[0][r], CELL, "rank %zu", r);
        }
        column[c] = name[1][c];
        if (at++ % bin == 0)
            snprintf(name[1][c], CELL, "%.0f", b->captured ? b->number : b->round + 1);
    }
    for (size_t r = 1; r < ranks; r++)
        most = mean[r] > mean[most] ? r : most;
    snprintf(title, sizeof title,
             !is_late                ? "Rank %zu waits longest for communication: %.2g %% of a step"
             : mean[most] < bound[1] ? "No rank is late: rank %zu is the latest, by %.2g %% of a step"
                                     : "Rank %zu is late, by %.2g %% of a step",
             most, mean[most]);
    snprintf(subtitle, sizeof subtitle, "%s, %s: %s, in %% of the mean step (%.4g ms)%s", run->label, run->subject,
             is_late ? "how much shorter a rank waits for communication than the rank that waits longest"
                     : "exposed communication",
             step_ms, ranks < run->ranks ? "; only the first ranks" : "");
    if (bin > 1)
        text_append(subtitle, sizeof subtitle, "; a column is the mean of %zu %ss, from its number on", bin, what);
    const struct chart_heat chart = {row, column, "", what, cell, ranks, columns, ranks * columns, bound};
    if (ranks > 1 && isfinite(mean[most]) && n)
        document_add_picture(document, is_late ? "late-ranks" : "waits", title, chart_heat(title, subtitle, &chart));
    free(cell);
}

void section_add_rounds(cJSON *document, const struct report_runs *runs)
{
    enum { RUNS = 4 };
    size_t drawn = 0;
    for (const struct report_run *run = runs->item; run < runs->item + runs->n && drawn < RUNS; run++) {
        if (!run->blocks)
            continue;
        draw_rounds(document, run);
        for (int is_late = 1; is_late >= 0 && (runs->n == 1 || !run_compares(run)); is_late--)
            draw_ranks(document, run, is_late);
        drawn++;
    }
}
