/* section_step.c - draws the captured steps of a profile: one of them rank by rank, and all of them over time. */
#include "report/sections.h"

#include "base/json.h"
#include "base/text.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a step, rank by rank ---- */

enum { RANKS = 8, SPANS = 1600 };

/* The kinds of spans: the parts of a step, and communication in flight. */
enum { KIND_IN_FLIGHT = PARTS, KINDS };

struct step_picture {
    double number, first; /* number of the step; when it began on the rank that began first, ms */
    size_t ranks, spans, rows;
    struct chart_span span[SPANS]; /* until all ranks are read: since the trace began */
    char name[RANKS][32];
    struct chart_row row[2 * RANKS];
    double exposed[RANKS]; /* ms */
};

static void add_span(struct step_picture *p, double begin, double end, size_t row, int kind, const char *label)
{
    if (p->spans < SPANS && end > begin)
        p->span[p->spans++] = (struct chart_span){begin, end, row, kind, label};
}

/* Adds a row for a rank, and a row for the rank's communication if there is any. */
static void add_rank(struct step_picture *p, const cJSON *line)
{
    const double start = json_number(line, "trace_start_ms");
    const size_t row = p->rows, rank = p->ranks++;
    double at = start;
    for (const struct step_phase_part *phase = step_phases; phase->name; phase++) {
        char name[64];
        snprintf(name, sizeof name, "%s_ms", phase->name);
        const double ms = fmax(0, json_number(line, name)); /* 0 if it is missing */
        add_span(p, at, at + ms, row, (int)phase->part, phase->label);
        p->exposed[rank] += phase->part == PART_EXPOSED ? ms : 0;
        at += ms;
    }
    size_t drawn = p->spans;
    for (const cJSON *segment = json_first(line, "in_flight"); segment; segment = segment->next)
        add_span(p, start + json_number(segment, "start_ms"), start + json_number(segment, "end_ms"), row + 1,
                 KIND_IN_FLIGHT, NULL);
    snprintf(p->name[rank], sizeof p->name[rank], "rank %zu", rank);
    p->row[row].name = p->name[rank];
    p->row[row + 1].name = "communication";
    p->rows += drawn < p->spans ? 2 : 1;
    p->first = fmin(p->first, start);
}

/* Adds a rank if the line is of the step, and no rank before it lacks the step. The captured steps are the first lines
 * of a file. */
static int take_rank(void *context, size_t rank, const cJSON *line)
{
    struct step_picture *p = context;
    const int captured = json_is_true(line, "captured");
    if (captured && rank == p->ranks && fabs(json_number(line, "profiler_step") - p->number) <= 0 &&
        isfinite(json_number(line, "trace_start_ms")))
        add_rank(p, line);
    return captured;
}

/* Reads the step that is nearest to the mean. Returns the number of ranks that have it. */
static size_t read_picture(struct step_picture *p, const struct report_run *run)
{
    double nearest = INFINITY;
    *p = (struct step_picture){.number = NAN, .first = INFINITY};
    for (const struct run_block *b = run->block; b < run->block + run->blocks; b++) {
        double away = fabs(b->sum_ms[RUN_STEP] / (double)b->lines - 1e3 * run->phase_s[PARTS]);
        if (!b->captured || !b->is_placed || !(away < nearest))
            continue;
        nearest = away;
        p->number = b->number;
    }
    if (isfinite(p->number))
        run_each_line(run, RANKS, take_rank, p);
    for (struct chart_span *s = p->span; s < p->span + p->spans; s++) {
        s->begin_ms -= p->first;
        s->end_ms -= p->first;
    }
    return p->ranks;
}

static void draw_step(cJSON *document, const struct report_run *run, const struct step_picture *p)
{
    const char *kinds[KINDS] = {[KIND_IN_FLIGHT] = "communication in flight"};
    char title[400], subtitle[560];
    size_t most = 0, least = 0;
    memcpy(kinds, part_name, sizeof part_name);
    for (size_t rank = 1; rank < p->ranks; rank++) {
        most = p->exposed[rank] > p->exposed[most] ? rank : most;
        least = p->exposed[rank] < p->exposed[least] ? rank : least;
    }
    snprintf(title, sizeof title, "%s: rank %zu waits %.4g ms for communication in this step", run->label, most,
             p->exposed[most]);
    if (p->ranks > 1)
        text_append(title, sizeof title, "; rank %zu, the last to come, %.4g ms", least, p->exposed[least]);
    snprintf(subtitle, sizeof subtitle,
             "ProfilerStep#%.0f of %s on %zu rank%s, the step nearest to the mean; ms since the step started%s.",
             p->number, run->subject, run->ranks, text_plural(run->ranks),
             run->ranks > 1 ? " on the rank that began first, by synchronised clocks" : "");
    if (p->ranks < run->ranks)
        text_append(subtitle, sizeof subtitle,
                    p->ranks < RANKS ? " Only %zu of %zu ranks: rank_%zu_metrics.jsonl lacks the step."
                                     : " The first %zu of %zu ranks.",
                    p->ranks, run->ranks, p->ranks);
    const struct chart_rows chart = {p->row, kinds, p->span, p->rows, KINDS, p->spans};
    document_add_picture(document, "step", title, chart_rows(title, subtitle, &chart));
}

int section_add_step(cJSON *document, const struct report_run *run)
{
    struct step_picture *p = allocate(1, sizeof *p);
    int found = !strcmp(run->mode, "profile") && read_picture(p, run);
    if (found)
        draw_step(document, run, p);
    free(p);
    return found;
}

/* ---- the steps over time ---- */

/* Draws n captured steps as the picture LABEL_timeline. */
static void draw_timeline(cJSON *document, const struct report_run *run, const struct run_block *const *step, size_t n)
{
    static const char *const line_name[RUN_SUMS] = {"computation", "communication", "both at once", "step"};
    static const int colour[RUN_SUMS] = {PART_COMPUTE, PART_EXPOSED, SVG_INK, SVG_GREY};
    static const struct chart_axis ms = {.title = "ms"};
    struct chart_point *point = allocate(RUN_SUMS * n, sizeof *point);
    struct chart_series series[RUN_SUMS];
    double sum[RUN_SUMS] = {0};
    char name[RUN_LABEL + 16], title[300], subtitle[300];
    for (size_t line = 0; line < RUN_SUMS; line++) {
        series[line] = (struct chart_series){line_name[line], &point[line * n], n, colour[line], 0, 0};
        for (size_t i = 0; i < n; i++) {
            point[line * n + i] = (struct chart_point){
                step[i]->global_step, step[i]->sum_ms[line] / (double)step[i]->lines, NAN, NAN, CHART_PLAIN};
            sum[line] += point[line * n + i].y;
        }
    }
    snprintf(name, sizeof name, "%s_timeline", run->label);
    for (char *slash = name; (slash = strchr(slash, '/'));)
        *slash = '.';
    snprintf(title, sizeof title, "%s: no communication in the captured steps", run->label);
    if (sum[RUN_COMMUNICATION] > 0)
        snprintf(title, sizeof title, "%s: %.3g %% of the communication overlaps with computation", run->label,
                 100 * sum[RUN_BOTH] / sum[RUN_COMMUNICATION]);
    snprintf(subtitle, sizeof subtitle, "Captured steps of %s, in order: means over the ranks", run->subject);
    const struct chart_xy chart = {
        .x = {.title = "global step"}, .series = series, .n_series = RUN_SUMS, .panel = &ms, .n_panels = 1};
    document_add_picture(document, name, title, chart_xy(title, subtitle, &chart));
    free(point);
}

int section_add_timeline(cJSON *document, const struct report_run *run)
{
    const struct run_block **step = allocate(run->blocks + 1, sizeof(struct run_block *));
    size_t n = run_compares(run) ? 0 : run_blocks(step, run, run->subject);
    if (n > 1)
        draw_timeline(document, run, step, n);
    free(step);
    return n > 1;
}
