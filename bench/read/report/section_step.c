/* section_step.c - writes the section that shows a captured step as a timeline of the ranks. */
#include "report/sections.h"

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROFILES = 4, RANKS = 8, SPANS = 1600 };

/* The kinds of spans: the parts of a step, and communication in flight. */
enum { KIND_IN_FLIGHT = PARTS, KINDS };

/* The phases of a step in order, named as in rank_<r>_metrics.jsonl. */
static const struct {
    const char *name, *label;
    int kind;
} phases[] = {{"zero_grad_ms", NULL, PART_COMPUTE},
              {"data_loading_ms", NULL, PART_DATA},
              {"forward_pass_ms", "forward", PART_COMPUTE},
              {"backward_pass_ms", "backward", PART_COMPUTE},
              {"gradient_sync_ms", NULL, PART_EXPOSED},
              {"gradient_clipping_warmup_ms", "clipping", PART_COMPUTE},
              {"optimizer_step_ms", "optimizer", PART_COMPUTE},
              {"lr_scheduling_ms", NULL, PART_OTHER}};

struct step_picture {
    double number; /* number of the step; NAN: not known yet */
    struct chart_span span[SPANS];
    size_t spans;
    char name[RANKS][32];
    struct chart_row row[2 * RANKS];
    size_t rows;
};

static void add_span(struct step_picture *p, double begin, double end, size_t row, int kind, const char *label)
{
    if (p->spans < SPANS && end > begin)
        p->span[p->spans++] = (struct chart_span){begin, end, row, kind, label};
}

/* Adds a row for a rank whose step starts at `start` ms, and a row for the rank's communication if there is any. */
static void add_rank(struct step_picture *p, const cJSON *line, size_t rank, double start)
{
    const cJSON *segment;
    double at = start;
    size_t row = p->rows;
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++) {
        double ms = json_number(line, phases[i].name);
        if (!isfinite(ms))
            continue;
        add_span(p, at, at + ms, row, phases[i].kind, phases[i].label);
        at += ms;
    }
    size_t drawn = p->spans;
    cJSON_ArrayForEach(segment, cJSON_GetObjectItemCaseSensitive(line, "in_flight"))
    {
        add_span(p, start + json_number(segment, "start_ms"), start + json_number(segment, "end_ms"), row + 1,
                 KIND_IN_FLIGHT, NULL);
    }
    snprintf(p->name[rank], sizeof p->name[rank], "rank %zu", rank);
    p->row[row].name = p->name[rank];
    p->row[row + 1].name = "communication";
    p->rows += drawn < p->spans ? 2 : 1;
}

/* Reads a captured step from a rank's metrics file: step `number` or, if that is NAN, the step whose time is nearest to
 * mean_ms. Returns the JSON of the step, which the caller deletes; NULL if there is no such step. */
static cJSON *read_step(const struct report_run *run, size_t rank, double number, double mean_ms)
{
    char path[FILES_PATH + 64];
    char why[FILES_WHY], *line = NULL;
    size_t room = 0;
    double nearest = INFINITY;
    cJSON *best = NULL;
    snprintf(path, sizeof path, "%s/rank_%zu_metrics.jsonl", run->directory, rank);
    FILE *file = files_open(path, FILES_MOST_BYTES, why);
    if (!file)
        return NULL;
    while (files_read_line(&line, &room, file) > 0) {
        cJSON *json = json_object(line);
        /* the captured steps are the first lines of the file */
        int captured = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "captured"));
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
    for (int i = 0; i < PARTS; i++)
        kinds[i] = part_name[i];
    for (const struct report_run *run = runs->item; run < runs->item + runs->n && drawn < PROFILES; run++) {
        char title[160], subtitle[560], name[32];
        size_t ranks = strcmp(run->mode, "profile") != 0 ? 0 : read_picture(p, run);
        if (!ranks)
            continue;
        snprintf(title, sizeof title, "%s: a step, rank by rank", run->label);
        int at = snprintf(
            subtitle, sizeof subtitle,
            "ProfilerStep#%.0f of %s on %zu rank%s, the step nearest to the mean; ms since the step started%s.",
            p->number, run->subject, run->ranks, text_plural(run->ranks),
            run->ranks > 1 ? " on the rank that began first, by synchronised clocks" : "");
        if (ranks < run->ranks)
            snprintf(subtitle + at, sizeof subtitle - (size_t)at,
                     ranks < RANKS ? " Only %zu of %zu ranks: rank_%zu_metrics.jsonl lacks the step."
                                   : " The first %zu of %zu ranks.",
                     ranks, run->ranks, ranks);
        snprintf(name, sizeof name, "step-%zu", ++drawn);
        document_add_picture(document, name, title,
                             chart_rows(title, subtitle,
                                        &(struct chart_rows){.row = p->row,
                                                             .kind = kinds,
                                                             .span = p->span,
                                                             .rows = p->rows,
                                                             .kinds = KINDS,
                                                             .spans = p->spans}));
    }
    free(p);
}
