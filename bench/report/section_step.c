/* section_step.c - one captured step as a timeline of its ranks. */
#include "report/sections.h"

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "chart/chart.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROFILES = 4, RANKS = 8, SPANS = 1600 };

enum { KIND_DATA, KIND_FORWARD, KIND_BACKWARD, KIND_SYNC, KIND_UPDATE, KIND_COMMUNICATION, KINDS };
static const struct chart_name kinds[KINDS] = {[KIND_DATA] = {"data loading", 2},
                                               [KIND_FORWARD] = {"forward", 4},
                                               [KIND_BACKWARD] = {"backward", 0},
                                               [KIND_SYNC] = {"waiting for communication", 3},
                                               [KIND_UPDATE] = {"optimizer and the rest", SVG_GREY},
                                               [KIND_COMMUNICATION] = {"communication in flight", 1}};

/* The phases of a step, in their order. */
static const struct {
    const char *name;
    int kind;
} phases[] = {{"zero_grad_ms", KIND_UPDATE},      {"data_loading_ms", KIND_DATA},
              {"forward_pass_ms", KIND_FORWARD},  {"backward_pass_ms", KIND_BACKWARD},
              {"gradient_sync_ms", KIND_SYNC},    {"gradient_clipping_warmup_ms", KIND_UPDATE},
              {"optimizer_step_ms", KIND_UPDATE}, {"lr_scheduling_ms", KIND_UPDATE}};

struct step_picture {
    double number; /* of the step that is shown */
    struct chart_span span[SPANS];
    size_t spans;
    char row[2 * RANKS][32];
    const char *row_name[2 * RANKS];
    size_t rows;
};

static void add_span(struct step_picture *p, double begin, double end, size_t row, int kind)
{
    if (p->spans < SPANS && end > begin)
        p->span[p->spans++] = (struct chart_span){begin, end, (int)row, kind, NULL};
}

/* Adds the two rows of a rank. */
static void add_rank(struct step_picture *p, const cJSON *line, size_t rank)
{
    const cJSON *segment, *lane;
    double at = 0;
    size_t row = p->rows;
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++) {
        double ms = json_number(line, phases[i].name);
        if (!isfinite(ms))
            continue;
        add_span(p, at, at + ms, row, phases[i].kind);
        at += ms;
    }
    cJSON_ArrayForEach(segment, cJSON_GetObjectItemCaseSensitive(line, "active_segments"))
    {
        cJSON_ArrayForEach(lane, cJSON_GetObjectItemCaseSensitive(segment, "lanes"))
        {
            if (cJSON_IsString(lane) && !strcmp(lane->valuestring, "communication"))
                add_span(p, json_number(segment, "start_ms"), json_number(segment, "end_ms"), row + 1,
                         KIND_COMMUNICATION);
        }
    }
    snprintf(p->row[row], sizeof p->row[row], "rank %zu", rank);
    p->row_name[row] = p->row[row];
    p->row_name[row + 1] = "";
    p->rows += 2;
}

/* The line of a rank's metrics that has the captured step of that number, or of NAN the one whose step is nearest to
 * the mean; NULL where there is none. The caller deletes it. */
static cJSON *read_step(const struct report_run *run, size_t rank, double number, double mean_ms)
{
    char path[FILES_PATH + 64];
    const char *why;
    char *line = NULL;
    size_t room = 0;
    double nearest = INFINITY;
    cJSON *best = NULL;
    snprintf(path, sizeof path, "%s/rank_%zu_metrics.jsonl", run->directory, rank);
    FILE *file = files_open(path, &why);
    if (!file)
        return NULL;
    while (getline(&line, &room, file) > 0) {
        cJSON *json = cJSON_Parse(line);
        int captured = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "captured")); /* these come first */
        double away = isfinite(number) ? fabs(json_number(json, "profiler_step") - number)
                                       : fabs(json_number(json, "step_ms") - mean_ms);
        int active = strcmp(json_string(json, "epoch_kind"), "warmup") != 0;
        if (captured && active && (isfinite(number) ? away == 0 : away < nearest)) {
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

/* Reads the step; returns whether rank 0 has one. */
static int read_picture(struct step_picture *p, const struct report_run *run)
{
    *p = (struct step_picture){.number = NAN};
    for (size_t rank = 0; rank < run->ranks && rank < RANKS; rank++) {
        cJSON *line = read_step(run, rank, p->number, 1e3 * run->phase_s[PARTS]);
        if (!line)
            break;
        p->number = json_number(line, "profiler_step");
        add_rank(p, line, rank);
        cJSON_Delete(line);
    }
    return p->rows > 0;
}

/* Who came last, by the profile's finding, or else the share of exposed communication. */
static void name_step(char title[400], const struct report_run *run)
{
    const cJSON *finding;
    struct breakdown b;
    cJSON_ArrayForEach(finding, run->findings)
    {
        if (strcmp(json_string(finding, "name"), "straggler") != 0)
            continue;
        snprintf(title, 400, "%s: %.300s", run->label, json_string(finding, "text"));
        title[strcspn(title, ",;")] = 0; /* the rest is among the bottlenecks */
        return;
    }
    int unknown = run_breakdown(&b, run, run->subject);
    snprintf(title, 400, unknown ? "%s: a step" : "%s: %.0f %% of a step is exposed communication", run->label,
             100 * b.part[PART_EXPOSED] / b.step);
}

void section_add_steps(cJSON *document, const struct report_runs *runs)
{
    size_t drawn = 0;
    struct step_picture *p = allocate(1, sizeof *p);
    for (const struct report_run *run = runs->item; run < runs->item + runs->n && drawn < PROFILES; run++) {
        char title[400], subtitle[300], note[160] = "", name[32];
        if (strcmp(run->mode, "profile") != 0 || !run->findings || !read_picture(p, run))
            continue;
        if (!drawn)
            document_add_heading(document, 2, "A step, rank by rank");
        name_step(title, run);
        snprintf(
            subtitle, sizeof subtitle,
            "ProfilerStep#%.0f of %s on %zu rank%s, the step nearest to the mean; ms from the step's begin on each "
            "rank",
            p->number, run->subject, run->ranks, text_plural(run->ranks));
        if (run->ranks > RANKS)
            snprintf(note, sizeof note, "The first %d of %zu ranks.", RANKS, run->ranks);
        snprintf(name, sizeof name, "step-%zu", ++drawn);
        document_add_picture(
            document, name, title,
            chart_timeline(&(struct chart_words){title, subtitle, note}, &(struct chart_timeline){.row = p->row_name,
                                                                                                  .kind = kinds,
                                                                                                  .span = p->span,
                                                                                                  .rows = p->rows,
                                                                                                  .kinds = KINDS,
                                                                                                  .spans = p->spans}));
    }
    free(p);
}
