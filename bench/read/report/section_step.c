/* section_step.c - draws a captured step as a timeline of the ranks, and how the steps of a run change over time. */
#include "report/sections.h"

#include "base/files.h"
#include "base/json.h"
#include "base/stats.h"
#include "base/text.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROFILES = 4, RANKS = 8, SPANS = 1600 };

/* The kinds of spans: the parts of a step, and communication in flight. */
enum { KIND_IN_FLIGHT = PARTS, KINDS };

/* Returns how long a phase lasted in a step, in ms, from a line of rank_<r>_metrics.jsonl; NAN: the line lacks it. */
static double phase_ms(const cJSON *line, const struct step_phase_part *phase)
{
    char name[64];
    snprintf(name, sizeof name, "%s_ms", phase->name);
    return json_number(line, name);
}

/* Opens the metrics of a rank; returns NULL if there are none. */
static FILE *open_metrics(const struct report_run *run, size_t rank)
{
    char path[FILES_PATH + 64], why[FILES_WHY];
    snprintf(path, sizeof path, "%s/rank_%zu_metrics.jsonl", run->saved.directory, rank);
    return files_open(path, FILES_MOST_BYTES, why);
}

/* ---- a step, rank by rank ---- */

struct step_picture {
    double number; /* number of the step; NAN: not known yet */
    struct chart_span span[SPANS];
    size_t spans;
    char name[RANKS][32];
    struct chart_row row[2 * RANKS];
    size_t rows;
    double exposed[RANKS]; /* ms */
};

static void add_span(struct step_picture *p, double begin, double end, size_t row, int kind, const char *label)
{
    if (p->spans < SPANS && end > begin)
        p->span[p->spans++] = (struct chart_span){begin, end, row, kind, label};
}

/* Adds a row for a rank whose step starts at `start` ms, and a row for the rank's communication if there is any. */
static void add_rank(struct step_picture *p, const cJSON *line, size_t rank, double start)
{
    double at = start;
    size_t row = p->rows;
    for (const struct step_phase_part *phase = step_phases; phase->name; phase++) {
        double ms = phase_ms(line, phase);
        if (!isfinite(ms))
            continue;
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
}

/* Reads a captured step from a rank's metrics file: step `number` or, if that is NAN, the step whose time is nearest to
 * mean_ms. Returns the JSON of the step, which the caller deletes; NULL if there is no such step. */
static cJSON *read_step(const struct report_run *run, size_t rank, double number, double mean_ms)
{
    char *line = NULL;
    size_t room = 0;
    double nearest = INFINITY;
    cJSON *best = NULL;
    FILE *file = open_metrics(run, rank);
    if (!file)
        return NULL;
    while (files_read_line(&line, &room, file) > 0) {
        cJSON *json = json_object(line);
        /* the captured steps are the first lines of the file */
        int captured = json_is_true(json, "captured");
        double away = isfinite(number) ? fabs(json_number(json, "profiler_step") - number)
                                       : fabs(json_number(json, "step_ms") - mean_ms);
        int active = strcmp(json_string(json, "epoch_kind"), "warmup") != 0;
        int placed = isfinite(json_number(json, "trace_start_ms")) != 0;
        if (captured && active && placed && (isfinite(number) ? away == 0 : away < nearest)) {
            cJSON_Delete(best);
            best = json;
            nearest = away;
        } else
            cJSON_Delete(json);
        if (!captured)
            break;
    }
    free(line);
    fclose(file);
    return best;
}

/* Reads the same step of the first RANKS ranks; stops at a rank that lacks the step. Returns the number of ranks. */
static size_t read_picture(struct step_picture *p, const struct report_run *run)
{
    cJSON *line[RANKS];
    double first = INFINITY;
    size_t ranks = 0;
    *p = (struct step_picture){.number = NAN};
    for (; ranks < run->ranks && ranks < RANKS; ranks++) {
        line[ranks] = read_step(run, ranks, p->number, 1e3 * run->phase_s[PARTS]);
        if (!line[ranks])
            break;
        p->number = json_number(line[ranks], "profiler_step");
        first = fmin(first, json_number(line[ranks], "trace_start_ms"));
    }
    for (size_t rank = 0; rank < ranks; rank++) {
        add_rank(p, line[rank], rank, json_number(line[rank], "trace_start_ms") - first);
        cJSON_Delete(line[rank]);
    }
    return ranks;
}

void section_add_steps(cJSON *document, const struct report_runs *runs)
{
    const char *kinds[KINDS] = {[KIND_IN_FLIGHT] = "communication in flight"};
    struct step_picture *p = allocate(1, sizeof *p);
    size_t drawn = 0;
    memcpy(kinds, part_name, sizeof part_name);
    for (const struct report_run *run = runs->item; run < runs->item + runs->n && drawn < PROFILES; run++) {
        char title[400], subtitle[560], name[32];
        size_t ranks = strcmp(run->mode, "profile") != 0 ? 0 : read_picture(p, run);
        if (!ranks)
            continue;
        size_t most = 0, least = 0;
        for (size_t rank = 1; rank < ranks; rank++) {
            most = p->exposed[rank] > p->exposed[most] ? rank : most;
            least = p->exposed[rank] < p->exposed[least] ? rank : least;
        }
        snprintf(title, sizeof title, "%s: rank %zu waits %.4g ms for communication in this step", run->label, most,
                 p->exposed[most]);
        if (ranks > 1)
            text_append(title, sizeof title, "; rank %zu, the last to come, %.4g ms", least, p->exposed[least]);
        snprintf(subtitle, sizeof subtitle,
                 "ProfilerStep#%.0f of %s on %zu rank%s, the step nearest to the mean; ms since the step started%s.",
                 p->number, run->subject, run->ranks, text_plural(run->ranks),
                 run->ranks > 1 ? " on the rank that began first, by synchronised clocks" : "");
        if (ranks < run->ranks)
            text_append(subtitle, sizeof subtitle,
                        ranks < RANKS ? " Only %zu of %zu ranks: rank_%zu_metrics.jsonl lacks the step."
                                      : " The first %zu of %zu ranks.",
                        ranks, run->ranks, ranks);
        snprintf(name, sizeof name, "step-%zu", ++drawn);
        const struct chart_rows chart = {p->row, kinds, p->span, p->rows, KINDS, p->spans};
        document_add_picture(document, name, title, chart_rows(title, subtitle, &chart));
    }
    free(p);
}

/* ---- the steps of a run over time ---- */

enum { PANELS = 12, POINTS = 300 }; /* POINTS: the most points of a line */
enum { LINE_STEP, LINE_COMPUTE, LINE_EXPOSED, LINE_BUSY, LINE_COMMUNICATION, LINE_BOTH, LINE_NUMBER, LINES, DRAWN = 3 };

/* The steps of an implementation, in the order in which they ran. */
struct step_series {
    char name[256];
    const struct report_run *run;
    const char *subject;
    double (*ms)[LINES]; /* [n] sums over the ranks that were read; owned */
    size_t n, ranks, at; /* at: number of steps that were read of the current rank */
};

/* Adds the times of a line to the sums of its step; after the first rank, only if the other ranks have that step. */
static void add_step(struct step_series *s, const cJSON *line)
{
    if (!s->ranks) {
        s->ms = allocate_more(s->ms, s->n, sizeof *s->ms);
        memset(s->ms[s->n++], 0, sizeof *s->ms);
    }
    if (s->at == s->n)
        return;
    double *sum = s->ms[s->at++];
    sum[LINE_STEP] += json_number(line, "step_ms");
    sum[LINE_BUSY] += json_number(line, "compute_ms");
    sum[LINE_COMMUNICATION] += json_number(line, "communication_ms");
    sum[LINE_BOTH] += json_number(line, "overlap_ms");
    sum[LINE_NUMBER] += json_number(line, "global_step");
    for (const struct step_phase_part *phase = step_phases; phase->name; phase++) {
        double ms = phase_ms(line, phase);
        if (isfinite(ms) && (phase->part == PART_COMPUTE || phase->part == PART_EXPOSED))
            sum[phase->part == PART_COMPUTE ? LINE_COMPUTE : LINE_EXPOSED] += ms;
    }
}

/* Reads the metrics of the first RANKS ranks of a run into its n series: the timed steps of each implementation of a
 * comparison, or the captured steps of a profile. A series ends where a rank's steps end. */
static void read_series(struct step_series *series, size_t n, const struct report_run *run)
{
    char *line = NULL;
    size_t room = 0;
    for (size_t rank = 0; rank < run->ranks && rank < RANKS; rank++) {
        FILE *file = open_metrics(run, rank);
        if (!file)
            break;
        while (files_read_line(&line, &room, file) > 0) {
            cJSON *json = json_object(line);
            int drawn = json_is_true(json, run_compares(run) ? "timed" : "captured");
            for (struct step_series *s = series; s < series + n && drawn && isfinite(json_number(json, "step_ms")); s++)
                if (!strcmp(json_string(json, "implementation"), s->subject))
                    add_step(s, json);
            cJSON_Delete(json);
        }
        for (struct step_series *s = series; s < series + n; s++) {
            s->n = s->at;
            s->at = 0;
            s->ranks++;
        }
        fclose(file);
    }
    free(line);
}

/* Fills a line with at most POINTS points: medians of groups of consecutive steps. x is the middle of the group, in
 * global steps from LINE_BUSY on, else counted from 1. Returns the size of a group. */
static size_t fill_line(struct chart_series *to, struct chart_point *point, const struct step_series *s, size_t line)
{
    size_t group = (s->n + POINTS - 1) / POINTS;
    double *ms = allocate(group, sizeof *ms);
    to->point = point;
    for (size_t first = 0; first < s->n; first += group) {
        size_t count = s->n - first < group ? s->n - first : group;
        for (size_t i = 0; i < count; i++)
            ms[i] = s->ms[first + i][line] / (double)s->ranks;
        double numbers = s->ms[first][LINE_NUMBER] + s->ms[first + count - 1][LINE_NUMBER];
        double x = line < LINE_BUSY ? (double)first + 0.5 * (double)(count + 1) : 0.5 * numbers / (double)s->ranks;
        point[to->n++] = (struct chart_point){.x = x, .y = stats_median(ms, count), .low = NAN, .high = NAN};
    }
    free(ms);
    return group;
}

/* Limits the lines to 5 times the longest median, so that a rare long step does not flatten them. Returns the
 * limit and sets *highest to the highest value before the cut. */
static double cut_lines(struct chart_point *point, const struct chart_series *line, size_t n, double *highest)
{
    double ms[POINTS], limit = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < line[i].n; k++)
            ms[k] = line[i].point[k].y;
        limit = fmax(limit, 5 * stats_median(ms, line[i].n));
    }
    *highest = 0;
    for (size_t i = 0; i < n * POINTS; i++) {
        *highest = fmax(*highest, point[i].y);
        point[i].y = fmin(point[i].y, limit);
    }
    return limit;
}

/* Returns the median of the second half of the steps / that of the first half. */
static double drift_of(const struct step_series *s)
{
    double *ms = allocate(s->n, sizeof *ms);
    for (size_t i = 0; i < s->n; i++)
        ms[i] = s->ms[i][LINE_STEP];
    size_t half = s->n / 2;
    double drift = stats_median(ms + half, s->n - half) / stats_median(ms, half);
    free(ms);
    return drift;
}

/* Writes which steps changed most. */
static void describe_drift(char title[400], const struct step_series *series, size_t n)
{
    const struct step_series *moved = series;
    for (const struct step_series *s = series; s < series + n; s++)
        moved = fabs(log(drift_of(s))) > fabs(log(drift_of(moved))) ? s : moved;
    double drift = drift_of(moved);
    snprintf(title, 400, "Steps of %s took %.1f %% %s in the second half of the run than in the first", moved->name,
             100 * fabs(drift - 1), drift < 1 ? "less" : "longer");
}

/* Draws DRAWN lines of each of n series in a panel: those from number `first` on. what: the steps that the series have.
 */
static void draw_series(cJSON *document, const struct step_series *series, size_t n, size_t first, const char *name,
                        const char *title, const char *what)
{
    const char *const line_name[] = {"step",        part_name[PART_COMPUTE], part_name[PART_EXPOSED],
                                     "computation", "communication",         "both at once"},
                      *panel[PANELS];
    static const int colour[] = {SVG_INK, PART_COMPUTE, PART_EXPOSED, PART_COMPUTE, PART_EXPOSED, SVG_INK};
    char subtitle[400], medians[80] = "", cut[120] = "";
    struct chart_point *point = allocate(n * DRAWN * POINTS, sizeof *point);
    struct chart_series line[PANELS * DRAWN];
    size_t most = 1;
    double highest;
    for (size_t i = 0; i < n * DRAWN; i++) {
        size_t of = first + i % DRAWN;
        panel[i / DRAWN] = series[i / DRAWN].name;
        line[i] = (struct chart_series){.name = line_name[of], .colour = colour[of], .panel = i / DRAWN};
        size_t group = fill_line(&line[i], &point[i * POINTS], &series[i / DRAWN], of);
        most = group > most ? group : most;
    }
    double limit = cut_lines(point, line, n * DRAWN, &highest);
    if (most > 1)
        snprintf(medians, sizeof medians, "; with more than %d steps, medians of up to %zu steps", POINTS, most);
    if (highest > limit)
        snprintf(cut, sizeof cut, ". Values above %.3g ms (highest: %.3g ms) are drawn at that height", limit, highest);
    snprintf(subtitle, sizeof subtitle, "%s, in order: means over the ranks (at most %d)%s%s.", what, RANKS, medians,
             cut);
    const struct chart_xy chart = {.x = {.title = first < LINE_BUSY ? "step" : "global step"},
                                   .y = {.title = "ms"},
                                   .series = line,
                                   .n_series = n * DRAWN,
                                   .panel = panel,
                                   .n_panels = n};
    document_add_picture(document, name, title, chart_xy(title, subtitle, &chart));
    free(point);
}

/* Draws the picture LABEL_timeline of a profile. */
static void draw_timeline(cJSON *document, const struct step_series *s)
{
    char name[RUN_LABEL + 16];
    snprintf(name, sizeof name, "%s_timeline", s->run->label);
    for (char *slash = name; (slash = strchr(slash, '/'));)
        *slash = '.';
    draw_series(document, s, 1, LINE_BUSY, name, "Computation, communication and their overlap", "Captured steps");
}

void section_add_step_series(cJSON *document, const struct report_runs *runs)
{
    struct step_series series[PANELS];
    char title[400];
    size_t n = 0, drawn = 0;
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++) {
        size_t first = n, each = runs->n == 1 && run_compares(run);
        for (size_t i = 0; i < (each ? run->implementations : 1) && n < PANELS; i++) {
            const char *subject = each ? run->implementation[i].subject : run->subject;
            series[n] = (struct step_series){.run = run, .subject = subject};
            run_words(series[n].name, sizeof series[n].name, run->label, subject, run->mode);
            n += *subject != 0;
        }
        if (n > first)
            read_series(&series[first], n - first, run);
    }
    for (size_t i = 0; i < n; i++)
        if (series[i].n > 1)
            series[drawn++] = series[i];
        else
            free(series[i].ms);
    if (drawn) {
        describe_drift(title, series, drawn);
        draw_series(document, series, drawn, LINE_STEP, "steps-over-time", title,
                    "Timed steps of each implementation, or captured steps of a profile");
    }
    for (size_t i = 0; i < drawn; i++) {
        if (!run_compares(series[i].run))
            draw_timeline(document, &series[i]);
        free(series[i].ms);
    }
}
